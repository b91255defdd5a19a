"""NTK-by-parts: pairs of many rotations are kept, pairs of few interpolated, with a ramp between; YaRN, Llama 3."""

from __future__ import annotations

import math
from typing import Any

from posenc._arrays import (
    Array,
    check_bool,
    check_choice,
    check_even_dim,
    check_like,
    check_positive,
    device_of,
    namespace,
    widest_float,
)
from posenc.frequencies import inv_freq, rotations
from posenc.scaling._shared import Scaled, at_least_one, trained_length

RAMPS = ("released", "paper")


def ramp_by_rotations(
    dim: int,
    base: float = 10_000.0,
    *,
    original_max_position_embeddings: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    like: Array = None,
) -> Array:
    """The weight γ_i of each pair's original frequency in the YaRN paper: a ramp linear in rotations, shape (dim/2,).

        clip((r_i − beta_slow)/(beta_fast − beta_slow), 0, 1),   r_i = L·θ_i/2π

    With equal bounds it is a step. For base ≥ 1 it is non-increasing.
    Source: Peng et al. 2023, section 3.2 (β is beta_fast, α beta_slow).

    >>> ramp_by_rotations(8, original_max_position_embeddings=1024).round(3).tolist()
    [1.0, 0.493, 0.02, 0.0]
    """
    length = trained_length(original_max_position_embeddings)
    fast, slow = _bounds("beta_fast", beta_fast, "beta_slow", beta_slow)
    r = rotations(length, inv_freq(dim, base, like=like))  # (dim/2,)
    xp = namespace(r)
    if fast == slow:
        return xp.astype(r >= fast, r.dtype)
    return xp.clip(r - slow, 0, fast - slow) / (fast - slow)


def correction_range(
    dim: int,
    base: float = 10_000.0,
    *,
    original_max_position_embeddings: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
) -> tuple[float, float]:
    """The pair indices (low, high) of the ramp in YaRN's released code.

    A pair makes β rotations within L at the index i(β) = dim·ln(L/(2π·β)) / (2 ln base), with base > 1. The range goes
    from i(beta_fast), rounded down, to i(beta_slow), rounded up, clamped to [0, dim − 1]; `truncate=False` does not
    round. The second may be the smaller one: see `ramp_by_pair`.
    Source: the code released with Peng et al. 2023.

    >>> correction_range(128, original_max_position_embeddings=2048)
    (16, 41)
    """
    dim, length = check_even_dim(dim), trained_length(original_max_position_embeddings)
    fast, slow = _bounds("beta_fast", beta_fast, "beta_slow", beta_slow)
    if check_positive("base", base) <= 1:
        raise ValueError(f"base must be greater than 1 for a ramp over pairs, got {base!r}")
    check_bool("truncate", truncate)
    low, high = (dim * math.log(length / (beta * 2 * math.pi)) / (2 * math.log(base)) for beta in (fast, slow))
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    return max(low, 0), min(high, dim - 1)


def ramp_by_pair(
    dim: int,
    base: float = 10_000.0,
    *,
    original_max_position_embeddings: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
    like: Array = None,
) -> Array:
    """The weight γ_i of each pair's original frequency in YaRN's released code: a ramp linear in the pair index.

        1 − clip((i − low)/(high − low), 0, 1),   low and high from `correction_range`

    Where low = high, high is 0.001 greater: a step. Two limits of the released code are kept: if all pairs make fewer
    than beta_slow rotations (high < 0), every weight is 1, and if they make so many that low > dim − 1, every weight is
    0. `ramp_by_rotations` does the opposite in both cases. Shape (dim/2,), non-increasing.
    Source: the code released with Peng et al. 2023, as in the library transformers.

    >>> ramp_by_pair(8, original_max_position_embeddings=1024).round(3).tolist()
    [1.0, 0.667, 0.333, 0.0]
    """
    bounds: dict[str, Any] = {"beta_fast": beta_fast, "beta_slow": beta_slow}
    length = original_max_position_embeddings
    low, high = correction_range(dim, base, original_max_position_embeddings=length, **bounds, truncate=truncate)
    if low == high:
        high += 0.001
    xp, device = namespace(check_like("like", like)), device_of(like)
    pairs = xp.arange(dim // 2, dtype=widest_float(xp, device), device=device)  # (dim/2,)
    return 1 - xp.clip((pairs - low) / (high - low), 0, 1)


def ntk_by_parts(
    dim: int,
    base: float = 10_000.0,
    *,
    factor: float,
    original_max_position_embeddings: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    like: Array = None,
) -> Scaled:
    """NTK-by-parts: γ_i·θ_i + (1 − γ_i)·θ_i/factor with γ = `ramp_by_rotations`; attention factor 1.

    Pairs of beta_fast or more rotations within L are kept, pairs of beta_slow or fewer are interpolated by `factor`.
    For L below 2π·beta_fast even the fastest pair is interpolated: scale the bounds with L.
    Source: bloc97, 2023; Peng et al. 2023, section 3.2.

    >>> ntk_by_parts(8, factor=4, original_max_position_embeddings=1024).inv_freq.round(5).tolist()
    [1.0, 0.06201, 0.00265, 0.00025]
    """
    gamma = ramp_by_rotations(
        dim,
        base,
        original_max_position_embeddings=original_max_position_embeddings,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        like=like,
    )
    return Scaled(_blend(inv_freq(dim, base, like=like), at_least_one("factor", factor), gamma), 1.0)


def _mscale(factor: float, weight: float = 1.0) -> float:
    return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0


def mscale(factor: float, mscale: float = 1.0) -> float:
    """YaRN's attention factor on cosines and sines, 0.1·mscale·ln factor + 1; 1 for factor ≤ 1.

    Its square is 1/t for the paper's temperature t. DeepSeek's models also multiply their scale 1/√d by mscale(factor,
    mscale_all_dim)², if the configuration has mscale_all_dim. `factor` and `mscale`, 1 in the paper, are greater than
    0.

    Source: Peng et al. 2023 (YaRN), section 3.4; the weight is from DeepSeek-V2's released code.

    >>> round(mscale(4), 4)
    1.1386
    """
    return _mscale(check_positive("factor", factor), check_positive("mscale", mscale))


def yarn(
    dim: int,
    base: float = 10_000.0,
    *,
    factor: float,
    original_max_position_embeddings: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    ramp: str = "released",
    truncate: bool = True,
    attention_factor: float | None = None,
    mscale: float | None = None,
    mscale_all_dim: float | None = None,
    like: Array = None,
) -> Scaled:
    """YaRN: NTK-by-parts, γ_i·θ_i + (1 − γ_i)·θ_i/factor, with cosines and sines multiplied by 0.1·ln factor + 1.

    Args:
        ramp: "released", `ramp_by_pair`, with which models were trained and which needs base > 1, or "paper",
            `ramp_by_rotations`. They differ by up to 2.56 times (base 10 000, dim 128, factor 10, L 2048).
        truncate: whether the released ramp begins and ends at integer indices.
        attention_factor: None: as described here.
        mscale, mscale_all_dim: both or neither; the attention factor is then
            (0.1·mscale·ln factor + 1) / (0.1·mscale_all_dim·ln factor + 1). Implementations disagree on one alone.

    Source: Peng et al. 2023, sections 3.2 and 3.4, and the code released with it; the two mscales are from
    DeepSeek-V2's released code.

    >>> scaled = yarn(8, factor=4, original_max_position_embeddings=1024)
    >>> scaled.inv_freq.round(5).tolist(), round(scaled.attention_factor, 4)
    ([1.0, 0.075, 0.005, 0.00025], 1.1386)
    """
    check_choice("ramp", ramp, RAMPS)
    bounds: dict[str, Any] = {
        "original_max_position_embeddings": original_max_position_embeddings,
        "beta_fast": beta_fast,
        "beta_slow": beta_slow,
    }
    check_bool("truncate", truncate)
    if ramp == "released":
        gamma = ramp_by_pair(dim, base, **bounds, truncate=truncate, like=like)
    else:
        gamma = ramp_by_rotations(dim, base, **bounds, like=like)
    factor = at_least_one("factor", factor)
    multiplier = _mscale(factor)
    if (mscale is None) != (mscale_all_dim is None):
        raise ValueError(
            f"mscale and mscale_all_dim must be given together, got mscale {mscale!r} and mscale_all_dim "
            f"{mscale_all_dim!r}"
        )
    if mscale is not None and mscale_all_dim is not None:
        over, under = check_positive("mscale", mscale), check_positive("mscale_all_dim", mscale_all_dim)
        multiplier = _mscale(factor, over) / _mscale(factor, under)
    if attention_factor is not None:
        multiplier = check_positive("attention_factor", attention_factor)
    return Scaled(_blend(inv_freq(dim, base, like=like), factor, gamma), multiplier)


def llama3(
    dim: int,
    base: float = 10_000.0,
    *,
    factor: float,
    original_max_position_embeddings: int,
    low_freq_factor: float = 1.0,
    high_freq_factor: float = 4.0,
    like: Array = None,
) -> Scaled:
    """Llama 3.1's scaling: pairs of wavelength below L/high_freq_factor are kept, above L/low_freq_factor interpolated.

    Between the two, the weight of the original frequency is linear in rotations: this is `ntk_by_parts` with beta_fast
    = high_freq_factor and beta_slow = low_freq_factor. Llama 3 has base 500 000 and L 8192, Llama 3.1 factor 8, Llama
    3.2 factor 32.
    Source: the code released with Llama 3.1 (Meta, 2024).

    >>> llama3(8, factor=5, original_max_position_embeddings=64).inv_freq.round(5).tolist()
    [1.0, 0.0205, 0.002, 0.0002]
    """
    high, low = _bounds("high_freq_factor", high_freq_factor, "low_freq_factor", low_freq_factor)
    return ntk_by_parts(
        dim,
        base,
        factor=factor,
        original_max_position_embeddings=original_max_position_embeddings,
        beta_fast=high,
        beta_slow=low,
        like=like,
    )


def _bounds(fast_name: str, fast: float, slow_name: str, slow: float) -> tuple[float, float]:
    """The two bounds of a ramp in rotations, after checking that fast ≥ slow."""
    fast, slow = check_positive(fast_name, fast), check_positive(slow_name, slow)
    if fast < slow:
        raise ValueError(f"{fast_name} must not be below {slow_name}, got {fast!r} and {slow!r}")
    return fast, slow


def _blend(frequencies: Array, factor: float, gamma: Array) -> Array:
    return gamma * frequencies + (1 - gamma) * (frequencies / factor)
