"""Each verdict of the manifest against what is computed, and the manifest against the list of their numbers.

`pytest tests/book/claims --flip` puts the opposite of every verdict to the test: then every executable claim must fail.
"""

import re
from dataclasses import replace

import pytest

from book.claims.evidence import (
    CHAPTERS,
    KINDS,
    NOTES,
    VERDICTS,
    Claim,
    evaluate,
    exchanges,
    load_manifest,
    objection,
    unnoticed,
)
from book.claims.originals import astray, plain

OPPOSITE = {"TRUE": "FALSE", "FALSE": "TRUE", "COND": "TRUE", "MISL": "TRUE"}
# The numbers of the claims; those between were never given.
LEDGER = [(1, 19), (30, 44), (50, 137), (140, 145), (150, 200), (210, 220), (222, 241)]
# What no note says: what settles some of their claims, or goes on from one, or was computed beside it.
NO_NOTE_SAYS = {f"C{number:03}" for number in (60, 116, 118, 121, 124, 126, 133, 152, 163, 216, 217, 239, 240, 241)}


def every(kind: str) -> list:
    """The claims of a kind, as parameters of a test."""
    return [
        pytest.param(claim, id=claim.id, marks=pytest.mark.torch if claim.torch else ())
        for claim in load_manifest()
        if claim.kind == kind
    ]


@pytest.mark.parametrize("claim", every("executable"))
def test_the_verdict_is_what_is_computed(claim: Claim, flip: bool):
    verdict = OPPOSITE[claim.verdict] if flip else claim.verdict
    assert objection(replace(claim, verdict=verdict)) == ""


@pytest.mark.parametrize("claim", every("executable"))
def test_every_other_verdict_fails(claim: Claim):
    assert all(objection(replace(claim, verdict=other)) for other in VERDICTS if other != claim.verdict)


@pytest.mark.parametrize("claim", every("executable"))
def test_what_is_decided_has_a_figure_and_what_it_hangs_on_is_named(claim: Claim):
    evidence = evaluate(claim.id)
    assert evidence.figure
    assert bool(evidence.cases) is (claim.verdict == "COND")  # with a case that holds and one that does not
    assert bool(evidence.weaker) is (claim.verdict in ("MISL", "FALSE"))
    assert bool(evidence.tried) is (claim.verdict != "TRUE")
    assert (evidence.as_said is None) is (claim.verdict == "COND")


@pytest.mark.parametrize("claim", [*every("misprint"), *every("literature"), *every("untestable")])
def test_what_cannot_be_executed_is_not_decided(claim: Claim):
    assert not evaluate(claim.id).verdict
    assert objection(claim) == ""
    assert claim.note  # it says what holds, or why nothing here can tell


@pytest.mark.torch
def test_exchanged_verdicts_go_unnoticed_only_where_others_measured():
    survivors = unnoticed()
    assert len(exchanges()) == len(load_manifest()) * (len(VERDICTS) - 1)
    assert {claim.id for claim in survivors} == {claim.id for claim in load_manifest() if claim.kind == "literature"}
    assert all(claim.verdict != "UNTESTED" for claim in survivors)


def test_every_claim_of_the_ledger_is_here():
    wanted = [f"C{number:03}" for first, last in LEDGER for number in range(first, last + 1)]
    assert sorted(number for claim in load_manifest() for number in claim.ids) == wanted


def test_a_claim_has_the_words_of_its_notes_or_is_ours():
    assert {claim.id for claim in load_manifest() if not claim.original} == NO_NOTE_SAYS
    for claim in load_manifest():
        assert set(claim.original) <= set(NOTES), claim.id
        assert all(re.search(r"[\u4e00-\u9fff]", words) for words in claim.original.values()), claim.id


def test_a_quotation_is_compared_with_its_note():
    claim = Claim("C000", "", "TRUE", "01", original={"001": "`d_model`: 维度…相加$p_t$"})
    assert not list(astray(claim, {"001": plain(r"d_model: **维度** 和 相加\(p_t\)。")}))
    for other in ("相加 d_model: 维度", "d_model: 维数 相加$p_t$"):
        assert list(astray(claim, {"001": plain(other)}))


def test_every_row_is_complete():
    for claim in load_manifest():
        assert claim.verdict in VERDICTS, claim.id
        assert claim.kind in KINDS, claim.id
        assert claim.chapter in CHAPTERS, claim.id
        assert claim.sentence.endswith((".", "?")), claim.id
        assert bool(claim.link) is bool(claim.section), claim.id
