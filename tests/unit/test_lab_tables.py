"""posenc.lab.tables: what was measured stands in the right row and column, with its interval."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.lab.measured import Results
from posenc.lab.tables import Table, as_text


@pytest.fixture
def found():
    """Two codes at two lengths, two seeds each; the losses of code b at 256 are those at 128 and one more."""
    runs, measurements, values = {}, [], {}
    for scheme in ("a", "b"):
        for seed in (0, 1):
            name = f"two_layers-text-{scheme}-{seed}"
            about = {"profile": "two_layers", "task": "text", "scheme": scheme, "seed": seed, "causal": True}
            runs[name] = about | {"run": name}
            losses = np.full(80, 1.0 if scheme == "a" else 2.0)
            values[name] = np.concatenate([losses, losses + (scheme == "b")])
            for place, length in enumerate((128, 256)):
                one = {"run": name, "kind": "plain", "probe": "text", "length": length, "values": [80 * place, 80]}
                measurements.append(one | {"loss": float(values[name][80 * place :][:80].mean())})
    return Results(runs, measurements, values)


WANTED = {"kind": "plain", "probe": "text"}


def test_rows_columns_seeds_and_intervals(found):
    lines = as_text(Table("Loss", ("scheme",), "length", WANTED), found).splitlines()
    assert [line.split() for line in lines] == [
        ["Loss"],
        ["scheme", "seeds", "128", "256"],
        ["a", "2", "1.00", "±0.00", "1.00", "±0.00"],
        ["b", "2", "2.00", "±0.00", "3.00", "±0.00"],
    ]


def test_what_is_subtracted_has_no_row_or_column_of_its_own(found):
    lines = as_text(Table("Costs", ("scheme",), "length", WANTED, {"length": 128}), found).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["scheme", "seeds", "256"],
        ["a", "2", "+0.00", "±0.00"],
        ["b", "2", "+1.00", "±0.00"],
    ]


def test_any_of_several_values_and_none(found):
    both = WANTED | {"scheme": ("b", "c")}
    lines = as_text(Table("Loss", ("profile", "scheme"), "length", both), found).splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [["two_layers", "b"]]
    assert as_text(Table("Loss", ("scheme",), "length", WANTED | {"probe": "recall"}), found) == "Loss\nnot measured"
