"""ContextExtension: how context-extension methods rescale the frequencies of RoPE."""

from __future__ import annotations

from typing import Any

from posenc import configs
from posenc._sentences import catalogue
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
SCALING = tuple(name for name in catalogue("context_extension")["controls"]["method"]["options"] if name != "none")
BOUNDED = ("ntk_by_parts", "yarn_paper", "yarn_code")  # methods with thresholds to choose
LISTS = "Phi-3-mini-128k-instruct"  # the model whose LongRoPE lists are published
FACTOR_OF_THE_UNSCALED = 4  # how many times its trained length a model is read at that has no published scaling


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
    """What a method divides each pair's frequency by, and the angles that pairs then reach."""

    module = "context_extension"
    room = (705, 742)
    main = ("method", "factor")

    model = Choice("Llama-2-7b-hf", presets={name: _preset(configs.model(name)) for name in MODELS})
    method = Choice("none", chips=True)
    factor = Control(4.0, 1, 64, "log", holds={"method": SCALING})
    trained = Control(4096, 256, 131_072, "tokens")
    used = Control(16_384, 256, 262_144, "tokens")
    base = Control(10_000.0, 100, 1e7, "log")
    beta_fast = Control(32, 4, 64, "integer", needs={"method": BOUNDED}, compact=True)
    beta_slow = Control(1.0, 0.1, 4, "tenths", needs={"method": BOUNDED}, compact=True)
    dim = Control(128, 4, 256, "even", compact=True)

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The published lists of LongRoPE, for short and for long sequences."""
        published = configs.model(LISTS).rope["rope_scaling"]
        return {"short": list(published["short_factor"]), "long": list(published["long_factor"])}
