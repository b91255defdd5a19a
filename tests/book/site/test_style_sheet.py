"""The one style sheet: it holds what the theme, Sphinx's extensions and the book bring, and every page names it."""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import normpath

from book._site.style import css
from tests.book.site.browser import pages

OWN = {
    "book/doctor.html": "posenc/doctor.css",
}


def sheets(built_site: Path, name: str) -> list[str]:
    """The style sheets that a page names, below _static."""
    links = re.findall(r"<link\b[^>]*>", (built_site / name).read_text(encoding="utf-8"))
    return [re.search(r'_static/([^"?]*)', link)[1] for link in links if 'rel="stylesheet"' in link]  # type: ignore[index]


def test_every_page_names_it_and_at_most_one_of_its_own(built_site: Path) -> None:
    for name in pages():
        own = [OWN[name]] if name in OWN else []
        assert sheets(built_site, name) == ["styles/book.css", *own]


def rules(text: str) -> list[str]:
    """What stands before each brace, without comments."""
    return [selector.strip() for selector in re.findall(r"([^{}]*)\{", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))]


def test_it_holds_every_rule_of_its_sheets_in_their_order(built_site: Path) -> None:
    static = built_site / "_static"
    held = [path for pattern in ("basic.css", *css.SHEETS[1:]) for path in static.glob(pattern)]
    assert len(held) == len(css.SHEETS), "a sheet has another name now, and pages fetch it by itself"
    texts = [path.read_text(encoding="utf-8").replace('@charset "UTF-8";', "") for path in held]
    one = (static / css.SHEET).read_text(encoding="utf-8")
    without_icons = [css.ICON.sub("", text) for text in (one.removeprefix('@charset "UTF-8";'), *texts)]
    assert rules(without_icons[0]) == [rule for text in without_icons[1:] for rule in rules(text)]
    assert "@import" not in one
    assert one.index("@charset") == 0 < one.index("@media")
    assert one.count("@charset") == 1


def test_what_it_names_is_there(built_site: Path) -> None:
    one = (built_site / "_static" / css.SHEET).read_text(encoding="utf-8")
    named = {address for _, address in css.ADDRESS.findall(one)}
    assert {f"../posenc/face{kind}.woff2" for kind in ("", "-italic", "-bold-italic")} <= named
    missing = {name for name in named if not (built_site / "_static" / normpath(f"styles/{name}")).is_file()}
    # the first format of each icon face is enough, and basic.css draws an icon for what the book has none of
    assert {Path(name).suffix for name in missing} <= {".ttf", ".png"}
