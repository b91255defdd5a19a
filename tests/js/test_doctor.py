"""The page's JavaScript says of every configuration what Python says of it."""

from __future__ import annotations

import json
from dataclasses import astuple

import numpy as np
import pytest

from posenc.doctor import diagnose
from posenc.doctor._reading import TABLE, shown
from tests.js.node import assert_same
from tests.unit.doctor.cases import BROKEN, FOUND, PLAIN, by_chance
from tests.unit.doctor.score import reports

CASES = {
    "examples of the rules": list(FOUND.values()),
    "reports to work with": [(one["configuration"], one.get("length")) for one in reports("working").values()],
    "examples of the page": [(one["config"], one.get("length")) for one in TABLE["examples"]],
    "by chance": list(by_chance(1500)),
}
ASKED = """x.map(([text, length]) => {
  const { rotations, ...rest } = A.diagnose(text, length), array = (each) => each && Array.from(each);
  const plain = (one) => ({ ...one, before: array(one.before), after: array(one.after) });
  return { ...rest, rotations: rotations.map(plain) };
})"""
FINDING, KEY = ("rule", "verdict", "key", "layer", "text", "see"), ("path", "value", "verdict", "text", "see")


def assert_told_alike(theirs, ours):
    """Findings, keys and facts are the same; frequencies to rounding."""
    assert (theirs["fault"], theirs["nested"], theirs["others"]) == (ours.fault, ours.nested, ours.others)
    assert [tuple(one[name] for name in FINDING) for one in theirs["findings"]] == [*map(astuple, ours.findings)]
    assert [tuple(one[name] for name in KEY) for one in theirs["keys"]] == [*map(astuple, ours.keys)]
    assert len(theirs["rotations"]) == len(ours.rotations)
    for one, other in zip(theirs["rotations"], ours.rotations, strict=True):
        assert_same(one["facts"], other.facts)
        assert (one["layer"], one["kind"]) == (other.layer, other.kind)
        assert (one["after"] is None) == (other.after is None)
        if other.after is not None:
            np.testing.assert_allclose(one["before"], other.before, rtol=1e-12)
            np.testing.assert_allclose(one["after"], other.after, rtol=1e-12)
            assert one["attention"] == pytest.approx(other.attention_factor, rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_javascript_and_python_say_the_same(doctor, name):
    cases = [[json.dumps(config), length] for config, length in CASES[name]]
    for (text, length), theirs in zip(cases, doctor(ASKED, cases), strict=True):
        try:
            assert_told_alike(theirs, diagnose(text, length))
        except AssertionError as error:
            raise AssertionError(f"{text} at {length}") from error


def test_broken_files_get_the_same_word(doctor):
    texts = [[text, None] for text, _ in BROKEN.values()]
    assert [one["fault"] for one in doctor(ASKED, texts)] == [diagnose(text).fault for text, _ in texts]


@pytest.mark.parametrize(
    "value",
    [
        0,
        1.5,
        1e-5,
        -3.25e-5,
        1e-7,
        1e20,
        1e21,
        123_456_789.125,
        10**400,
        "a" * 80,
        "Zoë 位置",
        True,
        None,
        [1, [2]],
        [1.5] * 9,
    ],
)
def test_values_are_written_alike(doctor, value):
    config = PLAIN | {"head_dim": 128, "rope_scaling": {"rope_type": "linear", "factor": 2.0, "foo": value}}
    text = json.dumps(config).replace("1" + "0" * 400, "1e400")
    [theirs] = doctor(ASKED, [[text, None]])
    [told] = [key for key in theirs["keys"] if key["path"] == "rope_scaling.foo"]
    assert told["value"] == shown(value)
