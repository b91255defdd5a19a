"""Rotary position embedding (RoPE): each dimension pair of a query or key is rotated by its position times a frequency.

    (a, b) at angle φ  →  (a·cos φ − b·sin φ, a·sin φ + b·cos φ),   φ = m·θ_i in radians

The layout says which dimensions make pair i: "half-split" takes i and i + d/2 (GPT-NeoX, Hugging Face's `rotate_half`,
and so almost every released model), "interleaved" takes 2i and 2i + 1 (RoFormer, GPT-J, Meta's own LLaMA code). Only
queries and keys are rotated, after their projections and in every layer.

An argument of the wrong kind, or arrays of two libraries, raise TypeError; an unknown name, a number out of its range
or a shape that does not fit raise ValueError. Source: Su et al. 2021, "RoFormer", section 3.2.2, equations (14), (15)
and (34).
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from posenc._arrays import (
    Array,
    ArrayT,
    Layout,
    as_float_array,
    cast_to,
    check_choice,
    check_even_dim,
    check_float_array,
    check_int,
    check_positive,
    check_rotary_dim,
    describe,
    device_of,
    is_concrete,
    is_torch,
    namespace,
    scipy_module,
    working_dtype,
)
from posenc.frequencies import angles as angles_of
from posenc.frequencies import inv_freq as geometric

LAYOUTS: tuple[Layout, Layout] = ("half-split", "interleaved")


class CosSin(NamedTuple):
    """Cosines and sines of the angles, shape (..., length, dim/2) each, computed once and used in every layer."""

    cos: Array
    sin: Array


def cos_sin(angles: Array, attention_factor: float = 1.0, *, dtype: Any = None) -> CosSin:
    """Cosines and sines of `angles`, computed in float64 where the device has it and rounded once, to `dtype`.

    Args:
        angles: shape (..., dim/2), in radians, as `posenc.frequencies.angles` makes them.
        attention_factor: greater than 0; multiplies both, and so every attention logit by its square: YaRN's attention
            temperature (Peng et al. 2023, section 3.4).
        dtype: a floating dtype of the library of `angles`; None: float64.

    >>> cos_sin(np.array([0.0, np.pi])).cos.tolist()
    [1.0, -1.0]
    """
    phi = as_float_array("angles", angles)
    if phi.ndim == 0:
        raise ValueError(f"angles must have shape (..., dim/2), got {describe(angles, phi.shape)}")
    return _cos_sin(phi, check_positive("attention_factor", attention_factor), dtype)


def _cos_sin(phi: Array, attention_factor: float, dtype: Any) -> CosSin:
    xp = namespace(phi)
    cos, sin = xp.cos(phi), xp.sin(phi)
    if attention_factor != 1:
        cos, sin = cos * attention_factor, sin * attention_factor
    return CosSin(cos, sin) if dtype is None else CosSin(cast_to(cos, dtype), cast_to(sin, dtype))


def rotate(
    x: ArrayT,
    angles: Array | tuple[Array, Array],
    layout: Layout = "half-split",
    *,
    rotary_dim: int | None = None,
    out: Any = None,
) -> ArrayT:
    """Rotates every dimension pair of `x` by its angle.

    Runs as one call under torch.compile, where the compiler makes a single pass over memory: for speed, compile.
    bfloat16 and float16 are rotated in float32 and rounded once. Where cos and sin are in the dtype of x, so is the
    arithmetic, as in transformers: half-split takes half the time in bfloat16 then, at 1.4 times the error (RMS).

    Args:
        x: shape (..., dim), queries or keys, of any floating dtype.
        angles: in radians, shape (dim/2,) for one position or (length, dim/2) for x of shape (..., length, dim); any
            other shape has as many axes as x, of its sizes or 1: `angles[:, None, :]` of (length, dim/2) for (length,
            heads, dim), `angles[:, None]` of (batch, length, dim/2) for (batch, heads, length, dim). Or a pair (cos,
            sin) of arrays of such a shape.
        layout: "half-split" or "interleaved".
        rotary_dim: how many of the first dimensions are rotated (partial rotary); None: all of them.
        out: a torch tensor like x that takes the result, x itself or memory apart from it. No gradient flows then.

    Returns shape and dtype of `x`. Every pair keeps its length, times the attention factor in (cos, sin).
    Source: Su et al. 2021, equation (34).

    >>> phi = np.array([[0.0], [np.pi / 2]])  # (length, dim/2)
    >>> rotate(np.array([[1.0, 0.0], [1.0, 0.0]]), phi).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    cos, sin = _fitted(angles, x, layout, rotary_dim)
    width = 2 * cos.shape[-1]
    if out is not None:
        return cast("ArrayT", _rotate_into(out, x, cos, sin, layout, width))
    if width == x.shape[-1]:
        return cast("ArrayT", _rotate(x, cos, sin, layout))
    rotated = _rotate(x[..., :width], cos, sin, layout)  # type: ignore[index]
    return cast("ArrayT", namespace(x).concat([rotated, x[..., width:]], axis=-1))  # type: ignore[index]


def rope(
    x: ArrayT, positions: Array, layout: Layout, base: float = 10_000.0, *, inv_freq: Array | None = None
) -> ArrayT:
    """`rotate` by the angles of `positions`, m·θ_i: RoPE in one call.

    `posenc.rope.Rope` also rotates a part of each head, reads a model's config and takes positions of several axes.

    Args:
        x: shape (..., length, dim), queries or keys, of any floating dtype.
        positions: in tokens, shape (length,), or one number for all tokens. For sequences with positions of their own
            they have all axes of x but the last, of its sizes or 1: `positions[:, None]` of (batch, length) for
            (batch, heads, length, dim).
        layout: "half-split" or "interleaved".
        base: of the frequencies θ_i = base^(−2i/dim); finite and greater than 0.
        inv_freq: shape (dim/2,), in radians per token: these frequencies in place of those of `base`.

    Returns shape and dtype of `x`. Every pair keeps its length.
    Source: Su et al. 2021, equations (15) and (34).

    >>> x = np.array([[1.0, 0.0], [1.0, 0.0]])  # (length, dim)
    >>> rope(x, [0, 2], "interleaved", inv_freq=[np.pi / 4]).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    check_float_array("x", x)
    width = check_rotary_dim("x", None, x.shape[-1])
    theta = geometric(width, base, like=x) if inv_freq is None else as_float_array("inv_freq", inv_freq, like=x)
    cos, sin = _fitted(angles_of(positions, theta), x, layout, name="angles (positions × inv_freq)")
    return cast("ArrayT", _rotate(x, cos, sin, layout))


def rotate_complex(x: ArrayT, angles: Array | tuple[Array, Array], layout: Layout = "half-split") -> ArrayT:
    """`rotate` as a product of complex numbers, (a + i·b)·e^{iφ}: the same to rounding.

    >>> rotate_complex(np.array([1.0, 0.0]), [np.pi / 2]).round(2).tolist()
    [0.0, 1.0]
    """
    cos, sin = _fitted(angles, x, layout)
    xp = namespace(x, cos)
    cos, sin = (xp.astype(part, working_dtype(x), copy=False) for part in (cos, sin))
    first, second = _pairs(xp.astype(x, cos.dtype, copy=False), layout)
    product = (first + 1j * second) * (cos + 1j * sin)
    return cast("ArrayT", xp.astype(_joined(xp.real(product), xp.imag(product), layout), x.dtype, copy=False))


def rotate_matrix(x: ArrayT, angles: Array | tuple[Array, Array], layout: Layout = "half-split") -> ArrayT:
    """`rotate` as a product with the block-diagonal rotation matrix, d² products a vector: the same to rounding.

    >>> rotate_matrix(np.array([1.0, 0.0]), [np.pi / 2]).round(2).tolist()
    [0.0, 1.0]
    """
    cos, sin = _fitted(angles, x, layout)
    xp = namespace(x, cos)
    rotated = (_matrix(cos, sin, layout) @ xp.astype(x, cos.dtype, copy=False)[..., None])[..., 0]
    return cast("ArrayT", xp.astype(rotated, x.dtype, copy=False))


def rotation_matrix(angles: Array, layout: Layout = "half-split") -> Array:
    """The rotation of all pairs as one matrix R of d/2 blocks [[cos, −sin], [sin, cos]]. For looking at and for proofs.

    R(m)ᵀ R(n) = R(n − m): positions of a query and a key leave only their difference in qᵀ R(m)ᵀ R(n) k. The
    interleaved layout has the blocks on the diagonal; the half-split one joins dimensions i and i + dim/2.

    `angles` have the shape (..., dim/2), in radians. Returns float64, shape (..., dim, dim).
    Source: Su et al. 2021, equation (15).

    >>> rotation_matrix(np.array([np.pi / 2])).round(2).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    check_choice("layout", layout, LAYOUTS)
    return _matrix(*cos_sin(angles), layout)


def pair_scores(q: ArrayT, k: ArrayT, angles: Array, layout: Layout = "half-split") -> ArrayT:
    """What each pair adds to the attention score of a query and a key, given the angles between them; (..., dim/2).

    For the pair (q₁, q₂) and (k₁, k₂), with φ = (m − n)·θ_i for a query at m and a key at n:

        (q₁k₁ + q₂k₂)·cos φ + (q₁k₂ − q₂k₁)·sin φ

    Args:
        q, k: shape (..., dim) each, before rotation.
        angles: those of m − n, in radians; shape (dim/2,), or (..., dim/2) with the other axes of q.

    Source: Su et al. 2021, equations (12) and (13), for d = 2.

    >>> q = k = np.array([1.0, 0.0])
    >>> pair_scores(q, k, np.array([np.pi / 3])).round(2).tolist()
    [0.5]
    """
    check_float_array("q", q)
    check_float_array("k", k)
    check_choice("layout", layout, LAYOUTS)
    if tuple(q.shape) != tuple(k.shape):
        raise ValueError(f"k must have the shape of q, {tuple(q.shape)}, got {tuple(k.shape)}")
    dim = check_even_dim(q.shape[-1])
    phi = as_float_array("angles", angles, like=q)
    if tuple(phi.shape) not in {(dim // 2,), (*q.shape[:-1], dim // 2)}:
        raise ValueError(f"angles must have shape {(*q.shape[:-1], dim // 2)}, got {tuple(phi.shape)}")
    xp = namespace(q, k, phi)
    (q1, q2), (k1, k2) = _pairs(q, layout), _pairs(k, layout)
    return cast("ArrayT", (q1 * k1 + q2 * k2) * xp.cos(phi) + (q1 * k2 - q2 * k1) * xp.sin(phi))


def layout_permutation(dim: int) -> list[int]:
    """The order of dimensions that takes the interleaved layout to the half-split one: 0, 2, 4, …, 1, 3, 5, ….

    With it, `rotate(x[..., order], φ, "half-split")` equals `rotate(x, φ, "interleaved")[..., order]`.

    >>> layout_permutation(6)
    [0, 2, 4, 1, 3, 5]
    """
    dim = check_even_dim(dim)
    return [*range(0, dim, 2), *range(1, dim, 2)]


def convert_projection(
    weight: ArrayT, n_heads: int, head_dim: int, to: Layout, *, rotary_dim: int | None = None
) -> ArrayT:
    """Reorders the rows of a query or key projection, for a checkpoint of one layout to run in the other.

    Scores stay what they were if W_Q and W_K and their biases are converted; W_V and W_O are left alone.

    Args:
        weight: shape (n_heads·head_dim, hidden), or (n_heads·head_dim,) for a bias; any dtype, which is kept. A fused
            W_QKV has more rows and is refused: split it first.
        n_heads: heads in this projection; with grouped-query attention, W_K has fewer than W_Q.
        head_dim: width of a head.
        to: "half-split" (from interleaved) or "interleaved" (from half-split).
        rotary_dim: how many of the first dimensions of each head are rotated (partial rotary); None: all of them.

    >>> convert_projection(np.array([0.0, 1.0, 2.0, 3.0]), n_heads=1, head_dim=4, to="half-split").tolist()
    [0.0, 2.0, 1.0, 3.0]
    """
    n_heads, head_dim = check_int("n_heads", n_heads), check_int("head_dim", head_dim)
    check_choice("to", to, LAYOUTS)
    check_float_array("weight", weight)
    if len(weight.shape) > 2 or weight.shape[0] != n_heads * head_dim:
        raise ValueError(
            f"weight must have shape (n_heads·head_dim, hidden) or (n_heads·head_dim,), {n_heads * head_dim} rows for "
            f"n_heads={n_heads} and head_dim={head_dim}; got shape {tuple(weight.shape)}. Split a fused projection, "
            "transpose one of shape (hidden, n_heads·head_dim), and pass the number of key heads with W_K"
        )
    width = check_rotary_dim("head_dim", rotary_dim, head_dim)
    order = np.asarray(layout_permutation(width))
    if to == "interleaved":
        order = np.argsort(order)
    order = np.concatenate([order, np.arange(width, head_dim)])
    rows = (np.arange(n_heads)[:, None] * head_dim + order).reshape(-1)
    xp = namespace(weight)
    return cast("ArrayT", xp.take(weight, xp.asarray(rows, device=device_of(weight)), axis=0))


def xpos_cos_sin(
    positions: Array, inv_freq: Array, *, gamma: float = 0.4, scale_base: float = 512.0, dtype: Any = None
) -> tuple[CosSin, CosSin]:
    """xPos: (cos, sin) for queries and for keys, with a length that shrinks or grows with the position.

    Pair i of a query at m is rotated and multiplied by ζ_i^(m/scale_base), that of a key at n divided by
    ζ_i^(n/scale_base), with ζ_i = (2i/d + γ)/(1 + γ). The score has the factor ζ_i^((m − n)/scale_base) in pair i: it
    depends on m − n alone, and high-frequency pairs decay with distance. Vectors do not keep their length.

    Args:
        positions: shape (..., length), in tokens. Only differences count: subtract a common origin from large ones, as
            a factor that leaves the range of float32 raises ValueError.
        inv_freq: shape (dim/2,), in radians per token.
        gamma: γ, greater than 0.
        scale_base: tokens over which pair i shrinks by ζ_i, greater than 0.
        dtype: as for `cos_sin`.

    Returns (cos, sin) for queries and (cos, sin) for keys, shape (..., length, dim/2), for `rotate`.
    Source: Sun et al. 2022, "A Length-Extrapolatable Transformer", section 2.

    >>> for_q, for_k = xpos_cos_sin(np.array([0, 512]), np.array([1.0]))
    >>> np.hypot(*for_q).round(3).tolist(), np.hypot(*for_k).round(3).tolist()
    ([[1.0], [0.286]], [[1.0], [3.5]])
    """
    gamma, scale_base = check_positive("gamma", gamma), check_positive("scale_base", scale_base)
    phi = angles_of(positions, inv_freq)  # (..., length, dim/2)
    m = as_float_array("positions", positions, like=inv_freq)[..., None]
    xp = namespace(phi)
    pairs = phi.shape[-1]
    zeta = (xp.arange(pairs, dtype=phi.dtype, device=device_of(phi)) / pairs + gamma) / (1 + gamma)
    exponent = xp.log(zeta) * m / scale_base
    if is_concrete(exponent) and bool(xp.any(xp.abs(exponent) > 87.0)):  # ln of the largest float32 is 88.7
        raise ValueError(
            f"positions must stay where xPos fits float32: subtract a common origin, got {describe(positions)}"
        )
    cos, sin = _cos_sin(phi, 1.0, None)
    scale = xp.exp(exponent)
    of_queries, of_keys = CosSin(cos * scale, sin * scale), CosSin(cos / scale, sin / scale)
    if dtype is not None:
        of_queries, of_keys = (CosSin(*(cast_to(part, dtype) for part in both)) for both in (of_queries, of_keys))
    return of_queries, of_keys


def plane_rotations(rotation: Array) -> tuple[Array, Array]:
    """Decomposes any rotation of n dimensions into rotations of planes: rotation = B · R(φ) · Bᵀ.

    In the orthonormal basis B it rotates ⌊n/2⌋ planes, each by its own angle, and leaves one axis alone where n is odd:
    what RoPE does is, up to a change of basis, all that a rotation can do.

    `rotation` is NumPy, shape (n, n), orthogonal with determinant +1. Returns B, shape (n, n), whose columns 2j and 2j
    + 1 span plane j, and the angles, shape (n // 2,), in radians, from −π to π.

    >>> basis, angles = plane_rotations(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> abs(angles).round(3).tolist()  # a quarter of a full rotation, and an axis left alone
    [1.571]
    """
    matrix = as_float_array("rotation", rotation)
    if not isinstance(matrix, np.ndarray):
        raise TypeError(f"rotation must be a NumPy array, got {type(rotation).__name__}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"rotation must have shape (n, n), got {matrix.shape}")
    size = matrix.shape[0]
    if not np.allclose(matrix @ matrix.T, np.eye(size), atol=1e-8) or np.linalg.det(matrix) < 0:
        raise ValueError(f"rotation must be orthogonal with determinant 1, got {describe(rotation)}")
    # A real Schur form of an orthogonal matrix is made of blocks [[c, −s], [s, c]] and of single numbers ±1.
    form, basis = scipy_module("linalg").schur(matrix, output="real")
    in_block = np.append(np.abs(np.diag(form, -1)) > 1e-8, False)  # whether entry j begins a block
    firsts = np.flatnonzero(in_block)
    single = np.setdiff1d(np.arange(size), [firsts, firsts + 1])
    single = single[np.argsort(np.diag(form)[single])]  # the −1s, of which there is an even number, come first
    planes = np.concatenate([np.stack([firsts, firsts + 1], axis=-1), single[: len(single) // 2 * 2].reshape(-1, 2)])
    order = np.concatenate([planes.reshape(-1), single[len(single) // 2 * 2 :]])
    return basis[:, order], np.arctan2(form[planes[:, 1], planes[:, 0]], form[planes[:, 0], planes[:, 0]])


def _fitted(
    angles: Array | tuple[Array, Array],
    x: Array,
    layout: str,
    rotary_dim: int | None = None,
    *,
    name: str = "angles",
) -> tuple[Array, Array]:
    """Cosines and sines in the dtype of the arithmetic, after checking all arguments of a rotation."""
    check_float_array("x", x)
    check_choice("layout", layout, LAYOUTS)
    width = check_rotary_dim("x", rotary_dim, x.shape[-1])
    dtype = working_dtype(x)
    if isinstance(angles, list | tuple) and any(getattr(part, "ndim", 0) for part in angles):
        if not isinstance(angles, tuple) or len(angles) != 2:
            raise TypeError(f"angles must be an array, or a pair (cos, sin) of arrays, got {describe(angles)}")
        name = "(cos, sin)"
        cos, sin = check_float_array("cos", angles[0]), check_float_array("sin", angles[1])
        xp = namespace(x, cos, sin)
        if tuple(cos.shape) != tuple(sin.shape):
            raise ValueError(f"cos and sin must have one shape, got {tuple(cos.shape)} and {tuple(sin.shape)}")
        if not cos.dtype == sin.dtype == x.dtype:
            cos, sin = xp.astype(cos, dtype, copy=False), xp.astype(sin, dtype, copy=False)
    else:
        phi = as_float_array(name, angles, like=x)
        if phi.ndim == 0:
            raise ValueError(f"{name} must have shape (..., dim/2), got {describe(angles)}")
        namespace(x, phi)
        cos, sin = _cos_sin(phi, 1.0, dtype)
    shape, of_x = tuple(cos.shape), tuple(x.shape)
    if shape[-1] != width // 2:
        twice = ": one number for each pair, as in cos[..., : dim // 2]" if shape[-1] == width else ""
        raise ValueError(
            f"{name} must have width {width // 2} for the {width} dimensions that are rotated, got shape {shape}{twice}"
        )
    aligned = of_x[len(of_x) - len(shape) : -1]
    if len(shape) > len(of_x) or 2 < len(shape) < len(of_x):  # a batch could be taken for heads
        raise ValueError(
            f"{name} must have shape (dim/2,), (length, dim/2) or as many axes as x of shape {of_x}, got shape {shape}"
        )
    if any(size not in (1, expected) for size, expected in zip(shape[:-1], aligned, strict=True)):
        raise ValueError(f"{name} of shape {shape} must broadcast along x of shape {of_x}: sizes of x, or 1")
    return cos, sin


def _rotate(x: Array, cos: Array, sin: Array, layout: str) -> Array:
    """Rotates all dimensions of `x`, (..., dim), by cosines and sines, (..., dim/2), in their dtype."""
    eager = is_torch(x) and is_concrete(x) and is_concrete(cos)  # neither compiled nor mapped
    if eager and (layout == "half-split" or cos.dtype == working_dtype(x)):  # complex numbers have no 16 bits
        return _rotate_torch(x.to(cos.dtype), cos, sin, layout).to(x.dtype)
    xp = namespace(x)
    first, second = _pairs(xp.astype(x, cos.dtype, copy=False), layout)
    rotated = _joined(first * cos - second * sin, first * sin + second * cos, layout)
    return xp.astype(rotated, x.dtype, copy=False)


def _rotate_torch(x: Any, cos: Any, sin: Any, layout: str) -> Any:
    """The same with fewer passes over memory than the formula takes in eager mode; both are differentiable."""
    import torch

    if layout == "interleaved":
        pairs = x.unflatten(-1, (-1, 2))
        if x.stride(-1) != 1 or any(step % 2 for step in (*x.stride()[:-1], x.storage_offset())):
            pairs = pairs.clone(memory_format=torch.contiguous_format)  # cannot be seen as complex where it lies
        return torch.view_as_real(torch.view_as_complex(pairs) * torch.complex(cos, sin)).flatten(-2)
    swapped = x.roll(x.shape[-1] // 2, -1)  # the other member of each pair
    return swapped.mul_(torch.cat([-sin, sin], -1)).addcmul_(x, torch.cat([cos, cos], -1))


def _rotate_into(out: Any, x: Any, cos: Any, sin: Any, layout: str, width: int) -> Any:
    """Rotates the first `width` dimensions of `x` into `out`, which may be x, and copies the others."""
    if not (is_torch(out) and is_torch(x)):
        raise TypeError(f"x and out must be torch tensors, got {describe(x)} and {describe(out)}")
    if (out.shape, out.dtype, out.device) != (x.shape, x.dtype, x.device):
        expected, given = (f"{tuple(one.shape)}, {one.dtype}, on {one.device}" for one in (x, out))
        raise ValueError(f"out must be like x, {expected}, got {given}")
    import torch

    if torch.is_grad_enabled() and any(one.requires_grad for one in (x, out, cos, sin)):
        raise ValueError("out must be None where gradients are wanted, got a tensor; torch.no_grad() asks for none")
    first, second = _pairs(x[..., :width].to(cos.dtype), layout)
    into_first, into_second = _pairs(out[..., :width], layout)
    rotated = first * cos - second * sin  # half of x in memory beside out
    into_second.copy_(first * sin + second * cos)
    into_first.copy_(rotated)
    if out is not x:
        out[..., width:].copy_(x[..., width:])
    return out


def _pairs(x: Array, layout: str) -> tuple[Array, Array]:
    """The first and the second members of all pairs, (..., dim/2) each."""
    if layout == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    middle = x.shape[-1] // 2
    return x[..., :middle], x[..., middle:]


def _joined(first: Array, second: Array, layout: str) -> Array:
    """The inverse of `_pairs`."""
    xp = namespace(first)
    if layout == "half-split":
        return xp.concat([first, second], axis=-1)
    return xp.reshape(xp.stack([first, second], axis=-1), (*first.shape[:-1], 2 * first.shape[-1]))


def _matrix(cos: Array, sin: Array, layout: str) -> Array:
    """The matrices, (..., dim, dim), of the rotations that `cos` and `sin`, (..., dim/2), describe."""
    xp = namespace(cos)
    unit = xp.eye(cos.shape[-1], dtype=cos.dtype, device=device_of(cos))
    firsts = _joined(cos[..., None] * unit, -sin[..., None] * unit, layout)  # rows of first members: (..., dim/2, dim)
    seconds = _joined(sin[..., None] * unit, cos[..., None] * unit, layout)
    if layout == "half-split":
        return xp.concat([firsts, seconds], axis=-2)
    return xp.reshape(xp.stack([firsts, seconds], axis=-2), (*cos.shape[:-1], 2 * cos.shape[-1], 2 * cos.shape[-1]))
