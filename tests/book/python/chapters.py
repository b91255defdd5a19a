"""All of a chapter in a page: its cells in order, its sliders, its exercises' solutions."""

from __future__ import annotations

import re
import time
import tomllib
from pathlib import Path

from playwright.sync_api import Browser

from tests.book.python.cells import ROOT, Cell, Chapter, notebook, solutions
from tests.book.site.browser import OPEN_ALL, Watch
from tools.notebooks import joined
from tools.reading import spine

DIFFERENCES = tomllib.loads((Path(__file__).with_name("differences.toml")).read_text(encoding="utf-8"))
DRAWN = """(control) => {
  const moved = control.closest('.posenc-live').querySelector('.posenc-moved');
  return moved.querySelector('script')?.textContent ?? moved.textContent;
}"""
SLIDERS = ".posenc-live .posenc-sliders :is(input, select)"


def chapters() -> list[str]:
    """The names of the pages whose cells run: the chapters, and the common mistakes."""
    return sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def of_spine(name: str, cells: list[Cell]) -> list[Cell]:
    """Those that count for the share of a chapter that runs: in no deeper section, no exercise, no import."""
    on_spine = {cell["id"] for cell in spine(notebook(name)["cells"])}
    return [cell for cell in cells if cell.id in on_spine and not cell.id.startswith("import")]


def faults_of(name: str, cells: list[Cell]) -> list[str]:
    """What went wrong: cells that failed, and texts that are not the stored ones without a reason."""
    reasons = DIFFERENCES.get(name, {})
    failed = [f"{name} {cell.id} failed: {cell.error}" for cell in cells if cell.ended not in ("done", "needs")]
    differ = [cell for cell in cells if cell.ended == "done" and not cell.is_equal and cell.id not in reasons]
    return failed + [f"{name} {cell.id} printed\n{cell.printed}\ninstead of\n{cell.stored}" for cell in differ]


def move_sliders(chapter: Chapter) -> list[str]:
    """Move each control of the chapter's own sliders; those that changed nothing, or a word if there are none."""
    page, still = chapter.page, []
    count = page.locator(SLIDERS).count()
    if not count:
        return [f"{chapter.name} has no slider that runs"]
    for place in range(count):
        control = page.locator(SLIDERS).nth(place)
        before = control.evaluate(DRAWN)
        if control.evaluate("(one) => one.tagName") == "SELECT":
            control.select_option(index=1)
        elif control.get_attribute("type") == "checkbox":
            control.click()
        else:
            control.press("ArrowLeft" if control.input_value() == control.get_attribute("max") else "ArrowRight")
        for _ in range(100):
            if control.evaluate(DRAWN) != before:
                break
            page.wait_for_timeout(100)
        else:
            still.append(f"{chapter.name}: {control.get_attribute('aria-label')} moves nothing")
    return still


def first_slider(chapter: Chapter) -> tuple[float, list[str]]:
    """Seconds until the chapter's own slider is there, by its Run alone, when nothing has run; and what went wrong."""
    sliders = [cell for cell in notebook(chapter.name)["cells"] if re.search(r"\binteract\(", joined(cell["source"]))]
    if not sliders:
        return 0.0, []
    began = time.monotonic()
    ended = chapter.run(sliders[-1]["id"])
    seconds = time.monotonic() - began
    return seconds, [] if ended.ended == "done" else [f"{chapter.name} {ended.id} alone {ended.ended}: {ended.error}"]


def solve(chapter: Chapter) -> tuple[int, list[str]]:
    """Put each exercise's solution into its cell; how many checks ran, and those that did not say "right"."""
    ran, wrong = 0, []
    cells = {cell.id: cell for cell in chapter.look()}
    order = list(cells)
    for stub, solution in solutions(chapter.name).items():
        check = next((name for name in order[order.index(stub) :] if "check" in cells[name].tags), None)
        if check is None or cells[check].needs:
            continue
        solved = chapter.run(stub, solution)
        if solved.ended == "needs":
            continue  # its solution uses torch
        ran += 1
        if not (said := chapter.run(check)).printed.startswith("right") and said.ended != "needs":
            wrong.append(f"{chapter.name} {check}: {said.printed or said.error}")
    return ran, wrong


def try_chapter(browser: Browser, url: str, name: str) -> dict[str, object]:
    """All of a chapter, as a row of the table."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    watch = Watch(page)
    row = try_opened(Chapter(page, name).open(url), watch)
    page.close()
    return row


def try_opened(chapter: Chapter, watch: Watch) -> dict[str, object]:
    """All of a chapter whose page is open, and stays so."""
    page, name = chapter.page, chapter.name
    began = time.monotonic()
    chapter.start()
    ready = time.monotonic() - began
    alone, failed = first_slider(chapter)
    began = time.monotonic() - ready
    cells = chapter.run_all()
    whole = time.monotonic() - began - ready
    page.evaluate(OPEN_ALL)
    for slow in [cell.id for cell in cells if "slow" in cell.tags]:
        assert chapter.cell(slow).ended == "", "Run all leaves it out"
        chapter.run(slow)
    cells = chapter.look()
    faults = failed + faults_of(name, cells) + move_sliders(chapter)
    sliders = page.locator(SLIDERS).count()
    ran, wrong = solve(chapter)
    counted = of_spine(name, cells)
    texts = [cell for cell in cells if cell.ended == "done" and cell.stored]
    return {
        "cells": len(cells),
        "run": sum(cell.ended == "done" for cell in cells),
        "texts": len(texts),
        "equal": sum(cell.is_equal for cell in texts),
        "torch": sum(cell.needs == "torch" for cell in cells),
        "other": {cell.id: cell.needs for cell in cells if cell.needs not in ("", "torch")},
        "spine": len(counted),
        "spine_run": sum(cell.ended == "done" for cell in counted),
        "sliders": sliders,
        "checks": ran,
        "ready_s": round(ready, 1),
        "slider_s": round(alone, 1),
        "all_s": round(whole, 1),
        "faults": faults + wrong + [f"{name} asked {url}" for url in watch.foreign] + watch.errors,
    }
