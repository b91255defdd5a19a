"""Extrapolation in JavaScript: every measurement that can be chosen, on the shipped results and on made-up ones."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import traitlets

from posenc.lab.measured import Results, results
from posenc.widgets import Extrapolation, extrapolation
from posenc.widgets.extrapolation import BOTH, SCALED, SYMBOLS, TIMES, VALUE, summary
from tests.js.node import assert_same, figure_of
from tests.js.oracles.extrapolation import values

OPTIONS = {name: control.get("options", {}) for name, control in Extrapolation.catalogue["controls"].items()}
MEASURES, SCHEMES, SCALINGS = (OPTIONS[name] for name in ("measure", "scheme", "scaling"))
WORSE = {"default": 1.9, "yarn": 0.2, "linear": 1.4}  # nats more at 4 times the trained length


def invented(seeds=(0, 1, 2)) -> Results:
    """Results made up by a rule: three seeds of RoPE, one of a table, and two of a small model without positions."""
    runs, measurements = {}, []

    def add(profile, task, scheme, seed, causal=True):
        name = f"{profile}-{task}-{scheme}-{seed}" + ("" if causal else "-bidirectional")
        runs[name] = {"profile": profile, "task": task, "scheme": scheme, "seed": seed, "causal": causal}
        return name, {"full": 128, "quick": 64}[profile]

    def measure(run, kind, probe, length, loss, **about):
        curve = {}
        if "fixed" not in about:
            curve = {f"position_{value}": [None, *[at] * (2 * length // 64)] for value, at in (("loss", loss),)}
            curve["position_accuracy"] = [None, *[1 / (1 + loss)] * (2 * length // 64)]
        about.pop("fixed", None)
        one = {"run": run, "kind": kind, "probe": probe, "length": length, "loss": loss, "accuracy": 1 / (1 + loss)}
        measurements.append(one | curve | about)

    for seed in seeds:
        for task, probes in (("text", ("text",)), ("copy", ("copy", "copy_half"))):
            run, trained = add("full", task, "rope_100", seed)
            for probe in probes:
                for times in TIMES:
                    loss = 1.3 + 0.01 * seed + WORSE["default"] * np.log2(times) / 2
                    measure(run, "plain", probe, times * trained, loss)
                    measure(run, "scaling", probe, times * trained, loss, scaling="default", factor=float(times))
                    for scaling in ("yarn", "linear"):
                        loss = 1.3 + 0.01 * seed + WORSE[scaling] * np.log2(times) / 2
                        if times > 1:
                            measure(run, "scaling", probe, times * trained, loss, scaling=scaling, factor=float(times))
                        if times in (1, 2, 8) and probe != "copy_half":
                            about = {"scaling": scaling, "factor": 4.0, "fixed": True}
                            measure(run, "scaling", probe, times * trained, 2 + 0.1 * times, **about)
                measure(run, "intervention", probe, 4 * trained, 9.0, operation="clip", chosen="all", pairs=[0])
    run, trained = add("full", "text", "learned", 0)
    for times in TIMES:
        measure(run, "plain", "text", times * trained, 1.5 * times, past_end="clamp")
        measure(run, "plain", "text", times * trained, 1.5, past_end="interpolate")
    for seed in (0, 1):
        for causal in (True, False):
            run, trained = add("quick", "text", "none", seed, causal)
            for times in TIMES:
                measure(run, "plain", "text", times * trained, (2.0 if causal else 7.0) + 0.1 * seed - 0.01 * times)
    return Results(runs, measurements)


def test_summary_of_results_that_were_made_up():
    found = summary(invented())
    assert found["limits"] == {"text": [1.0, 24.0], "copy": [0, 1], "copy_half": [0, 1]}
    measured = found["measured"]
    assert set(measured["text"]) == {"rope_100", "learned_clamp", "learned_interpolate", "quick_none"}
    assert set(measured["copy"]) == set(measured["copy_half"]) == {"rope_100"}
    rope = measured["text"]["rope_100"]
    assert (rope["trained"], rope["seeds"]) == (128, [0, 1, 2])
    assert set(rope["by_length"]) == {"default", "yarn", "linear", "yarn_by_4", "linear_by_4"}
    assert rope["by_length"]["yarn"][:2] == [[1.3, 1.4, 1.5, 1.6, 1.7], [1.31, 1.41, 1.51, 1.61, 1.71]]
    assert rope["by_length"]["yarn_by_4"] == [[2.1, 2.2, 1.5 + 0.01 * seed, 2.8, None] for seed in range(3)]
    assert [rows is not None for rows in rope["by_position"]["yarn_by_4"]] == [False, False, True, False, False]
    assert rope["by_position"]["yarn"][1] == [[None, *[140 + seed] * 8] for seed in range(3)]
    assert measured["text"]["learned_clamp"]["by_length"]["default"] == [[1.5, 3.0, 6.0, 12.0, 24.0]]
    assert (measured["text"]["quick_none"]["trained"], measured["text"]["quick_none"]["seeds"]) == (64, [0, 1])
    assert measured["text"]["quick_none"]["by_length"]["default"][1] == [2.09, 2.08, 2.06, 2.02, 1.94]
    assert set(measured["copy_half"]["rope_100"]["by_length"]) == {"default", "yarn", "linear"}
    assert measured["copy"]["rope_100"]["by_length"]["default"][0][0] == round(1 / 2.3, 3)


SAID = [
    (
        {},
        "At 4 L, RoPE in effect guesses among 25 bytes, RoPE + YaRN among 5: "
        "reading more text hurts instead of helping.",
    ),
    (
        {"scheme": "learned_interpolate", "other": "learned_clamp", "length": 8},
        "At 8 L, learned (interpolated) (one seed) in effect guesses among 4 bytes, "
        "learned (clamped) (one seed) among 162755.",
    ),
    (
        {"scheme": "rope_100_linear", "other": "alibi", "length": 2},
        "At 2 L, RoPE + PI in effect guesses among 7 bytes, ALiBi isn't measured: "
        "truncating the text to its last L tokens is better.",
    ),
    (
        {"view": "position", "scaling": "linear_by_4", "length": 2},
        "At the end of 2 L, RoPE + PI (always by 4) isn't measured, RoPE + YaRN in effect guesses among 4 bytes.",
    ),
    (
        {"scheme": "quick_none", "length": 1},
        "Up to the trained length, every distance and every angle occurred in training: nothing has to extrapolate.",
    ),
    (
        {"scheme": "quick_none", "length": 4},
        "At 4 L, NoPE (small model) in effect guesses among 7 bytes, RoPE + YaRN (L = 128) among 5.",
    ),
    (
        {"measure": "copy_half"},
        "At 4 L, RoPE copies some symbols, RoPE + YaRN too. A flat loss on text isn't retrieval.",
    ),
]


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


def test_several_seeds_and_gaps(monkeypatch):
    made_up = summary(invented())
    monkeypatch.setattr(extrapolation, "_shipped", lambda: made_up)
    for setting, finding in SAID:
        shown = figure_of(Extrapolation).at(setting)
        assert_same(shown["values"], values(Extrapolation(**setting)), str(setting))
        assert shown["finding"] == finding
    seeds = [", ".join(f"{loss + 0.01 * seed:.3f} (seed {seed})" for seed in range(3)) for loss in (5.1, 1.7)]
    assert (
        f"16 L · ● RoPE (base 100): {seeds[0]} · ■ RoPE (base 100) + YaRN: {seeds[1]}"
        in figure_of(Extrapolation).at({})["readings"]
    )
    readings = figure_of(Extrapolation).at({"view": "position", "scheme": "sinusoidal"})["readings"]
    assert "0 L to 0.5 L · sinusoidal encoding: not measured · RoPE (base 100) + YaRN: not evaluated" in readings


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
