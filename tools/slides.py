"""Slides of a chapter, made of its spine: one file of HTML that asks nobody for anything.

    python -m tools.slides [NN …]    write _build/slides/NN_name.html for the chapters named, or for all

A section's paragraphs are told by their first sentence, with formulas, tables and lists as they are; the whole text is
in the speaker's notes (key S). Figures and explorables are alive, each on a slide of its own. A prediction is a slide
with the question and a slide with the answer. nbconvert makes the pages, with a template of ours; reveal.js comes from
npm (tools/page_parts.py), plotly.js, MathJax and the explorables from where the website has them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import SlidesExporter
from pygments.formatters import HtmlFormatter

from posenc import widgets
from posenc._sentences import say
from tools import execute, page_parts, reading
from tools.execute import ROOT
from tools.notebooks import is_setup, joined, tags

FOLDER = ROOT / "_build" / "slides"
DECK = ROOT / "tools" / "deck"
SITE = ROOT / "book" / "_site"
WORDS = json.loads((DECK / "words.json").read_text(encoding="utf-8"))
HEIGHT, LETTER = 570, 16  # pixels of a figure, so that its caption has room, and of its letters
TIGHTER = 0.7  # of their size have the letters of a figure that is drawn smaller than its own height
LINES = 13  # on a slide
LETTERS = 74  # in a line
CODE, WITH_CODE = 0.68, 16  # the height of a line of code, and how many lines text and code may have on a slide
LONGEST_OUTPUT = 12  # lines
SHORT = 60  # letters, below which a first sentence takes the second along

FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
LINK = re.compile(
    r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])*)\]\((?!https?:)[^)]*\)|<a href=\"[^\"]*\">(.*?)</a>|<a id=[^>]*></a>"
)
HELD = re.compile(r"\$[^$]+\$|`[^`]+`|\[[^\]]*\]\([^)]*\)")  # what a full stop within does not end
SENTENCE = re.compile(r"(?<=[.!?:])([*_”\")]*)\s+(?=[*_“(\"A-Z\0])")
WITH_STOP = re.compile(r"(?<![$\\])\$(?!\$)[^$\n]+\$(?!\$)[,.;:!?)”]+")  # a formula, and what ends a line with it
MATHJAX = {
    "tex": {"inlineMath": [["$", "$"]], "displayMath": [["$$", "$$"]], "macros": {"R": r"\mathbb{R}"}},
    "svg": {"fontCache": "local"},
    "startup": {"typeset": False},
    "options": {"enableMenu": False},
}


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph; a full stop in a formula, in code or in a link ends none."""
    held = HELD.findall(paragraph)
    parts = SENTENCE.sub(r"\1\n", HELD.sub("\0", " ".join(paragraph.split()))).split("\n")
    left = iter(held)
    return [re.sub("\0", lambda _: " ".join(next(left).split()), part) for part in parts]


def unfinished(text: str) -> bool:
    """Whether a text leads on by a colon, or begins emphasis or a quotation and does not end it."""
    if text.endswith(":"):
        return True
    text = HELD.sub("", text)
    strong = text.count("**")
    return bool(strong % 2 or (text.count("*") - 2 * strong) % 2 or text.count("“") != text.count("”"))


def idea(paragraph: str) -> str:
    """What a slide says of a paragraph: its first sentence, and the last one where that leads on to what follows."""
    told = sentences(paragraph)
    count = 2 if len(told[0]) < SHORT else 1
    while count < len(told) and unfinished(" ".join(told[:count])):
        count += 1
    first = told[:count]
    if told[-1].endswith(":") and told[-1] not in first:
        first.append(told[-1])
    text = " ".join(first)
    bare = HELD.sub("", text)
    return text + ")" * (bare.count("(") - bare.count(")"))


def blocks(markdown: str) -> list[str]:
    """The paragraphs, formulas, tables and lists of a text, without links into the book, without what is folded."""
    text = LINK.sub(lambda found: found[1] or found[2] or "", FOLDED.sub("", markdown))
    parts = re.split(r"\n\s*\n|(?=^\$\$)|(?<=\$\$)\n", text, flags=re.MULTILINE)
    return [part.strip() for part in parts if part and part.strip()]


def is_paragraph(block: str) -> bool:
    """Whether a block is told by its first sentence; others stand as they are."""
    return not re.match(r"\$\$|[-*+] |\d+\. |\||>|<|!\[|```|#", block)


def lines_of(block: str) -> int:
    """How many lines of a slide a block takes, about."""
    if block.startswith("$$"):
        return 3 + block.count(r"\\")
    return sum(1 + len(line) // LETTERS for line in block.splitlines()) + 1


def markdown(*parts: str, kind: str = "slide") -> Any:
    """A cell that begins a slide, or with another kind one that goes on with it."""
    return nbformat.v4.new_markdown_cell("\n\n".join(filter(None, parts)), metadata={"slideshow": {"slide_type": kind}})


def text_slides(heading: str, told: list[str], notes: str) -> Iterator[Any]:
    """Slides of blocks, as many as are needed, with the whole text in the notes of the first."""
    pages: list[list[str]] = [[]]
    for block in told:
        if pages[-1] and sum(map(lines_of, [*pages[-1], block])) > LINES:
            pages.append([])
        pages[-1].append(block)
    for number, page in enumerate(pages):
        if heading or page:
            yield markdown(f"{heading} {WORDS['goes_on']}" if number and heading else heading, *page)
            if not number and notes:
                yield markdown(notes, kind="notes")


def figures(cell: Any) -> list[str]:
    """The figures that a cell shows, as HTML that the page host draws."""
    from book._site.outputs.plotly_figure import PLOTLY, plotly_html

    found = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if PLOTLY in data:
            figure = json.loads(json.dumps(data[PLOTLY]))
            layout = figure.setdefault("layout", {})
            height = max(HEIGHT, layout.get("height", 0))  # what is drawn taller is made smaller as a whole
            letter = LETTER
            if height > HEIGHT:
                letter = round(LETTER * TIGHTER * height / HEIGHT)
                for one in (*layout.get("annotations", ()), layout.setdefault("legend", {})):
                    one["font"] = {**one.get("font", {}), "size": letter}
            layout |= {"height": height, "font": {**layout.get("font", {}), "size": letter}}
            size = f'style="--height:{HEIGHT}px;--smaller:{HEIGHT / height:.4f}"'
            found.append(f'<div class="deck-figure" {size}>{plotly_html(figure)}</div>')
        elif "posenc-explorable" in (html := joined(data.get("text/html", ""))):
            found.append(html)
    return found


def shown_output(cell: Any) -> list[Any]:
    """The text that a cell prints, its first lines, as an output."""
    from book._site.pages.predictions import output_text

    lines = output_text(cell).splitlines()
    text = "\n".join(lines[:LONGEST_OUTPUT] + ["…"] * (len(lines) > LONGEST_OUTPUT))
    return [nbformat.v4.new_output("stream", name="stdout", text=text)] if text.strip() else []


def code_slides(heading: str, cell: Any) -> Iterator[Any]:
    """The slides of a code cell: its figures, with the code in the notes; else the code and what it prints."""
    source = joined(cell["source"])
    if drawn := figures(cell):
        for figure in drawn:
            yield markdown(figure)
            yield markdown(f"```python\n{source}\n```", kind="notes")
    elif not ("interact(" in source or "remove-cell" in tags(cell) or is_setup(cell)):
        yield markdown(heading)
        metadata = {"slideshow": {"slide_type": "-"}}
        yield nbformat.v4.new_code_cell(source, metadata=metadata, outputs=shown_output(cell))


def answer(asked: dict[str, Any], cell: Any) -> list[str]:
    """What the answer's slide says, or the figure that it shows."""
    kind, truth, unit = asked["kind"], asked["truth"], asked.get("unit", "")
    if kind == "curve":
        return figures(cell)[:1]
    if kind == "choice":
        return [f'<p class="deck-answer">{asked["choices"][truth]}</p>']
    if kind == "number":
        return [f'<p class="deck-answer">{say(WORDS["told"], {"value": truth["text"], "unit": unit}).strip()}</p>']
    bars = zip(asked["labels"], truth, strict=True)
    return [
        "- " + say(WORDS["told_bar"], {"label": label, "value": bar["text"], "unit": unit}).strip()
        for label, bar in bars
    ]


def predict_slides(place: int, cells: list[Any], question: list[str], notes: str) -> Iterator[Any]:
    """The slide that asks, and the slide that answers."""
    from book._site.pages.predictions import prediction

    asked = prediction(place, cells)
    answering = next(cell for cell in cells if cell["id"] == asked_cell(cells[place]))
    choices = [f"{letter}. {choice}" for letter, choice in zip("ABCD", asked.get("choices", ()), strict=False)]
    yield markdown(f"## {WORDS['predict']}", *question, "\n\n".join(choices))
    yield markdown(notes, kind="notes")
    told = answer(asked, answering)
    yield markdown(f"## {WORDS['answer']}" if asked["kind"] != "curve" else "", "\n".join(told))


def asked_cell(cell: Any) -> str:
    """The id of the cell that holds a prediction's answer."""
    return str(cell["metadata"]["predict"]["answer"]["cell"])


def slides(notebook: Any) -> Iterator[Any]:
    """The cells of the slides, in order."""
    places = {cell["id"]: place for place, cell in enumerate(notebook.cells)}
    given = {  # figures that an answer's slide has shown already
        asked_cell(cell)
        for cell in notebook.cells
        if "predict" in tags(cell) and cell["metadata"]["predict"]["kind"] == "curve"
    }
    heading = ""
    for cell in reading.spine(notebook.cells):
        if cell["cell_type"] == "code":
            if cell["id"] not in given:
                yield from code_slides(heading, cell)
            continue
        told = blocks(joined(cell["source"]))
        title = ""
        if told and (found := reading.HEADING.match(told[0])):
            first, _, rest = told[0].partition("\n")
            title = f"# {found['title']}" if len(found["level"]) == 1 else f"## {found['title']}"
            told = [*([rest.strip()] if rest.strip() else []), *told[1:]]
            heading = "" if len(found["level"]) == 1 else title
        asks = len(told) - ("predict" in tags(cell))
        notes = FOLDED.sub("", joined(cell["source"]))
        before = [idea(block) if is_paragraph(block) else block for block in told[:asks]]
        yield from text_slides(title or (heading if before else ""), before, notes)
        if asks < len(told):
            question = re.sub(r"^\*\*[^*]+\*\*", "", told[asks]).strip()
            yield from predict_slides(places[cell["id"]], notebook.cells, [question], joined(cell["source"]))


def together(cells: list[Any]) -> Iterator[Any]:
    """The cells of the slides, with code on one slide with the text around it where there is room."""
    heading, used, has_code = None, 0.0, False  # of the slide that is there
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        if cell["metadata"]["slideshow"]["slide_type"] == "slide":
            first, *told = blocks(cell["source"]) or [""]
            first = first.removesuffix(f" {WORDS['goes_on']}")
            lines = float(sum(map(lines_of, told)))
            if code := following is not None and following["cell_type"] == "code":
                shown = [following["source"], *(output["text"] for output in following["outputs"])]
                lines += CODE * sum(text.count("\n") + 2 for text in shown)
            if first == heading and (code or has_code) and used + lines <= WITH_CODE:
                used, has_code = used + lines, has_code or code
                if told:
                    yield markdown(*told, kind="-")
                continue
            heading, used, has_code = first, lines, code
        yield cell


def unbroken(cell: Any) -> Any:
    """The cell of a slide, in which no line begins with the stop that follows a formula."""
    kind = cell["metadata"]["slideshow"]["slide_type"]
    if cell["cell_type"] == "markdown" and kind != "notes" and not cell["source"].startswith("<"):
        cell["source"] = WITH_STOP.sub(r'<span class="unbroken">\g<0></span>', cell["source"])
    return cell


def within(script: str) -> str:
    """A script as it may stand within a page."""
    return re.sub(r"</(?=script)|<!--", lambda found: "<\\" + found[0][1:], script, flags=re.IGNORECASE)


def package_file(package: str, *parts: str) -> str:
    """A file's text out of an installed package."""
    from book._site.outputs.assets import _package_folder

    return _package_folder(package).joinpath(*parts).read_text(encoding="utf-8")


def deck(path: Path, parts: Path) -> str:
    """The page of a chapter's slides; LookupError where the chapter is not executed as it stands."""
    from book._site import words as site_words

    notebook = execute.cached(path)
    made = nbformat.v4.new_notebook(cells=list(map(unbroken, together(list(slides(notebook))))))
    body = "".join(joined(cell["source"]) for cell in made.cells)
    title = reading.HEADING.match(joined(notebook.cells[0]["source"]))["title"]
    used = sorted(set(re.findall(r'class="posenc-explorable" data-module="(\w+)"', body)))
    brought = widgets.scripts()
    explorables = [brought[name] for name in ("shared", *used)] if used else []
    styles = [
        (parts / "reveal" / name).read_text(encoding="utf-8") for name in page_parts.REVEAL if name.endswith(".css")
    ]
    own = [HtmlFormatter(style="default").get_style_defs(".highlight"), (DECK / "deck.css").read_text(encoding="utf-8")]
    scripts = [
        f"window.MathJax = {json.dumps(MATHJAX)};",
        package_file("sphinx-mathjax-offline", "static", "mathjax", "tex-svg-full.js"),
        package_file("plotly", "package_data", "plotly.min.js"),
        *((parts / "reveal" / name).read_text(encoding="utf-8") for name in page_parts.REVEAL if name.endswith(".js")),
        *explorables,
        (DECK / "deck.js").read_text(encoding="utf-8"),
        site_words.script("outputs/host.js"),
    ]
    exporter = SlidesExporter(exclude_input_prompt=True, exclude_output_prompt=True, exclude_anchor_links=True)
    exporter.raw_template = (DECK / "index.html.j2").read_text(encoding="utf-8")
    resources = {
        "deck": {
            "title": title,
            "styles": [*styles, widgets.stylesheet() if used else "", *own],
            "scripts": [within(script) for script in scripts],
        }
    }
    page, _ = exporter.from_notebook_node(made, resources=resources)
    return str(page)


def main() -> None:
    """Write the slides of the chapters that are named by number, or of all."""
    names = argparse.ArgumentParser(prog="python -m tools.slides", description=__doc__)
    names.add_argument("numbers", nargs="*", metavar="NN", help="chapters, by their numbers; all if none is named")
    chapters = {path.stem[:2]: path for path in execute.chapters() if path.stem[:2].isdigit()}
    wanted = names.parse_args().numbers or sorted(chapters)
    if unknown := [number for number in wanted if number not in chapters]:
        names.error(f"there is no chapter {unknown[0]!r}: there are {', '.join(sorted(chapters))}")
    parts = page_parts.make()
    if not parts:
        sys.exit("Slides need reveal.js, which npm brings: the line above says what is missing.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for number in wanted:
        target = FOLDER / f"{chapters[number].stem}.html"
        try:
            target.write_text(deck(chapters[number], parts), encoding="utf-8")
        except LookupError as error:
            sys.exit(str(error))
        print(target.as_uri(), flush=True)


if __name__ == "__main__":
    main()
