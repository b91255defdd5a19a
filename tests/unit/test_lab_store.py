"""posenc.lab's files: checkpoints, and the command line that makes them and the results."""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file

from posenc import lab
from posenc.lab import __main__ as command_line
from posenc.lab import execution, runs, store
from posenc.lab.execution import carry_out
from posenc.lab.runs import PROFILES, Run
from posenc.lab.train import build, round_to_half

pytestmark = pytest.mark.torch

RUN = Run("quick", "order", "rope_100", 0)


@pytest.fixture
def short(monkeypatch):
    """The quick profile with few steps, and two runs in the plan."""
    few = replace(PROFILES["quick"], steps=dict.fromkeys(PROFILES["quick"].steps, 3))
    monkeypatch.setattr(runs, "PROFILES", {**PROFILES, "quick": few})
    both = [RUN, replace(RUN, causal=False)]
    for module in (command_line, store):
        monkeypatch.setattr(module, "planned", lambda: both)
    return both


@pytest.fixture
def checkpoint(tmp_path):
    model = build(RUN)
    round_to_half(model)
    store.save_checkpoint(model, RUN, tmp_path / "whole.safetensors")
    return model, tmp_path / "whole.safetensors"


# ---- checkpoints


def test_a_checkpoint_comes_back_as_it_was(checkpoint):
    model, path = checkpoint
    loaded, run = store.load_checkpoint(path)
    assert run == RUN
    assert not loaded.training
    assert path.stat().st_size < 1.2 * sum(2 * weight.numel() for weight in model.parameters())
    for name, weight in model.state_dict().items():
        assert loaded.state_dict()[name].dtype == torch.float32
        assert torch.equal(loaded.state_dict()[name], weight)


def test_weights_that_half_precision_would_change_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"rounded to half precision, got other weights in .*embedding\.weight"):
        store.save_checkpoint(build(RUN), RUN, tmp_path / "never.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_checkpoint_is_named(checkpoint):
    model, path = checkpoint
    few = {name: weight.half() for name, weight in model.state_dict().items() if name != "norm.weight"}
    for damage in (
        lambda: path.write_bytes(path.read_bytes()[:1000]),
        lambda: save_file({"weight": torch.zeros(2)}, path),
        lambda: save_file(few, path, metadata={"run": RUN.name}),  # the right run, and a weight too few
    ):
        damage()
        with pytest.raises(ValueError, match=r"whole\.safetensors is not a complete checkpoint of the laboratory: ."):
            store.load_checkpoint(path)


def test_load_knows_what_ships():
    with pytest.raises(ValueError, match=r"name must be one of .*'full-copy-rope_100-0'.*, got 'full-copy-rope_9-0'"):
        lab.load("full-copy-rope_9-0")


# ---- the command line


def test_a_run_is_trained_measured_and_collected(short, tmp_path, capsys):
    folder, into = tmp_path / "runs", tmp_path / "shipped"
    command_line.main(["--folder", str(folder), "run", RUN.name])
    assert f"{RUN.name}: last loss" in capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} == {
        f"{RUN.name}{end}" for end in (".safetensors", ".json", ".trained.json")
    }
    command_line.main(["--folder", str(folder), "list"])
    heading, *lines = capsys.readouterr().out.splitlines()
    assert str(folder) in heading
    there = [line.split(maxsplit=1)[1].removesuffix(", ships with posenc-lab") for line in lines]
    assert there == ["trained, measured", "-"]
    command_line.main(["--folder", str(folder), "collect", "--into", str(into)])
    assert "1 of 2 runs and 1 measurements are in" in capsys.readouterr().out
    found = lab.results(into / "results.json.xz")
    assert found.runs[RUN.name]["command"] == f"python -m posenc.lab run {RUN.name}"
    assert [path.name for path in into.iterdir()] == ["results.json.xz"]  # checkpoints ship of full runs alone


def test_what_is_done_is_not_done_again(short, tmp_path, monkeypatch):
    carry_out(RUN, tmp_path, progress=False)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    monkeypatch.delattr(execution, "train")
    carry_out(RUN, tmp_path, progress=False)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_runs_are_added_to_those_that_ship(short, tmp_path, monkeypatch, capsys):
    first, second = short
    into = tmp_path / "shipped"
    carry_out(first, tmp_path / "one", progress=False)
    store.collect(tmp_path / "one", into)
    before = lab.results(into / "results.json.xz")
    monkeypatch.setattr(command_line, "results", lambda: before)
    carry_out(second, tmp_path / "two", progress=False)
    command_line.main(["--folder", str(tmp_path / "two"), "collect", "--keep", "--into", str(into)])
    assert "2 of 2 runs and 2 measurements" in capsys.readouterr().out
    found = lab.results(into / "results.json.xz")
    assert list(found.runs) == [run.name for run in short]
    assert found.measurements[:1] == before.measurements
