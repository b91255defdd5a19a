"""What posenc.analysis refuses, argument by argument."""

from __future__ import annotations

import numpy as np

from posenc import analysis
from tests.refused import Case
from tests.refused.frequencies import FREQUENCIES

OFFSETS = ["x", np.nan, [0.0, np.inf], [1j], None]
BASES = [0, -1.0, np.nan, np.inf, "1e4", None, True]
OF_A_LIST = Case(good={"offsets": [0, 1, 2], "inv_freq": [1.0, 0.1]}, bad={"offsets": OFFSETS, "inv_freq": FREQUENCIES})

CASES = {
    analysis.decay: OF_A_LIST,
    analysis.abel_bound: OF_A_LIST,
    analysis.fingerprint: OF_A_LIST,
    analysis.decay_law: Case(good={"offsets": [0, 1], "base": 1e4}, bad={"offsets": OFFSETS, "base": BASES}),
    analysis.decay_logarithm: Case(
        good={"offsets": [1, 2], "base": 1e4}, bad={"offsets": [*OFFSETS, 0, [-1.0]], "base": [*BASES, 1.0, 0.5]}
    ),
    analysis.expected_score: Case(
        good={"offsets": [0, 1], "inv_freq": [1.0, 0.1], "correlation": 0.5},
        bad={"offsets": OFFSETS, "inv_freq": FREQUENCIES, "correlation": [1.1, -1.1, np.nan, "1", None, True]},
    ),
    analysis.fingerprint_similarity: Case(
        good={"first": 1, "second": 2, "inv_freq": [1.0, 0.1]},
        bad={"first": OFFSETS, "second": OFFSETS, "inv_freq": FREQUENCIES},
    ),
    analysis.fingerprint_difference: Case(
        good={"first": 1, "second": 2, "inv_freq": [1.0, 0.1]},
        bad={"first": [*OFFSETS, 2], "second": [*OFFSETS, 1], "inv_freq": FREQUENCIES},
    ),
    analysis.least_base: Case(
        good={"length": 4, "dim": 8, "bases": [10.0, 1e4]},
        bad={
            "length": [0, -1, 2.5, np.nan, "4", None, True],
            "dim": [0, 7, 8.0, "8", True],
            "bases": [[], [0.0], [np.nan], ["x"], 3.0, None, "12"],
        },
    ),
}
