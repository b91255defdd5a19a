"""Sandwich: the product of two sinusoidal codes."""

from __future__ import annotations

from posenc._arrays import (
    Array,
    check_even_dim,
    check_int,
    device_of,
    namespace,
)
from posenc.absolute import sinusoidal
from posenc.bias._shared import pairwise, positions_of
from posenc.frequencies import inv_freq


def sandwich(relative_positions: Array, n_heads: int, dim: int = 128, base: float = 10_000.0) -> Array:
    """Sandwich: the product of two sinusoidal codes, b_ij = λ_h·p_i·p_j = λ_h·Σ cos((i − j)·θ_n), n = 0 … dim/2 − 1.

    Head h of H has λ_h = H/(8h), h = 1 … H. Nothing is learned. The sum is dim/2 at distance 0 and falls like a
    logarithm, in ripples: many a step away raises it. It is even: later keys need a mask.

    Args:
        n_heads: H, at least 1.
        dim: width of the codes, even; 128 in the paper, whatever the width of the heads.
        base: finite and greater than 0.

    Returns float64, shape (..., heads, queries, keys).
    Source: Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis".

    >>> sandwich([[0, -1, -50]], n_heads=2, dim=4).round(3).tolist()
    [[[0.5, 0.385, 0.461]], [[0.25, 0.193, 0.23]]]
    """
    offsets = pairwise(relative_positions)
    factors = _sandwich_factors(n_heads, offsets)
    xp = namespace(offsets)
    product = xp.zeros_like(offsets)
    for frequency in inv_freq(dim, base, like=offsets):  # one at a time: all at once need dim/2 times the memory
        product = product + xp.cos(offsets * frequency)
    return factors[:, None, None] * product[..., None, :, :]


def sandwich_features(positions: Array, n_heads: int, dim: int = 128, base: float = 10_000.0) -> Array:
    """The vectors whose products are Sandwich's bias: √λ_h·p_i, with p the sinusoidal code; arguments as in `sandwich`.

    Appended to queries and to keys, they give q·k + λ_h·p_i·p_j. The factor `scale` of attention falls on the second
    part as well, as in `alibi_rank_two`. `positions`, in tokens, have the shape (..., length). Returns float64, shape
    (..., heads, length, dim).

    >>> p = sandwich_features([0, 1, 50], n_heads=2, dim=4)
    >>> (p @ p.swapaxes(-1, -2))[:, 0].round(3).tolist()
    [[0.5, 0.385, 0.461], [0.25, 0.193, 0.23]]
    """
    at = positions_of("positions", positions)
    factors = _sandwich_factors(n_heads, at)
    return namespace(at).sqrt(factors)[:, None, None] * sinusoidal(at, check_even_dim(dim), base)[..., None, :, :]


def _sandwich_factors(n_heads: int, like: Array) -> Array:
    """λ_h = H/(8h), shape (heads,)."""
    n_heads = check_int("n_heads", n_heads)
    xp = namespace(like)
    return n_heads / (8 * xp.arange(1, n_heads + 1, dtype=like.dtype, device=device_of(like)))
