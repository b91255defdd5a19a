"""What posenc.rotary refuses, argument by argument."""

from __future__ import annotations

import numpy as np

from posenc.rotary import (
    convert_projection,
    layout_permutation,
    packed_positions,
    pair_scores,
    plane_rotations,
    rotary_table,
    rotate,
    rotation_matrix,
    xpos_tables,
)
from tests.unit.invalid_arguments import Case

X, ANGLES = np.ones((5, 8)), np.ones((5, 4))
BATCH = np.ones((2, 5, 5, 8))  # (batch, length, heads, dim), as many heads as tokens
NOT_FINITE = [np.nan, np.inf]

CASES = {
    rotary_table: Case(
        good={"angles": ANGLES, "attention_factor": 1.2, "length_axis": -2},
        bad={
            "angles": ["x", [[1.0, np.nan]], 1.0, np.ones(4), np.ones((5, 4), dtype=complex)],
            "attention_factor": [0, -1.0, *NOT_FINITE, "1", None, True],
            "length_axis": [-1, 0, 1, 2.0, "2", True],
        },
    ),
    rotate: Case(
        good={"x": X, "angles_or_table": ANGLES},
        bad={
            "x": [3.0, [[1.0] * 8] * 5, np.ones((5, 8), dtype=int), np.array(1.0), np.ones((5, 7)), np.ones((5, 0))],
            "angles_or_table": [
                np.ones((5, 3)), np.ones((4, 4)), np.ones((1, 5, 4)), np.ones(4), np.full((5, 4), np.nan), "x",
                rotary_table(np.ones((4, 4)), length_axis=-2), rotary_table(ANGLES, length_axis=-3),
            ],
            "layout": ["pairs", "", None, 0],
            "method": ["fast", "", 0, "compiled"],
            "rotary_dim": [7, 0, -2, 10, 4.0, True],
            "odd": ["drop", "", 1],
            "out": [3.0, np.ones((5, 8)), [[1.0] * 8] * 5],
        },
    ),
    rotation_matrix: Case(
        good={"angles": ANGLES},
        bad={"angles": ["x", 1.0, [np.inf]], "layout": ["pairs", None]},
    ),
    pair_scores: Case(
        good={"q": X, "k": X, "angles": ANGLES},
        bad={
            "q": [3.0, np.ones((5, 8), dtype=int), np.ones((5, 6)), np.array(1.0)],
            "k": [3.0, np.ones((5, 8), dtype=int), np.ones((1, 8))],
            "angles": [np.ones((5, 8)), np.ones((1, 4)), np.full((5, 4), np.nan), "x"],
            "layout": ["pairs", None],
        },
    ),
    layout_permutation: Case(good={"dim": 8}, bad={"dim": [0, -2, 7, 8.0, "8", True, None]}),
    convert_projection: Case(
        good={"weight": np.ones((16, 4)), "n_heads": 2, "to": "half"},
        bad={
            "weight": [3.0, np.ones((16, 4), dtype=int), np.ones((2, 8, 4)), np.ones((0, 4)), np.ones((14, 4))],
            "n_heads": [0, -1, 3, 2.0, "2", True],
            "to": ["pairs", None, "interleave"],
            "rotary_dim": [3, 0, 10, 4.0],
        },
    ),
    packed_positions: Case(
        good={"lengths": [3, 0, 2]}, bad={"lengths": [[-1], [2.5], ["3"], [True], 3, "12", None]}
    ),
    xpos_tables: Case(
        good={"positions": [0, 1], "inv_freq": [1.0, 0.1]},
        bad={
            "positions": ["x", [np.nan], [1_000_000]],
            "inv_freq": [1.0, [-1.0], np.ones((2, 2)), []],
            "gamma": [0, -1.0, *NOT_FINITE, "1", True],
            "scale_base": [0, -1.0, *NOT_FINITE, "1", True],
            "length_axis": [-1, 0, 2.0, "2", True],
        },
    ),
    plane_rotations: Case(
        good={"rotation": np.eye(3)},
        bad={"rotation": [np.ones(3), np.ones((2, 3)), np.diag([1.0, 1.0, -1.0]), 2 * np.eye(3), "x", [[np.nan]]]},
    ),
}  # fmt: skip
