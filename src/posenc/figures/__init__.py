"""The book's Plotly figures: each a function from data to a figure, drawn from this package's own results.

Every title states the finding and takes its numbers from the data; `layout.meta["alt"]` says the same in words for a
reader who does not see the picture. Colours come from the palette that the explorables use and can be told apart on a
light and on a dark page; heat maps fade out where they have nothing to show, on either.

Which of them stands for which figure that the source notes have lost is listed in tests/unit/lost_figures.toml.
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
    gathering,
    gossip,
    orders_seen,
    permuted,
    score_widths,
    training_losses,
)
from posenc.figures.biases import bias_maps, biases_by_distance, learned_biases, reaches, terms_multiplied
from posenc.figures.codes import code_tables, distance_maps, slopes, step_sizes
from posenc.figures.decay import cosine_map, decay_and_law, decay_for_bases, hands_used, scores_in_attention, waves
from posenc.figures.grids import pairs_by_axis, patch_maps
from posenc.figures.length import (
    cliffs,
    copying_by_distance,
    costs_on_the_circle,
    exams,
    fitted_scores,
    lowest_scores,
    model_plane,
    order_of_schemes,
    over_seeds,
    pairs_by_model,
    scaling_ratios,
    scores_of_caches,
)
from posenc.figures.places import (
    clock_from_share,
    copying_circuit,
    found_by_length,
    looking_back,
    places_read,
)
from posenc.figures.rotation import (
    agreement_and_side,
    angle_errors,
    between_the_turns,
    conjugate_product,
    eight_terms,
    head_agreement_and_side,
    losses_so_far,
    mistakes_and_tests,
    moved_on,
    order_of_pairs,
    pair_peaks,
    paths_in_planes,
    powers,
    rotated_pairs,
    rotation_maps,
    score_wave,
    shifted_outputs,
)
from posenc.figures.sinusoids import (
    added_code,
    block_maps,
    chirps,
    frequency_roles,
    inner_products,
    position_maps,
    products_through_weights,
    projected_sum,
    score_terms,
    shifted_hands,
    turned_and_mapped,
    wavelength_ladder,
)
from posenc.figures.stages import mean_waves, staged_texts

__all__ = [
    "PALETTE",
    "added_code",
    "agreement_and_side",
    "angle_errors",
    "attention_maps",
    "between_the_turns",
    "bias_maps",
    "biases_by_distance",
    "block_maps",
    "chirps",
    "cliffs",
    "clock_from_share",
    "code_tables",
    "conjugate_product",
    "copying_by_distance",
    "copying_circuit",
    "cosine_map",
    "costs_on_the_circle",
    "decay_and_law",
    "decay_for_bases",
    "distance_maps",
    "eight_terms",
    "exams",
    "fitted_scores",
    "found_by_length",
    "frequency_roles",
    "gathering",
    "hands_used",
    "head_agreement_and_side",
    "inner_products",
    "learned_biases",
    "looking_back",
    "losses_so_far",
    "lowest_scores",
    "mean_waves",
    "mistakes_and_tests",
    "model_plane",
    "moved_on",
    "order_of_pairs",
    "order_of_schemes",
    "orders_seen",
    "over_seeds",
    "pair_colours",
    "pair_peaks",
    "pairs_by_axis",
    "pairs_by_model",
    "patch_maps",
    "paths_in_planes",
    "places_read",
    "position_maps",
    "powers",
    "products_through_weights",
    "projected_sum",
    "reaches",
    "rotated_pairs",
    "rotation_maps",
    "scaling_ratios",
    "score_terms",
    "score_wave",
    "score_widths",
    "scores_in_attention",
    "scores_of_caches",
    "shifted_hands",
    "shifted_outputs",
    "step_sizes",
    "staged_texts",
    "terms_multiplied",
    "training_losses",
    "turned_and_mapped",
    "wavelength_ladder",
    "waves",
    "attention_by_distance",
    "gossip",
    "permuted",
    "slopes",
]
