"""Absolute positional encodings, added to the input embeddings: integer, binary, sinusoidal, learned.

The functions take positions in tokens, integers from 0 to below 2^53 where nothing else is said, of any shape, and
return one more axis, `dim` ≥ 1 numbers wide: shape (*positions.shape, dim). They compute in float64 and round once.
Other arguments, where they occur:

    base     of the frequencies base^(−2i/dim), finite and greater than 0
    layout   "interleaved" (sine, cosine, sine, …; the paper) or "half-split" (all sines, then all cosines)
    like     an array whose library and device the answer takes where positions are numbers or lists
    dtype    of the answer, a floating dtype; None: the library's default, float32 in torch, float64 in NumPy

An argument of the wrong kind, or arrays of two libraries, raise TypeError; one out of its range or of another shape
raises ValueError. Pair i of the sinusoidal encoding is the point (sin(t·θ_i), cos(t·θ_i)) with the θ_i of
`posenc.frequencies`.
"""

from __future__ import annotations

from typing import Any, Literal

from posenc._arrays import (
    Array,
    Layout,
    as_float_array,
    cast_to,
    check_bool,
    check_choice,
    check_float_array,
    check_int,
    check_integers,
    check_leading_axes,
    check_like,
    check_positions,
    describe,
    device_of,
    is_compiling,
    namespace,
)
from posenc.frequencies import angles, inv_freq

LAYOUTS: tuple[Layout, Layout] = ("interleaved", "half-split")
DENOMINATORS = ("paper", "tensor2tensor")
PAST_END = ("refuse", "clamp", "interpolate")


def _integer_positions(positions: Array, *, like: Array = None) -> Array:
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


def integer(positions: Array, dim: int, *, dtype: Any = None) -> Array:
    """The position itself, on every dimension: PE(t) = (t, …, t). It drowns the embedding it is added to.

    >>> integer([0, 5], 2).tolist()
    [[0.0, 0.0], [5.0, 5.0]]
    """
    dim, at = check_int("dim", dim), _integer_positions(positions)
    xp = namespace(at)
    return cast_to(at[..., None] * xp.ones(dim, dtype=at.dtype, device=device_of(at)), dtype)


def normalised(positions: Array, length: int, dim: int, *, dtype: Any = None) -> Array:
    """The share of the text before the position, on every dimension: PE(t) = (t/L, …, t/L), for t < L = length ≥ 1.

    One step is 1/L: the same distance looks different in texts of two lengths.

    >>> normalised([0, 5], 10, 2).tolist()
    [[0.0, 0.0], [0.5, 0.5]]
    """
    length, at = check_int("length", length), _integer_positions(positions)
    _below(length, at, positions, f"the last of length = {length}")
    xp = namespace(at)
    share = at[..., None] / length * xp.ones(check_int("dim", dim), dtype=at.dtype, device=device_of(at))
    return cast_to(share, dtype)


def binary(positions: Array, dim: int, *, dtype: Any = None) -> Array:
    """The position below 2^dim in binary, the least significant bit first: bit i = (t >> i) & 1; `radix` with radix 2.

    Bit i toggles every 2^i tokens and has the period 2^(i+1). Neighbours can differ in every bit, as 7 and 8 do.

    >>> binary([1, 6], 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """
    return radix(positions, dim, 2, dtype=dtype)


def radix(positions: Array, dim: int, radix: int, *, normalise: bool = False, dtype: Any = None) -> Array:
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
    at = _integer_positions(positions)
    end = min(radix**dim, 2**53)  # a power may be too long a number for the arrays; positions are below 2^53 anyway
    _below(end, at, positions, f"the last that dim = {dim} digits to radix {radix} can write")
    digits, rest = [], at
    for _ in range(dim):  # powers of the radix would be rounded; the remainder of a division is exact
        digits.append(rest % radix)
        rest = rest // radix
    code = namespace(at).stack(digits, axis=-1)
    return cast_to(code / (radix - 1) if normalise else code, dtype)


def harmonic(positions: Array, dim: int, *, dtype: Any = None) -> Array:
    """Sines over 1, 2, 3, …: PE(t) = (sin(t/1), sin(t/2), …, sin(t/dim)), for any real positions.

    Dimension i has the period 2π·i. There are no cosines, and the product of two codes depends on where they are.

    >>> harmonic([0, 1], 3).round(3).tolist()
    [[0.0, 0.0, 0.0], [0.841, 0.479, 0.327]]
    """
    dim, at = check_int("dim", dim), as_float_array("positions", positions)
    xp = namespace(at)
    return cast_to(xp.sin(at[..., None] / xp.arange(1, dim + 1, dtype=at.dtype, device=device_of(at))), dtype)


def dyadic(positions: Array, dim: int, *, dtype: Any = None) -> Array:
    """Sines over powers of two: PE(t) = (sin(t/2^0), …, sin(t/2^(dim − 1))), for any real positions.

    Dimension i, counted from 0, has the period 2π·2^i: a smooth binary code. It has no cosines either.

    >>> dyadic([0, 1], 3).round(3).tolist()
    [[0.0, 0.0, 0.0], [0.841, 0.479, 0.247]]
    """
    dim, at = check_int("dim", dim), as_float_array("positions", positions)
    xp = namespace(at)
    return cast_to(xp.sin(at[..., None] * 0.5 ** xp.arange(dim, dtype=at.dtype, device=device_of(at))), dtype)


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
    layout: Layout = "interleaved",
    *,
    denominators: Literal["paper", "tensor2tensor"] = "paper",
    like: Array = None,
    dtype: Any = None,
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
    at = check_positions(positions, like=check_like("like", like))
    phi = angles(at, _sinusoidal_frequencies(dim, base, denominators, at))  # (..., ceil(dim/2))
    xp = namespace(phi)
    sin, cos = cast_to(xp.sin(phi), dtype), cast_to(xp.cos(phi), dtype)
    if layout == "half-split":
        return xp.concat([sin, cos], axis=-1)[..., :dim]  # an odd width drops the last cosine
    return xp.reshape(xp.stack([sin, cos], axis=-1), (*at.shape, 2 * phi.shape[-1]))[..., :dim]


def timestep_embedding(
    timesteps: Array,
    dim: int,
    base: float = 10_000.0,
    *,
    convention: Literal["ddpm", "adm"] = "ddpm",
    like: Array = None,
    dtype: Any = None,
) -> Array:
    """The sinusoidal embedding of a diffusion model's timestep, all sines beside all cosines, in either convention.

    Args:
        timesteps: any real numbers, of any shape; multiplied before by what diffusers calls scale.
        dim: at least 3; an odd width ends in a zero.
        base: max_period in diffusion code.
        convention: "ddpm" has sines first and frequencies base^(−i/(dim/2 − 1)), whose last is exactly 1/base
            (diffusers: flip_sin_to_cos=False, downscale_freq_shift=1). "adm" has cosines first and base^(−i/(dim/2)),
            as guided-diffusion, Stable Diffusion and DiT do (flip_sin_to_cos=True, downscale_freq_shift=0).

    Source: Ho et al. 2020, "Denoising Diffusion Probabilistic Models", appendix B; Dhariwal and Nichol 2021,
    "Diffusion Models Beat GANs on Image Synthesis", and the code released with both.

    >>> timestep_embedding([0, 1], 4, convention="adm").round(3).tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.54, 1.0, 0.841, 0.01]]
    """
    check_choice("convention", convention, ("ddpm", "adm"))
    t = check_positions(timesteps, like=check_like("like", like), name="timesteps")
    pairs = check_int("dim", dim, 3) // 2
    theta = _sinusoidal_frequencies(2 * pairs, base, "tensor2tensor" if convention == "ddpm" else "paper", t)
    xp = namespace(t)
    phi = angles(t, theta)  # (..., pairs)
    parts = [xp.sin(phi), xp.cos(phi)] if convention == "ddpm" else [xp.cos(phi), xp.sin(phi)]
    parts += [xp.zeros_like(phi[..., :1])] * (dim % 2)
    return cast_to(xp.concat(parts, axis=-1), dtype)


def shift_matrix(
    offset: Array, dim: int, base: float = 10_000.0, layout: Layout = "interleaved", *, like: Array = None
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
    angle = angles(by, inv_freq(dim, base, like=by))  # (..., dim/2)
    xp, device = namespace(angle), device_of(angle)
    pairs = xp.arange(dim // 2, device=device)
    diagonal = pairs[:, None] == pairs  # (dim/2, dim/2)
    cos = xp.where(diagonal, xp.cos(angle)[..., None], 0.0)  # (..., dim/2, dim/2)
    sin = xp.where(diagonal, xp.sin(angle)[..., None], 0.0)
    # 0 − sin and not −sin, which would fill the matrix with −0.
    matrix = xp.concat([xp.concat([cos, sin], axis=-1), xp.concat([0.0 - sin, cos], axis=-1)], axis=-2)
    if layout == "half-split":
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
    for name, array, given in (("query_positions", queries, query_positions), ("key_positions", keys, key_positions)):
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
    at, rows = _integer_positions(positions, like=table), table.shape[0]
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
