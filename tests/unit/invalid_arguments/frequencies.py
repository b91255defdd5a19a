"""What posenc.frequencies refuses, argument by argument."""

from __future__ import annotations

import numpy as np

from posenc.frequencies import angles, inv_freq, rotations, wavelengths
from tests.unit.invalid_arguments import Case

FREQUENCIES = ["x", 1.0, np.ones((2, 2)), [], [np.nan], [-0.1], np.array([1j])]

CASES = {
    inv_freq: Case({"dim": 8, "base": 1e4}, {"dim": [0, -2, 7], "base": [0, -1.0, np.nan]}),
    angles: Case({"positions": [0, 1.5], "inv_freq": [1.0, 0.1]},
        {"positions": ["x", np.nan, [np.inf]], "inv_freq": FREQUENCIES}),
    wavelengths: Case({"inv_freq": [1.0, 0.1]}, {"inv_freq": FREQUENCIES}),
    rotations: Case({"length": 512, "inv_freq": [1.0, 0.1]}, {"length": [0, -5, np.nan], "inv_freq": FREQUENCIES}),
}  # fmt: skip
