"""posenc.figures: what is drawn is what the package computes, titles state it, and colours hold on both themes."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from posenc import bias, figures, scaling
from posenc.absolute import binary, normalised, shift_matrix, sinusoidal
from posenc.analysis import (
    decay,
    decay_law,
    expected_score,
    fingerprint,
    fit_scores,
    four_terms,
    kernel_residual,
    offset_kernel,
    pairwise_weight,
)
from posenc.attention import attention
from posenc.figures import _drawing
from posenc.frequencies import inv_freq, wavelengths
from posenc.rotary import rotation_matrix

DRAWN = 1 / 8192  # figures store values to 1/4096
LIGHT, DARK = "#ffffff", "#121212"


def luminance(colour: str) -> float:
    channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(
    "colour", [c for value in figures.PALETTE.values() for c in (value if isinstance(value, list) else [value])]
)
def test_every_colour_stands_out_on_both_themes(colour):
    for ground in (LIGHT, DARK):
        dark, bright = sorted([luminance(colour), luminance(ground)])
        assert (bright + 0.05) / (dark + 0.05) >= 3, f"{colour} on {ground}"


def test_waves():
    figure = figures.waves(np.arange(257), dim=64, base=500.0, pairs=[0, 31])
    fast, slow, mean = (trace.y for trace in figure.data)
    np.testing.assert_allclose(fast, np.cos(np.arange(257)), atol=DRAWN)
    np.testing.assert_allclose(slow, np.cos(np.arange(257) * inv_freq(64, 500.0)[31]), atol=DRAWN)
    np.testing.assert_allclose(mean, decay(np.arange(257), inv_freq(64, 500.0)), atol=DRAWN)
    late = decay(np.arange(192, 257), inv_freq(64, 500.0)).mean()
    assert f"falls from 1 to about {late:.1f}" in figure.layout.title.text


def test_decay_and_law():
    figure = figures.decay_and_law(np.arange(1, 2001), dim=128, base=1e4)
    score, law, logarithm = figure.data
    np.testing.assert_allclose(score.y, decay(np.arange(1, 2001), inv_freq(128)), atol=DRAWN)
    np.testing.assert_allclose(law.y, decay_law(law.x, 1e4), atol=DRAWN)
    assert (law.x[0], law.x[-1]) == (1, 2000)
    assert score.x0 == 1
    np.testing.assert_allclose(logarithm.y, 1 - (np.log(logarithm.x) + np.euler_gamma) / np.log(1e4), atol=DRAWN)
    assert 10 <= logarithm.x[0] < logarithm.x[-1] <= 1000
    assert "0.25 for every tenfold distance" in figure.layout.title.text


def test_cosine_map():
    figure = figures.cosine_map(257, dim=64, base=500.0)
    table, mean = figure.data
    assert np.shape(table.z) == (32, 257)
    np.testing.assert_allclose(table.z[0], np.cos(np.arange(257)), atol=DRAWN)
    np.testing.assert_allclose(table.z[31], np.cos(np.arange(257) * inv_freq(64, 500.0)[31]), atol=DRAWN)
    np.testing.assert_allclose(mean.y, decay(np.arange(257), inv_freq(64, 500.0)), atol=DRAWN)
    late = decay(np.arange(192, 257), inv_freq(64, 500.0)).mean()
    assert title(figure) == f"No row fades; the mean of all 32 falls from 1 to about {late:.1f}"
    assert figure.layout.yaxis.autorange == "reversed"  # the fastest on top


def test_hands_used():
    figure = EXAMPLES["hands_used"]()
    for table, found in zip(figure.data, USED.values(), strict=True):
        np.testing.assert_allclose(table.z, np.abs(found).reshape(4, 4), atol=DRAWN)
    assert list(figure.layout.yaxis.ticktext)[1:3] == ["layer 1, head 2", "layer 2, head 1"]
    assert title(figure).startswith("The 1 fastest hands carry 50% in layer 1, 25% in layer 2 (a); 25% in layer 1")
    assert {line.x0 for line in figure.layout.shapes} == {0.5}


@pytest.mark.parametrize("fast", [0, 4])
def test_hands_used_has_more_pairs_than_the_fast_ones(fast):
    with pytest.raises(ValueError, match="more pairs than"):
        figures.hands_used(USED, fast)


def test_scores_in_attention():
    measured = {"aligned": ([90.0, 40.0], [13.0, 12.0], 0.8), "unrelated": ([0.0, 0.0], [11.0, 11.0], 0.0)}
    figure = figures.scores_in_attention([1, 100], measured, dim=128, base=1e4)
    exact = [trace for trace in figure.data if trace.mode != "markers"]
    points = [trace for trace in figure.data if trace.mode == "markers"]
    np.testing.assert_allclose(exact[0].y, expected_score(np.arange(1, 101), inv_freq(128), 0.8)[0], atol=DRAWN)
    assert [list(trace.y) for trace in points] == [[90, 40], [0, 0]]
    assert "aligned: mean 90 to 40, spread 13 to 12" in figure.layout.meta["alt"]


def test_decay_for_bases():
    figure = figures.decay_for_bases(np.arange(1, 513), dim=128, bases=[10, 1e6])
    for trace, base in zip(figure.data, (10, 1e6), strict=True):
        np.testing.assert_allclose(trace.y, decay(np.arange(1, 513), inv_freq(128, base)), atol=DRAWN)
    assert "base 10 at 5; never by 512 for 1e+06" in figure.layout.meta["alt"]


def test_every_figure_has_words_and_axis_units():
    for figure in (
        figures.waves(np.arange(9), 8, 1e4, [0]),
        figures.decay_and_law(np.arange(1, 200), 8, 1e4),
        figures.decay_for_bases(np.arange(1, 9), 8, [1e4]),
        figures.scores_in_attention([1], {"a": ([1.0], [1.0], 0.8), "b": ([1.0], [1.0], 0.0)}, 8, 1e4),
    ):
        assert len(figure.layout.meta["alt"]) > len(figure.layout.title.text)
        assert any(axis.title.text == "distance Δ (tokens)" for axis in figure.select_xaxes())


# ---------------------------------------------------------------------------------------------------------------------
# Every figure on a small example

rng = np.random.default_rng(7)
WORDS = rng.normal(size=(3, 8))
FIRST, SECOND, ORDER = ["dog", "bites", "man"], ["man", "bites", "dog"], [2, 1, 0]
CODES = {"bits": binary(np.arange(16), 4), "waves": sinusoidal(np.arange(16), 6)}
EMBEDDINGS, SCALES = rng.normal(size=(5, 512)), {"small": 0.02, "unit": 1.0, "large": 512**0.5}
RANDOM = rng.normal(size=(32, 32))
TWO_WEIGHTS = np.random.default_rng(1).normal(size=(2, 4, 4))
WEIGHTS = {"none": None, "random": RANDOM, "shift": shift_matrix(1, 32)}
SMALL_WEIGHTS = {"turn": [[1, -2], [2, 1]], "swap": [[0, 1], [1, 0]], "squeeze": [[1, 0], [0, 0.5]]}
CONTENT, PLACES, PROJECTION = rng.normal(size=(6, 16)), sinusoidal(np.arange(6), 16), np.eye(16)
Q, K = [1.0, 0.5, 0.2, 1.0], [0.3, 1.0, 0.8, -0.4]
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
FIVE = np.arange(5.0)[:, None] * [1.0, 2.0, 2.0]
READINGS = {"nothing": np.ones((5, 3)), "two groups": FIVE[[0, 1, 1, 0, 1]], "everything": FIVE}
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
    "text: loss (nats)": {"a": (1.5, 1.0, 2.0), "b": (2.0, 1.5, 2.5), "c": (3.5, 3.0, 4.0)},
    "copying: share": {"a": (0.5, 0.5, 0.5), "b": (0.5, 0.25, 0.5), "c": (0.75, 0.75, 1.0)},
}
LEVEL = {"text: loss (nats)": ["a", "b"], "copying: share": {"c"}}
BETTER = np.array([[0, 1, 1], [-1, 0, 0], [-1, 0, 0]])
REPAIRED = {
    "text: loss": {
        "a": {"cut": [1.0, 1.5], "as trained": [3.0, 3.5], "both": [2.0]},
        "b": {"cut": [1], "as trained": [2], "both": [4]},
    }
}
LOOKS = {"table": [0.75, 0.75, 0.5, 0.5, 0.25, 0.25, 0, 0], "turned": [0.5] * 8}
READ = {"counted": np.linspace(0.5, 1.5, 11)[:, None] * np.array([1, 10, 200]), "blind": np.full((2, 3), 40.0)}
LOUD = np.full((2, 2, 4), 2j)
SCORED = np.arange(12.0).reshape(3, 4) / 8 - 0.75
SHARED_OUT = {"blocks": ([0, 0, 1], [1.0, 0.1, 0.01]), "in turn": ([0, 1, 0], [1.0, 0.1, 0.01])}
USED = {"a": LOUD * np.array([[[3, 1, 1, 1]], [[1, 1, 1, 1]]]), "b": LOUD}
CLOCK = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
ONE_BACK = np.array([[1.0, 0, 0], [0.75, 0.25, 0], [0, 0.875, 0.125]])
EXAMPLES = {
    "cosine_map": lambda: figures.cosine_map(65, 16, 1e4),
    "hands_used": lambda: figures.hands_used(USED, 1),
    "waves": lambda: figures.waves(np.arange(9), 8, 1e4, [0]),
    "decay_and_law": lambda: figures.decay_and_law(np.arange(1, 200), 8, 1e4),
    "scores_in_attention": lambda: figures.scores_in_attention(
        [1], {"a": ([1.0], [1.0], 0.8), "b": ([1.0], [1.0], 0.0)}, 8, 1e4
    ),
    "decay_for_bases": lambda: figures.decay_for_bases(np.arange(1, 9), 8, [1e4]),
    "word_orders": lambda: figures.word_orders(FIRST, weights_of(WORDS), SECOND, weights_of(WORDS[ORDER])),
    "step_sizes": lambda: figures.step_sizes([5, 10, 13, 20]),
    "code_tables": lambda: figures.code_tables(CODES),
    "texture": lambda: figures.code_tables({"sinusoidal": sinusoidal(np.arange(512), 768)}),
    "wavelength_ladder": lambda: figures.wavelength_ladder(512, 1e4),
    "chirps": lambda: figures.chirps([0, 4, 8, 12], 512, 1e4, 100),
    "added_code": lambda: figures.added_code(EMBEDDINGS, sinusoidal(np.arange(5), 512), SCALES),
    "frequency_roles": lambda: figures.frequency_roles(512, 128, 1e4),
    "shifted_hands": lambda: figures.shifted_hands(5, 3, 64, 1e4, [0, 4, 16]),
    "inner_products": lambda: figures.inner_products(500, [32, 64, 128, 512], 1e4),
    "products_through_weights": lambda: figures.products_through_weights(
        np.arange(-20, 21), [0, 100, 200], 32, 1e4, WEIGHTS
    ),
    "projected_sum": lambda: figures.projected_sum(WORDS[:2, :4], sinusoidal([5, 3], 4), TWO_WEIGHTS),
    "turned_and_mapped": lambda: figures.turned_and_mapped(SMALL_WEIGHTS, 0.6),
    "block_maps": lambda: figures.block_maps({"random": RANDOM[:4, :4], "shift": shift_matrix(1, 8)}),
    "position_maps": lambda: figures.position_maps(20, 32, 1e4, WEIGHTS, trained=8),
    "score_terms": lambda: figures.score_terms(four_terms(CONTENT, CONTENT, PLACES, PLACES, PROJECTION, PROJECTION)),
    "rotated_pairs": lambda: figures.rotated_pairs(Q, K, 5, 2, 100.0),
    "conjugate_product": lambda: figures.conjugate_product(2 + 1j, 1 + 2j),
    "score_wave": lambda: figures.score_wave({"a": 4 - 3j, "b": 3 + 4j}, 0.16, 32),
    "path_in_coordinates": lambda: figures.path_in_coordinates(TURN, [1.0, 2.0, 3.0, 4.0, 5.0], 20),
    "paths_in_planes": lambda: figures.paths_in_planes(TURN, [1.0, 2.0, 3.0, 4.0, 5.0], 20),
    "moved_on": lambda: figures.moved_on({"turned": STEPS, "bent": STEPS[:, ::2]}, [0, 1, 1]),
    "powers": lambda: figures.powers({"turn": np.exp(0.2j), "shrink": 0.9 * np.exp(0.2j)}, 10),
    "eight_terms": lambda: figures.eight_terms([1.3, 0.4], [0.5, 1.1], 0.4, 3, 40),
    "agreement_and_side": lambda: figures.agreement_and_side([1.3, 0.4], [0.5, 1.1], 0.4, 12),
    "head_agreement_and_side": lambda: figures.head_agreement_and_side([1 - 2j, 0.5], [1.0, 0.1], 6),
    "pair_peaks": lambda: figures.pair_peaks([1 - 2j, 0.5j], [1.0, 0.1], [0, 1], 6),
    "between_the_turns": lambda: figures.between_the_turns(*TWO_WEIGHTS, 7, 2, 100),
    "order_of_pairs": lambda: figures.order_of_pairs(8),
    "shifted_outputs": lambda: figures.shifted_outputs([1, 1000], {"turned": [0.0, 0.0], "added": [0.25, 0.5]}),
    "rotation_maps": lambda: figures.rotation_maps(2, 8, 1e4),
    "losses_so_far": lambda: figures.losses_so_far(list("a b"), {"one": [1.5, 2, 0], "two": [1.5, 3, 3]}),
    "angle_errors": lambda: figures.angle_errors([1, 10, 1000], ROUNDED),
    "mistakes_and_tests": lambda: figures.mistakes_and_tests(CAUGHT, ["length", "hand"]),
    "scaling_ratios": lambda: figures.scaling_ratios(64, 1e4, 2048, METHODS),
    "over_seeds": lambda: figures.over_seeds([1, 2, 16], SEEDED, "times the length", "loss", ("cut text", [1.3, 1.4])),
    "pairs_by_model": lambda: figures.pairs_by_model(LISTS),
    "model_plane": lambda: figures.model_plane(TRAINED, ALLOWED),
    "lowest_scores": lambda: figures.lowest_scores(1024, LOWEST),
    "biases_by_distance": lambda: figures.biases_by_distance(FAR, BIASES),
    "learned_biases": lambda: figures.learned_biases([0, 1, 2, 4, 8], HEADS_OF_T5),
    "reaches": lambda: figures.reaches([100, 2000], {"line": [6, 6], "logarithm": [24, 107], "level": [50, 1000]}),
    "bias_maps": lambda: figures.bias_maps(
        {"line": np.subtract.outer(-np.arange(3.0), -np.arange(3)), "asked": np.arange(9.0).reshape(3, 3)}
    ),
    "terms_multiplied": lambda: figures.terms_multiplied([1, -2], [0.5, 1], [3, 0], [0.2, 0.2], [-1, 4]),
    "orders_seen": lambda: figures.orders_seen(READINGS),
    "training_losses": lambda: figures.training_losses(LOSSES, every=10, chance=0.5),
    "gathering": lambda: figures.gathering(["the", "cat", "sat"], SHARES, VALUES, 2, ["creature", "action"]),
    "attention_maps": lambda: figures.attention_maps(FIRST, {"open": weights_of(WORDS), "masked": MASKED}, 1),
    "score_widths": lambda: figures.score_widths(
        [4, 64], {"undivided": ([2.0, 8.1], [11.5, 1.8]), "divided": ([1.0, 1.01], [21.8, 20.5])}, 32
    ),
    "distance_maps": lambda: figures.distance_maps(CODES),
    "wave_and_dial": lambda: figures.wave_and_dial(0.5, 12),
    "returns": lambda: figures.returns({"one": [1.0], "halves": [1.0, 0.5, 0.25]}, 100),
    "cliffs": lambda: figures.cliffs([128, 256], MEASURED),
    "suspects": lambda: figures.suspects(
        [128, 256], {"text: loss": {"a": [1.0, 2.0], "b": [1.0, 1.5], "real": [1, 3]}}
    ),
    "fitted_scores": lambda: figures.fitted_scores(NOISE, 32, 1e4, (0, 4)),
    "costs_on_the_circle": lambda: figures.costs_on_the_circle(CIRCLE, "nats"),
    "scores_of_caches": lambda: figures.scores_of_caches(1, {"fresh": [0.0, 1.0, 0.25], "stale": [0.25, 0.0, 0.5]}),
    "staged_texts": lambda: figures.staged_texts(8, {"as it is": (0, 1), "moved": (6, 1), "crowded": (0, 9)}),
    "mean_waves": lambda: figures.mean_waves(3, {"a": [0.0, -2.0, -1.0, 0.5, 3.0]}),
    "repairs": lambda: figures.repairs(REPAIRED),
    "exams": lambda: figures.exams(EXAMINED, LEVEL, less_is_better=["text: loss (nats)"]),
    "order_of_schemes": lambda: figures.order_of_schemes(["a", "b", "c"], BETTER),
    "copying_by_distance": lambda: figures.copying_by_distance([16, 32, 64], {"a": [1, 0.5, 0], "b": [1] * 3}, 32, 64),
    "copying_circuit": lambda: figures.copying_circuit("x a b c a"),
    "clock_from_share": lambda: figures.clock_from_share([1.0, 0.5, 0.25], CLOCK[:, :2], ONE_BACK),
    "found_by_length": lambda: figures.found_by_length(
        [8, 16], {"none": [[1, 0.5], [0.5, 0.25]], "some": [1, 0]}, 8, 4
    ),
    "looking_back": lambda: figures.looking_back(range(1, 9), LOOKS),
    "attention_by_distance": lambda: figures.attention_by_distance({"one": [0.25, 0.5, 0.25], "two": [0.5, 0.25, 0]}),
    "permuted": lambda: figures.permuted(FIRST, [2, 1, 0], weights_of(WORDS)),
    "gossip": lambda: figures.gossip(["dog bites man", "bites dog man"]),
    "slopes": lambda: figures.slopes({"powers": [1.0, 0.1, 0.01], "one": [1.0]}, 100),
    "places_read": lambda: figures.places_read([1, 10, 200], READ),
    "patch_maps": lambda: figures.patch_maps({"sum": SCORED, "flat": np.full((3, 4), 0.5)}, (1, 2)),
    "pairs_by_axis": lambda: figures.pairs_by_axis(SHARED_OUT, ["row", "column"]),
}
EVERY = pytest.mark.parametrize("name", EXAMPLES)


@cache
def drawn(name):
    """An example, drawn once for the tests that only look at it."""
    return EXAMPLES[name]()


def title(figure):
    return figure.layout.title.text.replace("<br>", " ")


def alt(figure):
    return figure.layout.meta["alt"]


def test_every_figure_has_an_example():
    public = {name for name in figures.__all__ if callable(getattr(figures, name))}
    assert public - {"pair_colours"} == set(EXAMPLES) - {"texture"}


@EVERY
def test_titles_fit_and_alternative_texts_say_more(name):
    figure = drawn(name)
    assert alt(figure).startswith(title(figure))
    assert len(alt(figure)) > len(title(figure)) + 10
    if name not in ("waves", "decay_and_law", "scores_in_attention", "decay_for_bases"):
        assert all(len(line) <= 75 for line in figure.layout.title.text.split("<br>"))


@EVERY
def test_axes_are_named(name):
    figure = drawn(name)
    assert any(axis.title.text for axis in figure.select_xaxes())
    if name not in ("waves", "decay_for_bases"):  # S and cosines, as titles of rows and of the figure say
        assert any(axis.title.text for axis in figure.select_yaxes())


@EVERY
def test_a_figure_is_the_same_every_time_and_small(name):
    text = drawn(name).to_json()
    assert text == EXAMPLES[name]().to_json()
    assert len(text) <= 400_000


@cache
def scale():
    return {colour for pairs in (4, 32, 64, 256) for colour in figures.pair_colours(pairs)}


@EVERY
def test_colours_are_those_of_the_palette(name):
    figure = drawn(name).to_dict()
    del figure["layout"]["template"]
    whole = {c for value in figures.PALETTE.values() for c in (value if isinstance(value, list) else [value])}
    faded = {tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5)) for colour in whole}
    text = repr(figure)
    assert set(re.findall(r"#[0-9a-fA-F]{6}\b", text)) <= whole
    assert {tuple(map(int, found)) for found in re.findall(r"rgba\((\d+), (\d+), (\d+)", text)} <= faded
    assert set(re.findall(r"rgb\([^)]*\)", text)) <= scale()
    assert re.findall(r"#[0-9a-fA-F]{6}\b|rgba?\(", text)


@pytest.mark.parametrize("ground", [LIGHT, DARK])
def test_colours_between_those_of_the_scale_stand_out_too(ground):
    for colour in figures.pair_colours(64):
        levels = [round(float(level)) for level in re.findall(r"[\d.]+", colour)]
        dark, bright = sorted([luminance("#{:02x}{:02x}{:02x}".format(*levels)), luminance(ground)])
        assert (bright + 0.05) / (dark + 0.05) >= 3, colour


# ---------------------------------------------------------------------------------------------------------------------
# What each of them draws


def test_pairs_by_model():
    figure = EXAMPLES["pairs_by_model"]()
    for row, (trace, (length, frequencies)) in enumerate(zip(figure.data, LISTS.values(), strict=True)):
        np.testing.assert_allclose(trace.x, length * frequencies / (2 * np.pi), rtol=1e-6)
        assert set(trace.y) == {row}
        assert list(trace.marker.color) == figures.pair_colours(len(frequencies))
    short = [np.sum(length * frequencies < 2 * np.pi) for length, frequencies in LISTS.values()]
    assert title(figure).endswith(f"from {short[0]} of 32 (one) to {short[1]} of 64 (two)")
    assert short[0] / 32 < short[1] / 64 == short[2] / 64  # the first of equals is named
    assert list(figure.layout.yaxis.ticktext) == list(LISTS)
    assert "two 652 to 0.00081 turns in 4\u202f096 tokens" in alt(figure)


def test_patch_maps():
    figure = EXAMPLES["patch_maps"]()
    table, flat = (trace for trace in figure.data if trace.type == "heatmap")
    np.testing.assert_allclose(table.z, SCORED, atol=DRAWN)
    assert np.ptp(flat.z) == 0
    assert [(trace.x[0], trace.y[0]) for trace in figure.data if trace.type == "scatter"] == [(2, 1)] * 2
    assert title(figure) == "One patch to the right and one below: 0.13 and 0.50 (sum), 0.50 and 0.50 (flat)"
    assert figure.layout.coloraxis.cmin == -figure.layout.coloraxis.cmax == -0.75
    assert {axis.autorange for axis in figure.select_yaxes()} == {"reversed"}  # the first row on top
    assert "3 by 4 patches; the query, marked, stands at row 1, column 2" in alt(figure)
    assert figures.patch_maps({"weights": np.eye(3)}, (0, 0)).layout.coloraxis.cmin == 0


def test_pairs_by_axis():
    figure = EXAMPLES["pairs_by_axis"]()
    rows = [trace.x for trace in figure.data]
    for found, speeds in zip(rows, ([1, 0.1], [0.01], [1, 0.01], [0.1]), strict=True):
        np.testing.assert_allclose(found, 2 * np.pi / np.array(speeds), rtol=1e-6)
    assert list(figure.layout.yaxis.ticktext) == ["blocks: row", "blocks: column", "in turn: row", "in turn: column"]
    colours = figures.pair_colours(3)
    assert [list(trace.marker.color) for trace in figure.data] == [
        colours[:2], [colours[2]], [colours[0], colours[2]], [colours[1]],
    ]  # fmt: skip
    assert "6 (row), 628 (column) blocks; 6 (row), 63 (column) in turn" in title(figure)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.patch_maps({"a": np.eye(3), "b": np.eye(4)}, (0, 0)), "maps must all have one shape"),
        (lambda: figures.patch_maps({"a": np.eye(3)}, (2, 0)), "query must have a patch to the right and one below"),
        (lambda: figures.patch_maps({"a": np.full((3, 3), np.inf)}, (0, 0)), r"maps\['a'\] must be finite"),
        (lambda: figures.pairs_by_axis({"a": ([0, 1], [1.0])}, ["x", "y"]), "a positive frequency for each pair"),
        (lambda: figures.pairs_by_axis({"a": ([0, 0], [1.0, 1.0])}, ["x", "y"]), r"got none for \['y'\]"),
    ],
)
def test_grids_refuse_what_does_not_fit(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_model_plane():
    figure = EXAMPLES["model_plane"]()
    *ways, diagonal, points, ends = figure.data
    for way, name in zip(ways, ALLOWED, strict=True):
        assert list(zip(way.x, way.y, strict=True)) == [TRAINED[name], ALLOWED[name]]
    assert list(diagonal.x) == list(diagonal.y)
    assert dict(zip(zip(points.x, points.y, strict=True), points.text, strict=True)) == {
        TRAINED["one"]: "one", TRAINED["two"]: "two<br>three", TRAINED["near"]: "near"
    }  # fmt: skip
    assert list(ends.text) == ["one", ""]  # the second moved so little that its name stands already
    span = f"{4096 / 5.1e6:.2g} (three) to 0.087 (near)"
    assert title(figure) == f"None of 4 slowest pairs made a full turn within the trained length: {span}"
    assert "1 of 1 slowest pairs" in title(figures.model_plane({"a": (100, 50.0)}, {}))
    *ways, _, points, ends = figures.model_plane(TRAINED, ALLOWED | {"told by none": (131_072, 188.0)}).data
    assert [way.name for way in ways] == list(ALLOWED)
    assert "told by none" in ends.text
    assert len(points.x) == 3
    crowd = {"low": (4096, 5e4), "high": (4096, 6e5), "right": (8192, 6e4)}
    ends = {"above": (9e4, 3e6), "below": (1e5, 2e6), "far": (1e5, 1e8)}
    *_, points, circles = figures.model_plane(crowd, ends).data
    sides = dict(zip((*points.text, *circles.text), (*points.textposition, *circles.textposition), strict=True))
    assert sides["high"] == "top center"
    assert sides["low"] != sides["right"]
    assert sides["low"] == "bottom center"
    assert [sides[name] for name in ends] == ["middle right", "bottom right", "middle right"]


def test_lowest_scores():
    figure = EXAMPLES["lowest_scores"]()
    law, passes, fails = figure.data
    np.testing.assert_allclose(law.y, [decay_law(1024, base) for base in LOWEST], atol=DRAWN)
    for trace, passing in ((passes, True), (fails, False)):
        bases = [base for base, least in LOWEST.items() if (least >= 0) == passing]
        assert list(trace.x) == bases
        np.testing.assert_allclose(trace.y, [LOWEST[base] for base in bases], atol=DRAWN)
    bad = [base for base in LOWEST if base > 4300 and LOWEST[base] < 0]
    assert passes.x[0] == 4300
    assert f"base 4\u202f300 is the first that passes, and {len(bad)} larger" in title(figure)
    assert "and so do all above it" in title(figures.lowest_scores(9, {2.0: -0.1, 3.0: 0.0, 4.0: 0.1}))
    assert "falls below 0 for each" in title(figures.lowest_scores(9, {2.0: -0.1}))


def test_word_orders_draws_both_matrices():
    figure = EXAMPLES["word_orders"]()
    first, second = (trace for trace in figure.data if trace.type == "heatmap")
    np.testing.assert_allclose(first.z, weights_of(WORDS), atol=DRAWN)
    np.testing.assert_allclose(second.z, first.z[np.ix_(ORDER, ORDER)], atol=2 * DRAWN)
    assert title(figure) == "Another order moves the weights with their words and changes none"
    assert list(figure.layout.xaxis.ticktext) == list(figure.layout.yaxis.ticktext) == FIRST
    assert list(figure.layout.xaxis2.ticktext) == list(figure.layout.yaxis2.ticktext) == SECOND
    assert figure.layout.yaxis2.side == "right"  # on a phone they would cover the first matrix
    texts = next(trace for trace in figure.data if trace.type == "scatter")
    assert texts.text[1] == f"{weights_of(WORDS)[0, 1]:.2f}"
    assert (texts.x[1], texts.y[1]) == (1, 0)  # the key across, the query down


def test_word_orders_says_by_how_much_weights_change():
    codes = sinusoidal(np.arange(3), 8)
    first, second = weights_of(WORDS + codes), weights_of(WORDS[ORDER] + codes)
    figure = figures.word_orders(FIRST, first, SECOND, second)
    assert f"by up to {np.abs(second - first[np.ix_(ORDER, ORDER)]).max():.2f}" in title(figure)
    assert f"dog looks at dog most, {first[0, 0]:.2f}" in alt(figure)


def test_word_orders_takes_a_repeated_word_to_keep_its_turn():
    words = rng.normal(size=(3, 8))[[0, 1, 0, 2]]
    order = [3, 0, 1, 2]
    first, second = weights_of(words), weights_of(words[order])
    figure = figures.word_orders(["a", "b", "a", "c"], first, ["c", "a", "b", "a"], second)
    assert "changes none" in title(figure)


def test_step_sizes():
    figure = EXAMPLES["step_sizes"]()
    for length, ruler, step in zip([5, 10, 13, 20], figure.data[::2], figure.data[1::2], strict=True):
        np.testing.assert_allclose(ruler.x, normalised(np.arange(length), length, 1)[:, 0], atol=DRAWN)
        np.testing.assert_allclose(step.x, [0, 1 / length], atol=DRAWN)
    assert "0.200 in a text of 5 tokens and 0.050 in one of 20" in title(figure)
    assert [label.text for label in figure.layout.annotations][2] == f"one step: {1 / 13:.3f}"


def test_code_tables_small():
    figure = EXAMPLES["code_tables"]()
    for trace, code in zip(figure.data, CODES.values(), strict=True):
        np.testing.assert_allclose(trace.z, code, atol=DRAWN)
        np.testing.assert_array_equal(trace.x, np.arange(code.shape[1]))
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-1, 1)
    assert figure.layout.yaxis.autorange == "reversed"  # position 0 on top
    wave = np.sin(np.arange(16)) > 0
    changes = np.count_nonzero(wave[1:] != wave[:-1])
    assert f"15 times and the last once in bits; {changes} times and the last never in waves" in title(figure)
    assert "Different rows: 16 in bits, 16 in waves" in alt(figure)


def test_code_tables_of_one_sign_start_at_no_colour():
    figure = figures.code_tables({"bits": CODES["bits"]})
    scale = figure.layout.coloraxis
    assert (scale.cmin, scale.cmax, scale.colorscale[0][0]) == (0, 1, 0)
    assert scale.colorscale[0][1].endswith(", 0)")


def test_code_tables_large():
    figure, code = EXAMPLES["texture"](), sinusoidal(np.arange(512), 768)
    (trace,) = figure.data
    assert np.asarray(trace.z).dtype == np.uint8
    columns = np.asarray(trace.x)
    np.testing.assert_array_equal(columns[:4], [0, 1, 8, 9])  # every fourth pair
    np.testing.assert_allclose(np.asarray(trace.z) / 127.5 - 1, code[:, columns], atol=1 / 254)
    ticks = figure.layout.coloraxis.colorbar
    assert list(zip(ticks.tickvals, ticks.ticktext, strict=True)) == [(0, "−1.0"), (127.5, "0.0"), (255, "1.0")]
    changes = np.count_nonzero((np.sin(np.arange(512)) > 0)[1:] != (np.sin(np.arange(512)) > 0)[:-1])
    assert f"Over 512 positions the first column changes sides {changes} times and the last never" in title(figure)


def test_wavelength_ladder():
    figure = EXAMPLES["wavelength_ladder"]()
    lengths = wavelengths(inv_freq(512))
    np.testing.assert_allclose(figure.data[0].y, lengths, rtol=1e-6)
    assert list(figure.data[0].marker.color) == figures.pair_colours(256)
    assert "from 6.28 tokens to 60\u202f611, short of 2π·base = 62\u202f832" in title(figure)
    first, last = figure.layout.annotations
    assert (first.text, last.text) == ("pair 0: 6.28 tokens", "pair 255: 60\u202f611 tokens")
    np.testing.assert_allclose([first.y, last.y], np.log10(lengths[[0, -1]]))
    assert "factor 1.0366" in alt(figure)


def test_chirps():
    figure = EXAMPLES["chirps"]()
    i = np.arange(100)
    for trace, k in zip(figure.data, (0, 4, 8, 12), strict=True):
        np.testing.assert_allclose(trace.y, np.sin(k / np.power(10_000, 2 * i / 512)), atol=DRAWN)  # the note's listing
    assert "positions 0, 4, 8, 12 cross zero 0, 1, 2, 3 times" in title(figure)


def test_added_code():
    figure = EXAMPLES["added_code"]()
    codes = sinusoidal(np.arange(5), 512)
    for trace, other in zip(figure.data, (EMBEDDINGS, codes), strict=True):
        for drawn, scale in zip(trace.y, SCALES.values(), strict=True):
            added = scale * EMBEDDINGS + codes
            cosines = [a @ b / np.sqrt(a @ a * (b @ b)) for a, b in zip(added, other, strict=True)]
            assert drawn == pytest.approx(np.mean(cosines), abs=DRAWN)
    word = figure.data[0].y
    assert f"a code of length 16 leaves a cosine of {word[0]:.2f}, {word[1]:.2f}, {word[2]:.2f}" in title(figure)
    assert figure.data[0].x[1] == f"unit<br>length {np.linalg.norm(EMBEDDINGS, axis=1).mean():.3g}"


def test_frequency_roles():
    figure = EXAMPLES["frequency_roles"]()
    theta = inv_freq(128)
    np.testing.assert_allclose(figure.data[0].y, 511 * theta, rtol=1e-6)
    *parts, whole = (trace for trace in figure.data if trace.yaxis == "y2")
    np.testing.assert_allclose(whole.y, decay(np.arange(512), theta), atol=DRAWN)
    np.testing.assert_allclose(np.sum([part.y for part in parts], axis=0), whole.y, atol=5 * DRAWN)
    reach = 511 * theta
    counts = [np.sum(reach >= 2 * np.pi), np.sum((reach >= np.pi) & (reach < 2 * np.pi))]
    counts += [np.sum((reach >= np.pi / 2) & (reach < np.pi)), np.sum(reach < np.pi / 2)]
    assert [int(re.search(r"(\d+) pairs", part.name)[1]) for part in parts] == counts
    slow = np.cos(np.arange(512)[:, None] * theta[-counts[-1] :]).sum(-1) / 64
    np.testing.assert_allclose(parts[-1].y, slow, atol=DRAWN)
    assert "31 of 64 pairs turn once and more, and 23 do not reach a quarter turn" in title(figure)
    assert [trace.y[0] for trace in figure.data[1:4]] == [np.pi / 2, np.pi, 2 * np.pi]


def test_frequency_roles_leaves_out_groups_without_pairs():
    figure = figures.frequency_roles(2, 4, 1e4)
    assert [trace.name for trace in figure.data if trace.yaxis == "y2"] == ["less than π/2: 2 pairs", "S(Δ), all pairs"]


def test_shifted_hands():
    figure, theta = EXAMPLES["shifted_hands"](), inv_freq(64)
    for panel, i in enumerate((0, 4, 16)):
        before, after, way = figure.data[3 * panel : 3 * panel + 3]
        for hand, position in ((before, 5), (after, 8)):
            np.testing.assert_allclose(hand.x, [0, np.cos(position * theta[i])], atol=DRAWN)
            np.testing.assert_allclose(hand.y, [0, np.sin(position * theta[i])], atol=DRAWN)
        assert after.line.color == figures.pair_colours(32)[i]
        np.testing.assert_allclose([way.x[-1], way.y[-1]], 0.55 * np.array([after.x[1], after.y[1]]), atol=2 * DRAWN)
        steps = way.x[:-1] * way.y[1:] - way.y[:-1] * way.x[1:]
        assert steps.sum() > 0  # anticlockwise
    assert "turns every hand anticlockwise: pair 0 by 3.00 radians, pair 16 by 0.03" in title(figure)


def test_shifted_hands_turn_at_most_once_on_paper():
    way = figures.shifted_hands(0, 100, 4, 1e4, [0]).data[2]
    np.testing.assert_allclose([way.x[-1], way.y[-1]], [way.x[0], way.y[0]], atol=2 * DRAWN)


def test_inner_products():
    figure = EXAMPLES["inner_products"]()
    for trace, dim in zip(figure.data, (32, 64, 128, 512), strict=True):
        table = sinusoidal(np.arange(-500, 501), dim)
        np.testing.assert_allclose(trace.y, table @ table[500] / (dim / 2), atol=DRAWN)
        np.testing.assert_array_equal(trace.y, trace.y[::-1])
        assert (trace.x0, trace.dx) == (-500, 1)
    assert "until distance 4, 5, 11, 43 (d = 32, 64, 128, 512)" in title(figure)
    assert f"{figure.data[0].y[-1]:.2f} for d = 32" in alt(figure)


def test_products_through_weights():
    figure = EXAMPLES["products_through_weights"]()
    offsets = np.arange(-20, 21)
    for trace, (weight, t) in zip(figure.data, [(w, t) for w in WEIGHTS.values() for t in (0, 100, 200)], strict=True):
        matrix = np.eye(32) if weight is None else weight
        slow = [sinusoidal(t, 32) @ matrix @ sinusoidal(t - offset, 32) for offset in offsets]
        np.testing.assert_allclose(trace.y, slow, atol=2 * DRAWN)
    residual = float(kernel_residual(offset_kernel(offsets, [0, 100, 200], 32, weight=RANDOM)))
    assert f"0% (none), {residual**2:.0%} (random), 0% (shift)" in title(figure)
    assert "none: 0.00 standard deviations" in alt(figure)


def test_score_terms():
    figure = EXAMPLES["score_terms"]()
    terms = four_terms(CONTENT, CONTENT, PLACES, PLACES, PROJECTION, PROJECTION)
    for trace, term in zip(figure.data, terms, strict=True):
        np.testing.assert_allclose(trace.z, term, atol=DRAWN)
    assert figure.layout.coloraxis.cmax == -figure.layout.coloraxis.cmin == np.abs(terms).max()
    shares = []
    for term in terms:
        rest = term - [[np.diagonal(term, s - t).mean() for s in range(6)] for t in range(6)]
        shares.append(rest.var() / term.var())
    assert ", ".join(f"({name}) {share:.0%}" for name, share in zip("abcd", shares, strict=True)) in title(figure)
    assert "(d) 0%" in title(figure)


def test_score_terms_of_offsets_have_names_of_their_own():
    q, k = np.random.default_rng(3).normal(size=(2, 1, 6, 4))
    of_offsets = bias.tener(q, k, sinusoidal(np.arange(5, -6, -1), 4), q[:, 0], k[:, 0])
    figure = figures.score_terms(bias.TransformerXLTerms(*(term[0] for term in of_offsets)))
    names = [annotation.text for annotation in figure.layout.annotations[:4]]
    assert names == ["(a) word, word", "(b) word, offset", "(c) every query, word", "(d) every query, offset"]
    assert "(d) 0%" in title(figure)


def test_score_terms_with_fewer_keys_than_queries():
    term = np.arange(3)[None] - np.arange(5)[:, None] + 0.0  # the offset itself
    assert "(a) 0%, (b) 0%, (c) 0%, (d) 0%" in title(figures.score_terms([term] * 4))


def test_projected_sum():
    """Each panel by hand, and what the title says of the score and its parts."""
    x, p, (w_q, w_k) = WORDS[:2, :4], sinusoidal([5, 3], 4), TWO_WEIGHTS
    query, key = w_q @ (x[0] + p[0]), w_k @ (x[1] + p[1])
    figure = drawn("projected_sum")
    shown = [np.array(trace.z) for trace in figure.data]
    for panel, values in enumerate((x[0], p[0], x[0] + p[0], w_q, query, x[1], p[1], x[1] + p[1], w_k, key)):
        np.testing.assert_allclose(shown[panel], np.reshape(values, (4, -1)), atol=DRAWN)
    assert figure.data[4].text[1][0].replace("−", "-") == f"{query[1]:.1f}"
    score, words, places = query @ key, (w_q @ x[0]) @ (w_k @ x[1]), (w_q @ p[0]) @ (w_k @ p[1])
    said = title(figure).replace("−", "-")
    assert f"multiply to {score:.2f}; words alone would give {words:.2f}, places alone {places:.2f}" in said


def test_turned_and_mapped():
    """The flag both ways, point by point; only what scales and turns ends alike."""
    figure = drawn("turned_and_mapped")
    turn = rotation_matrix([0.6])
    for panel, weight in enumerate(SMALL_WEIGHTS.values()):
        for way, matrix in enumerate((np.array(weight) @ turn, turn @ np.array(weight))):
            trace = figure.data[2 * panel + way]
            expected = [matrix @ point for point in ([0, 0], [0, 1], [0.45, 0.8], [0, 0.6])]
            np.testing.assert_allclose(np.column_stack([trace.x, trace.y]), expected, atol=DRAWN)
    assert "does not matter for turn; for the others it does" in title(figure)
    assert "0.00 (turn), 1.13 (swap), 0.28 (squeeze)" in alt(figure)
    assert title(figures.turned_and_mapped({"swap": SMALL_WEIGHTS["swap"]}, 1.0)) == "The order matters for all of them"
    assert title(figures.turned_and_mapped({"turn": np.eye(2)}, 1.0)) == "The order does not matter for turn"


def test_block_maps():
    """The share in blocks aI + bJ by least squares; every pair's own block is framed."""
    figure, random = drawn("block_maps"), RANDOM[:4, :4]
    units = np.array([pairwise_weight(*row.reshape(2, 2)).ravel() for row in np.eye(4)])
    nearest = np.linalg.lstsq(units.T, random.ravel(), rcond=None)[0] @ units
    share = np.sum(nearest**2) / np.sum(random**2)
    assert f"{share:.0%} (random), 100% (shift)" in title(figure)
    np.testing.assert_allclose(figure.data[0].z, random / np.abs(random).max(), atol=DRAWN)
    frames = [(shape.xref, shape.x0, shape.y1) for shape in figure.layout.shapes]
    assert frames == [("x", -0.5, 1.5), ("x", 1.5, 3.5), *(("x2", 2 * pair - 0.5, 2 * pair + 1.5) for pair in range(4))]


def test_position_maps():
    """Each value by a loop, the shares within either square by what is left along the diagonals."""
    figure, told = EXAMPLES["position_maps"](), []
    for trace, weight in zip(figure.data, WEIGHTS.values(), strict=True):
        matrix = np.eye(32) if weight is None else weight
        rows = sinusoidal(np.arange(20), 32)
        table = np.array([[rows[t] @ matrix @ rows[s] for s in range(20)] for t in range(20)])
        np.testing.assert_allclose(trace.z, table / np.abs(table).max(), atol=DRAWN)
        for square in (table[:8, :8], table[8:, 8:]):
            n = len(square)
            means = np.array([[np.diagonal(square, s - t).mean() for s in range(n)] for t in range(n)])
            told.append(f"{1 - np.var(square - means) / square.var():.0%}")
    assert told[0] == told[1] == told[4] == told[5] == "100%"
    assert told[2] != "100%"
    text = title(figure)
    assert f"Up to position 7, the offset explains 100% (none), {told[2]} (random), 100% (shift)" in text
    assert f"from 8 on 100%, {told[3]}, 100%" in text
    assert {line.x0 for line in figure.layout.shapes if line.x0 == line.x1} == {7.5}


def test_position_maps_of_many_positions():
    figure = figures.position_maps(450, 8, 1e4, {"none": None})
    assert figure.data[0].z.shape == (150, 150)
    assert (figure.data[0].dx, figure.data[0].dy) == (3, 3)
    assert "100% (none)" in title(figure)
    with pytest.raises(ValueError, match=r"trained must be greater than 1 and less than length − 1 = 19, got 19"):
        figures.position_maps(20, 32, 1e4, WEIGHTS, trained=19)


def test_rotated_pairs():
    figure = EXAMPLES["rotated_pairs"]()
    tips = {(trace.name, trace.xaxis): (trace.x[1], trace.y[1]) for trace in figure.data}
    for name, vector, position in (("query", Q, 5), ("key", K, 2)):
        turned = np.array(vector).reshape(2, 2) @ [1, 1j] * np.exp(1j * position * inv_freq(4, 100.0))
        for pair, axis in enumerate(("x", "x2")):
            assert tips[f"{name} before", axis] == pytest.approx(vector[2 * pair : 2 * pair + 2], abs=DRAWN)
            expected = (turned[pair].real, turned[pair].imag)
            assert tips[f"{name} at {position}", axis] == pytest.approx(expected, abs=DRAWN)
    turned = [np.array([tips[name, axis] for axis in ("x", "x2")]).ravel() for name in ("query at 5", "key at 2")]
    assert f"where m − n is 3 the 2 add up to the score {turned[0] @ turned[1]:.2f}".replace("-", "−") in title(figure)
    assert figure.layout.yaxis2.scaleanchor == "x2"  # as round as a turn


def test_rotated_pairs_of_one_pair():
    figure = figures.rotated_pairs([1.0, 0.0], [0.0, 1.0], 1, 3, 1e4)
    # 1·e^{i} against i·e^{3i}: the angle between them is 2 + π/2
    assert f"the score −{np.sin(2):.2f} wherever m − n is −2" in title(figure)


def turned_score(m, n):
    (a, b), (c, d) = (1.3, 0.4), (0.5, 1.1)
    return ((a + 1j * b) * np.exp(0.4j * m) * np.conj((c + 1j * d) * np.exp(0.4j * n))).real


def test_eight_terms():
    figure = EXAMPLES["eight_terms"]()
    terms = [trace.y for trace in figure.data if trace.name != "both together"]
    sums = [trace.y for trace in figure.data if trace.name == "both together"]
    assert (len(terms), len(sums)) == (8, 4)
    n = np.arange(41)
    q, k = np.array([[1.3], [0.4]]), np.array([[0.5], [1.1]])
    first, second = np.cos((n + 3) * 0.4), np.sin((n + 3) * 0.4)
    for panel, (i, j) in enumerate([(0, 0), (1, 1), (0, 1), (1, 0)]):
        across = q[i] * (first, -second)[i] * k[j] * (np.cos(n * 0.4), -np.sin(n * 0.4))[j]
        up = q[i] * (second, first)[i] * k[j] * (np.sin(n * 0.4), np.cos(n * 0.4))[j]
        drawn = sorted([terms[2 * panel][5], terms[2 * panel + 1][5]])
        np.testing.assert_allclose(drawn, sorted([across[5], up[5]]), atol=DRAWN)
        np.testing.assert_allclose(sums[panel], across + up, atol=DRAWN)
        assert np.ptp(sums[panel]) <= 2 * DRAWN < np.ptp(terms[2 * panel])
    assert f"all eight make {turned_score(3, 0):.3f}" in title(figure)
    assert f"up to {max(np.ptp(term) for term in terms):.2f}" in title(figure)


def test_agreement_and_side():
    figure = EXAMPLES["agreement_and_side"]()
    cosine, sine, score = (trace.y for trace in figure.data)
    np.testing.assert_allclose(score, [turned_score(m, 0) for m in range(-12, 13)], atol=DRAWN)
    np.testing.assert_allclose(cosine, cosine[::-1])
    np.testing.assert_allclose(sine, -sine[::-1])
    np.testing.assert_allclose(cosine + sine, score, atol=3 * DRAWN)
    assert f"the score peaks at 2, with {turned_score(2, 0):.2f}" in title(figure)


def test_agreement_and_side_where_the_key_lies_on_the_other_side():
    assert "peaks at −2" in title(figures.agreement_and_side([0.5, 1.1], [1.3, 0.4], 0.4, 12))
    assert "peaks at 0, with 2.00" in title(figures.agreement_and_side([1.0, 1.0], [1.0, 1.0], 0.4, 12))


def test_head_agreement_and_side():
    figure = EXAMPLES["head_agreement_and_side"]()
    cosine, sine, score = (trace.y for trace in figure.data)
    offsets = np.arange(-6, 7)
    wave = np.real((1 - 2j) * np.exp(1j * offsets)) + 0.5 * np.cos(0.1 * offsets)
    np.testing.assert_allclose(score, wave, atol=DRAWN)
    np.testing.assert_allclose(cosine, cosine[::-1], atol=DRAWN)
    np.testing.assert_allclose(sine, -sine[::-1], atol=DRAWN)
    assert f"alone would peak at 0; with the sides it peaks at 1, with {wave.max():.2f}" in title(figure)
    with pytest.raises(ValueError, match="must both have shape"):
        figures.head_agreement_and_side([1j], [1.0, 0.1], 6)


def test_pair_peaks():
    figure = EXAMPLES["pair_peaks"]()
    first, mark, second = figure.data  # the second pair peaks at −π/2/0.1, out of sight
    np.testing.assert_allclose(first.y, np.real((1 - 2j) * np.exp(1j * np.asarray(first.x))), atol=3 * DRAWN)
    assert (mark.x[0], mark.y[0]) == (pytest.approx(np.arctan2(2, 1)), pytest.approx(5**0.5))
    assert "between −15.71 and 1.11 tokens: 2 pairs" in title(figure)
    assert second.name == "pair 1"
    with pytest.raises(ValueError, match="pairs must be from 0 to 1, got 2"):
        figures.pair_peaks([1j, 1j], [1.0, 0.1], [2], 6)


def test_between_the_turns():
    figure = EXAMPLES["between_the_turns"]()
    at_m, weights, at_n, query, met, key = (np.asarray(trace.z) for trace in figure.data)
    w_q, w_k = TWO_WEIGHTS
    np.testing.assert_allclose(at_m, rotation_matrix(7 * inv_freq(4, 100)).T, atol=DRAWN)
    np.testing.assert_allclose(weights, w_q.T @ w_k, atol=DRAWN)
    np.testing.assert_allclose(met, rotation_matrix(-5 * inv_freq(4, 100)), atol=DRAWN)
    np.testing.assert_allclose(query @ met @ key, w_q.T @ at_m @ at_n @ w_k, atol=1e-2)
    assert "that of the lower row by 0.00" in title(figure)
    with pytest.raises(ValueError, match="must both be square"):
        figures.between_the_turns(np.ones((2, 4)), np.ones((2, 4)), 7, 2, 100)


def test_order_of_pairs():
    figure = EXAMPLES["order_of_pairs"]()
    went = {int(trace.text[0]): trace.x[1] for trace in figure.data}
    assert went == {0: 0, 2: 1, 4: 2, 6: 3, 1: 4, 3: 5, 5: 6, 7: 7}
    assert all(trace.x[0] == int(trace.text[0]) for trace in figure.data)
    assert "places hold, in turn, dimensions 0, 2, 4, 6, 1, 3, 5, 7" in alt(figure)


def test_shifted_outputs():
    figure = EXAMPLES["shifted_outputs"]()
    assert [list(trace.y) for trace in figure.data] == [[0, 0], [0.25, 0.5]]
    assert [list(trace.x) for trace in figure.data] == [[1, 1000]] * 2
    assert "moved on by 1\u202f000: outputs change by 0% (turned), 50% (added)" in title(figure)


def test_conjugate_product():
    figure = EXAMPLES["conjugate_product"]()
    tips = {(trace.name, trace.xaxis): (trace.x[-1], trace.y[-1]) for trace in figure.data}
    assert tips["query", "x"] == (2, 1)
    assert tips["key", "x"] == (1, 2)
    assert tips["query", "x2"] == (4, -3)  # (2 + i)(1 − 2i)
    assert tips["key", "x2"] == (5, 0)
    assert "at qk̄ = 4 − 3i" in title(figure)
    assert "from the key to the query it is −0.64 radians" in alt(figure)
    for axis in ("x", "x2"):
        angle = np.subtract(*(np.arctan2(*tips[name, axis][::-1]) for name in ("query", "key")))
        assert angle == pytest.approx(np.arctan2(-3, 4), abs=1e-3)
        arc = next(trace for trace in figure.data if trace.name == "angle" and trace.xaxis == axis)
        ends = np.arctan2(arc.y[-1], arc.x[-1]) - np.arctan2(arc.y[0], arc.x[0])
        assert ends == pytest.approx(angle, abs=1e-3)


def test_score_wave():
    figure = EXAMPLES["score_wave"]()
    for name, product, peak in (("a", 4 - 3j, 4.02), ("b", 3 + 4j, -5.80)):
        line, dots = (next(t for t in figure.data if t.name == n) for n in (name, f"{name}, whole tokens"))
        np.testing.assert_allclose(line.y, 5 * np.cos(0.16 * line.x + np.angle(product)), atol=DRAWN)
        np.testing.assert_allclose(dots.y, [(product * np.exp(0.16j * d)).real for d in range(-32, 33)], atol=DRAWN)
        assert (dots.x0, dots.dx) == (-32, 1)
        marked = next(t for t in figure.data if t.name == f"{name}, peak")
        assert marked.x[0] == pytest.approx(peak, abs=0.005)
        assert marked.y[1] == pytest.approx(max(line.y), abs=0.001)
    slopes = [trace for trace in figure.data if trace.name == "slope at 0"]
    assert [np.ptp(t.y) / np.ptp(t.x) for t in slopes] == pytest.approx([0.48, 0.64], abs=1e-3)
    assert "to 5.00 at 4.0\u00a0tokens, to 5.00 at −5.8\u00a0tokens" in title(figure)
    assert "for b it is 3.00 at distance 0, with the slope −0.64 a token" in alt(figure)


def test_path_in_coordinates():
    figure = EXAMPLES["path_in_coordinates"]()
    walked = np.stack([np.linalg.matrix_power(TURN, m) @ np.arange(1.0, 6.0) for m in range(21)])
    for panel, trace in enumerate(figure.data):
        drawn = np.stack([trace.x, trace.y], axis=-1)
        np.testing.assert_allclose(drawn, walked[:, 2 * panel : 2 * panel + 2], atol=DRAWN)
    lengths = np.hypot(walked[:, 0], walked[:, 1])
    assert f"between {lengths.min():.2f} and {lengths.max():.2f} long" in title(figure)


def test_paths_in_planes():
    figure, x = EXAMPLES["paths_in_planes"](), np.arange(1.0, 6.0)
    values = next(trace for trace in figure.data if trace.name == "eigenvalues")
    drawn = np.sort(np.angle(values.x + 1j * values.y))
    np.testing.assert_allclose(drawn, [-2.0, -0.3, 0, 0.3, 2.0], atol=1e-3)
    tangle, *turns = (trace for trace in figure.data if trace.name == "Rᵐx")
    walked = np.stack([np.linalg.matrix_power(TURN, m) @ x for m in range(21)])
    np.testing.assert_allclose(np.stack([tangle.x, tangle.y], axis=-1), walked[:, :2], atol=DRAWN)
    lengths = np.array([np.hypot(trace.x, trace.y) for trace in turns])
    np.testing.assert_allclose(np.ptp(lengths, axis=1), 0, atol=1e-3)
    assert np.sum(lengths[:, 0] ** 2) + (MIXED[:, 4] @ x) ** 2 == pytest.approx(x @ x, abs=0.01)
    steps = sorted(abs(np.angle((t.x[1] + 1j * t.y[1]) / (t.x[0] + 1j * t.y[0]))) for t in turns)
    assert steps == pytest.approx([0.3, 2.0], abs=1e-2)
    assert np.ptp(np.hypot(tangle.x, tangle.y)) > 1
    said = {f"{a} and {b} radians a step" for a, b in (("0.30", "2.00"), ("2.00", "0.30"))}
    assert any(title(figure).endswith(words) for words in said)
    assert "0.30 rad" in alt(figure)


def test_moved_on():
    bent = np.abs(STEPS) * np.exp(1j * np.sqrt(np.arange(5)))
    figure = figures.moved_on({"turned": STEPS, "bent": bent}, [0, 1, 3])
    for panel, code in enumerate((STEPS, bent)):
        cloud, before, after = figure.data[3 * panel : 3 * panel + 3]
        np.testing.assert_allclose(cloud.x + 1j * cloud.y, code.ravel(), atol=2 * DRAWN)
        for trace, step in ((before, 0), (after, 1)):
            corners = [0, code[0, 0 + step], code[1, 1 + step], code[2, 3 + step], 0]
            np.testing.assert_allclose(trace.x + 1j * trace.y, corners, atol=2 * DRAWN)
    # lengths stay; between the first and the last the angle is √3 before the step, and √4 − √1 after it
    change = 2 * (np.cos(np.sqrt(3)) - np.cos(1))
    assert f"change by up to 0.00 (turned), {abs(change):.2f} (bent)" in title(figure)
    assert "the contents at 0, 1, 3" in alt(figure)


def test_powers():
    figure = EXAMPLES["powers"]()
    for name, factor in (("turn", np.exp(0.2j)), ("shrink", 0.9 * np.exp(0.2j))):
        dots = next(trace for trace in figure.data if trace.name == f"{name}, whole steps")
        path = next(trace for trace in figure.data if trace.name == name)
        np.testing.assert_allclose(dots.x + 1j * dots.y, factor ** np.arange(11), atol=2 * DRAWN)
        assert (path.x[-1], path.y[-1]) == (dots.x[-1], dots.y[-1])
    assert f"has become 1.00 (turn), {0.9**10:.2f} (shrink)" in title(figure)


def test_rotation_maps():
    figure = EXAMPLES["rotation_maps"]()
    for trace, layout in zip(figure.data, ("interleaved", "half"), strict=True):
        np.testing.assert_allclose(trace.z, rotation_matrix(2 * inv_freq(8), layout), atol=DRAWN)
    assert "16 of 64 entries are not zero in either layout" in title(figure)
    assert "interleaved turns dimension 0 with 1, half turns it with 4" in title(figure)
    assert figure.layout.yaxis2.scaleanchor == "x2"


def test_losses_so_far():
    figure = EXAMPLES["losses_so_far"]()
    assert [list(trace.y) for trace in figure.data] == [[1.5, 3.5, 3.5], [1.5, 4.5, 7.5]]
    assert all((trace.x0, trace.dx) == (1, 1) for trace in figure.data)
    assert figure.data[0].text == ("“a” 1.50", "“␣” 2.00", "“b” 0.00")
    assert title(figure) == "The text costs 4 nats read as one, 8 nats read as two; only its first token costs the same"
    apart = figures.losses_so_far(["a"], {"one": [1.0], "two": [2.0]})
    assert "the same" not in title(apart)


def test_angle_errors():
    figure = EXAMPLES["angle_errors"]()
    theta = inv_freq(128)
    for trace, rounded in zip(figure.data, ROUNDED.values(), strict=True):
        for at, drawn in zip((1, 10, 1000), trace.y, strict=True):
            error = np.abs(np.float64(rounded(rounded(at) * rounded(theta))) - at * theta).max()
            assert drawn == pytest.approx(error)
    worst = figure.data[1].y[-1]
    assert f"At position 1\u202f000 an angle is wrong by up to {figure.data[0].y[-1]:.2g} in float32" in title(figure)
    assert f"{worst:.2g} in float16" in title(figure)
    exact = figures.angle_errors([1, 2], {"exact": np.float64})
    assert not np.isfinite(exact.data[0].y).any()  # nothing to draw on a logarithmic axis


def test_mistakes_and_tests():
    figure = EXAMPLES["mistakes_and_tests"]()
    full, empty = ({*zip(trace.y, trace.x, strict=True)} for trace in figure.data)  # mistakes down, tests across
    assert (full, empty) == ({(0, 1), (1, 0), (1, 1)}, {(0, 0), (2, 0), (2, 1)})
    assert figure.layout.xaxis.ticktext == ("length", "hand")
    assert figure.layout.yaxis.ticktext == ("layout", "mixed", "count")
    assert "Of 3 mistakes the test “hand” catches most, 2; “length” catches 1" in title(figure)
    assert "count: caught by none" in alt(figure)
    assert "; “" not in title(figures.mistakes_and_tests({"a": [True, False]}, ["one", "two"]))


def test_scaling_ratios():
    figure, theta = EXAMPLES["scaling_ratios"](), inv_freq(64)
    for trace, (name, scaled) in zip(figure.data, METHODS.items(), strict=True):
        assert trace.name == name
        np.testing.assert_allclose(trace.x, 2048 * theta / (2 * np.pi), rtol=1e-6)
        np.testing.assert_allclose(trace.y, scaled.inv_freq / theta, atol=DRAWN)
    kept = np.count_nonzero(np.abs(METHODS["YaRN"].inv_freq / theta - 1) < 1e-6)
    assert 0 < kept < 32
    assert f"How many of the 32 pairs are left as they were: 0 by linear, {kept} by YaRN" in title(figure)
    assert "linear 0.25 to 0.25, YaRN 1 to 0.25" in alt(figure)
    assert f"{np.count_nonzero(wavelengths(theta) > 2048)} pairs had not turned once in 2\u202f048 tokens" in alt(
        figure
    )


def test_over_seeds():
    figure = EXAMPLES["over_seeds"]()
    told = [(name, values) for methods in SEEDED.values() for name, values in methods.items()]
    lines = [trace for trace in figure.data if trace.mode == "lines+markers"]
    bands = [trace for trace in figure.data if trace.fill]
    for line, band, (name, values) in zip(lines, bands, told, strict=True):
        mean, least, greatest = np.transpose(values)
        assert line.name == band.name == name
        assert list(line.x) == [1, 2, 16]
        np.testing.assert_allclose(line.y, mean, atol=DRAWN)
        assert list(band.x) == [1, 2, 16, 16, 2, 1]
        np.testing.assert_allclose(band.y, [*greatest, *least[::-1]], atol=DRAWN)
    levels = [trace for trace in figure.data if trace.name == "cut text"]
    assert [list(trace.y) for trace in levels] == [[1.3, 1.3], [1.4, 1.4]]
    assert sum(bool(trace.showlegend) for trace in figure.data) == 3
    assert (
        "At 16 times the length, loss from 2.20 (YaRN) to 3.60 (none), cut text 1.30 (base 100); "
        "from 2.50 (none) to 2.70 (YaRN), cut text 1.40 (base 500)"
    ) in title(figure)
    assert figure.layout.xaxis.type == "log"
    steps = figures.over_seeds([0, 45], {"a": {"b": [(1, 1, 1), (2, 2, 2)]}}, "steps", "loss", ("c", [1.0]))
    assert steps.layout.xaxis.type == "linear"


def test_biases_by_distance():
    figure = EXAMPLES["biases_by_distance"]()
    expected = {"ALiBi": -0.5 * FAR, "KERPLE": -np.log1p(FAR), "Sandwich": BIASES["Sandwich"] - BIASES["Sandwich"][0]}
    for trace in figure.data:
        np.testing.assert_allclose(trace.y, expected[trace.name], atol=DRAWN)
    assert "From distance 0 to 64 logits change by −32.0 (ALiBi)" in title(figure)
    assert f"{-np.log1p(64):.1f} (KERPLE)".replace("-", "−") in title(figure)


def test_learned_biases():
    figure = EXAMPLES["learned_biases"]()
    for trace, head in zip(figure.data, HEADS_OF_T5, strict=True):
        assert list(trace.x) == [1, 2, 4, 8]  # a logarithm has no place for 0
        np.testing.assert_allclose(trace.y, head[1:], atol=DRAWN)
    assert title(figure) == (
        "The learned bias is greatest at distance 1, 2 (heads 1 to 2), and one number for all distances from 4 on"
    )
    assert figure.layout.shapes[0].x0 == 4
    assert "head 1: 0.5 at 0, 2.0 at most, −1.0 at 8; head 2: 0.0 at 0" in alt(figure)
    level = figures.learned_biases([0, 1], np.ones((1, 2)))
    assert title(level).endswith("from 0 on")
    assert not level.layout.shapes


def test_reaches():
    figure = EXAMPLES["reaches"]()
    assert [list(trace.y) for trace in figure.data] == [[6, 6], [24, 107], [50, 1000], [50, 1000]]
    assert "As texts grow from 100 to 2\u202f000 tokens" in title(figure)
    assert title(figure).endswith("from 6 keys to 6 (line) or from 50 keys to 1\u202f000 (level)")
    assert alt(figure).endswith("; from 24 keys to 107 (logarithm).")
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")


def test_bias_maps():
    figure = EXAMPLES["bias_maps"]()
    line, asked = (np.asarray(trace.z, dtype=float) for trace in figure.data)
    np.testing.assert_allclose(line, [[0, np.nan, np.nan], [-1, 0, np.nan], [-2, -1, 0]], atol=DRAWN)
    np.testing.assert_allclose(asked[2], [6, 7, 8], atol=DRAWN)
    assert title(figure).endswith("by up to 0.0 (line), 8.0 (asked)")
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-8, 8)
    masked = np.array([[1.0, -np.inf], [2.0, 3.0]])  # what later keys have is not looked at
    assert title(figures.bias_maps({"masked": masked})).endswith("by up to 2.0 (masked)")


def test_three_bias_maps_stand_side_by_side():
    column, row = np.arange(3.0)[:, None] + np.zeros(3), np.zeros((3, 1)) - np.arange(3.0)
    figure = figures.bias_maps({"m": column, "n": row, "sum": column + row})
    assert len({figure.layout[f"xaxis{number}"].domain for number in ("", 2, 3)}) == 3
    assert len({figure.layout[f"yaxis{number}"].domain for number in ("", 2, 3)}) == 1
    assert title(figure).replace("<br>", " ").endswith("by up to 2.0 (m), 2.0 (n), 0.0 (sum)")


def test_terms_multiplied():
    figure = EXAMPLES["terms_multiplied"]()
    assert title(figure) == "Four products make one logit: −1.50, 3.00, 0.30, −3.00; their sum is −1.20"
    drawn = {trace.name: (list(trace.customdata), trace.marker.color) for trace in figure.data}
    assert drawn["q"] == ([1, -2], figures.PALETTE["query"])
    assert drawn["r"] == ([3, 0], figures.PALETTE["position"])
    assert [trace.name for trace in figure.data] == ["q", "k", "q", "r", "u", "k", "v", "r"]
    assert list(figure.data[0].text) == ["1.0", "−2.0"]
    assert "= −1.50" in {note.text for note in figure.layout.annotations}


def test_orders_seen():
    figure = EXAMPLES["orders_seen"]()
    nothing, groups, everything = figure.data
    assert title(figure) == "Orders told apart, of 5: 1 (nothing), 2 (two groups), 5 (everything)"
    assert (list(nothing.x), list(nothing.y), list(nothing.text)) == ([0], [0], ["5"])
    assert sorted(zip(groups.text, groups.marker.size, strict=True)) == [
        ("2", pytest.approx(4 * 2**0.5, abs=DRAWN)),
        ("3", pytest.approx(4 * 3**0.5, abs=DRAWN)),
    ]
    # all five lie on one line, 3 apart, and the largest of its three numbers grows to the right
    np.testing.assert_allclose(everything.x, [-6, -3, 0, 3, 6], atol=DRAWN)
    np.testing.assert_allclose(everything.y, 0, atol=DRAWN)
    assert "two groups: 2 of 2 or 3; everything: 5 of 1" in alt(figure)
    assert [label.text for label in figure.layout.annotations][1] == "two groups<br>2 of 5"


def test_orders_seen_takes_rounding_for_none():
    reading = FIVE + np.random.default_rng(0).normal(scale=1e-13, size=FIVE.shape)
    reading[1] = reading[0] + 1e-13
    assert title(figures.orders_seen({"rounded": reading})).endswith("of 5: 4 (rounded)")
    reading[1, 2] += 1e-6
    assert title(figures.orders_seen({"rounded": reading})).endswith("of 5: 5 (rounded)")


def test_orders_seen_leaves_few_dots_their_numbers_and_many_none():
    many = np.random.default_rng(0).normal(size=(11, 4))
    assert [trace.mode for trace in figures.orders_seen({"few": many[:10], "less": many[:10]}).data] == [
        "markers+text",
        "markers+text",
    ]
    assert figures.orders_seen({"many": many}).data[0].mode == "markers"


def test_training_losses():
    figure = EXAMPLES["training_losses"]()
    for trace, values in zip(figure.data, LOSSES.values(), strict=True):
        np.testing.assert_allclose(trace.y, values, atol=DRAWN)
        np.testing.assert_array_equal(trace.x, 10 * np.arange(1, len(values) + 1))
    assert figure.layout.shapes[0].y0 == figure.layout.shapes[0].y1 == 0.5
    assert title(figure) == "Where the loss ends after 70 steps: 0.50 (blind), 0.23 (sees)"
    assert "a model that guesses pays 0.500 nats" in alt(figure)


def test_gathering():
    figure = EXAMPLES["gathering"]()
    arcs = [trace for trace in figure.data if trace.name]
    assert [arc.name for arc in arcs] == ["cat: 0.75"]  # none for a word without weight, or for the one that gathers
    assert (arcs[0].x[-1], arcs[0].x[0], arcs[0].y[0]) == (2, 1, 0)  # from the word to the one that gathers
    assert arcs[0].line.width == 22 * 0.75
    each, total = (trace for trace in figure.data if trace.type == "heatmap")
    np.testing.assert_allclose(each.z, (SHARES[:, None] * VALUES).T, atol=DRAWN)  # a column a word
    np.testing.assert_allclose(total.z, (SHARES @ VALUES)[:, None], atol=DRAWN)
    texts = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "text"]
    assert [text for trace in texts for text in trace.text][:3] == [
        "<b>the</b><br>0.00",
        "<b>cat</b><br>0.75",
        "<b>sat</b><br>0.25",
    ]
    assert (texts[0].textfont.color, texts[1].textfont.color) == (figures.PALETTE["key"], figures.PALETTE["query"])
    assert list(texts[3].text) == ["0.80", "−0.10"]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-0.8, 0.8)
    told = "with weight 0.75, and what it gathers is mostly creature, 0.80"
    assert title(figure) == f"“sat” listens most to “cat”, {told}"
    assert "Sum of the weighted values: creature 0.80, action −0.10" in alt(figure)


def test_gathering_from_itself():
    figure = figures.gathering(["a", "b"], [0.3, 0.7], np.ones((2, 1)), 1, ["x"])
    assert "“b” listens most to itself" in title(figure)
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.colorscale[0][0]) == (0, 0)


def test_attention_maps():
    figure = EXAMPLES["attention_maps"]()
    tables = (weights_of(WORDS), MASKED)
    for trace, table in zip((t for t in figure.data if t.type == "heatmap"), tables, strict=True):
        np.testing.assert_allclose(trace.z, table, atol=DRAWN)
    lines = [trace for trace in figure.data if trace.type == "scatter"]
    texts, frame = [trace for trace in lines if trace.mode == "text"], lines[1]
    assert [len(trace.text) for trace in texts] == [9, 6]  # what is masked has no number
    assert texts[1].text[1] == f"{100 * MASKED[1, 0]:.0f}"
    assert (texts[1].x[1], texts[1].y[1]) == (0, 1)  # the key across, the query down
    assert (min(frame.y), max(frame.y), frame.line.color) == (0.5, 1.5, figures.PALETTE["query"])
    most = [FIRST[table[1].argmax()] for table in tables]
    told = ", ".join(
        f"“{word}” {name} ({table[1].max():.0%})"
        for word, name, table in zip(most, ("open", "masked"), tables, strict=True)
    )
    assert title(figure) == f"“bites” listens most to {told}"


def test_score_widths():
    figure = EXAMPLES["score_widths"]()
    root, one, raw, heard, divided, heard_divided = figure.data
    np.testing.assert_allclose([root.y, one.y], [[2, 8], [1, 1]], atol=DRAWN)
    np.testing.assert_allclose([raw.y, divided.y], [[2, 8.1], [1, 1.01]], atol=DRAWN)
    np.testing.assert_allclose([heard.y, heard_divided.y], [[11.5, 1.8], [21.8, 20.5]], atol=DRAWN)
    assert (raw.xaxis, heard.xaxis) == ("x", "x2")
    assert title(figure).endswith("to 11.5 and 1.8 (undivided), 21.8 and 20.5 (divided)")
    assert "Spread of the scores at width 4 and at 64: 2.00 and 8.10 (undivided)" in alt(figure)


def test_distance_maps():
    figure = EXAMPLES["distance_maps"]()
    for trace, code in zip(figure.data, CODES.values(), strict=True):
        apart = np.sqrt(((code[:, None] - code) ** 2).sum(axis=-1))
        np.testing.assert_allclose(trace.z, apart / apart.max(), atol=DRAWN)
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    steps = [np.linalg.norm(CODES["bits"][k:] - CODES["bits"][:-k], axis=-1) for k in range(1, 8)]
    spread = np.mean([step.std() / step.mean() for step in steps])
    assert title(figure) == f"Equal distances look equal in waves; in bits they vary by {spread:.0%}"


def test_distance_maps_of_one_kind():
    assert title(figures.distance_maps({"a": CODES["waves"], "b": CODES["waves"]})).endswith("look equal in a and b")
    assert title(figures.distance_maps({"a": CODES["bits"]})).startswith("In a they vary by")
    asked = figures.distance_maps({"a": CODES["bits"]}, title="One code")
    assert title(asked) == "One code"
    assert alt(asked).startswith("One code. In a they vary by")
    assert np.all(np.asarray(figures.distance_maps({"still": np.ones((4, 2))}).data[0].z) == 0)


def test_wave_and_dial():
    figure = EXAMPLES["wave_and_dial"]()
    at = np.arange(13)
    hand, sine = [trace for trace in figure.data if trace.mode == "markers"]
    np.testing.assert_allclose(hand.x, np.cos(at / 2), atol=DRAWN)
    np.testing.assert_allclose(sine.x, at, atol=DRAWN)
    for points in (hand, sine):
        np.testing.assert_allclose(points.y, np.sin(at / 2), atol=DRAWN)
    rises = np.abs(np.diff(np.sin(at / 2)))
    assert title(figure).startswith(f"Every step of the hand is {2 * np.sin(0.25):.2f} long")
    assert title(figure).endswith(f"from {rises.min():.2f} to {rises.max():.2f}")
    for name, k in (("longest", rises.argmax()), ("shortest", rises.argmin())):
        (step,) = [trace for trace in figure.data if (trace.name or "").startswith(name)]
        assert step.name.endswith(f"{k} to {k + 1}: {rises[k]:.2f}")
        np.testing.assert_allclose(step.y, np.sin([k / 2, (k + 1) / 2]), atol=DRAWN)
        assert list(step.x) == [k + 1, k + 1]
    assert figure.layout.yaxis.scaleanchor == "x"  # a dial is round


def test_returns():
    figure = EXAMPLES["returns"]()
    one, nearest, halves, again = figure.data
    at = np.arange(101)
    np.testing.assert_allclose(one.y, 2 * np.abs(np.sin(at / 2)), atol=DRAWN)
    apart = np.sqrt(np.mean([4 * np.sin(at * speed / 2) ** 2 for speed in (1, 0.5, 0.25)], axis=0))
    np.testing.assert_allclose(halves.y, apart, atol=DRAWN)
    assert list(nearest.x) == [44]
    assert list(again.x) == [1 + apart[1:].argmin()]
    assert title(figure).endswith(f"nearest code: 44 (one), {again.x[0]} (halves)")
    assert "0.0177 (one)" in alt(figure)


def test_cliffs():
    figure = EXAMPLES["cliffs"]()
    line, *seeds = figure.data[:3]
    assert line.y.tolist() == [1.375, 3.25]
    assert [dots.y.tolist() for dots in seeds] == MEASURED["text: loss"]["base 100"].tolist()
    cuts = [trace for trace in figure.data if trace.name == "cut to the last 128 tokens"]
    assert [trace.y.tolist() for trace in cuts] == [[1.375, 1.375], [0.875, 0.875]]
    assert "text 1.38 → 3.25 → 3.25; copying 0.88 → 0.38 → 0.38" in title(figure)
    assert "text: loss, base 100: 1.25 to 1.50, 3.00 to 3.50" in alt(figure)


def test_suspects():
    figure = EXAMPLES["suspects"]()
    assert [trace.y.tolist() for trace in figure.data] == [[1, 2], [1, 1.5], [1, 3]]
    assert [trace.mode for trace in figure.data] == ["lines+markers"] * 2 + ["markers"]
    assert "256 tokens. text: a 2.00, b 1.50, real 3.00" in title(figure)


def test_fitted_scores():
    figure = EXAMPLES["fitted_scores"]()
    every, fast = figure.data
    theta = inv_freq(32, 1e4)
    for trace, least in ((every, 0), (fast, 4)):
        fit = fit_scores(NOISE, theta, least_turns=least)
        size = np.abs(fingerprint(np.arange(256), fit.inv_freq) @ fit.coefficients).reshape(64, 4).max(axis=1)
        np.testing.assert_allclose(trace.y[:64], size, rtol=1e-3)
        assert trace.x[64] == 256
    assert every.y[64:].max() > 1000 > 10 > fast.y[64:].max()
    assert "all 16 pairs reach 10 to the power" in title(figure)
    assert f"the {len(fit.inv_freq)} pairs of 4 turns and more reach {fit.past_range:.2f}" in title(figure)


def test_scores_of_caches():
    figure = EXAMPLES["scores_of_caches"]()
    assert [(trace.x0, trace.y.tolist()) for trace in figure.data] == [(0, [0, 1, 0.25]), (0, [0.25, 0, 0.5])]
    [asked] = figure.layout.shapes
    assert (asked.x0, asked.x1) == (1, 1)
    assert "Made to look 1 tokens back: fresh peak at 1, stale peak at 2" in title(figure)
    assert "Greatest score: 1.00 (fresh); 0.50 (stale)." in alt(figure)


def test_costs_on_the_circle():
    figure = EXAMPLES["costs_on_the_circle"]()
    assert figure.data[0].x.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert figure.data[0].y.tolist() == [0, 0, 0.25, 0.5, 0]
    assert "at 0.50 to 0.75 of a turn" in title(figure)
    assert "pair 1 up to 0.50; pair 2 up to 1.00" in alt(figure)
    flat = CIRCLE | {"pair 3": (np.array([0.0]), np.array([0.19]))}  # below a fifth of the dearest
    assert title(figures.costs_on_the_circle(flat, "nats")) == title(figure)


def test_staged_texts():
    figure = EXAMPLES["staged_texts"]()
    spans = [(trace.legendgroup, min(trace.x), max(trace.x)) for trace in figure.data]
    older, younger = "older half", "younger half"
    assert spans[:4] == [(younger, 4, 8), (older, 0, 4), (younger, 4, 8), (older, -6, -2)]
    assert [name for name, *_ in spans[4:]] == [younger] + [older] * 4  # no more than four are drawn
    assert [note.text for note in figure.layout.annotations] == ["6 tokens of nothing", "each counts 9 times"]
    assert figure.layout.annotations[0].x == 1  # half-way between the two halves
    assert "moved: the older half stands 6 tokens further away; crowded" in alt(figure)
    assert alt(figure).endswith("stands where it was and counts 9 times.")


def test_mean_waves():
    figure = EXAMPLES["mean_waves"]()
    assert figure.data[0].y.tolist() == [0, -2, -1, 0.5, 3]
    (unseen,) = figure.layout.shapes
    assert (unseen.x0, unseen.x1) == (3, 4)
    assert title(figure) == "Down within 3 tokens, up beyond: a −2.0 at 1, then up to 3.0"
    assert "a −1.0" in alt(figure)


def test_exams():
    figure = EXAMPLES["exams"]()
    level, behind, copied, slower = figure.data
    assert (level.x.tolist(), level.y) == ([1.5, 2], (0, 1))
    assert level.error_x.array.tolist() == level.error_x.arrayminus.tolist() == [0.5, 0.5]
    assert (behind.x.tolist(), behind.y) == ([3.5], (2,))
    assert (copied.x.tolist(), copied.y) == ([0.75], (2,))
    assert (copied.error_x.array.tolist(), copied.error_x.arrayminus.tolist()) == ([0.25], [0])
    assert slower.y == (0, 1)
    assert list(figure.layout.yaxis2.ticktext) == ["a", "b", "c"]
    assert "less is better" in figure.layout.xaxis.title.text
    assert "more is better" in figure.layout.xaxis2.title.text
    assert title(figure) == (
        "None of 3 is first, or level with the first, in every exam. The best means: a (text); c (copying)"
    )
    assert "c 0.75 (0.75 to 1.00)" in alt(figure)
    one = figures.exams({"copying: share": EXAMINED["copying: share"]}, {"copying: share": ["c"]})
    assert title(one).startswith("1 of 3 is first")


def test_order_of_schemes():
    figure = EXAMPLES["order_of_schemes"]()
    better, worse, neither = figure.data
    assert list(zip(better.y, better.x, strict=True)) == [(0, 1), (0, 2)]
    assert list(zip(worse.y, worse.x, strict=True)) == [(1, 0), (2, 0)]
    assert list(zip(neither.y, neither.x, strict=True)) == [(1, 2), (2, 1)]
    assert list(figure.layout.yaxis.ticktext) == list(figure.layout.xaxis.ticktext) == ["a", "b", "c"]
    assert title(figure) == "2 of 3 pairs have an order: one code ahead in some exam and behind in none"
    assert "a is better than b, c; b is better than none" in alt(figure)


def test_copying_by_distance():
    figure = EXAMPLES["copying_by_distance"]()
    assert figure.data[0].x.tolist() == [16, 32, 64]
    assert figure.data[0].y.tolist() == [1, 0.5, 0]
    guess, farthest = figure.layout.shapes
    assert (guess.y0, farthest.x0) == (1 / 64, 32)
    assert title(figure) == (
        "Looking 64 tokens back, after training with answers at most 32 back: from 0.00 right (a) to 1.00 (b)"
    )


def test_repairs():
    figure = EXAMPLES["repairs"]()
    a, b = figure.data
    assert a.x.tolist() == [1, 1.5, 3, 3.5, 2]
    assert np.round(a.y).tolist() == [0, 0, 1, 1, 2]
    assert b.x.tolist() == [1, 2, 4]
    assert list(figure.layout.yaxis.ticktext) == ["cut", "as trained", "both"]
    assert title(figure) == "Nearest to “cut” comes on text both 2.00 (a) and as trained 2.00 (b)"


def test_looking_back():
    figure = EXAMPLES["looking_back"]()
    for trace, (name, weights) in zip(figure.data, LOOKS.items(), strict=True):
        assert (trace.name, trace.x0, trace.dx) == (name, 1, 1)
        np.testing.assert_allclose(trace.y, weights, atol=DRAWN)
    assert "first quarter of the places → last quarter: 0.75 → 0.00 (table), 0.50 → 0.50 (turned)" in title(figure)
    assert "table: least 0.00, greatest 0.75" in alt(figure)


def test_copying_circuit():
    figure = EXAMPLES["copying_circuit"]()
    first, second, words, notes, answer = figure.data
    assert list(first.x) == [0, 1, None, 1, 2, None, 2, 3, None, 3, 4, None]
    assert list(second.x) == [2, 4, None]  # from b, which comes after a, to the last a
    assert list(words.text) == [f"<b>{word}</b>" for word in "xabca"]
    assert list(notes.text) == ["", "after<br>x", "<b>after<br>a</b>", "after<br>b", "after<br>c"]
    assert list(answer.text) == ["<b>b</b>"]
    levels = dict(zip(figure.layout.yaxis.tickvals, figure.layout.yaxis.ticktext, strict=True))
    assert [levels[trace.y[0]] for trace in (words, notes, answer)] == ["words", "layer 1", "layer 2"]
    assert "b notes that it comes after a" in alt(figure)
    assert "at b, and answers b" in alt(figure)


def test_clock_from_share():
    figure = EXAMPLES["clock_from_share"]()
    share, code, weights = figure.data
    assert (list(share.y), share.x0, share.dx) == ([1.0, 0.5, 0.25], 0, 1)
    np.testing.assert_allclose(code.z, CLOCK[:, :2].T, atol=DRAWN)
    np.testing.assert_allclose(weights.z, ONE_BACK.T, atol=DRAWN)  # the place of the query across
    assert "at least 0.75 of its attention on the one before" in alt(figure)


def test_found_by_length():
    figure = EXAMPLES["found_by_length"]()
    lines = {trace.name: list(trace.y) for trace in figure.data if trace.mode == "lines"}
    dots = [list(trace.y) for trace in figure.data if trace.mode == "markers"]
    assert lines == {"none": [0.75, 0.375], "some": [1, 0]}
    assert dots == [[1, 0.5], [0.5, 0.25], [1, 0]]
    assert title(figure) == "Trained on 8 cards, asked among 16: 38% right (none), 0% right (some)"
    assert "none: 50% to 100% of 8, 25% to 50% of 16" in alt(figure)


def test_attention_by_distance():
    figure = EXAMPLES["attention_by_distance"]()
    assert [(trace.name, *trace.y) for trace in figure.data] == [("one", 0.25, 0.5, 0.25), ("two", 0.5, 0.25, 0)]
    assert all(list(trace.x) == [0, 1, 2] for trace in figure.data)
    assert "1 back, weight 0.50 (one); 0 back, weight 0.50 (two)" in title(figure)


def test_permuted():
    figure, weights = EXAMPLES["permuted"](), weights_of(WORDS)
    P = np.eye(3)[[2, 1, 0]]
    maps = [trace.z for trace in figure.data if trace.type == "heatmap"]
    for drawn_map, table in zip(maps, (weights, P @ weights, P @ weights @ P.T), strict=True):
        np.testing.assert_allclose(drawn_map, table, atol=DRAWN)
    downs = [list(axis.ticktext) for axis in figure.select_yaxes()]
    acrosses = [list(axis.ticktext) for axis in figure.select_xaxes()]
    backwards = FIRST[::-1]
    assert (downs, acrosses) == ([FIRST, backwards, backwards], [FIRST, FIRST, backwards])
    assert "Of 9 places in the table, 1 hold" in alt(figure)


def test_gossip():
    figure = EXAMPLES["gossip"]()
    texts = [list(trace.text) for trace in figure.data if trace.mode == "text"]
    assert texts[1] == ["saw nobody", "saw dog", "saw bites, dog"]
    assert texts[4] == ["saw nobody", "saw bites", "saw bites, dog"]
    first_layer, second_layer = (trace for trace in figure.data[:2])
    assert len(first_layer.x) == 3 * 6  # each of three words looks at itself and those before it
    assert [second_layer.x[k + 1] for k in (0, 3, 6)] == [2, 2, 2]
    assert "bites dog man: bites, saw nobody; dog, saw bites; man, saw bites, dog" in alt(figure)


def test_slopes():
    figure = EXAMPLES["slopes"]()
    powers, one = figure.data
    first = [np.mean([np.cos(at * speed) for speed in (1.0, 0.1, 0.01)]) for at in (1, 2)]
    np.testing.assert_allclose(powers.y[:2], first, atol=DRAWN)  # stretches of one distance each
    last = np.mean(np.cos(np.arange(83, 100)))  # the last stretch
    np.testing.assert_allclose(one.y[-1], last, atol=DRAWN)
    assert title(figure).startswith("How alike codes are, at each tenfold distance: powers ")


def test_places_read():
    figure = EXAMPLES["places_read"]()
    bands, lines = [t for t in figure.data if t.fill], [t for t in figure.data if t.showlegend is None]
    for band, line, name in zip(bands, lines[:-1], READ, strict=True):
        low, middle, high = np.quantile(READ[name], [0.1, 0.5, 0.9], axis=0)
        assert band.name == line.name == name
        np.testing.assert_allclose(line.y, middle, atol=DRAWN)
        np.testing.assert_allclose(band.y, [*high, *low[::-1]], atol=DRAWN)
        assert list(band.x) == [1, 10, 200, 200, 10, 1]
    assert list(lines[-1].x) == list(lines[-1].y) == [1, 200]
    assert "Place 200 is read, four times in five, as 120 to 280 (counted), 40 to 40 (blind)" in title(figure)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert list(figure.layout.xaxis.tickvals) == [1, 10, 100, 200]


def test_lines_of_a_figure_differ():
    styles = [(line["color"], line["dash"]) for line in map(_drawing._style, range(12))]
    assert len(set(styles)) == 12


# ---------------------------------------------------------------------------------------------------------------------
# What they refuse

W3 = np.full((3, 3), 1 / 3)


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: figures.word_orders([], W3, [], W3), "first must hold at least one"),
        (lambda: figures.word_orders(FIRST, W3, ["man", "bites", "cat"], W3), "second must hold the words of first"),
        (lambda: figures.word_orders(FIRST, W3, FIRST, W3), "second must hold the words of first in another order"),
        (lambda: figures.word_orders(FIRST, W3[:2], SECOND, W3), r"first_weights must be 3 × 3, got shape \(2, 3\)"),
        (lambda: figures.word_orders(FIRST, W3, SECOND, W3[None]), r"second_weights must be 3 × 3, got shape \(1, 3"),
        (lambda: figures.step_sizes([]), "lengths must hold at least one"),
        (lambda: figures.step_sizes([5, 1]), r"lengths must all be at least 2.*\[5, 1\]"),
        (lambda: figures.code_tables({}), "codes must hold at least one"),
        (lambda: figures.code_tables({"a": np.ones(3)}), r"codes must all have shape \(length, dim\).*\(3,\)"),
        (lambda: figures.code_tables({"a": np.ones((3, 2)), "b": np.ones((4, 2))}), "with one length"),
        (lambda: figures.code_tables({"a": np.ones((0, 2))}), "codes must all have shape"),
        (lambda: figures.wavelength_ladder(8, 1.0), "base must be greater than 1, got 1.0"),
        (lambda: figures.chirps([], 8, 1e4, 2), "positions must hold at least one"),
        (lambda: figures.chirps([1], 8, 1e4, 5), "pairs must be between 0 and 3, the last of dim = 8"),
        (lambda: figures.chirps([1], 8, 1e4, 0), "pairs must be between 0 and 3"),
        (lambda: figures.added_code(np.ones((2, 4)), np.ones((2, 3)), {"a": 1.0}), r"got shapes \(2, 4\) and \(2, 3\)"),
        (lambda: figures.added_code(np.ones((2, 4)), np.ones((2, 4)), {}), "scales must hold at least one"),
        (lambda: figures.added_code(np.ones((2, 4)), np.ones((2, 4)), {"a": 0.0}), "scales must be greater than 0"),
        (lambda: figures.frequency_roles(1, 8, 1e4), "length must be greater than 1, got 1"),
        (lambda: figures.frequency_roles(9, 8, 0.5), "base must be greater than 1, got 0.5"),
        (lambda: figures.shifted_hands(0, -1, 8, 1e4, [0]), "offset must be greater than 0, got -1"),
        (lambda: figures.shifted_hands(0, 1, 8, 1e4, []), "pairs must hold at least one"),
        (lambda: figures.shifted_hands(0, 1, 8, 1e4, [0, 4]), r"pairs must be between 0 and 3.*\[0, 4\]"),
        (lambda: figures.inner_products(1, [8], 1e4), "reach must be greater than 1, got 1"),
        (lambda: figures.inner_products(9, [], 1e4), "dims must hold at least one"),
        (lambda: figures.products_through_weights([-1, 0, 2], [0, 1], 8, 1e4, {"a": None}), "offsets must be −n … n"),
        (lambda: figures.products_through_weights([-1, 0, 1], [0], 8, 1e4, {"a": None}), "positions two or more"),
        (lambda: figures.products_through_weights([-1, 0, 1], [0, 1], 8, 1e4, {}), "weights must hold at least one"),
        (lambda: figures.projected_sum(W3, W3, W3), r"shapes \(2, dim\).*got \(3, 3\)"),
        (lambda: figures.projected_sum(W3[:2], W3[:2], [W3]), r"and \(2, dim, dim\), got .* and \(1, 3, 3\)"),
        (lambda: figures.turned_and_mapped({}, 1.0), "weights must hold at least one"),
        (
            lambda: figures.turned_and_mapped({"a": W3}, 1.0),
            r"weights\['a'\] must have shape \(2, 2\), got shape \(3, 3\)",
        ),
        (lambda: figures.block_maps({"a": W3}), r"weights\['a'\] must be square, of even size.*got shape \(3, 3\)"),
        (lambda: figures.block_maps({"a": np.zeros((2, 2))}), "not all 0"),
        (lambda: figures.score_terms([W3, W3, W3, W3[:2]]), r"terms must all have shape \(queries, keys\)"),
        (lambda: figures.rotated_pairs([1.0, 0.0], [1.0], 0, 0, 1e4), r"got shapes \(2,\) and \(1,\)"),
        (lambda: figures.rotated_pairs([], [], 0, 0, 1e4), "q and k must both have shape"),
        (lambda: figures.eight_terms([1.0], [1.0, 0.0], 0.4, 3, 9), r"q must be two finite numbers, got \[1.0\]"),
        (lambda: figures.eight_terms([1.0, 0.0], [1.0, np.nan], 0.4, 3, 9), "k must be two finite numbers.*nan"),
        (lambda: figures.eight_terms([1.0, 0.0], [1.0, 0.0], 0.4, 3, 1), "reach must be greater than 1, got 1"),
        (lambda: figures.agreement_and_side([1.0, 0.0], [1.0], 0.4, 9), r"k must be two finite numbers, got \[1.0\]"),
        (lambda: figures.agreement_and_side([1.0, 0.0], [1.0, 0.0], 0.4, 0), "reach must be greater than 0, got 0"),
        (lambda: figures.shifted_outputs([], {"a": []}), "shifts must hold at least one"),
        (lambda: figures.shifted_outputs([1, 2], {}), "changes must hold at least one"),
        (lambda: figures.shifted_outputs([1, 2], {"a": [0.0]}), r"changes\['a'\] must be 2 finite numbers"),
        (lambda: figures.shifted_outputs([1], {"a": [np.nan]}), r"changes\['a'\] must be 1 finite numbers"),
        (lambda: figures.conjugate_product(0, 1), "q must be a complex number other than 0, got 0"),
        (lambda: figures.score_wave({}, 1.0, 8), "products must hold at least one"),
        (lambda: figures.score_wave({"a": np.nan}, 1.0, 8), r"products\['a'\] must be a complex number"),
        (lambda: figures.score_wave({"a": 1}, 0.0, 8), "theta must be greater than 0, got 0.0"),
        (lambda: figures.paths_in_planes(np.eye(4), [1.0], 9), r"x must have shape \(4,\), got \(1,\)"),
        (lambda: figures.paths_in_planes(np.eye(4), np.ones(4), 1), "steps must be greater than 1, got 1"),
        (lambda: figures.path_in_coordinates(np.eye(3), np.ones(3), 9), r"four numbers or more.*got \(3,\)"),
        (lambda: figures.moved_on({}, [0]), "codes must hold at least one"),
        (lambda: figures.moved_on({"a": STEPS}, [0, 1]), r"codes\['a'\] must have 2 rows.*got \(3, 5\)"),
        (lambda: figures.moved_on({"a": STEPS}, [0, 1, 4]), r"must have 3 rows that reach beyond \[0 1 4\]"),
        (lambda: figures.powers({}, 8), "factors must hold at least one"),
        (lambda: figures.scaling_ratios(8, 1e4, 64, {}), "methods must hold at least one"),
        (lambda: figures.scaling_ratios(8, 1e4, 64, METHODS), r"methods\['linear'\] must have 4 frequencies.*\(32,\)"),
        (lambda: figures.over_seeds([], SEEDED, "a", "b", ("c", [1.0, 1.0])), "at must hold at least one"),
        (lambda: figures.over_seeds([1], {}, "a", "b", ("c", [])), "panels must hold at least one"),
        (lambda: figures.over_seeds([1], {"a": {}}, "a", "b", ("c", [1.0])), r"panels\['a'\] must hold at least one"),
        (lambda: figures.over_seeds([1, 2, 16], SEEDED, "a", "b", ("c", [1.0])), "reference must have 2 values.*1.0"),
        (lambda: figures.over_seeds([1, 2], SEEDED, "a", "b", ("c", [1, 1])), r"\['base 100'\]\['none'\] must be 2"),
        (lambda: figures.biases_by_distance([], {"a": []}), "distances must hold at least one"),
        (lambda: figures.biases_by_distance([0, 1], {}), "biases must hold at least one"),
        (lambda: figures.biases_by_distance([0, 1], {"a": [0.0]}), r"biases\['a'\] must be 2 finite numbers"),
        (lambda: figures.biases_by_distance([0, 1], {"a": [0.0, -np.inf]}), r"biases\['a'\] must be 2 finite numbers"),
        (lambda: figures.learned_biases([], np.ones((1, 0))), "distances must hold at least one"),
        (lambda: figures.learned_biases([0, 1], np.ones((1, 3))), r"heads must be finite, shape \(heads, 2\)"),
        (lambda: figures.learned_biases([0, 1], np.ones((0, 2))), r"heads must be finite.*got shape \(0, 2\)"),
        (lambda: figures.learned_biases([0], np.array([[np.nan]])), "heads must be finite"),
        (lambda: figures.reaches([], {"a": []}), "lengths must hold at least one"),
        (lambda: figures.reaches([8], {}), "nearest must hold at least one"),
        (lambda: figures.reaches([8, 16], {"a": [1]}), r"nearest\['a'\] must be 2 numbers of keys"),
        (lambda: figures.reaches([8], {"a": [9]}), r"nearest\['a'\] must be 1 numbers of keys, none above"),
        (lambda: figures.bias_maps({}), "maps must hold at least one"),
        (lambda: figures.bias_maps({"a": np.ones(3)}), r"maps\['a'\] must be square.*got shape \(3,\)"),
        (lambda: figures.bias_maps({"a": np.ones((2, 3))}), r"maps\['a'\] must be square.*got shape \(2, 3\)"),
        (lambda: figures.bias_maps({"a": np.full((2, 2), np.nan)}), r"maps\['a'\] must be square and finite"),
        (lambda: figures.terms_multiplied([], [], [], [], []), "q must be 1 to 6 finite numbers"),
        (lambda: figures.terms_multiplied([1], [1, 2], [1], [1], [1]), r"k must be 1 to 6 finite numbers, as many"),
        (lambda: figures.terms_multiplied([1], [1], [np.nan], [1], [1]), "r must be 1 to 6 finite numbers"),
        (lambda: figures.orders_seen({}), "readings must hold at least one"),
        (lambda: figures.orders_seen({"a": np.ones((4, 1))}), r"readings must all have shape .*\(4, 1\)"),
        (lambda: figures.orders_seen({"a": np.ones((4, 2)), "b": np.ones((3, 2))}), r"got shapes .*\(3, 2\)"),
        (lambda: figures.training_losses({}, 1, 1.0), "losses must hold at least one"),
        (lambda: figures.training_losses({"a": []}, 1, 1.0), r"losses\['a'\] must be finite numbers"),
        (lambda: figures.training_losses({"a": [np.nan]}, 1, 1.0), r"losses\['a'\] must be finite numbers"),
        (lambda: figures.training_losses({"a": [1.0]}, 0, 1.0), "every must be greater than 0, got 0"),
        (lambda: figures.training_losses({"a": [1.0]}, 1, 0.0), "chance must be greater than 0, got 0.0"),
        (lambda: figures.gathering(FIRST, [0.5, 0.5], W3, 0, FIRST), r"weights must have shape \(3,\).*got shapes \(2"),
        (lambda: figures.gathering(FIRST, W3[0], W3, 0, ["a"]), r"values \(3, 1\), .*1 names, got shapes.*\(3, 3\)"),
        (lambda: figures.gathering(FIRST, W3[0], W3[:, :0], 0, []), "names must hold at least one"),
        (lambda: figures.gathering(FIRST, [0.5, 0.7, -0.2], W3, 0, FIRST), "weights must be at least 0, got .*-0.2"),
        (lambda: figures.gathering(FIRST, W3[0], W3, 3, FIRST), "query must be between 0 and 2.*got 3"),
        (lambda: figures.attention_maps([], {"a": W3}, 0), "words must hold at least one"),
        (lambda: figures.attention_maps(FIRST, {}, 0), "tables must hold at least one"),
        (lambda: figures.attention_maps(FIRST, {"a": W3[:2]}, 0), r"tables\['a'\] must be 3 × 3, got shape \(2, 3\)"),
        (lambda: figures.attention_maps(FIRST, {"a": W3}, -1), "query must be between 0 and 2.*got -1"),
        (lambda: figures.score_widths([], {"a": ([], [])}, 8), "widths must hold at least one"),
        (lambda: figures.score_widths([4], {"a": ([1.0], [1.0])}, 1), "keys must be greater than 1, got 1"),
        (lambda: figures.score_widths([4], {}, 8), "measured must hold at least one"),
        (lambda: figures.score_widths([4], {"a": ([1.0], [np.nan])}, 8), r"measured\['a'\] must be two rows of 1 fin"),
        (lambda: figures.score_widths([4], {"a": ([1.0],)}, 8), r"measured\['a'\] must be two rows of 1 finite"),
        (lambda: figures.pairs_by_model({}), "models must hold at least one"),
        (lambda: figures.model_plane({}, {}), "trained must hold at least one"),
        (lambda: figures.model_plane({"a": (0, 1.0)}, {}), "must be greater than 0, got 0.0"),
        (lambda: figures.lowest_scores(9, {}), "lowest must hold at least one"),
        (lambda: figures.lowest_scores(9, {1.0: 0.5}), "the least base must be greater than 1, got 1.0"),
        (lambda: figures.losses_so_far(["a"], {}), "losses must hold at least one"),
        (lambda: figures.losses_so_far(["a"], {"one": [1, 2]}), r"losses\['one'\] must have one number a token, 1"),
        (lambda: figures.angle_errors([1], {}), "formats must hold at least one"),
        (lambda: figures.mistakes_and_tests({}, []), "caught must hold at least one"),
        (lambda: figures.mistakes_and_tests({"a": [True]}, ["b", "c"]), "caught must have 2 answers for each"),
        (lambda: figures.distance_maps({}), "codes must hold at least one"),
        (lambda: figures.distance_maps({"a": np.ones((2, 2))}), r"one length of 3 or more, got shapes \[\(2, 2\)"),
        (lambda: figures.distance_maps({"a": W3, "b": np.ones((4, 3))}), "codes must all have shape"),
        (lambda: figures.distance_maps({"a": np.ones((3, 0))}), "codes must all have shape"),
        (lambda: figures.wave_and_dial(0.0, 3), "speed must be greater than 0, got 0.0"),
        (lambda: figures.wave_and_dial(0.5, 1), "steps must be greater than 1, got 1"),
        (lambda: figures.returns({}, 9), "speeds must hold at least one"),
        (lambda: figures.returns({"a": []}, 9), "speeds must all be lists of one number or more"),
        (lambda: figures.returns({"a": [[1.0]]}, 9), "speeds must all be lists of one number or more"),
        (lambda: figures.returns({"a": [1.0]}, 1), "reach must be greater than 1, got 1"),
        (lambda: figures.cliffs([], MEASURED), "lengths must hold at least one"),
        (lambda: figures.cliffs([1, 2], {}), "measured must hold at least one"),
        (lambda: figures.cliffs([1, 2], {"a": {}}), r"measured\['a'\] must hold at least one"),
        (lambda: figures.suspects([1, 2], {"a": {"b": [1.0]}}), r"\['b'\] must be finite, of shape \(seeds, 2\)"),
        (lambda: figures.suspects([1, 2], {"a": {"b": [1.0, np.nan]}}), "must be finite"),
        (lambda: figures.fitted_scores([], 8, 1e4, (0,)), "targets must hold at least one"),
        (lambda: figures.fitted_scores(NOISE, 8, 1e4, ()), "least_turns must hold at least one"),
        (lambda: figures.scores_of_caches(1, {}), "scores must hold at least one"),
        (lambda: figures.scores_of_caches(2, {"a": [1.0, 2.0]}), r"scores\['a'\] must be more than 2 finite numbers"),
        (lambda: figures.scores_of_caches(0, {"a": [np.nan]}), "must be more than 0 finite numbers"),
        (lambda: figures.costs_on_the_circle({}, "nats"), "costs must hold at least one"),
        (
            lambda: figures.costs_on_the_circle({"a": ([0, 2], [1, 1])}, "nats"),
            r"costs\['a'\] must be shares of a turn",
        ),
        (lambda: figures.staged_texts(8, {}), "stages must hold at least one"),
        (lambda: figures.staged_texts(8, {"a": (0, 0)}), r"stages\['a'\] must be tokens of at least 0 and times"),
        (lambda: figures.mean_waves(3, {}), "waves must hold at least one"),
        (lambda: figures.mean_waves(3, {"a": [1.0, 2.0, 3.0]}), r"waves\['a'\] must be more than 3 finite numbers"),
        (lambda: figures.repairs({}), "measured must hold at least one"),
        (lambda: figures.exams({}, {}), "measured must hold at least one"),
        (lambda: figures.exams({"a": {}}, {"a": []}), "the first exam must hold at least one"),
        (lambda: figures.exams({"a": {"b": [1.0]}}, {"a": ["b"]}), r"measured\['a'\] must have \(mean, low, high\)"),
        (
            lambda: figures.exams({"a": {"b": [1, 2, 3]}}, {"a": ["b"]}),
            r"measured\['a'\] must have \(mean, low, high\)",
        ),
        (
            lambda: figures.exams({"a": {"b": [1, 1, 1]}, "c": {"d": [1, 1, 1]}}, {"a": ["b"], "c": ["b"]}),
            r"measured\['c'\] must have \(mean, low, high\)",
        ),
        (
            lambda: figures.exams({"a": {"b": [1, 1, 1]}}, {"a": ["b"]}, ["c"]),
            r"less_is_better must name exams of measured, got \['c'\]",
        ),
        (lambda: figures.exams({"a": {"b": [1, 1, 1]}}, {"a": ["c"]}), r"level must name some of \['b'\]"),
        (lambda: figures.exams({"a": {"b": [1, 1, 1]}}, {"a": []}), r"level must name some of \['b'\]"),
        (lambda: figures.exams({"a": {"b": [1, 1, 1]}}, {}), r"level must name some of \['b'\]"),
        (lambda: figures.order_of_schemes([], [[]]), "schemes must hold at least one"),
        (lambda: figures.order_of_schemes(["a"], [[0, 1], [-1, 0]]), "verdicts must be 1 × 1"),
        (lambda: figures.order_of_schemes(["a", "b"], [[0, 1], [1, 0]]), "verdicts must be 2 × 2"),
        (lambda: figures.order_of_schemes(["a", "b"], [[0, 2], [-2, 0]]), "verdicts must be 2 × 2"),
        (lambda: figures.copying_by_distance([], {"a": []}, 1, 2), "distances must hold at least one"),
        (lambda: figures.copying_by_distance([1], {}, 1, 2), "measured must hold at least one"),
        (lambda: figures.copying_by_distance([1, 2], {"a": [1]}, 1, 2), r"measured\['a'\] must be 2 finite numbers"),
        (lambda: figures.looking_back([], {}), "places must hold at least one"),
        (lambda: figures.attention_by_distance({"a": [2.0]}), r"heads\['a'\] must be weights from 0 to 1"),
        (lambda: figures.permuted(["a", "b"], [0, 1], np.eye(2)), "order must be the places 0 to 1 in another order"),
        (lambda: figures.permuted(["a", "b"], [1, 0], np.eye(3)), "weights must be 2 × 2"),
        (lambda: figures.gossip(["alone"]), "sentences must have at least two words"),
        (lambda: figures.slopes({"a": []}, 100), "speeds must all be lists of one number"),
        (lambda: figures.slopes({"a": [1.0]}, 50), "reach must be a power of ten"),
        (lambda: figures.copying_circuit("a b c"), "text must end with a word that stands once before, got 'a b c'"),
        (lambda: figures.copying_circuit("a"), "text must end with a word that stands once before, got 'a'"),
        (lambda: figures.copying_circuit("b a a"), "text must have a word between the last one and its copy, got"),
        (lambda: figures.clock_from_share([], CLOCK, ONE_BACK), "share must hold at least one"),
        (lambda: figures.clock_from_share([1, 0.5], CLOCK, ONE_BACK), "must be of 2 places, as share is, got shapes"),
        (lambda: figures.found_by_length([8], {}, 8, 4), "measured must hold at least one"),
        (
            lambda: figures.found_by_length([8], {"a": [1, 0]}, 8, 4),
            r"finite, of shape \(seeds, 1\), got shape \(1, 2\)",
        ),
        (lambda: figures.looking_back([1], {}), "weights must hold at least one"),
        (lambda: figures.looking_back([1, 2], {"a": [1]}), r"weights\['a'\] must be 2 finite numbers"),
        (lambda: figures.places_read([0, 1], READ), "places must all be greater than 0"),
        (lambda: figures.places_read([1], {}), "readings must hold at least one"),
        (lambda: figures.places_read([1, 2], READ), r"greater than 0, of shape \(samples, 2\), got"),
        (lambda: figures.repairs({"a": {"b": {"c": [1.0]}, "d": {"e": [1.0]}}}), r"\['d'\] must have finite values"),
    ],
)
def test_refused(draw, words):
    with pytest.raises(ValueError, match=words):
        draw()


# ---------------------------------------------------------------------------------------------------------------------
# The figures that the source notes have lost

LOST = [  # by note, and their numbers there
    ("001", "1"),
    ("001", "2-3"),
    *(("001", str(number)) for number in range(4, 16)),
    *(("001", number) for number in ("16-17", "18-21", "22", "23", "24")),
    *(("004", f"{name}.png") for name in ("RoPE", "RoPE1", "RoPE2", "RoPE3", "RoPE4")),
    ("000", "Pasted image 20260215122826.png"),
    *(("002", name) for name in ("test_1.py", "rope.py")),
]


def test_every_lost_figure_is_drawn_or_dropped_for_a_reason():
    here = Path(__file__)
    rows = tomllib.loads(here.with_name("lost_figures.toml").read_text(encoding="utf-8"))["figure"]
    assert [(row["note"], row["figure"]) for row in rows] == LOST
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(here.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "figures"
    }
    for row in rows:
        assert set(row) - {"note", "figure", "shows"} in ({"drawn"}, {"dropped"}), row
        assert row["shows"].strip()
        if "drawn" in row:
            assert row["drawn"] in called
            assert callable(getattr(figures, row["drawn"]))
        else:
            assert row["dropped"].endswith(".")
