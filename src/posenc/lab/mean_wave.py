"""The mean wave: what a rotated pair adds to the logit of every word at a distance, whatever the word says.

A rotated query and key of one pair, q and k as complex numbers, add Re(q k̄ e^{iΔθ}) to the logit at distance Δ.
Averaged over queries and keys of many texts, c = E[q k̄] is what the pair adds to every word at that distance, without
regard to what it says: the mean wave Re(c e^{iΔθ}) = a cos Δθ + b sin Δθ, with a = Re c and b = −Im c.
"""

from __future__ import annotations

import numpy as np


def mean_wave(products: np.ndarray, frequencies: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Re(c e^{iΔθ}): what each pair adds to the logit of every word at a distance, on average.

    Args:
        products: complex, shape (..., pairs).
        frequencies: in radians per token, shape (pairs,).
        distances: in tokens, shape (n,).

    Returns:
        shape (..., pairs, n).

    Example:
        >>> mean_wave(np.array([1j]), np.array([np.pi / 2]), np.array([0, 1])).round(6).tolist()
        [[0.0, -1.0]]
    """
    turned = np.exp(1j * np.asarray(frequencies)[:, None] * np.asarray(distances))  # (pairs, n)
    return np.real(np.asarray(products)[..., None] * turned)


def deepest(products: np.ndarray, frequencies: np.ndarray, trained: int, count: int = 3) -> list[int]:
    """The pairs whose mean wave pushes far words down the most: the least b = −Im c over the heads, of the slow pairs.

    A pair is slow if it makes less than one turn within the trained length.

    Args:
        products: of one layer, complex, shape (heads, pairs).
        frequencies: in radians per token, shape (pairs,).
        trained: length in tokens.
        count: how many.

    Example:
        >>> deepest(np.array([[3j, 1j, 2j, 0j]]), np.array([1.0, 0.02, 0.01, 0.001]), trained=128, count=2)
        [1, 2]
    """
    b = -np.imag(products).mean(axis=0)
    slow = [pair for pair in range(len(b)) if frequencies[pair] * trained < 2 * np.pi]
    return sorted(sorted(slow, key=lambda pair: b[pair])[:count])


def held(wave: np.ndarray, trained: int) -> np.ndarray:
    """A wave that stays, past the trained length, at what it was on average in the second half of it.

    Args:
        wave: at distances 0, 1, 2, …, of which there are more than half of `trained`, shape (..., n).
        trained: length in tokens.

    Returns:
        the same shape.

    Example:
        >>> held(np.array([0.0, 0.0, -1.0, -3.0, 5.0]), trained=4).tolist()
        [0.0, 0.0, -1.0, -3.0, -2.0]
    """
    mean = wave[..., trained // 2 : trained].mean(axis=-1, keepdims=True)
    return np.where(np.arange(wave.shape[-1]) < trained, wave, mean)
