"""RotationPlanes: a rotation of four dimensions decomposed into two planes, and one plane as complex numbers."""

from __future__ import annotations

from posenc.widgets._base import Action, Choice, Control, Explorable

_FOUR, _PLANE = {"view": ["four"]}, {"view": ["plane"]}


class RotationPlanes(Explorable):
    """The path of one vector under the powers of a rotation, from any side; and one plane of it as complex numbers."""

    module = "rotation_planes"
    room = (661, 748)
    main = ("view", "align", "w_angle")

    view = Choice("four", chips=True)
    align = Control(0.0, 0, 1, "hundredths", needs=_FOUR)
    orbit_13 = Control(0.0, -3.14, 3.14, "hundredths", needs=_FOUR)
    orbit_24 = Control(0.0, -3.14, 3.14, "hundredths", needs=_FOUR)
    theta_1 = Control(1.0, 0, 3.14, "hundredths", needs=_FOUR)
    theta_2 = Control(0.23, 0, 3.14, "hundredths", needs=_FOUR)
    draw = Action(3, needs=_FOUR)
    w_length = Control(1.0, 0.3, 1.5, "hundredths", needs=_PLANE)
    w_angle = Control(0.6, -3.14, 3.14, "hundredths", needs=_PLANE)
    z_real = Control(0.5, -1.2, 1.2, "hundredths", needs=_PLANE)
    z_imaginary = Control(1.1, -1.2, 1.2, "hundredths", needs=_PLANE)
