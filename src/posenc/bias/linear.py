"""ALiBi: a penalty linear in the distance."""

from __future__ import annotations

from typing import Any

from posenc._arrays import (
    Array,
    cast_to,
    check_bool,
    check_int,
    check_leading_axes,
    check_like,
    device_of,
    first_array,
    namespace,
    widest_float,
)
from posenc.bias._shared import mask_later_keys, pairwise, per_head, positions_as_floats


def alibi_slopes(n_heads: int, *, like: Array = None, dtype: Any = None) -> Array:
    """ALiBi's slopes m_h = 2^(−8h/H), h = 1 … H, for a number of heads H that is a power of two.

    Any other number takes the slopes of the next lower power of two, then every second of those of twice that power
    (1st, 3rd, 5th, …), as BLOOM does. Shape (n_heads,), in logits per token, in the library and on the device of `like`
    (default NumPy), in `dtype` (default: the library's default float).

    Source: Press et al. 2022, section 3; other numbers of heads as in the authors' code.

    >>> alibi_slopes(6).tolist()
    [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
    """
    n_heads = check_int("n_heads", n_heads)
    xp, device = namespace(check_like("like", like)), device_of(like)
    power = 2 ** (n_heads.bit_length() - 1)  # the largest power of two up to n_heads
    widest = widest_float(xp, device)
    regular = xp.arange(1, power + 1, dtype=widest, device=device) / power
    between = xp.arange(1, 2 * (n_heads - power), 2, dtype=widest, device=device) / (2 * power)
    return cast_to(2.0 ** (-8 * xp.concat([regular, between])), dtype)


def alibi(relative_positions: Array, slopes: Array, *, symmetric: bool = False, dtype: Any = None) -> Array:
    """ALiBi: b_ij = −m_h·(i − j), and −∞ for keys after the query.

    BLOOM adds m_h·j instead, which differs by the same m_h·i for all keys of a query: under a causal mask the attention
    weights are equal.

    Args:
        slopes: m_h ≥ 0, shape (heads,), for example `alibi_slopes`; may carry a gradient.
        symmetric: −m_h·|i − j|, for encoders; it does not distinguish left from right.
        dtype: of the result; None: the library's default float. torch's scaled_dot_product_attention needs that of the
            queries. Computed in float64 and rounded once; float16 is clamped at −65504, so distance masks no key.

    Returns shape (..., heads, queries, keys), in `dtype`.
    Source: Press et al. 2022, section 3.

    >>> alibi([[-2, -1, 0, 1]], [0.5]).tolist()
    [[[-1.0, -0.5, 0.0, -inf]]]
    """
    like = first_array(relative_positions, slopes)
    offsets = pairwise(relative_positions, like)[..., None, :, :]
    rates = per_head("slopes", slopes, like, zero=True)
    dtype = cast_to(offsets[..., :0], dtype).dtype  # after checking it
    if check_bool("symmetric", symmetric):
        return _rounded_once(-rates * namespace(offsets).abs(offsets), dtype)
    return mask_later_keys(_rounded_once(rates * offsets, dtype), offsets)


def alibi_rank_two(
    query_positions: Array, key_positions: Array, slopes: Array, *, dtype: Any = None
) -> tuple[Array, Array]:
    """ALiBi as a dot product of two features: −m_h·(i − j) = (−m_h·i, m_h)·(1, j), also for later keys.

    Appended to queries and keys, the features add the bias to q·k. Attention multiplies them by `scale`, too, so one of
    them is divided by it:

        attention(concat([q, query_features / scale], -1), concat([k, key_features], -1), v, scale=scale, causal=True)

    The bias is a small difference of large numbers: near position 10^6, float32 has a resolution of m_h/16.

    Args:
        query_positions: i, any real numbers, shape (..., queries).
        key_positions: j, any real numbers, shape (..., keys).
        slopes: m_h ≥ 0, shape (heads,); may carry a gradient.

    Returns query features of shape (..., heads, queries, 2) and key features of shape (..., heads, keys, 2), in `dtype`
    as for `alibi`.

    >>> queries, keys = alibi_rank_two([4], [2, 3, 4], [0.5])
    >>> (queries @ keys.swapaxes(-1, -2)).tolist()
    [[[-1.0, -0.5, 0.0]]]
    """
    like = first_array(query_positions, key_positions, slopes)
    queries = positions_as_floats("query_positions", query_positions, like)
    keys = positions_as_floats("key_positions", key_positions, like)
    check_leading_axes(queries, keys)
    rates = per_head("slopes", slopes, like, zero=True)[..., 0]  # (heads, 1)
    xp = namespace(rates)
    in_heads = xp.ones_like(rates)
    queries, keys = queries[..., None, :] * in_heads, keys[..., None, :] * in_heads  # (..., heads, length) each
    query_features = xp.stack([-rates * queries, rates * xp.ones_like(queries)], axis=-1)
    return cast_to(query_features, dtype), cast_to(xp.stack([xp.ones_like(keys), keys], axis=-1), dtype)


def _rounded_once(values: Array, dtype: Any) -> Array:
    """`values` rounded to the nearest number of `dtype`, and clamped at its minimum.

    torch converts float64 to 16 bits by way of float32 and so rounds twice: where the first step lands halfway between
    two numbers, the second may pick the wrong one.
    """
    xp = namespace(values)
    if xp.finfo(dtype).bits > 16:
        return xp.astype(values, dtype, copy=False)
    values = xp.clip(values, min=float(xp.finfo(dtype).min))  # −∞ would mask the key
    near = xp.astype(values, xp.float32)
    rounded = xp.astype(near, dtype)
    excess = near - xp.astype(rounded, xp.float32)
    mirrored = xp.astype(rounded, xp.float32) + 2 * excess  # the other neighbour, if `near` is halfway
    other = xp.astype(mirrored, dtype)
    in_the_middle = xp.astype(other, xp.float32) == mirrored
    wrong_side = xp.astype(excess, values.dtype) * (values - xp.astype(near, values.dtype)) > 0
    return xp.where(in_the_middle & wrong_side, other, rounded)
