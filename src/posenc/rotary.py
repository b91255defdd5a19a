"""Rotary position encoding: each pair of a query or a key is turned by its position times its frequency.

    (a, b) at angle φ  →  (a·cos φ − b·sin φ, a·sin φ + b·cos φ),   φ = m·θ_i in radians

Two layouts say which dimensions make pair i: "interleaved" takes 2i and 2i + 1 (RoFormer, LLaMA's own code), "half"
takes i and i + d/2 (GPT-NeoX, Hugging Face). Three methods agree to rounding: matrices, element by element, and a
product of complex numbers. Only queries and keys are turned, after their projections and in every layer.

What is of the wrong kind, or of two libraries, raises TypeError; an unknown name, a number out of its range, or a width
or axes that do not fit, ValueError. Source: Su et al. 2021, "RoFormer", section 3.2.2, equations (14), (15) and (34).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from posenc._arrays import (
    Array,
    as_float_array,
    check_choice,
    check_even_dim,
    check_float_array,
    check_int,
    check_positive,
    check_rotary_dim,
    describe,
    device_of,
    is_compiling,
    is_concrete,
    is_torch,
    namespace,
    scipy_module,
)
from posenc.frequencies import angles as make_angles

LAYOUTS = ("interleaved", "half")
METHODS = ("elementwise", "complex", "matrix")
COMPILED = "compiled"  # a method for torch tensors
ODD = ("leave", "pad")


class _Table(NamedTuple):
    cos: Array
    sin: Array
    length_axis: int | None = None


class RotaryTable(_Table):
    """Cosines and sines of a set of angles, made once and used for queries and keys in every layer.

    Attributes:
        cos, sin: shape (..., length, dim/2); a factor may be multiplied into both.
        length_axis: the axis of x, from its end, that counts the tokens: −2 for (batch, heads, length, dim), −3 for
            (batch, length, heads, dim). None: the table has as many axes as x.

    >>> table = rotary_table(np.zeros((5, 32)), length_axis=-2)
    >>> table[2:].cos.shape
    (3, 32)
    """

    def __getitem__(self, tokens: Any) -> Any:
        """`table[start:stop]` is the table of these tokens; a number picks a field, as of any tuple."""
        if not isinstance(tokens, slice):
            return tuple(self)[tokens]
        return self._replace(cos=self.cos[..., tokens, :], sin=self.sin[..., tokens, :])

    def to(self, *target: Any, **named: Any) -> RotaryTable:
        """The table on another device or in another dtype, of torch: what `torch.Tensor.to` takes.

        Raises:
            TypeError: the table is not torch's.

        >>> import torch
        >>> rotary_table(torch.zeros(5, 32), length_axis=-2).to(torch.float32).cos.dtype
        torch.float32
        """
        if not is_torch(self.cos):
            raise TypeError(f"to is for tables of torch tensors, got {type(self.cos).__name__}")
        return self._replace(cos=self.cos.to(*target, **named), sin=self.sin.to(*target, **named))


def rotary_table(
    angles: Array, attention_factor: float = 1.0, *, length_axis: int | None = None, like: Array = None
) -> RotaryTable:
    """Cosines and sines of `angles`, computed in float64 where the device has it and cast at the end.

    Args:
        angles: shape (..., length, dim/2), in radians, as `posenc.frequencies.angles` makes them.
        attention_factor: greater than 0; multiplies cosines and sines alike, and so every score by its square: YaRN's
            temperature (Peng et al. 2023, section 3.4).
        length_axis: the axis of x, from its end and at most −2, to which the length of `angles` belongs. Axes of
            `angles` before it belong to the first axes of x: with positions of shape (batch, length), each sequence has
            its own, with (1, length) all have the same. None: `angles` has as many axes as x.
        like: queries or keys, whose library, device and working precision the table takes: their dtype, or float32
            where that is bfloat16 or float16. None: float64, cast at every use.

    >>> table = rotary_table(np.array([[0.0], [np.pi / 2]]), length_axis=-2)  # two tokens, one pair
    >>> x = np.ones((8, 2, 2))  # (heads, length, dim)
    >>> rotate(x, table)[0].round(2).tolist()
    [[1.0, 1.0], [-1.0, 1.0]]
    """
    turned = as_float_array("angles", angles, like=like)
    if turned.ndim < (1 if length_axis is None else 2):
        raise ValueError(f"angles must have shape (..., length, dim/2), got {describe(angles, turned.shape)}")
    if length_axis is not None and (isinstance(length_axis, bool) or not isinstance(length_axis, int)):
        raise TypeError(f"length_axis must be a whole number or None, got {describe(length_axis)}")
    if length_axis is not None and length_axis > -2:
        raise ValueError(f"length_axis counts from the end and must be at most -2, got {length_axis}")
    factor = check_positive("attention_factor", attention_factor)
    xp = namespace(turned)
    table = RotaryTable(factor * xp.cos(turned), factor * xp.sin(turned), length_axis)
    return table if like is None else _cast(table, _working_dtype(check_float_array("like", like)), xp)


def rotate(
    x: Array,
    angles_or_table: Array | RotaryTable,
    layout: str = "interleaved",
    method: str | None = None,
    *,
    rotary_dim: int | None = None,
    odd: str | None = None,
    out: Array = None,
) -> Array:
    """Turns every pair of `x` by its angle.

    Which axis of x counts tokens cannot be seen in shapes: a (length, dim/2) table also fits (batch, length, heads,
    dim) where there are as many heads as tokens, and turns by the wrong thing. So the table has to say it
    (`rotary_table(…, length_axis=−2)`), or to have as many axes as x. What runs when `method` is None or "compiled":

        x                               half layout                     interleaved
        torch, 32 768 numbers or more   elementwise, in pieces that     complex; 16 bits in pieces
                                        stay in the cache; "compiled":
                                        one pass over memory
        torch, fewer numbers            elementwise, its table kept     complex, its table kept
        torch, traced or learned        elementwise                     elementwise
        other libraries                 elementwise                     elementwise

    For speed choose the interleaved layout where the weights leave a choice, and "compiled" for large tensors in the
    half layout whose shape stays the same.

    Args:
        x: shape (..., dim), queries or keys, of any floating dtype.
        angles_or_table: angles in radians, or their `rotary_table`. Its axes of length 1 are repeated along x; the
            length itself only where the table has as many axes as x.
        layout: "interleaved" or "half".
        method: "elementwise", "complex" or "matrix", in the working precision (float32 for bfloat16 and float16);
            "compiled", for torch, a kernel that torch.compile makes, where a C++ compiler is, in seconds for each shape
            and for eight at most; None, the fastest without one.
        rotary_dim: the number of first dimensions that turn (partial rotary, GPT-NeoX); the others pass unchanged.
        odd: for an odd width. "leave" leaves the last dimension as it is. "pad" adds a dimension of zeros that turns
            with it: the answer is one wider, and dropping that would cost the relative property.
        out: a torch tensor in the shape and dtype of the answer that takes it, which saves asking for memory, most of
            the time for large x; `x` itself is allowed. For `method` None or "compiled", where no gradient is wanted.

    Returns shape and dtype of `x` (one wider for "pad"). Every pair is as long as before, times the table's factor.

    >>> angles = np.array([[0.0], [np.pi / 2]])  # (length, dim/2)
    >>> rotate(np.array([[1.0, 0.0], [1.0, 0.0]]), angles).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    table = angles_or_table
    if method in (None, COMPILED) and rotary_dim is None and odd is None and out is None:
        turned = _as_before(x, table, layout)
        if turned is not None:
            return turned
    check_float_array("x", x)
    check_choice("layout", layout, LAYOUTS)
    if method is not None:
        check_choice("method", method, (*METHODS, COMPILED))
    given = x
    x, turning = _padded(x, rotary_dim, odd)
    if not isinstance(table, RotaryTable):
        table = rotary_table(as_float_array("angles_or_table", table, like=x), like=x)
    xp = namespace(x, table.cos)
    fitted = _fitted(table, x, turning, xp)
    if out is not None:
        return _turn_into(_checked_out(out, given, x, fitted, method), x, fitted, turning, layout, method)
    if turning == x.shape[-1]:
        return _turn(x, fitted, layout, method, xp, table)
    return xp.concat([_turn(x[..., :turning], fitted, layout, method, xp), x[..., turning:]], axis=-1)


def rotation_matrix(angles: Array, layout: str = "interleaved") -> Array:
    """The rotation of all pairs as one matrix R: d/2 blocks [[cos, −sin], [sin, cos]]. For looking at and for proofs.

    R(m)ᵀ R(n) = R(n − m): positions of a query and a key leave only their difference in qᵀ R(m)ᵀ R(n) k. The
    interleaved layout has the blocks on the diagonal; the half one joins dimensions i and i + dim/2.

    `angles` have the shape (..., dim/2), in radians. Returns float64, shape (..., dim, dim).
    Source: Su et al. 2021, equation (15).

    >>> rotation_matrix(np.array([np.pi / 2])).round(2).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    check_choice("layout", layout, LAYOUTS)
    table = rotary_table(angles)
    return _matrix(table.cos, table.sin, layout)


def pair_scores(q: Array, k: Array, angles: Array, layout: str = "interleaved") -> Array:
    """What each pair adds to the score of a query and a key, given the angles between them; shape (..., dim/2).

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
    turned = as_float_array("angles", angles, like=q)
    if tuple(turned.shape) not in {(dim // 2,), (*q.shape[:-1], dim // 2)}:
        raise ValueError(f"angles must have shape {(*q.shape[:-1], dim // 2)}, got {tuple(turned.shape)}")
    xp = namespace(q, k, turned)
    (q1, q2), (k1, k2) = _pairs(q, layout), _pairs(k, layout)
    return (q1 * k1 + q2 * k2) * xp.cos(turned) + (q1 * k2 - q2 * k1) * xp.sin(turned)


def layout_permutation(dim: int) -> list[int]:
    """The order of dimensions that turns the interleaved layout into the half one: 0, 2, 4, …, 1, 3, 5, ….

    With it, `rotate(x[..., order], φ, "half")` equals `rotate(x, φ, "interleaved")[..., order]`.

    >>> layout_permutation(6)
    [0, 2, 4, 1, 3, 5]
    """
    dim = check_even_dim(dim)
    return [*range(0, dim, 2), *range(1, dim, 2)]


def convert_projection(weight: Array, n_heads: int, to: str, *, rotary_dim: int | None = None) -> Array:
    """Reorders the rows of a query or key projection, for a checkpoint of one layout to run in the other.

    Scores stay what they were if W_Q and W_K and their biases are converted; W_V and W_O are left alone.

    Args:
        weight: shape (n_heads·head_dim, hidden), or (n_heads·head_dim,) for a bias; any dtype, which is kept.
        n_heads: heads in this projection; with grouped keys, W_K has fewer than W_Q.
        to: "half" (from interleaved) or "interleaved" (from half).
        rotary_dim: the first dimensions of each head that turn, for partial rotary; None: all of them.

    >>> convert_projection(np.array([0.0, 1.0, 2.0, 3.0]), n_heads=1, to="half").tolist()
    [0.0, 2.0, 1.0, 3.0]
    """
    n_heads = check_int("n_heads", n_heads)
    check_choice("to", to, LAYOUTS)
    check_float_array("weight", weight)
    if weight.ndim > 2:
        raise ValueError(f"weight must have one axis or two, got shape {tuple(weight.shape)}")
    if weight.shape[0] == 0 or weight.shape[0] % n_heads:
        raise ValueError(f"n_heads must divide the {weight.shape[0]} rows of weight, got {n_heads}")
    head_dim = weight.shape[0] // n_heads
    turning = check_rotary_dim(f"each head of weight {tuple(weight.shape)}", rotary_dim, head_dim)
    order = np.asarray(layout_permutation(turning))
    if to == "interleaved":
        order = np.argsort(order)
    within = np.concatenate([order, np.arange(turning, head_dim)])
    rows = (np.arange(n_heads)[:, None] * head_dim + within).reshape(-1)
    xp = namespace(weight)
    return xp.take(weight, xp.asarray(rows, device=device_of(weight)), axis=0)


def packed_positions(lengths: Sequence[int]) -> Array:
    """Positions of several sequences that lie one after another in one row: each counts from 0.

    `lengths` are whole numbers of at least 0, tokens in each. Returns NumPy int64, shape (sum of lengths,).

    >>> packed_positions([3, 2]).tolist()
    [0, 1, 2, 0, 1]
    """
    if isinstance(lengths, str) or not hasattr(lengths, "__len__"):
        raise TypeError(f"lengths must be a list of whole numbers, got {describe(lengths)}")
    checked = [check_int("lengths", length, least=0) for length in lengths]
    return np.concatenate([np.arange(0), *(np.arange(length) for length in checked)])


def xpos_tables(
    positions: Array,
    inv_freq: Array,
    *,
    gamma: float = 0.4,
    scale_base: float = 512.0,
    length_axis: int | None = None,
    like: Array = None,
) -> tuple[RotaryTable, RotaryTable]:
    """The tables of xPos, one for queries and one for keys: rotation times a shrinking or growing length.

    Pair i of a query at m is turned and multiplied by ζ_i^(m/scale_base), that of a key at n divided by
    ζ_i^(n/scale_base), with ζ_i = (2i/d + γ)/(1 + γ). The score has the factor ζ_i^((m − n)/scale_base) in pair i: it
    depends on m − n alone, and fast pairs fade with distance. Vectors do not keep their length.

    Args:
        positions: shape (..., length), in tokens. Only differences count: subtract a common origin from long ones, for
            a factor that leaves the range of float32 raises ValueError.
        inv_freq: shape (dim/2,), in radians per token.
        gamma: γ, greater than 0.
        scale_base: tokens over which pair i shrinks by ζ_i, greater than 0.
        length_axis, like: as for `rotary_table`.

    Returns (table for queries, table for keys), for `rotate`.
    Source: Sun et al. 2022, "A Length-Extrapolatable Transformer", section 2.

    >>> for_q, for_k = xpos_tables(np.array([0, 512]), np.array([1.0]))
    >>> np.hypot(for_q.cos, for_q.sin).round(3).tolist(), np.hypot(for_k.cos, for_k.sin).round(3).tolist()
    ([[1.0], [0.286]], [[1.0], [3.5]])
    """
    gamma, scale_base = check_positive("gamma", gamma), check_positive("scale_base", scale_base)
    turned = make_angles(positions, inv_freq)  # (..., length, dim/2)
    at = as_float_array("positions", positions, like=inv_freq)[..., None]
    xp = namespace(turned)
    pairs = turned.shape[-1]
    zeta = (xp.arange(pairs, dtype=turned.dtype, device=device_of(turned)) / pairs + gamma) / (1 + gamma)
    exponent = xp.log(zeta) * at / scale_base
    if is_concrete(exponent) and bool(xp.any(xp.abs(exponent) > 87.0)):  # ln of the largest float32 is 88.7
        raise ValueError(
            f"positions must stay where xPos fits float32: subtract a common origin, got {describe(positions)}"
        )
    plain = rotary_table(turned, length_axis=length_axis)
    grown = xp.exp(exponent)
    tables = [RotaryTable(plain.cos * f, plain.sin * f, length_axis) for f in (grown, 1 / grown)]
    if like is not None:
        tables = [_cast(table, _working_dtype(check_float_array("like", like)), xp) for table in tables]
    return tables[0], tables[1]


def plane_rotations(rotation: Array) -> tuple[Array, Array]:
    """Takes any rotation of n dimensions apart into rotations of planes: rotation = B · R(φ) · Bᵀ.

    In the orthonormal basis B it turns ⌊n/2⌋ planes, each by its own angle, and leaves one axis alone where n is odd:
    what a rotary code does is, up to a change of basis, all that a rotation can do.

    `rotation` is NumPy, shape (n, n), orthogonal with determinant +1. Returns B, shape (n, n), whose columns 2j and 2j
    + 1 span plane j, and the angles, shape (n // 2,), in radians, from −π to π.

    >>> basis, angles = plane_rotations(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> abs(angles).round(3).tolist()  # a quarter turn, and an axis left alone
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


def _padded(x: Array, rotary_dim: int | None, odd: str | None) -> tuple[Array, int]:
    """`x`, padded where that is asked for, and the number of its first dimensions that turn."""
    width = x.shape[-1]
    if odd is None:
        return x, check_rotary_dim("x", rotary_dim, width)
    check_choice("odd", odd, ODD)
    if rotary_dim is not None:
        raise ValueError(f"odd must be None where rotary_dim says what turns, got {odd!r} and {rotary_dim!r}")
    if width % 2 == 0:
        return x, width
    if odd == "leave":
        return x, check_rotary_dim("x", width - 1, width)
    xp = namespace(x)
    zeros = xp.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device_of(x))
    return xp.concat([x, zeros], axis=-1), width + 1


def _working_dtype(x: Array) -> Any:
    """The dtype of `x`, or float32 where that has fewer than 32 bits."""
    bytes_each = getattr(x.dtype, "itemsize", None)  # that of NumPy, torch and JAX, which is quick to ask
    xp = namespace(x)
    half = xp.finfo(x.dtype).bits < 32 if bytes_each is None else bytes_each < 4
    return xp.float32 if half else x.dtype


def _cast(table: RotaryTable, dtype: Any, xp: Any) -> RotaryTable:
    if table.cos.dtype == dtype:
        return table
    return RotaryTable(xp.astype(table.cos, dtype), xp.astype(table.sin, dtype), table.length_axis)


def _fitted(table: RotaryTable, x: Array, turning: int, xp: Any) -> RotaryTable:
    """The table with axes that broadcast along those of `x`, after checking that each fits."""
    cos, sin, length_axis = table
    shape, of_x = tuple(cos.shape), tuple(x.shape)
    if shape[-1] == turning // 2 and length_axis == -2 and shape[:-1] == of_x[-2:-1]:
        return table  # broadcasts as it is
    what = f"angles of shape {shape} and length_axis {length_axis}"
    if shape[-1] != turning // 2:
        raise ValueError(f"x turns {turning} dimensions, so angles_or_table needs width {turning // 2}, got {what}")
    if length_axis is None:
        if len(shape) != len(of_x):
            raise ValueError(
                f"angles_or_table must have as many axes as x (shape {of_x}), or be a rotary_table whose "
                f"length_axis says which axis of x counts the tokens; got {what}"
            )
        fits = all(size in (1, wanted) for size, wanted in zip(shape[:-1], of_x[:-1], strict=True))
    else:
        before = len(shape) - 2
        if before > len(of_x) + length_axis:
            raise ValueError(f"angles_or_table has too many axes for x of shape {of_x}: {what}")
        lengths = [1] * len(of_x)
        lengths[:before], lengths[length_axis], lengths[-1] = shape[:before], shape[-2], shape[-1]
        fits = shape[-2] == of_x[length_axis] and all(
            size in (1, wanted) for size, wanted in zip(shape[:before], of_x, strict=False)
        )
        table = RotaryTable(xp.reshape(cos, tuple(lengths)), xp.reshape(sin, tuple(lengths)))
    if not fits:
        raise ValueError(f"angles_or_table does not fit x of shape {of_x}: got {what}")
    return table


def _turn(
    x: Array, table: RotaryTable, layout: str, method: str | None, xp: Any, given: RotaryTable | None = None
) -> Array:
    """Turns all dimensions of `x` by a table that broadcasts along it, and remembers that in the one that was given."""
    dtype = x.dtype
    table = _cast(table, _working_dtype(x), xp)
    if method == COMPILED and not is_torch(x):
        raise TypeError(f"method must not be {COMPILED!r} where x is no torch tensor, got {describe(x)}")
    if method in (None, COMPILED) and is_torch(x) and not _learns(table):
        from posenc import _rotary_torch

        if is_compiling() or x.numel() >= _rotary_torch.LARGE:
            return _rotary_torch.turn(x, table.cos, table.sin, layout, compiled=method == COMPILED)
        return _rotary_torch.turn_small(x, table.cos, table.sin, layout, given)
    x = x if dtype == table.cos.dtype else xp.astype(x, table.cos.dtype)
    if method == "matrix":
        turned = (_matrix(table.cos, table.sin, layout) @ x[..., None])[..., 0]
    elif method == "complex":
        first, second = _pairs(x, layout)
        product = (first + 1j * second) * (table.cos + 1j * table.sin)
        turned = _join(xp.real(product), xp.imag(product), layout, xp)
    else:
        first, second = _pairs(x, layout)
        turned = _join(first * table.cos - second * table.sin, first * table.sin + second * table.cos, layout, xp)
    return turned if turned.dtype == dtype else xp.astype(turned, dtype)


def _as_before(x: Array, table: Array | RotaryTable, layout: str) -> Array | None:
    """`x` turned without checks, where an earlier call has made them for a tensor like it and this table; else None."""
    if not isinstance(table, RotaryTable) or is_compiling() or "_kept" not in table.__dict__:
        return None
    return sys.modules["posenc._rotary_torch"].again(x, table, layout)


def _learns(table: RotaryTable) -> bool:
    return getattr(table.cos, "requires_grad", False) or getattr(table.sin, "requires_grad", False)


def _checked_out(out: Array, x: Array, padded: Array, table: RotaryTable, method: str | None) -> Array:
    """`out`, after checking that it can take the answer."""
    if method not in (None, COMPILED):
        raise ValueError(f"method must be None or {COMPILED!r} where out is given, got {method!r}")
    if not (is_torch(out) and is_torch(x)):
        raise TypeError(f"x and out must be torch tensors, got {describe(x)} and {describe(out)}")
    if (out.shape, out.dtype, out.device) != (padded.shape, padded.dtype, padded.device):
        wanted, got = (f"{tuple(one.shape)}, {one.dtype}, on {one.device}" for one in (padded, out))
        raise ValueError(f"out must be like the answer, {wanted}, got {got}")
    import torch

    if torch.is_grad_enabled() and (x.requires_grad or out.requires_grad or _learns(table)):
        raise ValueError("out must be None where gradients are wanted, got a tensor; torch.no_grad() asks for none")
    return out


def _turn_into(out: Array, x: Array, table: RotaryTable, turning: int, layout: str, method: str | None) -> Array:
    """Turns the first dimensions of `x` into `out`, and copies the others there."""
    from posenc import _rotary_torch

    table = _cast(table, _working_dtype(x), namespace(x))
    same = out.data_ptr() == x.data_ptr() and out.stride() == x.stride()
    if not same and out.untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
        x = x.clone()  # out lies over another part of it
    first = x[..., :turning]
    into, compiled = first if same else out[..., :turning], method == COMPILED
    _rotary_torch.turn(first, table.cos, table.sin, layout, into, compiled=compiled)
    if not same and turning < x.shape[-1]:
        out[..., turning:].copy_(x[..., turning:])
    return out


def _pairs(x: Array, layout: str) -> tuple[Array, Array]:
    """The first and the second members of all pairs, (..., dim/2) each."""
    if layout == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    middle = x.shape[-1] // 2
    return x[..., :middle], x[..., middle:]


def _join(first: Array, second: Array, layout: str, xp: Any) -> Array:
    """The inverse of `_pairs`."""
    if layout == "half":
        return xp.concat([first, second], axis=-1)
    return xp.reshape(xp.stack([first, second], axis=-1), (*first.shape[:-1], 2 * first.shape[-1]))


def _matrix(cos: Array, sin: Array, layout: str) -> Array:
    """The matrices, (..., dim, dim), of rotations that `cos` and `sin`, (..., dim/2), describe."""
    xp = namespace(cos)
    unit = xp.eye(cos.shape[-1], dtype=cos.dtype, device=device_of(cos))
    rows = [_join(cos[..., None] * unit, -sin[..., None] * unit, layout, xp)]  # first members: (..., dim/2, dim)
    rows += [_join(sin[..., None] * unit, cos[..., None] * unit, layout, xp)]  # second members
    if layout == "half":
        return xp.concat(rows, axis=-2)
    return xp.reshape(xp.stack(rows, axis=-2), (*cos.shape[:-1], 2 * cos.shape[-1], 2 * cos.shape[-1]))
