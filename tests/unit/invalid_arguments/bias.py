"""What posenc.bias refuses, argument by argument."""

import numpy as np

from posenc.bias import (
    alibi,
    alibi_rank_two,
    alibi_slopes,
    deberta,
    fire,
    kerple,
    relative_shift,
    sandwich,
    sandwich_features,
    score_mod,
    t5,
    t5_bucket,
    tener,
    transformer_xl,
)
from tests.unit.invalid_arguments import Case

OFFSETS = [[0, 1], [-1, 0]]  # key − query
NOT_REAL = ["near", None, np.ones((2, 2), dtype=complex), np.ones((2, 2), dtype=bool), [[np.nan]], [[-np.inf]], ["a",
    "b"]]  # fmt: skip
NO_PAIRS = [*NOT_REAL, 1, [0, 1]]
NO_POSITIONS = [*NOT_REAL, 3]
NO_RATES = [*NOT_REAL, 1.0, [], [[1.0]], [1.0, -1.0]]
NOT_WHOLE = ["2", None, True, 2.0, 0, -1]
NO_WIDTH = [*NOT_WHOLE, 3]
NO_NUMBER = ["1", None, True, 0, -1.0, np.nan, np.inf]
NO_BASE = [*NO_NUMBER, [1.0]]
NO_SCALAR = [*NO_NUMBER, [1.0], np.ones(2)]
NO_FLAG = [1, "yes", None]
Q, K = np.ones((2, 3, 4)), np.ones((2, 5, 4))  # (heads, length, head_dim)
R, U = np.ones((2, 5, 4)), np.ones((2, 4))
NOT_FLOATS = ["x", None, 1.0, [[1.0]], np.ones(()), np.ones((2, 3, 4), dtype=int), np.ones((2, 3, 4), dtype=complex)]
NO_ROWS = [*NOT_FLOATS, np.ones((3, 4)), np.ones((0, 3, 4)), np.ones((2, 3, 0))]
NO_KEYS = [*NO_ROWS, np.ones((1, 5, 4)), np.ones((2, 5, 3)), np.ones((1, 2, 5, 4)), np.ones((2, 5, 4), dtype="float32")]
NO_VECTORS = [*NOT_FLOATS, np.ones(4), np.ones((1, 4)), np.ones((2, 3)), np.ones((2, 1, 4))]
TABLE = np.ones((2, 6, 4))
SCORED = np.ones((4, 3, 5, 8))  # (batch, heads, length, head_dim)

CASES = {
    alibi_slopes: Case({"n_heads": 12}, {"n_heads": NOT_WHOLE, "dtype": [int, "float32"]}),
    alibi: Case({"relative_positions": OFFSETS, "slopes": [0.5, 0.25], "symmetric": False, "dtype": np.float16},
        {"relative_positions": NO_PAIRS, "slopes": NO_RATES, "symmetric": NO_FLAG, "dtype": ["float16", np.int64,
            np.complex64]}),
    alibi_rank_two: Case({"query_positions": [4, 5], "key_positions": [0, 1, 2], "slopes": [0.5]},
        {"query_positions": [*NO_POSITIONS, [[4, 5]]], "key_positions": [[[0, 1, 2]]], "slopes": NO_RATES}),
    t5_bucket: Case({"relative_positions": OFFSETS, "bidirectional": True, "num_buckets": 32, "max_distance": 128},
        {"relative_positions": [*NOT_REAL, 0.5, [[1.5]]], "bidirectional": NO_FLAG, "num_buckets": [1, 2],
            "max_distance": [8, 2 ** 53 + 1]}),
    t5: Case({"relative_positions": OFFSETS, "table": np.ones((32, 2)), "bidirectional": True, "max_distance": 128},
        {"relative_positions": [[[0.5]]], "table": [*NOT_FLOATS, np.ones(32), np.ones((32, 0))],
            "bidirectional": NO_FLAG, "max_distance": [8]}),
    sandwich: Case({"relative_positions": OFFSETS, "n_heads": 2, "dim": 8, "base": 100.0},
        {"relative_positions": NO_PAIRS, "n_heads": NOT_WHOLE, "dim": NO_WIDTH, "base": NO_BASE}),
    sandwich_features: Case({"positions": [0, 1, 2], "n_heads": 2, "dim": 8, "base": 100.0},
        {"positions": NO_POSITIONS, "n_heads": NOT_WHOLE, "dim": NO_WIDTH, "base": NO_BASE}),
    kerple: Case({"relative_positions": OFFSETS, "r1": [1.0, 2.0], "r2": [0.5, 2.0], "kind": "power"},
        {"relative_positions": NO_PAIRS, "r1": [[1.0, 0.0], [1.0]], "r2": [[1.0, 0.0], [1.0]], "kind": ["log", "Power",
            None]}),
    fire: Case({"query_positions": [4, 5], "key_positions": [0, 1, 2], "mlp": np.negative, "c": 0.1, "threshold": 32.0},
        {"query_positions": [[-1, 0], [[4, 5]]], "key_positions": [[-1, 0], [[0, 1, 2]]], "mlp": ["relu", None, 1.0],
            "c": NO_SCALAR, "threshold": NO_SCALAR}),
    transformer_xl: Case({"q": Q, "k": K, "r": R, "u": U, "v": U},
        {"q": [*NO_ROWS, np.ones((2, 6, 4))], "k": NO_KEYS, "r": [np.ones((5, 4)), np.ones((2, 4, 4))], "u": NO_VECTORS,
            "v": NO_VECTORS}),
    tener: Case({"q": Q, "k": K, "r": np.ones((7, 4)), "u": U, "v": U},
        {"q": [np.ones((2, 6, 4))], "k": NO_KEYS, "r": [np.ones(4), np.ones((4, 4))], "u": NO_VECTORS,
            "v": NO_VECTORS}),
    relative_shift: Case({"scores": Q}, {"scores": [np.ones(4)]}),
    deberta: Case({"query_content": Q, "key_content": K, "key_relative": TABLE, "query_relative": TABLE,
        "relative_positions": np.zeros((3, 5))},
        {"query_content": NO_ROWS, "key_content": NO_KEYS, "key_relative": [TABLE[0], TABLE[:, :0]],
            "query_relative": [TABLE[0], TABLE[:, :4]], "relative_positions": [np.full((3, 5), 0.5), np.zeros((5,
            3))]}),
    score_mod: Case({"bias": lambda offsets: np.zeros((3, 1, offsets.shape[-1])), "q": SCORED[:, :, :2], "k": SCORED},
        {"bias": [*["alibi", None, 1.0, [[1.0]], np.zeros((3, 2, 5), dtype=int), np.ones((3, 2, 5), dtype=bool)],
            *[np.zeros((2, 5)), np.zeros((1, 2, 5)), np.zeros((1, 3, 2, 5)), np.full((3, 2, 5), np.nan)], *[np.full((3,
            2, 5), np.inf), np.negative, np.shape, np.isnan]], "q": [SCORED[0], np.ones((4, 3, 6, 8))], "k": [SCORED[0],
            SCORED[:, :, :1]]}),
}  # fmt: skip
