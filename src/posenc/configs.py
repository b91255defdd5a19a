"""Published RoPE settings of well-known models, and what follows from them.

Every entry says where its numbers are published. `MODELS` are read from the files of models, `DEFAULTS` from the code
of the library transformers: what a class of it takes where a file says nothing, which no published model need have.
`RELEASED` names copies of released files, whose part about attention, layers and rotation `released` gives as it is.
`ModelConfig.rope` is what speaks of rotation in the model's config.json, in the form that Hugging Face gives it;
`posenc.scaling.from_config` reads it. In the functions `config` is an entry, as `model` gives it, `layer_type` one of
`config.layer_types` where there are any, and `like` an array whose library and device the answer takes. What is of the
wrong kind raises TypeError, what is out of its range ValueError.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from posenc._arrays import Array, check_positive, describe, namespace
from posenc.frequencies import rotations, wavelengths
from posenc.scaling import Scaled, from_config


@dataclass(frozen=True)
class ModelConfig:
    """What a published configuration says of heads, lengths and rotation.

    Attributes:
        name: the model's name on the Hugging Face hub, without its owner; in `DEFAULTS` the name of the class.
        head_dim: width of a query or a key of one head, with the dimensions that do not rotate.
        n_heads, n_key_value_heads, n_layers: numbers; fewer heads for keys and values mean grouped queries.
        max_position_embeddings: tokens that the configuration allows.
        original_max_position_embeddings: tokens in a sequence of the training that came before any scaling of `rope`;
            None where the source does not say.
        rope: the keys of config.json that speak of rotation. It cannot be changed: `dict(config.rope)` copies it.
        source: where the numbers are published.
        qk_rope_head_dim: the part of head_dim that `rope` speaks about, for DeepSeek's heads of two parts; else None.
        kv_lora_rank: numbers that stand for all keys and values of a token in a layer, for DeepSeek's latent
            attention; None where keys and values themselves are kept.
        global_head_dim: width of a head in layers of full attention, for Gemma 4; None where all heads are as wide.
        compressed: whether keys are merged along the text before they are kept, as in DeepSeek-V4.
    """

    name: str
    head_dim: int
    n_heads: int
    n_key_value_heads: int
    n_layers: int
    max_position_embeddings: int
    original_max_position_embeddings: int | None
    rope: Mapping[str, Any] = field(hash=False)
    source: str
    qk_rope_head_dim: int | None = None
    kv_lora_rank: int | None = None
    global_head_dim: int | None = None
    compressed: bool = False

    @property
    def layer_types(self) -> tuple[str, ...]:
        """The layer types that rotate differently, for `layer_type`, first the layers that see the whole text.

        Empty where all layers rotate alike.
        """
        if "rope_local_base_freq" in self.rope:
            return ("full_attention", "sliding_attention")
        parameters = self.rope.get("rope_parameters", {})
        return tuple(name for name, value in parameters.items() if isinstance(value, Mapping))

    @property
    def rotary_dim(self) -> int:
        """The dimensions of a head that rotate, two a pair."""
        layer_type = self.layer_types[0] if self.layer_types else None
        return 2 * int((scaled(self, layer_type=layer_type).inv_freq > 0).sum())


def _read_only(value: Any) -> Any:
    """A copy of what JSON holds, of mappings and tuples that cannot be changed."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: _read_only(inner) for key, inner in value.items()})
    return tuple(value) if isinstance(value, list) else value


def _config(name: str, *row: Any, **more: Any) -> ModelConfig:
    """A configuration whose lengths stand where Hugging Face has them, in one mapping with the rotation."""
    *numbers, rope, source = row
    values: list[Any] = [name, *numbers, _read_only({"max_position_embeddings": numbers[4], **rope}), source]
    return ModelConfig(*values, **more)


def _without_scaling(rope_theta: float) -> dict[str, Any]:
    return {"rope_theta": rope_theta, "rope_scaling": None}


def _deepseek(mscale: float) -> dict[str, Any]:
    scaling: dict[str, Any] = {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 40,
        "mscale": mscale,
        "mscale_all_dim": mscale,
    }
    scaling |= {"original_max_position_embeddings": 4096, "type": "yarn"}
    return {"rope_theta": 10_000, "rope_scaling": scaling}


# One number for each of the 48 pairs, digit for digit.
_PHI_3_SHORT = [
    *[1.1] * 3, 1.3000000000000003, *[1.3500000000000003] * 2, 1.4000000000000004, 1.5500000000000005,
    *[2.000000000000001] * 17, *[2.0500000000000007] * 6, *[2.1000000000000005] * 2, 2.1500000000000004,
    *[2.25] * 5, 2.3999999999999995, 2.4499999999999993, 2.499999999999999, *[2.6999999999999984] * 2,
    2.7499999999999982, 2.799999999999998, 2.8999999999999977, 3.049999999999997,
]  # fmt: skip
_PHI_3_LONG = [
    1.0700000524520874, 1.1200000047683716, 1.149999976158142, 1.4199999570846558, 1.5699999332427979,
    1.7999999523162842, 2.129999876022339, 2.129999876022339, 3.009999990463257, 5.910000324249268,
    6.950000286102295, 9.070000648498535, 9.930000305175781, 10.710000038146973, 11.130000114440918,
    14.609999656677246, 15.409998893737793, 19.809999465942383, 37.279998779296875, 38.279998779296875,
    38.599998474121094, 40.12000274658203, 46.20000457763672, 50.940006256103516, 53.66000747680664,
    54.9373893737793, 56.89738845825195, 57.28738784790039, 59.98738479614258, 60.86738586425781,
    60.887386322021484, 61.71739196777344, 62.91739273071289, 62.957393646240234, 63.41739273071289,
    63.8173942565918, 63.83739471435547, 63.897396087646484, 63.93739700317383, 64.06739807128906,
    64.11434936523438, 64.12435150146484, 64.15435028076172, 64.19435119628906, 64.24435424804688,
    64.57435607910156, 64.69000244140625, 64.76000213623047,
]  # fmt: skip

# name, head_dim, heads, heads of keys and values, layers, longest text, trained length, rotation, source
_MODELS = [
    # Its config.json says rotary_pct and rotary_emb_base, which transformers turns into these.
    _config("gpt-neox-20b", 96, 64, 64, 44, 2048, 2048,
        {"rope_parameters": {"rope_type": "default", "rope_theta": 10_000, "partial_rotary_factor": 0.25}},
        "configs/20B.yml of EleutherAI/gpt-neox; config.json of EleutherAI/gpt-neox-20b"),
    _config("Llama-2-7b-hf", 128, 32, 32, 32, 4096, 4096, _without_scaling(10_000.0),
        "config.json of meta-llama/Llama-2-7b-hf"),
    _config("Meta-Llama-3-8B", 128, 32, 8, 32, 8192, 8192, _without_scaling(500_000.0),
        "config.json of meta-llama/Meta-Llama-3-8B; models/sku_list.py of meta-llama/llama-models"),
    _config("Llama-3.1-8B", 128, 32, 8, 32, 131_072, 8192,
        {"rope_theta": 500_000.0, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192, "rope_type": "llama3"}},
        "config.json of meta-llama/Llama-3.1-8B; models/sku_list.py of meta-llama/llama-models"),
    _config("Mistral-7B-v0.1", 128, 32, 8, 32, 32_768, 8192, _without_scaling(10_000.0),
        "config.json of mistralai/Mistral-7B-v0.1; trained length: Jiang et al. 2023, table 1 (context_len)"),
    _config("Phi-3-mini-128k-instruct", 96, 32, 32, 32, 131_072, 4096,
        {"original_max_position_embeddings": 4096, "rope_theta": 10_000.0,
            "rope_scaling": {"long_factor": _PHI_3_LONG, "short_factor": _PHI_3_SHORT, "type": "longrope"}},
        "config.json of microsoft/Phi-3-mini-128k-instruct"),
    _config("gemma-2-9b", 256, 16, 8, 42, 8192, 8192, _without_scaling(10_000.0),
        "config.json of google/gemma-2-9b; gemma/config.py of google/gemma_pytorch"),
    _config("gemma-3-4b-it", 256, 8, 4, 34, 131_072, 32_768,
        {"rope_theta": 1_000_000.0, "rope_local_base_freq": 10_000.0,
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"}},
        "config.json of google/gemma-3-4b-it (text_config); gemma/config.py of google/gemma_pytorch; trained "
        "length: Gemma 3 Technical Report (2025), section 5.3"),
    _config("Qwen2.5-7B-Instruct", 128, 28, 4, 28, 32_768, 32_768, _without_scaling(1_000_000.0),
        "config.json of Qwen/Qwen2.5-7B-Instruct"),
    _config("Qwen3-8B", 128, 32, 8, 36, 40_960, 32_768, _without_scaling(1_000_000),
        "config.json of Qwen/Qwen3-8B; trained length: its model card"),
    _config("DeepSeek-V2-Lite", 192, 16, 16, 27, 163_840, 4096, _deepseek(0.707),
        "config.json of deepseek-ai/DeepSeek-V2-Lite", qk_rope_head_dim=64, kv_lora_rank=512),
    _config("DeepSeek-V3", 192, 128, 128, 61, 163_840, 4096, _deepseek(1.0),
        "config.json of deepseek-ai/DeepSeek-V3", qk_rope_head_dim=64, kv_lora_rank=512),
]  # fmt: skip
MODELS: Mapping[str, ModelConfig] = MappingProxyType({config.name: config for config in _MODELS})


_TRANSFORMERS = "5.23.0"


def _class(name: str, *numbers: Any, more: Mapping[str, Any] = MappingProxyType({}), **parameters: Any) -> ModelConfig:
    """What a class of transformers has where a file says nothing; `parameters` are its rope_parameters."""
    rope = {"rope_parameters": parameters} | {key: more[key] for key in more if key == "no_rope_layer_interval"}
    source = f"defaults of {name} in transformers {_TRANSFORMERS}"
    return _config(name, *numbers, rope, source, **{key: more[key] for key in more if key not in rope})


_DEFAULTS = [
    # By what rotates: all that is kept of far words is compressed, and a window of near ones is not.
    _class("DeepseekV4Config", 512, 64, 1, 43, 1_048_576, None, more={"compressed": True},
        compress={"rope_type": "default", "rope_theta": 160_000.0, "partial_rotary_factor": 0.125},
        main={"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.125}),
    _class("Gemma4TextConfig", 256, 8, 4, 30, 131_072, None, more={"global_head_dim": 512},
        full_attention={"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1_000_000.0},
        sliding_attention={"rope_type": "default", "rope_theta": 10_000.0}),
    _class("GptOssConfig", 64, 64, 8, 36, 131_072, 4096, rope_type="yarn", rope_theta=150_000.0, factor=32.0,
        beta_fast=32.0, beta_slow=1.0, truncate=False, original_max_position_embeddings=4096),
    _class("Llama4TextConfig", 128, 40, 8, 48, 131_072, None, more={"no_rope_layer_interval": 4},
        rope_type="default", rope_theta=500_000.0),
    _class("Ministral3Config", 128, 32, 8, 34, 262_144, 16_384, type="yarn", rope_type="yarn",
        rope_theta=1_000_000.0, factor=16.0, original_max_position_embeddings=16_384, max_position_embeddings=262_144,
        beta_fast=32.0, beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1),
    _class("Qwen3VLTextConfig", 128, 32, 32, 32, 128_000, None, rope_type="default", rope_theta=500_000.0),
    _class("SmolLM3Config", 128, 16, 4, 36, 32_768, None, more={"no_rope_layer_interval": 4},
        rope_type="default", rope_theta=2_000_000.0),
]  # fmt: skip
DEFAULTS: Mapping[str, ModelConfig] = MappingProxyType({config.name: config for config in _DEFAULTS})


_RELEASED: dict[str, Any] = json.loads((files("posenc") / "released.json").read_text(encoding="utf-8"))
RELEASED: Mapping[str, str] = MappingProxyType(
    {name: "{repository}@{commit}: {path}".format(**one["source"]) for name, one in _RELEASED.items()}
)


def released(name: str) -> dict[str, Any]:
    """What a released config.json says of attention, layers and rotation: the language model's part, keys unchanged.

    `RELEASED` says of each name where the copy of the file was read: repository, commit and path.

    >>> released("Qwen3-8B")["rope_theta"], RELEASED["Qwen3-8B"][:25]
    (1000000, 'ai-dynamo/aiconfigurator@')
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {describe(name)}")
    if name not in RELEASED:
        raise ValueError(f"name must be one of {', '.join(RELEASED)}, got {name!r}")
    config: dict[str, Any] = copy.deepcopy(_RELEASED[name]["config"])
    return config


def model(name: str) -> ModelConfig:
    """The published configuration of a model, by its name in `MODELS` or `DEFAULTS`.

    >>> model("GptOssConfig").source
    'defaults of GptOssConfig in transformers 5.23.0'
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {describe(name)}")
    known = {**MODELS, **DEFAULTS}
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}")
    return known[name]


def scaled(
    config: ModelConfig, seq_len: int | None = None, layer_type: str | None = None, *, like: Array = None
) -> Scaled:
    """The frequencies that a model rotates with, scaled as its configuration asks.

    `seq_len` is the number of tokens at hand; only longrope looks at it. Returns `Scaled`: float64, shape
    (config.rotary_dim/2,), in radians per token, and the attention factor.

    >>> scaled(model("Llama-3.1-8B")).inv_freq[:2].round(4).tolist()
    [1.0, 0.8146]
    """
    rope = _checked(config).rope
    return from_config(rope, _rope_width(config, layer_type), seq_len, layer_type=layer_type, like=like)


def unscaled(config: ModelConfig, layer_type: str | None = None, *, like: Array = None) -> Scaled:
    """The frequencies with which training began, before any scaling: base^(−2i/d), as `scaled` returns them.

    With Gemma 4's "proportional", which is no scaling, d is the whole head, and the pairs that stand still have 0.

    >>> llama = model("Llama-3.1-8B")
    >>> (unscaled(llama).inv_freq / scaled(llama).inv_freq)[[0, -1]].tolist()
    [1.0, 8.0]
    """
    rope = dict(_checked(config).rope)
    if "rope_scaling" in rope:
        rope["rope_scaling"] = None
    if "rope_parameters" in rope:
        rope["rope_parameters"] = _without_scale(rope["rope_parameters"])
    return from_config(rope, _rope_width(config, layer_type), layer_type=layer_type, like=like)


def _without_scale(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Rope parameters, of all layers or of each layer type, of which only base and rotating part are left."""
    if any(isinstance(value, Mapping) for value in parameters.values()):
        return {name: _without_scale(value) for name, value in parameters.items()}
    kept = {name: parameters[name] for name in ("rope_theta", "partial_rotary_factor") if name in parameters}
    kind = "proportional" if parameters["rope_type"] == "proportional" else "default"
    return {"rope_type": kind, **kept}


def slowest_wavelength(config: ModelConfig, seq_len: int | None = None, layer_type: str | None = None) -> float:
    """Tokens that the slowest of the pairs that turn takes for one full turn, 2π/θ of the scaled list.

    >>> round(slowest_wavelength(model("Llama-2-7b-hf")))
    54410
    """
    frequencies = scaled(config, seq_len, layer_type).inv_freq
    longest = wavelengths(frequencies[frequencies > 0])
    return float(namespace(longest).max(longest))


def completed_pairs(config: ModelConfig, length: float | None = None, layer_type: str | None = None) -> int:
    """How many pairs of the unscaled list make a full turn within `length` > 0 tokens: they have met every angle.

    None is config.original_max_position_embeddings; where the source does not say that, a length must be given. The
    other pairs, config.rotary_dim/2 less these, meet angles that training never showed as soon as a text is longer.

    >>> completed_pairs(model("Llama-2-7b-hf"))
    46
    """
    frequencies = unscaled(config, layer_type).inv_freq
    length = config.original_max_position_embeddings if length is None else length
    if length is None:
        raise ValueError(f"length must be given for {config.name}, whose source does not say its trained length")
    made = rotations(length, frequencies)
    return int(namespace(made).sum(made >= 1))


def cache_bytes_per_token(config: ModelConfig, bytes_per_number: float = 2) -> float:
    """Bytes that one token takes in the cache of keys and values of all layers.

    2·n_key_value_heads·head_dim·n_layers·bytes_per_number; with latent attention (DeepSeek), which keeps one latent
    vector and one rotated key for all heads, (kv_lora_rank + qk_rope_head_dim)·n_layers·bytes_per_number. Layers that
    see only a window (Mistral, Gemma) may forget tokens that have left it; that is not counted here. ValueError for
    models whose layers keep unequal amounts of a token (Gemma 4, DeepSeek-V4).

    `bytes_per_number`, greater than 0, is 2 for bfloat16 and float16, 1 for 8 bits, 0.5 for 4 bits.
    Source: of the latent cache, DeepSeek-AI 2024, "DeepSeek-V2".

    >>> cache_bytes_per_token(model("Llama-2-7b-hf"))  # half a mebibyte
    524288
    """
    _checked(config)
    check_positive("bytes_per_number", bytes_per_number)
    if config.compressed or config.global_head_dim is not None:
        raise ValueError(f"config must keep as much of a token in every layer, got {config.name}")
    kept = 2 * config.n_key_value_heads * config.head_dim  # keys and values
    if config.kv_lora_rank is not None and config.qk_rope_head_dim is not None:
        kept = config.kv_lora_rank + config.qk_rope_head_dim
    return kept * config.n_layers * bytes_per_number


def _checked(config: ModelConfig) -> ModelConfig:
    if not isinstance(config, ModelConfig):
        raise TypeError(f"config must be a ModelConfig, as posenc.configs.model(name) gives it, got {describe(config)}")
    return config


def _rope_width(config: ModelConfig, layer_type: str | None) -> int:
    """The width that the rope dictionary speaks about."""
    if layer_type == "full_attention" and config.global_head_dim is not None:
        return config.global_head_dim
    return config.head_dim if config.qk_rope_head_dim is None else config.qk_rope_head_dim
