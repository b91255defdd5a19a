"""Texts of JSON: why one is no configuration, and values as they are written there."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from posenc._sentences import catalogue

TABLE = catalogue("doctor")


class Unreadable(ValueError):
    """A text that is no configuration: which of the sentences in "files" says why, and its facts."""

    def __init__(self, why: str, **facts: Any) -> None:
        super().__init__(why)
        self.why, self.facts = why, facts


def parsed(text: str) -> dict[str, Any]:
    """The object in a text of JSON, in which Infinity is a number and NaN a null; raises Unreadable."""
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise Unreadable("empty")
    try:
        found = json.loads(text, parse_constant=lambda name: None if name == "NaN" else float(name))
    except (json.JSONDecodeError, RecursionError):
        raise _why_not(text) from None
    if not isinstance(found, dict):
        raise Unreadable("not_object", kind=shown(found))
    return found


def _why_not(text: str) -> Unreadable:
    bare = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)  # without what stands in quotes
    if text[0] not in "{[":
        return Unreadable("other", beginning=text[:20].splitlines()[0])
    if re.search(r"'[^'\n]*'\s*:|\b(?:None|True|False)\b", bare):
        return Unreadable("python")
    if re.search(r"//|/\*|#", bare):
        return Unreadable("comment")
    if comma := re.search(r",\s*([}\]])", bare):
        return Unreadable("comma", after=comma[1])
    opened, shut = len(re.findall(r"[{\[]", bare)), len(re.findall(r"[}\]]", bare))
    return Unreadable("cut", open=opened, shut=shut) if opened > shut else Unreadable("json")


def shown(value: Any) -> str:
    """A value of JSON as it is written, shortened where it is long."""
    if isinstance(value, Mapping):
        return str(TABLE["shown"]["object"])
    if isinstance(value, list | tuple):
        if len(value) > 8:
            words = {"count": len(value), "first": shown(value[0]), "last": shown(value[-1])}
            return str(TABLE["shown"]["list"]).format(**words)
        return f"[{', '.join(shown(one) for one in value)}]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _digits(value)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _digits(value: float) -> str:
    """A number as JavaScript writes it."""
    try:
        value = float(value)
    except OverflowError:
        value = math.inf
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    if "e" in text and 1e-6 <= abs(value) < 1:
        mantissa, exponent = text.split("e")
        sign, digits = "-" * mantissa.startswith("-"), mantissa.lstrip("-").replace(".", "")
        return f"{sign}0.{'0' * (-int(exponent) - 1)}{digits}"
    return re.sub(r"e([+-])0*(\d)", r"e\1\2", text)
