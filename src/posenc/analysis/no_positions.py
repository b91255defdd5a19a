"""Attention without any code: a mean over more keys blurs, and one key drowns among many."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from posenc._arrays import (
    Array,
    check_choice,
    check_int,
    check_integers,
    check_positive,
    describe,
    device_of,
    namespace,
)

SIGNIFICANT_BITS = {"bfloat16": 8, "float16": 11, "float32": 24}


def uniform_attention_std(n_keys: Array) -> Array:
    """The standard deviation of a mean of n independent values of deviation 1: n^(−1/2), float64, shape of `n_keys`.

    A causal head without any code that attends evenly writes such a mean; its size says how many keys there were. Equal
    values show nothing: their mean is the same for every n. `n_keys` are whole numbers of at least 1, any shape.

    >>> uniform_attention_std([1, 4, 100]).tolist()
    [1.0, 0.5, 0.1]
    """
    return check_integers("n_keys", n_keys, least=1) ** -0.5


def first_tie(precision: str, limit: int = 10_000) -> int | None:
    """The first n at which n^(−1/2) and (n + 1)^(−1/2) are the same number once rounded, or None up to `limit`.

    From there on a count that is written as that standard deviation can no longer be read exactly. `precision` is
    "bfloat16", "float16" or "float32", `limit` from 1 to 10 000 000 (float16 stays normal throughout).

    >>> first_tie("bfloat16"), first_tie("float32", 1000)
    (111, None)
    """
    check_choice("precision", precision, tuple(SIGNIFICANT_BITS))
    if check_int("limit", limit) > 10_000_000:
        raise ValueError(f"limit must be at most 10000000, got {limit}")
    fraction, exponent = np.frexp(uniform_attention_std(np.arange(1, limit + 2)))
    bits = SIGNIFICANT_BITS[precision]
    rounded = np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits)  # half to even, as the formats round
    ties = np.flatnonzero(rounded[1:] == rounded[:-1])
    return int(ties[0]) + 1 if len(ties) else None


def needle_weight(n_keys: Array, logit: float, temperature: float = 1.0) -> Array:
    """The expected softmax weight of one key of a given logit among n − 1 keys of standard normal logits.

    It falls with n although no logit changes: dilution. It is near e^(λ·logit) / (e^(λ·logit) + (n − 1)·e^(λ²/2)) for λ
    = 1/temperature, and never below that. Exact to 10⁻¹²: with X the sum of the other exponentials over e^(λ·logit),
    E[1/(1 + X)] = ∫ e^(−s)·E[e^(−s·X)] ds, and the inner mean is the (n − 1)-th power of that of one key. Both
    integrals are trapezoidal sums of smooth functions that vanish at both ends.

    Args:
        n_keys: n, whole numbers of at least 1, any shape, which the answer has too, in float64.
        logit: of the one key, from −100 to 100.
        temperature: by which all logits are divided; finite and at least 0.1.

    >>> needle_weight([1, 128, 8192], logit=6).round(3).tolist()
    [1.0, 0.659, 0.029]
    """
    keys = check_integers("n_keys", n_keys, least=1)
    if isinstance(logit, bool) or not isinstance(logit, Real):
        raise TypeError(f"logit must be a number, got {describe(logit)}")
    if not -100 <= logit <= 100:
        raise ValueError(f"logit must be from -100 to 100, got {logit!r}")
    if check_positive("temperature", temperature) < 0.1:
        raise ValueError(f"temperature must be at least 0.1, got {temperature!r}")
    if 0 in keys.shape:
        return keys
    xp, sharpness = namespace(keys), 1 / temperature
    others = np.asarray(keys.cpu() if hasattr(keys, "cpu") else keys) - 1.0
    step = 0.2 / max(sharpness, 1.0)
    noise = np.arange(-10, 10 + step / 2, step)
    density = step * np.exp(-(noise**2) / 2) / math.sqrt(2 * math.pi)
    # s runs over all sizes that the weight can have, from e^−40 of the least one on.
    least = -40 - math.log(others.max() + 1) - sharpness * max(0.0, 10 - logit)
    log_s = np.arange(least, 5, 0.2)
    share = np.exp(np.minimum(log_s[:, None] + sharpness * (noise - logit), 700))  # (s, noise), short of overflow
    lost, left = -np.expm1(-share) @ density, np.exp(-share) @ density  # 1 − mean and mean, both without cancelling
    log_mean = np.where(lost < 0.5, np.log1p(-np.minimum(lost, 0.5)), np.log(np.maximum(left, 1e-300)))
    weight = 0.2 * np.sum(np.exp(log_s - np.exp(log_s) + others[..., None] * log_mean), axis=-1)
    return xp.asarray(weight, dtype=keys.dtype, device=device_of(keys))
