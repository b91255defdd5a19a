"""The book's Plotly figures: each a function from data to a figure, drawn from this package's own results.

Every title states the finding and takes its numbers from the data; `layout.meta["alt"]` says the same in words for a
reader who does not see the picture. Colours come from the palette that the explorables use and can be told apart on a
light and on a dark page; heat maps fade out where they have nothing to show, on either.

Which of them stands for which figure that the source notes have lost is listed in tests/lost_figures.toml.
"""

from posenc.figures._drawing import PALETTE, pair_colours
from posenc.figures.attention import attention_maps, gathering, orders_seen, score_widths, training_losses, word_orders
from posenc.figures.biases import bias_maps, biases_by_distance, learned_biases, reaches
from posenc.figures.codes import code_tables, distance_maps, returns, step_sizes, wave_and_dial
from posenc.figures.decay import decay_and_law, decay_for_bases, scores_in_attention, waves
from posenc.figures.length import (
    cliffs,
    copying_by_distance,
    costs_on_the_circle,
    exams,
    fitted_scores,
    lowest_scores,
    model_plane,
    over_seeds,
    pairs_by_model,
    repairs,
    scaling_ratios,
    suspects,
)
from posenc.figures.places import looking_back, places_read
from posenc.figures.rotation import (
    agreement_and_side,
    angle_errors,
    conjugate_product,
    eight_terms,
    losses_so_far,
    mistakes_and_tests,
    moved_on,
    path_in_coordinates,
    paths_in_planes,
    powers,
    rotated_pairs,
    rotation_maps,
    score_wave,
    shifted_outputs,
)
from posenc.figures.sinusoids import (
    added_code,
    chirps,
    frequency_roles,
    inner_products,
    position_maps,
    products_through_weights,
    score_terms,
    shifted_hands,
    wavelength_ladder,
)

__all__ = [
    "PALETTE",
    "added_code",
    "agreement_and_side",
    "angle_errors",
    "attention_maps",
    "bias_maps",
    "biases_by_distance",
    "chirps",
    "cliffs",
    "code_tables",
    "conjugate_product",
    "copying_by_distance",
    "costs_on_the_circle",
    "decay_and_law",
    "decay_for_bases",
    "distance_maps",
    "eight_terms",
    "exams",
    "fitted_scores",
    "frequency_roles",
    "gathering",
    "inner_products",
    "learned_biases",
    "looking_back",
    "losses_so_far",
    "lowest_scores",
    "mistakes_and_tests",
    "model_plane",
    "moved_on",
    "orders_seen",
    "over_seeds",
    "pair_colours",
    "pairs_by_model",
    "path_in_coordinates",
    "paths_in_planes",
    "places_read",
    "position_maps",
    "powers",
    "products_through_weights",
    "reaches",
    "repairs",
    "returns",
    "rotated_pairs",
    "rotation_maps",
    "scaling_ratios",
    "score_terms",
    "score_wave",
    "score_widths",
    "scores_in_attention",
    "shifted_hands",
    "shifted_outputs",
    "step_sizes",
    "suspects",
    "training_losses",
    "wave_and_dial",
    "wavelength_ladder",
    "waves",
    "word_orders",
]
