"""Numbers that decide what is said of position codes, in five parts.

    the list of frequencies       decay with distance, its law, its limits, fingerprints of a distance, the least base
    past the trained length       angles never met, the critical dimension, scores fitted and read farther out
    what a code should do         one number for each desired property of a table of codes
    after the projections         the four terms of a score, and what a matrix between two codes makes of their offset
    no code at all                how a mean over more keys blurs, and how one key drowns among many

The functions take NumPy arrays or torch tensors and answer in kind, in float64 where the device has it. Scores are
normalised so that full agreement is 1. What an argument means is the same in every function:

    offsets, first, second   distances in tokens, any finite real numbers, of any shape where none is said
    inv_freq                 frequencies, shape (dim/2,), in radians per token, none negative
    dim, base                of a list of frequencies: even and positive; finite and greater than 0
    length                   a number of tokens, at least 1; trained_length is another, and smaller
    codes                    a table of codes, shape (length, dim), the code of position t in row t
    tolerance                finite and greater than 0

A TypeError names what is no number, no array, or of another library than the rest, and a ValueError what is not finite,
out of its range or of another shape.
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
)

__all__ = [
    "SIGNIFICANT_BITS",
    "FourTerms",
    "ScoreFit",
    "abel_bound",
    "critical_dimension",
    "decay",
    "decay_law",
    "decay_logarithm",
    "defined_fraction",
    "expected_score",
    "fingerprint",
    "fingerprint_difference",
    "fingerprint_similarity",
    "first_tie",
    "fit_scores",
    "four_terms",
    "max_norm",
    "kernel_asymmetry",
    "kernel_residual",
    "min_base",
    "min_distance",
    "left_right_difference",
    "length_dependence",
    "monotonicity_violations",
    "needle_weight",
    "offset_kernel",
    "pairs_reaching",
    "pairwise_weight",
    "period",
    "shift_residual",
    "translation_residual",
    "unseen_angles",
    "uniform_attention_std",
]
