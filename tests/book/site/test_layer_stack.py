"""LayerStack beyond the battery: switches in the picture, their chips, the match."""

from __future__ import annotations

import pytest

from posenc.widgets import LayerStack
from tests.book.site.hands import drag, press
from tests.explorables import shown

pytestmark = pytest.mark.xdist_group("LayerStack")


def switch(live, layer: int, which: str) -> tuple[float, float]:
    """Where a switch of a layer is pressed, the lowest being 0."""
    x, y = live.evaluate(f"explorable.pixel({layer}, 1)")
    narrow = x < 150  # then its switches are above it
    return {"rotation": 50, "window": 110 if narrow else 140}[which], y - 22 if narrow else y


@pytest.mark.parametrize("width", [1280, 360])
def test_a_layer_is_switched_in_the_picture(open_live, width):
    live = open_live(LayerStack, width=width)
    for layer, which, pattern in (
        (3, "rotation", "RRRR"),
        (0, "window", "rRRR"),
        (2, "window", "rRrR"),
        (2, "rotation", "rRnR"),
    ):
        press(live, *switch(live, layer, which))
        assert live.get("layers") == pattern
        assert live.finding == shown(LayerStack, layers=pattern).finding
    pressed = live.control("model").get_by_role("radio", checked=True)
    assert pressed.count() == 0, "no model has these layers"
    live.set(layers="NRRN")
    press(live, *switch(live, 0, "rotation"))
    assert live.get("layers") == "", "as the model has them"
    assert pressed.count() == 1


def test_a_layer_is_switched_by_keys_and_layers_come_and_go(open_live):
    live = open_live(LayerStack)
    live.open()
    group = live.figure.get_by_role("group", name="layers", exact=True)
    first = group.get_by_role("button", name="layer 1 from below: global RoPE", exact=True)
    first.focus()
    for pattern in ("rRRN", "NRRN", "nRRN", ""):
        live.page.keyboard.press("Enter")
        assert live.get("layers") == pattern
        live.page.keyboard.press("Shift")
    assert group.get_by_role("button", name="layer 4 from below: global NoPE", exact=True).count() == 1
    add, take = (group.get_by_role("button", name=name) for name in ("Add a layer", "Remove a layer"))
    for count in range(5, 13):
        add.click()
        assert live.get("layers") == (3 * "RRRN")[:count]
        assert live.finding == shown(LayerStack, layers=live.get("layers")).finding
    assert add.is_disabled()
    for count in range(11, 3, -1):
        take.click()
        assert live.values()["pattern"] == (3 * "RRRN")[:count]
    assert take.is_disabled()


@pytest.mark.parametrize("finger", [False, True])
def test_the_match_is_dragged_on_any_strip(open_live, finger):
    live = open_live(LayerStack, width=360, has_touch=True)
    for layer, back in ((0, 40), (3, 20_000), (2, 1)):
        x, y = live.evaluate(f"explorable.pixel({layer}, {live.get('distance')})")
        to, _ = live.evaluate(f"explorable.pixel({layer}, {back})")
        drag(live, [(x, y), ((x + to) / 2, y), (to, y)], finger=finger)
        assert live.get("distance") == pytest.approx(back, rel=0.08)
