"""Writes the part "models" of src/posenc/model_types.json: what the library transformers knows of each model type.

`python -m tools.model_types` asks the configuration classes of the installed version what they have where a file says
nothing, which keys they read, and its code which two dimensions make a pair. It asks by trying: a key is read if its
value turns up among the parameters of rotation. What follows from no class stands in BY_HAND, with its reason.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import json
import os
import re
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "src" / "posenc" / "model_types.json"
_MARK = 12_321.0
_ODD = 480
_THETAS = (
    "rope_theta", "rotary_emb_base", "rotary_embedding_base", "global_rope_theta", "local_rope_theta",
    "rope_local_base_freq", "compress_rope_theta", "swa_rope_theta",
)  # fmt: skip
_SIZES = ("hidden_size", "num_attention_heads", "max_position_embeddings", "head_dim", "qk_rope_head_dim")
_ROTATES = re.compile(r"Rotary|rotary_pos_emb|rotate_half|rotate_every_two|create_sinusoidal_positions")
_PAIRS = ("rotate_half_llm", "rotate_half_text", "rotate_half", "rotate_every_two", "rotate_pairwise")

_FULL_UNROTATED = {"unrotated": ["full_attention"]}
BY_HAND: dict[str, dict[str, Any]] = {
    # Layers of full attention that do not rotate; here "if" is a key without which all layers do.
    **dict.fromkeys(("afmoe", "cohere2", "cohere2_moe", "flint"), _FULL_UNROTATED),
    **{name: _FULL_UNROTATED | {"unrotated_if": "sliding_window"} for name in (
        "exaone4", "exaone4_5_text", "exaone_moe", "kolibri1")},
    # Layers without rotation that a key lists, or else every so manieth one.
    "llama4_text": {"unrotated_every": 4}, "smollm3": {"unrotated_every": 4},
    # Attention without rotation, though a configuration may have keys of rotation.
    **{name: {"rotates": False} for name in ("glm5_next_text", "jamba", "kimi_linear", "nemotron_h")},
    # The scaling is for full attention alone, and the second base has a key of the model's own code.
    "mimo_v2_flash": {"layers": {
        "full_attention": {"theta": "rope_theta", "rope_theta": 5_000_000.0},
        "sliding_attention": {"theta": "swa_rope_theta", "rope_theta": 10_000.0, "scaled": False}},
        "partial_rotary_factor": 0.334},
    # GPT-J and CodeGen count the dimensions that rotate; their code has one base.
    **{name: {"rotary": "rotary_dim", "rotary_dim": 64, "plain": True} for name in ("codegen", "gptj")},
    # Rotation only where a setting has a value: the setting, that value, and what it is where nothing is said.
    "clvp_encoder": {"only_if": ["use_rotary_embedding", True, True], "own": True},
    "esm": {"only_if": ["position_embedding_type", "rotary", "absolute"]},
    "falcon": {"only_if": ["alibi", False, False]},
    "granitemoehybrid": {"only_if": ["position_embedding_type", "rope", None]},
    **{name: {"only_if": ["position_embeddings_type", "rotary", default]} for name, default in (
        ("seamless_m4t", "relative"), ("wav2vec2-bert", "relative_key"), ("wav2vec2-conformer", "relative"))},
    "zamba2": {"only_if": ["use_mem_rope", True, False]},
    # Two or three axes, in blocks of the head or shared between them; positions of the first three are no indices but
    # 2π times coordinates from −1 to 1.
    **{name: {"parameters": {"rope_type": "axial"}} for name in ("dinov3_vit", "eomt_dinov3", "sapiens2")},
    "minimax_m3_vl_vision": {"parameters": {"n_axes": 3}},
    "pixtral": {"parameters": {"shared": True}},
    # Height and width take turns in the fast pairs, which they share, and time has the slow ones.
    "ernie4_5_vl_moe_text": {"sections": "height and width in turn, then time", "mrope_section": [22, 22, 20]},
    # Code that rotates by more than the configuration says.
    **{name: {"own": True} for name in ("blt", "efficientloftr", "esmfold2", "pp_doclayout_v2", "vjepa2")},
    # Layers differ by their kind, and a base or a share may be a list with one for every layer.
    "step3p5": {"layers": {
        "full_attention": {"theta": "rope_theta", "rope_theta": 10_000.0},
        "sliding_attention": {"theta": "rope_theta", "rope_theta": 10_000.0, "scaled": False}}},
    # Code that rotates though no key says so.
    "roformer": {"rotates": True, "layout": "interleaved"}, "idefics": {"rotates": True},
}  # fmt: skip
# Types of published files that this version of transformers does not know, and the class whose code each file's own
# code copies; or what that code does, where it is no copy.
ELSEWHERE: dict[str, dict[str, Any]] = {
    **{name: {"as": "llama"} for name in ("Yi", "deepseek", "internlm", "internlm2", "minicpm", "orion", "qwen")},
    "deepseek_ref": {"as": "deepseek_v4"}, "kimi_k2": {"as": "deepseek_v3"}, "mimo": {"as": "qwen2"},
    "minimax_m3": {"as": "minimax_m3_vl_text"}, "nemotron-nas": {"as": "llama", "max_position_embeddings": 131_072},
    "phi3_v": {"as": "phi3"}, "phi4mm": {"as": "phi3"},
    "baichuan": {"as": "llama", "only_if": ["hidden_size", 4096, 4096]},  # the larger one has ALiBi
    "chatglm": {"layout": "interleaved", "partial_rotary_factor": 0.5, "base_ratio": "rope_ratio"},
    "phi-msft": {"rotary": "rotary_dim"},
    **{name: {"rotates": False} for name in ("kimi_k3", "mpt", "rwkv5")},
}  # fmt: skip


def _parameters(cls: type, **settings: Any) -> dict[str, Any]:
    """The parameters of rotation that a class makes of settings; those of all layers stand under ""."""
    config = cls(**copy.deepcopy(settings))
    rope = getattr(config, "rope_parameters", None) or {}
    per_layer = any(isinstance(one, dict) for one in rope.values())
    return {key: one for key, one in rope.items() if isinstance(one, dict)} if per_layer else {"": rope}


def _where(cls: type, name: str, value: Any, **settings: Any) -> set[str]:
    """The layers whose parameter `name` has a value that only the settings can have brought in."""
    with contextlib.suppress(Exception):  # classes refuse what they do not know, each in its own way
        return {layer for layer, one in _parameters(cls, **settings).items() if one.get(name) == value}
    return set()


def _layout(module: Any, source: str) -> str:
    import torch

    if hasattr(module, "apply_rotary_pos_emb_interleave"):
        return "interleaved"
    for name in _PAIRS:
        if hasattr(module, name):
            first = getattr(module, name)(torch.arange(1.0, 9.0)[None, None, None])[..., 0].item()
            return "interleaved" if first == -2 else "half-split"
    return "interleaved" if "view_as_complex" in source else "half-split"


def facts(cls: type) -> dict[str, Any] | None:
    """What is known of the model type of a configuration class; None where nothing in its code rotates."""
    kind = cls.model_type
    home = cls.__module__.replace(".configuration_", ".modeling_")
    try:
        module = importlib.import_module(home)
        source = Path(module.__file__ or "").read_text(encoding="utf-8")
    except ModuleNotFoundError:
        module, source = None, ""  # two share the code of another
    fields = {*getattr(cls, "__dataclass_fields__", {})}
    rotary = any({"rope", "rotary"} & {*field.split("_")} for field in fields)
    by_hand = BY_HAND.get(kind, {})
    if by_hand.get("rotates", rotary and (module is None or bool(_ROTATES.search(source)))) is False:
        return dict(by_hand) if by_hand.keys() - {"rotates"} else None
    found: dict[str, Any] = {}
    if "ntk_alpha" in source:
        found["alpha"] = True
    if module is not None and _layout(module, source) == "interleaved":
        found["layout"] = "interleaved"
        if "config.rope_interleave" in source:
            found |= {"layout_key": "rope_interleave"}
            found |= {} if cls.rope_interleave else {"layout": "half-split"}
    for size in _SIZES:
        value = getattr(cls, size, None)
        value = value if isinstance(value, int) and not isinstance(value, bool) else None
        with contextlib.suppress(Exception):  # classes of composite models want their parts
            value = value or (getattr(cls(), size, None) if size not in ("head_dim", "qk_rope_head_dim") else None)
        found |= {size: value} if isinstance(value, int) else {}
    with contextlib.suppress(Exception):
        found |= _rotation(cls)
    return found | {key: one for key, one in by_hand.items() if key != "rotates"}


def _rotation(cls: type) -> dict[str, Any]:
    """Bases, shares and kinds of layers."""
    plain = _parameters(cls)
    keys = {key: _where(cls, "rope_theta", _MARK, **{key: _MARK}) for key in _THETAS}
    scaled = _where(cls, "factor", 3.0, rope_scaling={"rope_type": "linear", "factor": 3.0})
    found: dict[str, Any] = {}
    for key, (layers, mark) in {"rotary_dim": ({**plain}, 32), "rotary_pct": ({**plain}, 0.375)}.items():
        before = [plain[layer].get("partial_rotary_factor") for layer in layers]
        with contextlib.suppress(Exception):
            after = [one.get("partial_rotary_factor") for one in _parameters(cls, **{key: mark}).values()]
            if before != after:
                found["rotary"] = key
    [share, *others] = {one.get("partial_rotary_factor") for one in plain.values()}
    if not others and share not in (None, 1.0):
        found["partial_rotary_factor"] = share
    if [*plain] == [""]:
        base = plain[""].get("rope_theta")
        found |= {} if base in (None, 10_000.0) else {"rope_theta": base}
        own = [key for key in _THETAS[1:] if keys[key]]
        return found | ({"theta": own[0]} if own else {})
    found["layers"] = {}
    for layer, one in plain.items():
        entry = {
            "theta": next((key for key in _THETAS if layer in keys[key]), None),
            "rope_theta": one.get("rope_theta"),
        }
        entry |= {"scaled": False} if scaled and layer not in scaled else {}
        with contextlib.suppress(Exception):
            yarn = {"rope_type": "yarn", "factor": 3.0, "original_max_position_embeddings": 512}
            factor = _parameters(cls, rope_scaling=yarn)[layer].get("attention_factor")
            entry |= {} if factor is None else {"attention_factor": factor}
        rope = {
            key: value for key, value in one.items() if key not in ("rope_theta", "rope_type") and value is not None
        }
        entry |= {"rope_type": one["rope_type"]} if one.get("rope_type", "default") != "default" else {}
        entry |= {key: value for key, value in rope.items() if key not in found}
        found["layers"][layer] = {key: value for key, value in entry.items() if value is not None}
    return found


def every() -> dict[str, dict[str, Any]]:
    """All facts by model type, in alphabetical order."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    transformers.logging.set_verbosity_error()
    classes = {name: CONFIG_MAPPING[name] for name in CONFIG_MAPPING}
    for cls in [*classes.values()]:
        parts = (getattr(cls, "sub_configs", None) or {}).values()
        classes |= {part.model_type: part for part in parts if getattr(part, "model_type", "")}
    found: dict[str, dict[str, Any]] = {}
    for name, cls in sorted(classes.items()):
        about = facts(cls)
        if about is not None:
            found[name] = about
        elif not getattr(cls, "sub_configs", None):
            found[name] = {"rotates": False}
        elif "text_config" in cls.sub_configs:
            with contextlib.suppress(Exception):  # some want their parts before they are made
                found[name] = {"as": cls().text_config.model_type}
                if cls(hidden_size=_ODD).text_config.hidden_size != _ODD:
                    found[name]["flat"] = False
    return dict(sorted((found | ELSEWHERE).items()))


def main() -> None:
    """Write the facts, one model type a line; what else stands in the file is kept."""
    table = json.loads(FILE.read_text(encoding="utf-8"))
    models = every()
    table["without_rotation"] = sorted(name for name, about in models.items() if about == {"rotates": False})
    table["models"] = {name: about for name, about in models.items() if name not in table["without_rotation"]}
    lines = []
    for name, part in table.items():
        deep = isinstance(part, dict) and any(isinstance(one, dict | list) for one in part.values())
        rows = [f"    {json.dumps(key)}: {json.dumps(one)}" for key, one in part.items()] if deep else []
        lines.append(f"  {json.dumps(name)}: " + ("{\n" + ",\n".join(rows) + "\n  }" if deep else json.dumps(part)))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
