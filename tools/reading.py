"""How long a chapter takes to read: its spine, and the whole.

    python -m tools.reading [FILE …]    print words, lines of code and minutes of each chapter

The spine is all but the sections whose heading is tagged `deeper`, the exercises, and what is folded.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.notebooks import SHOWS, code_cells, joined, load, tags

ROOT = Path(__file__).resolve().parents[1]
WORDS_PER_MINUTE = 170
# What else takes time, in seconds: a displayed formula, a printed table, a figure, a line of code, a prediction, an
# explorable.
FORMULA, TABLE, FIGURE, LINE, PREDICT, EXPLORABLE = 25, 15, 45, 5, 60, 60
DEEPER = "deeper"
HEADING = re.compile(r"(?P<level>#+) (?P<title>.+)")
FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
DISPLAYED = re.compile(r"\$\$.+?\$\$", re.DOTALL)
NOT_PROSE = re.compile(r"```.*?```|\$\$.+?\$\$|\$[^$]+\$|`[^`\n]*`|</?[A-Za-z][^>]*>|\]\([^)]*\)", re.DOTALL)


@dataclass(frozen=True)
class Reading:
    """What a reader of some cells has before them."""

    words: int  # of prose, without formulas and code
    formulas: int  # displayed ones
    tables: int
    lines: int  # of code; behind the page's switch for code it is not of the spine
    figures: int
    predictions: int
    explorables: int

    @property
    def minutes(self) -> float:
        """The time that it takes, by the rates above."""
        stops = FORMULA * self.formulas + TABLE * self.tables + FIGURE * self.figures + LINE * self.lines
        return self.words / WORDS_PER_MINUTE + (stops + PREDICT * self.predictions + EXPLORABLE * self.explorables) / 60


def words(markdown: str) -> int:
    """How many words of prose there are."""
    return len(re.findall(r"[^\W\d_][\w’'-]*", NOT_PROSE.sub(" ", markdown)))


def spine(cells: list[dict]) -> Iterator[dict]:
    """The cells that are neither in a section tagged `deeper` nor in an exercise."""
    left_at: int | None = None  # the level of the heading that began what is left out
    for cell in cells:
        heading = HEADING.match(joined(cell["source"])) if cell["cell_type"] == "markdown" else None
        if heading:
            level = len(heading["level"])
            if left_at is None or level <= left_at:
                apart = DEEPER in tags(cell) or heading["title"].startswith("Exercise")
                left_at = level if apart else None
        if left_at is None:
            yield cell


def reading(cells: list[dict], folded: bool) -> Reading:
    """What the cells ask of a reader, with what is folded or without."""
    texts = [joined(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    texts = texts if folded else [FOLD.sub("", text) for text in texts]
    code = [joined(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    read = [joined(cell["source"]) for cell, is_shown in code_cells(cells) if is_shown or folded]
    explorables = sum("from posenc.widgets import" in source for source in code)
    return Reading(
        words=sum(map(words, texts)),
        formulas=sum(len(DISPLAYED.findall(text)) for text in texts),
        tables=sum(bool(cell.get("outputs")) and SHOWS not in tags(cell) for cell in cells),
        lines=sum(bool(line.strip()) for source in read for line in source.splitlines()),
        figures=sum(SHOWS in tags(cell) for cell in cells) - explorables,
        predictions=sum("predict" in tags(cell) for cell in cells),
        explorables=explorables,
    )


def of_spine(path: Path) -> Reading:
    """What the spine of a chapter asks of a reader."""
    return reading(list(spine(load(path)["cells"])), folded=False)


def of_whole(path: Path) -> Reading:
    """What a whole chapter asks of a reader, exercises apart from their own work included."""
    return reading(load(path)["cells"], folded=True)


def main() -> None:
    """Print a line for each chapter."""
    parser = argparse.ArgumentParser(prog="python -m tools.reading", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, metavar="NOTEBOOK", help="chapters; all if none is named")
    for path in parser.parse_args().paths or sorted(ROOT.glob("notebooks/[0-9]*.ipynb")):
        short, whole = of_spine(path), of_whole(path)
        print(f"{path.stem}: spine {short.minutes:.0f} min ({short.words} words, {short.lines} lines of code, ", end="")
        print(f"{short.predictions} predictions), whole {whole.minutes:.0f} min ({whole.words} words)")


if __name__ == "__main__":
    main()
