"""A chapter whose cells run in the page: pressing, typing, and what came of it."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tools.notebooks import joined, load, text_of

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "book" / "_site" / folder) for folder in ("python", "outputs")]

import page_cells as page_cells  # noqa: E402  the Python that runs cells in a page

PATIENCE = 600_000  # milliseconds that a whole chapter, or a slow cell, may take on a busy machine
BAR = ".posenc-python"
SOLUTION = re.compile(r"<summary>Solution</summary>.*?```python\n(.*?)```", re.DOTALL)

LOOK = """() => {
  const SHOWN = ".cell_output .posenc-printed:not(.posenc-error), .cell_output:not([hidden]) .posenc-table";
  const text = (part) => [...part.querySelectorAll("tr")]
    .map((row) => [...row.cells].map((one) => one.textContent).join(" ")).join("\\n") || part.textContent;
  return [...document.querySelectorAll(".cell[id^='cell-']:has(.cell_input)")].map((cell) => ({
  id: cell.id.slice("cell-".length),
  ended: cell.dataset.ended ?? "",
  note: cell.querySelector(":is(.posenc-tools > *, .posenc-code) + .posenc-note")?.textContent ?? "",
  printed: [...cell.querySelectorAll(SHOWN)].map(text).join("\\n"),
  error: cell.querySelector(".cell_output .posenc-error")?.textContent ?? "",
  figures: cell.querySelectorAll(".cell_output:not([hidden]) :is(.posenc-plotly, .posenc-explorable)").length,
}));
}"""


@dataclass(frozen=True)
class Cell:
    """What a cell's last run in the page showed, and what the notebook has stored."""

    id: str
    ended: str
    note: str
    printed: str
    error: str
    figures: int
    stored: str
    tags: tuple[str, ...]

    @property
    def needs(self) -> str:
        """The package that it needs and the page does not have, or nothing."""
        found = re.match(r"Needs ([\w.]+)", self.note) if self.ended == "needs" else None
        return found[1] if found else ""

    @property
    def is_equal(self) -> bool:
        """Whether it printed what the notebook has stored, but for white space between words."""
        return lines(self.printed) == lines(self.stored)


def lines(text: str) -> list[str]:
    """The lines of a text that are not empty, their words one space apart."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def notebook(name: str) -> dict[str, Any]:
    """A notebook by its page's name, such as "08_long_range_decay"."""
    return dict(load(ROOT / "notebooks" / f"{name}.ipynb"))


def solutions(name: str) -> dict[str, str]:
    """The worked solution of each exercise, by the id of the cell whose place it takes."""
    found: dict[str, str] = {}
    stub = ""
    for cell in notebook(name)["cells"]:
        source = joined(cell["source"])
        if cell["cell_type"] == "code" and "exercise" in cell["metadata"].get("tags", []):
            stub = cell["id"]
        elif stub and cell["cell_type"] == "markdown" and (solution := SOLUTION.search(source)):
            found[stub] = solution[1]
            stub = ""
    return found


def seen(name: str, found: list[dict[str, Any]]) -> list[Cell]:
    """What LOOK found on a chapter's page, with what its notebook has stored."""
    stored = {cell["id"]: cell for cell in notebook(name)["cells"] if cell["cell_type"] == "code"}
    return [
        Cell(**one, stored=text_of(stored[one["id"]]), tags=tuple(stored[one["id"]]["metadata"].get("tags", ())))
        for one in found
    ]


class Chapter:
    """A chapter that is open in a browser."""

    def __init__(self, page: Page, name: str) -> None:
        self.page, self.name = page, name

    def open(self, site: str, end: str = "") -> Chapter:
        """Open its page and wait for the button, which loads nothing yet."""
        self.page.goto(f"{site}/notebooks/{self.name}.html{end}")
        self.page.wait_for_selector(f"{BAR} button")
        switch = self.page.get_by_role("group", name="Code", exact=True)
        if switch.count():  # so that every cell is in sight
            switch.get_by_label("all").press("Space")
        return self

    def start(self) -> Chapter:
        """Press the button and wait until Python is there."""
        self.page.click(f"{BAR} button")
        self.wait("ready")
        return self

    def wait(self, state: str) -> None:
        """Wait until Python is in a state; if it has ended by itself, say why."""
        ended = self.page.wait_for_function(
            "([bar, asked]) => [asked, 'stopped'].find((one) => document.querySelector(bar)?.dataset.state === one)",
            arg=[BAR, state],
            timeout=PATIENCE,
        )
        if (found := ended.json_value()) != state:
            raise RuntimeError(f"Python is {found}: {self.told}")

    @property
    def told(self) -> str:
        """What the bar says."""
        return self.page.inner_text(f"{BAR} [role=status]")

    def run_all(self) -> list[Cell]:
        """Run every cell in order; what each showed."""
        self.page.get_by_role("button", name="Run all").click()
        self.page.wait_for_selector(f"{BAR}[data-state='running']")
        self.wait("ready")
        return self.look()

    def look(self) -> list[Cell]:
        """What each cell shows now."""
        return seen(self.name, self.page.evaluate(LOOK))

    def cell(self, name: str) -> Cell:
        """What one cell shows now."""
        return next(cell for cell in self.look() if cell.id == name)

    def type(self, name: str, source: str) -> None:
        """Put another text into a cell's editor, as a reader does."""
        self.page.locator(f"#cell-{name} .cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(source)

    def press(self, name: str) -> None:
        """Press a cell's Run."""
        self.page.locator(f"#cell-{name} .posenc-tools button").first.click()

    def reset(self, name: str) -> None:
        """Bring back a cell as the book has it."""
        self.page.locator(f"#cell-{name}").get_by_role("button", name="Bring back").click()

    def run(self, name: str, source: str | None = None) -> Cell:
        """Run a cell, with another text if one is given, and wait for its end."""
        if source is not None:
            self.type(name, source)
        self.page.evaluate("(name) => { delete document.getElementById(`cell-${name}`).dataset.ended; }", name)
        self.press(name)
        self.page.wait_for_selector(f"#cell-{name}[data-ended]", timeout=PATIENCE)
        self.wait("ready")
        return self.cell(name)
