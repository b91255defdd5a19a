"""Take the README's picture, light and dark, from the built book.

python -m tools.picture
"""

from __future__ import annotations

import argparse
import sys

from playwright.sync_api import sync_playwright

from tools import system_packages
from tools.book import ROOT, SITE

PAGE = SITE / "book" / "explorables.html"
MODULE = "decay_explorer"
FOLDER = ROOT / "book" / "pictures"


def main() -> None:
    """Write book/pictures/explorable_light.png and explorable_dark.png."""
    argparse.ArgumentParser(prog="python -m tools.picture", description=__doc__).parse_args()
    program = system_packages.find("chromium")
    if program is None:
        sys.exit(system_packages.NO_CHROMIUM)
    if not PAGE.is_file():
        sys.exit(f"There is no {PAGE}: run `make book` first.")
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--font-render-hinting=none"])
        for theme in ("light", "dark"):
            view = {"width": 1100, "height": 1400}
            page = browser.new_page(viewport=view, color_scheme=theme, device_scale_factor=2)
            page.goto(PAGE.as_uri())
            figure = page.locator(f".posenc-explorable[data-module={MODULE}]")
            figure.scroll_into_view_if_needed()
            page.wait_for_selector(f".posenc-explorable[data-module={MODULE}][data-ready]")
            page.wait_for_timeout(1000)  # its formulas and the figures above settle
            path = FOLDER / f"explorable_{theme}.png"
            figure.screenshot(path=path)
            print(path)
        browser.close()


if __name__ == "__main__":
    main()
