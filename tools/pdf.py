"""Print the built book into one PDF, with bookmarks and a table of contents.

python -m tools.pdf               every page of the table of contents, into _build
python -m tools.pdf 04 09         these chapters only
"""

from __future__ import annotations

import argparse
import sys
from html import escape
from io import BytesIO
from pathlib import Path

import yaml
from playwright.sync_api import Page
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject

from tools.book import BUILD, SITE
from tools.execute import ROOT
from tools.pictures import chromium

PDF = BUILD / "turn-by-turn.pdf"
# The site's own style sets the margins. Chromium counts on from the number that a page's counter begins with.
NUMBERED = (
    "@page {{ @bottom-center {{ content: counter(page); font: 9pt sans-serif; }} }} html {{ counter-reset: page {}; }}"
)
CONTENTS = """<style>
  @page {{ margin: 16mm 20mm 18mm; }}
  body {{ font: 10.5pt/1.45 "Source Sans 3", "DejaVu Sans", sans-serif; }}
  h1 {{ margin: 1.5em 0 0; font-size: 26pt; }} h2 {{ margin: 1.2em 0 0.2em; font-size: 12pt; break-after: avoid; }}
  a {{ display: flex; justify-content: space-between; color: inherit; text-decoration: none; }}
</style><h1>{title}</h1>
<p>Version {version}, {date}. On the book's website the figures move and the code runs.</p>
{lines}"""
# As the page's own button prints: everything opens and is drawn, and then the browser would be asked to print.
DRAW = """async () => {
  await window.MathJax?.startup?.promise;
  await window.print();
}"""


def contents() -> list[tuple[str, list[str]]]:
    """The book's pages by part, in reading order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [("", [toc["root"]])]
    for part in toc["parts"]:
        entries = [one for chapter in part["chapters"] for one in (chapter, *chapter.get("sections", []))]
        parts.append((part["caption"], [entry["file"] for entry in entries]))
    return parts


def printed(tab: Page, before: int) -> PdfReader:
    """A tab's page on A4, numbered after the pages before it; its links within itself lead to places, not to names."""
    tab.add_style_tag(content=NUMBERED.format(before))
    reader = PdfReader(BytesIO(tab.pdf(format="A4", print_background=True, outline=True, tagged=True)))
    places = reader.named_destinations
    for link in (link for page in reader.pages for link in page.get("/Annots", [])):
        name = link.get_object().get("/Dest")
        if name in places:  # in one book, pages would have names in common
            link.get_object()[NameObject("/Dest")] = places[name].dest_array
    return reader


def lead_within(writer: PdfWriter, site: Path, begins: dict[str, int]) -> None:
    """Links to other pages of the site lead to where these begin; those to what is not printed lead nowhere."""
    for page in writer.pages:
        for link in (link.get_object() for link in page.get("/Annots", [])):
            address = link.get("/A", DictionaryObject()).get("/URI", "")
            if address.startswith(site.as_uri()):
                del link["/A"]
                name = (
                    address.removeprefix(f"{site.as_uri()}/").partition("#")[0].partition("?")[0].removesuffix(".html")
                )
                if name in begins:
                    target = writer.pages[begins[name]].indirect_reference
                    link[NameObject("/Dest")] = ArrayObject([target, NameObject("/Fit")])


def print_book(site: Path, path: Path, wanted: tuple[str, ...] = ()) -> None:
    """Print the pages, or those whose file's name begins with one of the wanted, into one file."""
    parts = [
        (caption, [name for name in names if Path(name).name.startswith(wanted or ("",))])
        for caption, names in contents()
    ]
    parts = [(caption, names) for caption, names in parts if names]
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    titles: dict[str, str] = {name: "…" for _, names in parts for name in names}
    begins = dict.fromkeys(titles, 0)  # counted from 0

    def front() -> str:
        lines = ""
        for caption, names in parts:
            lines += f"<h2>{escape(caption)}</h2>" if caption else ""
            for name in names:
                address = f"{site.as_uri()}/{name}.html"
                lines += f'<a href="{address}"><span>{escape(titles[name])}</span><span>{begins[name] + 1}</span></a>'
        return CONTENTS.format(
            title=escape(about["title"]), version=about["version"], date=about["date-released"], lines=lines
        )

    writer = PdfWriter()
    with chromium() as browser:
        tab = browser.new_page(color_scheme="light", viewport={"width": 1100, "height": 1000}, device_scale_factor=2)
        tab.set_content(front())
        length = len(printed(tab, 0).pages)
        tab.add_init_script("window.print = () => {}")  # which the page's own wraps
        for name in titles:
            begins[name] = length + len(writer.pages)
            tab.goto(f"{site.as_uri()}/{name}.html")
            tab.evaluate(DRAW)
            titles[name] = tab.locator("article h1").first.evaluate("(title) => title.firstChild.textContent")
            writer.append(printed(tab, begins[name]))
            print(f"{name}: from page {begins[name] + 1}", flush=True)
        tab.set_content(front())
        writer.merge(0, printed(tab, 0), import_outline=False)
    lead_within(writer, site, begins)
    writer.add_metadata({"/Title": about["title"], "/Author": " and ".join(one["name"] for one in about["authors"])})
    writer.compress_identical_objects()
    writer.write(path)


def main() -> None:
    """Print it, and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m tools.pdf", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="how the files' names begin that are to be printed")
    names = parser.parse_args().names
    if not (SITE / "index.html").is_file():
        sys.exit(f"There is no website in {SITE}: run `make book` first.")
    print_book(SITE, PDF, tuple(names))
    print(f"{PDF.relative_to(ROOT)}: {len(PdfReader(PDF).pages)} pages, {PDF.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
