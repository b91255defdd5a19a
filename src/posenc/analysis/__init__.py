"""Measures of positional encodings and of attention, in five parts.

    frequencies               decay with distance, its asymptotic law, its limits, fingerprints, the minimum base
    extrapolation             unseen angles, the critical dimension, scores fitted and extrapolated
    desired properties        one number per property of a table of encodings
    projections               the four terms of a score, and the kernel of a matrix between two encodings
    NoPE                      how a mean over more keys blurs, and attention dilution

The functions take NumPy arrays or torch tensors and return the same, in float64 where the device has it. Scores are
normalised so that full agreement is 1. Arguments that recur:

    offsets, first, second   distances in tokens, any finite real numbers, of any shape unless stated
    inv_freq                 frequencies ≥ 0 in radians per token, shape (dim/2,)
    dim, base                of a list of frequencies: even and positive; finite and greater than 0
    length                   a number of tokens, at least 1; trained_length is a smaller one
    encodings                a table with the encoding of position t in row t, shape (length, dim)
    tolerance                finite and greater than 0

Arguments of the wrong kind or arrays of two libraries raise TypeError; values that are not finite or out of range and
shapes that do not fit raise ValueError.
"""

# The package's page shows the names in this order.
# isort: off
from posenc.analysis.distance import (
    decay,
    decay_law,
    decay_logarithm,
    abel_bound,
    expected_score,
    fingerprint,
    fingerprint_similarity,
    fingerprint_difference,
    min_base,
)
from posenc.analysis.extrapolation import (
    ScoreFit,
    unseen_angles,
    pairs_reaching,
    critical_dimension,
    fit_scores,
)
from posenc.analysis.properties import (
    min_distance,
    max_norm,
    translation_residual,
    left_right_difference,
    monotonicity_violations,
    shift_residual,
    period,
    length_dependence,
    defined_fraction,
)
from posenc.analysis.projections import (
    FourTerms,
    four_terms,
    offset_kernel,
    pairwise_weight,
    kernel_residual,
    kernel_asymmetry,
)
from posenc.analysis.no_positions import (
    SIGNIFICANT_BITS,
    uniform_attention_std,
    first_tie,
    needle_weight,
    match_weight,
)

__all__ = [
    "FourTerms", "SIGNIFICANT_BITS", "ScoreFit", "abel_bound", "critical_dimension", "decay", "decay_law",
    "decay_logarithm", "defined_fraction", "expected_score", "fingerprint", "fingerprint_difference",
    "fingerprint_similarity", "first_tie", "fit_scores", "four_terms", "kernel_asymmetry", "kernel_residual",
    "left_right_difference", "length_dependence", "match_weight", "max_norm", "min_base", "min_distance",
    "monotonicity_violations", "needle_weight", "offset_kernel", "pairs_reaching", "pairwise_weight", "period",
    "shift_residual", "translation_residual", "uniform_attention_std", "unseen_angles",
]  # fmt: skip
