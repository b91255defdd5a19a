"""What posenc.transformer refuses, argument by argument."""

from __future__ import annotations

import math

import torch

from posenc.schemes import make_scheme
from posenc.transformer import KeyValueCache, Transformer, TransformerConfig
from tests.unit.invalid_arguments import Case

COUNTS = [0, -1, 2.0, "8", True]
CONFIG = TransformerConfig(vocab_size=8, dim=4)
ROPE = make_scheme("rope", head_dim=2)
TOKENS = torch.tensor([[0, 7, 3]])

CASES = {
    TransformerConfig: Case(
        good={
            "vocab_size": 8, "dim": 4, "n_layers": 1, "n_heads": 2, "mlp_dim": None, "causal": True, "n_classes": None,
        },
        bad={
            "vocab_size": [*COUNTS, None],
            "dim": [*COUNTS, None, 5],
            "n_layers": [*COUNTS, None],
            "n_heads": [*COUNTS, None, 3],
            "mlp_dim": COUNTS,
            "causal": [None, 1, "yes"],
            "n_classes": COUNTS,
        },
    ),
    Transformer: Case(
        good={"config": CONFIG, "scheme": ROPE, "seed": None},
        bad={
            "config": [None, 8, {"vocab_size": 8}],
            "scheme": [None, "rope", {"head_dim": 2}, type(ROPE)],
            "seed": [-1, 0.5, "0", True],
        },
    ),
    Transformer(CONFIG, ROPE, seed=0).forward: Case(
        good={"tokens": TOKENS, "positions": torch.arange(3), "cache": KeyValueCache()},
        bad={
            "tokens": [
                None, [[1]], TOKENS.double(), TOKENS.bool(), TOKENS[0], TOKENS[:, :0], TOKENS[None],
                torch.tensor([[0, 8]]), torch.tensor([[-1, 0]]),
            ],
            "positions": [
                3, [0, 1, 2], torch.arange(2), torch.arange(6).reshape(2, 3), torch.ones(3, dtype=torch.bool),
                torch.tensor([0, 1, math.nan]),
            ],
            "cache": [1, "cache", [], {}],
        },
    ),
}  # fmt: skip
