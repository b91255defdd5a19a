"""Measure the built site: weight of each page, requests to other hosts, time to the first slider; take screenshots.

    python tests/site/report.py

writes _build/report/site.json and _build/report/screenshots/.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a file, not as a module

from playwright.sync_api import Browser, sync_playwright

from tests.site.browser import ROOT, Line, Watch, chapters, launch, pages, require_site, scroll_through, serve, settle

REPORT = ROOT / "_build" / "report"
WIDTHS = {1280: 900, 360: 780}
THEMES = ("light", "dark")
LINE = Line(bits_per_second=10e6, latency=0.04)
RUNS = 5
# Note when the first figure says that it is drawn.
NOTE_READY = """
  new MutationObserver((_, observer) => {
    if (!document.querySelector(".posenc-explorable[data-ready]")) return;
    window.firstReady = performance.now();
    observer.disconnect();
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-ready"] });
"""


def weigh(browser: Browser, url: str) -> dict[str, Any]:
    """Bytes transferred, compressed, for the first view of a page, plotly.js apart; and its foreign requests."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    watch = Watch(page)
    addresses: dict[str, str] = {}
    sizes: dict[str, float] = {}
    session = page.context.new_cdp_session(page)

    def sent(event: dict[str, Any]) -> None:
        addresses[event["requestId"]] = event["request"]["url"]

    def finished(event: dict[str, Any]) -> None:
        sizes[event["requestId"]] = event["encodedDataLength"]

    session.on("Network.requestWillBeSent", sent)
    session.on("Network.loadingFinished", finished)
    session.send("Network.enable")
    page.goto(url)
    settle(page)
    page.wait_for_load_state("networkidle")
    page.close()
    files = {addresses[number]: round(size) for number, size in sizes.items() if addresses[number].startswith("http")}
    plotly = sum(size for address, size in files.items() if "plotly.min.js" in address)
    heaviest = sorted(files.items(), key=lambda item: -item[1])[:5]
    return {
        "bytes": sum(files.values()) - plotly,
        "plotly_bytes": plotly,
        "requests": len(files),
        "heaviest": {address.rpartition("/")[2]: size for address, size in heaviest},
        "foreign": watch.foreign,
    }


def first_slider(browser: Browser, url: str) -> float | None:
    """Milliseconds from the request to the first explorable that answers, with an empty cache."""
    times = []
    for _ in range(RUNS):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(NOTE_READY)
        page.goto(url)
        if page.locator(".posenc-explorable").count():
            page.wait_for_function("window.firstReady")
            times.append(page.evaluate("window.firstReady"))
        page.close()
    return round(median(times)) if times else None


def photograph(browser: Browser, url: str, name: str, folder: Path) -> list[str]:
    """Take a picture of the whole page in each theme and width; return what the pages logged as errors."""
    problems = []
    for theme in THEMES:
        for width, height in WIDTHS.items():
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


def main() -> None:
    """Measure every page, write the report, and fail if a page asked another host or logged an error."""
    site = require_site()
    pictures = REPORT / "screenshots"
    pictures.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"pages": {}}
    with serve(site) as url, serve(site, LINE) as slow_url, sync_playwright() as driver, launch(driver) as browser:
        for name in pages():
            entry = weigh(browser, f"{url}/{name}")
            if name in chapters():
                entry["first_slider_ms"] = first_slider(browser, f"{slow_url}/{name}")
            entry["problems"] = photograph(browser, url, name, pictures)
            report["pages"][name] = entry
            print(f"{name}: {entry['bytes'] / 1000:.0f} kB, first slider {entry.get('first_slider_ms')} ms", flush=True)
    entries = report["pages"].values()
    report["foreign_requests"] = sum(len(entry["foreign"]) for entry in entries)
    report["largest_page_bytes"] = max(entry["bytes"] for entry in entries)
    report["site_bytes"] = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    (REPORT / "site.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    problems = [problem for entry in entries for problem in entry["problems"]]
    if problems or report["foreign_requests"]:
        sys.exit(f"the pages are not quiet: {problems}")


if __name__ == "__main__":
    main()
