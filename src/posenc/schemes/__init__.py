"""Positional encodings as objects, each at the injection point where it enters attention.

    x = scheme.embed(x, positions)                              input embeddings: added, once
    q, k = scheme.rotate(q, k, positions)                       queries and keys: rotated, in every layer
    attention(q, k, v, bias=scheme.bias(q, k, positions), scale=scheme.logit_scale(head_dim, n_keys))
                                                                attention logits: biased or scaled, in every layer

A scheme changes one of them and leaves the others as they are; a Transformer calls all three and takes any scheme. The
formulas are in `posenc.absolute`, `rotary`, `scaling` and `bias`. Arguments that recur:

    dim, head_dim, n_heads   width of the embeddings or of a head, number of heads; at least 1 (rotated: even)
    base, layout             of the frequencies: finite and greater than 0; "interleaved" or "half-split"
    seed                     of the initial values; None: torch's global generator
    positions                in tokens, shape (length,), (1, length) or (batch, length)

They take NumPy arrays and torch tensors alike. Where torch is installed, each is a torch.nn.Module whose weights learn;
without torch the weights are NumPy arrays, which `load_state_dict` fills with what a model has learned.

In decoding with a KV cache the queries are the last of the keys: `positions` are those of the queries, `key_positions`
those of the keys. Cache keys either as they were rotated, or unrotated and rotate all of them with their
`key_positions` at every step; scalings that follow the length of the sequence (dynamic NTK, LongRoPE) need the second.
A bias needs all keys, with q and k as `rotate` returned them. Arguments of the wrong kind raise TypeError; values out
of range and shapes that do not fit raise ValueError.
"""

from __future__ import annotations

# The package's page shows the names in this order.
# isort: off
from posenc.schemes.interface import INJECTION_POINTS, PositionScheme
from posenc.schemes.no_position import NoPosition, NoPositionWithTemperature
from posenc.schemes.input import Integer, Normalised, Binary, Sinusoidal, Learned
from posenc.schemes.query_and_key import SCALINGS, Rotary, Mixed, XPos
from posenc.schemes.logits import ALiBi, T5, Sandwich, Kerple, Fire
from posenc.schemes.content import TransformerXL, Tener, Deberta
from posenc.schemes.by_name import SCHEMES, make_scheme

__all__ = [
    "ALiBi", "Binary", "Deberta", "Fire", "INJECTION_POINTS", "Integer", "Kerple", "Learned", "Mixed", "NoPosition",
    "NoPositionWithTemperature", "Normalised", "PositionScheme", "Rotary", "SCALINGS", "SCHEMES", "Sandwich",
    "Sinusoidal", "T5", "Tener", "TransformerXL", "XPos", "make_scheme",
]  # fmt: skip
