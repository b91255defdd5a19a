"""Each verdict of the manifest against what is computed, and the manifest against the list of their numbers.

`pytest tests/book/claims --flip` puts the opposite of every verdict to the test: then every executable claim must fail.
"""

from dataclasses import replace

import pytest

from book.claims.evidence import (
    CHAPTERS,
    KINDS,
    NOTES,
    OURS,
    VERDICTS,
    Claim,
    evaluate,
    exchanges,
    load_manifest,
    objection,
    unnoticed,
)

OPPOSITE = {"TRUE": "FALSE", "FALSE": "TRUE", "COND": "TRUE", "MISL": "TRUE"}
# The numbers of the claims; those between were never given.
LEDGER = [(1, 19), (30, 44), (50, 137), (140, 145), (150, 200), (210, 220), (222, 241)]
# What no note says: what settles some of their claims, or goes on from one, or was computed beside it.
NO_NOTE_SAYS = {"C118", "C121", "C124", "C152", "C163", "C217", "C239", "C240", "C241"}


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
    assert [claim.id for claim in load_manifest()] == wanted


def test_a_claim_is_the_notes_or_ours():
    for claim in load_manifest():
        assert claim.source == (OURS,) or set(claim.source) <= set(NOTES), claim.id
    assert {claim.id for claim in load_manifest() if claim.source == (OURS,)} == NO_NOTE_SAYS


def test_every_row_is_complete():
    for claim in load_manifest():
        assert claim.verdict in VERDICTS, claim.id
        assert claim.kind in KINDS, claim.id
        assert claim.chapter in CHAPTERS, claim.id
        assert claim.source, claim.id
        assert claim.sentence.endswith((".", "?")), claim.id
        assert bool(claim.link) is bool(claim.section), claim.id
