"""BuildACode: build your own positional encoding from frequencies, with or without cosines."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.analysis import min_distance, monotonicity_violations, translation_residual
from posenc.widgets._base import Choice, Control, Explorable, Switch, normal_draws

LENGTH = 64  # positions of the map
HANDS = 6  # at most
ROUNDING = 1e-9
SPEEDS = {
    "ratio_2": [round(2.0**-k, 3) for k in range(HANDS)],
    "ratio_3": [round(3.0**-k, 3) for k in range(HANDS)],
    "harmonic": [round(1 / (k + 1), 3) for k in range(HANDS)],
    "dice": np.round(np.abs(normal_draws(1, HANDS)), 3).tolist(),
    "slow": [round(np.pi / LENGTH / (1 + k / 2), 3) for k in range(HANDS)],  # none gets farther than half a turn
}


def _speed(k: int) -> Control:
    return Control(SPEEDS["ratio_2"][k], 0.001, 3.14, "log", needs={"hands": list(range(k + 1, HANDS + 1))})


class BuildACode(Explorable):
    """Up to six hands: what each writes beside a position, the distances between positions, and three wishes scored."""

    module = "build_a_code"
    room = (718, 941)
    main = ("cosines", "speeds")

    cosines = Switch(False)
    speeds = Choice(
        "ratio_2",
        presets={name: {f"speed_{k + 1}": speed for k, speed in enumerate(each)} for name, each in SPEEDS.items()},
        chips=True,
    )
    hands = Control(4, 1, HANDS, "integer")
    position = Control(9, 0, LENGTH - 1, "integer")
    speed_1 = _speed(0)
    speed_2 = _speed(1)
    speed_3 = _speed(2)
    speed_4 = _speed(3)
    speed_5 = _speed(4)
    speed_6 = _speed(5)

    def _speeds(self) -> np.ndarray:
        """The speeds of the hands there are, in radians per token, shape (hands,)."""
        return np.array([getattr(self, f"speed_{k + 1}") for k in range(self.hands)])

    def values(self) -> dict[str, Any]:
        """The code of each position, sines first, then cosines where they are kept; and scores for three wishes."""
        turned = np.arange(LENGTH)[:, None] * self._speeds()  # (positions, hands)
        codes = np.concatenate([np.sin(turned), np.cos(turned)], axis=1) if self.cosines else np.sin(turned)
        return {
            "codes": codes,
            "least_distance": float(min_distance(codes)),
            "translation_residual": float(translation_residual(codes)),
            "monotonicity_violations": monotonicity_violations(codes),
        }

    def facts(self) -> dict[str, Any]:
        values = self.values()
        return {
            "least": values["least_distance"],
            "spread": 100 * values["translation_residual"],
            "falls": 100 * values["monotonicity_violations"],
            "alike": values["least_distance"] <= ROUNDING,
            "even": values["translation_residual"] <= ROUNDING,
        }
