"""The third door: codes that change the logits, and leave embeddings, queries and keys alone.

    logits_ij = q_i·k_j·scale + b_ij

Throughout, relative position = key − query, the sign of `posenc.absolute.relative_positions`: negative for what stands
before. ALiBi, T5, Sandwich and KERPLE add a number that depends on the relative position and on the head alone: one
value along each diagonal (Toeplitz). FIRE's also depends on where the query stands, and the terms of Transformer-XL,
TENER and DeBERTa on what it and the key say.

Give a bias to `posenc.attention.attention` as `bias`; it is added after the scaling. It is −∞ for the keys that a
causal method says nothing about. Two biases are products of vectors, so that they can also be had by widening q and k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from posenc._arrays import (
    Array,
    activations,
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
    said,
    said_of,
    same_leading_axes,
    whole,
    whole_numbers,
    widest_float,
)
from posenc.absolute import relative_positions as seen_from_each_query
from posenc.absolute import sinusoidal
from posenc.frequencies import inv_freq

KERPLE_KINDS = ("logarithmic", "power")


# ---------------------------------------------------------------------------------------------------------------------
# What several of them ask of their arguments


def _offsets(relative_positions: Array, like: Array = None) -> Array:
    """`relative_positions` as floats of shape (..., queries, keys)."""
    offsets = floats("relative_positions", relative_positions, like=like)
    if offsets.ndim < 2:
        raise ValueError(f"relative_positions must have shape (..., queries, keys), got {said(relative_positions)}")
    return offsets


def _whole_offsets(relative_positions: Array, like: Array = None) -> Array:
    """`relative_positions` as floats, after checking that they are whole numbers of any shape."""
    if being_traced():
        return floats("relative_positions", relative_positions, like=like)
    return whole_numbers("relative_positions", relative_positions, like=like)


def _positions(name: str, positions: Array, like: Array = None) -> Array:
    """`positions` as floats of shape (..., length)."""
    at = floats(name, positions, like=like)
    if at.ndim == 0:
        raise ValueError(f"{name} must have at least one axis, got {said(positions)}")
    return at


def _one_for_each_head(name: str, values: Array, like: Array, *, zero: bool = False) -> Array:
    """`values` as floats of shape (heads, 1, 1), after checking that they are positive (or `zero`)."""
    numbers = floats(name, values, like=like)
    if numbers.ndim != 1 or numbers.shape[0] == 0:
        raise ValueError(f"{name} must have shape (heads,), got {said(values, numbers.shape)}")
    if not being_traced():
        refused = numbers < 0 if zero else numbers <= 0
        if bool(namespace(numbers).any(refused)):
            limit = "not be negative" if zero else "be greater than 0"
            raise ValueError(f"{name} must {limit}, got {said_of(values, refused)}")
    return numbers[:, None, None]


def _positive_scalar(name: str, value: float | Array, like: Array) -> Array:
    """`value` as an array of no axes, after checking that it is greater than 0."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {said(value)}")
    number = floats(name, value, like=like)
    if number.ndim != 0:
        raise ValueError(f"{name} must be one number, got {said(value, number.shape)}")
    if not being_traced() and not bool(number > 0):
        raise ValueError(f"{name} must be greater than 0, got {said(value)}")
    return number


def _past_only(bias: Array, offsets: Array) -> Array:
    """`bias`, with −∞ for every key that stands after its query."""
    xp = namespace(bias)
    return xp.where(offsets > 0, xp.full((), -math.inf, dtype=bias.dtype, device=device_of(bias)), bias)


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
        raise TypeError(f"{name} must be None or a floating dtype of the arrays' library, got {said(dtype)}")
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


def _queries_and_keys(names: tuple[str, str], q: Array, k: Array) -> None:
    """Refuses queries and keys (called by their names) whose heads, widths or dtypes differ."""
    for name, array in zip(names, (q, k), strict=True):
        if activations(name, array).ndim < 3 or 0 in (array.shape[-3], array.shape[-1]):
            raise ValueError(f"{name} must have shape (..., heads, length, head_dim), got shape {tuple(array.shape)}")
    namespace(q, k)
    if k.dtype != q.dtype:
        raise TypeError(f"{names[1]} must have the dtype of {names[0]}, {q.dtype}, got dtype {k.dtype}")
    if k.shape[:-2] != q.shape[:-2] or k.shape[-1] != q.shape[-1]:
        wanted = ", ".join(str(n) for n in (*q.shape[:-2], "keys", q.shape[-1]))
        raise ValueError(f"{names[1]} must have shape ({wanted}), got shape {tuple(k.shape)}")


def _parameter(name: str, value: Array, q: Array, shape: tuple[int | str, ...]) -> Array:
    """`value` in the dtype of q, after checking its shape; a word in `shape` stands for any length."""
    xp = namespace(q, activations(name, value))
    fits = len(shape) == value.ndim and all(
        isinstance(wanted, str) or own == wanted for own, wanted in zip(value.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} must have shape ({', '.join(map(str, shape))}), got shape {tuple(value.shape)}")
    return xp.astype(value, q.dtype, copy=False)


# ---------------------------------------------------------------------------------------------------------------------
# ALiBi


def alibi_slopes(n_heads: int, *, like: Array = None) -> Array:
    """ALiBi's slopes m_h = 2^(−8h/H), h = 1 … H, for a number of heads H that is a power of two.

    Any other number takes the slopes of the power of two below, and then as many as are missing from those of twice
    that power: its first, third, fifth, …  They are not sorted. BLOOM does the same.

    Args:
        n_heads: H, at least 1.
        like: an array whose library and device the answer takes; NumPy where it is left out.

    Returns:
        float64, shape (n_heads,), in logits per token.

    Raises:
        TypeError: `n_heads` is no whole number.
        ValueError: `n_heads` is below 1.

    Source: Press et al. 2022, section 3; the other numbers of heads are from the authors' code.
    """
    n_heads = whole("n_heads", n_heads)
    xp, device = namespace(array_or_none("like", like)), device_of(like)
    power = 2 ** (n_heads.bit_length() - 1)  # the greatest power of two that is not above n_heads
    dtype = widest_float(xp, device)
    regular = xp.arange(1, power + 1, dtype=dtype, device=device) / power
    between = xp.arange(1, 2 * (n_heads - power), 2, dtype=dtype, device=device) / (2 * power)
    return 2.0 ** (-8 * xp.concat([regular, between]))


def alibi(relative_positions: Array, slopes: Array, *, symmetric: bool = False, dtype: Any = None) -> Array:
    """ALiBi: a penalty that grows with distance, b_ij = −m_h·(i − j) for keys at or before the query.

    The method is causal: for later keys the bias is −∞, so that it cannot reward them by mistake where a mask is
    forgotten. The symmetric form −m_h·|i − j|, for encoders, cannot tell left from right.

    BLOOM adds m_h·j to every row instead, which differs by m_h·i, the same for all keys of a query: under a causal
    mask the weights are equal.

    Args:
        relative_positions: key − query, any real numbers, shape (..., queries, keys); in tokens.
        slopes: m_h, none negative, shape (heads,); may carry a gradient. `alibi_slopes` makes the paper's.
        symmetric: whether later keys are penalised like earlier ones.
        dtype: a floating dtype of the arrays' library; float64 where it is left out. The bias is computed in float64
            and rounded once. In float16 it stops at −65504, so that no key is hidden by its distance.

    Returns:
        shape (..., heads, queries, keys), in `dtype`.

    Raises:
        TypeError: not real numbers, arrays of two libraries, `symmetric` no bool, or `dtype` no floating dtype.
        ValueError: not finite, a negative slope, or shapes that do not fit.

    Source: Press et al. 2022, section 3.
    """
    like = first_array(relative_positions, slopes)
    offsets = _offsets(relative_positions, like)[..., None, :, :]
    rates = _one_for_each_head("slopes", slopes, like, zero=True)
    dtype = _floating_dtype("dtype", dtype, offsets)
    if flag("symmetric", symmetric):
        return _rounded_once(-rates * namespace(offsets).abs(offsets), dtype)
    return _past_only(_rounded_once(rates * offsets, dtype), offsets)


def alibi_rank_two(query_positions: Array, key_positions: Array, slopes: Array) -> tuple[Array, Array]:
    """ALiBi as a product of vectors with two entries: −m_h·(i − j) = (−m_h·i, m_h)·(1, j).

    Appended to a query and a key, they add the bias to the product of the two. The factor `scale` of attention falls
    on them as well, so divide one of them by it:

        attention(concat([q, query_features / scale], -1), concat([k, key_features], -1), v, scale=scale, causal=True)

    The product is that of `alibi` for keys at or before the query, and goes on along the same line for later ones.
    A small difference of two large numbers comes out of it: near position 10^6 float32 works in steps of m_h/16.

    Args:
        query_positions: i, any real numbers, shape (..., queries).
        key_positions: j, any real numbers, shape (..., keys), with the same leading axes.
        slopes: m_h, none negative, shape (heads,); may carry a gradient.

    Returns:
        float64, query features of shape (..., heads, queries, 2) and key features of shape (..., heads, keys, 2).

    Raises:
        TypeError: not real numbers, or arrays of two libraries.
        ValueError: not finite, a negative slope, or shapes that do not fit.
    """
    like = first_array(query_positions, key_positions, slopes)
    queries = _positions("query_positions", query_positions, like)
    keys = _positions("key_positions", key_positions, like)
    same_leading_axes(queries, keys)
    rates = _one_for_each_head("slopes", slopes, like, zero=True)[..., 0]  # (heads, 1)
    xp = namespace(rates)
    in_heads = xp.ones_like(rates)
    queries, keys = queries[..., None, :] * in_heads, keys[..., None, :] * in_heads  # (..., heads, length) each
    query_features = xp.stack([-rates * queries, rates * xp.ones_like(queries)], axis=-1)
    return query_features, xp.stack([xp.ones_like(keys), keys], axis=-1)


# ---------------------------------------------------------------------------------------------------------------------
# T5


def t5_bucket(
    relative_positions: Array, *, bidirectional: bool, num_buckets: int = 32, max_distance: int = 128
) -> Array:
    """The bucket into which T5 puts a relative position: near distances exactly, far ones ever more coarsely.

    With B buckets for one direction and E = ⌊B/2⌋, a distance n below E has bucket n; any other has bucket
    E + ⌊(B − E)·ln(n/E)/ln(max_distance/E)⌋, or B − 1 where that is less. Causal: B = num_buckets, and keys after
    the query have bucket 0. Bidirectional: B = num_buckets/2, and keys after the query get B more.

    Where a bucket starts is found in whole numbers, n^(B − E) ≥ E^(B − E − b)·max_distance^b, so that a logarithm
    rounded up or down cannot move an edge. Equal to Hugging Face's float32 at every offset up to ±4096 for the numbers
    that T5 uses.

    Args:
        relative_positions: key − query, whole numbers, any shape; in tokens.
        bidirectional: True for an encoder, False for a decoder.
        num_buckets: at least 2; even and at least 4 with `bidirectional`.
        max_distance: greater than E, up to 2^53. The last bucket starts before it: 32 and 128 put it at 113 in a
            decoder and at 91 in an encoder.

    Returns:
        int64, the shape of `relative_positions`, from 0 to num_buckets − 1.

    Raises:
        TypeError: not real numbers, a number of buckets or a distance that is not whole, or `bidirectional` no bool.
        ValueError: offsets that are not whole or not finite, too few buckets, or a `max_distance` out of range.

    Source: Raffel et al. 2020, section 2.1, describes it; the numbers are from the authors' code.
    """
    num_buckets = whole("num_buckets", num_buckets)
    _enough_buckets("num_buckets", num_buckets, str(num_buckets), flag("bidirectional", bidirectional))
    one_way = num_buckets // 2 if bidirectional else num_buckets
    max_distance = whole("max_distance", max_distance)
    if not one_way // 2 < max_distance <= 2**53:
        raise ValueError(
            f"max_distance must be greater than {one_way // 2}, the buckets of one distance each, and at most 2^53, "
            f"got {max_distance}"
        )
    offsets = _whole_offsets(relative_positions)
    xp = namespace(offsets)
    starts = xp.asarray(_bucket_starts(one_way, max_distance), dtype=offsets.dtype, device=device_of(offsets))
    distance = xp.abs(offsets) if bidirectional else xp.clip(-offsets, min=0)
    # How many buckets have started. Flat, because torch warns of a table whose rows do not follow one another.
    bucket = xp.reshape(xp.searchsorted(starts, xp.reshape(distance, (-1,)), side="right"), distance.shape)
    return bucket + one_way * xp.astype(offsets > 0, xp.int64) if bidirectional else bucket


def _enough_buckets(name: str, number: int, given: str, bidirectional: bool) -> None:
    """Refuses a number of buckets that cannot be halved as often as needed."""
    if number < 2 + 2 * bidirectional or (bidirectional and number % 2):
        wanted = "an even number of buckets, at least 4," if bidirectional else "at least 2 buckets"
        raise ValueError(f"{name} must give {wanted} with bidirectional={bidirectional}, got {given}")


def _bucket_starts(num_buckets: int, max_distance: int) -> tuple[int, ...]:
    """The least distance in each bucket of one direction but the first, so that a bucket is how many have started."""
    exact = num_buckets // 2
    steps = num_buckets - exact
    starts = list(range(1, exact + 1))
    for step in range(1, steps):
        reached = exact ** (steps - step) * max_distance**step
        start = round(exact * (max_distance / exact) ** (step / steps))  # right, or next to it
        while start**steps < reached:
            start += 1
        while (start - 1) ** steps >= reached:
            start -= 1
        starts.append(start)
    return tuple(starts)


def t5(relative_positions: Array, table: Array, *, bidirectional: bool, max_distance: int = 128) -> Array:
    """T5's learned bias: b_ij = table[bucket(j − i), h].

    One table serves all layers of a T5, and its products q·k are not scaled: `attention(..., scale=1.0, bias=...)`.
    It runs at any length; distances from the start of the last bucket on share one learned value.

    Args:
        relative_positions: key − query, whole numbers, shape (..., queries, keys); in tokens.
        table: shape (num_buckets, heads), any floating dtype. Gradients flow into it.
        bidirectional: True for an encoder, False for a decoder, whose later keys all get bucket 0: mask them.
        max_distance: as in `t5_bucket`.

    Returns:
        shape (..., heads, queries, keys), in the dtype of `table`.

    Raises:
        TypeError: `table` is no array of floats, arrays of two libraries; otherwise as in `t5_bucket`.
        ValueError: shapes that do not fit; otherwise as in `t5_bucket`.

    Source: Raffel et al. 2020, section 2.1.
    """
    if activations("table", table).ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"table must have shape (num_buckets, heads), got shape {tuple(table.shape)}")
    num_buckets, heads = table.shape
    _enough_buckets("table", num_buckets, f"shape {tuple(table.shape)}", flag("bidirectional", bidirectional))
    offsets = _offsets(relative_positions, like=table)
    buckets = t5_bucket(offsets, bidirectional=bidirectional, num_buckets=num_buckets, max_distance=max_distance)
    xp = namespace(table)
    looked_up = xp.take(xp.matrix_transpose(table), xp.reshape(buckets, (-1,)), axis=1)
    return xp.moveaxis(xp.reshape(looked_up, (heads, *offsets.shape)), 0, -3)


# ---------------------------------------------------------------------------------------------------------------------
# Sandwich


def sandwich(relative_positions: Array, n_heads: int, dim: int = 128, base: float = 10_000.0) -> Array:
    """Sandwich: the product of two sinusoidal codes, b_ij = λ_h·p_i·p_j = λ_h·Σ cos((i − j)·θ_n), n = 0 … dim/2 − 1.

    Head h of H has λ_h = H/(8h), h = 1 … H: the product is divided by the ratio 8h/H. Nothing is learned. The sum is
    dim/2 at distance 0 and falls like a logarithm, in ripples: many a step away raises it. It is even, so that later
    keys need a mask.

    Args:
        relative_positions: key − query, any real numbers, shape (..., queries, keys); in tokens.
        n_heads: H, at least 1.
        dim: width of the codes, even; 128 in the paper, whatever the width of the heads.
        base: finite and greater than 0.

    Returns:
        float64, shape (..., heads, queries, keys).

    Raises:
        TypeError: not real numbers, `n_heads` or `dim` no whole number, or `base` no number.
        ValueError: not finite, shapes that do not fit, `n_heads` below 1, `dim` odd or below 2, or base ≤ 0.

    Source: Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis".
    """
    offsets = _offsets(relative_positions)
    factors = _sandwich_factors(n_heads, offsets)
    xp = namespace(offsets)
    product = xp.zeros_like(offsets)
    for frequency in inv_freq(dim, base, like=offsets):  # one at a time: all at once need dim/2 times the memory
        product = product + xp.cos(offsets * frequency)
    return factors[:, None, None] * product[..., None, :, :]


def sandwich_features(positions: Array, n_heads: int, dim: int = 128, base: float = 10_000.0) -> Array:
    """The vectors whose products are Sandwich's bias: √λ_h·p_i, with p the sinusoidal code.

    Appended to queries and to keys, they give q·k + λ_h·p_i·p_j. The factor `scale` of attention falls on the second
    part as well, so divide one of them by it, as in `alibi_rank_two`.

    Args:
        positions: any real numbers, shape (..., length); in tokens.
        n_heads, dim, base: as in `sandwich`.

    Returns:
        float64, shape (..., heads, length, dim).

    Raises:
        As `sandwich` does.
    """
    at = _positions("positions", positions)
    factors = _sandwich_factors(n_heads, at)
    return namespace(at).sqrt(factors)[:, None, None] * sinusoidal(at, even_dim(dim), base)[..., None, :, :]


def _sandwich_factors(n_heads: int, like: Array) -> Array:
    """λ_h = H/(8h), shape (heads,)."""
    n_heads = whole("n_heads", n_heads)
    xp = namespace(like)
    return n_heads / (8 * xp.arange(1, n_heads + 1, dtype=like.dtype, device=device_of(like)))


# ---------------------------------------------------------------------------------------------------------------------
# KERPLE and FIRE


def kerple(relative_positions: Array, r1: Array, r2: Array, *, kind: str = "logarithmic") -> Array:
    """KERPLE: −r1·ln(1 + r2·|i − j|), or −r1·|i − j|^r2, with learned r1 and r2 for each head.

    The power with r2 = 1 is the symmetric ALiBi. Both forms are even, so that later keys need a mask.

    Args:
        relative_positions: key − query, any real numbers, shape (..., queries, keys); in tokens.
        r1: greater than 0, shape (heads,); may carry a gradient.
        r2: greater than 0, shape (heads,), at most 2 for the power; may carry a gradient.
        kind: "logarithmic" or "power".

    Returns:
        float64, shape (..., heads, queries, keys).

    Raises:
        TypeError: not real numbers, or arrays of two libraries.
        ValueError: not finite, r1 or r2 out of range, shapes that do not fit, or an unknown kind.

    Source: Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation".
    """
    one_of("kind", kind, KERPLE_KINDS)
    like = first_array(relative_positions, r1, r2)
    offsets = _offsets(relative_positions, like)[..., None, :, :]
    first, second = _one_for_each_head("r1", r1, like), _one_for_each_head("r2", r2, like)
    if first.shape != second.shape:
        raise ValueError(f"r1 and r2 must have one number for each head, equally many, got {said(r1)} and {said(r2)}")
    xp = namespace(offsets)
    distance = xp.abs(offsets)
    if kind == "logarithmic":
        return -first * xp.log1p(second * distance)
    if not being_traced() and bool(xp.any(second > 2)):
        raise ValueError(f"r2 must be at most 2 for the power, got {said_of(r2, second[:, 0, 0] > 2)}")
    # 0^r2 is 0, but its slope is not finite everywhere: kept away from the gradient.
    here = distance == 0
    power = xp.where(here, xp.ones_like(distance), distance) ** second
    return -first * xp.where(here, xp.zeros_like(power), power)


def fire(
    query_positions: Array,
    key_positions: Array,
    mlp: Callable[[Array], Array],
    c: float | Array,
    threshold: float | Array,
) -> Array:
    """FIRE: b_ij = f(ψ(i − j) / ψ(max(i, L))) with ψ(x) = ln(c·x + 1), f a small learned network.

    The distance is measured in shares of where the query stands, so that f is asked for numbers in [0, 1] at every
    length; up to position L, the threshold, the share is one of L. The bias therefore depends on where the query
    stands, not on the distance alone. The method is causal: for later keys the bias is −∞.

    Args:
        query_positions: i, none negative, shape (..., queries); in tokens, from the start of the text.
        key_positions: j, none negative, shape (..., keys), with the same leading axes.
        mlp: f, a function from shape (..., queries, keys, 1) to shape (..., queries, keys, heads).
        c: greater than 0, a number or an array of no axes, which may carry a gradient. `mlp` gets its input in the
            dtype of that array, in float64 where `c` is a number.
        threshold: L, greater than 0, a number or an array of no axes, which may carry a gradient.

    Returns:
        shape (..., heads, queries, keys), in the dtype in which `mlp` answers.

    Raises:
        TypeError: not real numbers, arrays of two libraries, or an `mlp` that cannot be called or gives no floats.
        ValueError: not finite, a negative position, `c` or `threshold` ≤ 0, or shapes that do not fit.

    Source: Li et al. 2024, "Functional Interpolation for Relative Positions Improves Long Context Transformers".
    """
    if not callable(mlp):
        raise TypeError(f"mlp must be a function from the shares of a distance to the biases, got {said(mlp)}")
    like = first_array(query_positions, key_positions, c, threshold)
    queries = _positions("query_positions", query_positions, like)
    keys = _positions("key_positions", key_positions, like)
    offsets = seen_from_each_query(queries, keys)  # (..., queries, keys)
    xp = namespace(offsets)
    for name, at, given in (
        ("query_positions", queries, query_positions),
        ("key_positions", keys, key_positions),
    ):
        if not being_traced() and bool(xp.any(at < 0)):
            raise ValueError(f"{name} must not be negative, got {said_of(given, at < 0)}")
    growth, least = _positive_scalar("c", c, like), _positive_scalar("threshold", threshold, like)
    of_distance = xp.log1p(growth * xp.clip(-offsets, min=0))
    share = of_distance / xp.log1p(growth * xp.maximum(queries, least))[..., None]
    dtype = getattr(c, "dtype", share.dtype)
    if xp.isdtype(dtype, "real floating"):
        share = xp.astype(share, dtype, copy=False)
    biases = mlp(share[..., None])
    if not is_array(biases) or not namespace(share, biases).isdtype(biases.dtype, "real floating"):
        raise TypeError(f"mlp must answer with an array of floats, got {said(mlp)} answering {said(biases)}")
    if tuple(biases.shape[:-1]) != tuple(share.shape) or 0 in biases.shape[share.ndim :]:
        wanted = ", ".join(str(n) for n in (*share.shape, "heads"))
        raise ValueError(f"mlp must answer with shape ({wanted}), got {said(mlp)} answering {tuple(biases.shape)}")
    return _past_only(xp.moveaxis(biases, -1, -3), offsets[..., None, :, :])


# ---------------------------------------------------------------------------------------------------------------------
# Transformer-XL and TENER


class TransformerXLTerms(NamedTuple):
    """The four terms of Transformer-XL's logits, each of shape (..., heads, queries, keys), unscaled."""

    content_content: Array  # q_i·k_j: what the query asks of what the key says
    content_position: Array  # q_i·r_{i−j}: what the query asks of that distance
    global_content: Array  # u·k_j: what every query asks of what the key says
    global_position: Array  # v·r_{i−j}: what every query asks of that distance

    @property
    def bias(self) -> Array:
        """What is added to q·k: the last three terms."""
        return self.content_position + self.global_content + self.global_position

    @property
    def logits(self) -> Array:
        """All four terms."""
        return self.content_content + self.bias


def transformer_xl(q: Array, k: Array, r: Array, u: Array, v: Array) -> TransformerXLTerms:
    """Transformer-XL's logits: q_i·k_j + q_i·r_{i−j} + u·k_j + v·r_{i−j} = (q_i + u)·k_j + (q_i + v)·r_{i−j}.

    They are what is left of (x_i + p_i)·W_qᵀ·W_k·(x_j + p_j), multiplied out, when the key's position becomes a
    distance and the query's position, which no longer matters, one learned vector in each of two terms.

    Queries are the last ones of the keys (the others are the memory of earlier segments): query i stands at position
    i + keys − queries, so that distances run up to keys − 1. The rows of `r` are distances, the farthest first:

    - causal: keys − 1, …, 1, 0, one row for each key. Later keys have no distance; their terms in r are −∞.
    - in both directions: keys − 1, …, 0, …, −(queries − 1), keys + queries − 1 rows.

    r is W_kR·R with R the sinusoidal code of the distance:

        sinusoidal(arange(keys - 1, -1, -1), dim, layout="half") @ W_kR      then split into heads

    The model divides the logits by √head_dim: attention(q, k, value, scale=s, bias=s * terms.bias, causal=True).

    Args:
        q: queries, shape (..., heads, queries, head_dim), any floating dtype.
        k: keys, shape (..., heads, keys, head_dim), in the dtype of q; at least as many as queries.
        r: rows of the distances, shape (heads, rows, head_dim).
        u, v: shape (heads, head_dim). r, u and v are cast to the dtype of q; gradients flow into all five.

    Returns:
        the four terms, each of shape (..., heads, queries, keys), in the dtype of q; `bias` and `logits` add them up.

    Raises:
        TypeError: not arrays of floats, q and k of two dtypes, or arrays of two libraries.
        ValueError: shapes that do not fit, or more queries than keys.

    Source: Dai et al. 2019, section 3.3; the shift that avoids a row for every pair, appendix B.
    """
    _queries_and_keys(("q", "k"), q, k)
    (heads, queries, head_dim), keys = q.shape[-3:], k.shape[-2]
    by_distance = _rows_of_distances(_parameter("r", r, q, (heads, "rows", head_dim)), q, k)
    u, v = _parameter("u", u, q, (heads, head_dim)), _parameter("v", v, q, (heads, head_dim))
    xp, shape = namespace(q), (*q.shape[:-1], keys)
    keys_as_columns, rows_as_columns = xp.matrix_transpose(k), xp.matrix_transpose(by_distance)
    everywhere = xp.broadcast_to(xp.matmul(v[:, None, :], rows_as_columns), (heads, queries, r.shape[-2]))
    return TransformerXLTerms(
        xp.matmul(q, keys_as_columns),
        _on_diagonals(xp.matmul(q, rows_as_columns), keys),
        xp.broadcast_to(xp.matmul(u[:, None, :], keys_as_columns), shape),
        xp.broadcast_to(_on_diagonals(everywhere, keys), shape),
    )


def tener(q: Array, k: Array, r: Array, u: Array, v: Array) -> TransformerXLTerms:
    """TENER's logits: q_i·k_j + q_i·R_{i−j} + u·k_j + v·R_{i−j}, with R the sinusoidal code of the distance itself.

    The arithmetic is Transformer-XL's, and so is the code. What differs: R is not projected, so that all heads share
    it, with sines that are odd in the distance and tell left from right; the model is an encoder, so that r has rows
    for distances both ways; and the logits are not scaled: attention(q, k, value, scale=1.0, bias=terms.bias).

        r = sinusoidal(arange(keys - 1, -queries, -1), head_dim)

    Args:
        q, k, u, v: as in `transformer_xl`.
        r: rows of the distances, in the same order as there, shape (rows, head_dim).

    Returns and Raises:
        as in `transformer_xl`.

    Source: Yan et al. 2019, "TENER: Adapting Transformer Encoder for Named Entity Recognition".
    """
    _queries_and_keys(("q", "k"), q, k)
    heads, head_dim = q.shape[-3], q.shape[-1]
    shared = _rows_of_distances(_parameter("r", r, q, ("rows", head_dim)), q, k)
    return transformer_xl(q, k, namespace(q).broadcast_to(shared, (heads, *shared.shape)), u, v)


def relative_shift(scores: Array) -> Array:
    """Moves row i of a table by distance to the left by queries − 1 − i, so that columns of distances become keys.

    One column of zeros goes in front, the first `queries` numbers are left out, and the others are read in order as
    rows that are again one number shorter: nothing is copied pair by pair.

        [q0·r2, q0·r1, q0·r0]        [q0·r0,      ·,      ·]
        [q1·r2, q1·r1, q1·r0]   →    [q1·r1, q1·r0,       ·]
        [q2·r2, q2·r1, q2·r0]        [q2·r2, q2·r1,  q2·r0 ]

    Entry (i, j) of the answer is entry (i, j + queries − 1 − i). Where the row has no such column (a dot above), the
    answer holds a zero or numbers of the next row, and must be masked: with one column for each key, the farthest
    first, it is exact for all keys at or before the query, and for them alone.

    Args:
        scores: shape (..., queries, distances), any floating dtype; the farthest key first.

    Returns:
        the shape and dtype of `scores`.

    Raises:
        TypeError: not an array of floats.
        ValueError: fewer than two axes.

    Source: Dai et al. 2019, appendix B.
    """
    if activations("scores", scores).ndim < 2:
        raise ValueError(f"scores must have shape (..., queries, distances), got shape {tuple(scores.shape)}")
    *leading, queries, columns = scores.shape
    if columns == 0:
        return scores
    xp = namespace(scores)
    padded = xp.concat([xp.zeros_like(scores[..., :1]), scores], axis=-1)  # (..., queries, columns + 1)
    skewed = xp.reshape(padded, (*leading, columns + 1, queries))[..., 1:, :]
    return xp.reshape(skewed, tuple(scores.shape))


def _rows_of_distances(r: Array, q: Array, k: Array) -> Array:
    """`r`, after checking that it has a row for each distance, of the past or both ways."""
    queries, keys = q.shape[-2], k.shape[-2]
    if queries > keys:
        raise ValueError(f"q must not have more rows than k, {keys}, got shape {tuple(q.shape)}")
    both_ways = max(keys + queries - 1, 0)
    if r.shape[-2] not in (keys, both_ways):
        raise ValueError(
            f"r must have {keys} rows (distances {keys - 1} to 0) or {both_ways} (down to {1 - queries}), "
            f"got shape {tuple(r.shape)}"
        )
    return r


def _on_diagonals(scores: Array, keys: int) -> Array:
    """Scores by distance, farthest first, shape (..., queries, keys); −∞ for later keys where no column is theirs."""
    *leading, queries, columns = scores.shape
    xp, device = namespace(scores), device_of(scores)
    if 0 in (queries, keys):
        return xp.zeros((*leading, queries, keys), dtype=scores.dtype, device=device)
    shifted = relative_shift(scores)[..., :keys]
    if columns > keys:
        return shifted
    places = xp.arange(keys, device=device)
    return _past_only(shifted, places - places[keys - queries :, None])


# ---------------------------------------------------------------------------------------------------------------------
# DeBERTa


class DebertaTerms(NamedTuple):
    """The three terms of DeBERTa's logits, each of shape (..., heads, queries, keys), unscaled."""

    content_to_content: Array  # Qc_i·Kc_j
    content_to_position: Array  # Qc_i·Kr_δ(i,j)
    position_to_content: Array  # Kc_j·Qr_δ(j,i)

    @property
    def bias(self) -> Array:
        """What is added to q·k: the last two terms."""
        return self.content_to_position + self.position_to_content

    @property
    def logits(self) -> Array:
        """All three terms."""
        return self.content_to_content + self.bias


def deberta(
    query_content: Array, key_content: Array, key_relative: Array, query_relative: Array, relative_positions: Array
) -> DebertaTerms:
    """DeBERTa's disentangled logits: Qc_i·Kc_j + Qc_i·Kr_δ(i,j) + Kc_j·Qr_δ(j,i).

    δ(i, j) = i − j + span, clipped to 0 … 2·span − 1, is the row of a distance: row `span` is the place itself, all
    keys span − 1 and more before the query share the last row, all keys span and more after it the first. The second
    and third term depend on what query and key say: this is no bias B[i − j]. The model divides the logits by
    √(3·head_dim):

        attention(query_content, key_content, value, scale=s, bias=s * terms.bias)

    The authors' code, and Hugging Face's after it, reads Qr at δ(i, j), not at the paper's δ(j, i). That term is the
    `position_to_content` which this function gives for relative positions with the opposite sign.

    Args:
        query_content: Qc, shape (..., heads, queries, head_dim), any floating dtype.
        key_content: Kc, shape (..., heads, keys, head_dim), in the dtype of Qc.
        key_relative: Kr = P·W_k,r for the table P of relative positions, shape (heads, 2·span, head_dim).
        query_relative: Qr = P·W_q,r, shape (heads, 2·span, head_dim). Both are cast to the dtype of Qc.
        relative_positions: key − query, whole numbers, shape (queries, keys); in tokens.

    Returns:
        the three terms, each of shape (..., heads, queries, keys), in the dtype of Qc; `bias` and `logits` add them up.

    Raises:
        TypeError: not arrays of floats, queries and keys of two dtypes, or arrays of two libraries.
        ValueError: shapes that do not fit, an odd number of rows, or relative positions that are not whole.

    Source: He et al. 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", section 3.1.
    """
    _queries_and_keys(("query_content", "key_content"), query_content, key_content)
    (heads, queries, head_dim), keys = query_content.shape[-3:], key_content.shape[-2]
    key_rows = _parameter("key_relative", key_relative, query_content, (heads, "2·span", head_dim))
    rows = key_rows.shape[-2]
    if rows == 0 or rows % 2:
        raise ValueError(f"key_relative must have an even number of rows, 2·span, got shape {tuple(key_rows.shape)}")
    query_rows = _parameter("query_relative", query_relative, query_content, (heads, rows, head_dim))
    offsets = _whole_offsets(relative_positions, like=query_content)
    if tuple(offsets.shape) != (queries, keys):
        raise ValueError(
            f"relative_positions must have shape {(queries, keys)}, got {said(relative_positions, offsets.shape)}"
        )
    xp, device = namespace(query_content, offsets), device_of(query_content)
    i, j = xp.arange(queries, device=device)[:, None], xp.arange(keys, device=device)

    def row_of(distance: Array) -> Array:
        return xp.astype(xp.clip(distance + rows // 2, min=0, max=rows - 1), xp.int64)  # (queries, keys)

    of_query = xp.matmul(query_content, xp.matrix_transpose(key_rows))  # (..., heads, queries, rows)
    of_key = xp.matmul(query_rows, xp.matrix_transpose(key_content))  # (..., heads, rows, keys)
    return DebertaTerms(
        xp.matmul(query_content, xp.matrix_transpose(key_content)),
        of_query[..., i, row_of(-offsets)],
        of_key[..., row_of(offsets), j],
    )


# ---------------------------------------------------------------------------------------------------------------------
# FlexAttention


def score_mod(bias: Callable[[Array], Array] | Array, q: Array, k: Array) -> Callable[..., Array]:
    """A bias as the `score_mod` of torch's `flex_attention`, which adds it to the scores one pair at a time.

    A bias that depends on the head and the relative position alone (ALiBi, T5, Sandwich, KERPLE) is best given as a
    function. It is called once, for the queries + keys − 1 relative positions that there are, so that no array of
    shape (heads, queries, keys) is made. Any other (FIRE; the `bias` of Transformer-XL, TENER and DeBERTa) is given as
    the array that its function answers.

    Queries are the last ones of the keys: query i stands at position i + keys − queries. What hides keys is left to
    `block_mask`, except where the bias is −∞. FlexAttention scales products by 1/√head_dim unless it is told `scale`.

    Args:
        bias: a function from relative positions (key − query, shape (1, n), in tokens) to floats of shape
            (heads, 1, n), or an array of shape (heads, queries, keys) or (batch, heads, queries, keys). Gradients flow
            into what it is made of.
        q: queries, shape (batch, heads, queries, head_dim), any floating dtype.
        k: keys, shape (batch, heads, keys, head_dim); heads may be fewer (grouped queries).

    Returns:
        a function of (score, batch, head, query, key), the last four being indices, to score + b. The bias is in the
        dtype of q, in float32 for float16 and bfloat16, as FlexAttention's scores are.

    Raises:
        TypeError: not arrays of floats, a function that does not answer with one, or arrays of two libraries.
        ValueError: shapes that do not fit, a bias that holds NaN or +∞, or, for a function, more queries than keys.

    Source: Dong et al. 2024, "Flex Attention: A Programming Model for Generating Optimized Attention Kernels".

    >>> import numpy as np
    >>> q, k = np.zeros((1, 2, 1, 4)), np.zeros((1, 2, 3, 4))
    >>> add = score_mod(lambda relative_positions: alibi(relative_positions, [0.5, 0.25]), q, k)
    >>> [float(add(10.0, 0, 1, 0, key)) for key in range(3)]
    [9.5, 9.75, 10.0]
    """
    for name, array in (("q", q), ("k", k)):
        if activations(name, array).ndim != 4:
            raise ValueError(f"{name} must have shape (batch, heads, length, head_dim), got shape {tuple(array.shape)}")
    xp, (batch, heads, queries, _), keys = namespace(q, k), q.shape, k.shape[-2]
    table: Array = bias
    accepted: list[tuple[int, ...]] = [(heads, queries, keys), (batch, heads, queries, keys)]
    if callable(bias):
        if queries > keys:
            raise ValueError(f"q must not have more rows than k, {keys}, got shape {tuple(q.shape)}")
        device = device_of(q)
        diagonals = xp.arange(1 - keys, queries, dtype=widest_float(xp, device), device=device)[None]
        table, accepted = bias(diagonals), [(heads, 1, diagonals.shape[-1])]
    answering = f"{said(bias)} answering {said(table)}" if callable(bias) else said(bias)
    if not is_array(table) or not namespace(q, table).isdtype(table.dtype, "real floating"):
        kind = f", got dtype {table.dtype}" if is_array(table) and not callable(bias) else f", got {answering}"
        raise TypeError(f"bias must be an array of floats, or a function that answers with one{kind}")
    if tuple(table.shape) not in accepted:
        raise ValueError(f"bias must give shape {' or '.join(map(str, accepted))}, got {answering}")
    if not being_traced() and not bool(xp.all(table < math.inf)):
        raise ValueError(f"bias must be finite, or −∞ for a masked pair, got {answering}")
    table = xp.astype(table, xp.float32 if xp.finfo(q.dtype).bits == 16 else q.dtype, copy=False)

    def add(score: Array, batch: Array, head: Array, query: Array, key: Array) -> Array:
        if callable(bias):  # the first column is for the relative position 1 − keys
            return score + table[head, 0, key - query + queries - 1]
        return score + (table[head, query, key] if table.ndim == 3 else table[batch, head, query, key])

    return add
