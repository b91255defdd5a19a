"""Arithmetic of sinusoid_explorer in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.absolute import shift_matrix, sinusoidal
from posenc.analysis import decay
from posenc.frequencies import inv_freq
from posenc.widgets import SinusoidExplorer
from posenc.widgets.sinusoid_explorer import random_orthogonal
from tests.explorables import shown

BASES = (1.0, 1.023, 500.0, 1e4, 1e8)


DIMS = (2, 4, 64, 128)


@pytest.mark.parametrize("dim", DIMS)
def test_matrices_equal_python(arithmetic, dim):
    rows = "%s.map((row) => Array.from(row))"
    for seed in (0, 1, 500, 999):
        drawn = arithmetic(rows % "A.randomOrthogonal(x.seed, x.dim)", {"seed": seed, "dim": dim})
        np.testing.assert_allclose(drawn, random_orthogonal(seed, dim), atol=1e-10, rtol=0)
    for base in BASES:
        for offset in (-64, -1, 0, 1, 64):
            x = {"dim": dim, "base": base, "offset": offset}
            drawn = arithmetic(rows % "A.shiftMatrix(x.offset, A.inverseFrequencies(x.dim, x.base))", x)
            np.testing.assert_allclose(drawn, shift_matrix(offset, dim, base), atol=1e-10, rtol=0)


@pytest.mark.parametrize("dim", DIMS)
def test_codes_equal_python_on_both_sides_of_the_text(arithmetic, dim):
    positions = list(range(-64, 192))
    for base in BASES:
        x = {"at": positions, "dim": dim, "base": base}
        drawn = arithmetic("A.sinusoidal(x.at, x.dim, x.base).map((row) => Array.from(row))", x)
        run = arithmetic("A.sinusoidalRun(-64, 256, x.dim, x.base).map((row) => Array.from(row))", x)
        for codes in (drawn, run):
            np.testing.assert_allclose(codes, sinusoidal(np.array(positions), dim, base), atol=1e-10, rtol=0)


OFFSETS = np.arange(-64, 65)


def test_each_step_of_the_story_is_true():
    told = {}
    for step in SinusoidExplorer.story():
        widget = shown(SinusoidExplorer, **SinusoidExplorer.story()[step])
        told[step] = widget.facts | {"kernel": widget.values["kernel"]}
    assert list(told) == ["random", "none", "elsewhere", "shift", "base-one"]
    assert not told["random"]["by_offset"]
    assert told["random"]["by_position"] > 90
    for step in ("none", "elsewhere", "base-one"):
        assert told[step]["everywhere"]
        assert told[step]["symmetric"]
    np.testing.assert_allclose(told["none"]["kernel"], told["elsewhere"]["kernel"], atol=1e-12)
    assert (told["shift"]["peak"], told["shift"]["symmetric"]) == (1, False)
    np.testing.assert_allclose(told["base-one"]["kernel"], np.cos(OFFSETS), atol=1e-12)
    assert told["base-one"]["slowest"] == pytest.approx(2 * np.pi)


@pytest.mark.parametrize("dim", [2, 64, 128])
@pytest.mark.parametrize("base", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("offset", [-64, -1, 0, 33])
def test_the_shift_operator_moves_the_curve_of_the_identity(dim, base, offset):
    moved = shown(SinusoidExplorer, weight="shift", offset=offset, dim=dim, base=base, position=127).values
    wanted = decay(OFFSETS - offset, inv_freq(dim, base))
    for line in ("kernel", "low", "high", "mean"):
        np.testing.assert_allclose(moved[line], wanted, atol=1e-12)
    assert moved["residual"] < 1e-12
    assert moved["peak"] == offset
    np.testing.assert_allclose(moved["plain"], decay(np.abs(OFFSETS), inv_freq(dim, base)), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_random_w_keeps_lengths_and_loses_distance(seed):
    matrix = random_orthogonal(seed, 64)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(64), atol=1e-12)
    values = shown(SinusoidExplorer, weight="random", draw=seed).values
    assert values["residual"] > 0.9
    assert np.all(values["low"] <= values["kernel"])
    assert np.all(values["kernel"] <= values["high"])
    assert np.abs([values["low"], values["high"]]).max() <= 1
    assert np.ptp(values["mean"]) < 0.2  # the peak of the identity rises by more
