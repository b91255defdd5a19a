"""ALiBi: a straight line in the distance."""

from __future__ import annotations

from typing import Any

from posenc._arrays import (
    Array,
    check_bool,
    check_int,
    check_leading_axes,
    check_like,
    describe,
    device_of,
    first_array,
    namespace,
    widest_float,
)
from posenc.bias._shared import one_for_each_head, pairwise, past_only, positions_of


def alibi_slopes(n_heads: int, *, like: Array = None) -> Array:
    """ALiBi's slopes m_h = 2^(−8h/H), h = 1 … H, for a number of heads H that is a power of two.

    Any other number takes those of the power of two below, and then as many as are missing from those of twice that
    power: its first, third, fifth, …, not sorted. BLOOM does the same. Float64, shape (n_heads,), in logits per token,
    in the library and on the device of `like`, NumPy without.

    Source: Press et al. 2022, section 3; the other numbers of heads are from the authors' code.

    >>> alibi_slopes(6).tolist()
    [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
    """
    n_heads = check_int("n_heads", n_heads)
    xp, device = namespace(check_like("like", like)), device_of(like)
    power = 2 ** (n_heads.bit_length() - 1)  # the greatest power of two that is not above n_heads
    dtype = widest_float(xp, device)
    regular = xp.arange(1, power + 1, dtype=dtype, device=device) / power
    between = xp.arange(1, 2 * (n_heads - power), 2, dtype=dtype, device=device) / (2 * power)
    return 2.0 ** (-8 * xp.concat([regular, between]))


def alibi(relative_positions: Array, slopes: Array, *, symmetric: bool = False, dtype: Any = None) -> Array:
    """ALiBi: a penalty that grows with distance, b_ij = −m_h·(i − j), and −∞ for keys after the query.

    BLOOM adds m_h·j to every row instead, which differs by m_h·i, the same for all keys of a query: under a causal
    mask the weights are equal.

    Args:
        slopes: m_h, none negative, shape (heads,); may carry a gradient. `alibi_slopes` makes the paper's.
        symmetric: −m_h·|i − j|, for encoders, which cannot tell left from right.
        dtype: a floating dtype of the arrays' library; None: float64. The bias is computed in float64 and rounded once.
            In float16 it stops at −65504: no key is hidden by its distance.

    Returns shape (..., heads, queries, keys), in `dtype`.
    Source: Press et al. 2022, section 3.

    >>> alibi([[-2, -1, 0, 1]], [0.5]).tolist()
    [[[-1.0, -0.5, 0.0, -inf]]]
    """
    like = first_array(relative_positions, slopes)
    offsets = pairwise(relative_positions, like)[..., None, :, :]
    rates = one_for_each_head("slopes", slopes, like, zero=True)
    dtype = _floating_dtype("dtype", dtype, offsets)
    if check_bool("symmetric", symmetric):
        return _rounded_once(-rates * namespace(offsets).abs(offsets), dtype)
    return past_only(_rounded_once(rates * offsets, dtype), offsets)


def alibi_rank_two(query_positions: Array, key_positions: Array, slopes: Array) -> tuple[Array, Array]:
    """ALiBi as a product of vectors with two entries: −m_h·(i − j) = (−m_h·i, m_h)·(1, j), also for later keys.

    Appended to a query and a key, they add the bias to the product of the two. The factor `scale` of attention falls
    on them as well; one of them is divided by it:

        attention(concat([q, query_features / scale], -1), concat([k, key_features], -1), v, scale=scale, causal=True)

    A small difference of two large numbers comes out of it: near position 10^6 float32 works in steps of m_h/16.

    Args:
        query_positions: i, any real numbers, shape (..., queries).
        key_positions: j, any real numbers, shape (..., keys).
        slopes: m_h, none negative, shape (heads,); may carry a gradient.

    Returns float64, query features of shape (..., heads, queries, 2) and key features of shape (..., heads, keys, 2).

    >>> queries, keys = alibi_rank_two([4], [2, 3, 4], [0.5])
    >>> (queries @ keys.swapaxes(-1, -2)).tolist()
    [[[-1.0, -0.5, 0.0]]]
    """
    like = first_array(query_positions, key_positions, slopes)
    queries = positions_of("query_positions", query_positions, like)
    keys = positions_of("key_positions", key_positions, like)
    check_leading_axes(queries, keys)
    rates = one_for_each_head("slopes", slopes, like, zero=True)[..., 0]  # (heads, 1)
    xp = namespace(rates)
    in_heads = xp.ones_like(rates)
    queries, keys = queries[..., None, :] * in_heads, keys[..., None, :] * in_heads  # (..., heads, length) each
    query_features = xp.stack([-rates * queries, rates * xp.ones_like(queries)], axis=-1)
    return query_features, xp.stack([xp.ones_like(keys), keys], axis=-1)


def _floating_dtype(name: str, dtype: Any, like: Array) -> Any:
    """`dtype`, after checking that it is a floating dtype of the library of `like`; the dtype of `like` for None."""
    if dtype is None:
        return like.dtype
    xp = namespace(like)
    try:
        floating = xp.isdtype(dtype, "real floating")
    except (AttributeError, TypeError):  # no dtype of this library
        floating = False
    if not floating:
        raise TypeError(f"{name} must be None or a floating dtype of the arrays' library, got {describe(dtype)}")
    return dtype


def _rounded_once(values: Array, dtype: Any) -> Array:
    """`values` in `dtype`, each the nearest number there is; the least finite one for what is below all of them.

    torch goes from float64 to 16 bits by way of float32, and so rounds twice: what the first step brings to the middle
    between two numbers, the second may take to the wrong one.
    """
    xp = namespace(values)
    if xp.finfo(dtype).bits > 16:
        return xp.astype(values, dtype, copy=False)
    values = xp.clip(values, min=float(xp.finfo(dtype).min))  # −∞ would hide the key
    near = xp.astype(values, xp.float32)
    rounded = xp.astype(near, dtype)
    excess = near - xp.astype(rounded, xp.float32)
    mirrored = xp.astype(rounded, xp.float32) + 2 * excess  # the other number, where `near` is in the middle
    other = xp.astype(mirrored, dtype)
    in_the_middle = xp.astype(other, xp.float32) == mirrored
    wrong_side = xp.astype(excess, values.dtype) * (values - xp.astype(near, values.dtype)) > 0
    return xp.where(in_the_middle & wrong_side, other, rounded)
