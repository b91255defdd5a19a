"""Longer contexts for rotary position encoding: each method rewrites the list of frequencies θ_i = base^(−2i/d).

A model trained on L = original_max_position_embeddings tokens is to read s = factor times as many. Pair i made
r_i = L·θ_i/2π turns in training; the methods differ in which pairs they slow down.

    default        nothing is changed
    linear         every pair by s (position interpolation)
    ntk_aware      by a greater base: the fastest pair not at all, the slowest by s
    dynamic_ntk    the same, by as much as the sequence at hand needs
    ntk_by_parts   pairs of many turns not at all, pairs that complete no turn by s, a ramp between
    yarn           the same idea, and a temperature
    llama3         ntk_by_parts with bounds of its own
    longrope       each pair by a searched number of its own
    proportional   the slow pairs stand still
    axial          half of the head for each of two axes

Each of these answers with `Scaled`, a pair (inv_freq, attention_factor). Cosines and sines of the angles are both
multiplied by attention_factor, so that the scores of the dimensions that rotate are multiplied by its square.

In every function `dim` is the number of dimensions that rotate, two a pair; in `proportional` alone it is the width of
the head. Sequences get longer, so that a factor below 1 is refused. The functions take Python numbers; `longrope` takes
arrays too. `like` is an array whose library and device the answer takes, NumPy where it is left out.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

from posenc._arrays import (
    Array,
    array_or_none,
    being_traced,
    device_of,
    even_dim,
    first_array,
    flag,
    floats,
    is_array,
    namespace,
    one_of,
    positive,
    said,
    said_of,
    whole,
    widest_float,
)
from posenc.frequencies import inv_freq, turns

RAMPS = ("released", "paper")


class Scaled(NamedTuple):
    """Frequencies in radians per token, shape (dim/2,), and the number that cosines and sines are multiplied by."""

    inv_freq: Array
    attention_factor: float


def _at_least_one(name: str, value: float) -> float:
    """`value` as a float, after checking that it is a finite number of at least 1."""
    if positive(name, value) < 1:
        raise ValueError(f"{name} must be at least 1 (a context is lengthened, never shortened), got {value!r}")
    return float(value)


def _original(length: int) -> int:
    return whole("original_max_position_embeddings", length)


def _bounds(fast_name: str, fast: float, slow_name: str, slow: float) -> tuple[float, float]:
    """The two bounds of a ramp in turns, after checking that the fast one is not below the slow one."""
    fast, slow = positive(fast_name, fast), positive(slow_name, slow)
    if fast < slow:
        raise ValueError(f"{fast_name} must not be below {slow_name}, got {fast!r} and {slow!r}")
    return fast, slow


def _blend(frequencies: Array, factor: float, kept: Array) -> Array:
    """The frequencies, of which the share `kept` is left as it is and the rest is divided by `factor`."""
    return kept * frequencies + (1 - kept) * (frequencies / factor)


def _mscale(factor: float, weight: float = 1.0) -> float:
    return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0


def mscale(factor: float, mscale: float = 1.0) -> float:
    """YaRN's attention factor, 0.1·mscale·ln factor + 1, by which cosines and sines are multiplied; 1 for factor ≤ 1.

    Scores are multiplied by its square, which is 1/t for the temperature t of the paper. DeepSeek's models ask for one
    more step that is no matter of frequencies: their scale 1/√d is multiplied by mscale(factor, mscale_all_dim)² where
    the configuration has an mscale_all_dim.

    Args:
        factor: how many times longer the context gets; greater than 0.
        mscale: weight of the logarithm, greater than 0; 1 in the paper.

    Raises TypeError for what is no number and ValueError for what is not finite and greater than 0.

    Source: Peng et al. 2023 (YaRN), section 3.4; the weight is from DeepSeek-V2's released code.
    """
    return _mscale(positive("factor", factor), positive("mscale", mscale))


def default(dim: int, base: float = 10_000.0, *, like: Array = None) -> Scaled:
    """The frequencies as they were trained, θ_i = base^(−2i/dim), and attention factor 1.

    Args, Raises: as `posenc.frequencies.inv_freq`.

    Returns:
        `Scaled`: float64, shape (dim/2,), and 1.0.
    """
    return Scaled(inv_freq(dim, base, like=like), 1.0)


def linear(dim: int, base: float = 10_000.0, *, factor: float, like: Array = None) -> Scaled:
    """Position interpolation: every pair turns `factor` times more slowly, θ_i/factor.

    Position m of the longer text gets the angles that position m/factor had. It slows the fast pairs too, which tell
    neighbours apart, and needs some training.

    Args:
        dim: number of dimensions that rotate; even and positive.
        base: finite and greater than 0.
        factor: s = new length over trained length, at least 1.
        like: an array whose library and device the answer takes.

    Returns:
        `Scaled`: float64, shape (dim/2,), and 1.0.

    Raises:
        TypeError: an argument is no number.
        ValueError: `dim` is odd or not positive, `base` is not finite and positive, `factor` is below 1 or not finite.

    Source: Chen et al. 2023, "Extending Context Window of Large Language Models via Positional Interpolation",
    section 3; kaiokendev, 2023.
    """
    return Scaled(inv_freq(dim, base, like=like) / _at_least_one("factor", factor), 1.0)


def ntk_base(dim: int, base: float = 10_000.0, *, factor: float) -> float:
    """The greater base of NTK-aware scaling, base·factor^(dim/(dim − 2)).

    The exponent is the one with which the slowest pair, i = dim/2 − 1, is slowed by exactly `factor`.

    Args:
        dim: number of dimensions that rotate; even and at least 4, for one pair alone cannot be both ends of the list.
        base: finite and greater than 0.
        factor: s, at least 1.

    Raises:
        TypeError: an argument is no number.
        ValueError: `dim` is odd or below 4, `base` is not finite and positive, `factor` is below 1, not finite, or so
            great that the base is beyond the range of a float.

    Source: bloc97, 2023; Peng et al. 2023 (YaRN), section 3.1.
    """
    if even_dim(dim) == 2:
        raise ValueError(f"dim must be at least 4 for NTK scaling (its exponent is dim/(dim − 2)), got {dim}")
    base, factor = positive("base", base), _at_least_one("factor", factor)
    exponent = dim / (dim - 2)
    if math.log(base) + exponent * math.log(factor) > math.log(sys.float_info.max):
        raise ValueError(f"factor must leave base·factor^(dim/(dim − 2)) finite, got {factor!r} with base {base!r}")
    return float(base * factor**exponent)


def ntk_aware(dim: int, base: float = 10_000.0, *, factor: float, like: Array = None) -> Scaled:
    """NTK-aware scaling: the frequencies of the base base·factor^(dim/(dim − 2)).

    Pair i is slowed by factor^(2i/(dim − 2)): the fastest by 1, the slowest by `factor`, those between by less than
    what keeps their angles inside the range seen in training.

    Args:
        dim: number of dimensions that rotate; even and at least 4.
        base: finite and greater than 0.
        factor: s, at least 1.
        like: an array whose library and device the answer takes.

    Returns:
        `Scaled`: float64, shape (dim/2,), and 1.0.

    Raises as `ntk_base`.

    Source: bloc97, 2023; Peng et al. 2023 (YaRN), section 3.1.
    """
    return Scaled(inv_freq(dim, ntk_base(dim, base, factor=factor), like=like), 1.0)


def dynamic_ntk(
    dim: int,
    base: float = 10_000.0,
    *,
    seq_len: int,
    original_max_position_embeddings: int,
    factor: float | None = None,
    like: Array = None,
) -> Scaled:
    """NTK-aware scaling by what the sequence at hand needs, and none for one of at most L tokens.

    Without `factor` the scale is s = max(seq_len, L)/L, as proposed. With `factor` f it is the released code's
    f·seq_len/L − (f − 1), for seq_len > L: that is seq_len/L for f = 1 only, and f² − f + 1 at seq_len = f·L (57 where
    one meant 8). Frequencies change as the sequence grows, so that keys rotated earlier no longer fit: a cache must
    hold keys that are not yet rotated.

    Args:
        dim: number of dimensions that rotate; even and at least 4.
        base: finite and greater than 0.
        seq_len: tokens in the sequence at hand, not negative.
        original_max_position_embeddings: L, tokens in training, at least 1.
        factor: f, at least 1, or None.
        like: an array whose library and device the answer takes.

    Returns:
        `Scaled`: float64, shape (dim/2,), and 1.0.

    Raises:
        TypeError: a length is no whole number, or another argument no number.
        ValueError: a length is too small; otherwise as `ntk_base`.

    Source: emozilla, 2023; Peng et al. 2023 (YaRN), section 3.3; the formula with f is that of the library
    transformers.
    """
    seq_len, length = whole("seq_len", seq_len, 0), _original(original_max_position_embeddings)
    steepness = 1.0 if factor is None else _at_least_one("factor", factor)
    scale = 1 + steepness * (max(seq_len, length) / length - 1)
    return ntk_aware(dim, base, factor=scale, like=like)


def ramp_by_turns(
    dim: int,
    base: float = 10_000.0,
    *,
    original_max_position_embeddings: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    like: Array = None,
) -> Array:
    """The weight γ_i of each pair's old frequency, as the YaRN paper has it: a ramp linear in turns.

        clip((r_i − beta_slow)/(beta_fast − beta_slow), 0, 1),   r_i = L·θ_i/2π

    It is 1 for a pair of beta_fast turns or more and 0 for one of beta_slow or fewer. With equal bounds it is a step,
    and 1 at the step.

    Args:
        dim: number of dimensions that rotate; even and positive.
        base: finite and greater than 0.
        original_max_position_embeddings: L, tokens in training, at least 1.
        beta_fast, beta_slow: bounds in turns within L, greater than 0, beta_fast not below beta_slow.
        like: an array whose library and device the answer takes.

    Returns:
        float64, shape (dim/2,), from 0 to 1, for base ≥ 1 nowhere increasing.

    Raises:
        TypeError: an argument is no number, or L no whole number.
        ValueError: an argument is out of its range.

    Source: Peng et al. 2023, section 3.2 (β is beta_fast, α beta_slow).
    """
    length = _original(original_max_position_embeddings)
    fast, slow = _bounds("beta_fast", beta_fast, "beta_slow", beta_slow)
    made = turns(length, inv_freq(dim, base, like=like))  # (dim/2,)
    xp = namespace(made)
    if fast == slow:
        return xp.astype(made >= fast, made.dtype)
    return xp.clip(made - slow, 0, fast - slow) / (fast - slow)


def correction_range(
    dim: int,
    base: float = 10_000.0,
    *,
    original_max_position_embeddings: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
) -> tuple[float, float]:
    """The pair indices between which YaRN's released code lays its ramp.

    A pair makes β turns within L at the index i(β) = dim·ln(L/(2π·β)) / (2 ln base). The range goes from i(beta_fast),
    rounded down, to i(beta_slow), rounded up, held inside [0, dim − 1]; `truncate=False` leaves the rounding out.
    The second may be the smaller one: see `ramp_by_pair`.

    Args:
        dim: number of dimensions that rotate; even and positive.
        base: finite and greater than 1.
        original_max_position_embeddings: L, tokens in training, at least 1.
        beta_fast, beta_slow: bounds in turns within L, greater than 0, beta_fast not below beta_slow.
        truncate: whether to round.

    Returns:
        (low, high), in pairs.

    Raises:
        TypeError: an argument is no number, L no whole number, or `truncate` no bool.
        ValueError: an argument is out of its range.

    Source: the code released with Peng et al. 2023.
    """
    dim, length = even_dim(dim), _original(original_max_position_embeddings)
    fast, slow = _bounds("beta_fast", beta_fast, "beta_slow", beta_slow)
    if positive("base", base) <= 1:
        raise ValueError(f"base must be greater than 1 for a ramp over pairs, got {base!r}")
    flag("truncate", truncate)
    low, high = (dim * math.log(length / (turned * 2 * math.pi)) / (2 * math.log(base)) for turned in (fast, slow))
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
    """The weight γ_i of each pair's old frequency, as YaRN's released code has it: a ramp linear in the pair index.

        1 − clip((i − low)/(high − low), 0, 1),   low and high from `correction_range`

    Where low = high, high is taken 0.001 greater: a step. Two limits of the released code are kept as they are: where
    the whole list makes fewer than beta_slow turns (high < 0) every weight is 1, and where it makes so many that
    low > dim − 1, every weight is 0. `ramp_by_turns` does the opposite in both, as the idea asks.

    Args:
        dim, base, original_max_position_embeddings, beta_fast, beta_slow, truncate: as in `correction_range`.
        like: an array whose library and device the answer takes.

    Returns:
        float64, shape (dim/2,), from 0 to 1, nowhere increasing.

    Raises as `correction_range`.

    Source: the code released with Peng et al. 2023, as the library transformers has it.
    """
    low, high = correction_range(
        dim,
        base,
        original_max_position_embeddings=original_max_position_embeddings,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        truncate=truncate,
    )
    if low == high:
        high += 0.001
    xp, device = namespace(array_or_none("like", like)), device_of(like)
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
    """Scaling by parts: γ_i·θ_i + (1 − γ_i)·θ_i/factor with γ = `ramp_by_turns`, and no temperature.

    Pairs of beta_fast turns or more within L are left alone, pairs of beta_slow or fewer are slowed by `factor`.
    Every frequency lies between θ_i/factor and θ_i, and for base ≥ 1 the list nowhere increases. For an L below
    2π·beta_fast no pair makes beta_fast turns and even the fastest is slowed: scale the bounds with L.

    Args:
        dim: number of dimensions that rotate; even and positive.
        base: finite and greater than 0.
        factor: s, at least 1.
        original_max_position_embeddings: L, tokens in training, at least 1.
        beta_fast, beta_slow: bounds in turns within L, greater than 0, beta_fast not below beta_slow.
        like: an array whose library and device the answer takes.

    Returns:
        `Scaled`: float64, shape (dim/2,), and 1.0.

    Raises:
        TypeError: an argument is no number, or L no whole number.
        ValueError: an argument is out of its range.

    Source: bloc97, 2023; Peng et al. 2023, section 3.2.
    """
    kept = ramp_by_turns(
        dim,
        base,
        original_max_position_embeddings=original_max_position_embeddings,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        like=like,
    )
    return Scaled(_blend(inv_freq(dim, base, like=like), _at_least_one("factor", factor), kept), 1.0)


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
    """YaRN: scaling by parts, γ_i·θ_i + (1 − γ_i)·θ_i/factor, with cosines and sines multiplied by 0.1·ln factor + 1.

    The paper and the code released with it lay different ramps γ: "paper" is `ramp_by_turns`, "released", which models
    were trained with, is `ramp_by_pair`. In the middle of the list they differ by up to 2.56 times (base 10 000,
    dim 128, factor 10, L 2048). Either way every frequency lies between θ_i/factor and θ_i, and for base ≥ 1 the list
    nowhere increases.

    Args:
        dim: number of dimensions that rotate; even and positive.
        base: finite and greater than 0; greater than 1 for the released ramp.
        factor: s, at least 1.
        original_max_position_embeddings: L, tokens in training, at least 1.
        beta_fast, beta_slow: bounds in turns within L, greater than 0, beta_fast not below beta_slow.
        ramp: "released" or "paper".
        truncate: whether the released ramp begins and ends at whole pairs; the paper's has no use for it.
        attention_factor: taken as it is where it is given.
        mscale, mscale_all_dim: both or neither; together they make the attention factor
            (0.1·mscale·ln factor + 1) / (0.1·mscale_all_dim·ln factor + 1). Released codes disagree on one alone.
        like: an array whose library and device the answer takes.

    Returns:
        `Scaled`: float64, shape (dim/2,), and the attention factor.

    Raises:
        TypeError: an argument is no number, L no whole number, or `truncate` no bool.
        ValueError: an argument is out of its range, the ramp is unknown, or one mscale is given without the other.

    Source: Peng et al. 2023, sections 3.2 and 3.4, and the code released with it; the two mscales are from
    DeepSeek-V2's released code.
    """
    one_of("ramp", ramp, RAMPS)
    bounds: dict[str, Any] = {
        "original_max_position_embeddings": original_max_position_embeddings,
        "beta_fast": beta_fast,
        "beta_slow": beta_slow,
    }
    flag("truncate", truncate)
    if ramp == "released":
        kept = ramp_by_pair(dim, base, **bounds, truncate=truncate, like=like)
    else:
        kept = ramp_by_turns(dim, base, **bounds, like=like)
    factor = _at_least_one("factor", factor)
    multiplier = _mscale(factor)
    if (mscale is None) != (mscale_all_dim is None):
        raise ValueError(
            f"mscale and mscale_all_dim must be given together, got mscale {mscale!r} and mscale_all_dim "
            f"{mscale_all_dim!r}"
        )
    if mscale is not None and mscale_all_dim is not None:
        over, under = positive("mscale", mscale), positive("mscale_all_dim", mscale_all_dim)
        multiplier = _mscale(factor, over) / _mscale(factor, under)
    if attention_factor is not None:
        multiplier = positive("attention_factor", attention_factor)
    return Scaled(_blend(inv_freq(dim, base, like=like), factor, kept), multiplier)


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
    """Llama 3.1's scaling: wavelengths below L/high_freq_factor are kept, above L/low_freq_factor the pair is slowed.

    Between the two, the weight of the old frequency grows linearly with L over the wavelength, which is the number of
    turns: this is `ntk_by_parts` with beta_fast = high_freq_factor and beta_slow = low_freq_factor.

    Args:
        dim: number of dimensions that rotate; even and positive.
        base: finite and greater than 0; 500 000 in Llama 3.
        factor: s, at least 1; 8 in Llama 3.1, 32 in Llama 3.2.
        original_max_position_embeddings: L, tokens in training, at least 1; 8192 in Llama 3.
        low_freq_factor, high_freq_factor: bounds in turns within L, greater than 0, high not below low.
        like: an array whose library and device the answer takes.

    Returns:
        `Scaled`: float64, shape (dim/2,), and 1.0; between θ_i/factor and θ_i, for base ≥ 1 nowhere increasing.

    Raises:
        TypeError: an argument is no number, or L no whole number.
        ValueError: an argument is out of its range.

    Source: the code released with Llama 3.1 (Meta, 2024).
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


def _factors_of_pairs(name: str, value: Sequence[float] | Array, dim: int, like: Array) -> Array:
    """`value` as an array of one positive number for each pair."""
    if not is_array(value):
        # A list of strings of digits would pass for numbers below.
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        if not listed or any(isinstance(one, bool) or not isinstance(one, Real) for one in value):
            raise TypeError(f"{name} must be a list or an array of numbers, got {said(value)}")
    array = floats(name, value, like=like)
    if array.shape != (dim // 2,):
        raise ValueError(f"{name} must have shape ({dim // 2},), one number a pair, got shape {tuple(array.shape)}")
    if not being_traced() and bool(namespace(array).any(array <= 0)):
        raise ValueError(f"{name} must be greater than 0, got {said_of(value, array <= 0)}")
    return array


def longrope(
    dim: int,
    base: float = 10_000.0,
    *,
    short_factor: Sequence[float] | Array,
    long_factor: Sequence[float] | Array,
    seq_len: int,
    original_max_position_embeddings: int,
    factor: float | None = None,
    attention_factor: float | None = None,
    like: Array = None,
) -> Scaled:
    """LongRoPE: every pair is slowed by a number of its own, θ_i/λ_i, found by search.

    There are two lists of λ, one for sequences of at most L tokens and one for longer ones. Cosines and sines are
    multiplied by √(1 + ln factor/ln L), by 1 for factor 1, whatever the length of the sequence. A searched list need
    not keep the frequencies in order.

    Args:
        dim: number of dimensions that rotate; even and positive.
        base: finite and greater than 0.
        short_factor, long_factor: λ_i for seq_len ≤ L and for seq_len > L, shape (dim/2,), greater than 0. Arrays
            may carry a gradient.
        seq_len: tokens in the sequence at hand, not negative.
        original_max_position_embeddings: L, tokens in training, at least 1.
        factor: s, at least 1; it enters the attention factor alone, and may be None where that is given.
        attention_factor: taken as it is where it is given.
        like: an array whose library and device the answer takes, where neither list is an array.

    Returns:
        `Scaled`: float64, shape (dim/2,), and the attention factor.

    Raises:
        TypeError: an argument is no number, a length no whole number, or arrays of two libraries are mixed.
        ValueError: a list has another length, an argument is out of its range, both factors are None, or L is 1, whose
            logarithm is 0.

    Source: Ding et al. 2024, "LongRoPE", and the code released with Phi-3.
    """
    dim, length, seq_len = even_dim(dim), _original(original_max_position_embeddings), whole("seq_len", seq_len, 0)
    namespace(short_factor, long_factor, array_or_none("like", like))
    like = first_array(short_factor, long_factor, like)
    short = _factors_of_pairs("short_factor", short_factor, dim, like)
    long = _factors_of_pairs("long_factor", long_factor, dim, like)
    factor = None if factor is None else _at_least_one("factor", factor)
    if attention_factor is not None:
        multiplier = positive("attention_factor", attention_factor)
    elif factor is None:
        raise ValueError(f"factor must be given where attention_factor is not, got {factor!r}")
    elif length == 1:
        raise ValueError(f"original_max_position_embeddings must be at least 2 without attention_factor, got {length}")
    else:
        multiplier = math.sqrt(1 + math.log(factor) / math.log(length))
    return Scaled(inv_freq(dim, base, like=like) / (long if seq_len > length else short), multiplier)


def _share(name: str, value: float) -> float:
    """`value` as a float, after checking that it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {said(value)}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value!r}")
    return float(value)


def proportional(
    dim: int, base: float = 10_000.0, *, partial_rotary_factor: float, factor: float = 1.0, like: Array = None
) -> Scaled:
    """Gemma 4's partial rotation: the frequencies of the whole head, of which the slowest are set to 0.

    The first ⌊partial_rotary_factor·dim/2⌋ pairs turn with base^(−2i/dim)/factor and the others stand still. The usual
    partial rotation differs: there the exponent is over the dimensions that rotate, and the others have no pair at all.

    Args:
        dim: width of the head, even and positive: of the whole head, not of what rotates.
        base: finite and greater than 0.
        partial_rotary_factor: share of the pairs that turn, from 0 to 1.
        factor: s, at least 1.
        like: an array whose library and device the answer takes.

    Returns:
        `Scaled`: float64, shape (dim/2,), and 1.0.

    Raises:
        TypeError: an argument is no number.
        ValueError: an argument is out of its range.

    Source: the code released with Gemma 4 in the library transformers.
    """
    share, scaled = _share("partial_rotary_factor", partial_rotary_factor), linear(dim, base, factor=factor, like=like)
    turning = int(share * dim // 2)
    xp = namespace(scaled.inv_freq)
    still = xp.zeros_like(scaled.inv_freq[turning:])
    return Scaled(xp.concat([scaled.inv_freq[:turning], still]), 1.0)


def axial(dim: int, base: float = 10_000.0, *, like: Array = None) -> Scaled:
    """The frequencies of each of two axes, rows and columns, that share a head between them.

    Args:
        dim: width of the head, a multiple of 4: each axis turns half of it, with a whole list of frequencies.
        base: finite and greater than 0.
        like: an array whose library and device the answer takes.

    Returns:
        `Scaled`: float64, shape (dim/4,), the same for both axes, and 1.0. `posenc.Rope` puts both together.

    Raises:
        TypeError, ValueError: a width that is no multiple of 4, or a base out of its range.

    Source: the vision towers in the library transformers (rope_type "axial").

    Example:
        >>> axial(8).inv_freq.tolist()
        [1.0, 0.01]
    """
    if even_dim(dim) % 4:
        raise ValueError(f"dim must be a multiple of 4, for two axes of whole pairs, got {dim}")
    return Scaled(inv_freq(dim // 2, base, like=like), 1.0)


class _RopeType(NamedTuple):
    """What computes a rope_type, and the keys of a configuration that it needs and that it may have."""

    method: Callable[..., Scaled]
    needed: tuple[str, ...] = ()
    further: tuple[str, ...] = ()


_LENGTH = "original_max_position_embeddings"
_YARN_KEYS = ("factor", _LENGTH, "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate")
_ROPE_TYPES = {
    "default": _RopeType(default),
    "linear": _RopeType(linear, ("factor",)),
    "dynamic": _RopeType(dynamic_ntk, ("factor",), (_LENGTH,)),
    "yarn": _RopeType(yarn, (), _YARN_KEYS),
    "longrope": _RopeType(longrope, ("short_factor", "long_factor"), ("factor", _LENGTH, "attention_factor")),
    "llama3": _RopeType(llama3, ("rope_theta", "factor", "low_freq_factor", "high_freq_factor"), (_LENGTH,)),
    "proportional": _RopeType(proportional, ("rope_theta",), ("factor",)),
    "axial": _RopeType(axial),
}
ROPE_TYPES = tuple(_ROPE_TYPES)
_SHARED_KEYS = ("rope_type", "type", "rope_theta", "partial_rotary_factor")
# Which pairs follow which axis of the positions, and what queries are multiplied by: neither is about frequencies.
_BESIDES = ("mrope_section", "mrope_interleaved", "llama_4_scaling_beta", "max_position_embeddings")
_ROPE_KEYS = {
    *_SHARED_KEYS, *_BESIDES, *(key for kind in _ROPE_TYPES.values() for key in (*kind.needed, *kind.further))
}  # fmt: skip
# Keys of a whole configuration that name rotation and are read here, or say nothing about frequencies.
_MODEL_KEYS = ("rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor", "rope_local_base_freq")
_OTHER_KEYS = (
    "qk_rope_head_dim", "rope_interleave", "no_rope_layers", "no_rope_layer_interval", "compress_rope_theta",
    "layer_rope_theta", "rope_scaling_layers", "rotary_dim", "rotary_pct", "rotary_emb_base",
)  # fmt: skip
# Where models have the width of a head, and what it is computed from where they have none of these.
_HEAD_DIMS = ("head_dim", "attention_head_dim", "kv_channels")
_WIDTHS_AND_HEADS = (
    ("hidden_size", "num_attention_heads"), ("embed_dim", "num_heads"), ("hidden_size", "num_heads"),
    ("d_model", "num_attention_heads"), ("n_embd", "n_head"), ("d_model", "n_heads"),
)  # fmt: skip
# Older names of GPT-NeoX, by the present ones.
_OLDER_KEYS = {"rope_theta": "rotary_emb_base", "partial_rotary_factor": "rotary_pct"}
# Models of transformers whose code takes other frequencies than their rope_type says.
_OWN_FREQUENCIES = {
    "pixtral": "its rows take every other frequency of one list, and its columns the rest",
    "minimax_m3_vl_vision": "its head is shared out among three axes",
    "ernie4_5_vl_moe_text": "its rows and columns take turns in one list",
    "pp_doclayout_v2": "it rotates relations, not positions",
    "eomt_dinov3": "its positions are fractions of a picture",
}


def _rope_type(rope: Mapping[str, Any]) -> str:
    """The type that a rope dictionary names, in its present spelling."""
    named = [rope[key] for key in ("rope_type", "type") if rope.get(key) is not None] or ["default"]
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"rope_type must be a string in config, got {said(name)}")
    # Phi-3's first name for longrope, and Qwen2-VL's for a rotation whose positions have three axes
    present = [{"su": "longrope", "mrope": "default"}.get(name, name) for name in named]
    if present[0] != present[-1]:
        raise ValueError(f"config contradicts itself: rope_type is {named[0]!r} and type is {named[1]!r}")
    return one_of("rope_type", present[0], ROPE_TYPES)


def _is_per_layer(rope: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Mapping) for value in rope.values())


def _is_rope_dictionary(config: Mapping[str, Any]) -> bool:
    """Whether `config` is a rope dictionary, per layer or not, rather than a whole configuration."""
    if "rope_parameters" in config or "rope_scaling" in config:
        return False
    if "rope_type" in config or "type" in config or config.keys() <= _ROPE_KEYS - {"max_position_embeddings"}:
        return True
    nested = "text_config" in config  # a model with several parts, and not layers of several kinds
    return not nested and _is_per_layer(config) and all(isinstance(value, Mapping | None) for value in config.values())


def _plain(rope: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a rope dictionary; where it is not per layer, without nulls and with its type under one name."""
    if _is_per_layer(rope):
        return dict(rope)
    # A null says nothing, but transformers takes `"truncate": null` for false: it stays, and `yarn` refuses it.
    # In yarn a null factor is a ratio of lengths, and a missing one an error, there and here.
    kept = ("truncate", "factor")
    copy = {key: value for key, value in rope.items() if key != "type" and (value is not None or key in kept)}
    return copy | {"rope_type": _rope_type(rope)}


def _whole_configuration(config: Mapping[str, Any]) -> dict[str, Any]:
    """The rope dictionary of a whole configuration, per layer where the configuration has it so."""
    if config.get("model_type") in _OWN_FREQUENCIES:
        why = _OWN_FREQUENCIES[config["model_type"]]
        raise ValueError(f"config must be of a model whose rope_type says all, got {config['model_type']!r}: {why}")
    _check_layers(config)
    config = _present_names(config)
    known = {*_MODEL_KEYS, *_OTHER_KEYS}
    strange = sorted(
        key
        for key, value in config.items()
        if {"rope", "rotary"} & {*str(key).split("_")} and key not in known and value not in (None, False)
    )
    if strange:
        raise ValueError(f"config has keys that are not understood, {strange}; understood are {sorted(known)}")
    given = {key: config[key] for key in ("rope_parameters", "rope_scaling") if config.get(key) is not None}
    for key, value in given.items():
        if not isinstance(value, Mapping):
            raise TypeError(f"{key} must be a mapping or None in config, got {said(value)}")
    plain = [_plain(value) for value in given.values()]
    shared = {
        key: value for rope in plain for key, value in rope.items() if key in ("rope_theta", "partial_rotary_factor")
    }
    if len(plain) == 2 and shared | plain[0] != shared | plain[1]:
        raise ValueError(f"config contradicts itself: rope_parameters and rope_scaling differ, {given!r}")
    rope = shared | plain[0] if plain else {"rope_type": "default"}
    local = config.get("rope_local_base_freq")
    if local is None:
        return rope
    if _is_per_layer(rope):
        raise ValueError(f"config has both rope_local_base_freq, {local!r}, and parameters per layer, {given!r}")
    # Gemma 3 before transformers 5: layers that see a window are never scaled and have a base of their own.
    return {"full_attention": rope, "sliding_attention": {"rope_theta": positive("rope_local_base_freq", local)}}


def _present_names(config: Mapping[str, Any]) -> dict[str, Any]:
    """A whole configuration whose older names for shares and bases are replaced by the present ones."""
    config = dict(config)
    for present, older in _OLDER_KEYS.items():
        if config.get(older) is not None and config.setdefault(present, config[older]) != config[older]:
            raise ValueError(f"config contradicts itself: {present} is {config[present]!r}, {older} {config[older]!r}")
    named = any(config.get(key) is not None for key in _MODEL_KEYS)
    if config.get("rotary_dim") is not None and not named:  # GPT-J, whose code has one base
        head_dim = head_dim_of(config)
        share = whole("rotary_dim", config["rotary_dim"], 2) / head_dim
        config |= {"rope_theta": 10_000.0, "partial_rotary_factor": share}
    return config


def _check_layers(config: Mapping[str, Any]) -> None:
    """Refuses configurations whose layers differ in a way that no layer type tells."""
    bases, dictionary = config.get("layer_rope_theta"), config.get("rope_parameters")
    dictionary = dictionary if isinstance(dictionary, Mapping) else {}
    one = dictionary.get("rope_theta", config.get("rope_theta"))
    if bases is not None and any(base not in (0, one) for base in bases):  # a layer of base 0 does not rotate
        raise ValueError(
            f"config must have one base for all layers of a type, got layer_rope_theta {said(bases)}: pass one layer's "
            "rope dictionary, with its rope_theta"
        )
    some, layers = config.get("rope_scaling_layers"), config.get("num_hidden_layers")
    plain = dictionary.get("rope_type", "default") == "default"
    if some is not None and not plain and sorted(some) != list(range(layers or 0)):
        raise ValueError(
            f"config must scale all layers alike, got rope_scaling_layers {said(some)}: pass the rope dictionary, or "
            "{'rope_theta': …} for the layers that are not scaled"
        )


def _found(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The rope dictionary of a configuration, per layer where it is, and the model's settings around it."""
    if not isinstance(config, Mapping):
        raise TypeError(f"config must be a mapping, got {said(config)}")
    if not config:
        raise ValueError(f"config must say something of RoPE, got {said(config)}")
    if _is_rope_dictionary(config):
        return config, {}
    inner = config.get("text_config")
    if isinstance(inner, Mapping) and not any(config.get(key) is not None for key in _MODEL_KEYS):
        return _found(inner)  # a model that also sees or hears: its language model is meant
    return _whole_configuration(config), _present_names(config)


def rope_dictionary(config: Mapping[str, Any], layer_type: str | None = None) -> dict[str, Any]:
    """The rope dictionary of a configuration, or of one kind of its layers, with its type under its present name.

    Args:
        config, layer_type: as for `from_config`.

    Raises:
        TypeError, ValueError: as `from_config`, for what it can see without looking at the numbers.

    Example:
        >>> rope_dictionary({"rope_scaling": {"type": "su", "factor": 2.0}, "rope_theta": 1e4})
        {'factor': 2.0, 'rope_type': 'longrope'}
    """
    return _of_layer(_found(config)[0], layer_type)


def layer_types(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the kinds of layers that rotate, of a configuration whose layers differ.

    Raises:
        TypeError, ValueError: no mapping, or one rotation for all layers.

    Example:
        >>> layer_types({"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}})
        ('full_attention', 'sliding_attention')
    """
    rope = _found(config)[0]
    if not _is_per_layer(rope):
        raise ValueError(f"config must have parameters per layer, got one rotation for all: {said(rope)}")
    return tuple(name for name, value in rope.items() if isinstance(value, Mapping))


def head_dim_of(config: Mapping[str, Any], layer_type: str | None = None) -> int:
    """The width of a head, or of the part of it that rotates, as a whole configuration has it.

    Args:
        config: a whole configuration.
        layer_type: the layers wanted, where their heads differ.

    Raises:
        ValueError: it does not say.

    Example:
        >>> head_dim_of({"hidden_size": 4096, "num_attention_heads": 32})
        128
    """
    inner = config.get("text_config")
    if isinstance(inner, Mapping) and not any(config.get(key) is not None for key in _MODEL_KEYS):
        return head_dim_of(inner, layer_type)
    if layer_type == "full_attention":
        layers = config.get("per_layer_config")
        wide = (
            {one["head_dim"] for one in layers.values() if "head_dim" in one} if isinstance(layers, Mapping) else set()
        )
        wide |= {config["global_head_dim"]} if config.get("global_head_dim") is not None else set()
        if len(wide) == 1:
            return whole("head_dim", wide.pop(), 2)
    for key in ("head_dim", "qk_rope_head_dim") if _names_a_share(config) else ("qk_rope_head_dim", *_HEAD_DIMS):
        if config.get(key) is not None:
            return whole(key, config[key], 2)
    for width, heads in _WIDTHS_AND_HEADS:
        if config.get(width) is not None and config.get(heads) is not None:
            return whole(width, config[width]) // whole(heads, config[heads])
    raise ValueError(f"config must have head_dim, or hidden_size and num_attention_heads, got {sorted(config)}")


def _names_a_share(config: Mapping[str, Any]) -> bool:
    """Whether a configuration gives the part of a head that rotates as a share of it."""
    places = [config, *(config.get(key) or {} for key in ("rope_parameters", "rope_scaling"))]
    places += [one for place in places[1:] for one in place.values() if isinstance(one, Mapping)]
    return any(place.get("partial_rotary_factor") is not None for place in places)


def _of_layer(rope: Mapping[str, Any], layer_type: str | None) -> dict[str, Any]:
    """The rope dictionary of one layer type, or of all layers where they share one."""
    if not _is_per_layer(rope):
        if layer_type is not None:
            raise ValueError(f"layer_type must be None, for config has one rotation for all layers, got {layer_type!r}")
        return _plain(rope)
    strange = {key: value for key, value in rope.items() if not isinstance(value, Mapping | None)}
    if strange:
        raise ValueError(f"config mixes parameters of layers with parameters of all layers, {strange!r}")
    chosen = rope[one_of("layer_type", layer_type, tuple(rope))]  # type: ignore[arg-type]
    if chosen is None:
        raise ValueError(f"layer_type must be one that rotates; config has null for {layer_type!r}")
    if _is_per_layer(chosen):
        raise ValueError(f"config must not have mappings inside the parameters of {layer_type!r}, got {said(chosen)}")
    return _plain(chosen)


def _agreed(name: str, rope: Mapping[str, Any], model: Mapping[str, Any], per_layer: bool) -> Any:
    """A setting that may stand in the rope dictionary or around it; layers may differ from what stands around them."""
    inside, outside = rope.get(name), model.get(name)
    if inside is None:
        return outside
    if outside is not None and inside != outside and not per_layer:
        raise ValueError(f"config contradicts itself: {name} is {inside!r} in the rope dictionary, {outside!r} outside")
    return inside


def _check_head_dim(head_dim: int, model: Mapping[str, Any]) -> None:
    """Refuses a head_dim other than the ones that a whole configuration names."""
    layers = model.get("per_layer_config") or {}
    heads = [model, *layers.values()] if isinstance(layers, Mapping) else [model]
    named = [head.get("head_dim") for head in heads if isinstance(head, Mapping)] + [model.get("global_head_dim")]
    if model.get("qk_rope_head_dim") is not None and not _names_a_share(model):
        named = [model["qk_rope_head_dim"]]  # DeepSeek's heads have a part that rotates and a part that does not
    named = [name for name in named if name is not None]
    if named and head_dim not in named:
        raise ValueError(f"head_dim must be what config says, {' or '.join(map(str, named))}, got {head_dim}")


def _lengths(
    rope_type: str, rope: Mapping[str, Any], model: Mapping[str, Any], original: Any, per_layer: bool
) -> dict[str, Any]:
    """The trained length, and the factor where the ratio of two lengths stands for it."""
    longest = model.get("max_position_embeddings")
    longest = None if longest is None else whole("max_position_embeddings", longest)
    original = None if original is None else whole(_LENGTH, original)
    if per_layer and original is not None and _LENGTH not in rope:
        raise ValueError(f"config must have {_LENGTH} inside the parameters of each layer, got {original} outside")
    if rope_type == "dynamic" and None not in (original, longest) and original != longest:
        raise ValueError(
            f"config contradicts itself: dynamic scales from one length, but {_LENGTH} is {original} and "
            f"max_position_embeddings is {longest}"
        )
    if original is None and longest is None:
        raise ValueError(
            f"config lacks {_LENGTH} or max_position_embeddings for rope_type {rope_type!r}, got {said(rope)}"
        )
    settings = {_LENGTH: longest if original is None else original}
    if rope_type not in ("yarn", "longrope") or rope.get("factor") is not None:
        return settings
    if rope_type == "yarn" and "factor" not in rope:
        raise ValueError(
            f"config lacks factor for rope_type 'yarn', got {said(rope)}; null stands for a ratio of lengths"
        )
    if original is not None and longest is not None:
        return settings | {"factor": longest / original}
    if rope_type == "longrope" and "attention_factor" in rope:
        return settings
    raise ValueError(
        f"config lacks factor for rope_type {rope_type!r}, or both of {_LENGTH} and max_position_embeddings, whose "
        f"ratio it would be, got {said(rope)}"
    )


def from_config(
    config: Mapping[str, Any],
    head_dim: int,
    seq_len: int | None = None,
    *,
    layer_type: str | None = None,
    like: Array = None,
) -> Scaled:
    """The frequencies that a Hugging Face configuration asks for, as the library transformers (5.23) reads it.

    `config` is a rope dictionary (`rope_parameters`, or the older `rope_scaling`, with `rope_type` or the older
    `type`), or a whole model configuration that has one of the two; either may be per layer. It is never changed.

    Where a setting comes from:
        rope_theta: the rope dictionary, else the configuration around it. A rope dictionary on its own may leave it
            out and has base 10 000 then, except for llama3 and proportional. A whole configuration may not: what
            transformers takes then depends on the class of the model.
        partial_rotary_factor: the same two places, else 1. ⌊head_dim·partial_rotary_factor⌋ dimensions rotate.
        original_max_position_embeddings (yarn, longrope, llama3): the same two places, else max_position_embeddings.
            dynamic knows one length only, max_position_embeddings; on its own, the rope dictionary must name it as
            original_max_position_embeddings.
        factor: the rope dictionary; for longrope without it and for yarn with null,
            max_position_embeddings/original_max_position_embeddings. A factor that is given counts, even where it is
            not that ratio, as in Qwen3's published advice.
        truncate (yarn): the rope dictionary of the layer. transformers overlooks it where parameters are per layer.
        rope_theta and rope_local_base_freq, Gemma 3's older pair: the bases of the layer types "full_attention", which
            has the scaling, and "sliding_attention", which has none.

    Keys of a whole configuration that speak of rotation and are not known here are refused; the others are not looked
    at. What the class of a model does besides is not in the answer: DeepSeek's factor on 1/√d (see `mscale`), or what
    OLMo 3's older configurations mean, whose one rope_scaling is for the layers of full attention alone.

    Args:
        config: a mapping as read from JSON. A null is the same as a missing key.
        head_dim: width of a head; for DeepSeek of the part that rotates, qk_rope_head_dim.
        seq_len: tokens in the sequence at hand, for dynamic and longrope; the other types do not look at it. None is
            the state of a model that has seen no sequence yet: dynamic is not scaled, longrope takes its short list.
        layer_type: the layers wanted, for a configuration that is per layer.
        like: an array whose library and device the answer takes.

    Returns:
        `Scaled`: float64, shape (number of dimensions that rotate / 2,), for proportional (head_dim/2,), and the
        attention factor.

    Raises:
        TypeError: `config` or a rope dictionary is no mapping, or a value is of the wrong type.
        ValueError: an unknown type or key, a missing key, a value out of its range, or two places that disagree: type
            and rope_type, rope_parameters and rope_scaling, the rope dictionary and what stands around it, head_dim
            and the configuration's.

    Source: the library transformers, 5.23.
    """
    head_dim = whole("head_dim", head_dim, 2)
    if seq_len is not None:
        whole("seq_len", seq_len, 0)
    found, model = _found(config)
    alone = not model
    per_layer = _is_per_layer(found)
    rope = _of_layer(found, layer_type)
    _check_head_dim(head_dim, model)

    rope_type = rope.pop("rope_type")
    method, needed, further = _ROPE_TYPES[rope_type]
    accepted = {*_SHARED_KEYS, *_BESIDES, *needed, *further}
    unknown = sorted(map(str, rope.keys() - accepted))
    if unknown:
        raise ValueError(f"config has unknown keys {unknown} for rope_type {rope_type!r}, known are {sorted(accepted)}")
    given = rope | {name: _agreed(name, rope, model, per_layer) for name in (*_SHARED_KEYS[2:], _LENGTH)}
    if given["rope_theta"] is None and (not alone or per_layer):
        needed = ("rope_theta", *needed)
    missing = [key for key in needed if given.get(key) is None]
    if missing:
        raise ValueError(f"config lacks {', '.join(missing)} for rope_type {rope_type!r}, got {said(rope)}")
    base = 10_000.0 if given["rope_theta"] is None else positive("rope_theta", given["rope_theta"])
    share = 1.0 if given["partial_rotary_factor"] is None else given["partial_rotary_factor"]
    rotating = int(head_dim * _share("partial_rotary_factor", share))

    settings = {key: value for key, value in rope.items() if key not in (*_SHARED_KEYS, *_BESIDES)}
    if settings.get("factor", 1.0) is None:
        del settings["factor"]
    if rope_type == "proportional":
        rotating, settings["partial_rotary_factor"] = head_dim, share
    least = 4 if rope_type in ("dynamic", "axial") else 2
    if rotating < least or rotating % 2:
        raise ValueError(
            f"head_dim {head_dim} with partial_rotary_factor {share!r} leaves {rotating} dimensions to rotate, which "
            f"must be even and at least {least} for rope_type {rope_type!r}"
        )
    if _LENGTH in further:
        settings |= _lengths(rope_type, rope, model, given[_LENGTH], per_layer)
    if rope_type in ("dynamic", "longrope"):
        settings["seq_len"] = settings[_LENGTH] if seq_len is None else seq_len
    return method(rotating, base, **settings, like=like)
