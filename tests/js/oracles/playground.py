"""What Playground draws, by the package."""

from __future__ import annotations

from typing import Any

from posenc.widgets import Playground
from tools import playground


def values(widget: Playground) -> dict[str, Any]:
    """As tools/playground.py has it."""
    return playground.values(widget)
