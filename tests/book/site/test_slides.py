"""Slides of a chapter: what they say of it, and a whole deck walked from disk in a browser."""

from __future__ import annotations

import re

import pytest

from tools import execute, page_parts, slides

CHAPTER = "06_rope_complex"  # an explorable, and predictions of a curve and of a number
MEASURE = """() => {
  const slide = Reveal.getCurrentSlide(), figures = [...slide.querySelectorAll(".posenc-plotly, .posenc-explorable")];
  return {
    fits: slide.scrollHeight <= slide.clientHeight && slide.scrollWidth <= slide.clientWidth,
    heading: slide.querySelector("h1, h2")?.textContent ?? "",
    drawn: figures.map((figure) => figure.querySelectorAll(".main-svg, svg, canvas").length),
    heights: [...slide.querySelectorAll(".posenc-canvas")].map(
      (canvas) => [canvas.offsetHeight, canvas.getBoundingClientRect().height]),
    text: slide.innerText,
  };
}"""


@pytest.mark.parametrize(
    ("paragraph", "told"),
    [
        (
            "A turn keeps the length of $x. Y$ and of everything else that it may meet on its way. The rest is said.",
            "A turn keeps the length of $x. Y$ and of everything else that it may meet on its way.",
        ),
        ("**A theorem. If it is so, *then* it is. Always.** Why?", "**A theorem. If it is so, *then* it is. Always.**"),
        ("It is said: “It is so. And for ever.” It is not.", "It is said: “It is so. And for ever.”"),
    ],
)
def test_a_paragraph_is_told_by_its_first_sentence(paragraph, told):
    assert slides.idea(paragraph) == told


def test_blocks_stand_apart_without_links_into_the_book_and_without_folds():
    text = 'See [chapter 05](05_x.ipynb#a) and <a href="#eq-1">(1)</a>.\n$$a = b$$\n\n'
    text += "<details>\nno\n\n</details>\n\n- one\n- two"
    assert slides.blocks(text) == ["See chapter 05 and (1).", "$$a = b$$", "- one\n- two"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"kind": "choice", "choices": ["a", "b"], "truth": 1}, "b"),
        ({"kind": "number", "truth": {"text": "3"}, "unit": "tokens"}, "3 tokens"),
        ({"kind": "bars", "labels": ["x", "y"], "truth": [{"text": "1"}, {"text": "2"}], "unit": ""}, "- y: 2"),
    ],
)
def test_an_answer_is_told(asked, told):
    assert re.sub("<[^>]+>", "", slides.answer(asked, {})[-1]) == told


def test_a_script_ends_no_page():
    assert slides.within("a = '</script>' + '<!--'") == "a = '<\\/script>' + '<\\!--'"


@pytest.mark.release
@pytest.mark.torch
def test_a_deck_opens_from_disk_fits_and_draws(new_page, tmp_path, monkeypatch):
    monkeypatch.setattr(slides, "HEIGHT", 430)  # so that some of its figures are taller
    path = next(path for path in execute.chapters() if path.stem == CHAPTER)
    parts = page_parts.make()
    assert parts, "reveal.js comes from npm"
    file = tmp_path / "deck.html"
    file.write_text(slides.deck(path, parts), encoding="utf-8")
    page = new_page(width=1280, height=720)  # fails if anything is asked of another host, or an error is logged
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri(), wait_until="commit")
    page.wait_for_function("globalThis.Reveal?.isReady()", timeout=90_000)  # it reads 8 MB of scripts
    seen = []
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate(f"Reveal.slide({number})")
        page.wait_for_function("Reveal.getCurrentSlide().dataset.shown")
        page.wait_for_function(
            "[...Reveal.getCurrentSlide().querySelectorAll('.posenc-plotly, .posenc-explorable')]"
            ".every((figure) => figure.dataset.ready)"
        )
        page.wait_for_function(f"({MEASURE})().fits")
        seen.append(page.evaluate(MEASURE))
    assert {url.partition(":")[0] for url in asked} <= {"file", "blob", "data"}
    assert [url for url in asked if url.startswith("file:")] == [file.as_uri()]
    drawn = [count for slide in seen for count in slide["drawn"]]
    assert len(drawn) >= 4
    assert all(drawn)
    own, on_slide = zip(*(heights for slide in seen for heights in slide["heights"]), strict=True)
    assert max(own) > slides.HEIGHT, "a tall figure is not squeezed"
    assert all(abs(height - slides.HEIGHT) < 1 for height in on_slide), "and is as high as the others"
    assert seen[0]["text"].startswith("RoPE with complex numbers")
    questions = [place for place, slide in enumerate(seen) if slide["heading"] == slides.WORDS["predict"]]
    assert len(questions) == 2
    for place in questions:
        answer = seen[place + 1]
        assert answer["heading"] == slides.WORDS["answer"] or answer["drawn"]
    assert page.locator("aside.notes").count() > 10
