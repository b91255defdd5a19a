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
NOT_REAL = [
    "near",
    None,
    np.ones((2, 2), dtype=complex),
    np.ones((2, 2), dtype=bool),
    [[np.nan]],
    [[-np.inf]],
    ["a", "b"],
]
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
    alibi_slopes: Case(good={"n_heads": 12}, bad={"n_heads": NOT_WHOLE}),
    alibi: Case(
        good={"relative_positions": OFFSETS, "slopes": [0.5, 0.25], "symmetric": False, "dtype": np.float16},
        bad={
            "relative_positions": NO_PAIRS,
            "slopes": NO_RATES,
            "symmetric": NO_FLAG,
            "dtype": ["float16", np.int64, np.complex64, np.bool_, 16, True, np.ones(2)],
        },
    ),
    alibi_rank_two: Case(
        good={"query_positions": [4, 5], "key_positions": [0, 1, 2], "slopes": [0.5]},
        bad={
            "query_positions": [*NO_POSITIONS, [[4, 5]]],
            "key_positions": [*NO_POSITIONS, [[0, 1, 2]]],
            "slopes": NO_RATES,
        },
    ),
    t5_bucket: Case(
        good={"relative_positions": OFFSETS, "bidirectional": True, "num_buckets": 32, "max_distance": 128},
        bad={
            "relative_positions": [*NOT_REAL, 0.5, [[1.5]]],
            "bidirectional": NO_FLAG,
            "num_buckets": [*NOT_WHOLE, 1, 2, 33],
            "max_distance": [*NOT_WHOLE, 8, 2**53 + 1, 10**400],
        },
    ),
    t5: Case(
        good={"relative_positions": OFFSETS, "table": np.ones((32, 2)), "bidirectional": True, "max_distance": 128},
        bad={
            "relative_positions": [*NO_PAIRS, [[0.5]]],
            "table": [*NOT_FLOATS, np.ones(32), np.ones((32, 0)), np.ones((2, 2)), np.ones((5, 2)), np.ones((0, 2))],
            "bidirectional": NO_FLAG,
            "max_distance": [*NOT_WHOLE, 8],
        },
    ),
    sandwich: Case(
        good={"relative_positions": OFFSETS, "n_heads": 2, "dim": 8, "base": 100.0},
        bad={"relative_positions": NO_PAIRS, "n_heads": NOT_WHOLE, "dim": NO_WIDTH, "base": NO_BASE},
    ),
    sandwich_features: Case(
        good={"positions": [0, 1, 2], "n_heads": 2, "dim": 8, "base": 100.0},
        bad={"positions": NO_POSITIONS, "n_heads": NOT_WHOLE, "dim": NO_WIDTH, "base": NO_BASE},
    ),
    kerple: Case(
        good={"relative_positions": OFFSETS, "r1": [1.0, 2.0], "r2": [0.5, 2.0], "kind": "power"},
        bad={
            "relative_positions": NO_PAIRS,
            "r1": [*NO_RATES, [1.0, 0.0], [1.0]],
            "r2": [*NO_RATES, [1.0, 0.0], [1.0], [1.0, 2.5]],
            "kind": ["log", "Power", None, 2],
        },
    ),
    fire: Case(
        good={
            "query_positions": [4, 5],
            "key_positions": [0, 1, 2],
            "mlp": np.negative,
            "c": 0.1,
            "threshold": 32.0,
        },
        bad={
            "query_positions": [*NO_POSITIONS, [-1, 0], [[4, 5]]],
            "key_positions": [*NO_POSITIONS, [-1, 0], [[0, 1, 2]]],
            "mlp": ["relu", None, 1.0, np.sum, np.squeeze, np.signbit, np.shape],
            "c": NO_SCALAR,
            "threshold": NO_SCALAR,
        },
    ),
    transformer_xl: Case(
        good={"q": Q, "k": K, "r": R, "u": U, "v": U},
        bad={
            "q": [*NO_ROWS, np.ones((2, 6, 4))],
            "k": NO_KEYS,
            "r": [
                *NOT_FLOATS,
                np.ones((5, 4)),
                np.ones((2, 4, 4)),
                np.ones((2, 6, 4)),
                np.ones((1, 5, 4)),
                np.ones((2, 5, 3)),
            ],
            "u": NO_VECTORS,
            "v": NO_VECTORS,
        },
    ),
    tener: Case(
        good={"q": Q, "k": K, "r": np.ones((7, 4)), "u": U, "v": U},
        bad={
            "q": [*NO_ROWS, np.ones((2, 6, 4))],
            "k": NO_KEYS,
            "r": [*NOT_FLOATS, np.ones(4), np.ones((4, 4)), np.ones((7, 3)), np.ones((2, 7, 4))],
            "u": NO_VECTORS,
            "v": NO_VECTORS,
        },
    ),
    relative_shift: Case(good={"scores": Q}, bad={"scores": [*NOT_FLOATS, np.ones(4)]}),
    deberta: Case(
        good={
            "query_content": Q,
            "key_content": K,
            "key_relative": TABLE,
            "query_relative": TABLE,
            "relative_positions": np.zeros((3, 5)),
        },
        bad={
            "query_content": NO_ROWS,
            "key_content": NO_KEYS,
            "key_relative": [*NOT_FLOATS, TABLE[0], TABLE[:, :0], TABLE[:, :3], TABLE[:1], TABLE[..., :3]],
            "query_relative": [*NOT_FLOATS, TABLE[0], TABLE[:, :4], TABLE[:1], TABLE[..., :3]],
            "relative_positions": [*NO_PAIRS, np.full((3, 5), 0.5), np.zeros((5, 3)), np.zeros((1, 3, 5))],
        },
    ),
    score_mod: Case(
        good={"bias": lambda offsets: np.zeros((3, 1, offsets.shape[-1])), "q": SCORED[:, :, :2], "k": SCORED},
        bad={
            "bias": [
                *["alibi", None, 1.0, [[1.0]], np.zeros((3, 2, 5), dtype=int), np.ones((3, 2, 5), dtype=bool)],
                *[np.zeros((2, 5)), np.zeros((1, 2, 5)), np.zeros((1, 3, 2, 5)), np.full((3, 2, 5), np.nan)],
                *[np.full((3, 2, 5), np.inf), np.negative, np.shape, np.isnan],
            ],
            "q": [*NOT_FLOATS, SCORED[0], np.ones((4, 3, 6, 8))],
            "k": [*NOT_FLOATS, SCORED[0], SCORED[:, :, :1]],
        },
    ),
}
