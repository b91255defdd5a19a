"""The part of ipywidgets that the book uses, in a page: `interact` and its controls, whose sliders the page draws.

What a control takes, and what `interact` makes of a number, a pair, a list or a truth value, is as in ipywidgets.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import page_cells

# what says how a control looks, which is the page's business
LOOKS = {"continuous_update", "disabled", "layout", "orientation", "readout", "readout_format", "style"}


class Control:
    """What one argument of a function is set by.

    Attributes:
        kind: "slider", "log", "choice" or "switch".
    """

    kind = ""

    def __init__(self, value: Any, description: str = "", **looks: Any) -> None:
        if unknown := sorted(set(looks) - LOOKS):
            raise TypeError(f"{type(self).__name__} takes no {unknown[0]} in a page")
        self.value, self.description = value, description

    def accept(self, value: Any) -> Any:
        """A value that the page sends, as the function gets it."""
        return value

    def state(self) -> dict[str, Any]:
        """What the page needs to draw it."""
        return {"kind": self.kind, "value": self.value}


ValueWidget = Control


class _Slider(Control):
    kind = "slider"
    whole = False

    def __init__(self, value: Any, least: Any, greatest: Any, step: Any, **options: Any) -> None:
        name = type(self).__name__
        for told, number in {"value": value, "min": least, "max": greatest, "step": step}.items():
            if not isinstance(number, Real) or isinstance(number, bool) or not math.isfinite(number):
                raise TypeError(f"{name}: {told} must be a finite number, got {number!r}")
            if self.whole and not isinstance(number, Integral):
                raise TypeError(f"{name}: {told} must be an integer, got {number!r}")
        if not least <= greatest or step <= 0:
            raise ValueError(f"{name}: min must not exceed max, and step be above 0, got {least}, {greatest}, {step}")
        super().__init__(value, **options)
        self.min, self.max, self.step = least, greatest, step
        self._keep_within()

    def _keep_within(self) -> None:
        self.value = min(max(self.value, self.min), self.max)

    def accept(self, value: Any) -> Any:
        return int(value) if self.whole else float(value)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "least": self.min, "greatest": self.max, "step": self.step}


class IntSlider(_Slider):
    """An integer from `min` to `max`."""

    whole = True

    def __init__(self, value: int = 0, min: int = 0, max: int = 100, step: int = 1, **options: Any) -> None:  # noqa: A002
        super().__init__(value, min, max, step, **options)


class FloatSlider(_Slider):
    """A number from `min` to `max`."""

    def __init__(
        self,
        value: float = 0.0,
        min: float = 0.0,
        max: float = 10.0,
        step: float = 0.1,
        **options: Any,  # noqa: A002
    ) -> None:
        super().__init__(value, min, max, step, **options)


class FloatLogSlider(_Slider):
    """A power of `base` whose exponent runs from `min` to `max`."""

    kind = "log"

    def __init__(
        self,
        value: float = 1.0,
        base: float = 10.0,
        min: float = 0.0,  # noqa: A002
        max: float = 4.0,  # noqa: A002
        step: float = 0.1,
        **options: Any,
    ) -> None:
        if not isinstance(base, Real) or not base > 1:
            raise ValueError(f"FloatLogSlider: base must be a number above 1, got {base!r}")
        self.base = base
        super().__init__(value, min, max, step, **options)

    def _keep_within(self) -> None:
        least, greatest = self.base**self.min, self.base**self.max
        self.value = least if self.value < least else greatest if self.value > greatest else self.value

    def state(self) -> dict[str, Any]:
        return {**super().state(), "base": self.base}


class Dropdown(Control):
    """One of several options: a list of them, pairs of what is shown and what is meant, or such a dictionary."""

    kind = "choice"

    def __init__(self, options: Iterable[Any] | Mapping[str, Any] = (), value: Any = None, **more: Any) -> None:
        pairs = options.items() if isinstance(options, Mapping) else options
        told = [(one if isinstance(one, tuple) and len(one) == 2 else (one, one)) for one in pairs]
        self.labels, self.options = [str(label) for label, _ in told], [meant for _, meant in told]
        if not self.options:
            raise ValueError(f"{type(self).__name__} needs at least one option, got {options!r}")
        if value is not None and value not in self.options:
            raise ValueError(f"{type(self).__name__}: value must be one of {self.options!r}, got {value!r}")
        super().__init__(self.options[0] if value is None else value, **more)

    def accept(self, value: Any) -> Any:
        return self.options[int(value)]

    def state(self) -> dict[str, Any]:
        return {"kind": self.kind, "value": self.options.index(self.value), "labels": self.labels}


class Select(Dropdown):
    """As Dropdown."""


class RadioButtons(Dropdown):
    """As Dropdown."""


class ToggleButtons(Dropdown):
    """As Dropdown."""


class Checkbox(Control):
    """Yes or no."""

    kind = "switch"

    def __init__(self, value: bool = False, **options: Any) -> None:
        super().__init__(bool(value), **options)

    def accept(self, value: Any) -> bool:
        return bool(value)


def _range(value: Real) -> tuple[Any, Any]:
    """The limits that ipywidgets gives to a number alone."""
    if value == 0:
        return type(value)(0), type(value)(1)
    return (-value, 3 * value) if value > 0 else (3 * value, -value)


def control(value: Any) -> Control:
    """The control that `interact` makes of a value: a control, a number, a pair or three numbers, a list, yes or no."""
    if isinstance(value, Control):
        return value
    if isinstance(value, bool):
        return Checkbox(value)
    if isinstance(value, Real):
        least, greatest = _range(value)
        kind = IntSlider if isinstance(value, Integral) else FloatSlider
        return kind(value, least, greatest)
    if isinstance(value, tuple) and len(value) in (2, 3) and all(isinstance(part, Real) for part in value):
        least, greatest, *step = value
        if all(isinstance(part, Integral) for part in value):
            return IntSlider((least + greatest) // 2, least, greatest, *step)
        return FloatSlider((least + greatest) / 2, least, greatest, *(step or [0.1]))
    if isinstance(value, (list, tuple, Mapping)):
        return Dropdown(value)
    raise ValueError(f"interact makes no control of {value!r}: give a slider, a number, a pair, a list or True")


def _controls(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Control]:
    """One control for each argument: those that are given, and one for each default of another."""
    controls = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name not in given and parameter.default is parameter.empty:
            raise ValueError(f"interact needs a control for {name}, an argument of {function.__name__}")
        controls[name] = control(given.get(name, parameter.default))
    known = inspect.signature(function).parameters
    takes_more = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for name in given.keys() - known.keys():
        if not takes_more:
            raise TypeError(f"{function.__name__} has no argument {name}")
        controls[name] = control(given[name])
    return controls


def interact(function: Callable[..., Any] | None = None, /, **given: Any) -> Any:
    """Show a function's value, and a control for each of its arguments. Also a decorator, with controls or without."""
    if function is None:
        return lambda function: interact(function, **given)
    controls = _controls(function, given)

    def draw(values: Mapping[str, Any]) -> Any:
        for name, value in values.items():
            controls[name].value = controls[name].accept(value)
        return function(**{name: one.value for name, one in controls.items()})

    shown = [{"name": name, "label": one.description or name, **one.state()} for name, one in controls.items()]
    page_cells.PAGE.interact(shown, draw)
    return function
