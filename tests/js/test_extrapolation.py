"""Extrapolation in JavaScript: every measurement that can be chosen, on the shipped results and on made-up ones."""

from __future__ import annotations

import itertools

import pytest

from posenc.widgets import Extrapolation, extrapolation
from posenc.widgets.extrapolation import SCALED, TIMES, summary
from tests.js.node import assert_same
from tests.unit.test_widgets_extrapolation import MEASURES, SAID, SCALINGS, SCHEMES, invented


@pytest.mark.parametrize("measure", MEASURES)
def test_all_that_can_be_chosen_equals_python(figure_of, measure):
    lengths = itertools.cycle(TIMES)
    pairs = [(scheme, scaling) for scheme in SCALED for scaling in SCALINGS]
    pairs += [(scheme, "yarn") for scheme in SCHEMES if scheme not in SCALED]
    for k, ((scheme, scaling), (other, other_scaling)) in enumerate(itertools.pairwise(pairs)):
        setting = {"scheme": scheme, "scaling": scaling, "other": other, "other_scaling": other_scaling}
        setting |= {"measure": measure, "view": ("length", "position")[k % 2], "length": next(lengths)}
        shown, widget = figure_of(Extrapolation).at(setting), Extrapolation(**setting)
        assert_same(shown["values"], widget.values(), str(setting))
        assert shown["finding"] == widget.finding(), setting


def test_several_seeds_and_gaps_equal_python(figure_of, monkeypatch):
    made_up = summary(invented())
    monkeypatch.setattr(extrapolation, "_shipped", lambda: made_up)
    for setting, finding in SAID:
        shown = figure_of(Extrapolation).at(setting)
        assert_same(shown["values"], Extrapolation(**setting).values(), str(setting))
        assert shown["finding"] == finding
    seeds = [", ".join(f"{loss + 0.01 * seed:.3f} (seed {seed})" for seed in range(3)) for loss in (5.1, 1.7)]
    assert (
        f"16 L · ● RoPE, base 100: {seeds[0]} · ■ RoPE, base 100, YaRN: {seeds[1]}"
        in figure_of(Extrapolation).at({})["readings"]
    )
    shown = figure_of(Extrapolation).at({"view": "position", "scheme": "sinusoidal"})
    assert "0 L to 0.5 L · sinusoidal code: not measured · RoPE, base 100, YaRN: not asked" in shown["readings"]
