"""Numbers as text, as js/numbers.js writes them."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal

# JavaScript rounds a tie away from zero, Python to the even digit; both must write the same.
_EXACT = Context(prec=400, rounding=ROUND_HALF_UP)


def _signed(text: str) -> str:
    """With a real minus, and without one where nothing but zeros follows it."""
    return text.replace("-", "−" if re.search("[1-9]", text) else "")


def fixed(value: float, digits: int) -> str:
    """`value` with so many digits after the point."""
    return number(value, digits).replace("\u202f", "")


def number(value: float, digits: int = 0) -> str:
    """`value` with so many digits after the point, thousands set apart by a narrow space."""
    rounded = Decimal(float(value)).quantize(Decimal(1).scaleb(-digits), context=_EXACT)
    return _signed(f"{rounded:,f}".replace(",", "\u202f"))


def integer(value: int) -> str:
    """An integer with every digit, thousands set apart by a narrow space."""
    return _signed(f"{int(value):,}".replace(",", "\u202f"))


def grouped(value: float) -> str:
    """Four significant figures, thousands set apart; as a power of ten below 10⁻⁴ and from 10¹² on."""
    rounded = Context(prec=4, rounding=ROUND_HALF_UP).create_decimal(Decimal(float(value)))
    if rounded == 0:
        return "0"
    if not Decimal("1e-4") <= abs(rounded) < Decimal("1e12"):
        mantissa, exponent = f"{rounded:.3e}".split("e")
        return f"{_plain(mantissa)} × 10{_signed(str(int(exponent))).translate(SUPERSCRIPTS)}"
    integer, _, fraction = f"{rounded:f}".partition(".")
    return _signed(f"{int(integer):,}".replace(",", "\u202f")) if not fraction.strip("0") else _plain(f"{rounded:f}")


def percent(share: float) -> str:
    """A share in per cent, without a fraction."""
    return f"{fixed(100 * share, 0)}\u00a0%"


def significant(value: float, figures: int = 6) -> str:
    """At most so many significant figures, as Python's general format has them: 1e+06 where there are more before the
    point."""
    text = f"{value:.{figures}g}"
    return f"−{text[1:]}" if text.startswith("-") else text


SUPERSCRIPTS = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _plain(text: str) -> str:
    """Without zeros at the end of its fraction; a number of four figures with a fraction needs no thousands' space."""
    return _signed(text.rstrip("0").rstrip(".") if "." in text else text)
