"""OrderBlindness: what attention notices when words are permuted."""

from __future__ import annotations

from posenc.widgets._base import Choice, Control, Explorable, Switch, Text

WORDS = 6  # in the longest sentence


class OrderBlindness(Explorable):
    """A sentence before and after its words change places: attention weights, outputs, and which of them are the same.

    Embeddings and projections are random draws, 4 wide; a second layer reads the embeddings plus the first one's
    outputs. Weights and outputs shown are those of the last layer. Words are matched by identity, not by position. With
    `progress` towards the new order the original matrix moves: from 0 to 1 its rows, from 1 to 2 its columns.
    """

    module = "order_blindness"
    room = (638, 711)
    main = ("scheme",)

    sentence = Choice("dog bites man")
    order = Text("210", rf"(?!.*(.).*\1)[0-{WORDS - 1}]{{0,{WORDS}}}", own_control=True)
    scheme = Choice("none", chips=True)
    layers = Choice("1")
    causal = Switch(False)
    seed = Control(0, 0, 999, "integer")
    progress = Control(2, 0, 2, "hundredths")
