"""LayerStack: RoPE layers, NoPE layers and sliding windows: which find a key, and which encode its distance."""

from __future__ import annotations

from posenc.widgets._base import Choice, Control, Explorable, Switch, Text

LONGEST = 2**20  # tokens

# Numbers of each model. `period` is its layers from the bottom up, R or r for RoPE, N or n for NoPE, lower case
# where they attend only to the last `window` tokens; `full` and `local` are the frequencies of global and of
# sliding-window layers. SmolLM3 and Qwen3 have no window: theirs is used if a reader gives them one.


class LayerStack(Explorable):
    """The attention weight of one matching key, layer by layer, by its distance.

    Query and key are equal, each pair with the same part of the score, `margin` nats together; all other keys score 0.
    The query is the last token, and in a window the last of what that holds.
    """

    module = "layer_stack"
    room = (645, 730)
    main = ("model", "context")

    model = Choice("smollm3", chips=True, holds={"layers": [""]})
    margin = Control(16.0, 0, 24, "tenths")
    distance = Control(4000, 1, LONGEST - 1, "tokens")
    context = Control(65_536, 128, LONGEST, "tokens")
    match_pairs = Choice("all", chips=True)
    temperature = Switch(False)
    layers = Text("", "([RrNn]{4,12})?", own_control=True)
