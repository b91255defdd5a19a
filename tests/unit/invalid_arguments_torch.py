"""What schemes, posenc.transformer and posenc.lab refuse, as invalid_arguments.py has it; imported only with torch.

The parts of a training step leave their arguments to torch.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from posenc.lab import corpus, evaluate
from posenc.lab.runs import Run
from posenc.lab.train import build, train
from posenc.schemes import SCHEMES, make_scheme
from posenc.transformer import KeyValueCache, Transformer, TransformerConfig, forward
from tests.unit.invalid_arguments import BAD, NOT_POSITIVE
from tests.unit.scheme_cases import CASES as OF_SCHEMES

COUNTS = [0, -1, 2.0, "8", True]
CONFIG, ROPE = TransformerConfig(vocab_size=8, dim=4), make_scheme("rope", head_dim=2)
TOKENS, RANDOM = torch.tensor([[0, 7, 3]]), np.random.RandomState(0)
MODEL_OF_TWO = Transformer(CONFIG, ROPE, seed=0)
NO_TOKENS = [None, [[1]], TOKENS.double()]
DRAW, DRAWN = {"random": [None, 3, "seed", np.random.default_rng(0)]}, {"random": RANDOM, "sequences": 2}
RUN = Run("quick", "order", "rope_100", 0)
MODEL, TASK = build(RUN), RUN.make_task()
BAD = BAD | {
    **dict.fromkeys(("length", "sequences", "head_dim", "max_positions", "width", "span"), [*COUNTS, None]),
    "std": NOT_POSITIVE,
    "seed": [-1, 2.5, "1", True],
    "run": [None, "quick-order-rope_100-0", Run("quick", "order", "none", 0)],
    "model": [None, "rope_100", {}],
    "task": [None, "order", {}],
    "scheme": [None, "rope", {}],
    "factor": [0, 0.5, -4.0, math.nan, math.inf, "4", None, True],
    "pairs": [None, 3, "0", [-1], [16], [0, 1.5], ["0"], [True]],
}
NO_RUN = BAD["run"][:2]
OWN = {
    "none_with_temperature": {"factor": NOT_POSITIVE, "trained_length": [1, *COUNTS]},
    "learned": {"past_end": ["wrap", None], "length": [8]},
    "rope": {"base": [0, -1.0, math.nan, "1", True], "rotary_dim": [0, -2, 3, 10, 2.5, "4", True],
        "scaling": ["ntk", "", 3, ["linear"]], "scaling_options": [{"factor": 2.0}, 3, [1]],
        "attention_factor": [0, -1.0], "layer_type": ["full_attention"]},
    "xpos": {"head_dim": [7, 0]},
    "alibi": {"slopes": [[0.5], [0.5] * 3, [], "ab", 0.5, [0.5, -1.0], [0.5, math.nan]]},
    "t5": {"num_buckets": [1, None, *COUNTS], "max_distance": [3, None, *COUNTS], "gain": NOT_POSITIVE},
    "sandwich": {"dim": [7, None, *COUNTS]},
    "kerple": {"kind": ["linear", None, 1]},
    "fire": {"c": NOT_POSITIVE, "threshold": NOT_POSITIVE},
    "transformer_xl": {"dim": COUNTS},
}  # fmt: skip

CASES = {
    "schemes": {scheme: (OF_SCHEMES[name], OWN.get(name, {})) for name, scheme in SCHEMES.items() if name != "none"},
    "transformer": {
        TransformerConfig: ({"vocab_size": 8, "dim": 4, "n_heads": 2}, {"vocab_size": [*COUNTS, None], "dim": [None, 5],
            "n_layers": [None], "n_heads": [None, 3], "mlp_dim": COUNTS, "causal": [None, 1, "yes"],
            "n_classes": COUNTS}),
        Transformer: ({"config": CONFIG, "scheme": ROPE},
            {"config": [None, 8, {"vocab_size": 8}], "seed": [-1, 0.5, "0"]}),
        forward: ({"weights": MODEL_OF_TWO.state_dict(), "tokens": TOKENS, "config": CONFIG, "scheme": ROPE},
            {"weights": [None, []], "tokens": [*NO_TOKENS, TOKENS[0], TOKENS + 1], "config": [None, {"dim": 4}],
                "positions": [3, [0, 1, 2], torch.arange(2)], "mask": [3, torch.ones(3, 3), torch.ones(2, 2) > 0],
                "with_layers": [None, 1]}),
        MODEL_OF_TWO.forward: ({"tokens": TOKENS, "cache": KeyValueCache()}, {"tokens": NO_TOKENS,
            "positions": [3, [0, 1, 2], torch.arange(2)], "cache": [1, "cache", []]}),
    },
    "lab": {
        corpus.library: ({}, {"folder": [3, True, b"lib"]}),
        corpus.LibraryText: (
            {"longest": 64}, {"text": ["text", 3], "n_scored": [*COUNTS, None], "longest": [None, 0]}),
        corpus.Copy: ({}, {"min_period": [None, 33], "max_period": [None, 7], "period": COUNTS, "n_scored": [None]}),
        corpus.ExactOffset: ({}, {"offset": [None], "n_scored": [None]}),
        **{task.batch: (DRAWN | {"length": 64}, DRAW)
           for task in (corpus.LibraryText(longest=64), corpus.Copy(), corpus.ExactOffset())},
        **{task.probe: ({"length": 64, "sequences": 2}, {})
           for task in (corpus.LibraryText(longest=64), corpus.Copy(), corpus.ExactOffset())},
        corpus.WordOrder().batch: (DRAWN | {"length": 3}, DRAW),
        Run: ({"profile": "quick", "task": "copy", "scheme": "none", "seed": 0}, {"profile": ["big", None, 3],
            "task": ["poems", None, 3], "scheme": ["rope", None, 3], "seed": [-1, 0.5, "0"],
            "causal": [None, 0, "no"]}),
        Run.from_name: ({"name": "quick-copy-none-0"}, {"name": [None, 3, ""]}),
        train: ({"run": RUN, "task": TASK, "progress": False},
            {"run": NO_RUN, "folder": [3, True], "progress": [None, 1], "device": [None, 0]}),
        evaluate.with_scheme: ({"model": MODEL, "scheme": MODEL.scheme}, {}),
        evaluate.answers: ({"model": MODEL, "probe": TASK.probe(3, 2), "n_scored": 1},
            {"probe": [None, "order", {}], "n_scored": [None, 4]}),
        evaluate.measure: ({"model": MODEL, "task": TASK, "lengths": [3], "sequences": 2},
            {"lengths": [None, 3, [0]], "scheme_at": ["rope", 3]}),
        evaluate.scaled: ({"run": RUN, "scaling": "yarn", "factor": 4.0}, {"scaling": ["llama3", None, 3]}),
        evaluate.interpolated: ({"run": RUN, "factor": 4, "pairs": [0, 3]}, {}),
        evaluate.clipped: ({"run": RUN, "pairs": [0, 3]}, {}),
        evaluate.ClippedRotary: ({"inv_freq": [1.0] * 16, "pairs": [0, 3], "limit": 0}, {"limit": [-1, 2.0, "8"]}),
        evaluate.slow_pairs: ({"run": RUN}, {}),
        evaluate.fine_tune: (
            {"model": MODEL, "run": RUN, "task": TASK, "scheme": MODEL.scheme, "length": 3, "steps": 0},
            {"run": NO_RUN, "steps": [-1, 1.5, "5"], "learning_rate": [0, -0.001, math.nan]}),
    },
}  # fmt: skip
