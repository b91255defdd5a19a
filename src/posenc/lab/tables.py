"""Tables of the benchmarks that ship, without torch: `python -m posenc.lab tables` prints them all.

Each number has a 95 % interval over seeds and over windows or probes (`posenc.lab.intervals`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from posenc.lab.measured import Results

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Table(NamedTuple):
    """A table with one row per combination of some fields and one column per value of another."""

    title: str
    rows: tuple[str, ...]
    column: str
    filters: Mapping[str, Any]  # as `Results.select` takes them; a tuple matches any of its values
    baseline: Mapping[str, Any] = _NOTHING  # the fields in which the measurement that is subtracted differs


_SCALED = {"kind": "scaling", "profile": ("two_layers", "full")}
_TUNED = ("task", "scheme", "scaling", "rate", "length")

TABLES = (
    Table(
        "Text: loss in nats per byte, by length",
        ("profile", "scheme", "past_end"),
        "length",
        {"kind": "plain", "probe": "text"},
    ),
    Table(
        "Text: excess loss over the same text truncated to the trained length",
        ("profile", "scheme", "past_end"),
        "length",
        {"kind": "plain", "probe": "text", "profile": ("two_layers", "four_layers")},
        {"length": 128},
    ),
    Table(
        "Text: loss of each scheme minus that of RoPE with base 10 000",
        ("profile", "scheme", "past_end"),
        "length",
        {"kind": "plain", "probe": "text", "profile": ("two_layers", "four_layers")},
        {"scheme": "rope_10000", "past_end": None},
    ),
    Table(
        "Text: loss with an n-gram cache of the past before the last 128 tokens, by length",
        ("scheme", "past"),
        "length",
        {"kind": "cache"},
    ),
    Table(
        "Text: loss by scaling, with the factor that the length needs or a fixed one",
        ("scheme", "scaling", "factor"),
        "length",
        _SCALED | {"probe": "text"},
    ),
    Table(
        "Text: loss with all logits multiplied, at four times the trained length",
        ("scheme", "length"),
        "logit_factor",
        {"kind": "temperature", "probe": "text"},
    ),
    Table(
        "Text: loss with some pairs interpolated or clipped",
        ("scheme", "operation", "length"),
        "chosen",
        {"kind": "intervention", "probe": "text", "chosen": ("all", "slow", "fast")},
    ),
    Table(
        "Text: loss with the distance bias of some pairs clamped past the trained length",
        ("profile", "scheme", "length"),
        "chosen",
        {"kind": "distance_bias"},
    ),
    Table(
        "Single copy, trained on single copies: accuracy by distance",
        ("profile", "scheme", "past_end", "distractors", "length"),
        "distance",
        {"kind": "plain", "probe": "single_copy", "task": "single_copy"},
    ),
    Table(
        "Single copy, trained on repeated blocks: accuracy by distance",
        ("profile", "scheme", "past_end", "distractors", "length"),
        "distance",
        {"kind": "plain", "probe": "single_copy", "task": "copy"},
    ),
    Table(
        "Repeated blocks: accuracy by length (any copy will do)",
        ("task", "profile", "scheme", "past_end"),
        "length",
        {"kind": "plain", "probe": "repeated"},
    ),
    Table(
        "Single copy, by scaling: accuracy by distance",
        ("task", "scheme", "scaling", "factor", "length"),
        "distance",
        _SCALED | {"probe": "single_copy"},
    ),
    Table(
        "Repeated blocks, by scaling: accuracy by length (any copy will do)",
        ("task", "scheme", "scaling", "factor"),
        "length",
        _SCALED | {"probe": "repeated"},
    ),
    Table(
        "Single copy with all logits multiplied, at four times the trained length: accuracy by distance",
        ("scheme", "logit_factor"),
        "distance",
        {"kind": "temperature", "probe": "single_copy"},
    ),
    Table(
        "Single copy with some pairs interpolated or clipped: accuracy by distance",
        ("scheme", "operation", "chosen", "length"),
        "distance",
        {"kind": "intervention", "probe": "single_copy"},
    ),
    Table(
        "Associative recall: accuracy by distance",
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
        "Single copy after some steps at four times the trained length: accuracy",
        (*_TUNED, "distance"),
        "steps",
        {"kind": "fine_tuning", "probe": "single_copy"},
    ),
    Table(
        "Text with the rotation dropped after training: loss",
        ("scheme", "steps"),
        "length",
        {"kind": "dropped", "probe": "text"},
    ),
    Table(
        "Single copy with the rotation dropped after training: accuracy by distance",
        ("scheme", "steps", "length"),
        "distance",
        {"kind": "dropped", "probe": "single_copy"},
    ),
)


def as_text(table: Table, found: Results) -> str:
    """A table as lines of text; each row has its number of seeds, each number half the width of its interval.

    Args:
        table: one of `TABLES`, or another.
        found: measurements, as `posenc.lab.measured.benchmarks()` returns them.
    """
    cells: dict[tuple[Any, ...], dict[Any, list[dict[str, Any]]]] = {}
    for one in _selected(table, found):
        row = tuple(one.get(field) for field in table.rows)
        cells.setdefault(row, {}).setdefault(one.get(table.column), []).append(one)
    if not cells:
        return f"{table.title}\nnot measured"
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    columns.sort(key=lambda value: (isinstance(value, str), 0 if isinstance(value, str) else value))
    used = [k for k in range(len(table.rows)) if any(row[k] is not None for row in cells)]
    lines = [[*(table.rows[k] for k in used), "seeds", *map(str, columns)]]
    for row, of_column in cells.items():
        seeds = {one["seed"] for ones in of_column.values() for one in ones}
        known = _exact(table) | {table.rows[k]: row[k] for k in used}
        values = [_cell(table, found, known | {table.column: c}) if c in of_column else "" for c in columns]
        lines.append([*("" if row[k] is None else str(row[k]) for k in used), str(len(seeds)), *values])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = ["  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([table.title, *rows])


def _exact(table: Table) -> dict[str, Any]:
    return {field: value for field, value in table.filters.items() if not isinstance(value, tuple)}


def _selected(table: Table, found: Results) -> Iterator[dict[str, Any]]:
    """The measurements of a table, without those that are its baseline."""
    several = {field: value for field, value in table.filters.items() if isinstance(value, tuple)}
    for one in found.select(**_exact(table)):
        is_baseline = table.baseline and all(one.get(field) == value for field, value in table.baseline.items())
        if all(one.get(field) in value for field, value in several.items()) and not is_baseline:
            yield one


def _cell(table: Table, found: Results, filters: Mapping[str, Any]) -> str:
    """One number and half the width of its interval, with a sign if it is a difference."""
    baseline = dict(filters) | dict(table.baseline) if table.baseline else None
    if baseline is not None and not found.select(**baseline):
        return ""
    mean, low, high = found.interval(filters, baseline)
    return f"{mean:{'+' if table.baseline else ''}z.2f} ±{(high - low) / 2:.2f}"
