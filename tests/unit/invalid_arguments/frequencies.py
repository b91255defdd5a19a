"""What posenc.frequencies refuses, argument by argument."""

from __future__ import annotations

import numpy as np

from posenc.frequencies import angles, inv_freq, turns, wavelengths
from tests.unit.invalid_arguments import Case

FREQUENCIES = ["x", 1.0, np.ones((2, 2)), [], [np.nan], [-0.1], np.array([1j])]

CASES = {
    inv_freq: Case(
        good={"dim": 8, "base": 10_000.0},
        bad={"dim": [0, -2, 7, 8.0, "8", None, True], "base": [0, -1.0, np.nan, np.inf, "1e4", None, True]},
    ),
    angles: Case(
        good={"positions": [0, 1.5], "inv_freq": [1.0, 0.1]},
        bad={"positions": ["x", np.nan, [np.inf], [1j], None], "inv_freq": FREQUENCIES},
    ),
    wavelengths: Case(good={"inv_freq": [1.0, 0.1]}, bad={"inv_freq": FREQUENCIES}),
    turns: Case(
        good={"length": 512, "inv_freq": [1.0, 0.1]},
        bad={"length": [0, -5, np.nan, np.inf, "512", None, True], "inv_freq": FREQUENCIES},
    ),
}
