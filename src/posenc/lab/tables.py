"""The laboratory's tables, from what ships: `python -m posenc.lab tables` prints them all.

Each number has an interval of 95 % over seeds and over windows or probes (`posenc.lab.intervals`). No torch is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from posenc.lab.measured import Results

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Table(NamedTuple):
    """What a table shows: one row for each combination of some fields, one column for each value of another."""

    title: str
    rows: tuple[str, ...]
    column: str
    wanted: Mapping[str, Any]  # of every measurement in it; a tuple: any of these
    less: Mapping[str, Any] = _NOTHING  # what differs in the measurement that is subtracted from each


_SCALED = {"kind": "scaling", "profile": ("two_layers", "full")}
_TUNED = ("task", "scheme", "scaling", "rate", "length")

TABLES = (
    Table(
        "Text: loss in nats a byte, by length",
        ("profile", "scheme", "past_end"),
        "length",
        {"kind": "plain", "probe": "text"},
    ),
    Table(
        "Text: what more text costs over the same text cut to the trained length",
        ("profile", "scheme", "past_end"),
        "length",
        {"kind": "plain", "probe": "text", "profile": ("two_layers", "four_layers")},
        {"length": 128},
    ),
    Table(
        "Text: loss of each code less that of RoPE of base 10 000",
        ("profile", "scheme", "past_end"),
        "length",
        {"kind": "plain", "probe": "text", "profile": ("two_layers", "four_layers")},
        {"scheme": "rope_10000", "past_end": None},
    ),
    Table(
        "Text: loss with an n-gram cache of what stands before the last 128 tokens, by length, whose past it is",
        ("scheme", "past"),
        "length",
        {"kind": "cache"},
    ),
    Table(
        "Text: loss by scaling, each by what the length needs, or by a fixed factor",
        ("scheme", "scaling", "factor"),
        "length",
        _SCALED | {"probe": "text"},
    ),
    Table(
        "Text: loss with all logits multiplied, at four times the trained length",
        ("scheme", "length"),
        "sharper",
        {"kind": "temperature", "probe": "text"},
    ),
    Table(
        "Text: loss with some pairs interpolated or clipped",
        ("scheme", "operation", "length"),
        "chosen",
        {"kind": "surgery", "probe": "text", "chosen": ("all", "unturned", "turned")},
    ),
    Table(
        "Text: loss with the mean wave of some pairs held past the trained length",
        ("profile", "scheme", "length"),
        "chosen",
        {"kind": "mean_wave"},
    ),
    Table(
        "Said once, trained on blocks said once: share right, by how far back it was said",
        ("profile", "scheme", "past_end", "distractors", "length"),
        "distance",
        {"kind": "plain", "probe": "said_once", "task": "said_once"},
    ),
    Table(
        "Said once, trained on repeated blocks: share right, by how far back it was said",
        ("profile", "scheme", "past_end", "distractors", "length"),
        "distance",
        {"kind": "plain", "probe": "said_once", "task": "copy"},
    ),
    Table(
        "Repeated blocks: share right, by length (any copy will do)",
        ("task", "profile", "scheme", "past_end"),
        "length",
        {"kind": "plain", "probe": "repeated"},
    ),
    Table(
        "Said once, by scaling: share right, by how far back it was said",
        ("task", "scheme", "scaling", "factor", "length"),
        "distance",
        _SCALED | {"probe": "said_once"},
    ),
    Table(
        "Repeated blocks, by scaling: share right, by length (any copy will do)",
        ("task", "scheme", "scaling", "factor"),
        "length",
        _SCALED | {"probe": "repeated"},
    ),
    Table(
        "Said once with all logits multiplied, at four times the trained length: share right, by how far back",
        ("scheme", "sharper"),
        "distance",
        {"kind": "temperature", "probe": "said_once"},
    ),
    Table(
        "Said once with some pairs interpolated or clipped: share right, by how far back",
        ("scheme", "operation", "chosen", "length"),
        "distance",
        {"kind": "surgery", "probe": "said_once"},
    ),
    Table(
        "Recall: share right, by how far back the pair was said",
        ("profile", "scheme", "past_end", "n_pairs", "length"),
        "distance",
        {"kind": "plain", "probe": "recall"},
    ),
    Table(
        "Text after some steps at four times the trained length: loss",
        _TUNED,
        "steps",
        {"kind": "fine_tuning", "probe": "text"},
    ),
    Table(
        "Said once after some steps at four times the trained length: share right",
        (*_TUNED, "distance"),
        "steps",
        {"kind": "fine_tuning", "probe": "said_once"},
    ),
    Table(
        "Text with the rotation dropped after training: loss",
        ("scheme", "steps"),
        "length",
        {"kind": "dropped", "probe": "text"},
    ),
    Table(
        "Said once with the rotation dropped after training: share right, by how far back",
        ("scheme", "steps", "length"),
        "distance",
        {"kind": "dropped", "probe": "said_once"},
    ),
)


def as_text(table: Table, found: Results) -> str:
    """A table as lines of text; a row's seeds stand beside it, and each number has half the width of its interval.

    Args:
        table: one of `TABLES`, or another.
        found: what was measured, as `posenc.lab.measured.exams()` gives it.
    """
    cells: dict[tuple[Any, ...], dict[Any, list[dict[str, Any]]]] = {}
    for one in _selected(table, found):
        row = tuple(one.get(field) for field in table.rows)
        cells.setdefault(row, {}).setdefault(one.get(table.column), []).append(one)
    if not cells:
        return f"{table.title}\nnot reached"
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    columns.sort(key=lambda value: (isinstance(value, str), 0 if isinstance(value, str) else value))
    used = [place for place, _ in enumerate(table.rows) if any(row[place] is not None for row in cells)]
    lines = [[*(table.rows[place] for place in used), "seeds", *map(str, columns)]]
    for row, of_column in cells.items():
        seeds = {one["seed"] for ones in of_column.values() for one in ones}
        known = {table.rows[place]: row[place] for place in used}
        values = [
            _cell(table, found, _exactly(table) | known | {table.column: column}) if column in of_column else ""
            for column in columns
        ]
        lines.append([*("" if row[place] is None else str(row[place]) for place in used), str(len(seeds)), *values])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = ["  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([table.title, *rows])


def _exactly(table: Table) -> dict[str, Any]:
    """What every measurement of a table has alike."""
    return {field: value for field, value in table.wanted.items() if not isinstance(value, tuple)}


def _selected(table: Table, found: Results) -> Iterator[dict[str, Any]]:
    """The measurements of a table; those that are what is subtracted are left out."""
    several = {field: value for field, value in table.wanted.items() if isinstance(value, tuple)}
    for one in found.select(**_exactly(table)):
        other = any(one.get(field) != value for field, value in table.less.items())
        if all(one.get(field) in value for field, value in several.items()) and (other or not table.less):
            yield one


def _cell(table: Table, found: Results, wanted: Mapping[str, Any]) -> str:
    """One number and half the width of its interval, with a sign where it is a difference."""
    less = dict(wanted) | dict(table.less) if table.less else None
    if less is not None and not found.select(**less):
        return ""
    told = found.interval(wanted, less)
    return f"{told.mean:{'+' if table.less else ''}z.2f} ±{(told.high - told.low) / 2:.2f}"
