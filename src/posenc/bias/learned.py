"""KERPLE and FIRE: learned functions of the distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from posenc._arrays import (
    Array,
    as_float_array,
    cast_to,
    check_choice,
    describe,
    describe_values,
    first_array,
    is_array,
    is_compiling,
    namespace,
)
from posenc.absolute import relative_positions as pairwise_differences
from posenc.bias._shared import mask_later_keys, pairwise, per_head, positions_as_floats

KerpleKind = Literal["logarithmic", "power"]
KERPLE_KINDS: tuple[KerpleKind, KerpleKind] = ("logarithmic", "power")


def kerple(
    relative_positions: Array,
    r1: Array,
    r2: Array,
    *,
    kind: KerpleKind = "logarithmic",
    dtype: Any = None,
) -> Array:
    """KERPLE: −r1·ln(1 + r2·|i − j|), or −r1·|i − j|^r2, with learned r1 and r2 per head.

    The power with r2 = 1 is the symmetric ALiBi. Both forms are even: mask later keys.

    Args:
        r1: greater than 0, shape (heads,); may carry a gradient.
        r2: likewise, and at most 2 for the power.
        kind: "logarithmic" or "power".
        dtype: of the result; None: the library's default float.

    Returns shape (..., heads, queries, keys).
    Source: Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation".

    >>> kerple([[-3, -1]], [1.0, 0.5], [1.0, 1.0]).round(3).tolist()
    [[[-1.386, -0.693]], [[-0.693, -0.347]]]
    >>> kerple([[-3, -1]], [1.0, 0.5], [1.0, 1.0], kind="power").tolist()
    [[[-3.0, -1.0]], [[-1.5, -0.5]]]
    """
    check_choice("kind", kind, KERPLE_KINDS)
    like = first_array(relative_positions, r1, r2)
    offsets = pairwise(relative_positions, like)[..., None, :, :]
    first, second = per_head("r1", r1, like), per_head("r2", r2, like)
    if first.shape != second.shape:
        raise ValueError(
            f"r1 and r2 must have one number for each head, equally many, got {describe(r1)} and {describe(r2)}"
        )
    xp = namespace(offsets)
    distance = xp.abs(offsets)
    if kind == "logarithmic":
        return cast_to(-first * xp.log1p(second * distance), dtype)
    if not is_compiling() and bool(xp.any(second > 2)):
        raise ValueError(f"r2 must be at most 2 for the power, got {describe_values(r2, second[:, 0, 0] > 2)}")
    # 0^r2 is 0, but its derivative may be infinite: keep it out of the gradient.
    here = distance == 0
    power = xp.where(here, xp.ones_like(distance), distance) ** second
    return cast_to(-first * xp.where(here, xp.zeros_like(power), power), dtype)


def fire(
    query_positions: Array,
    key_positions: Array,
    mlp: Callable[[Array], Array],
    c: float | Array,
    threshold: float | Array,
) -> Array:
    """FIRE: b_ij = f(ψ(i − j) / ψ(max(i, L))) with ψ(x) = ln(c·x + 1) and a small learned network f.

    The distance is normalised by the query's position (by L below position L), so f gets numbers in [0, 1] at every
    length. The method is causal: the bias is −∞ for later keys.

    Args:
        query_positions: i ≥ 0, shape (..., queries), in tokens from the start of the sequence.
        key_positions: j ≥ 0, shape (..., keys), with the same leading axes.
        mlp: f, a function from shape (..., queries, keys, 1) to shape (..., queries, keys, heads).
        c: greater than 0, a number or an array of shape (), which may carry a gradient. `mlp` gets its input in the
            dtype of c, in float64 if c is a number.
        threshold: L, greater than 0, likewise.

    Returns shape (..., heads, queries, keys), in the dtype that `mlp` returns.
    Source: Li et al. 2024, "Functional Interpolation for Relative Positions Improves Long Context Transformers".

    >>> fire([1, 7], [0, 1], lambda x: 1 - x, c=1.0, threshold=3.0).round(3).tolist()  # one head
    [[[0.5, 1.0], [0.0, 0.064]]]
    """
    if not callable(mlp):
        raise TypeError(f"mlp must be a function from normalised distances to biases, got {describe(mlp)}")
    like = first_array(query_positions, key_positions, c, threshold)
    queries = positions_as_floats("query_positions", query_positions, like)
    keys = positions_as_floats("key_positions", key_positions, like)
    offsets = pairwise_differences(queries, keys)  # (..., queries, keys)
    xp = namespace(offsets)
    for name, at, argument in (
        ("query_positions", queries, query_positions),
        ("key_positions", keys, key_positions),
    ):
        if not is_compiling() and bool(xp.any(at < 0)):
            raise ValueError(f"{name} must not be negative, got {describe_values(argument, at < 0)}")
    rate, minimum = _positive_scalar("c", c, like), _positive_scalar("threshold", threshold, like)
    log_distance = xp.log1p(rate * xp.clip(-offsets, min=0))
    normalised = log_distance / xp.log1p(rate * xp.maximum(queries, minimum))[..., None]
    dtype = getattr(c, "dtype", normalised.dtype)
    if xp.isdtype(dtype, "real floating"):
        normalised = xp.astype(normalised, dtype, copy=False)
    biases = mlp(normalised[..., None])
    if not is_array(biases) or not namespace(normalised, biases).isdtype(biases.dtype, "real floating"):
        raise TypeError(f"mlp must return an array of floats, got {describe(mlp)} returning {describe(biases)}")
    if tuple(biases.shape[:-1]) != tuple(normalised.shape) or 0 in biases.shape[normalised.ndim :]:
        expected = ", ".join(str(n) for n in (*normalised.shape, "heads"))
        raise ValueError(f"mlp must return shape ({expected}), got {describe(mlp)} returning {tuple(biases.shape)}")
    return mask_later_keys(xp.moveaxis(biases, -1, -3), offsets[..., None, :, :])


def _positive_scalar(name: str, value: float | Array, like: Array) -> Array:
    """`value` as an array of shape (), after checking that it is greater than 0."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {describe(value)}")
    number = as_float_array(name, value, like=like)
    if number.ndim != 0:
        raise ValueError(f"{name} must be one number, got {describe(value, number.shape)}")
    if not is_compiling() and not bool(number > 0):
        raise ValueError(f"{name} must be greater than 0, got {describe(value)}")
    return number
