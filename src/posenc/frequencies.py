"""The frequencies of sinusoidal and rotary position embeddings.

    θ_i = base^(−2i/d),   i = 0 … d/2 − 1   (radians per token)

Pair i holds two of the d dimensions and has the angle m·θ_i at position m. The list was chosen for the sinusoidal
encoding (Vaswani et al. 2017, section 3.5) and kept for the rotary one (Su et al. 2021, section 3.2.2).

The functions take NumPy arrays or torch tensors and answer in kind, in float64 where the device has it, whatever
dtype the activations have: in float32 the angle at position 10^6 is off by 0.03 radians. `inv_freq` has the shape
(dim/2,), in radians per token. An argument of the wrong kind, or arrays of two libraries, raise TypeError; a value that
is not finite, out of its range or of another shape raises ValueError.
"""

from __future__ import annotations

import math

from posenc._arrays import (
    Array,
    check_even_dim,
    check_inv_freq,
    check_like,
    check_positions,
    check_positive,
    device_of,
    namespace,
    widest_float,
)


def inv_freq(dim: int, base: float = 10_000.0, *, like: Array = None) -> Array:
    """The frequencies θ_i = base^(−2i/dim), fastest first: float64, shape (dim/2,), in radians per token.

    Args:
        dim: number of dimensions that are rotated; even and positive.
        base: the ratio that the list would reach at i = dim/2; finite and greater than 0. 10 000 in both papers.
        like: an array whose library and device the answer takes; NumPy where it is left out.

    Source: Vaswani et al. 2017, section 3.5; Su et al. 2021, equation (15).

    >>> inv_freq(8).tolist()
    [1.0, 0.1, 0.01, 0.001]
    """
    dim, base = check_even_dim(dim), check_positive("base", base)
    xp, device = namespace(check_like("like", like)), device_of(like)
    dimensions = xp.arange(0, dim, 2, dtype=widest_float(xp, device), device=device)  # 0, 2, 4, … = 2i
    return base ** (-dimensions / dim)


def angles(positions: Array, inv_freq: Array) -> Array:
    """The angle m·θ_i of each pair at each position, in radians, not reduced modulo 2π.

    `positions`, in tokens, are any real numbers of any shape, not in bfloat16 or float16, which skip integers from 256
    and 2048 on; returns shape (*positions.shape, dim/2).

    >>> angles([0, 2, -3], [1.0, 0.5]).tolist()
    [[0.0, 0.0], [2.0, 1.0], [-3.0, -1.5]]
    """
    frequencies = check_inv_freq(inv_freq)
    return check_positions(positions, like=inv_freq)[..., None] * frequencies


def wavelengths(inv_freq: Array) -> Array:
    """Tokens in one full rotation of each pair, 2π/θ_i, shape (dim/2,); infinite for an unrotated pair, θ_i = 0.

    >>> wavelengths([1.0, 0.01, 0.0]).round(2).tolist()
    [6.28, 628.32, inf]
    """
    frequencies = check_inv_freq(inv_freq)
    xp = namespace(frequencies)
    unrotated = frequencies == 0
    one = xp.ones_like(frequencies)
    return xp.where(unrotated, one * math.inf, 2 * math.pi / xp.where(unrotated, one, frequencies))


def rotations(length: float, inv_freq: Array) -> Array:
    """Full rotations that each pair makes over `length` > 0 tokens, length·θ_i/2π, shape (dim/2,).

    A pair has met every angle once it has completed one rotation; YaRN's r (Peng et al. 2023, section 3.2).

    >>> rotations(4096, inv_freq(8)).round(2).tolist()
    [651.9, 65.19, 6.52, 0.65]
    """
    return check_positive("length", length) * check_inv_freq(inv_freq) / (2 * math.pi)
