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

UNCOVERED = Case(good={"inv_freq": [1.0, 0.1], "trained_length": 5, "length": 9, "tolerance": 0.01},
    bad={"inv_freq": FREQUENCIES, "trained_length": [*LENGTHS, 9, 12], "length": [*LENGTHS, 4, 5],
        "tolerance": ANGLES})  # fmt: skip

CASES = {
    analysis.decay: OF_A_LIST,
    analysis.abel_bound: OF_A_LIST,
    analysis.fingerprint: OF_A_LIST,
    analysis.decay_law: Case({"offsets": [0, 1], "base": 1e4}, {"offsets": OFFSETS, "base": BASES}),
    analysis.decay_logarithm: Case({"offsets": [1, 2], "base": 1e4}, {"offsets": [0, [-1.0]], "base": [1.0, 0.5]}),
    analysis.expected_score: Case({"offsets": [0, 1], "inv_freq": [1.0, 0.1], "correlation": 0.5},
        {"offsets": OFFSETS, "inv_freq": FREQUENCIES, "correlation": [1.1, -1.1, np.nan]}),
    analysis.fingerprint_similarity: Case({"first": 1, "second": 2, "inv_freq": [1.0, 0.1]},
        {"first": OFFSETS, "second": OFFSETS, "inv_freq": FREQUENCIES}),
    analysis.fingerprint_difference: Case({"first": 1, "second": 2, "inv_freq": [1.0, 0.1]},
        {"first": [2], "second": [1], "inv_freq": FREQUENCIES}),
    analysis.min_base: Case({"length": 4, "dim": 8, "bases": [10.0, 1e4]},
        {"length": [0, -1, 2.5], "dim": [0, 7, 8.0], "bases": [[], [0.0], [np.nan]]}),
    analysis.unseen_angles: UNCOVERED,
    analysis.pairs_reaching: Case({"inv_freq": [1.0, 0.1], "length": 5, "angle": 0.5},
        {"inv_freq": FREQUENCIES, "length": LENGTHS, "angle": ANGLES}),
    analysis.critical_dimension: Case({"dim": 8, "base": 1e4, "length": 64},
        {"dim": [*WIDTHS, 7], "base": BASES, "length": LENGTHS}),
    analysis.fit_scores: Case({"targets": [1.0, 2.0, 3.0], "inv_freq": [2.5, 0.1], "min_rotations": 0.5, "ridge": 0.1},
        {"targets": ["x", 1.0, []], "inv_freq": FREQUENCIES, "min_rotations": [-1, np.nan, np.inf], "ridge": [-0.001,
            np.nan, np.inf]}),
    analysis.min_distance: Case({"encodings": TABLE}, {"encodings": [*TABLES, np.ones((1, 2))]}),
    analysis.max_norm: Case({"encodings": TABLE}, {"encodings": TABLES}),
    analysis.translation_residual: Case({"encodings": TABLE}, {"encodings": [np.ones((2, 2))]}),
    analysis.left_right_difference: Case({"encodings": TABLE}, {"encodings": [np.ones((2, 2))]}),
    analysis.monotonicity_violations: Case({"encodings": TABLE}, {"encodings": [np.ones((2, 2))]}),
    analysis.shift_residual: Case(
        {"encodings": TABLE, "offset": 1}, {"encodings": [np.ones((3, 2))], "offset": [2, 9]}),
    analysis.period: Case(
        {"encodings": TABLE, "tolerance": 0.001}, {"encodings": [np.ones((1, 2))], "tolerance": ANGLES}),
    analysis.length_dependence: Case({"shorter": TABLE[:3], "longer": TABLE},
        {"shorter": [np.ones((5, 2)), np.ones((3, 3))], "longer": [np.ones((2, 2)), np.ones((4, 1))]}),
    analysis.defined_fraction: Case({"encoding": lambda at: np.ones((1, 2)), "trained_length": 3, "length": 5},
        {"encoding": [None, 3, "sinusoidal"], "trained_length": [5, 9], "length": [2, 3]}),
    analysis.four_terms: Case({"query_content": np.ones((2, 2, 3)), "key_content": np.ones((2, 4, 3)),
        "query_position": np.ones((2, 3)), "key_position": np.ones((2, 4, 3)), "w_q": np.ones((5, 3)),
        "w_k": np.ones((5, 3))},
        {"query_content": [*MATRICES, np.ones((4, 2, 3)), np.ones((2, 3))], "key_content": [np.ones((1, 4, 3)),
            np.ones((4, 3))], "query_position": [np.ones((1, 3)), np.ones((1, 2, 3))], "key_position": [np.ones((2, 3)),
            np.ones((1, 4, 3))], "w_q": [np.ones((4, 3)), np.ones((5, 1))], "w_k": [np.ones((1, 3)), np.ones((3, 5))]}),
    analysis.offset_kernel: Case({"offsets": [0, 1], "positions": [0, 1, 2], "dim": 4, "base": 100.0,
        "weight": np.ones((4, 4)), "layout": "half-split"},
        {"offsets": [3, np.ones((2, 2))], "positions": [3, np.ones((2, 2))], "dim": [5], "base": BASES, "weight": ["x",
            1.0, np.ones(4)], "layout": ["pairs", "Half", ""]}),
    analysis.pairwise_weight: Case({"a": [1.0, 2.0], "b": [0.0, 1.0], "layout": "interleaved"},
        {"a": [*REALS, 1.0, []], "b": [1.0, []], "layout": ["pairs", "Half", ""]}),
    analysis.kernel_residual: Case({"kernel": TABLE}, {"kernel": [np.ones((1, 2))]}),
    analysis.kernel_asymmetry: Case({"kernel": [[1.0, 2.0, 3.0]]}, {"kernel": [np.ones((3, 2))]}),
    analysis.uniform_attention_std: Case({"n_keys": [1, 2]}, {"n_keys": ["x", 0, -1]}),
    analysis.first_tie: Case({"precision": "bfloat16", "limit": 200},
        {"precision": ["float64", "bf16", ""], "limit": [10_000_001]}),
    analysis.needle_weight: Case({"n_keys": [1, 128], "logit": 6, "temperature": 0.5},
        {"n_keys": ["x", 0, -1], "logit": [101, -100.5, np.nan], "temperature": [0, -1.0, 0.05]}),
    analysis.match_weight: Case({"logit": [0.0, 3.0], "n_keys": 8}, {"logit": ["x"], "n_keys": [0, 1.5]}),
}  # fmt: skip
