"""Rotation2D: a query and a key rotated by their positions, and the score, which depends on their distance."""

from __future__ import annotations

from posenc.widgets._base import Choice, Control, Explorable, Switch

FARTHEST = 32  # the greatest position, and the greatest offset that is drawn
_FOUR = {"view": ["interleaved", "half-split"]}


def _coordinate(default: float, needs: dict[str, list[str]] | str = "") -> Control:
    return Control(default, -1.5, 1.5, "hundredths", needs=needs, compact=True)


class Rotation2D(Explorable):
    """A query and a key as arrows in one plane, or in the two planes of four dimensions."""

    module = "rotation_2d"
    room = (671, 749)
    main = ("m", "locked")

    view = Choice("two")
    m = Control(9, 0, FARTHEST, "integer")
    n = Control(6, 0, FARTHEST, "integer")
    theta = Control(0.4, 0, 3.14, "hundredths")
    locked = Switch(True)
    q1 = _coordinate(1.3)
    q2 = _coordinate(0.4)
    q3 = _coordinate(0.6, _FOUR)
    q4 = _coordinate(-0.9, _FOUR)
    k1 = _coordinate(0.5)
    k2 = _coordinate(1.1)
    k3 = _coordinate(1.0, _FOUR)
    k4 = _coordinate(0.3, _FOUR)
