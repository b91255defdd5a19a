"""posenc.lab.benchmarks: every model is measured alike, and results are read again with their intervals."""

import json

import numpy as np
import pytest

from posenc.lab import benchmarks, store
from posenc.lab.execution import carry_out
from posenc.lab.measured import results
from posenc.lab.runs import Run
from posenc.lab.train import build, learned_at
from tests.unit.small_laboratory import make_small

pytestmark = pytest.mark.torch
SMALL = {"WINDOWS": 3, "PROBES": 2, "RECALL_PROBES": 3}


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, count in SMALL.items():
        monkeypatch.setattr(benchmarks, name, count)
    monkeypatch.setattr(benchmarks, "TIMES", (1, 2))
    make_small(monkeypatch, steps=30, profile="two_layers", length=64)


def asked(run):
    return list(benchmarks.GROUPS["plain"](build(run).eval(), run))


def test_recall_is_asked_by_distance_and_pairs():
    found = asked(Run("two_layers", "recall", "rope_100", 0))
    assert {(one["distance"], one["n_pairs"]) for one in found} == {
        (distance, pairs) for distance in benchmarks.DISTANCES if distance < 128 for pairs in benchmarks.PAIRS
    }


def test_other_schemes_are_asked_what_they_can_be():
    assert benchmarks.groups_of(Run("two_layers", "single_copy", "alibi", 0)) == ["plain"]
    assert benchmarks.groups_of(Run("quick", "order", "rope_100", 0)) == []
    assert "distance_biases" in benchmarks.groups_of(Run("four_layers", "text", "rope_100", 0))
    past_end = {one["past_end"] for one in asked(Run("two_layers", "text", "learned", 0))}
    assert past_end == {"clamp", "interpolate"}


def test_a_run_is_trained_examined_collected_and_read(tmp_path):
    runs = [Run("two_layers", "single_copy", "rope_100", seed) for seed in (0, 1)]
    for run in runs:
        carry_out(run, tmp_path, ["plain"], progress=False)
    path = tmp_path / "collected" / "benchmarks.json"
    assert store.collect_benchmarks(tmp_path, path).startswith("2 groups of measurements added: 2 runs")
    found = results(path)
    wanted = {"task": "single_copy", "probe": "repeated", "kind": "plain", "length": 128}
    seeds, values = found.values(**wanted)
    assert seeds == [0, 1]
    assert values.shape == (2, SMALL["PROBES"])
    told = found.interval(wanted)
    assert told.mean == pytest.approx(values.mean())
    assert told.low <= told.mean <= told.high
    assert found.interval(wanted, baseline=wanted) == (0.0, 0.0, 0.0)
    assert found.runs[runs[0].name]["learned_at"] is None
    json.loads(path.read_text(encoding="utf-8"))
    with pytest.raises(ValueError, match="filters must leave one measurement per seed, got 0 of"):
        found.values(task="recall")
    with pytest.raises(ValueError, match="folder must hold benchmarks of planned runs"):
        store.collect_benchmarks(tmp_path / "collected", path)


def test_the_step_at_which_a_task_was_learned():
    half = np.log(64) / 2
    assert learned_at([4.2] * 40, 64) is None
    assert learned_at([4.2] * 5, 64) is None
    assert learned_at([half + 0.1] * 20 + [half - 0.1] * 40, 64) in range(200, 310)
    assert learned_at([0.1] * 20 + [4.2] * 20 + [0.1] * 20, 64) > 400  # it forgot, and learned again
