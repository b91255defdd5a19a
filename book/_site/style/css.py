"""One style sheet for all pages: a browser fetches few files at once, and shows nothing before the last sheet is there.

The theme and Sphinx's extensions bring nine to a page, most of them shorter than the way that their request takes.
What only one page needs, and would change others, stays a sheet of its own.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from posixpath import relpath

SHEET = PurePosixPath("styles/book.css")  # below _static, as all that follow
# In the order in which a page names them, and the book's own behind all others.
SHEETS = (
    *("styles/theme.css", "styles/pydata-sphinx-theme.css", "pygments.css", "styles/sphinx-book-theme.css"),
    *("togglebutton.css", "copybutton.css", "mystnb.*.css", "sphinx-design.min.css"),
    *("posenc/terms.css", "posenc/map.css", "posenc/details.css", "posenc/site.css", "posenc/predict.css"),
    *("posenc/explorable.css", "posenc/python/page.css"),
)
LINK = re.compile(r'<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="(?P<root>[^"]*)_static/(?P<name>[^"?]*)[^>]*>\n?')
IMPORT = re.compile(r'@import\s*"([^"]+)";')
ICON = re.compile(r'(?:\.fa-[a-z0-9-]+:before,?)+\{content:"\\([0-9a-f]+) ?"\}')
ADDRESS = re.compile(r"""\burl\((["']?)(?![a-z]+:|[/#])([^"')]+)\1\)""")


def read(static: Path, name: PurePosixPath) -> str:
    """A sheet's text with those that it imports in their places, and every address as it is from the one sheet."""

    def imported(rule: re.Match[str]) -> str:
        return read(static, PurePosixPath(relpath(name.parent / rule[1])))

    def moved(address: re.Match[str]) -> str:
        return f"url({address[1]}{relpath(name.parent / address[2], SHEET.parent)}{address[1]})"

    text = (static / name).read_text(encoding="utf-8").removeprefix('@charset "UTF-8";')
    return IMPORT.sub(imported, ADDRESS.sub(moved, text))


def write(output: Path, icons: Collection[int]) -> None:
    """Write the one sheet, and have every page of a built site name it instead of those that it holds.

    Of Font Awesome's rules, a sixth of all text, those of these icons stay.
    """
    static = output / "_static"
    held = [path.relative_to(static).as_posix() for pattern in SHEETS for path in static.glob(pattern)]
    text = "\n".join(['@charset "UTF-8";', *(read(static, PurePosixPath(name)) for name in held)])
    text = ICON.sub(lambda rule: rule[0] if int(rule[1], 16) in icons else "", text)
    (static / SHEET).write_text(text, encoding="utf-8")
    version = f"{zlib.crc32(text.encode()):08x}"
    for path in output.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        named = [link for link in LINK.finditer(page) if link["name"] in {*held, str(SHEET)}]
        if named and "_static" not in path.parts:  # where the theme's templates lie
            one = f'<link rel="stylesheet" href="{named[0]["root"]}_static/{SHEET}?v={version}" />\n'
            if [link[0] for link in named] != [one]:
                start = named[0].start()
                for link in reversed(named):
                    page = page[: link.start()] + page[link.end() :]
                path.write_text(page[:start] + one + page[start:], encoding="utf-8")
