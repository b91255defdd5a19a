"""posenc.lab.train and runs: the same bits twice, a break changes nothing, and what is refused."""

import math
import re
from dataclasses import replace

import pytest
import torch

from posenc.lab import train
from posenc.lab.runs import Run, planned
from tests.unit.small_laboratory import LENGTH, make_small

pytestmark = pytest.mark.torch

STEPS = 24


@pytest.fixture
def lab(monkeypatch):
    """posenc.lab.train with a profile of a few small steps, and a state that is kept after every fifth."""
    make_small(monkeypatch, STEPS)
    monkeypatch.setattr(train, "SAVE_EVERY", 5)
    return train


def run_of(scheme="rope_100", task="offset", seed=0):
    return Run("quick", task, scheme, seed)


def trained(lab, run=None, **more):
    run = run or run_of()
    return lab.train(run, run.make_task(), **{"progress": False, **more})


def assert_same(one, other):
    """The same weights to the last bit, and the same losses."""
    assert one.losses == other.losses
    weights = other.model.state_dict()
    assert set(one.model.state_dict()) == set(weights)
    for name, weight in one.model.state_dict().items():
        assert torch.equal(weight, weights[name]), name


def interrupted(lab, monkeypatch, at, **more):
    """A training that ends before its step of the number `at`."""
    draw = lab.draw

    def stopping(task, seed, number, *others):
        if number == at:
            raise KeyboardInterrupt
        return draw(task, seed, number, *others)

    with monkeypatch.context() as patched:
        patched.setattr(lab, "draw", stopping)
        pytest.raises(KeyboardInterrupt, trained, lab, **more)


@pytest.mark.parametrize(("scheme", "task"), [("learned", "order"), ("alibi", "text")])
def test_the_same_run_is_the_same_to_the_last_bit(scheme, task, lab):
    run = run_of(scheme, task)
    first = trained(lab, run)
    assert_same(first, trained(lab, run))
    assert first.seconds > 0
    assert len(first.losses) == 3
    assert task != "text" or first.losses[0] > first.losses[1] > first.losses[2]
    assert trained(lab, run_of(scheme, task, seed=1)).losses != first.losses


def test_a_break_changes_nothing(lab, tmp_path, monkeypatch):
    whole, asked = trained(lab), []
    for at in (6, 22):
        interrupted(lab, monkeypatch, at, folder=tmp_path)
    draw = lab.draw
    monkeypatch.setattr(lab, "draw", lambda task, seed, number, *more: asked.append(number) or draw(
        task, seed, number, *more))  # fmt: skip
    assert_same(trained(lab, folder=str(tmp_path)), whole)
    assert asked == list(range(20, STEPS))
    # What is kept last is taken up again, should the result be lost.
    assert [path.name for path in tmp_path.iterdir()] == ["quick-offset-rope_100-0.state"]
    assert_same(trained(lab, folder=tmp_path), whole)
    assert asked[-4:] == [20, 21, 22, 23]


def test_a_state_that_cannot_be_taken_up_is_an_error(lab, tmp_path, monkeypatch):
    interrupted(lab, monkeypatch, 7, folder=tmp_path)
    path = tmp_path / "quick-offset-rope_100-0.state"
    torch.save(torch.load(path) | {"run": "quick-offset-none-0"}, path)
    start = re.escape(f"{path} cannot be taken up for the run 'quick-offset-rope_100-0': ")
    for _ in ("of another run", "cut short"):
        with pytest.raises(ValueError, match=f"(?s){start}.*; delete it to start anew$"):
            trained(lab, folder=tmp_path)
        path.write_bytes(path.read_bytes()[:-200])


def test_a_step(lab):
    """It answers with the loss before it, of what is asked alone, and clips the gradient."""
    run = run_of()
    model, task = lab.build(run), run.make_task()
    torch.nn.init.normal_(model.head.weight, generator=torch.Generator().manual_seed(0))
    batch = lab.draw(task, 0, 0, run.settings)
    with torch.no_grad():
        logits = model(batch.tokens).log_softmax(dim=-1)
    asked = -logits[batch.targets >= 0][range(4 * (LENGTH - 6)), batch.targets[batch.targets >= 0]]
    expected = pytest.approx(float(asked.mean()), rel=1e-5)
    assert float(lab.loss_of(model, batch).detach()) == expected
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    loss = lab.step(model, torch.optim.SGD(model.parameters(), lr=1.0), batch, 0.5)
    assert not loss.requires_grad
    assert float(loss) == expected
    moved = math.sqrt(sum(float((weight - before[name]).square().sum()) for name, weight in model.state_dict().items()))
    assert moved == pytest.approx(0.5, rel=1e-3)


def test_another_task_is_refused(lab):
    with pytest.raises(ValueError, match="task must be 'offset' for the run 'quick-offset-rope_100-0', got 'order'"):
        lab.train(run_of(), run_of(task="order").make_task())


# --- the table of runs ------------------------------------------------------------------------------------------------


def test_every_run_has_a_name_of_its_own():
    runs = planned()
    assert len({run.name for run in runs}) == len(runs)
    for run in runs:
        assert Run.from_name(run.name) == run


def test_every_run_can_be_built():
    """With its task; what it is asked in training fits its model, causal or not."""
    for run in planned():
        if run.seed == 0:
            model, task = train.build(run), run.make_task()
            batch = train.draw(task, 0, 0, replace(run.settings, sequences=1))
            loss = float(train.loss_of(model, batch).detach())
            assert loss == pytest.approx(math.log(model.head.out_features), rel=1e-5), run.name
            assert model.config.causal == run.causal


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("full-text-rope_100", "name must be like 'full-text-rope_100-0', got 'full-text-rope_100'"),
        ("full-text-rope_100-00", "name must be 'full-text-rope_100-0', got 'full-text-rope_100-00'"),
        ("full-text-rope-0", "scheme must be one of .*, got 'rope'"),
        ("full-order-none-0", r"task must be one of \('text', 'copy'\) in the profile 'full', got 'order'"),
    ],
)
def test_other_names_are_refused(name, said):
    with pytest.raises(ValueError, match=said):
        Run.from_name(name)
