"""LayerStack: RoPE layers, NoPE layers and sliding windows: which find a key, and which tell its distance."""

from __future__ import annotations

from posenc.widgets._base import Choice, Control, Explorable, Switch, Text

LONGEST = 2**20  # tokens

# Numbers of each model. `period` is its layers from the bottom up, R or r where they rotate, small where they see only
# the last `window` tokens; `full` and `local` are the frequencies of layers that see all and of those with a window.
# SmolLM3 and Qwen3 have no window: theirs is the one that a reader gets who gives them one.


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
