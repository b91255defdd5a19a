"""Write a page with every explorable at three widths, light and dark, to look at while developing.

    python -m tools.gallery [NAME …]

It takes seconds and needs neither a built book nor a server: open _build/gallery/index.html.
"""

from __future__ import annotations

import html
import shutil
import sys
from pathlib import Path

from book._site.outputs import assets
from posenc.widgets import EXPLORABLES, Explorable, Playground, checkpoints, classic_scripts, stylesheet

FOLDER = Path("_build/gallery")
WIDTHS = (320, 700, 1160)
PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><title>{title}</title>
<style>{css}
[data-theme="dark"] {{ --pst-color-background: #14181e; --pst-color-text-base: #ced6dd; --pst-color-text-muted: #9ca4af;
  --pst-color-border: #48566b; --pst-color-surface: #29313d; color-scheme: dark }}
figure {{ margin: 0 }}
body {{ margin: 8px; font: 16px system-ui, sans-serif; background: var(--pst-color-background) }}</style></head>
<body>{body}<script src="host.js"></script></body></html>
"""
FRAME = '<iframe src="{name}_{theme}.html" loading="lazy" width="{width}" height="{height}"></iframe>'


def row(cls: type[Explorable]) -> str:
    """An explorable at each width."""
    heights = (cls.room[1], cls.room[0], cls.room[0])
    frames = [
        FRAME.format(name=cls.module, theme=theme, width=width + 20, height=height + 40)
        for theme in ("light", "dark")
        for width, height in zip(WIDTHS, heights, strict=True)
    ]
    return f"<h2>{html.escape(cls.__name__)}</h2><div>{''.join(frames)}</div>"


def write(classes: list[type[Explorable]]) -> Path:
    """Write the gallery of some explorables; where its page is."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "modules").mkdir(parents=True)
    brought = checkpoints() if Playground in classes else {}
    for name, script in (classic_scripts([f"{cls.module}.js" for cls in classes]) | brought).items():
        (FOLDER / "modules" / f"{name}.js").write_text(script, encoding="utf-8")
    shutil.copy(Path(assets.__file__).with_name("host.js"), FOLDER)
    for cls in classes:
        for theme in ("light", "dark"):
            page = PAGE.format(theme=theme, title=cls.__name__, css=stylesheet(), body=cls().to_html())
            (FOLDER / f"{cls.module}_{theme}.html").write_text(page, encoding="utf-8")
    css = "iframe { border: 1px solid #888; margin: 4px; max-width: none } div { white-space: nowrap }"
    index = (
        f"<!DOCTYPE html><meta charset='utf-8'><title>Gallery</title><style>{css}</style>{''.join(map(row, classes))}"
    )
    (FOLDER / "index.html").write_text(index, encoding="utf-8")
    return FOLDER / "index.html"


def main() -> None:
    """Write the explorables that are named, or all."""
    known = {cls.__name__: cls for cls in EXPLORABLES}
    if unknown := [name for name in sys.argv[1:] if name not in known]:
        sys.exit(f"there is no explorable {unknown[0]!r}: there are {', '.join(known)}")
    print(write([known[name] for name in sys.argv[1:] or known]))


if __name__ == "__main__":
    main()
