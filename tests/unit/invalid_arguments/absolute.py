"""What posenc.absolute refuses, argument by argument."""

import numpy as np

from posenc.absolute import (
    binary,
    dyadic,
    harmonic,
    integer,
    learned,
    normalised,
    radix,
    relative_positions,
    shift_matrix,
    sinusoidal,
    timestep_embedding,
)
from tests.unit.invalid_arguments import Case

NO_REALS = ["three", ["x"], None, np.nan, [0.0, np.inf], np.array([1j]), np.array([True])]
NO_WHOLE = [*NO_REALS, -1, [0, -2], 0.5, [1.5], 2**53, 2**53 + 1]
NO_WIDTH = [0, -2, 2.0, "4", None, True]
NO_BASE = [0, -1.0, np.nan, np.inf, "1e4", None, True]
NO_LAYOUT = ["pairs", "Half", "", None]

CASES = {
    integer: Case({"positions": [0, 1], "dim": 4}, {"positions": NO_WHOLE, "dim": NO_WIDTH}),
    normalised: Case({"positions": [0, 1], "length": 2, "dim": 4},
        {"positions": [2, [0, 7]], "length": [0, -1, 2.0], "dim": NO_WIDTH}),
    binary: Case({"positions": [0, 15], "dim": 4}, {"positions": [16, [0, 99]], "dim": NO_WIDTH}),
    radix: Case({"positions": [0, 15], "dim": 2, "radix": 4, "normalise": True},
        {"positions": [16, [0, 99]], "dim": NO_WIDTH, "radix": [1, 0, -2], "normalise": [1, "yes", None]}),
    harmonic: Case({"positions": [0.5, -1], "dim": 3}, {"positions": NO_REALS, "dim": NO_WIDTH}),
    dyadic: Case({"positions": [0.5, -1], "dim": 3}, {"positions": NO_REALS, "dim": NO_WIDTH}),
    sinusoidal: Case({"positions": [0.5, -1], "dim": 4},
        {"positions": NO_REALS, "dim": NO_WIDTH, "base": NO_BASE, "layout": NO_LAYOUT, "denominators": ["t2t", "",
            None]}),
    timestep_embedding: Case({"timesteps": [0.5, 9], "dim": 8},
        {"timesteps": NO_REALS, "dim": [2, *NO_WIDTH], "base": NO_BASE, "convention": ["diffusers", "", None]}),
    shift_matrix: Case({"offset": 3, "dim": 4}, {"offset": NO_REALS, "dim": [7], "base": NO_BASE, "layout": NO_LAYOUT}),
    relative_positions: Case({"query_positions": [0, 1], "key_positions": [0, 1, 2]},
        {"query_positions": [3.0, np.zeros((2, 2))], "key_positions": [3.0, np.zeros((2, 3))]}),
    learned: Case({"positions": [0, 4], "table": np.ones((3, 2)), "past_end": "interpolate", "length": 5},
        {"positions": [5, [0, 5]], "table": [[[1.0, 2.0]], None, np.ones(3)], "past_end": ["mirror", "", None],
            "length": [0, -1, 2.5]}),
}  # fmt: skip
