"""The learned distance bias: what a rotated pair adds to every logit at a distance, whatever the tokens are.

With q and k of one pair as complex numbers, the pair adds Re(q k̄ e^{iΔθ}) to the logit at distance Δ. Averaged over
queries and keys, c = E[q k̄] gives a content-independent logit: Re(c e^{iΔθ}) = a cos Δθ + b sin Δθ, with a = Re c and
b = −Im c. `posenc.lab.statistics.mean_products` measures c.
"""

from __future__ import annotations

import numpy as np


def distance_bias(products: np.ndarray, frequencies: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Re(c e^{iΔθ}) of every pair, shape (..., pairs, n).

    Args:
        products: c = E[q k̄], complex, shape (..., pairs).
        frequencies: in radians per token, shape (pairs,).
        distances: in tokens, shape (n,).

    Example:
        >>> distance_bias(np.array([1j]), np.array([np.pi / 2]), np.array([0, 1])).round(6).tolist()
        [[0.0, -1.0]]
    """
    rotation = np.exp(1j * np.asarray(frequencies)[:, None] * np.asarray(distances))  # (pairs, n)
    return np.real(np.asarray(products)[..., None] * rotation)


def most_negative_pairs(products: np.ndarray, frequencies: np.ndarray, trained: int, count: int = 3) -> list[int]:
    """The slow pairs that suppress distant tokens most: those with the lowest b = −Im c, averaged over heads.

    A pair is slow if it makes less than one rotation within the trained length.

    Args:
        products: of one layer, complex, shape (heads, pairs).
        frequencies: in radians per token, shape (pairs,).
        trained: length in tokens.
        count: how many pairs to return.

    Example:
        >>> most_negative_pairs(np.array([[3j, 1j, 2j, 0j]]), np.array([1.0, 0.02, 0.01, 0.001]), trained=128, count=2)
        [1, 2]
    """
    b = -np.imag(products).mean(axis=0)
    slow = [pair for pair in range(len(b)) if frequencies[pair] * trained < 2 * np.pi]
    return sorted(sorted(slow, key=lambda pair: b[pair])[:count])


def clamped(bias: np.ndarray, trained: int) -> np.ndarray:
    """A distance bias clamped past the trained length, to its mean over the second half of it; the same shape.

    Args:
        bias: at distances 0, 1, 2, …, shape (..., n), with n > trained/2.
        trained: length in tokens.

    Example:
        >>> clamped(np.array([0.0, 0.0, -1.0, -3.0, 5.0]), trained=4).tolist()
        [0.0, 0.0, -1.0, -3.0, -2.0]
    """
    mean = bias[..., trained // 2 : trained].mean(axis=-1, keepdims=True)
    return np.where(np.arange(bias.shape[-1]) < trained, bias, mean)
