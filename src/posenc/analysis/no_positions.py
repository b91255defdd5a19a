"""Attention without positional encoding: a mean over more keys blurs, and attention weights dilute."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from posenc._arrays import (
    Array,
    as_float_array,
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
    """The standard deviation of a mean of n independent values of standard deviation 1: n^(−1/2).

    A causal NoPE head that attends uniformly outputs such a mean; its magnitude reveals the number of keys (but not if
    the values are equal). `n_keys` are integers of at least 1; returns float64 in their shape.

    >>> uniform_attention_std([1, 4, 100]).tolist()
    [1.0, 0.5, 0.1]
    """
    return check_integers("n_keys", n_keys, least=1) ** -0.5


def first_tie(precision: str, limit: int = 10_000) -> int | None:
    """The first n at which n^(−1/2) and (n + 1)^(−1/2) round to the same number, or None up to `limit`.

    From there on, a count cannot be recovered exactly from that standard deviation. `precision` is "bfloat16",
    "float16" or "float32", `limit` from 1 to 10 000 000 (float16 stays normal throughout).

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
    """The expected attention weight of one key with a given logit among n − 1 keys with standard normal logits.

    It falls with n although no logit changes: attention dilution. It is near, and never below, e^(λ·logit) /
    (e^(λ·logit) + (n − 1)·e^(λ²/2)) for λ = 1/temperature. Exact to 10⁻¹²: with X the sum of the other exponentials
    over e^(λ·logit), E[1/(1 + X)] = ∫ e^(−s)·E[e^(−s·X)] ds, and the inner mean is the (n − 1)-th power of that of one
    key. Both integrals are trapezoidal sums of smooth functions that vanish at both ends.

    Args:
        n_keys: n, integers of at least 1, any shape, which the result has too, in float64.
        logit: of the one key, from −100 to 100.
        temperature: divisor of all logits; finite and at least 0.1.

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
    # s covers all sizes of the weight, from e^−40 times the minimum on.
    start = -40 - math.log(others.max() + 1) - sharpness * max(0.0, 10 - logit)
    log_s = np.arange(start, 5, 0.2)
    exponent = np.exp(np.minimum(log_s[:, None] + sharpness * (noise - logit), 700))  # (s, noise), below overflow
    lost, left = -np.expm1(-exponent) @ density, np.exp(-exponent) @ density  # 1 − mean and mean, without cancellation
    log_mean = np.where(lost < 0.5, np.log1p(-np.minimum(lost, 0.5)), np.log(np.maximum(left, 1e-300)))
    weight = 0.2 * np.sum(np.exp(log_s - np.exp(log_s) + others[..., None] * log_mean), axis=-1)
    return xp.asarray(weight, dtype=keys.dtype, device=device_of(keys))


def match_weight(logit: Array, n_keys: int) -> Array:
    """The attention weight of one key with a given logit among n − 1 keys with logit 0: e^s / (e^s + n − 1).

    It is one half where the logit is ln(n − 1).

    Args:
        logit: of the one key, any shape, which the result has too, in float64.
        n_keys: n, an integer of at least 1.

    >>> [round(float(match_weight(14.0, n)), 3) for n in (1, 32_768, 1_048_576)]
    [1.0, 0.973, 0.534]
    """
    logits, n = as_float_array("logit", logit), check_int("n_keys", n_keys)
    return 1 / (1 + (n - 1) * namespace(logits).exp(-logits))
