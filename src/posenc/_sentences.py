"""Words of the package, from catalogues in JSON, and sentences made of them and of facts.

A text is one of:

- a string, in which {fact} stands for what is known by that name, as {fact:3} with three digits after the point, as
  {fact:integer} or {fact:grouped} with thousands set apart, as {fact:capital} with a capital letter first, or
  {fact:table} as the words' own table of that name, in "names", has it; {fact:table|capital} does one after the other;
- a list of texts, one after the other;
- {"if": condition, "then": text, "else": text}, where "else" may be missing;
- {"each": fact, "say": text, "between": string}: a fact that is a list of further facts, each said in turn.

A condition is a fact, "not" and a fact, or two of facts, numbers and 'strings' with one of = ≠ < ≤ > ≥ between them;
`none` is None, and nothing is less or more than that. Several are joined by "and". js/sentences.js, which reads the
explorables' catalogues too, does the same.

Only Python writes the messages of checks, so these forms are its own: {fact:percent} is a fraction in per cent,
{fact:2g} a number with at most two significant figures.
"""

from __future__ import annotations

import json
import operator
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from posenc._numbers import fixed, grouped, integer, percent, significant

Facts = Mapping[str, Any]
_PLACE = re.compile(r"\{(\w+)(?::([^}]+))?\}")
_COMPARED = re.compile(r"(\S+) ([=≠<≤>≥]) ('[^']*'|\S+)")
_SIGNS = {"=": operator.eq, "≠": operator.ne, "<": operator.lt, "≤": operator.le, ">": operator.gt, "≥": operator.ge}


def in_language(own: Traversable, folder: str) -> Traversable:
    """A file of words: `own`, or the same in another language, from `folder` in the folder that POSENC_WORDS names."""
    words = os.environ.get("POSENC_WORDS")
    other = Path(words, folder, own.name) if words else None
    return other if other and other.is_file() else own


@cache
def catalogue(name: str, folder: str = "js") -> dict[str, Any]:
    """All words of an explorable, from js/`name`.json, or those of another folder of the package."""
    file = in_language(files("posenc") / folder / f"{name}.json", folder)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def say(text: Any, facts: Facts, names: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """A text with its facts.

    Raises:
        KeyError: a fact or a table that is not there.
    """
    if isinstance(text, str):
        return _PLACE.sub(lambda place: _written(_fact(place[1], facts), place[2], names or {}), text)
    if isinstance(text, list):
        return "".join(say(part, facts, names) for part in text)
    if "each" in text:
        each = (say(text["say"], {**facts, **one}, names) for one in _fact(text["each"], facts))
        return str(text.get("between", "")).join(each)
    return say(text["then"] if holds(text["if"], facts) else text.get("else", ""), facts, names)


def say_key(words: Mapping[str, Any], key: str, facts: Facts) -> str:
    """The text that a catalogue of groups has for a key, `group.what`, with its facts.

    Raises:
        KeyError: a key, a fact or a table that is not there.
    """
    group, _, what = key.partition(".")
    return say(words[group][what], facts, words.get("names"))


def _fact(name: str, facts: Facts) -> Any:
    if name not in facts:
        raise KeyError(f"no fact {name!r} among {', '.join(facts)}")
    return facts[name]


def _written(value: Any, formats: str | None, names: Mapping[str, Mapping[str, str]]) -> str:
    for name in formats.split("|") if formats else ():
        if name.isdigit():
            value = fixed(value, int(name))
        elif name == "capital":
            value = value[0].upper() + value[1:]
        elif name[-1] == "g" and name[:-1].isdigit():
            value = significant(value, int(name[:-1]))
        elif name in _FORMATS:
            value = _FORMATS[name](value)
        else:
            value = names[name][value]
    return str(value)


_FORMATS = {"integer": integer, "grouped": grouped, "percent": percent}


def holds(condition: str, facts: Facts) -> bool:
    """Whether a condition is so; what follows an `and` that is not is not looked at."""
    return all(_holds_alone(part, facts) for part in condition.split(" and "))


def _holds_alone(condition: str, facts: Facts) -> bool:
    if compared := _COMPARED.fullmatch(condition):
        left, right = _operand(compared[1], facts), _operand(compared[3], facts)
        return not (compared[2] in "<≤>≥" and None in (left, right)) and bool(_SIGNS[compared[2]](left, right))
    if condition.startswith("not "):
        return not _fact(condition.removeprefix("not "), facts)
    return bool(_fact(condition, facts))


def _operand(text: str, facts: Facts) -> Any:
    if text.startswith("'"):
        return text.strip("'")
    if text == "none":
        return None
    return float(text) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", text) else _fact(text, facts)
