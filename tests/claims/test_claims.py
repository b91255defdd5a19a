"""Each verdict of the manifest against what is computed, and the manifest against itself.

`pytest tests/claims --flip` puts the opposite of every verdict to the test: then every executable claim must fail.
"""

import pytest
from evidence import Claim, evaluate, load_manifest

OPPOSITE = {"TRUE": "FALSE", "FALSE": "TRUE", "COND": "TRUE", "MISL": "TRUE"}
EXECUTABLE = [claim for claim in load_manifest() if claim.kind == "executable"]


@pytest.mark.parametrize("claim", EXECUTABLE, ids=lambda claim: claim.id)
def test_the_verdict_is_what_is_computed(claim: Claim, flip: bool):
    verdict = OPPOSITE[claim.verdict] if flip else claim.verdict
    assert verdict in evaluate(claim.id).verdicts, evaluate(claim.id).figure


@pytest.mark.parametrize("claim", EXECUTABLE, ids=lambda claim: claim.id)
def test_the_opposite_verdict_fails(claim: Claim):
    assert OPPOSITE[claim.verdict] not in evaluate(claim.id).verdicts


def test_only_executable_claims_are_decided():
    for claim in load_manifest():
        assert bool(evaluate(claim.id).verdicts) == (claim.kind == "executable"), claim.id
        assert evaluate(claim.id).figure or claim.kind == "literature", claim.id


def test_chapter_08_has_all_of_its_claims():
    wanted = {*range(105, 118), *range(183, 193), 199, 200}
    assert {int(claim.id[1:]) for claim in load_manifest()} == wanted
