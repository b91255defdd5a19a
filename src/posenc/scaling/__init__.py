"""Longer contexts for rotary position encoding: each method rewrites the list of frequencies θ_i = base^(−2i/d).

A model trained on L = original_max_position_embeddings tokens is to read s = factor times as many. Pair i made r_i =
L·θ_i/2π turns in training; the methods differ in which pairs they slow down.

    default        nothing is changed
    linear         every pair by s (position interpolation)
    ntk_aware      by a greater base: the fastest pair not at all, the slowest by s
    dynamic_ntk    the same, by as much as the sequence at hand needs
    ntk_by_parts   pairs of many turns not at all, pairs that complete no turn by s, a ramp between
    yarn           the same idea, and a temperature
    llama3         ntk_by_parts with bounds of its own
    longrope       each pair by a searched number of its own
    proportional   the slow pairs stand still
    axial          half of the head for each of two axes

Each of these answers with `Scaled`, a pair (inv_freq, attention_factor): float64 frequencies in radians per token,
shape (dim/2,), and the factor on cosines and sines. It multiplies scores of the dimensions that rotate by its square.

What an argument means is the same in every function:

    dim                                dimensions that rotate, two a pair; even and positive
    base                               finite and greater than 0
    factor                             s, at least 1, for sequences get longer
    original_max_position_embeddings   L, tokens in training, at least 1
    seq_len                            tokens in the sequence at hand, not negative
    beta_fast, beta_slow               bounds in turns within L, greater than 0, beta_fast not below beta_slow
    like                               an array whose library and device the answer takes; NumPy where it is left out

A TypeError names what is no number, or no whole number where tokens or dimensions are counted, and a ValueError what is
out of its range. The functions take Python numbers; `longrope` takes arrays too.
"""

# The package's page shows the names in this order.
# isort: off
from posenc.scaling._shared import Scaled
from posenc.scaling.factors import default, linear, longrope, proportional, axial
from posenc.scaling.ntk import ntk_base, ntk_aware, dynamic_ntk
from posenc.scaling.by_parts import (
    RAMPS,
    ramp_by_rotations,
    correction_range,
    ramp_by_pair,
    ntk_by_parts,
    mscale,
    yarn,
    llama3,
)
from posenc.scaling.configuration import ROPE_TYPES, from_config

__all__ = [
    "RAMPS", "ROPE_TYPES", "Scaled", "axial", "correction_range", "default", "dynamic_ntk", "from_config", "linear",
    "llama3", "longrope", "mscale", "ntk_aware", "ntk_base", "ntk_by_parts", "proportional", "ramp_by_pair",
    "ramp_by_turns", "yarn",
]  # fmt: skip
