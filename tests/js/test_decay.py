"""Sums of cosines at the ends of every range, numbers and sentences in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import sici

from posenc._numbers import fixed, grouped, integer
from posenc.analysis import abel_bound, decay, decay_law
from posenc.frequencies import inv_freq
from tests.js.node import ThrownError
from tests.unit.sentences import FACTS, NAMES, SAID

BASES = (1.0, 1.023, 10.0, 500.0, 1e4, 1e6, 1e8)  # the ends of the slider, its first step, and between


# A table ends with a group of 4096 distances, in the middle of whose first block the group before it ends.
RANGES = st.builds(lambda groups, more: 4096 * groups + more, st.integers(0, 15), st.integers(8, 4096))


EDGES_OF_GROUPS = st.builds(lambda groups, more: 4096 * groups + more, st.integers(1, 16), st.integers(-66, -1))


def extent(values, starts, stops):
    """The least and the greatest of each run of values."""
    padded, runs = np.append(values, 0), np.stack([starts, stops], axis=1).reshape(-1)
    return np.minimum.reduceat(padded, runs)[::2], np.maximum.reduceat(padded, runs)[::2]


def test_sums_over_pairs_reach_the_end_of_every_range(arithmetic):
    @example(greatest=4032, pairs=3, base=1e4)
    @example(greatest=4095, pairs=3, base=1e4)
    @example(greatest=8150, pairs=3, base=1e4)
    @example(greatest=8191, pairs=3, base=1e4)
    @example(greatest=65_535, pairs=3, base=1e4)
    @given(RANGES | EDGES_OF_GROUPS, st.integers(1, 8), st.sampled_from(BASES))
    def reach(greatest, pairs, base):
        first = max(greatest - 200, 0)
        result = arithmetic(
            """(() => {
              const sums = new A.PairSums(x.pairs, x.greatest).table(A.inverseFrequencies(2 * x.pairs, x.base));
              const [score, square, bound] = [0, 1, 2].map(() => new Float64Array(x.greatest + 1));
              sums.scores(x.first, x.greatest + 1, score, square);
              sums.bounds(x.first, x.greatest + 1, bound);
              return [score, square, bound].map((values) => Array.from(values.subarray(x.first)));
            })()""",
            {"pairs": pairs, "greatest": greatest, "base": base, "first": first},
        )
        m, frequencies = np.arange(first, greatest + 1), inv_freq(2 * pairs, base)
        square = np.mean(np.cos(m[:, None] * frequencies) ** 2, axis=-1)
        bound = abel_bound(m, frequencies) / abel_bound(0, frequencies)
        for found, expected in zip(result, (decay(m, frequencies), square, bound), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-10, rtol=0)

    reach()


def test_cosine_integral_equals_scipy(arithmetic):
    points = [*np.logspace(-8, 5, 200), 3.999, 4.0, 4.001]
    np.testing.assert_allclose(arithmetic("x.map(A.cosineIntegral)", points), sici(points)[1], atol=1e-13, rtol=0)


@pytest.mark.parametrize("reach", [0, 14, 40])
def test_an_envelope_holds_all_values_and_no_more_than_those_near_by(drawing, reach):
    values, centres = decay(np.arange(4097), inv_freq(64, 1e4)), decay_law(np.arange(4097), 1e4)
    pixels, starts, stops, centre, low, high = np.reshape(
        drawing(
            """{
              const axis = new A.Axis({ from: 1, to: x.values.length - 1, start: 46, end: 690, log: true });
              const columns = axis.columns(), stops = columns.map(([, , stop]) => stop);
              const extremes = A.Plot.extremes(columns, stops, x.values);
              const centres = columns.map(([, start]) => x.centres[start]);
              const envelope = A.Plot.envelope(extremes, centres, x.reach);
              const rows = columns.map((column, k) => [...column, centres[k], ...envelope[k].slice(1)]);
              return Float64Array.from(rows.flat());
            }""",
            {"values": values, "centres": centres, "reach": reach},
        ),
        (-1, 6),
    ).T
    least, greatest = extent(values, starts.astype(int), stops.astype(int))
    assert (low <= least + 1e-12).all()
    assert (high >= greatest - 1e-12).all()
    near = np.abs(pixels[:, None] - pixels) <= 2 * reach
    assert (low - centre >= np.where(near, least - centre, np.inf).min(axis=1) - 1e-12).all()
    assert (high - centre <= np.where(near, greatest - centre, -np.inf).max(axis=1) + 1e-12).all()


# ---- numbers and sentences ------------------------------------------------------------------------------------------

NUMBERS = [0, -0.0, 1, 0.125, 0.375, 2.5, -2.5, -1e-5, 1e-4, 99995, 12345.6, -1234, 1e8, 6.28e15, 3.14159265, 65_536]


def test_numbers_are_written_as_in_python(module_of):
    numbers = module_of("numbers.js")
    rounded = [int(np.floor(x + 0.5)) for x in NUMBERS]
    for x, n in zip(NUMBERS, rounded, strict=True):
        written = numbers("[A.fixed(x, 0), A.fixed(x, 2), A.grouped(x), A.formatInteger(Math.round(x))]", float(x))
        assert written == [fixed(x, 0), fixed(x, 2), grouped(x), integer(n)]


def test_sentences_are_those_of_python(module_of):
    sentences = module_of("sentences.js")
    x = {"texts": [text for text, _ in SAID], "facts": FACTS, "names": NAMES}
    assert sentences("x.texts.map((text) => A.say(text, x.facts, x.names))", x) == [words for _, words in SAID]
    assert sentences("A.sayAll(['One.', '', 'Two.'], x.facts)", x) == "One. Two."
    assert sentences("A.sayAll(['得分是 1.541。', '在 30 处更小。'], x.facts)", x) == "得分是 1.541。在 30 处更小。"
    torn = "0.3 % of 4 096 tokens, Lag 2 L (× 1.3): m − n = −10 at (≥ 1) x = 2, 8 heads"
    kept = "0.3~% of 4\u202f096~tokens, Lag 2~L (×~1.3): m~−~n~=~−10 at (≥~1) x~=~2, 8 heads"
    assert sentences("A.whole(x)", torn.replace("4 096", "4\u202f096")) == kept.replace("~", "\u00a0")
    with pytest.raises(ThrownError, match=f"no fact nothing among {', '.join(FACTS)}"):
        sentences("A.say('{nothing}', x.facts, {})", x)
    with pytest.raises(ThrownError, match="no linear in schemes"):
        sentences("A.say('{method:schemes}', x.facts, { schemes: {} })", x)
