"""Each verdict of the manifest against what is computed, and the manifest against the list of their numbers.

`pytest tests/claims --flip` puts the opposite of every verdict to the test: then every executable claim must fail.
"""

import pytest
from evidence import CHAPTERS, KINDS, VERDICTS, Claim, evaluate, load_manifest

OPPOSITE = {"TRUE": "FALSE", "FALSE": "TRUE", "COND": "TRUE", "MISL": "TRUE"}
# The numbers of the 207 claims that the source notes make; the numbers between were never given.
LEDGER = [(1, 19), (30, 44), (50, 137), (140, 145), (150, 200), (210, 220), (222, 238)]


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
    assert verdict in evaluate(claim.id).verdicts, evaluate(claim.id).figure


@pytest.mark.parametrize("claim", every("executable"))
def test_the_opposite_verdict_fails(claim: Claim):
    assert OPPOSITE[claim.verdict] not in evaluate(claim.id).verdicts


@pytest.mark.parametrize("claim", every("executable"))
def test_what_is_decided_has_a_figure(claim: Claim):
    assert evaluate(claim.id).figure


@pytest.mark.parametrize("claim", [*every("misprint"), *every("literature"), *every("untestable")])
def test_what_cannot_be_executed_is_not_decided(claim: Claim):
    assert not evaluate(claim.id).verdicts
    assert claim.note  # it says what holds, or why nothing here can tell


def test_every_claim_of_the_ledger_is_here():
    wanted = [f"C{number:03}" for first, last in LEDGER for number in range(first, last + 1)]
    assert [claim.id for claim in load_manifest()] == wanted
    assert len(wanted) == 207


def test_every_row_is_complete():
    for claim in load_manifest():
        assert claim.verdict in VERDICTS, claim.id
        assert claim.kind in KINDS, claim.id
        assert claim.chapter in CHAPTERS, claim.id
        assert (claim.verdict == "UNTESTED") <= (claim.kind == "untestable"), claim.id
        assert claim.source, claim.id
        assert set(claim.source) <= {"000", "001", "002", "003", "004"}, claim.id
        assert claim.sentence.endswith((".", "?")), claim.id
        assert claim.section, f"{claim.id}: the section of its chapter that settles it"
