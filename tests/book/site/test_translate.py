"""What a second language needs of the Sphinx side, without a built site."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from docutils import nodes
from docutils.utils import new_document

from book._site.outputs.render import keep_marks_with_formulas, speak
from book._site.pages.translate import translate_summaries, translated, translator
from posenc.widgets import Rotation2D
from tools import pseudo

PAGE = "notebooks/05_rope_matrices"


def app(folder: Path, builder: str = "html", language: str = "zh_CN") -> SimpleNamespace:
    """As much of Sphinx as these hooks ask for."""
    config = SimpleNamespace(locale_dirs=["locale"], language=language, gettext_compact=False)
    env = SimpleNamespace(docname=PAGE, doc2path=lambda name: f"{name}.ipynb")
    return SimpleNamespace(srcdir=folder, config=config, env=env, builder=SimpleNamespace(name=builder))


def html(text: str) -> nodes.document:
    """A document with raw HTML."""
    document = new_document("page")
    document += nodes.raw("", text, format="html")
    return document


@pytest.fixture
def chinese(tmp_path: Path) -> Path:
    """A folder with a catalogue of the page."""
    catalogue = Catalog(locale="zh_CN")
    for english, said in {"Solution": "解答", "of the four tests": "个检验", "one token back": "前一个词元"}.items():
        catalogue.add(english, said)
    path = tmp_path / "locale" / "zh_CN" / "LC_MESSAGES" / f"{PAGE}.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalogue)
    return tmp_path


def test_summaries_of_folds_are_translated(chinese: Path) -> None:
    document = html("<details><summary>Solution</summary>")
    translate_summaries(app(chinese), document)
    assert document.astext() == "<details><summary>解答</summary>"


def test_choices_labels_and_units_are_translated(chinese: Path) -> None:
    question = {"unit": "of the four tests", "choices": ["one token back", "none"], "x": {"label": "", "least": 0}}
    said = translated(question, translator(app(chinese), new_document("page")))
    assert said == {"unit": "个检验", "choices": ["前一个词元", "none"], "x": {"label": "", "least": 0}}


def test_an_executed_explorable_speaks_the_language_of_its_page(tmp_path: Path) -> None:
    english = Rotation2D().to_html()
    document = html(english.replace(Rotation2D.without_script(), "<noscript><p>old</p></noscript>"))
    speak(app(tmp_path), document)
    assert document.astext() == english


@pytest.mark.parametrize(("before", "after"), [("角度为（", "）。然后"), ("角度为", "，然后"), ("“", "”、")])
def test_chinese_marks_stay_with_formulas(before: str, after: str) -> None:
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.Text(before), nodes.math("", r"\theta"), nodes.Text(after))
    keep_marks_with_formulas(app(Path()), document)
    [whole] = document.findall(lambda node: isinstance(node, nodes.inline) and "posenc-whole" in node["classes"])
    assert whole.astext() == before[len("角度为") * ("角" in before) :] + r"\theta" + after.removesuffix("然后")


def test_what_is_not_shown_is_not_translated() -> None:
    step = {
        "name": "open",
        "label": "Open rings",
        "set": {"model": "llama"},
        "say": {"if": "open > 1", "then": "{open:names}"},
    }
    assert pseudo.marked(step) == step | {"label": "Óþéñ říñğš"}
    assert json.loads(json.dumps(pseudo.marked({"sizes": ["head_dim"], "base": 500}))) == {
        "sizes": ["head_dim"],
        "base": 500,
    }
