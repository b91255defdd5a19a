"""The base of every scheme, and its learned weights: a module of torch, or NumPy arrays where torch is not installed.

A seed gives other initial values without torch than with it; what a model has learned is loaded over them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from posenc._arrays import Array, check_int, device_of, is_torch, namespace

try:
    import torch
    from torch import nn
except ModuleNotFoundError:
    torch = None  # type: ignore[assignment]


class _Parameter(np.ndarray):
    """A learned weight without torch: `learned` makes it."""


class _ArrayModule:
    """What schemes need of torch.nn.Module: learned weights by name, as in torch's state dict."""

    def state_dict(self) -> dict[str, np.ndarray]:
        """The learned weights by name, not copied; those of a part, such as a layer, follow its name and a dot."""
        found = {}
        for name, value in vars(self).items():
            if isinstance(value, _Parameter):
                found[name] = value
            elif isinstance(value, _ArrayModule):
                found |= {f"{name}.{inner}": weight for inner, weight in value.state_dict().items()}
        return found

    def load_state_dict(self, weights: Mapping[str, Array]) -> None:
        """Replaces the learned weights; raises ValueError where names or shapes are others."""
        own = {name: weight.shape for name, weight in self.state_dict().items()}
        shapes = {name: tuple(weight.shape) for name, weight in weights.items()}
        if own != shapes:
            raise ValueError(f"weights must have the names and shapes {own}, got {shapes}")
        for name, weight in self.state_dict().items():
            weight[...] = weights[name]


if TYPE_CHECKING:
    Module = nn.Module
else:
    Module = _ArrayModule if torch is None else nn.Module
_random = np.random.default_rng()  # where there is no torch


@contextmanager
def seeded(seed: int | None) -> Iterator[None]:
    """Draws initial values with a seed, or with torch's global generator if there is none."""
    global _random
    before = _random
    if seed is not None:
        check_int("seed", seed, 0)
    if torch is None:
        _random = before if seed is None else np.random.default_rng(seed)
        try:
            yield
        finally:
            _random = before
    elif seed is None:
        yield
    else:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)  # the CPU's, restored afterwards
            yield


def learned(values: Array) -> Any:
    """A learned weight in float32 that begins at `values`."""
    return np.array(values, np.float32).view(_Parameter) if torch is None else nn.Parameter(torch.as_tensor(values))


def normal(*shape: int, std: float) -> Any:
    """A learned weight with normally distributed initial values."""
    return learned(_random.standard_normal(shape) * std if torch is None else torch.randn(shape) * std)


def uniform(low: float, high: float, *shape: int) -> Array:
    """Uniformly distributed numbers; no weight yet."""
    return _random.uniform(low, high, shape) if torch is None else torch.empty(shape).uniform_(low, high)


def perceptron(inputs: int, width: int, outputs: int) -> Any:
    """Linear, ReLU, Linear, with torch's initial values; `run_perceptron` runs it."""
    if torch is not None:
        return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, outputs))
    layers = _ArrayModule()
    for name, size in {"0": (width, inputs), "2": (outputs, width)}.items():
        layer, bound = _ArrayModule(), size[1] ** -0.5
        layer.weight, layer.bias = (learned(uniform(-bound, bound, *shape)) for shape in (size, size[:1]))
        setattr(layers, name, layer)
    return layers


def run_perceptron(layers: Any, x: Array) -> Array:
    """A perceptron of x, shape (..., inputs)."""
    first, last = (getattr(layers, name) for name in ("0", "2"))
    hidden = x @ beside(x, first.weight).T + beside(x, first.bias)
    return namespace(x).clip(hidden, min=0) @ beside(x, last.weight).T + beside(x, last.bias)


def load_arrays(scheme: Any, weights: Mapping[str, np.ndarray]) -> None:
    """Replaces what a scheme has learned by arrays, with torch installed or not."""
    scheme.load_state_dict(weights if torch is None else {name: torch.from_numpy(one) for name, one in weights.items()})


def beside(x: Array, weight: Any) -> Array:
    """A learned weight in the library of `x`: itself where that is torch, so that gradients reach it."""
    if is_torch(x):
        return weight
    xp = namespace(x)
    return xp.asarray(weight.detach().cpu().numpy() if is_torch(weight) else weight, device=device_of(x))
