"""posenc.figures: what holds for every figure. Titles fit, colours hold on both themes, each is drawn somewhere."""

import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from posenc import figures
from tests.unit.figure_examples import EXAMPLES, alt, drawn, title

ROOT = Path(__file__).resolve().parents[2]
LIGHT, DARK = "#ffffff", "#121212"
ON_PAGES = {"losses_and_biases"}  # of the findings page
WHOLE = {c for value in figures.PALETTE.values() for c in (value if isinstance(value, list) else [value])}
EVERY = pytest.mark.parametrize("name", EXAMPLES)


def luminance(colour: str) -> float:
    channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_every_colour_stands_out_on_both_themes():
    between = [re.findall(r"[\d.]+", colour) for colour in figures.pair_colours(64)]
    for colour in [*WHOLE, *("#{:02x}{:02x}{:02x}".format(*(round(float(level)) for level in rgb)) for rgb in between)]:
        for ground in (LIGHT, DARK):
            dark, bright = sorted([luminance(colour), luminance(ground)])
            assert (bright + 0.05) / (dark + 0.05) >= 3, f"{colour} on {ground}"


def test_every_figure_is_drawn_in_the_book():
    cells = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert set(EXAMPLES) - {*re.findall(r"\bfigures\.(\w+)", cells)} == {"texture", *ON_PAGES}


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
def test_it_is_small_and_its_axes_are_named(name):
    figure = drawn(name)
    assert len(figure.to_json()) <= 400_000
    assert any(axis.title.text for axis in figure.select_xaxes())
    if name not in ("pair_cosines", "decay_for_bases"):  # S and cosines, as titles of rows and of the figure say
        assert any(axis.title.text for axis in figure.select_yaxes())


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
    faded = {tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5)) for colour in WHOLE}
    text = repr(figure)
    assert set(re.findall(r"#[0-9a-fA-F]{6}\b", text)) <= WHOLE
    assert {tuple(map(int, found)) for found in re.findall(r"rgba\((\d+), (\d+), (\d+)", text)} <= faded
    assert set(re.findall(r"rgb\([^)]*\)", text)) <= scale()
    assert re.findall(r"#[0-9a-fA-F]{6}\b|rgba?\(", text)


W3 = np.full((3, 3), 1 / 3)
REFUSED = [
    (lambda: figures.rotations_by_model({}), "models must hold at least one, got {}"),
    (lambda: figures.weighted_sum("abc", [0.5, 0.5], W3, 0, "abc"), r"weights must have shape \(3,\).*got shapes \(2"),
    (lambda: figures.attention_maps("abc", {"a": W3[:2]}, 0), r"tables\['a'\] must be 3 × 3, got shape \(2, 3\)"),
    (lambda: figures.attention_by_distance({"a": [2.0]}), r"heads\['a'\] must be weights from 0 to 1"),
    (lambda: figures.bias_maps({"a": np.full((2, 2), np.nan)}), r"maps\['a'\] must be square and finite"),
    (lambda: figures.transformer_xl_terms([1], [1, 2], [1], [1], [1]), r"k must be 1 to 6 finite numbers, as many"),
    (lambda: figures.patch_maps({"a": np.eye(3)}, (2, 0)), "query must have a patch to the right and one below"),
    (lambda: figures.accuracy_maps({"p": [[0.5, 1]]}, ["a"], [1], "tokens", 0.5), r"panels\['p'\] must be shares"),
    (lambda: figures.induction_circuit("a b c"), "text must end with a word that occurs once before, got 'a b c'"),
    (lambda: figures.score_terms([W3, W3, W3, W3[:2]]), r"terms must all have shape \(queries, keys\)"),
    (lambda: figures.distance_biases(3, {"a": [1.0, 2.0, 3.0]}), r"biases\['a'\] must be more than 3 finite numbers"),
]


@pytest.mark.parametrize(("draw", "words"), REFUSED)
def test_what_cannot_be_drawn_is_named(draw, words):
    with pytest.raises(ValueError, match=words):
        draw()


def test_every_lost_figure_is_drawn_or_dropped_for_a_reason():
    rows = tomllib.loads(Path(__file__).with_name("lost_figures.toml").read_text(encoding="utf-8"))["figure"]
    assert len({(row["note"], row["figure"]) for row in rows}) == len(rows) == 27
    for row in rows:
        assert set(row) - {"note", "figure", "shows"} in ({"drawn"}, {"dropped"}), row
        assert row["shows"].strip()
        assert row["drawn"] in EXAMPLES if "drawn" in row else row["dropped"].endswith(".")
