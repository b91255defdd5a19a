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
NOT_FINITE = [np.nan, np.inf]

CASES = {
    rotary_table: Case({"angles": ANGLES, "attention_factor": 1.2, "length_axis": -2},
        {"angles": ["x", [[1.0, np.nan]], 1.0], "attention_factor": [*NOT_FINITE, 0, -1.0], "length_axis": [-1, 0, 1]}),
    rotate: Case({"x": X, "angles_or_table": ANGLES},
        {"x": [3.0, [[1.0] * 8] * 5, np.ones((5, 8), dtype=int)], "angles_or_table": [np.ones((5, 3)), np.ones((4, 4)),
            np.ones((1, 5, 4))], "layout": ["pairs", "", None], "method": ["fast", "", 0], "rotary_dim": [7, 0, -2],
            "odd": ["drop", "", 1], "out": [3.0, np.ones((5, 8)), [[1.0] * 8] * 5]}),
    rotation_matrix: Case({"angles": ANGLES}, {"angles": ["x", 1.0, [np.inf]], "layout": ["pairs", None]}),
    pair_scores: Case({"q": X, "k": X, "angles": ANGLES},
        {"q": [3.0, np.ones((5, 8), dtype=int), np.ones((5, 6))], "k": [3.0, np.ones((5, 8), dtype=int), np.ones((1,
            8))], "angles": [np.ones((5, 8)), np.ones((1, 4)), np.full((5, 4), np.nan)], "layout": ["pairs", None]}),
    layout_permutation: Case({"dim": 8}, {"dim": [0, -2, 7]}),
    convert_projection: Case({"weight": np.ones((16, 4)), "n_heads": 2, "to": "half"},
        {"weight": [3.0, np.ones((16, 4), dtype=int), np.ones((2, 8, 4))], "n_heads": [0, -1, 3], "to": ["pairs", None,
            "interleave"], "rotary_dim": [3, 0, 10]}),
    packed_positions: Case({"lengths": [3, 0, 2]}, {"lengths": [[-1], [2.5], ["3"]]}),
    xpos_tables: Case({"positions": [0, 1], "inv_freq": [1.0, 0.1]},
        {"positions": ["x", [np.nan], [1_000_000]], "inv_freq": [1.0, [-1.0], np.ones((2, 2))], "gamma": [0, -1.0],
            "scale_base": [0, -1.0], "length_axis": [-1, 0, 2.0]}),
    plane_rotations: Case({"rotation": np.eye(3)},
        {"rotation": [np.ones(3), np.ones((2, 3)), np.diag([1.0, 1.0, -1.0])]}),
}  # fmt: skip
