"""Checks of tensors and positions that schemes share, and initial values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from posenc._arrays import check_int, describe, describe_values, is_compiling


def check_float_tensor(name: str, value: Tensor, shape: str) -> Tensor:
    """`value`, after checking that it is a tensor of floats with as many axes as `shape` names."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor of floats, got {describe(value)}")
    if not value.is_floating_point():
        raise TypeError(f"{name} must be a tensor of floats, got dtype {value.dtype}")
    if value.ndim != shape.count(",") + 1:
        raise ValueError(f"{name} must have shape {shape}, got shape {tuple(value.shape)}")
    return value


def check_sequence_positions(name: str, positions: Tensor, batch: int, length: int) -> Tensor:
    """`positions` of sequences of that length, after checking type and shape."""
    if not isinstance(positions, Tensor):
        raise TypeError(f"{name} must be a tensor of real numbers, got {describe(positions)}")
    if positions.dtype == torch.bool or positions.is_complex():
        raise TypeError(f"{name} must be a tensor of real numbers, got dtype {positions.dtype}")
    if tuple(positions.shape) not in {(length,), (1, length), (batch, length)}:
        raise ValueError(
            f"{name} must have shape ({length},), (1, {length}) or ({batch}, {length}), "
            f"got shape {tuple(positions.shape)}"
        )
    if positions.is_floating_point() and not is_compiling() and not bool(positions.isfinite().all()):
        raise ValueError(f"{name} must be finite, got {describe_values(positions, ~positions.isfinite())}")
    return positions[0] if positions.ndim == 2 and batch > 1 == positions.shape[0] else positions


def check_queries_and_keys(q: Tensor, k: Tensor, *, grouped: bool) -> None:
    """Checks that q and k fit together; if `grouped`, several heads of q may share one of k."""
    for name, tensor in (("q", q), ("k", k)):
        check_float_tensor(name, tensor, "(batch, heads, length, head_dim)")
        if 0 in (tensor.shape[1], tensor.shape[3]):
            raise ValueError(f"{name} must have at least one head and dimension, got shape {tuple(tensor.shape)}")
    if k.dtype != q.dtype:
        raise TypeError(f"k must have the dtype of q, {q.dtype}, got dtype {k.dtype}")
    heads_fit = q.shape[1] % k.shape[1] == 0 if grouped else q.shape[1] == k.shape[1]
    if k.shape[0] != q.shape[0] or k.shape[3] != q.shape[3] or not heads_fit:
        heads = f"a divisor of {q.shape[1]}" if grouped else str(q.shape[1])
        raise ValueError(f"k must have shape ({q.shape[0]}, {heads}, keys, {q.shape[3]}), got shape {tuple(k.shape)}")


def query_and_key_positions(
    q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Positions of queries and keys with equally many axes, on their device; one tensor if equal."""
    batch, queries, keys = q.shape[0], q.shape[2], k.shape[2]
    at = check_sequence_positions("positions", positions, batch, queries)
    if key_positions is None:
        if keys != queries:
            raise ValueError(
                f"key_positions must be given where there are {queries} queries and {keys} keys, got {key_positions}"
            )
        return (on_device := at.to(q.device)), on_device
    keys_at = check_sequence_positions("key_positions", key_positions, batch, keys)
    if at.ndim != keys_at.ndim:
        at, keys_at = at.expand(batch, queries), keys_at.expand(batch, keys)
    return at.to(q.device), keys_at.to(q.device)


def widest_dtype(positions: Tensor) -> torch.dtype:
    """float64 if the device has it: results are rounded once, to the dtype of embeddings or logits."""
    return torch.float32 if positions.device.type == "mps" else torch.float64


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """float32 for half precision, in which a bias would merge distant tokens."""
    return torch.float32 if dtype.itemsize < 4 else dtype


@contextmanager
def seeded(seed: int | None) -> Iterator[None]:
    """Draws initial values with a seed, or with torch's global generator if there is none."""
    if seed is None:
        yield
        return
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(check_int("seed", seed, 0))  # the CPU's, restored afterwards
        yield


def normal(*shape: int, std: float) -> nn.Parameter:
    return nn.Parameter(torch.randn(shape) * std)
