"""BiasExplorer: biases on the attention logits, and the attention weights that result."""

from __future__ import annotations

from posenc.widgets._base import Action, Choice, Control, Explorable

DRAWN = ["t5", "kerple_log", "kerple_power", "fire", "transformer_xl", "deberta"]  # the schemes that learn


class BiasExplorer(Explorable):
    """The bias of every head against distance, the matrix of one head under the causal mask, and the softmax of both.

    The products of queries and keys are taken to be equal, so that the bias decides alone. What a scheme learns is
    drawn at random, spread so that biases are a few logits; so is the content that Transformer-XL and DeBERTa ask for.
    """

    module = "bias_explorer"
    room = (695, 850)
    main = ("scheme",)

    scheme = Choice("alibi", chips=True)
    draw = Action(needs={"scheme": DRAWN})
    head = Control(3, 1, 16, "integer")
    heads = Control(8, 1, 16, "integer")
    distance = Control(128, 8, 512, "tokens")
    back = Control(16, 0, 512, "tokens")
    threshold = Control(24, 1, 512, "tokens", needs={"scheme": ["fire"]})
