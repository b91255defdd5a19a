"""What posenc.attention refuses, argument by argument."""

import numpy as np

from posenc.attention import attention, packed_mask
from tests.unit.invalid_arguments import Case

ROWS = np.ones((2, 3, 4))  # (heads, length, head_dim)
NOT_ROWS = ["q", None, 1.0, [[1.0, 2.0]], np.ones(()), np.ones(4), np.ones((2, 3, 4), dtype=int), np.ones((1, 1),
    complex)]  # fmt: skip
MISFITS = [np.ones((3, 4)), np.ones((1, 3, 4)), np.ones((2, 3, 4), dtype="float32")]
NO_NUMBERS = ["1", None, True, 0, 0.0, -1.0, np.nan, np.inf]

CASES = {
    attention: Case({"q": ROWS, "k": ROWS, "v": ROWS, "causal": True, "bias": np.zeros((3, 3)), "mask": np.ones((3, 3),
        dtype=bool), "scale": 1.0, "temperature": 1.0},
        {"q": [*NOT_ROWS, np.ones((2, 3, 0))], "k": [*MISFITS, np.ones((2, 3, 5)), np.ones((2, 4, 4))],
            "v": [np.ones((2, 2, 4))], "causal": [1, "yes", None], "bias": ["alibi", 0.0, [[0.0]]], "mask": ["causal",
            True, [[True]]], "scale": [value for value in NO_NUMBERS if value is not None] + [np.ones(2)],
            "temperature": [*NO_NUMBERS, [1.0], [1.0, 0.0]]}),
    packed_mask: Case({"lengths": [2, 0, 3]}, {"lengths": ["ab", None, 3]}),
}  # fmt: skip
