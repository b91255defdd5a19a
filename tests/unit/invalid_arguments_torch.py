"""What schemes and posenc.transformer refuse, as invalid_arguments.py has it; imported only with torch."""

import math

import torch

from posenc.schemes import SCHEMES, make_scheme
from posenc.transformer import KeyValueCache, Transformer, TransformerConfig, forward
from tests.unit.invalid_arguments import BAD, NOT_POSITIVE
from tests.unit.scheme_cases import CASES as OF_SCHEMES

COUNTS = [0, -1, 2.0, "8", True]
CONFIG, ROPE = TransformerConfig(vocab_size=8, dim=4), make_scheme("rope", head_dim=2)
TOKENS = torch.tensor([[0, 7, 3]])
MODEL_OF_TWO = Transformer(CONFIG, ROPE, seed=0)
NO_TOKENS = [None, [[1]], TOKENS.double()]
BAD = BAD | {
    **dict.fromkeys(("length", "head_dim", "max_positions", "width", "span"), [*COUNTS, None]),
    "std": NOT_POSITIVE,
    "seed": [-1, 2.5, "1", True],
    "scheme": [None, "rope", {}],
    "factor": [0, 0.5, -4.0, math.nan, math.inf, "4", None, True],
}
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
}  # fmt: skip
