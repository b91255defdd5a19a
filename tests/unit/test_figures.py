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
    assert {name for name in EXAMPLES if not re.search(rf"\bfigures\.{name}\b", cells)} == {"texture"}


def test_every_figure_has_an_example():
    public = {name for name in figures.__all__ if callable(getattr(figures, name))}
    assert public - {"pair_colours"} == set(EXAMPLES) - {"texture"}


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


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: figures.rotations_by_model({}), "models must hold at least one, got {}"),
        (lambda: figures.eight_terms([1.0, 0.0], [1.0, 0.0], 0.4, 3, 1), "reach must be greater than 1, got 1"),
    ],
)
def test_nothing_to_draw_and_numbers_too_small_are_refused(draw, words):
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
