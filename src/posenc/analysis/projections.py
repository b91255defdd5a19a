"""After the projections: the four terms of a score, and the kernel of a matrix between two encodings."""

from __future__ import annotations

from typing import NamedTuple

from posenc._arrays import Array, Layout, as_float_array, check_choice, describe, device_of, first_array, namespace
from posenc.absolute import LAYOUTS, sinusoidal
from posenc.analysis._shared import not_zero, table_of


class FourTerms(NamedTuple):
    """The four terms of a score of content + position with content + position, each (..., queries, keys)."""

    content_content: Array
    content_position: Array  # content of the query, position of the key
    position_content: Array
    position_position: Array


def four_terms(
    query_content: Array, key_content: Array, query_position: Array, key_position: Array, w_q: Array, w_k: Array
) -> FourTerms:
    """The score of content + position with content + position, expanded: (x_t + p_t)ᵀ·W_qᵀ·W_k·(x_s + p_s).

    That is x_tᵀ·W·x_s + x_tᵀ·W·p_s + p_tᵀ·W·x_s + p_tᵀ·W·p_s with W = W_qᵀ·W_k. The second and third term depend on one
    position each, only the last on both. There is no division by √d.

    Args:
        query_content: x_t, shape (..., queries, dim).
        key_content: x_s, shape (..., keys, dim), with the same leading axes.
        query_position: p_t, shape (queries, dim), or the shape of `query_content`.
        key_position: p_s, shape (keys, dim), or the shape of `key_content`.
        w_q, w_k: the projections, shape (head_dim, dim), as in torch.nn.Linear.

    Returns a `FourTerms` of float64 arrays of shape (..., queries, keys); their sum is the score.
    Source: Dai et al. 2019 (Transformer-XL), section 3.3, start from this expansion.

    >>> terms = four_terms([[1, 0]], [[0, 1]], [[0, 2]], [[3, 0]], [[1, 0], [0, 1]], [[1, 0], [0, 1]])
    >>> [float(term[0, 0]) for term in terms]
    [0.0, 3.0, 2.0, 0.0]
    """
    names = ("query_content", "key_content", "query_position", "key_position", "w_q", "w_k")
    arrays = (query_content, key_content, query_position, key_position, w_q, w_k)
    like = first_array(*arrays)
    x_t, x_s, p_t, p_s, q, k = (
        as_float_array(name, array, like=like) for name, array in zip(names, arrays, strict=True)
    )
    fits = x_t.ndim > 1 and x_s.ndim == x_t.ndim and x_s.shape[:-2] == x_t.shape[:-2] and x_s.shape[-1] == x_t.shape[-1]
    fits = fits and all(p.shape in (x.shape, x.shape[-2:]) for p, x in ((p_t, x_t), (p_s, x_s)))
    if not (fits and q.ndim == 2 and q.shape == k.shape and q.shape[1] == x_t.shape[-1]):
        shapes = ", ".join(
            f"{name} {tuple(array.shape)}" for name, array in zip(names, (x_t, x_s, p_t, p_s, q, k), strict=True)
        )
        raise ValueError(f"contents, positions and projections must fit each other, got shapes {shapes}")
    xp = namespace(x_t)
    weight = xp.matrix_transpose(q) @ k  # (dim, dim)
    terms = [left @ weight @ xp.matrix_transpose(right) for left in (x_t, p_t) for right in (x_s, p_s)]
    return FourTerms(*(xp.broadcast_to(term, terms[0].shape) for term in terms))


def offset_kernel(
    offsets: Array,
    positions: Array,
    dim: int,
    base: float = 10_000.0,
    weight: Array = None,
    *,
    layout: Layout = "interleaved",
) -> Array:
    """The product of two sinusoidal encodings through a matrix, p_mᵀ·W·p_n, by offset and position.

    For W = I it is (dim/2)·S(m − n) at every m (see `decay`). With any other W, such as W_qᵀ·W_k, it may depend on m:
    with a random one it does, with `pairwise_weight` it never does; `posenc.absolute.shift_matrix(1, dim)` moves the
    peak to n − m = −1: a previous-token head.

    Args:
        offsets: n − m, key minus query, shape (offsets,).
        positions: m, any real numbers, shape (positions,).
        dim: width of the encoding, at least 1.
        weight: W, shape (dim, dim); None: the identity. May carry a gradient.
        layout: of the encoding and of W, "interleaved" or "half-split", as in `posenc.absolute.sinusoidal`.

    Returns float64, shape (positions, offsets).
    Source: the experiment with a random W is that of Yan et al. 2019 (TENER).

    >>> offset_kernel([-1, 0, 1], [5], 2).round(3).tolist()
    [[0.54, 1.0, 0.54]]
    """
    like = first_array(offsets, positions, weight)
    apart, at = as_float_array("offsets", offsets, like=like), as_float_array("positions", positions, like=like)
    for name, array, argument in (("offsets", apart, offsets), ("positions", at, positions)):
        if array.ndim != 1:
            raise ValueError(f"{name} must have shape ({name},), got {describe(argument, array.shape)}")
    query = sinusoidal(at, dim, base, layout, dtype=at.dtype)  # (positions, dim)
    key = sinusoidal(at[:, None] + apart, dim, base, layout, dtype=at.dtype)  # (positions, offsets, dim)
    if weight is not None:
        matrix = as_float_array("weight", weight, like=like)
        if tuple(matrix.shape) != (dim, dim):
            raise ValueError(f"weight must have shape (dim, dim) = {(dim, dim)}, got {describe(weight, matrix.shape)}")
        query = query @ matrix
    return (key @ query[..., None])[..., 0]


def pairwise_weight(a: Array, b: Array, layout: Layout = "interleaved") -> Array:
    """The matrix that scales and rotates each pair by itself: blocks a_i·I + b_i·J with J = [[0, −1], [1, 0]].

    Between two sinusoidal encodings it gives Σ_i (a_i·cos(Δ·θ_i) − b_i·sin(Δ·θ_i)), Δ = m − n, at every position: dim
    free numbers keep translation invariance, and any b ≠ 0 distinguishes left from right. With a_i = cos(k·θ_i), b_i =
    −sin(k·θ_i) it is `posenc.absolute.shift_matrix`. `a` and `b` have shape (dim/2,), the result (dim, dim), float64,
    in `layout`.

    >>> pairwise_weight([2], [3]).tolist()
    [[2.0, -3.0], [3.0, 2.0]]
    """
    check_choice("layout", layout, LAYOUTS)
    like = first_array(a, b)
    first, second = as_float_array("a", a, like=like), as_float_array("b", b, like=like)
    if first.ndim != 1 or first.shape[0] == 0 or first.shape != second.shape:
        raise ValueError(
            f"a and b must both have shape (dim/2,), got a = {describe(a, first.shape)} and "
            f"b = {describe(b, second.shape)}"
        )
    xp, pairs = namespace(first), first.shape[0]
    rows = (xp.stack([first, 0.0 - second], axis=-1), xp.stack([second, first], axis=-1))
    blocks = xp.stack(rows, axis=-2)  # (pairs, 2, 2)
    apart = xp.eye(pairs, dtype=first.dtype, device=device_of(first))[:, None, :, None]
    matrix = apart * blocks[:, :, None, :]  # (pair, 2, pair, 2)
    if layout == "half-split":
        matrix = xp.permute_dims(matrix, (1, 0, 3, 2))
    return xp.reshape(matrix, (2 * pairs, 2 * pairs))


def kernel_residual(kernel: Array) -> Array:
    """How much a kernel depends on position at fixed offset: 0 not at all, 1 completely.

    The square root of the fraction of variance within columns, one column per offset; 0 for equal entries. `kernel` has
    shape (positions, offsets), at least 2 positions, as from `offset_kernel`.

    >>> float(kernel_residual([[1, 2], [1, 2]])), float(kernel_residual([[1, 1], [2, 2]]))
    (0.0, 1.0)
    """
    table = table_of("kernel", kernel, 2)
    xp = namespace(table)
    return xp.sqrt(xp.mean(xp.var(table, axis=0)) / not_zero(xp.var(table)))


def kernel_asymmetry(kernel: Array) -> Array:
    """How differently a kernel treats an offset to the right and to the left: 0 for not at all.

    The mean of |K(m, Δ) − K(m, −Δ)| in standard deviations of all entries; 0 for equal entries. `kernel` has shape
    (positions, offsets), with offsets −n … n in this order: an odd number of columns.

    >>> float(kernel_asymmetry([[1, 2, 1]])), round(float(kernel_asymmetry([[1, 2, 3]])), 3)
    (0.0, 1.633)
    """
    table = table_of("kernel", kernel, 1)
    if table.shape[1] % 2 == 0:
        raise ValueError(f"kernel must have the offsets −n … n as columns, got shape {tuple(table.shape)}")
    xp = namespace(table)
    return xp.mean(xp.abs(table - xp.flip(table, axis=-1))) / not_zero(xp.std(table))
