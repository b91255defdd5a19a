"""The face in which the book is set: Source Sans 3, cut down to the characters that the pages show.

Chosen for its figures, which are of one width wherever they stand, on a canvas too; its italic; its Greek, raised and
lowered signs; and its narrow letters, which a side bar, a table and a phone need. Chinese and code stay with the
reader's own faces.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

PACKAGE = "fontpkg_source_sans_3"
FAMILY = "Turn by Turn"  # its licence reserves the name Source for what was not changed

# Of each file for the page, the package's file and the weight, or the range of weights, that it keeps.
FACES: dict[str, tuple[str, float | tuple[float, float]]] = {
    "face.woff2": ("SourceSans3[wght].ttf", (400, 700)),
    "face-italic.woff2": ("SourceSans3-Italic[wght].ttf", 400),
    "face-bold-italic.woff2": ("SourceSans3-Italic[wght].ttf", 600),
}
FEATURES = ("kern", "mark", "mkmk", "ccmp", "locl", "liga")  # its figures are lining and of one width as they are
NAMES = (0, 5, 13, 14)  # copyright, version, licence and the licence's address
ASCII = frozenset(map(chr, range(0x20, 0x7F)))  # whatever the pages show: readers type into fields


def characters(texts: list[str]) -> set[str]:
    r"""All characters of some texts, those that JSON writes as \u03b8 too, and ASCII."""
    return ASCII.union(*(re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), text) for text in texts))


def shown(output: Path) -> set[str]:
    """The characters that the pages of a built site and their own scripts and styles can show."""
    pages = [path for path in output.rglob("*.html") if "_static" not in path.parts]
    own = output / "_static" / "posenc"
    scripts = [path for pattern in ("*.js", "*.css", "modules/*.js", "python/start.js") for path in own.glob(pattern)]
    scripts.remove(own / "plotly.min.js")  # it has signs of every kind, for those who ask for them
    return characters([path.read_text(encoding="utf-8") for path in (*pages, *scripts)])


def reduced(source: Path, codes: Iterable[int], **options: Any) -> TTFont:
    """A font with the characters of these codes, compressed when it is saved; options are those of fontTools."""
    chosen = subset.Options(notdef_outline=True, **options)
    font = subset.load_font(str(source), chosen)
    subsetter = subset.Subsetter(chosen)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    font.flavor = "woff2"
    return font


def cut(source: Path, weight: float | tuple[float, float], kept: set[str]) -> TTFont:
    """One face with the characters and weights that are kept, under the book's name."""
    font = reduced(source, map(ord, kept), layout_features=FEATURES, name_IDs=NAMES, hinting=False)
    instancer.instantiateVariableFont(font, {"wght": weight}, inplace=True)
    for number, name in ((1, FAMILY), (4, FAMILY), (6, FAMILY.replace(" ", ""))):
        font["name"].setName(name, number, 3, 1, 0x409)
    return font


def write_face(package: Path, output: Path) -> None:
    """Write the faces, from the package's folder, and their licence beside the site's style sheet.

    Cutting them takes seconds, so they are kept in a folder beside the site until other characters are shown.
    """
    kept = shown(output)
    digest = hashlib.sha256("".join(sorted(kept)).encode() + Path(__file__).read_bytes())
    for source, _ in FACES.values():
        digest.update((package / "files" / source).read_bytes())
    faces = output.parent / ".faces" / digest.hexdigest()[:16]
    if not faces.exists():
        shutil.rmtree(faces.parent, ignore_errors=True)
        unfinished = faces.with_suffix(".unfinished")
        unfinished.mkdir(parents=True)
        for name, (source, weight) in FACES.items():
            cut(package / "files" / source, weight, kept).save(unfinished / name)
        shutil.copy2(package / "LICENSE", unfinished / "face-licence.txt")
        unfinished.rename(faces)
    shutil.copytree(faces, output / "_static" / "posenc", dirs_exist_ok=True)
