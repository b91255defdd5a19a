"""Numbers in a chapter's prose, and whether an earlier output shows them.

A number in prose is looked for if it is written with three or more digits. It
is found if an earlier text output of the same notebook holds a number that,
rounded to as many decimals as the prose gives, is the same. Not looked at: code
blocks and inline code, links (their text too, so that a citation's year can
stand in one), HTML tags, exponents, numbers of equations, and digits that are
part of a name (float64, Qwen3).
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from decimal import Decimal

SPACES = "\u00a0\u2007\u2009\u202f"  # no-break, figure, thin and narrow no-break space
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
LEAST_DIGITS = 3

NUMBER = re.compile(
    r"""
    (?<![\w.])(?<![A-Za-z\d]-)                  # not inside a name or another number
    (?P<sign>(?<![\w)\]}])[-−])?                # a minus that does not subtract or join
    (?P<digits>\d{1,3}(?:[ ,_]\d{3})+(?!\d)     # 65 536 or 65,536
              |\d+)
    (?P<decimals>\.\d+)?
    (?:e(?P<exponent>[-+]?\d+))?                # 1.5e-05
    (?:\s*(?:\\times|\\cdot|×|·)\s*10\^\{?(?P<power>[-−]?\d+)\}?)?
    (?P<percent>\s?\\?%)?
    """,
    re.VERBOSE,
)
PLAIN = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?![\w])")


@dataclass(frozen=True)
class Number:
    """A number as it is written: its text, its value, and what its last digit is worth."""

    text: str
    value: Decimal
    unit: Decimal
    percent: bool = False

    def shown_by(self, other: Decimal) -> bool:
        """Whether ``other``, rounded as this number is, gives this number.

        A number written with a minus needs a negative one; one without a minus
        may stand for the size of either ("falls by 0.217").
        """
        if self.value >= 0:
            other = abs(other)
        if abs(other - self.value) <= self.unit / 2:
            return True
        return self.percent and abs(100 * other - self.value) <= self.unit / 2


def prose_of(markdown: str) -> str:
    """The words of a Markdown cell: no code, links, tags, or numbers of equations."""
    text = re.sub(r"^(`{3,}|~{3,}).*?^\1[`~]*\s*$", " ", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", " ", text, flags=re.DOTALL)
    text = re.sub(r"!?\[[^\]]*\]\([^)]*\)", " ", text)
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.DOTALL)
    text = re.sub(r"</?[a-zA-Z][^>]*>", " ", text)
    return re.sub(r"\\tag\{[^}]*\}", " ", html.unescape(text))


def normalise(text: str) -> str:
    """The same text with one way of grouping digits and of writing powers."""
    text = re.sub(f"[{SPACES}]", " ", text)
    text = re.sub(r"(?<=\d)(?:\\[,;: !]|\{,\}|~)(?=\d{3})", " ", text)
    text = re.sub(r"(?<=\d)([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "^{" + m[1].translate(SUPERSCRIPTS) + "}", text)
    return text.replace("\\!", "")


def without_exponents(text: str) -> str:
    """The text without exponents, except after "× 10", where they make the number."""
    keep = r"(?:\\times|\\cdot|×|·)\s*10"
    return re.sub(
        rf"({keep}\^(?:\{{[-−]?\d+\}}|[-−]?\d))|\^(?:\{{[^{{}}]*\}}|[-−]?\w+|\\\w+)",
        lambda match: match[1] or " ",
        text,
    )


def numbers_in_prose(markdown: str) -> list[Number]:
    """The numbers of three or more digits in the prose of a Markdown cell."""
    found = []
    for match in NUMBER.finditer(without_exponents(normalise(prose_of(markdown)))):
        digits = re.sub(r"\D", "", match["digits"]) + (match["decimals"] or "")[1:]
        if len(digits) < LEAST_DIGITS:
            continue
        power = int((match["power"] or match["exponent"] or "0").replace("−", "-"))
        unit = Decimal(1).scaleb(power - len((match["decimals"] or ".")[1:]))
        value = int(digits) * unit
        found.append(Number(match[0].strip(), -value if match["sign"] else value, unit, bool(match["percent"])))
    return found


def numbers_in_output(text: str) -> set[Decimal]:
    """Every number in a text output, digits in groups read both ways."""
    text = normalise(text)
    found = {Decimal(match[0].replace("−", "-").rstrip(".")) for match in PLAIN.finditer(text)}
    for match in NUMBER.finditer(text):
        if re.search(r"\D", match["digits"]):
            whole = re.sub(r"\D", "", match["digits"]) + (match["decimals"] or "")
            found.add(Decimal(whole) * (-1 if match["sign"] else 1))
    return found


def missing_numbers(cells: list[tuple[str, str]]) -> list[tuple[int, str]]:
    """Numbers in prose that no earlier output shows, each with the place of its cell.

    ``cells`` are pairs in the notebook's order: ``("prose", markdown)`` or
    ``("output", text)``.
    """
    shown: set[Decimal] = set()
    missing = []
    for place, (kind, text) in enumerate(cells):
        if kind == "output":
            shown |= numbers_in_output(text)
            continue
        for number in numbers_in_prose(text):
            if not any(number.shown_by(value) for value in shown):
                missing.append((place, number.text))
    return missing
