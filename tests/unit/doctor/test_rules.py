"""Every rule of the doctor finds what it is for, and says nothing of what is sound."""

from __future__ import annotations

import json

import numpy as np
import pytest

from posenc._numbers import grouped
from posenc.doctor import VERDICTS, diagnose
from posenc.doctor._reading import TABLE
from posenc.scaling import configuration, from_config
from tests.unit.doctor.cases import BROKEN, FOUND, LENGTH, LONGEST, PLAIN, YARN, by_chance, scaled
from tests.unit.doctor.score import naming, reports

LISTS = ("rules", "key_rules", "length_rules", "drawn_rules")
RULES = {rule["name"]: rule for name in LISTS for rule in TABLE[name]} | {"outside": TABLE["outside_rule"]}


def test_every_rule_has_an_example_and_a_name_of_its_own():
    assert len(RULES) == sum(len(TABLE[name]) for name in LISTS) + 1
    assert FOUND.keys() == RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_rule_finds_what_it_is_for(name):
    diagnosis = diagnose(*FOUND[name])
    [found] = {(one.verdict, one.see) for one in diagnosis.findings if one.rule == name}
    assert found == (RULES[name]["verdict"], RULES[name]["see"])
    assert all(one.text.endswith(".") for one in diagnosis.findings)


@pytest.mark.parametrize("name", TABLE["change_no_frequency"])
def test_what_is_wrong_and_changes_no_frequency_is_drawn_all_the_same(name):
    diagnosis = diagnose(*FOUND[name])
    assert diagnosis.worst() == "wrong"
    assert all(rotation.after is not None for rotation in diagnosis.rotations)


@pytest.mark.parametrize(
    "config",
    [
        PLAIN,
        PLAIN | {"head_dim": 128},
        scaled(None),
        scaled({"rope_type": "default"}),
        PLAIN | {"rope_local_base_freq": None},
        PLAIN | {"vocab_size": 32_000, "model_type": "llama", "torch_dtype": "float32"},
    ],
)
def test_sound_and_plain_files_are_fine(config):
    diagnosis = diagnose(config)
    assert (diagnosis.findings, diagnosis.worst()) == ((), "fine")
    assert {key.verdict for key in diagnosis.keys} == {"fine"}
    [rotation] = diagnosis.rotations
    np.testing.assert_array_equal(rotation.after, rotation.before)


def test_findings_begin_with_the_worst_and_keys_have_the_worst_of_theirs():
    diagnosis = diagnose(scaled(YARN | {"beta_fast": 1, "beta_slow": 32, "attn_factor": 0.9}))
    order = [VERDICTS.index(one.verdict) for one in diagnosis.findings]
    assert order == sorted(order)
    assert diagnosis.worst() == "wrong"
    told = {key.path: key.verdict for key in diagnosis.keys}
    assert told["rope_scaling.beta_fast"] == "wrong"
    assert told["rope_scaling.attn_factor"] == "ignored"
    assert told["rope_scaling.rope_type"] == "beware"
    assert told["hidden_size"] == "fine"
    assert diagnosis.rotations[0].after is None


def test_what_two_rotations_have_in_common_is_said_once():
    same = {"rope_type": "linear", "rope_theta": 1e4}
    config = PLAIN | {"rope_parameters": {"full_attention": same | {"factor": 0.5}, "sliding_attention": same}}
    found = {one.rule: one.layer for one in diagnose(config | {"dtype": "bfloat16"}).findings}
    assert (found["dtype"], found["factor_low"], found["missing"]) == ("", "full_attention", "sliding_attention")


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gets_a_clear_word(name):
    text, word = BROKEN[name]
    diagnosis = diagnose(text)
    assert word in diagnosis.fault
    assert diagnosis.worst() == "wrong"
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


def test_the_tables_are_those_of_the_package():
    """What is read here is read by `posenc.scaling` in the same way."""
    assert set(TABLE["types"]) == set(configuration.ROPE_TYPES)
    assert tuple(TABLE["head_dims"]) == configuration._HEAD_DIMS
    assert tuple(map(tuple, TABLE["widths"])) == configuration._WIDTHS_AND_HEADS
    known = {*TABLE["keys"], *TABLE["class_keys"]}
    assert not {*configuration._MODEL_KEYS, *configuration._OTHER_KEYS} - known
    for kind, keys in TABLE["types"].items():
        theirs = configuration._ROPE_TYPES[kind]
        ours = {*keys["needs"], *keys["reads"]} - {"alpha"}
        assert {*theirs.needed, *theirs.further} - {"n_axes", "shared", "rope_theta"} - ours <= {LENGTH}, kind


def test_nothing_raises_and_what_is_drawn_is_what_the_package_computes():
    """Any configuration at all; where the stricter `from_config` reads it too, the frequencies are its own."""
    drawn = agree = 0
    for config, length in by_chance(600, seed=1):
        diagnosis = diagnose(config, length)
        assert all(one.verdict in VERDICTS for one in (*diagnosis.findings, *diagnosis.keys))
        for rotation in diagnosis.rotations:
            if rotation.after is None:
                continue
            drawn += 1
            assert np.all(np.isfinite(rotation.after))
            if len(diagnosis.rotations) > 1 or "text_config" in config or LONGEST not in config:
                continue
            seq_len = rotation.length if rotation.kind in ("dynamic", "longrope") else None
            try:
                theirs = from_config(config, rotation.facts["head_dim"], seq_len)
            except (TypeError, ValueError):
                continue  # it refuses what transformers warns of
            np.testing.assert_allclose(rotation.after, theirs.inv_freq, rtol=1e-12)
            agree += 1
    assert drawn > 100
    assert agree > 30


@pytest.mark.parametrize("name", reports("working"))
def test_the_reports_to_work_with_are_named(name):
    assert naming(reports("working")[name])


def test_the_text_and_what_is_read_from_it_give_the_same():
    for config, length in FOUND.values():
        assert diagnose(json.dumps(config), length).findings == diagnose(config, length).findings


@pytest.mark.parametrize("example", [one for one in TABLE["examples"] if "rope_scaling" in one["config"]])
def test_the_key_of_the_base_tells_the_turn_of_its_own_formula(example):
    """Before any scaling: θ_i = base^(−2i/d), whatever the rope dictionary makes of it."""
    config = example["config"]
    width = config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])
    base = config["rope_theta"]
    diagnosis = diagnose(config, example.get("length"))
    [told] = [key.text for key in diagnosis.keys if key.path == "rope_theta"]
    if diagnosis.rotations[0].after is None:
        assert told == "The base of the frequencies θ_i = base^(−2i/d)."
    else:
        turn = grouped(2 * np.pi * base ** ((width - 2) / width))
        assert f": the slowest pair takes {turn} tokens for a turn." in told
