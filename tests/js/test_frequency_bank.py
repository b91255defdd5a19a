"""Arithmetic of frequency_bank in JavaScript, compared with the package."""

from __future__ import annotations

import math

import pytest


@pytest.mark.parametrize(("width", "height"), [(728, 180), (328, 84), (600, 184), (280, 84)])
def test_no_picture_of_a_pair_is_too_small_or_outside(module_of, width, height):
    for pairs in (1, 2, 3, 7, 16, 63, 64, 100, 128):
        x = {"pairs": pairs, "room": {"width": width, "height": height, "top": 20, "least": 38, "greatest": 60}}
        found = module_of("pair_grid.js")(
            """{
              const grid = A.pairGrid(x.pairs, x.room), middles = grid.shown.map(grid.middle);
              return { ...grid, middles, back: middles.map(([px, py]) => grid.at(px, py)), outside: grid.at(-50, 1e4) };
            }""",
            x,
        )
        every, size, shown = found["every"], found["size"], [int(i) for i in found["shown"]]
        assert shown == list(range(0, pairs, every))
        assert 38 <= size <= 60
        assert [int(i) for i in found["back"]] == shown
        assert found["outside"] in shown
        for across, down in found["middles"]:
            assert size / 2 - 1e-9 <= across <= width - size / 2 + 1e-9
            assert 20 + size / 2 - 1e-9 <= down <= 20 + height - size / 2 + 1e-9
        if every > 1:  # one fewer would have been too small
            assert size * size * math.ceil(pairs / (every - 1)) > width * height * 0.6


def test_a_pair_that_is_wanted_takes_the_place_of_its_neighbours(module_of):
    """On a phone, where one pair in four has a picture: the first that is wanted, and the most wanted before others."""
    found = module_of("pair_grid.js")(
        """{
          const grid = A.pairGrid(64, { width: 328, height: 84, top: 20, least: 38, greatest: 60 });
          grid.show((i) => i === 35, (i) => i === 29 || i === 33);
          return { shown: grid.shown, places: [32, 35].map(grid.middle), at: grid.at(...grid.middle(35)) };
        }"""
    )
    assert [int(i) for i in found["shown"]] == [{28: 29, 32: 35}.get(i, i) for i in range(0, 64, 4)]
    assert found["places"][0] == found["places"][1]
    assert found["at"] == 35
