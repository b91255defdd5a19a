"""posenc.figures: what is drawn is what the package computes, titles state it, and colours hold on both themes."""

import numpy as np
import pytest

from posenc import figures
from posenc.analysis import decay, decay_law, expected_score
from posenc.frequencies import inv_freq

DRAWN = 1 / 8192  # figures store values to 1/4096
LIGHT, DARK = "#ffffff", "#121212"


def luminance(colour: str) -> float:
    channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(
    "colour", [c for value in figures.PALETTE.values() for c in (value if isinstance(value, list) else [value])]
)
def test_every_colour_stands_out_on_both_themes(colour):
    for ground in (LIGHT, DARK):
        dark, bright = sorted([luminance(colour), luminance(ground)])
        assert (bright + 0.05) / (dark + 0.05) >= 3, f"{colour} on {ground}"


def test_waves():
    figure = figures.waves(np.arange(257), dim=64, base=500.0, pairs=[0, 31])
    fast, slow, mean = (trace.y for trace in figure.data)
    np.testing.assert_allclose(fast, np.cos(np.arange(257)), atol=DRAWN)
    np.testing.assert_allclose(slow, np.cos(np.arange(257) * inv_freq(64, 500.0)[31]), atol=DRAWN)
    np.testing.assert_allclose(mean, decay(np.arange(257), inv_freq(64, 500.0)), atol=DRAWN)
    late = decay(np.arange(192, 257), inv_freq(64, 500.0)).mean()
    assert f"falls from 1 to about {late:.1f}" in figure.layout.title.text


def test_decay_and_law():
    figure = figures.decay_and_law(np.arange(1, 2001), dim=128, base=1e4)
    score, law, logarithm = figure.data
    np.testing.assert_allclose(score.y, decay(np.arange(1, 2001), inv_freq(128)), atol=DRAWN)
    np.testing.assert_allclose(law.y, decay_law(law.x, 1e4), atol=DRAWN)
    assert (law.x[0], law.x[-1]) == (1, 2000)
    assert score.x0 == 1
    np.testing.assert_allclose(logarithm.y, 1 - (np.log(logarithm.x) + np.euler_gamma) / np.log(1e4), atol=DRAWN)
    assert 10 <= logarithm.x[0] < logarithm.x[-1] <= 1000
    assert "0.25 for every tenfold distance" in figure.layout.title.text


def test_scores_in_attention():
    measured = {"aligned": ([90.0, 40.0], [13.0, 12.0], 0.8), "unrelated": ([0.0, 0.0], [11.0, 11.0], 0.0)}
    figure = figures.scores_in_attention([1, 100], measured, dim=128, base=1e4)
    exact = [trace for trace in figure.data if trace.mode != "markers"]
    points = [trace for trace in figure.data if trace.mode == "markers"]
    np.testing.assert_allclose(exact[0].y, expected_score(np.arange(1, 101), inv_freq(128), 0.8)[0], atol=DRAWN)
    assert [list(trace.y) for trace in points] == [[90, 40], [0, 0]]
    assert "aligned: mean 90 to 40, spread 13 to 12" in figure.layout.meta["alt"]


def test_decay_for_bases():
    figure = figures.decay_for_bases(np.arange(1, 513), dim=128, bases=[10, 1e6])
    for trace, base in zip(figure.data, (10, 1e6), strict=True):
        np.testing.assert_allclose(trace.y, decay(np.arange(1, 513), inv_freq(128, base)), atol=DRAWN)
    assert "base 10 at 5; never by 512 for 1e+06" in figure.layout.meta["alt"]


def test_every_figure_has_words_and_axis_units():
    for figure in (
        figures.waves(np.arange(9), 8, 1e4, [0]),
        figures.decay_and_law(np.arange(1, 200), 8, 1e4),
        figures.decay_for_bases(np.arange(1, 9), 8, [1e4]),
        figures.scores_in_attention([1], {"a": ([1.0], [1.0], 0.8), "b": ([1.0], [1.0], 0.0)}, 8, 1e4),
    ):
        assert len(figure.layout.meta["alt"]) > len(figure.layout.title.text)
        assert any(axis.title.text == "distance m (tokens)" for axis in figure.select_xaxes())
