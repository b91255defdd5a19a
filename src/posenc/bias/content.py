"""Transformer-XL, TENER and DeBERTa: terms that depend on the contents of queries and keys."""

from __future__ import annotations

from typing import NamedTuple

from posenc._arrays import (
    Array,
    check_float_array,
    describe,
    device_of,
    namespace,
)
from posenc.bias._shared import integer_offsets, mask_later_keys


class TransformerXLTerms(NamedTuple):
    """The four terms of Transformer-XL's logits, each of shape (..., heads, queries, keys), unscaled."""

    content_content: Array  # q_i·k_j
    content_position: Array  # q_i·r_{i−j}: query content and distance
    global_content: Array  # u·k_j: key content alone
    global_position: Array  # v·r_{i−j}: distance alone

    @property
    def bias(self) -> Array:
        """The last three terms, which are added to q·k."""
        return self.content_position + self.global_content + self.global_position

    @property
    def logits(self) -> Array:
        """All four terms."""
        return self.content_content + self.bias


def transformer_xl(q: Array, k: Array, r: Array, u: Array, v: Array) -> TransformerXLTerms:
    """Transformer-XL's logits: q_i·k_j + q_i·r_{i−j} + u·k_j + v·r_{i−j} = (q_i + u)·k_j + (q_i + v)·r_{i−j}.

    The queries are the last of the keys; the earlier keys are the memory. The rows of `r` are distances in decreasing
    order:

    - causal: keys − 1, …, 1, 0, one row per key. The terms in r are −∞ for later keys.
    - bidirectional: keys − 1, …, 0, …, −(queries − 1), keys + queries − 1 rows.

    r is W_kR·R with R the sinusoidal encoding of the distance, and the model divides the logits by √head_dim:

        sinusoidal(arange(keys - 1, -1, -1), dim, layout="half-split") @ W_kR      then split into heads
        attention(q, k, value, scale=s, bias=s * terms.bias, causal=True)

    Args:
        q: queries, shape (..., heads, queries, head_dim), any floating dtype.
        k: keys, shape (..., heads, keys, head_dim), in the dtype of q; at least as many as queries.
        r: rows of the distances, shape (heads, rows, head_dim).
        u, v: shape (heads, head_dim). r, u and v are cast to the dtype of q; all five may carry gradients.

    Returns the four terms, each of shape (..., heads, queries, keys), in the dtype of q; `bias` and `logits` are sums.
    Source: Dai et al. 2019, section 3.3, and appendix B for the shift that avoids a row per pair.

    >>> import numpy as np
    >>> q = k = np.ones((1, 2, 2))
    >>> r, u = np.array([[[3.0, 4.0], [1.0, 2.0]]]), np.zeros((1, 2))  # distances 1 and 0
    >>> transformer_xl(q, k, r, u, u).bias.tolist()
    [[[3.0, -inf], [7.0, 3.0]]]
    """
    _check_queries_and_keys(("q", "k"), q, k)
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
    """TENER's logits: q_i·k_j + q_i·R_{i−j} + u·k_j + v·R_{i−j}, with R the sinusoidal encoding of the distance.

    Arguments and result are those of `transformer_xl`, except that R is not projected and shared by all heads: `r` has
    shape (rows, head_dim). The model is an encoder and does not scale its logits:

        r = sinusoidal(arange(keys - 1, -queries, -1), head_dim)
        attention(q, k, value, scale=1.0, bias=terms.bias)

    Source: Yan et al. 2019, "TENER: Adapting Transformer Encoder for Named Entity Recognition".

    >>> import numpy as np
    >>> from posenc.absolute import sinusoidal
    >>> q = k = np.ones((1, 2, 2))
    >>> r, u = sinusoidal(np.arange(1, -2, -1), 2), np.zeros((1, 2))
    >>> tener(q, k, r, u, u).bias.round(3).tolist()
    [[[1.0, -0.301], [1.382, 1.0]]]
    """
    _check_queries_and_keys(("q", "k"), q, k)
    heads, head_dim = q.shape[-3], q.shape[-1]
    shared = _rows_of_distances(_parameter("r", r, q, ("rows", head_dim)), q, k)
    return transformer_xl(q, k, namespace(q).broadcast_to(shared, (heads, *shared.shape)), u, v)


def relative_shift(scores: Array) -> Array:
    """Transformer-XL's relative shift: moves row i left by queries − 1 − i, so that columns of distances become keys.

        [q0·r2, q0·r1, q0·r0]        [q0·r0,     ·,     ·]
        [q1·r2, q1·r1, q1·r0]   →    [q1·r1, q1·r0,     ·]
        [q2·r2, q2·r1, q2·r0]        [q2·r2, q2·r1, q2·r0]

    Prepend a column of zeros, drop the first `queries` numbers, and reshape. The dots hold zeros or numbers of the next
    row and must be masked. `scores` and the result have shape (..., queries, distances), any floating dtype.

    Source: Dai et al. 2019, appendix B.

    >>> import numpy as np
    >>> relative_shift(np.array([[2.0, 1.0, 0.0], [12.0, 11.0, 10.0], [22.0, 21.0, 20.0]])).tolist()
    [[0.0, 0.0, 12.0], [11.0, 10.0, 0.0], [22.0, 21.0, 20.0]]
    """
    if check_float_array("scores", scores).ndim < 2:
        raise ValueError(f"scores must have shape (..., queries, distances), got shape {tuple(scores.shape)}")
    *leading, queries, columns = scores.shape
    if columns == 0:
        return scores
    xp = namespace(scores)
    padded = xp.concat([xp.zeros_like(scores[..., :1]), scores], axis=-1)  # (..., queries, columns + 1)
    skewed = xp.reshape(padded, (*leading, columns + 1, queries))[..., 1:, :]
    return xp.reshape(skewed, tuple(scores.shape))


class DebertaTerms(NamedTuple):
    """The three terms of DeBERTa's logits, each of shape (..., heads, queries, keys), unscaled."""

    content_to_content: Array  # Qc_i·Kc_j
    content_to_position: Array  # Qc_i·Kr_δ(i,j)
    position_to_content: Array  # Kc_j·Qr_δ(j,i)

    @property
    def bias(self) -> Array:
        """The last two terms, which are added to q·k."""
        return self.content_to_position + self.position_to_content

    @property
    def logits(self) -> Array:
        """All three terms."""
        return self.content_to_content + self.bias


def deberta(
    query_content: Array, key_content: Array, key_relative: Array, query_relative: Array, relative_positions: Array
) -> DebertaTerms:
    """DeBERTa's disentangled logits: Qc_i·Kc_j + Qc_i·Kr_δ(i,j) + Kc_j·Qr_δ(j,i).

    δ(i, j) = i − j + span, clipped to 0 … 2·span − 1, is the row of a distance: row `span` is distance 0, the last row
    all keys span − 1 or more before the query, the first all keys span or more after it. The model divides the logits
    by √(3·head_dim):

        attention(query_content, key_content, value, scale=s, bias=s * terms.bias)

    The authors' code, and Hugging Face's, reads Qr at δ(i, j) instead of the paper's δ(j, i). That term is
    `position_to_content` for relative positions of the opposite sign.

    Args:
        query_content: Qc, shape (..., heads, queries, head_dim), any floating dtype.
        key_content: Kc, shape (..., heads, keys, head_dim), in the dtype of Qc.
        key_relative: Kr = P·W_k,r for the table P of relative positions, shape (heads, 2·span, head_dim).
        query_relative: Qr = P·W_q,r, shape (heads, 2·span, head_dim). Both are cast to the dtype of Qc.
        relative_positions: key − query, integers, shape (queries, keys); in tokens.

    Returns the three terms, each of shape (..., heads, queries, keys), in the dtype of Qc; `bias` and `logits` are
    sums.
    Source: He et al. 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", section 3.1.

    >>> import numpy as np
    >>> content, tables = np.ones((1, 2, 2)), np.array([[[1.0, 2.0], [3.0, 4.0]]])  # span 1
    >>> deberta(content, content, tables, tables, [[0, 1], [-1, 0]]).content_to_position.tolist()
    [[[7.0, 3.0], [7.0, 7.0]]]
    """
    _check_queries_and_keys(("query_content", "key_content"), query_content, key_content)
    (heads, queries, head_dim), keys = query_content.shape[-3:], key_content.shape[-2]
    key_rows = _parameter("key_relative", key_relative, query_content, (heads, "2·span", head_dim))
    rows = key_rows.shape[-2]
    if rows == 0 or rows % 2:
        raise ValueError(f"key_relative must have an even number of rows, 2·span, got shape {tuple(key_rows.shape)}")
    query_rows = _parameter("query_relative", query_relative, query_content, (heads, rows, head_dim))
    offsets = integer_offsets(relative_positions, like=query_content)
    if tuple(offsets.shape) != (queries, keys):
        raise ValueError(
            f"relative_positions must have shape {(queries, keys)}, got {describe(relative_positions, offsets.shape)}"
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


def _rows_of_distances(r: Array, q: Array, k: Array) -> Array:
    """`r`, after checking that it has a row per distance, causal or bidirectional."""
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
    """Scores by distance as shape (..., queries, keys); −∞ for later keys that have no column."""
    *leading, queries, columns = scores.shape
    xp, device = namespace(scores), device_of(scores)
    if 0 in (queries, keys):
        return xp.zeros((*leading, queries, keys), dtype=scores.dtype, device=device)
    shifted = relative_shift(scores)[..., :keys]
    if columns > keys:
        return shifted
    positions = xp.arange(keys, device=device)
    return mask_later_keys(shifted, positions - positions[keys - queries :, None])


def _check_queries_and_keys(names: tuple[str, str], q: Array, k: Array) -> None:
    """Checks that heads, widths and dtypes of queries and keys fit."""
    for name, array in zip(names, (q, k), strict=True):
        if check_float_array(name, array).ndim < 3 or 0 in (array.shape[-3], array.shape[-1]):
            raise ValueError(f"{name} must have shape (..., heads, length, head_dim), got shape {tuple(array.shape)}")
    namespace(q, k)
    if k.dtype != q.dtype:
        raise TypeError(f"{names[1]} must have the dtype of {names[0]}, {q.dtype}, got dtype {k.dtype}")
    if k.shape[:-2] != q.shape[:-2] or k.shape[-1] != q.shape[-1]:
        expected = ", ".join(str(n) for n in (*q.shape[:-2], "keys", q.shape[-1]))
        raise ValueError(f"{names[1]} must have shape ({expected}), got shape {tuple(k.shape)}")


def _parameter(name: str, value: Array, q: Array, shape: tuple[int | str, ...]) -> Array:
    """`value` in the dtype of q, after checking its shape, in which a string stands for any length."""
    xp = namespace(q, check_float_array(name, value))
    fits = len(shape) == value.ndim and all(
        isinstance(expected, str) or n == expected for n, expected in zip(value.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} must have shape ({', '.join(map(str, shape))}), got shape {tuple(value.shape)}")
    return xp.astype(value, q.dtype, copy=False)
