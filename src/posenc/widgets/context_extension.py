"""ContextExtension: how context-extension methods rescale the frequencies of RoPE, two at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc import configs, scaling
from posenc.analysis import decay
from posenc.frequencies import inv_freq, rotations, wavelengths
from posenc.widgets._base import Choice, Control, Explorable

MODELS = (
    "Llama-2-7b-hf",
    "Meta-Llama-3-8B",
    "Llama-3.1-8B",
    "Mistral-7B-v0.1",
    "Phi-3-mini-128k-instruct",
    "gemma-2-9b",
    "gemma-3-4b-it",
    "Qwen3-8B",
    "DeepSeek-V3",
    "gpt-neox-20b",
)
LISTS = "Phi-3-mini-128k-instruct"  # the model whose LongRoPE lists are published
FACTOR_OF_THE_UNSCALED = 4  # how many times its trained length a model is read at that has no published scaling
ROUNDING = 1e-9  # relative; what is slowed by exactly as much as it needs to be meets nothing new
CHUNK = 16_384  # distances at a time: a long text would need gigabytes at once


def _preset(config: configs.ModelConfig) -> dict[str, float]:
    """The controls that a model sets: base and width of its list, its lengths and its factor."""
    rope, trained = config.rope, config.original_max_position_embeddings
    published = rope.get("rope_scaling")
    used = config.max_position_embeddings if published else FACTOR_OF_THE_UNSCALED * trained
    return {
        "base": float(rope.get("rope_parameters", rope)["rope_theta"]),
        "dim": config.rotary_dim,
        "trained": trained,
        "used": used,
        "factor": float((published or {}).get("factor", used / trained)),
    }


class ContextExtension(Explorable):
    """Wavelength, scaling and angles of every pair, and the score against distance, by two methods side by side."""

    module = "context_extension"
    room = (754, 1099)
    main = ("method", "factor")

    model = Choice("Llama-2-7b-hf", presets={name: _preset(configs.model(name)) for name in MODELS})
    method = Choice("linear", chips=True)
    other = Choice("yarn_code")
    shown = Choice("slowing", chips=True)
    factor = Control(4.0, 1, 64, "log")
    trained = Control(4096, 256, 131_072, "tokens")
    used = Control(16_384, 256, 262_144, "tokens")
    base = Control(10_000.0, 100, 1e7, "log")
    beta_fast = Control(32, 4, 64, "integer", compact=True)
    beta_slow = Control(1.0, 0.1, 4, "tenths", compact=True)
    dim = Control(128, 4, 256, "even", compact=True)

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The published lists of LongRoPE, for short and for long sequences."""
        published = configs.model(LISTS).rope["rope_scaling"]
        return {"short": list(published["short_factor"]), "long": list(published["long_factor"])}

    def _scaled(self, method: str) -> scaling.Scaled | None:
        """The frequencies of a method; None for LongRoPE where the lists have another number of pairs."""
        factor, length = {"factor": self.factor}, {"original_max_position_embeddings": self.trained}
        bounds = {"beta_fast": self.beta_fast, "beta_slow": self.beta_slow}
        match method:
            case "none":
                return scaling.default(self.dim, self.base)
            case "linear":
                return scaling.linear(self.dim, self.base, **factor)
            case "ntk_aware":
                return scaling.ntk_aware(self.dim, self.base, **factor)
            case "dynamic_ntk":
                return scaling.dynamic_ntk(self.dim, self.base, seq_len=self.used, **length)
            case "ntk_by_parts":
                return scaling.ntk_by_parts(self.dim, self.base, **factor, **length, **bounds)
            case "yarn_paper" | "yarn_code":
                ramp = "paper" if method == "yarn_paper" else "released"
                return scaling.yarn(self.dim, self.base, **factor, **length, **bounds, ramp=ramp)
            case "llama3":
                return scaling.llama3(self.dim, self.base, **factor, **length)
        published = self.data()
        if len(published["long"]) != self.dim // 2:
            return None
        lists = {"short_factor": published["short"], "long_factor": published["long"]}
        return scaling.longrope(self.dim, self.base, **lists, seq_len=self.used, **length, **factor)

    def _pairs(self, scaled: scaling.Scaled) -> dict[str, Any]:
        return {
            "wavelength": wavelengths(scaled.inv_freq),
            "slowed": inv_freq(self.dim, self.base) / scaled.inv_freq,
            "turns": rotations(self.used, scaled.inv_freq),
            "attention_factor": scaled.attention_factor,
        }

    def _drawn(self, method: str) -> dict[str, Any] | None:
        scaled, distances = self._scaled(method), np.arange(self.used + 1)
        if scaled is None:
            return None
        parts = [decay(distances[k : k + CHUNK], scaled.inv_freq) for k in range(0, self.used + 1, CHUNK)]
        return {**self._pairs(scaled), "score": np.concatenate(parts)}

    def values(self) -> dict[str, Any]:
        """What is drawn, in pairs, tokens and turns.

        Of the original list and of both methods: wavelengths, how many times slower each pair is, its turns in the used
        length, the attention factor, and the score at every distance; None for a LongRoPE without lists. Of the
        original the turns in the trained length, and the pair indices at which they are β fast and β slow.
        """
        bounds = {"beta_fast": self.beta_fast, "beta_slow": self.beta_slow, "truncate": False}
        ramp = scaling.correction_range(self.dim, self.base, original_max_position_embeddings=self.trained, **bounds)
        return {
            "trained_turns": rotations(self.trained, inv_freq(self.dim, self.base)),
            "ramp": list(ramp),
            "original": self._drawn("none"),
            "method": self._drawn(self.method),
            "other": self._drawn(self.other),
        }

    def facts(self) -> dict[str, Any]:
        trained_turns = rotations(self.trained, inv_freq(self.dim, self.base))

        def new(drawn: dict[str, Any]) -> int:
            """How many pairs have unseen angles."""
            return int(np.sum((trained_turns < 1) & (drawn["turns"] > trained_turns * (1 + ROUNDING))))

        chosen = {name: self._scaled(name) for name in ("none", self.method, self.other)}
        drawn = {name: self._pairs(scaled) for name, scaled in chosen.items() if scaled is not None}
        unscaled = new(drawn.pop("none"))
        each = [
            {
                "method": name,
                "fresh": new(one),
                "kept": int(np.sum(one["slowed"] <= 1 + ROUNDING)),
                "fastest": one["slowed"][0],
                "slowest": one["slowed"][-1],
                "evenly": abs(one["slowed"][0] / one["slowed"][-1] - 1) < ROUNDING,
                "scores": one["attention_factor"] ** 2,
            }
            for name, one in drawn.items()
        ]
        return {
            "pairs": self.dim // 2,
            "times": self.used / self.trained,
            "completed": int(np.sum(trained_turns >= 1)),
            "unscaled": unscaled,
            "drawn": each,
            "no_list": None in chosen.values(),
            "listed": len(self.data()["long"]),
        }
