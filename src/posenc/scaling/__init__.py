"""Context extension for RoPE: each method rescales the frequencies θ_i = base^(−2i/dim).

A model trained on L = original_max_position_embeddings tokens is to read s = factor times as many. Pair i makes r_i =
L·θ_i/2π rotations in training; the methods differ in which pairs they interpolate.

    default        unchanged
    linear         position interpolation (PI): all pairs by s
    ntk_aware      a larger base: the fastest pair unchanged, the slowest interpolated by s
    dynamic_ntk    the same, with the factor that the sequence needs
    ntk_by_parts   pairs of many rotations unchanged, pairs of less than one interpolated by s, a ramp between
    yarn           the same idea with an attention temperature
    llama3         ntk_by_parts with its own bounds
    longrope       a searched factor per pair
    proportional   the slow pairs unrotated
    axial          the head divided between axes

Each returns `Scaled`, a pair (inv_freq, attention_factor): float64 frequencies in radians per token, shape (dim/2,),
and the factor on cosines and sines, whose square multiplies the scores of the rotated dimensions.

Arguments that recur:

    dim                                dimensions that are rotated, two per pair; even and positive
    base                               finite and greater than 0
    factor                             s, at least 1
    original_max_position_embeddings   L, tokens in training, at least 1
    seq_len                            tokens in the sequence, at least 0
    beta_fast, beta_slow               bounds in rotations within L, greater than 0, beta_fast ≥ beta_slow
    like                               array whose library and device the result has; None: NumPy

Arguments of the wrong kind raise TypeError, values out of range ValueError. The functions take Python numbers;
`longrope` also takes arrays.
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
    "ramp_by_rotations", "yarn",
]  # fmt: skip
