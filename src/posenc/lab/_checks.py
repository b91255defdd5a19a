"""Checks of arguments that are no numbers."""

from __future__ import annotations

from posenc._arrays import describe


def instance(name: str, value: object, *kinds: type) -> None:
    """Raises TypeError unless `value` is an instance of one of the classes."""
    if not isinstance(value, kinds):
        raise TypeError(f"{name} must be a {' or '.join(kind.__name__ for kind in kinds)}, got {describe(value)}")
