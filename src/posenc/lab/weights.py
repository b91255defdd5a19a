"""Trained models as NumPy arrays: reading a checkpoint needs neither torch nor safetensors.

A checkpoint is a safetensors file in half precision: the length of a header, 8 bytes, the header, in JSON, and the raw
numbers (https://huggingface.co/docs/safetensors).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from posenc._arrays import Array, check_choice
from posenc.lab.measured import shipped_folder
from posenc.lab.runs import Run
from posenc.schemes import PositionScheme
from posenc.schemes._module import load_arrays
from posenc.transformer.arrays import check_weights, forward


class Checkpoint(NamedTuple):
    """A trained model as arrays. Called with tokens and positions, as a Transformer is, it returns the logits."""

    weights: dict[str, np.ndarray]  # float32, by the names of the state dict of a `posenc.transformer.Transformer`
    scheme: PositionScheme  # with what it has learned
    run: Run  # its `config()` is the shape of the model

    def __call__(self, tokens: Array, positions: Array = None) -> np.ndarray:
        """Logits, (batch, length, vocab_size); the arguments of `posenc.transformer.forward`."""
        logits: np.ndarray = forward(self.weights, tokens, self.run.config(), self.scheme, positions=positions).logits
        return logits


def shipped() -> list[str]:
    """The names of the runs whose checkpoints ship with posenc-lab."""
    return sorted(path.stem for path in shipped_folder().glob("*.safetensors"))


def load_weights(name: str) -> Checkpoint:
    """A trained model that ships with posenc-lab, as arrays for `posenc.transformer.forward`.

    Args:
        name: one of `shipped()`, for example "full-text-rope_100-0".

    Raises:
        ValueError: no such checkpoint ships, or it is damaged.

    Example:
        >>> model = load_weights("full-text-rope_100-0")
        >>> tokens = np.array([list(b"    def __init__(sel")])
        >>> chr(model(tokens)[0, -1].argmax())
        'f'
    """
    return read_checkpoint(shipped_folder() / f"{check_choice('name', name, tuple(shipped()))}.safetensors")


def read_checkpoint(path: str | Path) -> Checkpoint:
    """The model of a checkpoint of the laboratory.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged, or no checkpoint of the laboratory.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no checkpoint {path}")
    content = path.read_bytes()
    try:
        start = 8 + int.from_bytes(content[:8], "little")  # of the numbers
        header = json.loads(content[8:start])
        run = Run.from_name(header.pop("__metadata__", {}).get("run", ""))
        weights = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            if entry["dtype"] != "F16":
                raise ValueError(f"{name} must be in half precision, F16, got {entry['dtype']}")
            half = np.frombuffer(content[start + first : start + last], "<f2")
            weights[name] = half.reshape(entry["shape"]).astype(np.float32)
        check_weights(weights, run.config())
        scheme = run.make_scheme()
        own = {name: weight for name, weight in weights.items() if name.startswith("scheme.")}
        load_arrays(scheme, {name.removeprefix("scheme."): weight for name, weight in own.items()})
    except (ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        raise ValueError(f"{path} is not a complete checkpoint of the laboratory: {error}") from error
    return Checkpoint(weights, scheme, run)
