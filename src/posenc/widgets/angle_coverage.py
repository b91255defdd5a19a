"""AngleCoverage: which pairs complete a rotation in training, and which angles past it are unseen."""

from __future__ import annotations

from typing import Any

from posenc.configs import MODELS, ModelConfig
from posenc.widgets._base import Choice, Control, Explorable

# An angle exactly at the tolerance counts as seen, whichever way Python and JavaScript round it.


def _preset(config: ModelConfig) -> dict[str, Any]:
    """Base, rotating width and trained length of a model, before any scaling."""
    parameters = config.rope.get("rope_parameters", config.rope)
    return {
        "base": float(parameters["rope_theta"]),
        "dim": config.rotary_dim,
        "trained": config.original_max_position_embeddings,
    }


class AngleCoverage(Explorable):
    """Every pair as a ring of the angles that training has covered and that a longer sequence adds.

    `pair` stands below as a large ring; beyond the last pair, the last.
    """

    module = "angle_coverage"
    room = (670, 684)
    main = ("model",)

    model = Choice("Llama-2-7b-hf", presets={name: _preset(config) for name, config in MODELS.items()})
    base = Control(10_000.0, 1, 1e8, "log")
    dim = Control(128, 2, 256, "even")
    trained = Control(4096, 16, 65_536, "tokens")
    used = Control(8192, 16, 131_072, "tokens")
    tolerance = Control(0.01, 0.001, 0.5, "log")
    chart = Choice("unseen")
    pair = Control(48, 0, 127, "integer")
