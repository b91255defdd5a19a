"""The sinusoid explorer in Python: what each W leaves of distance and direction."""

import numpy as np
import pytest

from posenc.analysis import decay
from posenc.frequencies import inv_freq
from posenc.widgets import SinusoidExplorer
from posenc.widgets.sinusoid_explorer import random_orthogonal

OFFSETS = np.arange(-64, 65)


def test_each_step_of_the_story_is_true():
    told = {}
    for step in SinusoidExplorer.story():
        widget = SinusoidExplorer()
        widget.tell(step)
        told[step] = widget.facts() | {"kernel": widget.values()["kernel"]}
    assert list(told) == ["random", "none", "elsewhere", "back", "base-one"]
    assert not told["random"]["by_offset"]
    assert told["random"]["share"] > 90
    for step in ("none", "elsewhere", "base-one"):
        assert told[step]["everywhere"]
        assert told[step]["symmetric"]
    np.testing.assert_allclose(told["none"]["kernel"], told["elsewhere"]["kernel"], atol=1e-12)
    assert (told["back"]["peak"], told["back"]["symmetric"]) == (1, False)
    np.testing.assert_allclose(told["base-one"]["kernel"], np.cos(OFFSETS), atol=1e-12)
    assert told["base-one"]["slowest"] == pytest.approx(2 * np.pi)


@pytest.mark.parametrize("dim", [2, 64, 128])
@pytest.mark.parametrize("base", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("offset", [-64, -1, 0, 33])
def test_the_shift_operator_moves_the_curve_of_the_identity(dim, base, offset):
    moved = SinusoidExplorer(weight="shift", offset=offset, dim=dim, base=base, position=127).values()
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
    values = SinusoidExplorer(weight="random", draw=seed).values()
    assert values["residual"] > 0.9
    assert np.all(values["low"] <= values["kernel"])
    assert np.all(values["kernel"] <= values["high"])
    assert np.abs([values["low"], values["high"]]).max() <= 1
    assert np.ptp(values["mean"]) < 0.2  # the peak of the identity rises by more
