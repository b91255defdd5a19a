"""Frequencies scaled by one factor or one per pair, and heads of which only a part rotates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

from posenc._arrays import (
    Array,
    as_float_array,
    check_bool,
    check_even_dim,
    check_int,
    check_like,
    check_positive,
    describe,
    describe_values,
    first_array,
    is_array,
    is_compiling,
    namespace,
)
from posenc.frequencies import inv_freq
from posenc.scaling._shared import Scaled, at_least_one, check_fraction, trained_length


def default(dim: int, base: float = 10_000.0, *, like: Array = None) -> Scaled:
    """The frequencies of training, θ_i = base^(−2i/dim), and attention factor 1.

    >>> default(8).inv_freq.tolist()
    [1.0, 0.1, 0.01, 0.001]
    """
    return Scaled(inv_freq(dim, base, like=like), 1.0)


def linear(dim: int, base: float = 10_000.0, *, factor: float, like: Array = None) -> Scaled:
    """Position interpolation (PI): all frequencies divided by `factor`, θ_i/factor; attention factor 1.

    The fast pairs, which distinguish neighbouring tokens, are interpolated too, so the model needs some fine-tuning.
    Source: Chen et al. 2023, "Extending Context Window of Large Language Models via Positional Interpolation", section
    3; kaiokendev, 2023.

    >>> linear(8, factor=4).inv_freq.tolist()
    [0.25, 0.025, 0.0025, 0.00025]
    """
    return Scaled(inv_freq(dim, base, like=like) / at_least_one("factor", factor), 1.0)


def _factors_of_pairs(name: str, value: Sequence[float] | Array, dim: int, like: Array) -> Array:
    """`value` as an array of one positive number per pair."""
    if not is_array(value):
        # as_float_array would accept strings of digits.
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        if not listed or any(isinstance(one, bool) or not isinstance(one, Real) for one in value):
            raise TypeError(f"{name} must be a list or an array of numbers, got {describe(value)}")
    array = as_float_array(name, value, like=like)
    if array.shape != (dim // 2,):
        raise ValueError(f"{name} must have shape ({dim // 2},), one number per pair, got shape {tuple(array.shape)}")
    if not is_compiling() and bool(namespace(array).any(array <= 0)):
        raise ValueError(f"{name} must be greater than 0, got {describe_values(value, array <= 0)}")
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
    """LongRoPE: every frequency divided by a searched factor of its own, θ_i/λ_i.

    One list of λ is for sequences of at most L tokens, one for longer ones. Cosines and sines are multiplied by √(1 +
    ln factor/ln L) at every length. A searched list need not keep the frequencies in order.

    Args:
        short_factor: λ_i for seq_len ≤ L, shape (dim/2,), greater than 0. An array may carry a gradient, and the result
            has its library and device.
        long_factor: λ_i for seq_len > L, likewise.
        factor: for the attention factor only; not needed if that is given.
        attention_factor: None: as described here, with L of at least 2.

    Source: Ding et al. 2024, "LongRoPE", and the code released with Phi-3.

    >>> lists = {"short_factor": [1, 1], "long_factor": [1, 4]}
    >>> longrope(4, **lists, seq_len=65, original_max_position_embeddings=64, factor=64).inv_freq.tolist()
    [1.0, 0.0025]
    """
    dim, length = check_even_dim(dim), trained_length(original_max_position_embeddings)
    seq_len = check_int("seq_len", seq_len, 0)
    namespace(short_factor, long_factor, check_like("like", like))
    like = first_array(short_factor, long_factor, like)
    short = _factors_of_pairs("short_factor", short_factor, dim, like)
    long = _factors_of_pairs("long_factor", long_factor, dim, like)
    factor = None if factor is None else at_least_one("factor", factor)
    if attention_factor is not None:
        multiplier = check_positive("attention_factor", attention_factor)
    elif factor is None:
        raise ValueError(f"factor must be given where attention_factor is not, got {factor!r}")
    elif length == 1:
        raise ValueError(f"original_max_position_embeddings must be at least 2 without attention_factor, got {length}")
    else:
        multiplier = math.sqrt(1 + math.log(factor) / math.log(length))
    return Scaled(inv_freq(dim, base, like=like) / (long if seq_len > length else short), multiplier)


def proportional(
    dim: int, base: float = 10_000.0, *, partial_rotary_factor: float, factor: float = 1.0, like: Array = None
) -> Scaled:
    """Gemma 4's partial rotary: frequencies of the full head, the slowest set to 0; attention factor 1.

    The first ⌊partial_rotary_factor·dim/2⌋ pairs, a fraction from 0 to 1, have base^(−2i/dim)/factor, the others are
    unrotated; `dim` is head_dim. The usual partial rotary has the rotated width in the exponent.
    Source: the code released with Gemma 4 in the library transformers.

    >>> proportional(8, partial_rotary_factor=0.5).inv_freq.tolist()
    [1.0, 0.1, 0.0, 0.0]
    """
    fraction = check_fraction("partial_rotary_factor", partial_rotary_factor)
    frequencies = linear(dim, base, factor=factor, like=like).inv_freq
    rotated = int(fraction * dim // 2)
    xp = namespace(frequencies)
    return Scaled(xp.concat([frequencies[:rotated], xp.zeros_like(frequencies[rotated:])]), 1.0)


def axial(dim: int, base: float = 10_000.0, *, n_axes: int = 2, shared: bool = False, like: Array = None) -> Scaled:
    """The frequencies of axes, such as rows and columns, that share a head; attention factor 1.

    Args:
        dim: head_dim, a multiple of 4 for two axes. With more axes, what does not divide equally is unrotated.
        n_axes: at least 1.
        shared: False: each axis has a full list for its part of the head. True: one list for the head, of which each
            axis gets every n-th frequency.

    Returns `Scaled` with the frequencies of one axis, the same for all; if shared, those of all axes, one axis after
    another. `posenc.Rope` assigns the pairs.
    Source: the vision towers in the library transformers (rope_type "axial"); shared: Pixtral.

    >>> axial(8).inv_freq.tolist(), axial(8, shared=True).inv_freq.tolist()
    ([1.0, 0.01], [1.0, 0.01, 0.1, 0.001])
    """
    check_int("n_axes", n_axes)
    if check_even_dim(dim) % (2 * n_axes) and (n_axes == 2 or check_bool("shared", shared)):
        raise ValueError(f"dim must be a multiple of {2 * n_axes}, for {n_axes} axes of whole pairs, got {dim}")
    if not check_bool("shared", shared):
        return Scaled(inv_freq(2 * (dim // (2 * n_axes)), base, like=like), 1.0)
    listed = inv_freq(dim, base, like=like)
    return Scaled(namespace(listed).concat([listed[axis::n_axes] for axis in range(n_axes)]), 1.0)
