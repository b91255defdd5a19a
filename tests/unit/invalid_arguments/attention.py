"""What posenc.attention refuses, argument by argument."""

import numpy as np

from posenc.attention import attention, packed_mask
from tests.unit.invalid_arguments import Case

ROWS = np.ones((2, 3, 4))  # (heads, length, head_dim)
NOT_ROWS = [
    "q",
    None,
    1.0,
    [[1.0, 2.0]],
    np.ones(()),
    np.ones(4),
    np.ones((2, 3, 4), dtype=int),
    np.ones((1, 1), complex),
]
MISFITS = [np.ones((3, 4)), np.ones((1, 3, 4)), np.ones((2, 3, 4), dtype="float32")]
NO_NUMBERS = ["1", None, True, 0, 0.0, -1.0, np.nan, np.inf]

CASES = {
    attention: Case(
        good={
            "q": ROWS,
            "k": ROWS,
            "v": ROWS,
            "causal": True,
            "bias": np.zeros((3, 3)),
            "mask": np.ones((3, 3), dtype=bool),
            "scale": 1.0,
            "temperature": 1.0,
        },
        bad={
            "q": [*NOT_ROWS, np.ones((2, 3, 0))],
            "k": [*NOT_ROWS, *MISFITS, np.ones((2, 3, 5)), np.ones((2, 4, 4))],
            "v": [*NOT_ROWS, *MISFITS, np.ones((2, 2, 4))],
            "causal": [1, "yes", None, np.ones(2)],
            "bias": [
                "alibi",
                0.0,
                [[0.0]],
                np.zeros((3, 3), dtype=int),
                np.zeros((3, 3), dtype=complex),
                np.full((3, 3), np.nan),
                np.full((3, 3), np.inf),
                np.zeros(3),
                np.zeros((4, 3)),
                np.zeros((3, 3, 3)),
                np.zeros((1, 2, 3, 3)),
            ],
            "mask": [
                "causal",
                True,
                [[True]],
                np.ones((3, 3)),
                np.ones((3, 3), dtype=int),
                np.ones(3, dtype=bool),
                np.ones((3, 1), dtype=bool),
                np.ones((2, 3, 1), dtype=bool),
                np.ones((3, 3, 3), dtype=bool),
            ],
            "scale": [value for value in NO_NUMBERS if value is not None] + [np.ones(2)],
            "temperature": [
                *NO_NUMBERS,
                [1.0],
                [1.0, 0.0],
                [1.0, np.nan],
                np.ones(3),
                np.ones((2, 1)),
                -np.ones(2),
                ["a", "b"],
            ],
        },
    ),
    packed_mask: Case(
        good={"lengths": [2, 0, 3]},
        bad={"lengths": ["ab", None, 3, [-1], [1.5], [np.nan], [np.inf], [[1, 2]], np.ones((2, 2)), np.array([True])]},
    ),
}
