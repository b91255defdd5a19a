"""posenc.figures: what holds for every figure. Titles fit, colours hold on both themes, each is drawn somewhere."""

import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from posenc import figures
from posenc.figures.findings import losses_and_biases
from tests.unit.figure_examples import EXAMPLES, METHODS, alt, drawn, title

ROOT = Path(__file__).resolve().parents[2]
LIGHT, DARK = "#ffffff", "#121212"
ON_PAGES = {"losses_and_biases"}  # of the findings page
EVERY = pytest.mark.parametrize("name", EXAMPLES)


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


def test_every_figure_is_drawn_in_the_book():
    cells = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert {name for name in EXAMPLES if not re.search(rf"\bfigures\.{name}\b", cells)} == {"texture", *ON_PAGES}


def test_every_figure_has_an_example():
    public = {name for name in figures.__all__ if callable(getattr(figures, name))}
    assert public - {"pair_colours"} == set(EXAMPLES) - {"texture", *ON_PAGES}


@EVERY
def test_titles_fit_and_alternative_texts_say_more(name):
    figure = drawn(name)
    assert alt(figure).startswith(title(figure))
    assert len(alt(figure)) > len(title(figure)) + 10
    assert all(len(line) <= 75 for line in figure.layout.title.text.split("<br>"))


@EVERY
def test_axes_are_named(name):
    figure = drawn(name)
    assert any(axis.title.text for axis in figure.select_xaxes())
    if name not in ("pair_cosines", "decay_for_bases"):  # S and cosines, as titles of rows and of the figure say
        assert any(axis.title.text for axis in figure.select_yaxes())


@EVERY
def test_a_figure_is_small(name):
    assert len(drawn(name).to_json()) <= 400_000


@pytest.mark.release
@EVERY
def test_a_figure_is_the_same_every_time(name):
    assert drawn(name).to_json() == EXAMPLES[name]().to_json()


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


W3, SEED, TWO = np.full((3, 3), 1 / 3), [(1, 1, 1), (2, 2, 2)], ["a", "b"]
REFUSED = [
    (lambda: figures.rotations_by_model({}), "models must hold at least one, got {}"),
    (lambda: figures.eight_terms([1.0, 0.0], [1.0, 0.0], 0.4, 3, 1), "reach must be greater than 1, got 1"),
    (lambda: figures.training_losses({"a": [np.nan]}, 1, 1.0), r"losses\['a'\] must be finite numbers"),
    (lambda: figures.weighted_sum("abc", [0.5, 0.5], W3, 0, "abc"), r"weights must have shape \(3,\).*got shapes \(2"),
    (lambda: figures.weighted_sum("abc", [0.5, 0.7, -0.2], W3, 0, "abc"), "weights must be at least 0, got .*-0.2"),
    (lambda: figures.weighted_sum("abc", W3[0], W3, 3, "abc"), "query must be between 0 and 2.*got 3"),
    (lambda: figures.attention_maps("abc", {"a": W3[:2]}, 0), r"tables\['a'\] must be 3 × 3, got shape \(2, 3\)"),
    (lambda: figures.attention_maps("abc", {"a": W3}, -1), "query must be between 0 and 2.*got -1"),
    (lambda: figures.score_std([4], {"a": ([1.0], [np.nan])}, 8), r"measured\['a'\] must be two rows of 1 finite"),
    (lambda: figures.attention_by_distance({"a": [2.0]}), r"heads\['a'\] must be weights from 0 to 1"),
    (lambda: figures.permuted_weights(TWO, [0, 1], np.eye(2)), "order must be the positions 0 to 1 in another order"),
    (lambda: figures.permuted_weights(TWO, [1, 0], np.eye(3)), "weights must be 2 × 2"),
    (lambda: figures.causal_information_flow(["alone"]), "sentences must have at least two words"),
    (lambda: figures.biases_by_distance([0, 1], {"a": [0.0, -np.inf]}), r"biases\['a'\] must be 2 finite numbers"),
    (lambda: figures.learned_biases([0], np.array([[np.nan]])), r"heads must be finite, shape \(heads, 1\)"),
    (lambda: figures.attention_reach([8], {"a": [9]}), r"nearest\['a'\] must be 1 numbers of keys, none above"),
    (lambda: figures.bias_maps({"a": np.full((2, 2), np.nan)}), r"maps\['a'\] must be square and finite"),
    (lambda: figures.transformer_xl_terms([1], [1, 2], [1], [1], [1]), r"k must be 1 to 6 finite numbers, as many"),
    (lambda: figures.step_sizes([5, 1]), r"lengths must all be at least 2.*\[5, 1\]"),
    (lambda: figures.encoding_tables({"a": np.ones((3, 2)), "b": np.ones((4, 2))}), "with one length"),
    (lambda: figures.distance_maps({"a": np.ones((2, 2))}), r"one length of 3 or more, got shapes \[\(2, 2\)"),
    (lambda: figures.pairs_used({"a": np.ones(4), "b": np.ones(3)}, 1), "heads must have numbers of as many pairs"),
    (lambda: figures.pairs_used({"a": np.ones(4)}, 4), "fast must be from 1 to 3"),
    (lambda: figures.photograph({"a": (13, [(0, 0)])}), r"panels\['a'\] must be up to 12 columns"),
    (lambda: figures.patch_maps({"a": np.eye(3), "b": np.eye(4)}, (0, 0)), "maps must all have one shape"),
    (lambda: figures.patch_maps({"a": np.eye(3)}, (2, 0)), "query must have a patch to the right and one below"),
    (lambda: figures.patch_maps({"a": np.full((3, 3), np.inf)}, (0, 0)), r"maps\['a'\] must be finite"),
    (lambda: figures.pairs_by_axis({"a": ([0, 1], [1.0])}, ["x", "y"]), "a positive frequency for each pair"),
    (lambda: figures.pairs_by_axis({"a": ([0, 0], [1.0, 1.0])}, ["x", "y"]), r"got none for \['y'\]"),
    (lambda: figures.accuracy_maps({"p": [[0.5, 1]]}, ["a"], [1], "tokens", 0.5), r"panels\['p'\] must be shares"),
    (lambda: figures.loss_past_context(8, 4, {"a": [1.0, 2.0]}), r"losses\['a'\] must be more than 2 finite numbers"),
    (lambda: figures.scaling_ratios(8, 1e4, 64, METHODS), r"methods\['linear'\] must have 4 frequencies.*\(32,\)"),
    (lambda: figures.over_seeds([1, 2], {"p": {"a": SEED}}, "a", "b", ("c", [1, 2])), "reference must have 1 values"),
    (lambda: figures.over_seeds([1], {"p": {"a": SEED}}, "a", "b", ("c", [1])), "must be 1 times three finite"),
    (lambda: figures.scores_by_cache(0, {"a": [np.nan]}), r"scores\['a'\] must be more than 0 finite numbers"),
    (lambda: figures.excess_loss_by_angle({"a": ([0, 2], [1, 1])}, "nats"), r"costs\['a'\] must be fractions"),
    (lambda: figures.benchmarks({"a": {"b": [np.nan]}}), r"measured\['a'\] must have finite values of \['b'\]"),
    (lambda: figures.benchmarks({"a": {"b": [1]}}, ["c"]), "lower_is_better must name benchmarks of measured"),
    (lambda: figures.scheme_comparison(TWO, [[0, 1], [1, 0]]), "verdicts must be 2 × 2"),
    (lambda: figures.copy_accuracy_by_distance([1, 2], {"a": [1]}, 1, 2), r"measured\['a'\] must be 2 finite numbers"),
    (lambda: figures.induction_circuit("a b c"), "text must end with a word that occurs once before, got 'a b c'"),
    (lambda: figures.induction_circuit("b a a"), "text must have a word between the last one and its copy, got"),
    (lambda: figures.position_from_weight([1, 0.5], W3, W3), "must be of 2 positions, as share is, got shapes"),
    (lambda: figures.accuracy_by_length([8], {"a": [1, 0]}, 8, 4), r"finite, of shape \(seeds, 1\), got"),
    (lambda: figures.previous_token_weights([1, 2], {"a": [1]}), r"weights\['a'\] must be 2 finite numbers"),
    (lambda: figures.decoded_positions([0, 1], {}), "places must all be greater than 0"),
    (lambda: figures.decoded_positions([1, 2], {"a": W3}), r"greater than 0, of shape \(samples, 2\), got"),
    (lambda: figures.cosine_and_sine_parts([1.0, 0.0], [1.0, np.nan], 0.4, 9), "k must be two finite numbers.*nan"),
    (lambda: figures.pair_peaks([1j, 1j], [1.0, 0.1], [2], 6), "pairs must be from 0 to 1, got 2"),
    (lambda: figures.matrices_between_rotations(W3[:2], W3[:2], 7, 2, 100), "must both be square"),
    (lambda: figures.score_wave({"a": np.nan}, 1.0, 8), r"products\['a'\] must be a complex number"),
    (lambda: figures.paths_in_planes(np.eye(4), [1.0], 9), r"x must have shape \(4,\), got \(1,\)"),
    (lambda: figures.shifted_encodings({"a": W3}, [0, 1, 4]), r"must have 3 rows that reach beyond \[0 1 4\]"),
    (lambda: figures.cumulative_losses(["a"], {"one": [1, 2]}), r"losses\['one'\] must have one number per token"),
    (lambda: figures.losses_by_position({"a": np.ones(3)}), r"losses\['a'\] must have shape \(texts, tokens\)"),
    (lambda: figures.mistakes_and_tests({"a": [True]}, TWO), "caught must have 2 answers for each"),
    (lambda: figures.chirps([1], 8, 1e4, 5), "pairs must be between 0 and 3, the last of dim = 8"),
    (lambda: figures.added_encoding(W3, W3[:, :2], {"a": 1.0}), r"got shapes \(3, 3\) and \(3, 2\)"),
    (lambda: figures.products_through_weights([-1, 0, 2], [0, 1], 8, 1e4, {"a": None}), "offsets must be −n … n"),
    (lambda: figures.projected_sum(W3[:2], W3[:2], [W3]), r"and \(2, dim, dim\), got .* and \(1, 3, 3\)"),
    (lambda: figures.rotated_and_mapped({"a": W3}, 1.0), r"weights\['a'\] must have shape \(2, 2\), got shape"),
    (lambda: figures.block_maps({"a": np.zeros((2, 2))}), r"weights\['a'\] must be square, of even size and not all 0"),
    (lambda: figures.score_terms([W3, W3, W3, W3[:2]]), r"terms must all have shape \(queries, keys\)"),
    (lambda: figures.distance_and_dilution(8, {"a": (0, 0)}), r"conditions\['a'\] must be tokens of at least 0"),
    (lambda: figures.distance_biases(3, {"a": [1.0, 2.0, 3.0]}), r"biases\['a'\] must be more than 3 finite numbers"),
    (
        lambda: losses_and_biases(4, {"a": ([1, 2], 0, "top left")}, {"b": ([1, 2], 0, "top left")}),
        "biases must be among the losses, which are a, got 'b'",
    ),
    (
        lambda: losses_and_biases(4, {"a": ([1, 2], 0, "top left"), "b": ([1], 0, "top left")}, {"a": ()}),
        "the values of 'b' must be 2 to 2 finite numbers",
    ),
]


@pytest.mark.parametrize(("draw", "words"), REFUSED)
def test_what_cannot_be_drawn_is_named(draw, words):
    with pytest.raises(ValueError, match=words):
        draw()


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
    rows = tomllib.loads(Path(__file__).with_name("lost_figures.toml").read_text(encoding="utf-8"))["figure"]
    assert [(row["note"], row["figure"]) for row in rows] == LOST
    for row in rows:
        assert set(row) - {"note", "figure", "shows"} in ({"drawn"}, {"dropped"}), row
        assert row["shows"].strip()
        assert row["drawn"] in EXAMPLES if "drawn" in row else row["dropped"].endswith(".")
