"""Any bias as `score_mod` of torch's FlexAttention."""

from __future__ import annotations

import math
from collections.abc import Callable

from posenc._arrays import (
    Array,
    check_float_array,
    describe,
    describe_values,
    device_of,
    is_array,
    is_compiling,
    namespace,
    widest_float,
)


def score_mod(bias: Callable[[Array], Array] | Array, q: Array, k: Array) -> Callable[..., Array]:
    """A bias as `score_mod` of torch's `flex_attention`, which adds it to one score at a time.

    The queries are the last of the keys: query i has position i + keys − queries. Masking is left to `block_mask`,
    except where the bias is −∞. FlexAttention scales products by 1/√head_dim unless you pass `scale`.

    Args:
        bias: for a bias of head and relative position alone (ALiBi, T5, Sandwich, KERPLE), best a function from
            relative positions, shape (1, n), to floats of shape (heads, 1, n), called once for all queries + keys − 1
            of them; else an array of shape ([batch,] heads, queries, keys). No NaN, no +∞; gradients flow.
        q: queries, shape (batch, heads, queries, head_dim), any floating dtype.
        k: keys, shape (batch, key heads, keys, head_dim); with grouped queries there are fewer key heads.

    Returns a function of (score, batch, head, query, key), the last four being indices, to score + b. The bias is in
    the dtype of q, in float32 for float16 and bfloat16, as FlexAttention's scores are.
    Source: Dong et al. 2024, "Flex Attention: A Programming Model for Generating Optimized Attention Kernels".

    >>> import numpy as np
    >>> from posenc.bias import alibi
    >>> q, k = np.zeros((1, 2, 1, 4)), np.zeros((1, 2, 3, 4))
    >>> add = score_mod(lambda relative_positions: alibi(relative_positions, [0.5, 0.25]), q, k)
    >>> [float(add(10.0, 0, 1, 0, key)) for key in range(3)]
    [9.5, 9.75, 10.0]
    """
    for name, array in (("q", q), ("k", k)):
        if check_float_array(name, array).ndim != 4:
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
    source = f"{describe(bias)} returning " if callable(bias) else ""
    if not is_array(table) or not namespace(q, table).isdtype(table.dtype, "real floating"):
        shown = f"dtype {table.dtype}" if is_array(table) else describe(table)
        raise TypeError(f"bias must be an array of floats, or a function that returns one, got {source}{shown}")
    if tuple(table.shape) not in accepted:
        raise ValueError(f"bias must give shape {' or '.join(map(str, accepted))}, got {source}{describe(table)}")
    if not is_compiling() and not bool(xp.all(table < math.inf)):
        refused = describe_values(table, ~(table < math.inf))
        raise ValueError(f"bias must be finite, or −∞ for a masked pair, got {source}{refused}")
    table = xp.astype(table, xp.float32 if xp.finfo(q.dtype).bits == 16 else q.dtype, copy=False)

    def add(score: Array, batch: Array, head: Array, query: Array, key: Array) -> Array:
        if callable(bias):  # the first column is relative position 1 − keys
            return score + table[head, 0, key - query + queries - 1]
        return score + (table[head, query, key] if table.ndim == 3 else table[batch, head, query, key])

    return add
