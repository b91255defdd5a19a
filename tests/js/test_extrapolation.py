"""Extrapolation in JavaScript: every measurement that can be chosen, and what the shipped results say."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import traitlets

from posenc.lab.measured import results
from posenc.widgets import Extrapolation
from posenc.widgets.extrapolation import BOTH, SCALED, SYMBOLS, TIMES, VALUE
from tests.js.node import assert_same, figure_of
from tests.js.oracles.extrapolation import values

OPTIONS = {name: control.get("options", {}) for name, control in Extrapolation.catalogue["controls"].items()}
MEASURES, SCHEMES, SCALINGS = (OPTIONS[name] for name in ("measure", "scheme", "scaling"))


@pytest.mark.parametrize("measure", MEASURES)
def test_all_that_can_be_chosen_is_what_the_package_has(measure):
    lengths = itertools.cycle(TIMES)
    pairs = [(scheme, scaling) for scheme in SCALED for scaling in SCALINGS]
    pairs += [(scheme, "yarn") for scheme in SCHEMES if scheme not in (*SCALED, *BOTH)]
    for k, ((scheme, scaling), (other, other_scaling)) in enumerate(itertools.pairwise(pairs)):
        setting = {"scheme": scheme, "scaling": scaling, "other": other, "other_scaling": other_scaling}
        setting |= {"measure": measure, "view": ("length", "position")[k % 2], "length": next(lengths)}
        shown, widget = figure_of(Extrapolation).at(setting), Extrapolation(**setting)
        assert_same(shown["values"], values(widget), str(setting))
        assert shown["finding"], setting


def test_readings_have_every_seed_and_say_what_is_missing():
    gap = figure_of(Extrapolation).at({"measure": "copy_half", "scaling": "yarn_by_4"})
    assert all("RoPE (base 100) + YaRN (always by 4): not measured" in text for text in gap["readings"])
    assert "RoPE + YaRN (always by 4) isn’t measured" in gap["finding"]
    [far] = [text for text in figure_of(Extrapolation).at({})["readings"] if text.startswith("16 L")]
    assert [far.count(f"(seed {seed})") for seed in range(3)] == [2, 2, 2]


# ---- the results that ship -----------------------------------------------------------------------------------------


def test_shipped_numbers_are_the_laboratorys():
    found, counted = results(), 0
    measured = Extrapolation.data()["measured"]
    for one in found.select(causal=True):
        if one["probe"] not in MEASURES or one["kind"] not in ("plain", "scaling"):
            continue
        if one["profile"] == "quick" and one["kind"] == "scaling":
            continue
        scheme = "quick_" * (one["profile"] == "quick") + one["scheme"]
        scheme += f"_{one['past_end']}" if "past_end" in one else ""
        entry = measured[one["probe"]][scheme]
        times = one["length"] // entry["trained"]
        scaling = one.get("scaling", "default")
        if "factor" in one and one["factor"] != times:
            scaling += "_by_4"
        value, row, column = VALUE[one["probe"]], entry["seeds"].index(one["seed"]), TIMES.index(times)
        assert entry["by_length"][scaling][row][column] == round(one[value], 3)
        if f"position_{value}" in one:
            curve = np.array(one[f"position_{value}"], float)
            np.testing.assert_allclose(
                np.array(entry["by_position"][scaling][column][row], float), 100 * curve, atol=0.5 + 1e-9
            )
        counted += 1
    assert counted > 300


def test_all_that_is_measured_can_be_chosen_and_lies_within_the_axes():
    data = Extrapolation.data()
    for measure, schemes in data["measured"].items():
        low, high = data["limits"][measure]
        assert set(schemes) <= set(SCHEMES), measure
        for entry in schemes.values():
            assert set(entry["by_length"]) <= set(SCALINGS)
            for rows in entry["by_length"].values():
                drawn = np.array(rows, float)
                assert drawn.shape == (len(entry["seeds"]), len(TIMES))
                assert np.all(np.isnan(drawn) | ((low <= drawn) & (drawn <= high)))
            for columns in entry["by_position"].values():
                for times, curves in zip(TIMES, columns, strict=True):
                    if curves is None:
                        continue
                    drawn = np.array(curves, float) / 100
                    assert drawn.shape == (len(entry["seeds"]), 2 * times)
                    assert np.all(np.isnan(drawn) | ((low <= drawn) & (drawn <= high)))


@pytest.mark.torch
def test_lists_offer_what_the_laboratory_plans():
    from posenc.lab.corpus import Copy
    from posenc.lab.evaluate import SCALINGS as PLANNED
    from posenc.lab.evaluate import TIMES as MEASURED
    from posenc.lab.measurements import FIXED, FIXED_FACTOR
    from posenc.lab.runs import planned

    def schemes(profile):
        return {run.scheme for run in planned() if (run.profile, run.task) == (profile, "text")}

    full = schemes("full") - {"learned"} | {"learned_clamp", "learned_interpolate"}
    assert set(SCHEMES) - set(BOTH) == full | {f"quick_{scheme}" for scheme in schemes("quick")}
    assert set(SCALINGS) == {*PLANNED, *(f"{scaling}_by_{FIXED_FACTOR:g}" for scaling in FIXED)}
    assert (Copy.vocab_size, MEASURED) == (SYMBOLS, TIMES)


@pytest.mark.parametrize("value", [0, 0.9, 32, -4, "4", None, True])
def test_the_length_is_within_what_was_measured(value):
    accepted = re.escape(f"powers of two from 1 to 16, got {value!r}")
    with pytest.raises(traitlets.TraitError, match=accepted):
        Extrapolation(length=value)


def mean_by_length(measure, scheme, scaling="default"):
    """Of the shipped results: the mean over the seeds at each length, NaN where nothing was measured."""
    rows = Extrapolation.data()["measured"][measure][scheme]["by_length"][scaling]
    return np.array(rows, float).mean(axis=0)


def test_the_story_is_true():
    story = Extrapolation.story()
    trained = mean_by_length("text", "rope_100")
    repaired = mean_by_length("text", "rope_100", "yarn")
    assert (trained[1:] > trained[0] + 1).all()
    assert (repaired[1:] - trained[0] < (trained[1:] - trained[0]) / 2).all(), "most of it"
    for scheme in ("rope_100", "rope_10000"):
        for scaling in Extrapolation.data()["measured"]["text"][scheme]["by_length"]:
            losses = mean_by_length("text", scheme, scaling)[1:]
            assert (losses[~np.isnan(losses)] > mean_by_length("text", scheme)[0]).all(), (scheme, scaling)
    level = mean_by_length("text", "alibi")
    assert np.ptp(level) < 0.01
    assert TIMES[-1] == story["level"]["length"]
    at = TIMES.index(story["far"]["length"])
    fitted, published = (mean_by_length("copy_half", scheme) for scheme in ("alibi", "alibi_published"))
    assert fitted[at] < 2 / SYMBOLS
    assert published[at] > 0.8
    none = mean_by_length("text", "none")
    assert (none > 2).all()
    assert (none[1:] < trained[1:]).all()
