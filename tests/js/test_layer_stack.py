"""Arithmetic of layer_stack in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.analysis import decay
from posenc.widgets.layer_stack import STACKS, frequencies_of, match_share

MODELS = tuple(STACKS)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("lies_in", ["all", "slow"])
@pytest.mark.parametrize("which", ["full", "local"])
def test_sums_over_pairs_equal_python(arithmetic, model, lies_in, which):
    numbers = STACKS[model][which]
    drawn = arithmetic(
        """(() => {
          const frequencies = A.frequenciesOf(x.numbers, x.lies_in), sums = new A.DecayTable(frequencies);
          while (!sums.fill(9000, performance.now() + 1)) {}
          const columns = [[0, 1, 2], [1, 2, 700], [2, 700, 9000]], { low, high } = sums.extremes(columns);
          return { frequencies, score: sums.score.subarray(0, 9000), low, high };
        })()""",
        {"numbers": numbers, "lies_in": lies_in},
    )
    frequencies = frequencies_of(numbers, lies_in)
    scores = decay(np.arange(9000), frequencies)
    np.testing.assert_allclose(drawn["frequencies"], frequencies, atol=1e-15)
    np.testing.assert_allclose(drawn["score"], scores, atol=1e-10)
    for name, extreme in (("low", np.min), ("high", np.max)):
        expected = [extreme(scores[first:stop]) for first, stop in ((1, 2), (2, 700), (700, 9000))]
        np.testing.assert_allclose(drawn[name], expected, atol=1e-10)


def test_halves_are_found_where_the_sum_rises_again(arithmetic):
    [reach, sure] = arithmetic(
        """(() => {
          const sums = new A.DecayTable(Float64Array.of(0.7, 0.1));
          sums.fill(200, Infinity);
          const { reach, sure } = sums.halves(200, 8);
          return [reach, sure];
        })()"""
    )
    shares = match_share(8 * decay(np.arange(200), [0.7, 0.1]), 200)
    halves = np.flatnonzero(shares >= 0.5)
    assert reach == halves[-1]
    assert sure == next(m for m in range(1, 200) if shares[m] < 0.5) - 1
    assert sure < reach
