"""Take pictures of the built book's explorables, for readers without JavaScript and for paper, into every page of it.

python -m tools.pictures
"""

from __future__ import annotations

import argparse
import base64
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tools import system_packages
from tools.book import SITE

PICTURES = "_static/pictures"
FIGURE = '<figure class="posenc-explorable"'
BEFORE = re.compile(r'(?s)(<figure class="posenc-explorable".*?<noscript>)(?:<img [^>]*>)?')
# Everything that is closed opens, as for print; then each figure is drawn, and done with its work.
TAKE = """async () => {
  window.dispatchEvent(new Event("posenc:print"));
  const pictures = [];
  for (const figure of document.querySelectorAll("figure.posenc-explorable")) {
    figure.scrollIntoView({ block: "center", behavior: "instant" });
    const drawn = () => figure.dataset.ready && figure.querySelector(".posenc-explorable-view").explorable.done;
    while (!drawn()) await new Promise((later) => setTimeout(later, 50));
    const canvas = figure.querySelector("canvas");
    pictures.push({ data: canvas.toDataURL("image/webp", 0.9).split(",")[1], width: canvas.clientWidth });
  }
  return pictures;
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium."""
    program = system_packages.find("chromium")
    if program is None:
        sys.exit(system_packages.NO_CHROMIUM)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--font-render-hinting=none"])
        yield browser
        browser.close()


def put_into(page: Path, site: Path, browser: Browser) -> int:
    """Put a picture of each explorable into its `<noscript>`, in the light theme; how many there are."""
    html = page.read_text(encoding="utf-8")
    tab = browser.new_page(color_scheme="light", viewport={"width": 1100, "height": 1000})
    tab.goto(page.as_uri())
    taken = tab.evaluate(TAKE)
    tab.close()
    if len(taken) != html.count(FIGURE):
        raise ValueError(f"{page.name}: {html.count(FIGURE)} explorables in the file, {len(taken)} in the browser")
    up = "../" * (len(page.relative_to(site).parts) - 1)
    images = []
    for number, picture in enumerate(taken):
        name = f"{PICTURES}/{page.stem}_{number}.webp"
        (site / name).write_bytes(base64.b64decode(picture["data"]))
        # what it shows is told in the words after it
        images.append(f'<img src="{up}{name}" width="{picture["width"]}" style="background: #fff" alt="">')
    left = iter(images)
    page.write_text(BEFORE.sub(lambda found: found[1] + next(left), html), encoding="utf-8")
    return len(images)


def put_into_site(site: Path) -> None:
    """Put pictures into every page that has explorables."""
    (site / PICTURES).mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for page in sorted(site.rglob("*.html")):
            if FIGURE in page.read_text(encoding="utf-8"):
                print(f"{page.relative_to(site)}: {put_into(page, site, browser)} pictures", flush=True)


def main() -> None:
    """Take them."""
    argparse.ArgumentParser(
        prog="python -m tools.pictures", description=(__doc__ or "").partition("\n")[0]
    ).parse_args()
    if not (SITE / "index.html").is_file():
        sys.exit(f"There is no website in {SITE}: run `make book` first.")
    put_into_site(SITE)


if __name__ == "__main__":
    main()
