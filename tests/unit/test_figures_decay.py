"""posenc.figures.decay: what is drawn of scores against distance."""

import numpy as np

from posenc import figures
from posenc.analysis import decay, decay_law, expected_score
from posenc.frequencies import inv_freq
from tests.unit.figure_examples import DRAWN, EXAMPLES, title


def test_pair_cosines():
    figure = figures.pair_cosines(np.arange(257), dim=64, base=500.0, pairs=[0, 31])
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
    np.testing.assert_allclose(logarithm.y, 1 - (np.log(logarithm.x) + np.euler_gamma) / np.log(1e4), atol=DRAWN)
    assert "0.25 per decade" in figure.layout.title.text


def test_cosine_map():
    figure = figures.cosine_map(257, dim=64, base=500.0)
    table, mean = figure.data
    assert np.shape(table.z) == (32, 257)
    np.testing.assert_allclose(table.z[0], np.cos(np.arange(257)), atol=DRAWN)
    np.testing.assert_allclose(table.z[31], np.cos(np.arange(257) * inv_freq(64, 500.0)[31]), atol=DRAWN)
    np.testing.assert_allclose(mean.y, decay(np.arange(257), inv_freq(64, 500.0)), atol=DRAWN)
    late = decay(np.arange(192, 257), inv_freq(64, 500.0)).mean()
    assert title(figure) == f"No row decays; the mean of all 32 falls from 1 to about {late:.1f}"
    assert figure.layout.yaxis.autorange == "reversed"  # the fastest on top


def test_pairs_used():
    figure = EXAMPLES["pairs_used"]()
    np.testing.assert_allclose(figure.data[0].z, [[50, 50 / 3, 50 / 3, 50 / 3], [25] * 4], atol=DRAWN)
    assert title(figure) == "The 1 fastest pairs have 25 to 50 % of a head's total"


def test_scores_in_attention():
    measured = {"aligned": ([90.0, 40.0], [13.0, 12.0], 0.8), "unrelated": ([0.0, 0.0], [11.0, 11.0], 0.0)}
    figure = figures.scores_in_attention([1, 100], measured, dim=128, base=1e4)
    exact = [trace for trace in figure.data if trace.mode != "markers"]
    points = [trace for trace in figure.data if trace.mode == "markers"]
    np.testing.assert_allclose(exact[0].y, expected_score(np.arange(1, 101), inv_freq(128), 0.8)[0], atol=DRAWN)
    assert [list(trace.y) for trace in points] == [[90, 40], [0, 0]]
    assert "aligned: mean 90 to 40, standard deviation 13 to 12" in figure.layout.meta["alt"]


def test_decay_for_bases():
    figure = figures.decay_for_bases(np.arange(1, 513), dim=128, bases=[10, 1e6])
    for trace, base in zip(figure.data, (10, 1e6), strict=True):
        np.testing.assert_allclose(trace.y, decay(np.arange(1, 513), inv_freq(128, base)), atol=DRAWN)
    assert "up to 512, where S(Δ) is negative: base 10: 5; base 1\u202f000\u202f000: never" in figure.layout.meta["alt"]
