"""Names and texts of students, fit for a terminal and a table: they are shown, and do nothing."""

from __future__ import annotations

import unicodedata

JOINERS = "\u200c\u200d"  # without them, names in Persian and in Indian scripts fall apart
SEPARATORS = ",;|\t\r\n"


def _steers(character: str) -> bool:
    """Whether a character steers a terminal or the direction of writing, or is half of one."""
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or (kind == "Cf" and character not in JOINERS)


def visible(text: str, keep: str = "") -> str:
    """The text with every character that steers, but those to keep, written out: ESC becomes `\\x1b`."""
    codes = (("\\x%02x" if ord(c) < 256 else "\\u%04x" if ord(c) < 2**16 else "\\U%08x") % ord(c) for c in text)
    return "".join(code if _steers(c) and c not in keep else c for c, code in zip(text, codes, strict=True))


def some(words: list[str], most: int = 5) -> str:
    """The first of several words, and how many more there are."""
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def no_formula(text: str) -> str:
    """Text that a spreadsheet takes as text, in the whole cell and in each piece that another separator would cut."""
    guarded = ""
    start = True
    for character in text:
        if start and (unicodedata.normalize("NFKC", character) in ("=", "+", "-", "@") or character in "\u2212\t\r"):
            guarded += "'"
        start = character in SEPARATORS or (start and character in " \"'\u00a0\u3000\ufeff")
        guarded += character
    return guarded
