"""What posenc.lab refuses, argument by argument; the parts of a training step leave their arguments to torch."""

from __future__ import annotations

import math

import numpy as np

from posenc.lab import corpus, evaluate
from posenc.lab.runs import Run
from posenc.lab.train import build, train
from tests.unit.invalid_arguments import Case
from tests.unit.invalid_arguments.frequencies import FREQUENCIES

COUNTS = [0, -1, 2.0, "8", True]
BATCH = {"random": [None, 3, "seed", np.random.default_rng(0)], "sequences": [*COUNTS, None], "length": [*COUNTS, None]}
PROBE = {"length": [*COUNTS, None], "sequences": [*COUNTS, None]}
RUN = Run("quick", "order", "rope_100", 0)
RUNS = [None, "quick-order-rope_100-0", Run("quick", "order", "none", 0)]
NO_RUNS = RUNS[:2]
MODEL, TASK = build(RUN), RUN.make_task()
MODELS, TASKS, SCHEMES = [None, "rope_100", {}], [None, "order", {}], [None, "rope", {}]
FACTORS = [0, 0.5, -4.0, math.nan, math.inf, "4", None, True]
PAIRS = [None, 3, "0", [-1], [16], [0, 1.5], ["0"], [True]]


def drawing(task: corpus.Task, length: int) -> dict:
    """The batches and probes of a task."""
    random = np.random.RandomState(0)
    return {
        task.batch: Case(good={"random": random, "sequences": 2, "length": length}, bad=BATCH),
        task.probe: Case(good={"length": length, "sequences": 2}, bad=PROBE),
    }


CASES = {
    corpus.library: Case({"folder": None}, {"folder": [3, True, b'lib']}),
    corpus.LibraryText: Case({"text": None, "n_scored": 32, "longest": 64},
        {"text": ["text", 3], "n_scored": [*COUNTS, None], "longest": [None, 0]}),
    corpus.Copy: Case({"min_period": 8, "max_period": 32, "period": None, "n_scored": 16},
        {"min_period": [None, 33], "max_period": [None, 7], "period": COUNTS, "n_scored": [None]}),
    corpus.ExactOffset: Case({"offset": 6, "n_scored": 16}, {"offset": [None], "n_scored": [None]}),
    **drawing(corpus.LibraryText(longest=64), 64),
    **drawing(corpus.Copy(), 64),
    **drawing(corpus.ExactOffset(), 64),
    corpus.WordOrder().batch: Case({"random": np.random.RandomState(0), "sequences": 2, "length": 3}, BATCH),
    Run: Case({"profile": "quick", "task": "copy", "scheme": "none", "seed": 0, "causal": True},
        {"profile": ["big", None, 3], "task": ["poems", None, 3], "scheme": ["rope", None, 3], "seed": [-1, 0.5, "0"],
            "causal": [None, 0, "no"]}),
    Run.from_name: Case({"name": "quick-copy-none-0"}, {"name": [None, 3, ""]}),
    train: Case({"run": RUN, "task": TASK, "folder": None, "progress": False, "device": "cpu"},
        {"run": NO_RUNS, "task": TASKS, "folder": [3, True], "progress": [None, 1], "device": [None, 0]}),
    evaluate.with_scheme: Case({"model": MODEL, "scheme": MODEL.scheme}, {"model": MODELS, "scheme": SCHEMES}),
    evaluate.answers: Case({"model": MODEL, "probe": TASK.probe(3, 2), "n_scored": 1},
        {"model": MODELS, "probe": [None, "order", {}], "n_scored": [None, 4]}),
    evaluate.measure: Case({"model": MODEL, "task": TASK, "lengths": [3], "sequences": 2, "scheme_at": None},
        {"model": MODELS, "task": TASKS, "lengths": [None, 3, [0]], "sequences": [None], "scheme_at": ["rope", 3]}),
    evaluate.scaled: Case({"run": RUN, "scaling": "yarn", "factor": 4.0},
        {"run": RUNS, "scaling": ["llama3", None, 3], "factor": FACTORS}),
    evaluate.interpolated: Case({"run": RUN, "factor": 4, "pairs": [0, 3]},
        {"run": RUNS, "factor": FACTORS, "pairs": PAIRS}),
    evaluate.clipped: Case({"run": RUN, "pairs": [0, 3]}, {"run": RUNS, "pairs": PAIRS}),
    evaluate.ClippedRotary: Case({"inv_freq": [1.0] * 16, "pairs": [0, 3], "limit": 0},
        {"inv_freq": FREQUENCIES, "pairs": PAIRS, "limit": [-1, 2.0, "8"]}),
    evaluate.slow_pairs: Case({"run": RUN}, {"run": RUNS}),
    evaluate.fine_tune: Case({"model": MODEL, "run": RUN, "task": TASK, "scheme": MODEL.scheme, "length": 3, "steps": 0,
        "learning_rate": 0.001},
        {"model": MODELS, "run": NO_RUNS, "task": TASKS, "scheme": SCHEMES, "length": [None], "steps": [-1, 1.5, "5"],
            "learning_rate": [0, -0.001, math.nan]}),
}  # fmt: skip
