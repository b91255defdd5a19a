"""Sandwich: the dot product of two sinusoidal encodings as a bias."""

from __future__ import annotations

from typing import Any

from posenc._arrays import (
    Array,
    cast_to,
    check_even_dim,
    check_int,
    device_of,
    namespace,
)
from posenc.absolute import sinusoidal
from posenc.bias._shared import pairwise, positions_as_floats
from posenc.frequencies import inv_freq


def sandwich(
    relative_positions: Array, n_heads: int, dim: int = 128, base: float = 10_000.0, *, dtype: Any = None
) -> Array:
    """Sandwich: the product of two sinusoidal encodings, b_ij = λ_h·p_i·p_j = λ_h·Σ_n cos((i − j)·θ_n), n < dim/2.

    Head h of H has λ_h = H/(8h), h = 1 … H; nothing is learned. The sum is dim/2 at distance 0 and falls roughly
    logarithmically, with ripples. It is even: mask later keys.

    Args:
        n_heads: H, at least 1.
        dim: width of the encodings, even; 128 in the paper, whatever head_dim is.
        base: finite and greater than 0.
        dtype: of the result; None: the library's default float.

    Returns shape (..., heads, queries, keys).
    Source: Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis".

    >>> sandwich([[0, -1, -50]], n_heads=2, dim=4).round(3).tolist()
    [[[0.5, 0.385, 0.461]], [[0.25, 0.193, 0.23]]]
    """
    offsets = pairwise(relative_positions)
    factors = _sandwich_factors(n_heads, offsets)
    xp = namespace(offsets)
    product = xp.zeros_like(offsets)
    for frequency in inv_freq(dim, base, like=offsets):  # one at a time, to save memory
        product = product + xp.cos(offsets * frequency)
    return cast_to(factors[:, None, None] * product[..., None, :, :], dtype)


def sandwich_features(
    positions: Array, n_heads: int, dim: int = 128, base: float = 10_000.0, *, dtype: Any = None
) -> Array:
    """Features whose dot products are Sandwich's bias: √λ_h·p_i with the sinusoidal encoding p.

    Appended to queries and keys, they give q·k + λ_h·p_i·p_j; for attention's `scale` see `alibi_rank_two`.
    `positions`, in tokens, have shape (..., length); other arguments as in `sandwich`. Returns shape (..., heads,
    length, dim).

    >>> p = sandwich_features([0, 1, 50], n_heads=2, dim=4)
    >>> (p @ p.swapaxes(-1, -2))[:, 0].round(3).tolist()
    [[0.5, 0.385, 0.461], [0.25, 0.193, 0.23]]
    """
    at = positions_as_floats("positions", positions)
    factors = _sandwich_factors(n_heads, at)
    encoding = sinusoidal(at, check_even_dim(dim), base, dtype=at.dtype)  # (..., length, dim)
    return cast_to(namespace(at).sqrt(factors)[:, None, None] * encoding[..., None, :, :], dtype)


def _sandwich_factors(n_heads: int, like: Array) -> Array:
    """λ_h = H/(8h), shape (heads,)."""
    n_heads = check_int("n_heads", n_heads)
    xp = namespace(like)
    return n_heads / (8 * xp.arange(1, n_heads + 1, dtype=like.dtype, device=device_of(like)))
