"""A language for tests, en-XA: the words of all catalogues with an accent on each letter.

A letter without an accent, in a book that is built with it, is prose, code or a figure of Python's, or it stands in no
catalogue: python -m tools.book --language en-XA
"""

from __future__ import annotations

import json
import re
from gettext import NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
LANGUAGE = "en-XA"
ACCENTED = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "áƀçđéƒğĥíĵķłḿñóþɋřšţúṽŵẋýžÁɃÇĐÉƑĞĤÍĴĶŁḾÑÓÞɊŘŠŢÚṼŴẊÝŽ",
)
# what stands in a text and is not shown as it stands there: places for facts, tags, addresses, code and formulas
KEPT = re.compile(r"(\{[^{}]*\}|%\(\w+\)[sd]|%[sd]|<[^<>]*>|&\w+;|\]\([^()]*\)|`[^`]*`|\$[^$]*\$)")
# Of a dictionary with the first of these, only the others are words: a condition, a list, a step of a story, a rule or
# a key of the doctor, one of its sections, an example, a property of an encoding.
PARTS = {
    "if": {"then", "else"}, "each": {"say", "between"}, "set": {"label", "say"}, "see": {"say", "does"},
    "anchor": {"title"}, "config": {"label"}, "measured": {"name", "means", "measured", "ideal"},
}  # fmt: skip
# keys that the doctor knows: no words
NO_WORDS = {
    "numbers", "windows", "window_bases", "bases", "alphas", "speaking", "sizes", "change_no_frequency", "known_keys",
    "instead",
}  # fmt: skip


def accented(text: str) -> str:
    """A text with an accent on each letter that is shown.

    >>> accented("{count} of <b>201</b> claims")
    '{count} óƒ <b>201</b> çłáíḿš'
    """
    return "".join(part if k % 2 else part.translate(ACCENTED) for k, part in enumerate(KEPT.split(text)))


def marked(words: Any) -> Any:
    """A catalogue with every word of it accented."""
    if isinstance(words, str):
        return accented(words)
    if isinstance(words, list):
        return [marked(part) for part in words]
    if not isinstance(words, dict):
        return words
    fitting = (parts for kind, parts in PARTS.items() if kind in words and parts & words.keys())
    shown = next(fitting, words.keys() - NO_WORDS)
    return {name: marked(part) if name in shown else part for name, part in words.items()}


def write(folder: Path) -> None:
    """Write the language: a folder as POSENC_WORDS names one."""
    package, site = ROOT / "src" / "posenc", ROOT / "book" / "_site"
    sources = {
        path: f"{path.parent.name}/{path.name}" for part in ("js", "check") for path in package.glob(f"{part}/*.json")
    }
    sources |= {path: f"site/{path.relative_to(site).as_posix()}" for path in site.glob("*/words.json")}
    for path, name in sources.items():
        words = json.loads(path.read_text(encoding="utf-8"))
        if path.parent.name != "js" or "title" in words or path.stem in ("shell", "doctor"):  # others hold numbers
            put(folder / name, json.dumps(marked(words), ensure_ascii=False, indent=1))
    text = (site / "reference" / "map.toml").read_text(encoding="utf-8")
    line = re.compile(r'(?m)^((?:says|enters|station|title|label) = ")(.*)"$')
    put(folder / "site" / "reference" / "map.toml", line.sub(lambda found: f'{found[1]}{accented(found[2])}"', text))


def put(path: Path, text: str) -> None:
    """Write a file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Translations(NullTranslations):
    """What Sphinx and its theme say, accented."""

    def gettext(self, message: str) -> str:
        """One message."""
        return accented(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """One of two messages."""
        return accented(msgid1 if n == 1 else msgid2)


def mark_theme(app: Sphinx) -> None:
    """Have Sphinx and its theme speak it."""
    from sphinx import locale

    app.translator = Translations()
    for namespace, catalogue in list(locale.translators):
        if namespace == "general":
            locale.translators[namespace, catalogue] = app.translator
