"""Write an explorable as one HTML file that needs nothing else, for a lecture or a blog.

    python -m tools.embed NAME …

The file opens from disk, without a network. With it comes the line that puts it into another page.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from book._site import words
from posenc.widgets import EXPLORABLES, Explorable, Playground, checkpoints, classic_scripts, stylesheet

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "_build" / "embed"
LICENCE = "https://creativecommons.org/licenses/by/4.0/"
PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{css}
:root {{ --pst-color-background: #fff; --pst-color-text-base: #222832; --pst-color-text-muted: #48566b;
  --pst-color-border: #d1d5da; --pst-color-surface: #f5f5f5; --pst-color-primary: #0a7d91 }}
[data-theme="dark"] {{ --pst-color-background: #14181e; --pst-color-text-base: #ced6dd; --pst-color-text-muted: #9ca4af;
  --pst-color-border: #48566b; --pst-color-surface: #29313d; --pst-color-primary: #3fb1c5; color-scheme: dark }}
body {{ margin: 8px; font: 16px system-ui, sans-serif; color: var(--pst-color-text-base);
  background: var(--pst-color-background) }}
body > p {{ margin: 8px 0 0; font-size: 13px; color: var(--pst-color-text-muted) }}
figure {{ margin: 0 }}
a {{ color: inherit }}
</style>
</head>
<body>
{figure}
<p>{credit}</p>
{scripts}
</body>
</html>
"""
# as the reader's device is set, unless the address ends in ?theme=light or ?theme=dark
THEME = """const asked = new URLSearchParams(location.search).get("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const setTheme = () => { document.documentElement.dataset.theme = asked ?? (dark.matches ? "dark" : "light"); };
dark.addEventListener("change", setTheme);
setTheme();"""


def credit() -> str:
    """Who made it, where it is from, and under which licence."""
    [address] = re.findall(r'(?m)^repository:\n  url: "(.*)"$', (ROOT / "_config.yml").read_text(encoding="utf-8"))
    name = "Turn by Turn: positional encoding in Transformers"
    book = f'<a href="{address}">{name}</a>' if address else f"<cite>{name}</cite>"
    return f'From {book}, by the Turn by Turn authors, <a href="{LICENCE}">CC BY 4.0</a>'


def page(cls: type[Explorable], theme: str = "") -> str:
    """The page of an explorable with all that it needs; a theme, or none for the reader's own."""
    scripts = list(classic_scripts([f"{cls.module}.js"]).values())
    if cls is Playground:
        scripts += checkpoints().values()
    scripts.append(words.script("outputs/host.js"))
    if not theme:
        scripts.insert(0, THEME)
    scripts = [script.replace("</script", r"<\/script") for script in scripts]
    return PAGE.format(
        theme=theme or "light",
        title=cls.catalogue["title"],
        css=stylesheet(),
        figure=cls().to_html(),
        credit=credit(),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def iframe(cls: type[Explorable]) -> str:
    """The line that shows the file in another page beside it, at least 700 pixels wide."""
    height = cls.room[0] + 48
    return (
        f'<iframe src="{cls.module}.html" title="{cls.catalogue["title"]}" loading="lazy" '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


def named(names: list[str]) -> list[type[Explorable]]:
    """The explorables by their names; the program ends where there is none of a name."""
    known = {cls.__name__: cls for cls in EXPLORABLES}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"there is no explorable {unknown[0]!r}: there are {', '.join(known)}")
    return [known[name] for name in names]


def main() -> None:
    """Write those that are named."""
    if len(sys.argv) < 2:
        sys.exit(f"Name an explorable: {', '.join(cls.__name__ for cls in EXPLORABLES)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for cls in named(sys.argv[1:]):
        path = FOLDER / f"{cls.module}.html"
        path.write_text(page(cls), encoding="utf-8")
        print(f"{path} ({path.stat().st_size / 1e6:.1f} MB). In a page beside it:\n{iframe(cls)}")


if __name__ == "__main__":
    main()
