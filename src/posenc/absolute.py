"""Codes of a position that are added to the embedding: from counting, over digits and waves, to learned tables.

The functions take positions in tokens, whole numbers from 0 to below 2^53 where nothing else is said, of any shape, and
return one more axis, `dim` ≥ 1 numbers wide: float64, shape (*positions.shape, dim). Other arguments, where they occur:

    base     of the frequencies base^(−2i/dim), finite and greater than 0
    layout   "interleaved" (sine, cosine, sine, …; the paper) or "half" (all sines, then all cosines)
    like     an array whose library and device the answer takes where positions are numbers or lists

What is of the wrong kind, or of two libraries, raises TypeError; what is out of its range or of another shape,
ValueError. Pair i of the sinusoidal code is the point (sin(t·θ_i), cos(t·θ_i)) with the θ_i of `posenc.frequencies`.
"""

from __future__ import annotations

from posenc._arrays import (
    Array,
    as_float_array,
    check_bool,
    check_choice,
    check_float_array,
    check_int,
    check_integers,
    check_leading_axes,
    check_like,
    describe,
    device_of,
    is_compiling,
    namespace,
)
from posenc.frequencies import angles, inv_freq

LAYOUTS = ("interleaved", "half")
DENOMINATORS = ("paper", "tensor2tensor")
PAST_END = ("refuse", "clamp", "interpolate")


def _whole_positions(positions: Array, *, like: Array = None) -> Array:
    """`positions` as floats, after checking that they are whole, not negative and exact in that float."""
    if is_compiling():
        return as_float_array("positions", positions, like=like)
    at = check_integers("positions", positions, like=like, least=0)
    xp = namespace(at)
    limit = 2 / xp.finfo(at.dtype).eps  # 2^53 in float64; from there on a float may stand for its neighbour
    if bool(xp.any(at >= limit)):
        raise ValueError(
            f"positions must be below {limit:.0f}, where {at.dtype} stops being exact, got {describe(positions)}"
        )
    return at


def _below(limit: int, at: Array, positions: Array, reason: str) -> None:
    """Refuses positions of `limit` or more, naming the greatest."""
    xp = namespace(at)
    if not is_compiling() and bool(xp.any(at >= limit)):
        greatest = int(xp.max(at))
        raise ValueError(f"positions must be at most {limit - 1} ({reason}), got {greatest} in {describe(positions)}")


def integer(positions: Array, dim: int) -> Array:
    """The position itself, on every dimension: PE(t) = (t, …, t). It drowns the embedding it is added to.

    >>> integer([0, 5], 2).tolist()
    [[0.0, 0.0], [5.0, 5.0]]
    """
    dim, at = check_int("dim", dim), _whole_positions(positions)
    xp = namespace(at)
    return at[..., None] * xp.ones(dim, dtype=at.dtype, device=device_of(at))


def normalised(positions: Array, length: int, dim: int) -> Array:
    """The share of the text before the position, on every dimension: PE(t) = (t/L, …, t/L), for t < L = length ≥ 1.

    One step is 1/L: the same distance looks different in texts of two lengths.

    >>> normalised([0, 5], 10, 2).tolist()
    [[0.0, 0.0], [0.5, 0.5]]
    """
    length = check_int("length", length)
    counted = integer(positions, dim)
    _below(length, counted, positions, f"the last of length = {length}")
    return counted / length


def binary(positions: Array, dim: int) -> Array:
    """The position below 2^dim in binary, the least significant bit first: bit i = (t >> i) & 1; `radix` with radix 2.

    Bit i toggles every 2^i tokens and has the period 2^(i+1). Neighbours can differ in every bit, as 7 and 8 do.

    >>> binary([1, 6], 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """
    return radix(positions, dim, 2)


def radix(positions: Array, dim: int, radix: int, *, normalise: bool = False) -> Array:
    """The digits of the position to any radix, the least significant first: digit i = floor(t/k^i) mod k.

    The sinusoidal code is its smooth relative: it replaces "mod k" by a wave, and k by base^(2/dim).

    Args:
        positions: below radix^dim.
        radix: k, at least 2. A larger one needs fewer dimensions and makes larger numbers.
        normalise: whether digits are divided by k − 1; they are in [0, 1] then, and a step is smaller.

    >>> radix([0, 407], 3, 10).tolist()
    [[0.0, 0.0, 0.0], [7.0, 0.0, 4.0]]
    """
    dim, radix = check_int("dim", dim), check_int("radix", radix, least=2)
    check_bool("normalise", normalise)
    at = _whole_positions(positions)
    end = min(radix**dim, 2**53)  # a power may be too long a number for the arrays; positions are below 2^53 anyway
    _below(end, at, positions, f"the last that dim = {dim} digits to radix {radix} can write")
    digits, rest = [], at
    for _ in range(dim):  # powers of the radix would be rounded; the remainder of a division is exact
        digits.append(rest % radix)
        rest = rest // radix
    code = namespace(at).stack(digits, axis=-1)
    return code / (radix - 1) if normalise else code


def harmonic(positions: Array, dim: int) -> Array:
    """Sines over 1, 2, 3, …: PE(t) = (sin(t/1), sin(t/2), …, sin(t/dim)), for any real positions.

    Dimension i has the period 2π·i. There are no cosines, and the product of two codes depends on where they are.

    >>> harmonic([0, 1], 3).round(3).tolist()
    [[0.0, 0.0, 0.0], [0.841, 0.479, 0.327]]
    """
    dim, at = check_int("dim", dim), as_float_array("positions", positions)
    xp = namespace(at)
    return xp.sin(at[..., None] / xp.arange(1, dim + 1, dtype=at.dtype, device=device_of(at)))


def dyadic(positions: Array, dim: int) -> Array:
    """Sines over powers of two: PE(t) = (sin(t/2^0), …, sin(t/2^(dim − 1))), for any real positions.

    Dimension i, counted from 0, has the period 2π·2^i: a smooth binary code. It has no cosines either.

    >>> dyadic([0, 1], 3).round(3).tolist()
    [[0.0, 0.0, 0.0], [0.841, 0.479, 0.247]]
    """
    dim, at = check_int("dim", dim), as_float_array("positions", positions)
    xp = namespace(at)
    return xp.sin(at[..., None] * 0.5 ** xp.arange(dim, dtype=at.dtype, device=device_of(at)))


def _sinusoidal_frequencies(dim: int, base: float, denominators: str, like: Array) -> Array:
    """One frequency for each sine of the code, shape (ceil(dim/2),)."""
    dim = check_int("dim", dim)
    if check_choice("denominators", denominators, DENOMINATORS) == "paper":
        # Every other frequency of twice the width is base^(−4i/(2·dim)) = base^(−2i/dim), for an odd width as well.
        return inv_freq(2 * dim, base, like=like)[::2]
    if dim % 2:
        raise ValueError(f"dim must be even with denominators='tensor2tensor', got {dim}")
    if dim == 2:
        return inv_freq(dim, base, like=like)
    # base^(−2i/(dim − 2)): the list of a code two narrower, and the end point 1/base that such a list leaves out.
    narrower = inv_freq(dim - 2, base, like=like)
    xp = namespace(narrower)
    return xp.concat([narrower, xp.ones_like(narrower[:1]) / base])


def sinusoidal(
    positions: Array,
    dim: int,
    base: float = 10_000.0,
    layout: str = "interleaved",
    *,
    denominators: str = "paper",
    like: Array = None,
) -> Array:
    """The sinusoidal code: PE(t, 2i) = sin(t·θ_i), PE(t, 2i + 1) = cos(t·θ_i) with θ_i = base^(−2i/dim).

    Rows of an even width have the length √(dim/2); the product of two, m apart, is (dim/2)·S(m), with S as in
    `posenc.analysis.decay`. An odd width stops after its last sine. TENER's relative code R_{t−j} is the code of the
    offset t − j (query minus key): its sines are odd and tell left from right, its cosines are even.

    Args:
        positions: any real numbers.
        denominators: "paper", or "tensor2tensor" for that library's θ_i = base^(−i/(dim/2 − 1)), whose last is
            exactly 1/base. For even widths only; dim 2 has the single frequency 1, whatever the base.

    Source: Vaswani et al. 2017, section 3.5. The relative reading: Yan et al. 2019 (TENER).

    >>> sinusoidal([0, 1], 4).round(3).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.841, 0.54, 0.01, 1.0]]
    """
    check_choice("layout", layout, LAYOUTS)
    at = as_float_array("positions", positions, like=check_like("like", like))
    turned = angles(at, _sinusoidal_frequencies(dim, base, denominators, at))  # (..., ceil(dim/2))
    xp = namespace(turned)
    sin, cos = xp.sin(turned), xp.cos(turned)
    if layout == "half":
        return xp.concat([sin, cos], axis=-1)[..., :dim]  # an odd width drops the last cosine
    return xp.reshape(xp.stack([sin, cos], axis=-1), (*at.shape, 2 * turned.shape[-1]))[..., :dim]


def shift_matrix(
    offset: Array, dim: int, base: float = 10_000.0, layout: str = "interleaved", *, like: Array = None
) -> Array:
    """The matrix M_k that moves a sinusoidal code by k tokens, wherever it stands: PE(t + k) = M_k·PE(t).

    On the plane (sin, cos) of pair i it is the block [[cos(k·θ_i), sin(k·θ_i)], [−sin(k·θ_i), cos(k·θ_i)]]: a clockwise
    turn there, the transpose of the rotary matrix R_k. M_{a+b} = M_a·M_b and M_{b−a} = M_aᵀ·M_b.

    Args:
        offset: k, any real numbers, any shape.
        dim: even, as the last sine of an odd width has no cosine.

    Returns float64, shape (*offset.shape, dim, dim), orthogonal.
    Source: Vaswani et al. 2017, section 3.5, says that PE(t + k) is a linear function of PE(t).

    >>> (shift_matrix(3, 4) @ sinusoidal(2, 4)).round(3).tolist()
    [-0.959, 0.284, 0.05, 0.999]
    >>> sinusoidal(5, 4).round(3).tolist()
    [-0.959, 0.284, 0.05, 0.999]
    """
    check_choice("layout", layout, LAYOUTS)
    by = as_float_array("offset", offset, like=check_like("like", like))
    turned = angles(by, inv_freq(dim, base, like=by))  # (..., dim/2)
    xp, device = namespace(turned), device_of(turned)
    pairs = xp.arange(dim // 2, device=device)
    diagonal = pairs[:, None] == pairs  # (dim/2, dim/2)
    cos = xp.where(diagonal, xp.cos(turned)[..., None], 0.0)  # (..., dim/2, dim/2)
    sin = xp.where(diagonal, xp.sin(turned)[..., None], 0.0)
    # 0 − sin and not −sin, which would fill the matrix with −0.
    matrix = xp.concat([xp.concat([cos, sin], axis=-1), xp.concat([0.0 - sin, cos], axis=-1)], axis=-2)
    if layout == "half":
        return matrix
    order = xp.reshape(xp.stack([pairs, pairs + dim // 2], axis=-1), (dim,))  # 0, dim/2, 1, dim/2 + 1, …
    return xp.take(xp.take(matrix, order, axis=-1), order, axis=-2)


def relative_positions(query_positions: Array, key_positions: Array) -> Array:
    """Where each key stands, seen from each query: key − query, the sign that T5's buckets use.

    Args:
        query_positions: any real numbers, shape (..., queries).
        key_positions: any real numbers, shape (..., keys), with the same leading axes.

    Returns float64, shape (..., queries, keys), in tokens; negative for keys to the left.

    >>> relative_positions([1, 2], [0, 1, 2]).tolist()
    [[-1.0, 0.0, 1.0], [-2.0, -1.0, 0.0]]
    """
    queries = as_float_array("query_positions", query_positions, like=key_positions)
    keys = as_float_array("key_positions", key_positions, like=query_positions)
    for name, array, given in (
        ("query_positions", queries, query_positions),
        ("key_positions", keys, key_positions),
    ):
        if array.ndim == 0:
            raise ValueError(f"{name} must have at least one axis, got {describe(given)}")
    check_leading_axes(queries, keys)
    return keys[..., None, :] - queries[..., :, None]


def learned(positions: Array, table: Array, *, past_end: str = "refuse", length: int | None = None) -> Array:
    """Rows of a learned table: PE(t) = table[t], and one of three answers to positions that it has no row for.

    Args:
        table: shape (rows, dim), not empty, any floating dtype. Gradients flow into it.
        past_end: for positions from `rows` on, "refuse" raises, "clamp" gives the last row. "interpolate" stretches
            the table over `length` positions: t reads it at t·(rows − 1)/(length − 1), on the line between two rows,
            the first and the last exactly; a text of one position reads the first row.
        length: at least 1, for "interpolate" alone; positions from there on are refused.

    Returns shape (*positions.shape, dim), in the dtype of `table` (interpolated in float64).

    >>> import numpy as np
    >>> table = np.array([[0.0], [2.0], [4.0]])
    >>> learned([0, 2], table).tolist()
    [[0.0], [4.0]]
    >>> learned([1, 4], table, past_end="interpolate", length=5).tolist()
    [[1.0], [4.0]]
    """
    if check_float_array("table", table).ndim != 2 or 0 in table.shape:
        raise ValueError(f"table must have shape (rows, dim), neither of them 0, got shape {tuple(table.shape)}")
    check_choice("past_end", past_end, PAST_END)
    if (past_end == "interpolate") != (length is not None):
        raise ValueError(
            f"length must be given with past_end='interpolate', and only there, got length={length!r} with {past_end!r}"
        )
    at, rows = _whole_positions(positions, like=table), table.shape[0]
    xp = namespace(at)
    if length is None:
        if past_end == "clamp":
            at = xp.clip(at, max=rows - 1)
        _below(rows, at, positions, f"the table has {rows} rows")
        return table[xp.astype(at, xp.int64)]
    length = check_int("length", length)
    _below(length, at, positions, f"the last of length = {length}")
    place = at * (rows - 1) / max(length - 1, 1)
    before = xp.floor(place)
    after = xp.clip(before + 1, max=rows - 1)
    first, second = (xp.astype(table[xp.astype(row, xp.int64)], place.dtype) for row in (before, after))
    return xp.astype(first + (place - before)[..., None] * (second - first), table.dtype)
