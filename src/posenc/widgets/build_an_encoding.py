"""BuildAnEncoding: build your own positional encoding from frequencies, with or without cosines."""

from __future__ import annotations

import numpy as np

from posenc.widgets._base import Choice, Control, Explorable, Switch, normal_draws

LENGTH = 64  # positions of the map
HANDS = 6  # at most
SPEEDS = {
    "ratio_2": [round(2.0**-k, 3) for k in range(HANDS)],
    "ratio_3": [round(3.0**-k, 3) for k in range(HANDS)],
    "harmonic": [round(1 / (k + 1), 3) for k in range(HANDS)],
    "dice": np.round(np.abs(normal_draws(1, HANDS)), 3).tolist(),
    "slow": [round(np.pi / LENGTH / (1 + k / 2), 3) for k in range(HANDS)],  # none gets farther than half a turn
}


def _speed(k: int) -> Control:
    return Control(SPEEDS["ratio_2"][k], 0.001, 3.14, "log", needs={"hands": list(range(k + 1, HANDS + 1))})


class BuildAnEncoding(Explorable):
    """Up to six hands: what each writes beside a position, the distances between positions, and three wishes scored."""

    module = "build_an_encoding"
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
