"""Configurations for the doctor's tests: one for every rule, broken files, and any number made by chance."""

import json
import random
from collections.abc import Iterator
from typing import Any

from posenc.configuration import TABLE as READ
from posenc.doctor._json import TABLE

LENGTH, LONGEST = "original_max_position_embeddings", "max_position_embeddings"
PLAIN: dict[str, Any] = {"hidden_size": 4096, "num_attention_heads": 32, LONGEST: 4096, "rope_theta": 10_000.0}
YARN = {"rope_type": "yarn", "factor": 4.0, LENGTH: 1024}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, LENGTH: 1024, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LONGROPE = {"rope_type": "longrope", LENGTH: 1024, "short_factor": [1.1] * 64, "long_factor": [4.0] * 64}
LAYERS = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}


def scaled(rope: Any, /, **around: Any) -> dict[str, Any]:
    """A configuration with a rope_scaling, and what stands around it."""
    return PLAIN | {"rope_scaling": rope} | around


def layered(rope: Any, /, **around: Any) -> dict[str, Any]:
    """A configuration with parameters for each type of layers."""
    return {key: value for key, value in PLAIN.items() if key != "rope_theta"} | {"rope_parameters": rope} | around


WITHOUT_BASE = layered({"rope_type": "default"})

# For each rule a configuration in which it finds something, and the tokens to read where it needs them.
FOUND: dict[str, tuple[dict[str, Any], int | None]] = {
    name: case if isinstance(case, tuple) else (case, None)
    for name, case in {
        "mistyped": PLAIN | {"rope_theta": "10000"},
        "axial": scaled({"rope_type": "axial"}),
        "layer_unused": layered(LAYERS, layer_types=["sliding_attention"]),
        "types_differ": scaled({"rope_type": "default", "type": "yarn"}),
        "type_unknown": scaled({"rope_type": "ntk", "factor": 2.0}),
        "type_alone": scaled({"type": "linear", "factor": 2.0}),
        "older_name": scaled(LONGROPE | {"rope_type": "su"}),
        "default_named": scaled({"rope_type": "default"}),
        "type_missing": scaled({"factor": 2.0}),
        "llama3_old": scaled(LLAMA3),
        "llama3_factor": scaled(LLAMA3),
        "static": scaled(YARN),
        "dynamic_moves": scaled({"type": "dynamic", "factor": 2.0}),
        "longrope_moves": scaled(LONGROPE),
        "proportional": scaled({"rope_type": "proportional", "partial_rotary_factor": 0.25}),
        "base_needed": LLAMA3,
        "base_missing": WITHOUT_BASE,
        "base_class": WITHOUT_BASE | {"model_type": "llama"},
        "base_low": PLAIN | {"rope_theta": 1},
        "base_differs": scaled({"rope_theta": 5e5}),
        "base_unread": PLAIN | {"swa_rope_theta": 5.0},
        "base_inside": layered({"rope_theta": 5e5}),
        "alpha": scaled({"type": "dynamic", "factor": 1.0, "alpha": 1000.0}, model_type="hunyuan_v1_dense"),
        "alpha_unread": PLAIN | {"rope_alpha": 2.5},
        "head_missing": {"rope_type": "linear", "factor": 2.0},
        "head_low": PLAIN | {"head_dim": 0},
        "head_high": PLAIN | {"head_dim": 2**20},
        "head_fraction": PLAIN | {"num_attention_heads": 96},
        "head_odd": PLAIN | {"head_dim": 65},
        "head_not_quotient": PLAIN | {"head_dim": 64},
        "share_bad": PLAIN | {"partial_rotary_factor": 25},
        "share_differs": scaled({"partial_rotary_factor": 0.5}, partial_rotary_factor=0.25),
        "share_nothing": scaled({"type": "dynamic", "factor": 2.0}, partial_rotary_factor=0.02),
        "share_stands_inside": layered({"rope_theta": 1e4, "partial_rotary_factor": 0.5}),
        "share_floors": PLAIN | {"partial_rotary_factor": 0.4},
        "share_odd": PLAIN | {"partial_rotary_factor": 0.4},
        "share_odd_scaled": scaled({"type": "linear", "factor": 2.0}, partial_rotary_factor=0.4),
        "share_part": PLAIN | {"rotary_pct": 0.5},
        "rotary_read": PLAIN | {"rotary_dim": 64, "model_type": "minimax_m2"},
        "rotary_beside": PLAIN | {"rotary_dim": 64, "model_type": "llama"},
        "missing": scaled({"type": "linear"}),
        "factor_low": scaled({"type": "linear", "factor": 0.25}),
        "factor_one": scaled({"type": "linear", "factor": 1.0}),
        "factor_ratio": scaled(YARN | {"factor": 8.0}),
        "factor_unused_length": scaled(YARN | {LENGTH: 4096}),
        "longest_scaled": scaled(YARN),
        "factor_null": scaled(YARN | {"factor": None}),
        "factor_null_alone": {"rope_type": "yarn", "factor": None, LENGTH: 1024},
        "factor_null_low": scaled(YARN | {"factor": None, LENGTH: 8192}),
        "factor_by_ratio": scaled(LONGROPE),
        "factor_ratio_low": scaled(LONGROPE | {LENGTH: 8192}),
        "factor_alone": LONGROPE,
        "original_one": scaled(LONGROPE | {LENGTH: 1}),
        "original_missing": {"rope_type": "yarn", "factor": 4.0},
        "original_taken": scaled({"rope_type": "yarn", "factor": 4.0}),
        "original_differs": scaled(LONGROPE, **{LENGTH: 2048}),
        "original_stands_outside": scaled(
            {key: value for key, value in LONGROPE.items() if key != LENGTH}, **{LENGTH: 1024}
        ),
        "original_version": scaled(YARN),
        "original_not_less": scaled(LLAMA3 | {LENGTH: 8192}),
        "betas_low": scaled(YARN | {"beta_slow": -1}),
        "betas_swapped": scaled(YARN | {"beta_fast": 1, "beta_slow": 32}),
        "betas_high": scaled(YARN | {LENGTH: 128}),
        "truncate_null": scaled(YARN | {"truncate": None}),
        "truncate_false": scaled(YARN | {"truncate": False}),
        "truncate_layers": layered(LAYERS | {"full_attention": YARN | {"rope_theta": 1e6, "truncate": False}}),
        "attention_low": scaled(YARN | {"attention_factor": 0.0}),
        "attention_given": scaled(YARN | {"attention_factor": 1.0}),
        "attention_and_mscale": scaled(YARN | {"attention_factor": 1.2, "mscale": 1.0, "mscale_all_dim": 0.5}),
        "mscale_alone": scaled(YARN | {"mscale": 0.7}),
        "mscale_low": scaled(YARN | {"mscale": -1.0, "mscale_all_dim": 1.0}),
        "mscale_all_dim_low": scaled(YARN | {"mscale": 1.0, "mscale_all_dim": -1.0}),
        "mscales_equal": scaled(YARN | {"mscale": 1.0, "mscale_all_dim": 1.0}),
        "mscale_all_dim": scaled(YARN | {"mscale": 1.0, "mscale_all_dim": 0.5}, qk_rope_head_dim=64),
        "bounds_low": scaled(LLAMA3 | {"low_freq_factor": 0}),
        "bounds_swapped": scaled(LLAMA3 | {"low_freq_factor": 4.0, "high_freq_factor": 1.0}),
        "bounds_equal": scaled(LLAMA3 | {"high_freq_factor": 1.0}),
        "short_count": scaled(LONGROPE | {"short_factor": [1.0] * 48}),
        "long_count": scaled(LONGROPE | {"long_factor": [1.0] * 65}),
        "sections_sum": scaled({"type": "mrope", "mrope_section": [16, 24, 16]}),
        "sections_no_scaling": scaled({"type": "mrope", "mrope_section": [16, 24, 24]}),
        "sections_interleaved": scaled({"mrope_section": [16, 24, 24], "mrope_interleaved": True}),
        "llama_4_scaling": scaled(YARN | {"llama_4_scaling_beta": 0.1}),
        "mla_part": PLAIN | {"qk_nope_head_dim": 128, "qk_rope_head_dim": 64},
        "windowed": scaled(YARN, layer_types=["sliding_attention", "full_attention"]),
        "dictionary_unread": scaled({"rope_type": "gptj"}, model_type="gptj"),
        "flat": PLAIN | {"model_type": "llava"},
        "no_rotation": PLAIN | {"model_type": "nemotron_h"},
        "silent": {"model_type": "none of transformers", "hidden_size": 64},
        "both_dictionaries": scaled(YARN, rope_parameters={"rope_type": "default", "rope_theta": 1e4}),
        "layers_mixed": layered(LAYERS | {"factor": 2.0}),
        "layer_missing": layered({"full_attention": {"rope_theta": 1e6}}, layer_types=["chunked_attention"]),
        "layers_deeper": layered(LAYERS),
        "unrotated": layered(LAYERS | {"full_attention": None}),
        "layout": PLAIN | {"model_type": "cohere"},
        "layout_half": PLAIN | {"model_type": "deepseek_v3", "rope_interleave": False},
        "type_untold": PLAIN | {"model_type": "none of transformers"},
        "window_base": scaled({"type": "linear", "factor": 8.0}, rope_local_base_freq=10_000.0),
        "scaled_some": scaled(YARN, model_type="olmo3"),
        "two_bases": PLAIN | {"model_type": "deepseek_v4"},
        "nope_layers": PLAIN | {"no_rope_layers": [1, 1, 1, 0]},
        "nope_empty": PLAIN | {"no_rope_layers": []},
        "nope_bad": PLAIN | {"no_rope_layers": [3, 7]},
        "nope_length": PLAIN | {"no_rope_layers": [1, 0], "num_hidden_layers": 4},
        "qwen_dynamic": PLAIN | {"model_type": "qwen", "use_dynamic_ntk": True},
        "qwen_logn": PLAIN | {"model_type": "qwen", "use_logn_attn": True},
        "dtype": (PLAIN | {"torch_dtype": "bfloat16"}, 16_384),
        "unused": scaled({"type": "linear", "factor": 2.0, "beta_fast": 32}),
        "unknown": scaled(YARN | {"attn_factor": 0.9}),
        "outside": PLAIN | {"rope_scaling_factor": 8},
        "beyond_new": (PLAIN, 8192),
        "beyond": (PLAIN | {"rope_theta": 100.0}, 8192),
        "all_round": PLAIN | {"max_position_embeddings": 131_072},
        "short_scaled": scaled(YARN | {"factor": 2.0}),
    }.items()
}

# Files that are no configuration, and a word that must be in what is said of each.
BROKEN = {
    "nothing at all": (" \n", "nothing to read"),
    "Python": ("{'rope_theta': 10000.0, 'rope_scaling': None}", "as Python writes"),
    "a comma too many": ('{"rope_theta": 10000.0,}', "no comma after the last"),
    "a comment": ('{"rope_theta": 10000.0 // the base\n}', "no comments"),
    "cut off": ('{"rope_scaling": {"type": "yarn", "factor": 4.0', "2 brackets are opened and 0 shut"),
    "YAML": ("rope_theta: 10000.0\nrope_scaling:\n  type: linear", "begins with “rope_theta: 10000.0”"),
    "a comma too few": ('{"rope_theta": 10000.0 "head_dim": 64}', "comma or a quotation mark may be missing"),
    "a list": ("[10000.0, 64]", "an object"),
    "another file": (
        '{"tokenizer_class": "LlamaTokenizer", "model_max_length": 4096}',
        "Is it the model's config.json?",
    ),
    "a binary file": ("GGUF\x03\x00\x00\x00", "begins with “GGUF"),
}

VALUES: list[Any] = [
    None, 0, -1, 0.5, 1, 2.5, "8", [], [1, 2], True, False, 1e-7, 4096, 1e6, 131_072, {}, "yarn", [16, 24, 24], 3e20,
    1.5e-5, [1.5] * 10, "bfloat16", ["sliding_attention", "full_attention"], [0, 1, 1], LAYERS,
]  # fmt: skip
AROUND = [
    "head_dim", "hidden_size", "num_attention_heads", LONGEST, LENGTH, "rope_theta", "rope_local_base_freq",
    "no_rope_layers", "torch_dtype", "dtype", "layer_types", "rope_base", "rotary_pct", "rotary_dim",
    "qk_rope_head_dim", "num_hidden_layers", "partial_rotary_factor",
]  # fmt: skip


def by_chance(count: int, seed: int = 0) -> Iterator[tuple[dict[str, Any], int | None]]:
    """Configurations of which a few keys, at random, are taken away or have a value at random; and a length."""
    chance = random.Random(seed)
    inner = [key for key in TABLE["keys"] if key not in AROUND] + ["foo"]
    for _ in range(count):
        kind = chance.choice([*READ["rope_types"], *READ["older_types"], "ntk"])
        present = READ["rope_types"].get(READ["older_types"].get(kind, kind), {"needs": [], "reads": []})
        values = LONGROPE | LLAMA3 | {"factor": chance.choice([1, 2, 4.0, 8])}
        rope: dict[str, Any] = {"rope_type": kind}
        rope |= {key: values[key] for key in (*present["needs"], *present["reads"]) if key in values}
        config = PLAIN | {chance.choice(["rope_scaling", "rope_parameters"]): rope}
        for place, keys in ((rope, [*rope, *inner]), (config, [*config, *AROUND])):
            for _ in range(chance.randint(0, 3)):
                key = chance.choice(keys)
                if chance.random() < 0.3:
                    place.pop(key, None)
                else:
                    place[key] = chance.choice(VALUES)
        whole = chance.choice([config] * 8 + [{"text_config": config, "dtype": "bfloat16"}, rope])
        yield json.loads(json.dumps(whole)), chance.choice([None, None, 1, 100, 8192, 1_000_000])
