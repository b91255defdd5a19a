"""Names and texts of students, fit for a terminal, a table and a page: what they wrote is shown, and does nothing."""

from __future__ import annotations

import html
import re
import unicodedata
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element
from markupsafe import Markup, escape

JOINERS = "\u200c\u200d"  # without them, names in Persian and in Indian scripts fall apart
SEPARATORS = ",;|\t\r\n"
LONGEST_FORMULA = 1000  # characters: latex2mathml takes some 10 ms for them, whatever they are
DEEPEST = 60  # elements in one another
FORMULA = re.compile(
    r"(?P<left>`[^`\n]*`|\\[\\$])"
    r"|\$\$(?P<block>[^$]+)\$\$"
    r"|\\begin\{(?P<name>align|aligned|equation|gather)\*?\}(?:.*?)\\end\{(?P=name)\*?\}"
    r"|\$(?!\s)(?P<inline>(?:[^$`\n]|\n(?![ \t]*\n))*[^$`\s\\])\$(?!\d)",
    re.DOTALL,
)
MATHML = re.compile(
    "math|mrow|mi|mn|mo|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mmultiscripts"
    "|mprescripts|none|mtable|mtr|mtd|mstyle|mpadded|mphantom|menclose"
)
# No length that could lay a formula over something else, no colour, no link, no style and no class.
ATTRIBUTES = re.compile(
    "display|displaystyle|scriptlevel|stretchy|fence|form|separator|accent|accentunder|movablelimits|largeop"
    "|symmetric|mathvariant|columnalign|rowalign|columnlines|rowlines|notation|linethickness"
)
CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
WIDTH = re.compile(r"(?:[0-2](?:\.\d{1,4})?|\.\d{1,4})em")
VALUE = re.compile(r"[\w .%-]{1,40}")


def _steers(character: str) -> bool:
    """Whether a character steers a terminal or the direction of writing, or is half of one."""
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or (kind == "Cf" and character not in JOINERS)


def visible(text: str, keep: str = "") -> str:
    """The text with every character that steers, but those to keep, written out: ESC becomes `\\x1b`."""
    codes = (("\\x%02x" if ord(c) < 256 else "\\u%04x" if ord(c) < 2**16 else "\\U%08x") % ord(c) for c in text)
    return "".join(code if _steers(c) and c not in keep else c for c, code in zip(text, codes, strict=True))


def name_shown(name: str) -> str:
    """A student's name as it is shown. No two names are shown alike: a backslash of its own is doubled."""
    return visible(name.replace("\\", "\\\\"))


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


def _clean(element: Element, depth: int = 0) -> Element:
    """The element as it may stand on a page. Raises ValueError for one that may not."""
    whole = len(element) == CHILDREN.get(element.tag, len(element))
    if not MATHML.fullmatch(element.tag) or not whole or depth > DEEPEST:
        raise ValueError(element.tag)
    clean = Element(element.tag)
    for name, value in element.attrib.items():
        if (ATTRIBUTES.fullmatch(name) and VALUE.fullmatch(value)) or (
            element.tag == "mspace" and WIDTH.fullmatch(value)
        ):
            clean.set(name, value)
    clean.text = html.unescape(element.text or "")  # latex2mathml writes entities, and leaves escaping to others
    clean.extend(_clean(child, depth + 1) for child in element)
    return clean


def _mathml(latex: str, display: str) -> str | None:
    """The formula in MathML, or None where it cannot be read."""
    bare = re.sub(r"\\.", "", latex)
    if len(latex) > LONGEST_FORMULA or bare.count("{") != bare.count("}"):
        return None
    try:
        return tostring(_clean(convert_to_element(latex, display=display)), encoding="unicode")
    except Exception:  # StopIteration, RecursionError, ValueError and many of its own: it is a student's formula
        return None


def with_formulas(text: str) -> Markup:
    """The text, escaped, with its formulas between dollar signs in MathML; the source of one that cannot be read."""
    text = visible(text.replace("\r\n", "\n"), keep="\n\t")
    page, end = Markup(), 0
    for match in FORMULA.finditer(text):
        before, end = text[end : match.start()], match.end()
        inline = match["inline"]
        if not inline and not match["left"]:  # it stands on a line of its own, and has its own space around it
            before = before.rstrip("\n")
            while text[end : end + 1] == "\n":
                end += 1
        page += escape(before)
        if match["left"]:
            page += escape(match[0][-1] if match[0][0] == "\\" else match[0])
            continue
        mathml = _mathml(inline or match["block"] or match[0], "inline" if inline else "block")
        if mathml is None:
            page += Markup('<code title="This formula could not be set.">{}</code>').format(match[0])
        else:
            page += Markup(mathml)
    return page + escape(text[end:])
