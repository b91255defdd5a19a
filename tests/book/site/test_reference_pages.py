"""The glossary, the questions and the appendix on the notes say what the package, the chapters and the claims say."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
from docutils import nodes
from playwright.sync_api import Page, expect

from book._site.reference.directives import VERDICTS
from book._site.reference.glossary import (
    CODE,
    NOTEBOOKS,
    Term,
    directives_of,
    sections_of,
    terms_of,
)
from book.claims import evidence
from posenc import configuration, schemes
from tests.book.site.browser import ROOT

BOOK = ROOT / "book"
GLOSSARY, QUESTIONS, NOTES = (BOOK / f"{name}.md" for name in ("glossary", "questions", "claims"))
TERMS = terms_of(GLOSSARY)
TO_NOTEBOOK = re.compile(r"\[([^\]]+)\]\(\.\./notebooks/(\w+)\.ipynb#([\w-]+)\)")


class Question(NamedTuple):
    """A question of the page of questions, as it is written."""

    group: str
    text: str
    answer: str

    @property
    def anchor(self) -> str:
        return nodes.make_id(self.text)


ASKED = [Question(group, text, answer) for group, text, _, answer in directives_of(QUESTIONS, "question")]

every_term = pytest.mark.parametrize("term", TERMS, ids=lambda term: term.anchor)
every_question = pytest.mark.parametrize("question", ASKED, ids=lambda question: question.anchor)


@cache
def named(name: str) -> Any:
    """What a dotted name of the package stands for."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            module = importlib.import_module(".".join(["posenc", *parts[:cut]]))
        except ModuleNotFoundError:
            continue
        found = module
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)


def resolves(notebook: str, anchor: str) -> bool:
    return (NOTEBOOKS / f"{notebook}.ipynb").is_file() and anchor in sections_of(notebook)


# ---- the glossary --------------------------------------------------------------------------------------------------


def test_terms_are_unique_and_sorted_within_their_group():
    headings = re.findall(r"^#+ (.+)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    anchors = Counter([term.anchor for term in TERMS] + [nodes.make_id(heading) for heading in headings])
    assert [anchor for anchor, count in anchors.items() if count > 1] == []
    assert len({term.name.casefold() for term in TERMS}) == len(TERMS) > 100
    for group in dict.fromkeys(term.group for term in TERMS):
        names = [term.name.casefold() for term in TERMS if term.group == group]
        assert names == sorted(names), group


@every_term
def test_a_term_has_a_sentence_and_its_chinese_name(term: Term):
    assert term.definition.rstrip(")").endswith("."), "one sentence, to its full stop"
    assert "\n" not in term.definition
    assert len(term.definition) < 260
    assert re.search(r"[\u4e00-\u9fff]", term.zh)
    assert not re.search(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]", term.zh), "a space between scripts"


@every_term
def test_every_name_of_the_package_exists(term: Term):
    for code in term.code:
        match = CODE.fullmatch(code)
        assert match, code
        thing = named(match["name"])
        if match["argument"]:
            parameters = inspect.signature(thing).parameters
            assert match["argument"] in parameters, code
        if match["value"]:
            value = match["value"].strip('"')
            if thing is schemes.make_scheme:
                assert value in schemes.SCHEMES, code
            else:
                module = inspect.getmodule(thing)
                assert value in getattr(module, {"layout": "LAYOUTS", "method": "METHODS"}[match["argument"]]), code


@every_term
def test_its_section_is_there_and_speaks_of_it(term: Term):
    notebook, _, anchor = term.see.partition("#")
    assert re.match(r"\d\d_", notebook), "a chapter explains it"
    assert resolves(notebook, anchor), term.see
    text = re.sub(r"\s+", " ", sections_of(notebook)[anchor][1].replace("’", "'").replace("*", ""))
    said = term.said or term.name
    assert said.casefold() in text.casefold(), f"the section of `:see: {term.see}` has to say {said!r} (or `:said:`)"


def test_every_scheme_and_every_key_of_a_configuration_is_here():
    code = " ".join(" ".join(term.code) for term in TERMS)
    missing = {name for name in schemes.SCHEMES if f'make_scheme("{name}")' not in code}
    assert missing == {"integer", "normalised", "binary"}, "an entry of book/glossary.md has the code of each other one"
    for name in schemes.SCALINGS:
        assert f"scaling.{name}" in code, name
    known = {name for term in TERMS for name in (*term.elsewhere, term.name)}
    assert [key for key in sorted(configuration.INNER - {"xdrope_section"}) if key not in known] == []


# ---- the questions -------------------------------------------------------------------------------------------------


@every_question
def test_an_answer_is_short_and_says_where_it_is_shown(question: Question):
    assert "`" not in question.text, "a directive's own line cannot hold code"
    assert question.text.endswith(("?", "?*"))
    links = TO_NOTEBOOK.findall(question.answer)
    assert links
    for text, notebook, anchor in links:
        assert resolves(notebook, anchor), f"{notebook}#{anchor}"
        assert text.endswith(sections_of(notebook)[anchor][0])
    prose = re.sub(r"^`{3}.*?^`{3}$", "", question.answer, flags=re.MULTILINE | re.DOTALL)
    assert 15 < len(re.sub(r"\[[^\]]+\]\([^)]+\)", "", prose).split()) < 150


def test_every_group_of_questions_is_named_at_the_top():
    listed = re.findall(r"\[([^\]]+)\]\(#([\w-]+)\)", QUESTIONS.read_text(encoding="utf-8"))
    groups = dict.fromkeys(question.group for question in ASKED)
    assert listed == [(group, nodes.make_id(group)) for group in groups]


# ---- the notes, appendix to the claims -----------------------------------------------------------------------------


def part_of(note: str) -> str:
    """The part of the page that is about one note."""
    [part] = [
        part
        for part in re.split(r"^## ", NOTES.read_text(encoding="utf-8"), flags=re.MULTILINE)
        if part.startswith(f"Note {note}:")
    ]
    return part


@pytest.mark.parametrize("note", ["000", "001", "002", "003", "004"])
def test_every_chapter_that_settles_claims_of_a_note_stands_in_its_table(note: str):
    table = "\n".join(line for line in part_of(note).splitlines() if line.startswith("|"))
    linked = {notebook[:2] for _, notebook, _ in TO_NOTEBOOK.findall(table)}
    assert {claim.chapter for claim in evidence.load_manifest() if note in claim.said_by} <= linked


# ---- the built pages -----------------------------------------------------------------------------------------------


def text_of(site: Path, name: str) -> str:
    return (site / "book" / f"{name}.html").read_text(encoding="utf-8")


def test_every_term_and_every_question_is_on_its_page(built_site: Path):
    glossary, questions = text_of(built_site, "glossary"), text_of(built_site, "questions")
    for term in TERMS:
        assert re.search(rf'<div class="posenc-term[^>]* id="{term.anchor}"', glossary), term.name
    assert glossary.count('class="posenc-term ') == len(TERMS)
    for question in ASKED:
        assert f'id="{question.anchor}"' in questions, question.text
    assert questions.count('class="posenc-question"') == len(ASKED)
    assert "```" not in glossary + questions


def test_names_of_the_package_lead_to_its_reference(built_site: Path):
    linked = re.findall(r'href="package/\w+\.html#posenc\.([\w.]+)"', text_of(built_site, "glossary"))
    wanted = [CODE.fullmatch(code)["name"] for term in TERMS for code in term.code]  # type: ignore[index]
    missing = Counter(wanted) - Counter(unquote(name) for name in linked)
    assert not missing, missing


def test_counts_are_those_of_the_manifest(built_site: Path):
    bars = re.findall(r'class="posenc-shares" role="img" aria-label="([^"]+)"', text_of(built_site, "claims"))
    assert len(bars) == 6
    for bar, note in zip(bars, ["", "000", "001", "002", "003", "004"], strict=True):
        counts = Counter(
            claim.verdict for claim in evidence.load_manifest() if (note in claim.said_by if note else claim.original)
        )
        words = ", ".join(f"{counts[name]} {text}" for name, text in VERDICTS.items() if counts[name])
        assert bar == f"{sum(counts.values())} claims: {words}"


def test_a_link_to_an_answer_opens_it(site_url: str, new_page: Callable[..., Page]):
    page = new_page()
    anchor = ASKED[-1].anchor
    page.goto(f"{site_url}/book/questions.html#{anchor}")
    expect(page.locator(f"#{anchor}")).to_be_visible()
    expect(page.locator("details[open]")).to_have_count(1)
