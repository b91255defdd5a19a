"""Every scheme of the book as a torch module, each at the door by which it enters attention.

    x = scheme.embed(x, positions)                              the input: added to the embeddings, once
    q, k = scheme.rotate(q, k, positions)                       the query and key: turned in every layer
    attention(q, k, v, bias=scheme.bias(q, k, positions), scale=scheme.logit_scale(head_dim, n_keys))
                                                                the logits: biased or scaled in every layer

A scheme changes one of them and leaves the others neutral; a Transformer calls all and takes any scheme. The
arithmetic is that of `posenc.absolute`, `rotary`, `scaling` and `bias`. Arguments that recur:

    dim, head_dim, n_heads   width of the embeddings or of a head, and heads; at least 1 (of what turns, 2 and even)
    base, layout             of the frequencies: finite and greater than 0; "interleaved" or "half-split"
    seed                     of the initial values; None: torch's global generator
    positions                in tokens, shape (length,), (1, length) or (batch, length)

In decoding with a cache the queries are the last ones of the keys: `positions` are those of the queries, and
`key_positions` those of the keys. Where a scheme rotates, either keep keys as they were rotated with their queries, or
keep them unrotated and rotate all with their `key_positions`; for a scaling that follows the length of the sequence
(dynamic NTK, LongRoPE) only the second is right. The bias wants all keys, and q and k as `rotate` has left them.
What is of the wrong kind raises TypeError, what is out of its range or of another shape ValueError.
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
    "INJECTION_POINTS",
    "SCALINGS",
    "SCHEMES",
    "ALiBi",
    "Binary",
    "Deberta",
    "Fire",
    "Integer",
    "Kerple",
    "Learned",
    "Mixed",
    "NoPosition",
    "NoPositionWithTemperature",
    "Normalised",
    "PositionScheme",
    "Rotary",
    "Sandwich",
    "Sinusoidal",
    "T5",
    "Tener",
    "TransformerXL",
    "XPos",
    "make_scheme",
]
