"""Write a page with every explorable at three widths, light and dark, to look at while developing.

    python -m tools.gallery [NAME …]

It takes seconds and needs neither a built book nor a server: open _build/gallery/index.html.
"""

from __future__ import annotations

import html
import shutil
import sys
from pathlib import Path

from posenc.widgets import EXPLORABLES, Explorable
from tools import embed

FOLDER = embed.ROOT / "_build" / "gallery"
WIDTHS = (320, 700, 1160)
CSS = "iframe { border: 1px solid #888; margin: 4px; max-width: none } div { white-space: nowrap }"
FRAME = '<iframe src="{name}_{theme}.html" loading="lazy" width="{width}" height="{height}"></iframe>'


def row(cls: type[Explorable]) -> str:
    """An explorable at each width."""
    heights = (cls.room[1], cls.room[0], cls.room[0])
    frames = [
        FRAME.format(name=cls.module, theme=theme, width=width + 20, height=height + 70)
        for theme in ("light", "dark")
        for width, height in zip(WIDTHS, heights, strict=True)
    ]
    return f"<h2>{html.escape(cls.__name__)}</h2><div>{''.join(frames)}</div>"


def write(classes: list[type[Explorable]]) -> Path:
    """Write the gallery of some explorables; where its page is."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for cls in classes:
        for theme in ("light", "dark"):
            (FOLDER / f"{cls.module}_{theme}.html").write_text(embed.page(cls, theme), encoding="utf-8")
    index = (
        f"<!DOCTYPE html><meta charset='utf-8'><title>Gallery</title><style>{CSS}</style>{''.join(map(row, classes))}"
    )
    (FOLDER / "index.html").write_text(index, encoding="utf-8")
    return FOLDER / "index.html"


def main() -> None:
    """Write the explorables that are named, or all."""
    print(write(embed.named(sys.argv[1:]) or list(EXPLORABLES)))


if __name__ == "__main__":
    main()
