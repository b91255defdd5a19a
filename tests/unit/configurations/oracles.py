"""What transformers computes from the raw files: `python -m tests.unit.configurations.oracles` writes oracles.json.

The class of the configuration reads the file, the rotary class of that model's code is made from it, and its list of
frequencies and its factor are kept, for every type of layers. The layout is the one by which scores of random queries
and keys are those of the model's own function.
"""

import contextlib
import importlib
import inspect
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from posenc.configuration import TABLE

HERE = Path(__file__).parent
RAW, ORACLES = HERE / "raw", HERE / "oracles.json"
_DIGITS = 7


def names() -> list[str]:
    """The names of the raw files, in order."""
    return sorted(path.stem for path in RAW.glob("*.json") if path.name != "index.json")


def raw(name: str) -> dict[str, Any]:
    """A published configuration as it is."""
    found: dict[str, Any] = json.loads((RAW / f"{name}.json").read_text(encoding="utf-8"))
    return found


def stored() -> dict[str, Any]:
    """What transformers made of every raw file when oracles.json was written."""
    found: dict[str, Any] = json.loads(ORACLES.read_text(encoding="utf-8"))
    return found


def computed(config: dict[str, Any]) -> dict[str, Any]:
    """What transformers makes of a raw configuration: {"refused": why} or {"layers": …, "layout": …}."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    transformers.logging.set_verbosity_error()
    kind = config.get("model_type")
    if kind not in CONFIG_MAPPING:
        other = TABLE["models"].get(kind, {}).get("as")  # whose code the file's own copies
        if other is not None:
            config = {key: value for key, value in config.items() if value is not None}
            return computed({**config, "model_type": other}) | {"as": other}
        if isinstance(config.get("text_config"), dict):
            return computed(config["text_config"])
        return {"refused": f"no class for model type {kind!r}"}
    try:
        whole = CONFIG_MAPPING[kind].from_dict(json.loads(json.dumps(config)))
        text = whole.get_text_config()
        text.rope_parameters = getattr(text, "rope_parameters", None)
        if not _reads(CONFIG_MAPPING[kind], config):
            return {"refused": f"{type(whole).__name__} reads text_config alone, which the file does not have"}
    except Exception as error:  # noqa: BLE001  each class refuses in its own way
        return {"refused": f"{type(error).__name__} in {CONFIG_MAPPING[kind].__name__}"}
    home = type(text).__module__.replace(".configuration_", ".modeling_")
    try:
        code = importlib.import_module(home)
    except ModuleNotFoundError:
        auto = importlib.import_module("transformers.models.auto.modeling_auto")
        code = importlib.import_module(auto.MODEL_MAPPING[type(text)].__module__)
    classes = [
        one
        for name, one in vars(code).items()
        if isinstance(one, type) and name.endswith("RotaryEmbedding") and "Vision" not in name
    ]
    for one in classes:
        with contextlib.suppress(Exception):  # a class of another part of the model
            made = one(text)
            layers = _layers(made)
            if layers:
                return {"layers": layers, "layout": _layout(code, text, made, layers)}
    if hasattr(code, "create_sinusoidal_positions"):  # GPT-J and CodeGen
        table = code.create_sinusoidal_positions(2, text.rotary_dim or text.n_embd // text.n_head)[1]
        angles = np.arcsin(table.double().numpy()[: len(table) // 2])
        angles[0] = 1.0
        return {"layers": {"": _kept(angles, 1.0)}, "layout": "interleaved"}
    return {"layers": {}}


def _reads(cls: Any, config: dict[str, Any]) -> bool:
    """Whether the class of a model with several parts reads a file that has the language model's keys at its top."""
    if "text_config" not in (cls.sub_configs or {}) or config.get("text_config") or "hidden_size" not in config:
        return True
    changed = json.loads(json.dumps(config)) | {"hidden_size": 2 * config["hidden_size"]}
    return bool(cls.from_dict(changed).get_text_config().hidden_size == changed["hidden_size"])


def _layers(made: Any) -> dict[str, dict[str, Any]]:
    layers = {}
    for name, buffer in made.named_buffers():
        if name.endswith("inv_freq") and "original" not in name:
            layer = name.removesuffix("inv_freq").strip("_")
            factor = getattr(made, f"{layer}_attention_scaling" if layer else "attention_scaling", 1.0)
            layers[layer] = _kept(buffer.double().numpy(), float(factor))
    return layers


def _kept(frequencies: Any, factor: float) -> dict[str, Any]:
    return {"inv_freq": [float(f"{one:.{_DIGITS}g}") for one in frequencies], "attention_factor": round(factor, 9)}


def _layout(code: Any, config: Any, made: Any, layers: dict[str, Any]) -> str | None:
    """The layout by which scores equal those of the model's own function; None where it takes other arguments."""
    import torch

    layer = next(iter(layers))
    pairs = len(layers[layer]["inv_freq"])
    width, length = 2 * pairs, 6
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(1, 2, length, width, generator=generator) for _ in range(2))
    positions = torch.arange(length)[None]
    further = {"layer_type": layer} if layer else {}
    apply = getattr(code, "apply_rotary_pos_emb", None) or getattr(code, "apply_rotary_emb", None)
    if hasattr(code, "apply_rotary_pos_emb_interleave") and getattr(config, "rope_interleave", True):
        apply = code.apply_rotary_pos_emb_interleave
    angles = np.arange(length)[:, None] * np.array(layers[layer]["inv_freq"])
    for shape in (positions, positions.expand(3, 1, length)):
        with contextlib.suppress(Exception):
            table = made(q, shape, **further)
            if isinstance(table, tuple) and "k" not in inspect.signature(apply).parameters:
                turned = tuple(apply(x, *table, unsqueeze_dim=1) for x in (q, k))
            elif isinstance(table, tuple):
                turned = apply(q, k, *table)
            else:  # complex numbers, for (batch, length, heads, dim) or (batch, heads, length, dim)
                try:
                    turned = apply(q, k, table)
                except RuntimeError:
                    turned = apply(q.transpose(1, 2), k.transpose(1, 2), table)
                    turned = tuple(one.transpose(1, 2) for one in turned)
            theirs = (turned[0] @ turned[1].mT).double().numpy()
            for layout in ("half-split", "interleaved"):
                ours = _scores(q.double().numpy(), k.double().numpy(), angles, layout)
                if np.allclose(theirs, ours * layers[layer]["attention_factor"] ** 2, atol=1e-3):
                    return layout
    return None


def _scores(q: Any, k: Any, angles: Any, layout: str) -> Any:
    turned = []
    for x in (q, k):
        first, second = (x[..., ::2], x[..., 1::2]) if layout == "interleaved" else np.split(x, 2, -1)
        turned.append((first + 1j * second) * np.exp(1j * angles))
    return (turned[0] @ np.conj(np.swapaxes(turned[1], -1, -2))).real


def main() -> None:
    """Write what transformers computes from every raw file."""
    lines = [f"{json.dumps(name)}: {json.dumps(computed(raw(name)))}" for name in names()]
    ORACLES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
