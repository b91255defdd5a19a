"""The encoding gallery in a browser: its arithmetic, its picture and its table of scores."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.figures import PALETTE
from posenc.widgets import EncodingGallery
from tests.book.site.hands import press

pytestmark = pytest.mark.xdist_group("EncodingGallery")  # with the battery of tests of it: they share its page


def test_each_cell_has_the_colour_of_its_value(open_live):
    live = open_live(EncodingGallery, theme="light")
    live.set(scheme="sinusoidal", length=32, dim=8)
    codes = EncodingGallery(scheme="sinusoidal", length=32, dim=8).values()["codes"]
    cells = [[0, 0], [0, 1], [2, 0], [3, 1], [5, 0], [31, 6], [31, 7]]
    pixels = live.evaluate(
        """(() => {
          const canvas = figure.querySelector('canvas'), copy = new OffscreenCanvas(canvas.width, canvas.height);
          const context = copy.getContext('2d', { willReadFrequently: true });
          context.drawImage(canvas, 0, 0);
          const at = (cell) => explorable.pixel(...cell).map(Math.round);
          return x.map((cell) => Array.from(context.getImageData(...at(cell), 1, 1).data));
        })()""",
        cells,
    )
    for (position, dimension), (*colour, opacity) in zip(cells, pixels, strict=True):
        value = codes[position, dimension]
        assert abs(opacity / 255 - abs(value)) < 0.02, (position, dimension)
        if abs(value) > 0.2:
            wanted = PALETTE["score" if value > 0 else "bound"]
            assert np.abs(np.array(colour) - [int(wanted[k : k + 2], 16) for k in (1, 3, 5)]).max() < 6


def test_the_table_says_what_each_wish_scores(open_live):
    live = open_live(EncodingGallery)
    live.set(scheme="binary")
    live.open()
    rows = live.figure.locator(".posenc-table tbody tr").all_inner_texts()
    assert [row.split("\t")[1] for row in rows] == [
        "✓ 1.00", "✓ 2.45", "✓ 0", "✓ 100 %", "✗ 14.6 %", "✗ 28.0 %", "✗ 0.22",
    ]  # fmt: skip
    assert rows[1].split("\t")[2] == "up to √d = 4.00"
    live.set(scheme="sinusoidal")
    rows = live.figure.locator(".posenc-table tbody tr").all_inner_texts()
    assert [row.split("\t")[1][0] for row in rows] == list("✓✓✓✓✓✗✓")


def test_positions_without_a_code_are_said_to_have_none(open_live):
    live = open_live(EncodingGallery)
    live.set(scheme="binary", dim=4)
    reader = live.figure.locator("[data-reader=position]")
    reader.press("End")
    assert live.readout == "position 63, dimension 0: no code"
    reader.press("Home")
    assert live.readout == "position 0, dimension 0: 0"


@pytest.mark.parametrize("width", [1280, 360])
def test_a_press_on_its_column_chooses_a_code(open_live, width):
    live = open_live(EncodingGallery, width=width, height=740)
    schemes = list(EncodingGallery.catalogue["controls"]["scheme"]["options"])
    wide = live.evaluate("figure.querySelector('canvas').clientWidth")
    left = next(reader for reader in live.evaluate("explorable.readers") if reader["name"] == "code")["x"] * 2 - wide
    column = (wide - left) / len(schemes)
    for k, scheme in reversed(list(enumerate(schemes))):
        for y in (20, 120):  # on its picture, and among its verdicts
            live.set(scheme="dyadic" if scheme == "integer" else "integer")
            press(live, left + (k + 0.5) * column, y)
            assert live.get("scheme") == scheme
        assert live.finding == EncodingGallery(scheme=scheme).finding()
    press(live, 5, 120)
    assert live.get("scheme") == "integer", "the wishes' names choose nothing"


def test_the_board_is_read_off_with_its_scores(open_live):
    live = open_live(EncodingGallery)
    code, wish = (live.figure.locator(f"[data-reader={name}]") for name in ("code", "wish"))
    code.press("End")
    wish.press("End")
    assert live.readout == (
        "sinusoidal · one matrix makes a step: kept · left by the best matrix (256 positions): 0 (wished: 0)"
    )
    code.press("Home")
    wish.press("Home")
    wish.press("ArrowDown")
    assert live.readout.startswith("integer · no two codes alike: kept")
    wish.press("ArrowUp")
    assert live.readout == (
        "integer · numbers stay small: not kept · length of the longest code: 252 (wished: up to √d = 4.00)"
    )


def test_a_longer_text_moves_no_line(open_live):
    live = open_live(EncodingGallery)
    for setting in ({"scheme": "binary"}, {"scheme": "sinusoidal"}, {"scheme": "normalised"}):
        heights = set()
        for length in (16, 17, 32, 64, 95, 96):
            live.set(**setting, length=length)
            heights.add(live.evaluate("figure.querySelector('.posenc-explorable-view').offsetHeight"))
        assert len(heights) == 1, setting
