"""BiasExplorer: biases on the attention logits, and the attention weights that result."""

from __future__ import annotations

from typing import Any

from posenc.lab.measured import statistics
from posenc.widgets._base import Action, Choice, Control, Explorable

DRAWN = ["kerple_log", "kerple_power", "fire", "transformer_xl", "deberta"]  # the schemes that learn


class BiasExplorer(Explorable):
    """The bias of every head against distance, and the attention weights of the last query that result.

    The products of queries and keys are taken to be equal, so that the bias decides alone. T5's biases are those of a
    small trained model. What the other schemes learn is drawn at random, spread so that biases are a few logits; so is
    the content that Transformer-XL and DeBERTa ask for.
    """

    module = "bias_explorer"
    room = (705, 761)
    main = ("scheme", "distance")

    scheme = Choice("alibi", chips=True)
    draw = Action(needs={"scheme": DRAWN})
    head = Control(3, 1, 16, "integer")
    heads = Control(8, 1, 16, "integer", needs={"scheme": ["alibi", "sandwich", *DRAWN]})
    distance = Control(128, 8, 512, "tokens")
    threshold = Control(24, 1, 512, "tokens", needs={"scheme": ["fire"]})

    @classmethod
    def data(cls) -> dict[str, Any]:
        """T5's trained table, by head and bucket."""
        return {"t5": statistics()["full-text-t5-0/table"].T.astype(float).round(3).tolist()}
