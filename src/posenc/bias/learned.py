"""KERPLE and FIRE: a learned function of the distance."""

from __future__ import annotations

from collections.abc import Callable

from posenc._arrays import (
    Array,
    as_float_array,
    check_choice,
    describe,
    describe_values,
    first_array,
    is_array,
    is_compiling,
    namespace,
)
from posenc.absolute import relative_positions as seen_from_each_query
from posenc.bias._shared import one_for_each_head, pairwise, past_only, positions_of

KERPLE_KINDS = ("logarithmic", "power")


def kerple(relative_positions: Array, r1: Array, r2: Array, *, kind: str = "logarithmic") -> Array:
    """KERPLE: −r1·ln(1 + r2·|i − j|), or −r1·|i − j|^r2, with learned r1 and r2 for each head.

    The power with r2 = 1 is the symmetric ALiBi. Both forms are even: later keys need a mask.

    Args:
        r1: greater than 0, shape (heads,); may carry a gradient.
        r2: likewise, and at most 2 for the power.
        kind: "logarithmic" or "power".

    Returns float64, shape (..., heads, queries, keys).
    Source: Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation".

    >>> kerple([[-3, -1]], [1.0, 0.5], [1.0, 1.0]).round(3).tolist()
    [[[-1.386, -0.693]], [[-0.693, -0.347]]]
    >>> kerple([[-3, -1]], [1.0, 0.5], [1.0, 1.0], kind="power").tolist()
    [[[-3.0, -1.0]], [[-1.5, -0.5]]]
    """
    check_choice("kind", kind, KERPLE_KINDS)
    like = first_array(relative_positions, r1, r2)
    offsets = pairwise(relative_positions, like)[..., None, :, :]
    first, second = one_for_each_head("r1", r1, like), one_for_each_head("r2", r2, like)
    if first.shape != second.shape:
        raise ValueError(
            f"r1 and r2 must have one number for each head, equally many, got {describe(r1)} and {describe(r2)}"
        )
    xp = namespace(offsets)
    distance = xp.abs(offsets)
    if kind == "logarithmic":
        return -first * xp.log1p(second * distance)
    if not is_compiling() and bool(xp.any(second > 2)):
        raise ValueError(f"r2 must be at most 2 for the power, got {describe_values(r2, second[:, 0, 0] > 2)}")
    # 0^r2 is 0, but its slope is not finite everywhere: kept away from the gradient.
    here = distance == 0
    power = xp.where(here, xp.ones_like(distance), distance) ** second
    return -first * xp.where(here, xp.zeros_like(power), power)


def fire(
    query_positions: Array,
    key_positions: Array,
    mlp: Callable[[Array], Array],
    c: float | Array,
    threshold: float | Array,
) -> Array:
    """FIRE: b_ij = f(ψ(i − j) / ψ(max(i, L))) with ψ(x) = ln(c·x + 1), f a small learned network.

    The distance is measured in shares of where the query stands, of L before position L, and f gets numbers in [0, 1]
    at every length. The method is causal: for later keys the bias is −∞.

    Args:
        query_positions: i, none negative, shape (..., queries); in tokens, from the start of the text.
        key_positions: j, none negative, shape (..., keys), with the same leading axes.
        mlp: f, a function from shape (..., queries, keys, 1) to shape (..., queries, keys, heads).
        c: greater than 0, a number or an array of no axes, which may carry a gradient. `mlp` gets its input in the
            dtype of c, in float64 where that is a number.
        threshold: L, greater than 0, a number or an array of no axes, which may carry a gradient.

    Returns shape (..., heads, queries, keys), in the dtype in which `mlp` answers.
    Source: Li et al. 2024, "Functional Interpolation for Relative Positions Improves Long Context Transformers".

    >>> fire([1, 7], [0, 1], lambda share: 1 - share, c=1.0, threshold=3.0).round(3).tolist()  # one head
    [[[0.5, 1.0], [0.0, 0.064]]]
    """
    if not callable(mlp):
        raise TypeError(f"mlp must be a function from the shares of a distance to the biases, got {describe(mlp)}")
    like = first_array(query_positions, key_positions, c, threshold)
    queries = positions_of("query_positions", query_positions, like)
    keys = positions_of("key_positions", key_positions, like)
    offsets = seen_from_each_query(queries, keys)  # (..., queries, keys)
    xp = namespace(offsets)
    for name, at, given in (
        ("query_positions", queries, query_positions),
        ("key_positions", keys, key_positions),
    ):
        if not is_compiling() and bool(xp.any(at < 0)):
            raise ValueError(f"{name} must not be negative, got {describe_values(given, at < 0)}")
    growth, least = _positive_scalar("c", c, like), _positive_scalar("threshold", threshold, like)
    of_distance = xp.log1p(growth * xp.clip(-offsets, min=0))
    share = of_distance / xp.log1p(growth * xp.maximum(queries, least))[..., None]
    dtype = getattr(c, "dtype", share.dtype)
    if xp.isdtype(dtype, "real floating"):
        share = xp.astype(share, dtype, copy=False)
    biases = mlp(share[..., None])
    if not is_array(biases) or not namespace(share, biases).isdtype(biases.dtype, "real floating"):
        raise TypeError(f"mlp must answer with an array of floats, got {describe(mlp)} answering {describe(biases)}")
    if tuple(biases.shape[:-1]) != tuple(share.shape) or 0 in biases.shape[share.ndim :]:
        wanted = ", ".join(str(n) for n in (*share.shape, "heads"))
        raise ValueError(f"mlp must answer with shape ({wanted}), got {describe(mlp)} answering {tuple(biases.shape)}")
    return past_only(xp.moveaxis(biases, -1, -3), offsets[..., None, :, :])


def _positive_scalar(name: str, value: float | Array, like: Array) -> Array:
    """`value` as an array of no axes, after checking that it is greater than 0."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {describe(value)}")
    number = as_float_array(name, value, like=like)
    if number.ndim != 0:
        raise ValueError(f"{name} must be one number, got {describe(value, number.shape)}")
    if not is_compiling() and not bool(number > 0):
        raise ValueError(f"{name} must be greater than 0, got {describe(value)}")
    return number
