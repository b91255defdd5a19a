"""Measure the built site: weight of each page, requests to other hosts, time to the first slider; take screenshots.

    python -m release.benchmarks.site [PAGE]

writes _build/report/site.json and _build/report/screenshots/. Each page is measured in a process of its own, with a
time limit: now and then Chromium draws no more frames, and then the page is measured anew.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from release.benchmarks.results import REPORT, ROOT, save
from tests.book.site.browser import (
    Line,
    Watch,
    chapters,
    launch,
    pages,
    require_site,
    scroll_through,
    serve,
    settle,
    weigh,
)

VIEWS = (("light", 1280, 900), ("dark", 360, 780))
LINE = Line(bits_per_second=10e6, latency=0.04)
RUNS = 5
FRONT = chapters()[0]  # the page that a reader comes from
PATIENCE = 120.0  # seconds; a page takes 20
# Go to the first figure, opening what hides it, as soon as there is one; and note when it says that it is drawn.
NOTE_READY = """
  addEventListener("DOMContentLoaded", () => setTimeout(() => {
    window.posencPredict?.showAll();
    const first = document.querySelector(".posenc-explorable");
    for (let fold = first?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    first?.scrollIntoView({ block: "center", behavior: "instant" });
  }));
  new MutationObserver((_, observer) => {
    if (!document.querySelector(".posenc-explorable[data-ready]")) return;
    window.firstReady = performance.now();
    observer.disconnect();
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-ready"] });
"""


def first_view(browser: Browser, url: str, seen: str | None = None) -> dict[str, Any]:
    """Bytes transferred, compressed, for the first view of a page, plotly.js apart; and its foreign requests.

    With `seen`, a page that the reader comes from: what the browser has kept of it is not transferred again.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    watch = Watch(page)
    for address in filter(None, (seen, url)):
        page.goto(address)
        settle(page)
        weight = weigh(page, "transferSize")
    page.close()
    return {**weight, "foreign": watch.foreign}


def first_slider(browser: Browser, url: str, runs: int = RUNS) -> float | None:
    """Milliseconds from the request to the first explorable that answers, with an empty cache: the median of `runs`.

    For a reader who goes to it at once: a guess that it awaits is passed over, a fold around it opened.
    """
    times = []
    for _ in range(runs):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(NOTE_READY)
        page.goto(url)
        if page.locator(".posenc-explorable").count():
            page.wait_for_function("window.firstReady")
            times.append(page.evaluate("window.firstReady"))
        page.close()
    return round(median(times)) if times else None


def photograph(browser: Browser, url: str, name: str, folder: Path) -> list[str]:
    """Take a picture of the whole page, wide and light, narrow and dark; return what the pages logged as errors."""
    problems = []
    for theme, width, height in VIEWS:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        page = context.new_page()
        watch = Watch(page)
        page.goto(f"{url}/{name}")
        scroll_through(page)
        page.evaluate("scrollTo(0, 0)")
        stem = name.removesuffix(".html").replace("/", "-")
        page.screenshot(path=folder / f"{stem}-{theme}-{width}.png", full_page=True)
        problems += [*watch.foreign, *watch.errors]
        context.close()
    return problems


def measure(name: str) -> dict[str, Any]:
    """All that is measured of one page."""
    site = require_site()
    pictures = REPORT / "screenshots"
    pictures.mkdir(parents=True, exist_ok=True)
    with serve(site) as url, serve(site, LINE) as slow_url, sync_playwright() as driver, launch(driver) as browser:
        entry = first_view(browser, f"{url}/{name}")
        entry["second_page_bytes"] = first_view(browser, f"{url}/{name}", f"{url}/{FRONT}")["bytes"]
        entry["first_slider_ms"] = first_slider(browser, f"{slow_url}/{name}")
        entry["problems"] = photograph(browser, url, name, pictures)
    return entry


def measure_apart(name: str) -> dict[str, Any]:
    """The same from a process of its own, begun once more if it does not end in time."""
    command = [sys.executable, "-m", "release.benchmarks.site", name]
    for attempt in ("first", "second"):
        try:
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=PATIENCE)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as failure:
            print(f"{name}: the {attempt} try came to nothing: {failure}", flush=True)
        else:
            return json.loads(done.stdout)
    sys.exit(f"{name} could not be measured")


def main() -> None:
    """Measure every page, write the report, and fail if a page asked another host or logged an error."""
    parser = argparse.ArgumentParser(prog="python -m release.benchmarks.site", description=__doc__)
    parser.add_argument("page", nargs="?", choices=pages(), metavar="PAGE", help="print what is measured of this one")
    page = parser.parse_args().page
    if page:
        print(json.dumps(measure(page)))
        return
    site = require_site()
    entries = {}
    print(f"{'page':46}{'first view':>14}{'from front':>11}{'plotly.js':>11}{'first slider':>14}   (kB, ms)")
    for name in pages():
        entries[name] = entry = measure_apart(name)
        slider = "" if entry["first_slider_ms"] is None else f"{entry['first_slider_ms']:.0f}"
        sizes = [entry[key] / 1e3 for key in ("bytes", "second_page_bytes", "plotly_bytes")]
        print(f"{name:46}{sizes[0]:14.0f}{sizes[1]:11.0f}{sizes[2]:11.0f}{slider:>14}", flush=True)
    report = {
        "pages": entries,
        "largest_page_bytes": max(entry["bytes"] for entry in entries.values()),
        "site_bytes": sum(path.stat().st_size for path in site.rglob("*") if path.is_file()),
    }
    save("site", report)
    problems = [problem for entry in entries.values() for problem in entry["foreign"] + entry["problems"]]
    if problems:
        sys.exit(f"the pages are not quiet: {problems}")


if __name__ == "__main__":
    main()
