"""What posenc.rotary refuses, argument by argument."""

from __future__ import annotations

import numpy as np

from posenc import rotary
from tests.unit.invalid_arguments import Case

X, ANGLES, INTEGERS = np.ones((5, 8)), np.ones((5, 4)), np.ones((5, 8), dtype=int)
NOT_POSITIVE, LAYOUT = [np.nan, np.inf, 0, -1.0, "1"], ["pairs", "half", None]
ROTATED = {"x": [3.0, [[1.0] * 8] * 5, INTEGERS], "angles": [np.ones((5, 3)), np.ones((4, 4)), np.ones((1, 5, 4))],
    "layout": LAYOUT}  # fmt: skip

CASES = {
    rotary.cos_sin: Case({"angles": ANGLES, "attention_factor": 1.2, "dtype": np.float32},
        {"angles": ["x", [[1.0, np.nan]], 1.0], "attention_factor": NOT_POSITIVE, "dtype": [int, np.int64, "abc"]}),
    rotary.rotate: Case({"x": X, "angles": ANGLES},
        ROTATED | {"rotary_dim": [7, 0, -2], "out": [3.0, np.ones((5, 8)), [[1.0] * 8] * 5]}),
    rotary.rope: Case({"x": X, "positions": np.arange(5), "layout": "interleaved"},
        {"x": [3.0, INTEGERS, np.ones((5, 7))], "positions": ["x", [np.nan] * 5, np.arange(4), np.ones((2, 5))],
            "layout": LAYOUT, "base": NOT_POSITIVE, "inv_freq": [1.0, [-1.0] * 4, np.ones((2, 2)), np.ones(3)]}),
    rotary.rotate_complex: Case({"x": X, "angles": ANGLES}, ROTATED),
    rotary.rotate_matrix: Case({"x": X, "angles": ANGLES}, ROTATED),
    rotary.rotation_matrix: Case({"angles": ANGLES}, {"angles": ["x", 1.0, [np.inf]], "layout": LAYOUT}),
    rotary.pair_scores: Case({"q": X, "k": X, "angles": ANGLES},
        {"q": [3.0, INTEGERS, np.ones((5, 6))], "k": [3.0, INTEGERS, np.ones((1, 8))],
            "angles": [np.ones((5, 8)), np.ones((1, 4)), np.full((5, 4), np.nan)], "layout": LAYOUT}),
    rotary.layout_permutation: Case({"dim": 8}, {"dim": [0, -2, 7]}),
    rotary.convert_projection: Case({"weight": np.ones((16, 4)), "n_heads": 2, "head_dim": 8, "to": "half-split"},
        {"weight": [3.0, INTEGERS, np.ones((2, 8, 4)), np.ones((48, 4)), np.ones((4, 16))], "n_heads": [0, -1, 4],
            "head_dim": [0, 2.0, 4], "to": [*LAYOUT, "interleave"], "rotary_dim": [3, 0, 10]}),
    rotary.xpos_cos_sin: Case({"positions": [0, 1], "inv_freq": [1.0, 0.1], "dtype": np.float32},
        {"positions": ["x", [np.nan], [1_000_000]], "inv_freq": [1.0, [-1.0], np.ones((2, 2))], "gamma": NOT_POSITIVE,
            "scale_base": NOT_POSITIVE, "dtype": [int, "abc"]}),
    rotary.plane_rotations: Case({"rotation": np.eye(3)},
        {"rotation": [np.ones(3), np.ones((2, 3)), np.diag([1.0, 1.0, -1.0])]}),
}  # fmt: skip
