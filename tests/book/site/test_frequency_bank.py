"""FrequencyBank beyond the battery: dials are dragged, and a pair is pressed."""

from __future__ import annotations

import math

import pytest

from posenc.widgets import FrequencyBank
from tests.book.site.hands import drag, handle_of, press

pytestmark = pytest.mark.xdist_group("FrequencyBank")  # with the battery of tests of it: they share its page


def lead(live, tip: tuple[float, float], middle: tuple[float, float], rotations: float) -> None:
    """Drag a point of a dial clockwise around its middle by so many rotations."""
    (from_x, from_y), (x, y) = tip, middle
    start, far = math.atan2(from_x - x, y - from_y), math.hypot(from_x - x, from_y - y)
    angles = [start + 2 * math.pi * rotations * k / 12 for k in range(13)]
    drag(live, [(x + far * math.sin(angle), y - far * math.cos(angle)) for angle in angles])
    live.settle()


@pytest.mark.parametrize(("pair", "rotations"), [(44, 2), (63, 0.5)])
def test_the_large_pair_is_dragged_around_and_the_distance_follows(open_live, pair, rotations):
    live = open_live(FrequencyBank)
    live.set(pair=pair, distance=500, chart="cosines")
    hand = handle_of(live, "pair")
    assert math.hypot(hand["x"] - 254, hand["y"] - 286) == pytest.approx(64, abs=1)
    lead(live, (hand["x"], hand["y"]), (254, 286), rotations)
    wavelength = 2 * math.pi * 10_000 ** (2 * pair / 128)
    assert live.get("distance") == pytest.approx(500 + rotations * wavelength, abs=max(1, 0.01 * wavelength))


@pytest.mark.parametrize("finger", [False, True])
def test_any_small_dial_is_dragged_and_a_tap_chooses_it(open_live, finger):
    live = open_live(FrequencyBank, has_touch=True)
    press(live, 23, 45)
    assert (live.get("pair"), live.get("distance")) == (0, 500)
    live.set(pair=44)
    drag(live, [(23, 37), (63, 45), (23, 85)], finger=finger)
    assert live.get("pair") == 0
    assert 0 < abs(live.get("distance") - 500) <= 3


def test_a_dial_and_its_bar_read_off_the_same_pair_and_are_pressed(open_live):
    live = open_live(FrequencyBank)
    live.set(pair=44, chart="cosines")
    canvas = live.figure.locator("canvas")
    canvas.hover(position={"x": 23, "y": 45})
    by_dial = live.readout
    assert by_dial.startswith("pair 0: cosine")
    x, y = live.evaluate("explorable.pixel(0, 0)")
    canvas.hover(position={"x": x + 0.5, "y": y})
    assert live.readout == by_dial
    canvas.click(position={"x": 23, "y": 45})
    assert live.get("pair") == 0
    x, y = live.evaluate("explorable.pixel(30, 0)")
    canvas.click(position={"x": x, "y": y})
    assert live.get("pair") == 30
