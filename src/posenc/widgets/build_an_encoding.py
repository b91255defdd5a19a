"""BuildAnEncoding: build your own positional encoding from frequencies, with or without cosines."""

from __future__ import annotations

import numpy as np

from posenc.widgets._base import Choice, Control, Explorable, Switch, normal_draws

LENGTH = 64  # positions of the map
PAIRS = 6  # at most
FREQUENCIES = {
    "ratio_2": [round(2.0**-k, 3) for k in range(PAIRS)],
    "ratio_3": [round(3.0**-k, 3) for k in range(PAIRS)],
    "harmonic": [round(1 / (k + 1), 3) for k in range(PAIRS)],
    "random": np.round(np.abs(normal_draws(1, PAIRS)), 3).tolist(),
    "slow": [round(np.pi / LENGTH / (1 + k / 2), 3) for k in range(PAIRS)],  # at most half a rotation
}


def _frequency(k: int) -> Control:
    return Control(FREQUENCIES["ratio_2"][k], 0.001, 3.14, "log", needs={"pairs": list(range(k + 1, PAIRS + 1))})


class BuildAnEncoding(Explorable):
    """An encoding of up to six rotating pairs, the distances between positions, and three properties."""

    module = "build_an_encoding"
    room = (691, 740)
    main = ("cosines", "frequencies")

    cosines = Switch(False)
    frequencies = Choice(
        "ratio_2",
        presets={name: {f"theta_{k}": theta for k, theta in enumerate(each)} for name, each in FREQUENCIES.items()},
        chips=True,
    )
    pairs = Control(4, 1, PAIRS, "integer")
    position = Control(9, 0, LENGTH - 1, "integer")
    other = Control(33, 0, LENGTH - 1, "integer")
    theta_0 = _frequency(0)
    theta_1 = _frequency(1)
    theta_2 = _frequency(2)
    theta_3 = _frequency(3)
    theta_4 = _frequency(4)
    theta_5 = _frequency(5)
