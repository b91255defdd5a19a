"""FrequencyBank beyond the battery: the large clock hand is dragged, and a pair is pressed."""

from __future__ import annotations

import math

import pytest

from posenc.widgets import FrequencyBank

pytestmark = pytest.mark.xdist_group("FrequencyBank")  # with the battery of tests of it: they share its page


def lead(live, rotations: float) -> None:
    """Drag the pair shown large clockwise by so many rotations."""
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box, [hand] = canvas.bounding_box(), live.evaluate("explorable.handles")
    tip = (box["x"] + hand["x"], box["y"] + hand["y"])
    x, y = box["x"] + 248, box["y"] + 298  # the dial's middle
    start = math.atan2(tip[0] - x, y - tip[1])
    assert math.hypot(tip[0] - x, tip[1] - y) == pytest.approx(69, abs=1)
    live.page.mouse.move(*tip)
    live.page.mouse.down()
    for k in range(1, 13):
        angle = start + 2 * math.pi * rotations * k / 12
        live.page.mouse.move(x + 40 * math.sin(angle), y - 40 * math.cos(angle))  # at whatever distance from the middle
    live.page.mouse.up()


@pytest.mark.parametrize(("pair", "rotations"), [(44, 1), (44, 2), (20, 3), (63, 0.5), (44, -0.1)])
def test_the_large_pair_is_dragged_around_and_the_distance_follows(open_live, pair, rotations):
    live = open_live(FrequencyBank)
    live.set(pair=pair, distance=500)
    lead(live, rotations)
    wavelength = 2 * math.pi * 10_000 ** (2 * pair / 128)
    assert live.get("distance") == pytest.approx(500 + rotations * wavelength, abs=max(1, 0.01 * wavelength))


def test_a_dial_and_its_bar_read_off_the_same_pair_and_are_pressed(open_live):
    live = open_live(FrequencyBank)
    live.set(pair=44)
    canvas = live.figure.locator("canvas")
    canvas.hover(position={"x": 23, "y": 45})
    by_dial = live.readout
    assert by_dial.startswith("pair 0: wavelength 6.283 tokens · 79.58 rotations · cosine")
    x, y = live.evaluate("explorable.pixel(0, 0)")
    canvas.hover(position={"x": x + 0.5, "y": y})
    assert live.readout == by_dial
    canvas.click(position={"x": 23, "y": 45})
    assert live.get("pair") == 0
    x, y = live.evaluate("explorable.pixel(30, 0)")
    canvas.click(position={"x": x, "y": y})
    assert live.get("pair") == 30
