"""What posenc.transformer refuses, argument by argument."""

from __future__ import annotations

import torch

from posenc.schemes import make_scheme
from posenc.transformer import KeyValueCache, Transformer, TransformerConfig, forward
from tests.unit.invalid_arguments import Case

COUNTS = [0, -1, 2.0, "8", True]
CONFIG = TransformerConfig(vocab_size=8, dim=4)
ROPE = make_scheme("rope", head_dim=2)
TOKENS = torch.tensor([[0, 7, 3]])

CASES = {
    TransformerConfig: Case({"vocab_size": 8, "dim": 4, "n_layers": 1, "n_heads": 2, "mlp_dim": None, "causal": True,
        "n_classes": None},
        {"vocab_size": [*COUNTS, None], "dim": [None, 5], "n_layers": [None], "n_heads": [None, 3], "mlp_dim": COUNTS,
            "causal": [None, 1, "yes"], "n_classes": COUNTS}),
    Transformer: Case({"config": CONFIG, "scheme": ROPE, "seed": None},
        {"config": [None, 8, {"vocab_size": 8}], "scheme": [None, "rope", {"head_dim": 2}], "seed": [-1, 0.5, "0"]}),
    forward: Case({"weights": Transformer(CONFIG, ROPE, seed=0).state_dict(), "tokens": TOKENS, "config": CONFIG,
        "scheme": ROPE, "positions": torch.arange(3), "mask": None, "with_layers": False},
        {"weights": [None, []], "tokens": [None, [[1]], TOKENS.double(), TOKENS[0], TOKENS + 1],
            "config": [None, {"dim": 4}], "scheme": [None, "rope"], "positions": [3, [0, 1, 2], torch.arange(2)],
            "mask": [3, torch.ones(3, 3), torch.ones(2, 2) > 0], "with_layers": [None, 1]}),
    Transformer(CONFIG, ROPE, seed=0).forward: Case({"tokens": TOKENS, "positions": torch.arange(3),
        "cache": KeyValueCache()},
        {"tokens": [None, [[1]], TOKENS.double()], "positions": [3, [0, 1, 2], torch.arange(2)], "cache": [1, "cache",
            []]}),
}  # fmt: skip
