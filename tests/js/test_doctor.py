"""The page's JavaScript reads every configuration as Python does, and says the same of it."""

from __future__ import annotations

import json
from dataclasses import astuple

import numpy as np
import pytest

from posenc.doctor import diagnose
from posenc.doctor.__main__ import summary
from posenc.doctor._json import TABLE, shown
from tests.js.node import assert_same
from tests.unit.configurations.cases import BROKEN, FOUND, PLAIN, by_chance
from tests.unit.configurations.oracles import RAW, names
from tests.unit.configurations.score import reports

CASES = {
    "examples of the rules": [(json.dumps(config), length) for config, length in FOUND.values()],
    "reports to work with": [
        (json.dumps(one["configuration"]), one.get("length")) for one in reports("working").values()
    ],
    "examples of the page": [(json.dumps(one["config"]), one.get("length")) for one in TABLE["examples"]],
    "published files": [((RAW / f"{name}.json").read_text("utf-8"), None) for name in names()],
    "by chance": [(json.dumps(config), length) for config, length in by_chance(600)],
}
ASKED = """x.map(([text, length]) => {
  const { rotations, ...rest } = A.diagnose(text, length), array = (each) => each && Array.from(each);
  const plain = (one) => ({ ...one, before: array(one.before), after: array(one.after) });
  return { ...rest, summary: A.summary({ ...rest, rotations }), rotations: rotations.map(plain) };
})"""
FINDING, KEY = ("rule", "level", "key", "layer", "text", "see"), ("path", "value", "level", "text", "see")


def assert_told_alike(theirs, ours):
    """Facts, findings and keys are the same; frequencies to rounding."""
    assert (theirs["fault"], theirs["nested"], theirs["others"]) == (ours.fault, ours.nested, ours.others)
    assert_same(theirs["facts"], ours.facts)
    for one, other in zip(theirs["rotations"], ours.rotations, strict=True):
        assert_same(one["facts"], other.facts)
        assert (one["layer"], one["kind"]) == (other.layer, other.kind)
        assert (one["after"] is None) == (other.after is None)
        if other.after is not None:
            np.testing.assert_allclose(one["before"], other.before, rtol=1e-12)
            np.testing.assert_allclose(one["after"], other.after, rtol=1e-12)
            assert one["attention"] == pytest.approx(other.attention_factor, rel=1e-12)
    assert [tuple(one[name] for name in FINDING) for one in theirs["findings"]] == [*map(astuple, ours.findings)]
    assert [tuple(one[name] for name in KEY) for one in theirs["keys"]] == [*map(astuple, ours.keys)]
    assert theirs["summary"] == summary(ours)


@pytest.mark.parametrize("name", CASES)
def test_javascript_and_python_say_the_same(doctor, name):
    for (text, length), theirs in zip(CASES[name], doctor(ASKED, CASES[name]), strict=True):
        try:
            assert_told_alike(theirs, diagnose(text, length))
        except AssertionError as error:
            raise AssertionError(f"{text[:2000]} at {length}") from error


def test_broken_files_get_the_same_word(doctor):
    texts = [[text, None] for text, _ in BROKEN.values()]
    assert [one["fault"] for one in doctor(ASKED, texts)] == [diagnose(text).fault for text, _ in texts]


VALUES = [0, 1.5, 1e-5, -3.25e-5, 1e-7, 1e20, 1e21, 123_456_789.125, 10**400, "a" * 80, "Zoë 位置", True, None,
          [1, [2]], [1.5] * 9]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_values_are_written_alike(doctor, value):
    config = PLAIN | {"head_dim": 128, "rope_scaling": {"rope_type": "linear", "factor": 2.0, "foo": value}}
    text = json.dumps(config).replace("1" + "0" * 400, "1e400")
    [theirs] = doctor(ASKED, [[text, None]])
    [told] = [key for key in theirs["keys"] if key["path"] == "rope_scaling.foo"]
    assert told["value"] == shown(value)
