"""Writes src/posenc/released.json: what released configurations say of attention, layers and rotation.

`python -m tools.released` takes it from the copies in tests/unit/configurations/raw, whose index names the repository
and the commit that they were read from. Of each file the language model's part is kept, and of that `KEYS`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE, RAW = ROOT / "src" / "posenc" / "released.json", ROOT / "tests" / "unit" / "configurations" / "raw"

# Names of models, and the copies of their files.
MODELS = {
    "SmolLM2-135M": "mlc-ai__smollm2_135m",
    "Llama-3.1-8B": "meta-llama__Llama-3.1-8B",
    "Llama-4-Scout-17B-16E": "meta-llama__Llama-4-Scout-17B-16E-Instruct",
    "Mistral-7B-v0.3": "mlc-ai__mistral_7b_v03",
    "Ministral-3-3B": "mlc-ai__ministral3_3b_2512",
    "gemma-2-9b": "mlc-ai__gemma2_9b",
    "gemma-3-1b-it": "mlc-ai__gemma3_1b_it",
    "gemma-4-26B-A4B": "google__gemma-4-26B-A4B",
    "Qwen2.5-7B": "Qwen__Qwen2.5-7B",
    "Qwen3-8B": "Qwen__Qwen3-8B",
    "Qwen3-VL-8B": "Qwen__Qwen3-VL-8B-Instruct",
    "Qwen3-Next-80B": "Qwen__Qwen3-Next-80B-A3B-Thinking",
    "Qwen3.5-27B": "Qwen__Qwen3.5-27B",
    "DeepSeek-V3": "deepseek-ai__DeepSeek-V3",
    "DeepSeek-V4-Flash": "deepseek-ai__DeepSeek-V4-Flash",
    "Kimi-K2": "moonshotai__Kimi-K2-Instruct",
    "Kimi-K3": "moonshotai__Kimi-K3",
    "gpt-oss-20b": "openai__gpt-oss-20b",
    "Olmo-3.1-32B": "allenai__Olmo-3.1-32B-Instruct",
    "EXAONE-4.0-32B": "LGAI-EXAONE__EXAONE-4.0-32B",
    "GLM-4.5": "zai-org__GLM-4.5",
    "Nemotron-3-Nano-30B": "nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "LFM2.5-VL-1.6B": "LiquidAI__LFM2.5-VL-1.6B",
}
KEYS = (
    "model_type", "num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim",
    "global_head_dim", "num_global_key_value_heads", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
    "max_position_embeddings", "rope_theta", "rope_scaling", "rope_parameters", "rope_local_base_freq",
    "compress_rope_theta", "partial_rotary_factor", "mla_use_nope", "layer_types", "sliding_window",
    "sliding_window_pattern", "full_attention_interval", "attention_chunk_size", "linear_attn_config",
    "hybrid_override_pattern", "rms_norm_eps", "intermediate_size", "vocab_size", "tie_word_embeddings",
)  # fmt: skip


def released(copy: str) -> dict[str, Any]:
    """What is kept of a copy."""
    config = json.loads((RAW / f"{copy}.json").read_text(encoding="utf-8"))
    part = config.get("text_config", config)
    return {key: part[key] for key in KEYS if key in part}


def contents() -> dict[str, dict[str, Any]]:
    """The file: by name the source and the configuration."""
    index = json.loads((RAW / "index.json").read_text(encoding="utf-8"))
    places = {name: index[f"{copy}.json"] for name, copy in MODELS.items()}
    return {
        name: {
            "source": {key: places[name][key] for key in ("repository", "commit", "path")},
            "config": released(copy),
        }
        for name, copy in MODELS.items()
    }


def text() -> str:
    """The file as it is written: a line for each model."""
    lines = (f" {json.dumps(name)}: {json.dumps(one)}" for name, one in contents().items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
