"""A small example of every figure, for the tests of each and for those of all."""

from functools import cache

import numpy as np

from posenc import bias, figures, scaling
from posenc.absolute import binary, shift_matrix, sinusoidal
from posenc.analysis import decay, four_terms
from posenc.attention import attention
from posenc.figures.findings import losses_and_biases
from posenc.frequencies import inv_freq
from posenc.rotary import rotation_matrix

DRAWN = 1 / 8192  # figures store values to 1/4096
rng = np.random.default_rng(7)
WORDS = rng.normal(size=(3, 8))
FIRST = ["dog", "bites", "man"]
CODES = {"bits": binary(np.arange(16), 4), "waves": sinusoidal(np.arange(16), 6)}
EMBEDDINGS, SCALES = rng.normal(size=(5, 512)), {"small": 0.02, "unit": 1.0, "large": 512**0.5}
RANDOM = rng.normal(size=(32, 32))
TWO_WEIGHTS = np.random.default_rng(1).normal(size=(2, 4, 4))
WEIGHTS = {"none": None, "random": RANDOM, "shift": shift_matrix(1, 32)}
SMALL_WEIGHTS = {"turn": [[1, -2], [2, 1]], "swap": [[0, 1], [1, 0]], "squeeze": [[1, 0], [0, 0.5]]}
CONTENT, PLACES, PROJECTION = rng.normal(size=(6, 16)), sinusoidal(np.arange(6), 16), np.eye(16)
FAR = np.arange(65)
METHODS = {
    "linear": scaling.linear(64, factor=4.0),
    "YaRN": scaling.yarn(64, factor=4.0, original_max_position_embeddings=2048),
}
LISTS = {"one": (512, inv_freq(64)), "two": (4096, inv_freq(128, 1e6)), "three": (4096, inv_freq(128, 1e6))}
TRAINED = {"one": (512, 47_117.0), "two": (4096, 5e6), "three": (4096, 5.1e6), "near": (4096, 47_117.0)}
ALLOWED = {"one": (8192, 47_117.0), "two": (5000, 5e6)}
LOWEST = {base: decay(np.arange(1025), inv_freq(128, base)).min() for base in (3000, 4300, 5000, 6000, 9000)}
BIASES = {
    "ALiBi": bias.alibi(-FAR[None], [0.5])[0, 0],
    "Sandwich": bias.sandwich(-FAR[None], 8)[0, 0],
    "KERPLE": bias.kerple(-FAR[None], [1.0], [1.0])[0, 0],
}
HEADS_OF_T5 = np.array([[0.5, 2.0, 1.0, -1.0, -1.0], [0.0, 1.0, 3.0, 2.0, 2.0]])
SEEDED = {
    "base 100": {
        "none": [(1.3, 1.2, 1.4), (3.0, 2.9, 3.1), (3.6, 3.5, 3.7)],
        "YaRN": [(1.3, 1.2, 1.4), (1.5, 1.4, 1.6), (2.2, 2.1, 2.5)],
    },
    "base 500": {
        "none": [(1.4, 1.4, 1.4), (2.0, 1.9, 2.1), (2.5, 2.5, 2.5)],
        "YaRN": [(1.4, 1.4, 1.4), (2.5, 2.4, 2.6), (2.7, 2.0, 3.0)],
    },
}
LOSSES = {"blind": [0.7, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5], "sees": [0.6, 0.1, 0.0]}


def weights_of(words):
    return attention(words, words, words).weights


SHARES, VALUES = np.array([0.0, 0.75, 0.25]), np.array([[9.0, 9.0], [1.0, 0.2], [0.2, -1.0]])
MASKED = attention(WORDS, WORDS, WORDS, causal=True).weights

MIXED = np.linalg.qr(np.random.default_rng(4).standard_normal((5, 5)))[0]  # axes of two planes and what stays
TURN = MIXED @ np.pad(rotation_matrix(np.array([0.3, 2.0])), (0, 1)) @ MIXED.T + np.outer(MIXED[:, 4], MIXED[:, 4])
BY_POSITION = np.array([[9.0, 5.0, 4.0, 3.0, 2.0], [7.0, 5.0, 2.0, 1.0, 2.0]])
ROUNDED = {"float32": np.float32, "float16": np.float16}
CAUGHT = {"layout": [False, True], "mixed": [True, True], "count": [False, False]}
MEASURED = {
    "text: loss": {"base 100": np.array([[1.25, 3.0], [1.5, 3.5]]), "base 10": np.array([[1.0, 2.0], [1.0, 2.5]])},
    "copying: share right": {"base 100": np.array([[1.0, 0.5], [0.75, 0.25]])},
}
NOISE = np.random.default_rng(0).standard_normal(256)
STEPS = np.array([[1.0], [0.5 + 0.5j], [2j]]) * np.exp(0.5j * np.arange(5))
CIRCLE = {"pair 1": (np.arange(4) / 4, np.array([0.0, 0.0, 0.25, 0.5])), "pair 2": (np.arange(2) / 2, np.array([0, 1]))}
EXAMINED = {
    "text, L: loss (nats)": {"a": [1.0, 2.0], "b": [2.0, 2.5], "c": [3.0, 4.0]},
    "copying: accuracy": {"a": [0.5, 0.25], "b": [0.5, 0.5], "c": [0.75, 1.0]},
}
BETTER = np.array([[0, 1, 1], [-1, 0, 0], [-1, 0, 0]])
LOOKS = {"table": [0.75, 0.75, 0.5, 0.5, 0.25, 0.25, 0, 0], "turned": [0.5] * 8}
READ = {"counted": np.linspace(0.5, 1.5, 11)[:, None] * np.array([1, 10, 200]), "blind": np.full((2, 3), 40.0)}
SCORED = np.arange(12.0).reshape(3, 4) / 8 - 0.75
SHARED_OUT = {"blocks": ([0, 0, 1], [1.0, 0.1, 0.01]), "in turn": ([0, 1, 0], [1.0, 0.1, 0.01])}
USED = {"a": np.array([3.0, 1, 1, 1]), "b": np.ones(4)}
CLOCK = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
ONE_BACK = np.array([[1.0, 0, 0], [0.75, 0.25, 0], [0, 0.875, 0.125]])
EXAMPLES = {
    "cosine_map": lambda: figures.cosine_map(65, 16, 1e4),
    "pairs_used": lambda: figures.pairs_used(USED, 1),
    "pair_cosines": lambda: figures.pair_cosines(np.arange(9), 8, 1e4, [0]),
    "decay_and_law": lambda: figures.decay_and_law(np.arange(1, 200), 8, 1e4),
    "scores_in_attention": lambda: figures.scores_in_attention(
        [1], {"a": ([1.0], [1.0], 0.8), "b": ([1.0], [1.0], 0.0)}, 8, 1e4
    ),
    "decay_for_bases": lambda: figures.decay_for_bases(np.arange(1, 9), 8, [1e4]),
    "step_sizes": lambda: figures.step_sizes([5, 10, 13, 20]),
    "encoding_tables": lambda: figures.encoding_tables(CODES),
    "texture": lambda: figures.encoding_tables({"sinusoidal": sinusoidal(np.arange(512), 768)}),
    "wavelength_ladder": lambda: figures.wavelength_ladder(512, 1e4),
    "chirps": lambda: figures.chirps([0, 4, 8, 12], 512, 1e4, 100),
    "accuracy_maps": lambda: figures.accuracy_maps(
        {"short": [[0.5, 0.25], [1.0, 0.0]], "long": [[0.5, 0.0], [0.25, 0.75]]},
        ["PI", "YaRN"],
        [1, 1000],
        "tokens back",
        0.125,
    ),
    "added_encoding": lambda: figures.added_encoding(EMBEDDINGS, sinusoidal(np.arange(5), 512), SCALES),
    "frequency_roles": lambda: figures.frequency_roles(512, 128, 1e4),
    "shifted_pairs": lambda: figures.shifted_pairs(5, 3, 64, 1e4, [0, 4, 16]),
    "inner_products": lambda: figures.inner_products(500, [32, 64, 128, 512], 1e4),
    "products_through_weights": lambda: figures.products_through_weights(
        np.arange(-20, 21), [0, 100, 200], 32, 1e4, WEIGHTS
    ),
    "projected_sum": lambda: figures.projected_sum(WORDS[:2, :4], sinusoidal([5, 3], 4), TWO_WEIGHTS),
    "rotated_and_mapped": lambda: figures.rotated_and_mapped(SMALL_WEIGHTS, 0.6),
    "block_maps": lambda: figures.block_maps({"random": RANDOM[:4, :4], "shift": shift_matrix(1, 8)}),
    "position_maps": lambda: figures.position_maps(20, 32, 1e4, WEIGHTS, trained=8),
    "score_terms": lambda: figures.score_terms(four_terms(CONTENT, CONTENT, PLACES, PLACES, PROJECTION, PROJECTION)),
    "conjugate_product": lambda: figures.conjugate_product(2 + 1j, 1 + 2j),
    "score_wave": lambda: figures.score_wave({"a": 4 - 3j, "b": 3 + 4j}, 0.16, 32),
    "paths_in_planes": lambda: figures.paths_in_planes(TURN, [1.0, 2.0, 3.0, 4.0, 5.0], 20),
    "shifted_encodings": lambda: figures.shifted_encodings({"turned": STEPS, "bent": STEPS[:, ::2]}, [0, 1, 1]),
    "complex_powers": lambda: figures.complex_powers({"turn": np.exp(0.2j), "shrink": 0.9 * np.exp(0.2j)}, 10),
    "eight_terms": lambda: figures.eight_terms([1.3, 0.4], [0.5, 1.1], 0.4, 3, 40),
    "cosine_and_sine_parts": lambda: figures.cosine_and_sine_parts([1.3, 0.4], [0.5, 1.1], 0.4, 12),
    "pair_peaks": lambda: figures.pair_peaks([1 - 2j, 0.5j], [1.0, 0.1], [0, 1], 6),
    "matrices_between_rotations": lambda: figures.matrices_between_rotations(*TWO_WEIGHTS, 7, 2, 100),
    "dimension_permutation": lambda: figures.dimension_permutation(8),
    "rotation_matrices": lambda: figures.rotation_matrices(2, 8, 1e4),
    "cumulative_losses": lambda: figures.cumulative_losses(list("a b"), {"one": [1.5, 2, 0], "two": [1.5, 3, 3]}),
    "losses_by_position": lambda: figures.losses_by_position({"one": BY_POSITION, "two": BY_POSITION + 1}),
    "angle_errors": lambda: figures.angle_errors([1, 10, 1000], ROUNDED),
    "mistakes_and_tests": lambda: figures.mistakes_and_tests(CAUGHT, ["length", "numbers"]),
    "scaling_ratios": lambda: figures.scaling_ratios(64, 1e4, 2048, METHODS),
    "over_seeds": lambda: figures.over_seeds([1, 2, 16], SEEDED, "times the length", "loss", ("cut text", [1.3, 1.4])),
    "rotations_by_model": lambda: figures.rotations_by_model(LISTS),
    "context_and_wavelength": lambda: figures.context_and_wavelength(TRAINED, ALLOWED),
    "min_scores": lambda: figures.min_scores(1024, LOWEST),
    "biases_by_distance": lambda: figures.biases_by_distance(FAR, BIASES),
    "learned_biases": lambda: figures.learned_biases([0, 1, 2, 4, 8], HEADS_OF_T5),
    "attention_reach": lambda: figures.attention_reach(
        [100, 2000], {"line": [6, 6], "logarithm": [24, 107], "level": [50, 1000]}
    ),
    "bias_maps": lambda: figures.bias_maps(
        {"line": np.subtract.outer(-np.arange(3.0), -np.arange(3)), "asked": np.arange(9.0).reshape(3, 3)}
    ),
    "transformer_xl_terms": lambda: figures.transformer_xl_terms([1, -2], [0.5, 1], [3, 0], [0.2, 0.2], [-1, 4]),
    "training_losses": lambda: figures.training_losses(LOSSES, every=10, chance=0.5),
    "transformer_block": lambda: figures.transformer_block(16, 64),
    "weighted_sum": lambda: figures.weighted_sum(["the", "cat", "sat"], SHARES, VALUES, 2, ["creature", "action"]),
    "attention_maps": lambda: figures.attention_maps(FIRST, {"open": weights_of(WORDS), "masked": MASKED}, 1),
    "score_std": lambda: figures.score_std(
        [4, 64], {"undivided": ([2.0, 8.1], [11.5, 1.8]), "divided": ([1.0, 1.01], [21.8, 20.5])}, 32
    ),
    "distance_maps": lambda: figures.distance_maps(CODES),
    "loss_past_context": lambda: figures.loss_past_context(8, 4, {"a": [2.0, 1.0, 1.5, 4.0], "b": [2.0, 1.0, 1.25]}),
    "metrics_by_length": lambda: figures.metrics_by_length([128, 256], MEASURED),
    "fitted_scores": lambda: figures.fitted_scores(NOISE, 32, 1e4, (0, 4)),
    "excess_loss_by_angle": lambda: figures.excess_loss_by_angle(CIRCLE, "nats"),
    "scores_by_cache": lambda: figures.scores_by_cache(1, {"fresh": [0.0, 1.0, 0.25], "stale": [0.25, 0.0, 0.5]}),
    "distance_and_dilution": lambda: figures.distance_and_dilution(
        8, {"as it is": (0, 1), "moved": (6, 1), "diluted": (0, 9)}
    ),
    "distance_biases": lambda: figures.distance_biases(3, {"a": [0.0, -2.0, -1.0, 0.5, 3.0]}),
    "losses_and_biases": lambda: losses_and_biases(
        8,
        {"as trained": ([2.0, 1.0, 2.5, 4.0], 4, "top center"), "held": ([1.5, 1.25], 14, "bottom left")},
        {"as trained": ([0.0, -1.0, -2.0, 0.0, 3.0], 4, "top right"), "held": ([-2.0, -2.0, -2.0], 12, "top center")},
        step=4,
        every=4,
    ),
    "benchmarks": lambda: figures.benchmarks(EXAMINED, lower_is_better=["text, L: loss (nats)"]),
    "scheme_comparison": lambda: figures.scheme_comparison(["a", "b", "c"], BETTER),
    "copy_accuracy_by_distance": lambda: figures.copy_accuracy_by_distance(
        [16, 32, 64], {"a": [1, 0.5, 0], "b": [1] * 3}, 32, 64
    ),
    "induction_circuit": lambda: figures.induction_circuit("x a b c a"),
    "position_from_weight": lambda: figures.position_from_weight([1.0, 0.5, 0.25], CLOCK[:, :2], ONE_BACK),
    "accuracy_by_length": lambda: figures.accuracy_by_length(
        [8, 16], {"none": [[1, 0.5], [0.5, 0.25]], "some": [1, 0]}, 8, 4
    ),
    "previous_token_weights": lambda: figures.previous_token_weights(range(1, 9), LOOKS),
    "attention_by_distance": lambda: figures.attention_by_distance({"one": [0.25, 0.5, 0.25], "two": [0.5, 0.25, 0]}),
    "permuted_weights": lambda: figures.permuted_weights(FIRST, [2, 1, 0], weights_of(WORDS)),
    "causal_information_flow": lambda: figures.causal_information_flow(["dog bites man", "bites dog man"]),
    "decoded_positions": lambda: figures.decoded_positions([1, 10, 200], READ),
    "patch_maps": lambda: figures.patch_maps({"sum": SCORED, "flat": np.full((3, 4), 0.5)}, (1, 2)),
    "photograph": lambda: figures.photograph({"cropped": (8, [(2, 5), (3, 5)]), "whole": (12, [(2, 5), (3, 1)])}),
    "pairs_by_axis": lambda: figures.pairs_by_axis(SHARED_OUT, ["row", "column"]),
}


@cache
def drawn(name):
    """An example, drawn once for the tests that only look at it."""
    return EXAMPLES[name]()


def title(figure):
    return figure.layout.title.text.replace("<br>", " ")


def alt(figure):
    return figure.layout.meta["alt"]
