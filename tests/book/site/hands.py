"""Hands in the picture of an explorable: what a mouse or a finger drags and presses on its canvas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.book.site.live import Live

# Two frames later, a finger meets the page as it stands then: before, it would push what was drawn last.
INTO_THE_MIDDLE = """(canvas) => new Promise((drawn) => {
  canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
  requestAnimationFrame(() => requestAnimationFrame(() => drawn()));
})"""


def drag(live: Live, points: Sequence[tuple[float, float]], finger: bool = False) -> None:
    """Drag from the first of these points of the canvas through all others to the last, by mouse or finger."""
    canvas = live.figure.locator("canvas")
    canvas.evaluate(INTO_THE_MIDDLE)
    box = canvas.bounding_box()
    assert box is not None
    first, *others = [(box["x"] + x, box["y"] + y) for x, y in points]
    if finger:
        session = live.page.context.new_cdp_session(live.page)
        for kind, places in (("touchStart", [first]), *(("touchMove", [place]) for place in others), ("touchEnd", [])):
            touches = [{"x": x, "y": y} for x, y in places]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})
        return
    live.page.mouse.move(*first)
    live.page.mouse.down()
    for place in others:
        live.page.mouse.move(*place)
    live.page.mouse.up()


def press(live: Live, x: float, y: float) -> None:
    """Press a point of the canvas."""
    live.figure.locator("canvas").click(position={"x": x, "y": y})


def handle_of(live: Live, name: str) -> dict[str, Any]:
    """One handle of the picture, as the explorable describes it."""
    [found] = [handle for handle in live.evaluate("explorable.handles") if handle["name"] == name]
    return found


def drag_handle(live: Live, name: str, across: float, down: float = 0, hold: float = 0) -> None:
    """Drag a handle by so many pixels with the mouse, taken hold of so far from its middle."""
    handle = handle_of(live, name)
    x, y = handle["x"] + hold, handle["y"]
    drag(live, [(x, y), (x + across / 2, y + down / 2), (x + across, y + down)])
    live.settle()
