"""LayerStack: RoPE layers, NoPE layers and sliding windows: which find a key, and which tell its distance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc._sentences import catalogue
from posenc.analysis import decay
from posenc.frequencies import angles, inv_freq
from posenc.widgets._base import Choice, Control, Explorable, Switch, Text

LONGEST = 2**20  # tokens
FLOOR_SCALE, ATTN_SCALE = 8192, 0.1  # of Llama 4, as its configuration names them
TOLERANCE = 0.01  # radians from an angle that training met, as in `posenc.analysis.unseen_angles`
ROTATES, LOCAL = "Rr", "rn"  # letters of such layers
TOLD = 0.01  # of attention: a layer in which so much changes tells near from far
BACK = 2 ** np.arange(20)  # distances at which Python and JavaScript are compared
_ROWS = 1024  # of the table of cosines, which two products of small tables make

# Numbers of each model. `period` is its layers from the bottom up, R or r where they rotate, small where they see only
# the last `window` tokens; `full` and `local` are the frequencies of layers that see all and of those with a window.
# SmolLM3 and Qwen3 have no window: theirs is the one that a reader gets who gives them one.
STACKS: dict[str, Any] = catalogue("stacks")


def match_share(score: float | np.ndarray, n_keys: int) -> Any:
    """The share of attention of one key whose score is `score`, in nats, among n − 1 keys whose scores are 0.

    eˢ / (eˢ + n − 1): half where the score is ln(n − 1). `n_keys` is n, at least 1; the answer has the score's shape.

    >>> [round(float(match_share(14.0, n)), 3) for n in (1, 32_768, 1_048_576)]
    [1.0, 0.973, 0.534]
    """
    return 1 / (1 + (n_keys - 1) * np.exp(-np.asarray(score, dtype=float)))


def query_scale(n_keys: int) -> float:
    """What Llama 4 multiplies the scores of the n-th query by, in layers that do not rotate: 1 + 0.1·ln(1 + ⌊n/8192⌋).

    Source: `Llama4TextAttention` of transformers, attn_temperature_tuning, with attn_scale and floor_scale by default.

    >>> [round(query_scale(n), 3) for n in (8191, 8192, 131_072, 1_048_576)]
    [1.0, 1.069, 1.283, 1.486]
    """
    return 1 + ATTN_SCALE * math.log1p(n_keys // FLOOR_SCALE)


def new_pairs(distance: int, frequencies: np.ndarray, trained_length: int) -> int:
    """How many pairs stand at an angle, at a distance, that no distance below the trained length has.

    Only pairs that have not turned once by then have anything left to meet; `frequencies` has shape (pairs,), in
    radians per token. The share over many distances is that of `posenc.analysis.unseen_angles`.

    >>> new_pairs(500, np.array([1.0, 0.01, 0.001, 0.0]), trained_length=400)
    2
    """
    last, at = angles(trained_length - 1, frequencies), angles(distance, frequencies) % (2 * np.pi)
    return int(np.sum((last < 2 * np.pi) & (at > last + TOLERANCE) & (at < 2 * np.pi - TOLERANCE)))


def frequencies_of(numbers: dict[str, Any], lies_in: str) -> np.ndarray:
    """The frequencies of the pairs in which a match lies, all or the slower half; 0 for those that do not turn.

    >>> frequencies_of({"pairs": 4, "turning": 3, "base": 10_000}, "slow").round(3).tolist()
    [0.01, 0.0]
    """
    pairs = numbers["pairs"]
    frequencies = np.where(np.arange(pairs) < numbers["turning"], inv_freq(2 * pairs, numbers["base"]), 0.0)
    return frequencies[pairs // 2 :] if lies_in == "slow" else frequencies


def _decay_up_to(stop: int, frequencies: np.ndarray) -> np.ndarray:
    """`decay` at 0 … stop − 1: cos(a + b) of large steps a and small steps b."""
    turning = frequencies[frequencies > 0]
    small = np.arange(_ROWS)[:, None] * turning
    large = _ROWS * np.arange(-(-stop // _ROWS))[:, None] * turning
    cosines = np.cos(large) @ np.cos(small).T - np.sin(large) @ np.sin(small).T  # (large steps, small steps)
    return (cosines.reshape(-1)[:stop] + len(frequencies) - len(turning)) / len(frequencies)


class LayerStack(Explorable):
    """What share of a head's attention one matching key gets, layer by layer, by its distance.

    Query and key are equal, each pair with the same part of the score, `lead` nats together; all other keys score 0.
    The query is the last token, and in a window the last of what that holds.
    """

    module = "layer_stack"
    room = (771, 1052)
    main = ("model", "lead")

    model = Choice("smollm3", chips=True)
    lead = Control(16.0, 0, 24, "tenths")
    distance = Control(4000, 1, LONGEST - 1, "tokens")
    context = Control(65_536, 128, LONGEST, "tokens")
    lies_in = Choice("all", chips=True)
    temperature = Switch(False)
    layers = Text("", "([RrNn]{4,12})?", own_control=True)

    @property
    def _numbers(self) -> dict[str, Any]:
        numbers: dict[str, Any] = STACKS[self.model]
        return numbers

    @property
    def _pattern(self) -> str:
        """The letter of each layer, from the bottom up."""
        period, count = self._numbers["period"], self._numbers["count"]
        return self.layers or (count * period)[:count]

    @property
    def _at(self) -> int:
        """The distance of the key that matches: the text ends where it ends."""
        return min(self.distance, self.context - 1)

    def _of(self, letter: str) -> dict[str, Any]:
        """A layer of a kind: its shares, where the match gets half (at some distance, at all up to it), new angles."""
        seen = min(self.context, self._numbers["window"]) if letter in LOCAL else self.context
        frequencies = frequencies_of(self._numbers["local" if letter in LOCAL else "full"], self.lies_in)
        lead = self.lead
        if letter not in ROTATES:
            frequencies = np.zeros_like(frequencies)
            lead *= query_scale(self.context) if self.temperature else 1
        at = np.array([*BACK, 1, self._at])
        shares = np.where(at < seen, match_share(lead * decay(at, frequencies), seen), 0.0)
        halves = lead * _decay_up_to(seen, frequencies)[1:] >= math.log(seen - 1)  # at 1 … seen − 1
        return {
            "curve": shares[:-2],
            "near": float(shares[-2]),
            "share": float(shares[-1]),
            "seen": self._at < seen,
            "reach": int(np.flatnonzero(halves)[-1]) + 1 if halves.any() else 0,
            "sure": len(halves) if halves.all() else int(np.argmin(halves)),
            "fresh": new_pairs(self._at, frequencies, self._numbers["length"]) if self._at < seen else 0,
            "pairs": len(frequencies),
        }

    def values(self) -> dict[str, Any]:
        """For each layer, from the bottom up: its shares, whether it sees the match, where that gets half."""
        kinds = {letter: self._of(letter) for letter in dict.fromkeys(self._pattern)}
        layers = [kinds[letter] for letter in self._pattern]
        return {"pattern": self._pattern} | {name: [layer[name] for layer in layers] for name in layers[0]}

    def facts(self) -> dict[str, Any]:
        values = self.values()
        turning = [k for k, letter in enumerate(self._pattern) if letter in ROTATES]
        still = [k for k in range(len(self._pattern)) if k not in turning]
        seeing = [k for k in turning if values["seen"][k]]
        told = [k for k in seeing if abs(values["near"][k] - values["share"][k]) > TOLD]
        reach, sure = max(values["reach"]), max(values["sure"])
        finding = [k for k, far in enumerate(values["sure" if sure == reach else "reach"]) if far == reach]
        fresh = max(seeing, key=lambda k: values["fresh"][k] / values["pairs"][k], default=0)

        def best(name: str, layers: list[int]) -> float:
            return 100 * max((values[name][k] for k in layers), default=0.0)

        return {
            "at": self._at,
            "count": len(self._pattern),
            "turning": len(turning),
            "still": len(still),
            "seeing": len(seeing),
            "told": len(told),
            "turning_share": best("share", turning),
            "still_share": best("share", still),
            "near_share": best("near", seeing),
            "reach": reach,
            "sure": sure,
            "begins": self.context - 1,
            "found_in": len(finding),
            "layer": finding[0] + 1,
            "window": self._numbers["window"],
            "length": self._numbers["length"],
            "sharper": query_scale(self.context),
            "fresh": values["fresh"][fresh],
            "pairs": values["pairs"][fresh],
        }
