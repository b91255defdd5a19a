"""What posenc.configs refuses, argument by argument."""

import math

from posenc import configs
from tests.unit.invalid_arguments import Case

QWEN = configs.MODELS["Qwen3-8B"]
CONFIGS = ["Qwen3-8B", None, 3, configs.ModelConfig, QWEN.rope]
SEQUENCES = [-1, 0.5, 4096.0, math.nan, "4096", True]
LAYERS = ["full_attention", "none", 3, True]

CASES = {
    configs.model: Case({"name": "Qwen3-8B"}, {"name": ["Qwen3", "", "qwen3-8b"]}),
    configs.released: Case({"name": "Qwen3-8B"}, {"name": ["Qwen3", "", "qwen3-8b"]}),
    configs.scaled: Case({"config": QWEN, "seq_len": 10, "layer_type": None},
        {"config": CONFIGS, "seq_len": SEQUENCES, "layer_type": LAYERS}),
    configs.unscaled: Case({"config": QWEN, "layer_type": None}, {"config": CONFIGS, "layer_type": LAYERS}),
    configs.slowest_wavelength: Case({"config": QWEN, "seq_len": 10, "layer_type": None},
        {"config": CONFIGS, "seq_len": SEQUENCES, "layer_type": LAYERS}),
    configs.completed_pairs: Case({"config": QWEN, "length": 10.5, "layer_type": None},
        {"config": CONFIGS, "length": [0, -1, math.nan], "layer_type": LAYERS}),
    configs.cache_bytes_per_token: Case({"config": QWEN, "bytes_per_number": 0.5},
        {"config": CONFIGS, "bytes_per_number": [0, -2, math.nan]}),
}  # fmt: skip
