"""What the package refuses: for each public function a call that works and, by argument, values that do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A call that works, and for each argument the values that must be refused in its place."""

    good: dict[str, Any]
    bad: dict[str, list[Any]]
