"""What posenc.analysis refuses, argument by argument."""

from __future__ import annotations

import numpy as np

from posenc import analysis
from tests.unit.invalid_arguments import Case
from tests.unit.invalid_arguments.frequencies import FREQUENCIES

OFFSETS = ["x", np.nan, [0.0, np.inf], [1j], None]
BASES = [0, -1.0, np.nan, np.inf, "1e4", None, True]
ANGLES = [0, -1.0, np.nan, np.inf, "1", None, True]
LENGTHS = [0, -1, 2.5, np.nan, "4", None, True]
WIDTHS = [0, -2, 2.0, "4", None, True]
REALS = ["x", [np.nan], [[0.0, np.inf]], [1j], None, [[True]]]
TABLES = [*REALS, 1.0, [1.0, 2.0], np.ones((2, 3, 4)), np.ones((0, 3)), np.ones((3, 0))]
TABLE = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]
MATRICES = [*REALS, np.ones(()), [1.0, 2.0], np.ones((2, 2, 7)), np.ones((3, 7))]
OF_A_LIST = Case(good={"offsets": [0, 1, 2], "inv_freq": [1.0, 0.1]}, bad={"offsets": OFFSETS, "inv_freq": FREQUENCIES})

UNCOVERED = Case(
    good={"inv_freq": [1.0, 0.1], "trained_length": 5, "length": 9, "tolerance": 0.01},
    bad={
        "inv_freq": FREQUENCIES,
        "trained_length": [*LENGTHS, 9, 12],
        "length": [*LENGTHS, 4, 5],
        "tolerance": ANGLES,
    },
)

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
    analysis.uncovered: UNCOVERED,
    analysis.coverage: UNCOVERED,
    analysis.pairs_reaching: Case(
        good={"inv_freq": [1.0, 0.1], "length": 5, "angle": 0.5},
        bad={"inv_freq": FREQUENCIES, "length": LENGTHS, "angle": ANGLES},
    ),
    analysis.critical_dimension: Case(
        good={"dim": 8, "base": 1e4, "length": 64},
        bad={"dim": [*WIDTHS, 7], "base": BASES, "length": LENGTHS},
    ),
    analysis.fit_scores: Case(
        good={"targets": [1.0, 2.0, 3.0], "inv_freq": [2.5, 0.1], "least_turns": 0.5, "ridge": 0.1},
        bad={
            "targets": ["x", 1.0, [], [np.nan], [1j], [[1.0]], None, [True]],
            "inv_freq": FREQUENCIES,
            "least_turns": [-1, np.nan, np.inf, "1", None, True, False, 50],
            "ridge": [-1e-3, np.nan, np.inf, "1", None, True, False],
        },
    ),
    analysis.least_distance: Case(good={"codes": TABLE}, bad={"codes": [*TABLES, np.ones((1, 2))]}),
    analysis.greatest_norm: Case(good={"codes": TABLE}, bad={"codes": TABLES}),
    analysis.translation_residual: Case(good={"codes": TABLE}, bad={"codes": [*TABLES, np.ones((2, 2))]}),
    analysis.left_right_difference: Case(good={"codes": TABLE}, bad={"codes": [*TABLES, np.ones((2, 2))]}),
    analysis.monotonicity_violations: Case(good={"codes": TABLE}, bad={"codes": [*TABLES, np.ones((2, 2))]}),
    analysis.shift_residual: Case(
        good={"codes": TABLE, "offset": 1},
        bad={"codes": [*TABLES, np.ones((3, 2))], "offset": [*LENGTHS, 2, 9]},
    ),
    analysis.period: Case(
        good={"codes": TABLE, "tolerance": 1e-3}, bad={"codes": [*TABLES, np.ones((1, 2))], "tolerance": ANGLES}
    ),
    analysis.length_dependence: Case(
        good={"shorter": TABLE[:3], "longer": TABLE},
        bad={
            "shorter": [*TABLES, np.ones((5, 2)), np.ones((3, 3))],
            "longer": [*TABLES, np.ones((2, 2)), np.ones((4, 1))],
        },
    ),
    analysis.defined_share: Case(
        good={"code": lambda at: np.ones((1, 2)), "trained_length": 3, "length": 5},
        bad={
            "code": [None, 3, "sinusoidal", np.ones(3), len],
            "trained_length": [*LENGTHS, 5, 9],
            "length": [*LENGTHS, 2, 3],
        },
    ),
    analysis.four_terms: Case(
        good={
            "query_content": np.ones((2, 2, 3)),
            "key_content": np.ones((2, 4, 3)),
            "query_position": np.ones((2, 3)),
            "key_position": np.ones((2, 4, 3)),
            "w_q": np.ones((5, 3)),
            "w_k": np.ones((5, 3)),
        },
        bad={
            "query_content": [*MATRICES, np.ones((4, 2, 3)), np.ones((2, 3))],
            "key_content": [*MATRICES, np.ones((1, 4, 3)), np.ones((4, 3))],
            "query_position": [*MATRICES, np.ones((1, 3)), np.ones((1, 2, 3))],
            "key_position": [*MATRICES, np.ones((2, 3)), np.ones((1, 4, 3))],
            "w_q": [*MATRICES, np.ones((4, 3)), np.ones((5, 1))],
            "w_k": [*MATRICES, np.ones((1, 3)), np.ones((3, 5))],
        },
    ),
    analysis.offset_kernel: Case(
        good={
            "offsets": [0, 1],
            "positions": [0, 1, 2],
            "dim": 4,
            "base": 100.0,
            "weight": np.ones((4, 4)),
            "layout": "half",
        },
        bad={
            "offsets": [*OFFSETS, 3, np.ones((2, 2))],
            "positions": [*OFFSETS, 3, np.ones((2, 2))],
            "dim": [*WIDTHS, 5],
            "base": BASES,
            "weight": ["x", 1.0, np.ones(4), np.ones((4, 1)), np.ones((1, 4, 4)), [[np.nan]], [[1j]]],
            "layout": ["pairs", "Half", "", None],
        },
    ),
    analysis.pairwise_weight: Case(
        good={"a": [1.0, 2.0], "b": [0.0, 1.0], "layout": "interleaved"},
        bad={
            "a": [*REALS, 1.0, [], [1.0], np.ones((2, 2))],
            "b": [*REALS, 1.0, [], [1.0], np.ones((2, 2))],
            "layout": ["pairs", "Half", "", None],
        },
    ),
    analysis.kernel_residual: Case(good={"kernel": TABLE}, bad={"kernel": [*TABLES, np.ones((1, 2))]}),
    analysis.kernel_asymmetry: Case(good={"kernel": [[1.0, 2.0, 3.0]]}, bad={"kernel": [*TABLES, np.ones((3, 2))]}),
    analysis.uniform_attention_std: Case(
        good={"n_keys": [1, 2]}, bad={"n_keys": ["x", 0, -1, 1.5, [2, 0], np.nan, None, [True]]}
    ),
    analysis.first_tie: Case(
        good={"precision": "bfloat16", "limit": 200},
        bad={"precision": ["float64", "bf16", "", None], "limit": [*LENGTHS, 10_000_001]},
    ),
    analysis.needle_weight: Case(
        good={"n_keys": [1, 128], "logit": 6, "temperature": 0.5},
        bad={
            "n_keys": ["x", 0, -1, 1.5, [2, 0], np.nan, None, [True]],
            "logit": [101, -100.5, np.nan, np.inf, "6", None, True],
            "temperature": [0, -1.0, 0.05, np.nan, np.inf, "1", None, True],
        },
    ),
}
