"""What ships of the laboratory: whole, small, described by its schema, and measured anew."""

import json

import jsonschema
import numpy as np
import pytest
import torch

from posenc import lab
from posenc.bias import t5
from posenc.lab import store
from posenc.lab.benchmarks import PROBES, WINDOWS
from posenc.lab.corpus import SingleCopy, library
from posenc.lab.evaluate import answers, measure
from posenc.lab.measured import benchmarks, read_json, shipped_folder, statistics
from posenc.lab.measurements import SEQUENCES, with_table
from posenc.lab.runs import Run, planned, shipping
from posenc.lab.train import train

pytestmark = pytest.mark.torch

RESULTS = lab.results()
FULL = [name for name in shipping() if name.startswith("full-")]


@pytest.mark.release
def test_results_follow_their_schema():
    schema = json.loads((shipped_folder() / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for name in (lab.measured.RESULTS, lab.measured.BENCHMARKS):
        jsonschema.validate(read_json(shipped_folder() / name), schema)


def test_what_ships_was_planned_and_measured():
    assert set(RESULTS.runs) == {run.name for run in planned()}
    assert {one["run"] for one in RESULTS.measurements} == set(RESULTS.runs)


def test_the_checkpoints_that_chapters_open_ship_and_the_data_stays_small():
    assert lab.shipped() == sorted(shipping())
    assert sum(path.stat().st_size for path in shipped_folder().iterdir()) < 16.5e6


@pytest.mark.release
@pytest.mark.parametrize("name", FULL)
def test_shipped_checkpoints_measure_as_recorded(name):
    model, run = lab.load(name)
    if run.scheme == "learned":
        model = with_table(model, run, "clamp")
    task, lengths = run.make_task(), (128, 512)
    found = measure(model, task, lengths, sequences=SEQUENCES)
    past_end = {"past_end": "clamp"} if run.scheme == "learned" else {}
    recorded = {
        length: RESULTS.select(run=name, kind="plain", probe=run.task, length=length, **past_end)[0]
        for length in lengths
    }
    if run.task == "text" and library().held_out_hash != RESULTS.runs[name]["text"]["held_out"]:
        # Another Python's text: how the lengths compare is all that can be asked for.
        change = found[512].loss - found[128].loss
        assert np.sign(change) == np.sign(recorded[512]["loss"] - recorded[128]["loss"]) or abs(change) < 0.1
        return
    for length in lengths:
        assert found[length].loss == pytest.approx(recorded[length]["loss"], abs=2e-3)
        assert found[length].accuracy == pytest.approx(recorded[length]["accuracy"], abs=0.006)


BENCHMARKS = benchmarks()


@pytest.mark.release
@pytest.mark.parametrize("name", [name for name in shipping() if name.startswith("two_layers-")])
def test_shipped_checkpoints_do_in_the_benchmarks_as_recorded(name):
    """The windows of text are frozen, so that other Pythons measure the same too."""
    model, run = lab.load(name)
    if run.task == "text":
        found = answers(model, run.make_task().windows(128, WINDOWS), 32)
        (recorded,) = BENCHMARKS.select(run=name, kind="plain", length=128)
        assert found.loss == pytest.approx(recorded["loss"], abs=2e-3)
        return
    for length, distance in ((128, 32), (512, 384)):
        probe = SingleCopy(max_block=32, distance=distance)
        found = answers(model, probe.probe(length, PROBES), probe.n_scored)
        asked = {"probe": "single_copy", "distance": distance, "distractors": "random"}
        (recorded,) = BENCHMARKS.select(run=name, kind="plain", length=length, **asked)
        assert found.accuracy == pytest.approx(recorded["accuracy"], abs=0.006)


@pytest.mark.release
def test_shipped_statistics_are_those_of_the_shipped_models():
    held = statistics()
    rotated = [name for name in shipping() if "-rope_" in name]
    tables = {"full-text-learned-0", "full-copy-learned-0", "full-text-t5-0"}
    assert {name.split("/")[0] for name in held} == {*rotated, *tables}
    scheme = lab.load("full-text-t5-0")[0].scheme
    distances = -torch.arange(200)[None]
    again = scheme.relative_bias(distances).detach().numpy()
    assert np.array_equal(t5(distances.numpy(), held["full-text-t5-0/table"], bidirectional=False), again)
    name = "two_layers-single_copy-rope_10000-0"
    again = store.statistics_of(*lab.load(name))
    for part, array in again.items():
        ours = held[f"{name}/{part}"]
        known = array[..., 0] + 1j * array[..., 1] if part == "distance" else array
        assert np.abs(ours - known).max() < 2e-3 * max(1.0, np.abs(known).max())
    # A head of the first layer looks one token back, whatever stands there.
    layer, head = next(part for part in again if part.startswith("previous_token")).split("/")[1:]
    assert layer == "0"
    assert held[f"{name}/attention/default/128"][0, int(head), 1] > 0.3


@pytest.mark.release
def test_a_quick_run_trains_to_what_was_recorded():
    """Rounding differs between machines and grows with every step: the first losses agree, and what it learns."""
    run = Run("quick", "copy", "rope_100", 0)
    trained, recorded = train(run, run.make_task(), progress=False), RESULTS.runs[run.name]
    assert trained.losses[:5] == pytest.approx(recorded["losses"][:5], abs=2e-3)
    assert trained.losses[-1] == pytest.approx(recorded["losses"][-1], abs=0.15)
    found = measure(trained.model, run.make_task(), (64, 512), sequences=SEQUENCES)
    for length, asked in found.items():
        (before,) = RESULTS.select(run=run.name, kind="plain", probe="copy", length=length)
        assert asked.accuracy == pytest.approx(before["accuracy"], abs=0.03 if length == 64 else 0.25)
