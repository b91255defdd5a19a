"""Record 15-second clips of three explorables, animated GIFs in book/pictures, for README and slides.

    python -m tools.clips [NAME …]

It needs the group `release`: Pillow writes the files. Frames are not filmed but set one after the other, so that a slow
machine makes the same clip.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page

from posenc.widgets import DecayExplorer, Explorable, Playground, Rotation2D
from tools import embed
from tools.pictures import chromium

FOLDER = embed.ROOT / "book" / "pictures"
Frame = tuple[dict[str, Any], int]  # a setting, and how many milliseconds it is shown
STEP = 100  # milliseconds
WIDTH = 720  # pixels
COLOURS = 128

SET = """(setting) => document.querySelector("figure").posencModel.set(setting)"""
DRAWN = """() => document.querySelector("figure[data-ready] .posenc-explorable-view")?.explorable.done"""


def decay() -> Iterator[Frame]:
    """The base from 100 to a million, and the distance; then as published."""
    yield {"base": 100.0, "distance": 4096}, 1500
    for step in range(71):
        yield {"base": 10 ** (2 + 4 * step / 70)}, STEP
    yield {}, 1500
    for power in range(11, 17):
        yield {"distance": 2**power}, 6 * STEP
    yield {"base": 10_000.0, "distance": 4096}, 1300


def rotation() -> Iterator[Frame]:
    """Query and key rotate together, and the score stays; then the query alone."""
    yield {"m": 6, "n": 3, "locked": True}, 1500
    for n in range(3, 30):
        yield {"m": n + 3, "n": n}, 2 * STEP
    yield {"locked": False}, 900
    for m in range(31, -1, -1):
        yield {"m": m}, 2 * STEP
    yield {}, 800


def playground() -> Iterator[Frame]:
    """RoPE as trained, PI, YaRN, and the slow pairs dragged by hand."""
    yield {"preset": "none"}, 2500
    yield {"preset": "pi"}, 3000
    yield {"preset": "yarn"}, 3500
    yield {"preset": "none"}, 500
    for step in range(1, 9):
        slow = f"{2 ** (-step / 2):.4g}"
        yield {"pairs": " ".join("-" if pair < 6 else slow for pair in range(16))}, 4 * STEP
    yield {}, 2300


CLIPS = {DecayExplorer: decay, Rotation2D: rotation, Playground: playground}


def picture(page: Page) -> Image.Image:
    """The figure when it is drawn."""
    page.wait_for_function(DRAWN)
    page.evaluate("() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))")
    return Image.open(io.BytesIO(page.locator("figure.posenc-explorable").screenshot())).convert("RGB")


def record(cls: type[Explorable], page: Page, folder: Path) -> Path:
    """The clip of an explorable."""
    file = folder / "page.html"
    file.write_text(embed.page(cls, "light"), encoding="utf-8")
    page.goto(file.as_uri())
    pictures, shown = [], []
    for setting, milliseconds in CLIPS[cls]():
        page.wait_for_function(DRAWN)
        page.evaluate(SET, setting)
        pictures.append(picture(page))
        shown.append(milliseconds)
    size = pictures[0].size
    colours = pictures[len(pictures) // 2].quantize(COLOURS)  # one palette: what stands still is then stored once
    first, *others = (one.crop((0, 0, *size)).quantize(palette=colours, dither=Image.Dither.NONE) for one in pictures)
    path = FOLDER / f"{cls.module}.gif"
    first.save(path, save_all=True, append_images=others, duration=shown, loop=0, optimize=False)
    print(f"{path}: {sum(shown) / 1000:.1f} s, {path.stat().st_size / 1e6:.1f} MB", flush=True)
    return path


def main() -> None:
    """Record those that are named, or all three."""
    wanted = embed.named(sys.argv[1:]) or list(CLIPS)
    if other := [cls.__name__ for cls in wanted if cls not in CLIPS]:
        sys.exit(f"there is no clip of {other[0]}: there are {', '.join(cls.__name__ for cls in CLIPS)}")
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, reduced_motion="reduce")
        for cls in wanted:
            record(cls, page, Path(folder))


if __name__ == "__main__":
    main()
