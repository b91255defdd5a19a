"""Assignment 6 has no question that a program grades."""

from typing import Any

WRONG: dict[str, dict[str, Any]] = {}
PROPERTY_ONLY: dict[str, dict[str, Any]] = {}
RIGHT: dict[str, dict[str, Any]] = {}
