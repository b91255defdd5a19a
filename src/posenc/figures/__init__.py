"""The book's Plotly figures: each a function from data to a figure.

Every title states the finding, with its numbers from the data; `layout.meta["alt"]` is the alternative text. The
palette is that of the explorables and works on light and dark pages; heat maps are transparent at 0.

`tests/unit/lost_figures.toml` lists which of them stand for figures that the source notes have lost.
"""

try:
    import plotly  # noqa: F401
except ModuleNotFoundError as error:
    from posenc._extras import missing

    raise missing(error, "figures") from None

from posenc.figures._drawing import PALETTE, pair_colours
from posenc.figures.attention import (
    attention_by_distance,
    attention_maps,
    causal_information_flow,
    permuted_weights,
    score_std,
    training_losses,
    transformer_block,
    weighted_sum,
)
from posenc.figures.biases import attention_reach, bias_maps, biases_by_distance, learned_biases, transformer_xl_terms
from posenc.figures.decay import (
    cosine_map,
    decay_and_law,
    decay_for_bases,
    pair_cosines,
    pairs_used,
    scores_in_attention,
)
from posenc.figures.distance_bias import distance_and_dilution, distance_biases
from posenc.figures.encodings import distance_maps, encoding_tables, step_sizes
from posenc.figures.grids import pairs_by_axis, patch_maps, photograph
from posenc.figures.length import (
    accuracy_maps,
    benchmarks,
    context_and_wavelength,
    copy_accuracy_by_distance,
    excess_loss_by_angle,
    fitted_scores,
    loss_past_context,
    metrics_by_length,
    min_scores,
    over_seeds,
    rotations_by_model,
    scaling_ratios,
    scheme_comparison,
    scores_by_cache,
)
from posenc.figures.positions import (
    accuracy_by_length,
    decoded_positions,
    induction_circuit,
    position_from_weight,
    previous_token_weights,
)
from posenc.figures.rotation import (
    angle_errors,
    complex_powers,
    conjugate_product,
    cosine_and_sine_parts,
    cumulative_losses,
    dimension_permutation,
    eight_terms,
    losses_by_position,
    matrices_between_rotations,
    mistakes_and_tests,
    pair_peaks,
    paths_in_planes,
    rotation_matrices,
    score_wave,
    shifted_encodings,
)
from posenc.figures.sinusoids import (
    added_encoding,
    block_maps,
    chirps,
    frequency_roles,
    inner_products,
    position_maps,
    products_through_weights,
    projected_sum,
    rotated_and_mapped,
    score_terms,
    shifted_pairs,
    wavelength_ladder,
)

__all__ = [
    "PALETTE", "accuracy_by_length", "accuracy_maps", "added_encoding", "angle_errors", "attention_by_distance",
    "attention_maps", "attention_reach", "benchmarks", "bias_maps", "biases_by_distance", "block_maps",
    "causal_information_flow", "chirps", "complex_powers", "conjugate_product", "context_and_wavelength",
    "copy_accuracy_by_distance", "cosine_and_sine_parts", "cosine_map", "cumulative_losses", "decay_and_law",
    "decay_for_bases", "decoded_positions", "dimension_permutation", "distance_and_dilution", "distance_biases",
    "distance_maps",
    "eight_terms", "encoding_tables", "excess_loss_by_angle", "fitted_scores", "frequency_roles",
    "induction_circuit", "inner_products", "learned_biases", "loss_past_context", "losses_by_position",
    "matrices_between_rotations", "metrics_by_length", "min_scores", "mistakes_and_tests",
    "over_seeds", "pair_colours", "pair_cosines", "pair_peaks", "pairs_by_axis", "pairs_used", "patch_maps",
    "photograph",
    "paths_in_planes", "permuted_weights", "position_from_weight", "position_maps", "previous_token_weights",
    "products_through_weights", "projected_sum", "rotated_and_mapped", "rotation_matrices",
    "rotations_by_model", "scaling_ratios", "scheme_comparison", "score_std", "score_terms", "score_wave",
    "scores_by_cache", "scores_in_attention", "shifted_encodings", "shifted_pairs",
    "step_sizes", "training_losses", "transformer_block", "transformer_xl_terms",
    "wavelength_ladder", "weighted_sum",
]  # fmt: skip
