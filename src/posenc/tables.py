"""Printed tables, so that a cell shows its arithmetic instead of formatting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any
from unicodedata import east_asian_width

__all__ = ["table"]

show: Callable[[str, str], None] | None = None  # takes a table as text and as HTML; the pages of the book set it


def table(rows: Iterable[Sequence[Any]], columns: Sequence[str], digits: int | Sequence[int] = 3) -> None:
    """Prints `rows` under `columns`, numbers aligned right and strings left.

    Args:
        rows: of Python's or NumPy's numbers, tensors of one element, strings, True and False, or None.
        columns: names.
        digits: decimals of floats, in all columns or one per column.

    Raises ValueError if a row, or `digits`, does not have one entry per column.

    >>> rows = [("fast", 1, 0.5403), ("slow", 100, -1.0)]
    >>> table(rows, columns=["pair", "distance", "cosine"], digits=2)
    pair  distance  cosine
    fast         1    0.54
    slow       100   -1.00
    """
    decimals = [digits] * len(columns) if isinstance(digits, int) else list(digits)
    entries = [[_plain(entry) for entry in row] for row in rows]
    for line in [decimals, *entries]:
        if len(line) != len(columns):
            raise ValueError(f"{line} has {len(line)} entries, and there are {len(columns)} columns")
    written = [[_formatted(*pair) for pair in zip(line, decimals, strict=True)] for line in entries]
    widths = [max(map(_width, column)) for column in zip(columns, *written, strict=True)]
    right = [all(not isinstance(line[k], str) for line in entries) for k in range(len(columns))]
    lines = [list(columns), *written]
    text = ""
    for line in lines:
        cells = zip(line, widths, right, strict=True)
        padded = (_padded(entry, width - _width(entry), to_right) for entry, width, to_right in cells)
        text += "  ".join(padded).rstrip() + "\n"
    if show:
        show(text, _html(lines, right))
    else:
        print(text, end="")


def _width(text: str) -> int:
    """How many columns of a terminal a text takes: a Chinese character takes two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _padded(text: str, spaces: int, to_right: bool) -> str:
    return " " * spaces + text if to_right else text + " " * spaces


def _html(lines: list[list[str]], right: list[bool]) -> str:
    """The table as HTML; a class says which columns stand to the right."""

    def row(kind: str, line: list[str]) -> str:
        cells = []
        for text, to_right in zip(line, right, strict=True):
            tag = kind if text else "td"  # a header without words heads nothing
            cells.append(f"<{tag} class=posenc-right>{escape(text)}" if to_right else f"<{tag}>{escape(text)}")
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(row("td", line) for line in lines[1:])
    return f'<div class="output posenc-table"><table><thead>{row("th", lines[0])}<tbody>{body}</table></div>'


def _plain(entry: Any) -> Any:
    """A number of NumPy or torch as Python's."""
    return entry.item() if hasattr(entry, "item") else entry


def _formatted(entry: Any, digits: int) -> str:
    if entry is None:
        return "–"
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    return f"{entry:z.{digits}f}" if isinstance(entry, float) else str(entry)  # z: no −0
