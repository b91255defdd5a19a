"""Every rule of the doctor finds what it is for, and says nothing of what is sound."""

import json

import numpy as np
import pytest

from posenc.configuration import read_configuration
from posenc.doctor import LEVELS, diagnose
from posenc.doctor._json import TABLE
from posenc.scaling import from_config
from tests.unit.configurations.cases import BROKEN, FOUND, PLAIN, YARN, by_chance, scaled

LISTS = ("rules", "file_rules", "key_rules", "length_rules")
RULES = {rule["name"]: rule for name in LISTS for rule in TABLE[name]} | {"mistyped": TABLE["mistyped"]}


def test_every_rule_has_an_example_and_a_name_of_its_own():
    assert len(RULES) == sum(len(TABLE[name]) for name in LISTS) + 1
    assert FOUND.keys() == RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_rule_finds_what_it_is_for(name):
    diagnosis = diagnose(*FOUND[name])
    [found] = {(one.level, one.see) for one in diagnosis.findings if one.rule == name}
    assert found == (RULES[name]["level"], RULES[name]["see"])
    assert all(one.text.endswith(".") for one in diagnosis.findings)


@pytest.mark.parametrize("name", TABLE["change_no_frequency"])
def test_what_is_wrong_and_changes_no_frequency_is_drawn_all_the_same(name):
    diagnosis = diagnose(*FOUND[name])
    assert diagnosis.worst() == "error"
    assert all(rotation.after is not None for rotation in diagnosis.rotations)


@pytest.mark.parametrize(
    "config",
    [
        PLAIN,
        scaled(None),
        PLAIN | {"vocab_size": 32_000, "model_type": "llama", "torch_dtype": "bfloat16"},
    ],
)
def test_sound_and_plain_files_are_fine(config):
    diagnosis = diagnose(config)
    assert (diagnosis.findings, diagnosis.worst()) == ((), "fine")
    assert {key.level for key in diagnosis.keys} == {"fine"}
    [rotation] = diagnosis.rotations
    np.testing.assert_array_equal(rotation.after, rotation.before)


def test_findings_begin_with_the_worst_and_keys_have_the_worst_of_theirs():
    diagnosis = diagnose(scaled(YARN | {"beta_fast": 1, "beta_slow": 32, "attn_factor": 0.9}))
    order = [LEVELS.index(one.level) for one in diagnosis.findings]
    assert order == sorted(order)
    assert diagnosis.worst() == "error"
    told = {key.path: key.level for key in diagnosis.keys}
    assert told["rope_scaling.beta_fast"] == "error"
    assert told["rope_scaling.attn_factor"] == "likely mistake"
    assert told["rope_scaling.rope_type"] == "note"
    assert told["hidden_size"] == "fine"
    assert diagnosis.rotations[0].after is None


def test_what_two_rotations_have_in_common_is_said_once():
    same = {"rope_type": "linear", "rope_theta": 1e4}
    config = PLAIN | {"rope_parameters": {"full_attention": same | {"factor": 0.5}, "sliding_attention": same}}
    found = {one.rule: one.layer for one in diagnose(config | {"head_dim": 64}).findings}
    assert (found["head_not_quotient"], found["factor_low"]) == ("", "full_attention")
    assert found["missing"] == "sliding_attention"


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gets_a_clear_word(name):
    text, word = BROKEN[name]
    diagnosis = diagnose(text)
    assert word in diagnosis.fault
    assert diagnosis.worst() == "error"
    assert not diagnosis.findings
    assert not diagnosis.rotations


@pytest.mark.parametrize(
    ("config", "length", "error", "message"),
    [
        (PLAIN, 0, ValueError, "length must be"),
        (PLAIN, 2.5, TypeError, "length must be"),
        (PLAIN, 2**53, ValueError, "length must be below"),
        ([PLAIN], None, TypeError, "config must be the text"),
    ],
)
def test_bad_arguments_are_refused(config, length, error, message):
    with pytest.raises(error, match=message):
        diagnose(config, length)


@pytest.mark.filterwarnings("ignore:config")
def test_errors_are_what_the_package_refuses_and_what_is_drawn_is_what_it_computes():
    """Any configuration at all: the doctor and `from_config` are two views of one reading."""
    drawn, wrong = 0, 0
    for config, length in [*FOUND.values(), *by_chance(600, seed=1)]:
        diagnosis = diagnose(config, length)
        error = any(one.level == "error" and one.rule not in (*TABLE["change_no_frequency"], "head_high")
                    for one in diagnosis.findings)  # fmt: skip
        try:
            read = read_configuration(config)
            made = [from_config(one, one.head_dim or 128) for one in read.rotations]
        except (TypeError, ValueError):
            assert error or diagnosis.fault, config
            wrong += 1
            continue
        assert not error, config
        for rotation, theirs in zip(diagnosis.rotations, made, strict=True):
            named = not rotation.facts["head_missing"] and rotation.after is not None
            if named and rotation.kind not in ("dynamic", "longrope"):
                np.testing.assert_allclose(rotation.after, theirs.inv_freq, rtol=1e-12)
                assert rotation.attention_factor == theirs.attention_factor
                drawn += 1
    assert min(drawn, wrong) > 100


def test_infinity_and_nan_are_read_as_python_writes_them():
    config = json.dumps(PLAIN | {"time_step_limit": [0.0, float("inf")], "note": "Infinity, NaN"})
    assert diagnose(config).worst() == "fine"
    assert diagnose('{"rope_theta": NaN, "head_dim": 64, "rope_scaling": null}').findings[0].rule == "silent"
    assert diagnose('{"rope_theta": -Infinity, "head_dim": 64}').findings[0].rule == "mistyped"
