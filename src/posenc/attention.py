"""Scaled dot-product attention, with every input that a positional encoding may change.

    logits  = (q·kᵀ · scale + bias) / temperature        −∞ where masked
    weights = softmax(logits) over the keys
    output  = weights · v

Without bias and mask, attention is permutation-equivariant: permuted tokens get the same outputs, permuted alike.

NumPy arrays and torch tensors alike. An argument of the wrong kind, or arrays of two libraries or dtypes, raise
TypeError; a number out of range or a shape that does not fit raises ValueError.

Source: Vaswani et al. 2017, section 3.2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from posenc._arrays import (
    Array,
    as_float_array,
    check_bool,
    check_float_array,
    check_integers,
    check_like,
    check_positive,
    describe,
    describe_values,
    device_of,
    is_array,
    is_compiling,
    namespace,
)


class Attention(NamedTuple):
    """The result of `attention`."""

    output: Array  # (..., queries, value_dim)
    weights: Array  # (..., queries, keys)
    logits: Array  # (..., queries, keys)


def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    causal: bool = False,
    bias: Array = None,
    mask: Array = None,
    scale: float | None = None,
    temperature: float | Array = 1.0,
) -> Attention:
    """softmax((q·kᵀ·scale + bias) / temperature)·v, with the softmax over the keys that are not masked.

    With `causal`, the queries are the last of the keys, as in decoding with a KV cache: query i attends to keys 0 to i
    + keys − queries. (torch's `is_causal` takes them for the first.) A query that may attend to no key gets weights,
    output and gradients 0, as in `scaled_dot_product_attention` of torch 2.13.

    Args:
        q: queries, shape (..., queries, head_dim), any floating dtype.
        k: keys, shape (..., keys, head_dim), in the dtype of q. Leading axes (batch, heads) as for q, but the number of
            heads may be a divisor of q's: grouped-query attention (Ainslie et al. 2023).
        v: values, shape (..., keys, value_dim), with the leading axes of k.
        causal: mask keys after the query; no more queries than keys then.
        bias: floats added to the scaled products, −∞ for masked pairs, no NaN and no +∞. Shape (queries, keys), (heads,
            queries, keys), or that of the logits, in which each axis but the keys may be 1.
        mask: booleans, True where a query may attend; shapes as for `bias`. With `causal`, both must allow it.
        scale: factor on q·k alone, greater than 0; None: 1/√head_dim. YaRN's squared attention factor belongs here; T5
            has 1, DeBERTa 1/√(3·head_dim).
        temperature: divisor of scaled products plus bias, greater than 0: below 1 sharpens, above 1 flattens. A number,
            or one per head, shape (heads,), which may carry a gradient.

    Returns output, shape (..., queries, value_dim), in the dtype of q; weights, shape (..., queries, keys), whose rows
    sum to 1 or are all 0; logits, shape (..., queries, keys), as the softmax takes them. For float16 and bfloat16 all
    arithmetic is in float32, and so are weights and logits.
    Source: Vaswani et al. 2017, section 3.2.1, equation (1).

    >>> import numpy as np
    >>> q, k = np.zeros((2, 4)), np.zeros((2, 4))
    >>> attention(q, k, np.array([[1.0], [3.0]]), causal=True).output.tolist()
    [[1.0], [2.0]]
    """
    for name, array in (("q", q), ("k", k), ("v", v)):
        if check_float_array(name, array).ndim < 2:
            raise ValueError(f"{name} must have shape (..., length, width), got shape {tuple(array.shape)}")
    xp, device = namespace(q, k, v), device_of(q)
    _check_shapes(q, k, v)
    check_bool("causal", causal)
    shape = (*q.shape[:-1], k.shape[-2])  # (..., queries, keys)
    queries, keys = shape[-2:]
    # Softmax in half precision would lose small weights; torch's kernels accumulate in float32, too.
    dtype = xp.float32 if xp.finfo(q.dtype).bits == 16 else q.dtype
    wide_q, wide_k, wide_v = (xp.astype(array, dtype, copy=False) for array in (q, k, v))
    if k.shape[:-2] != q.shape[:-2]:
        wide_k, wide_v = (xp.repeat(array, q.shape[-3] // k.shape[-3], axis=-3) for array in (wide_k, wide_v))

    logits = xp.matmul(wide_q, xp.matrix_transpose(wide_k)) * _scale(scale, q.shape[-1])  # (..., queries, keys)
    allowed = None if mask is None else _mask(mask, q, shape)
    if bias is not None:
        added = xp.astype(_bias(bias, q, shape), dtype, copy=False)
        # −∞ goes into the mask: divided by the temperature, it would give a gradient of NaN.
        open_pairs = added > -math.inf
        logits = logits + xp.where(open_pairs, added, xp.zeros_like(added))
        allowed = open_pairs if allowed is None else allowed & open_pairs
    logits = logits / _temperature(temperature, logits)
    if causal:
        if queries > keys:
            raise ValueError(f"causal={causal} needs at least as many keys as queries, got {queries=} and {keys=}")
        last_seen = xp.arange(queries, device=device)[:, None] + (keys - queries)  # (queries, 1)
        seen = xp.arange(keys, device=device) <= last_seen  # (queries, keys)
        allowed = seen if allowed is None else allowed & seen
    if allowed is not None:
        logits = xp.where(allowed, logits, xp.full((), -math.inf, dtype=dtype, device=device))
    weights = _softmax(logits)
    return Attention(xp.astype(xp.matmul(weights, wide_v), q.dtype, copy=False), weights, logits)


def packed_mask(lengths: Array, *, like: Array = None) -> Array:
    """The mask of packed sequences: a token attends only within its own sequence.

    Pass it to `attention` as `mask`, with `causal=True` for a decoder. Positions restart in each sequence.

    Args:
        lengths: tokens in each sequence, integers ≥ 0, shape (sequences,).
        like: array whose library and device the result has, if `lengths` is a list.

    Returns booleans, shape (total, total) with total = sum of `lengths`: blocks of True along the diagonal.

    >>> packed_mask([2, 1]).tolist()
    [[True, True, False], [True, True, False], [False, False, True]]
    """
    counts = check_integers("lengths", lengths, like=check_like("like", like), least=0)
    if counts.ndim != 1:
        raise ValueError(f"lengths must have shape (sequences,), got {describe(lengths, counts.shape)}")
    xp, device = namespace(counts), device_of(counts)
    ends = xp.cumulative_sum(xp.astype(counts, xp.int64))  # (sequences,)
    tokens = xp.arange(int(xp.sum(counts)), dtype=xp.int64, device=device)
    sequence = xp.searchsorted(ends, tokens, side="right")  # (total,)
    return sequence[:, None] == sequence


def _check_shapes(q: Array, k: Array, v: Array) -> None:
    """Checks that q, k and v fit in dtype and shape, so that none is broadcast by accident."""
    for name, array in (("k", k), ("v", v)):
        if array.dtype != q.dtype:
            raise TypeError(f"{name} must have the dtype of q, {q.dtype}, got dtype {array.dtype}")
        heads = array.shape[-3] if array.ndim > 2 else 0
        grouped = array.ndim == q.ndim and heads > 0 and q.shape[-3] % heads == 0 and array.shape[:-3] == q.shape[:-3]
        if array.shape[:-2] != q.shape[:-2] and not grouped:
            raise ValueError(
                f"{name} must have the leading axes of q, {tuple(q.shape[:-2])}, with as many heads or a divisor, got "
                f"shape {tuple(array.shape)}"
            )
    if k.shape[:-2] != v.shape[:-2]:
        raise ValueError(f"v must have the leading axes of k, {tuple(k.shape[:-2])}, got shape {tuple(v.shape)}")
    if q.shape[-1] == 0:
        raise ValueError(f"q must be at least 1 wide, got shape {tuple(q.shape)}")
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"k must be as wide as q, {q.shape[-1]}, got shape {tuple(k.shape)}")
    if v.shape[-2] != k.shape[-2]:
        raise ValueError(f"k and v must be equally long, got shapes {tuple(k.shape)} and {tuple(v.shape)}")


def _scale(scale: float | None, head_dim: int) -> float:
    return 1 / math.sqrt(head_dim) if scale is None else check_positive("scale", scale)


def _temperature(temperature: float | Array, logits: Array) -> float | Array:
    """A number, or an array of shape (heads, 1, 1)."""
    if not is_array(temperature) and not isinstance(temperature, list | tuple):
        return check_positive("temperature", temperature)
    each = as_float_array("temperature", temperature, like=logits)
    xp = namespace(each)
    if not is_compiling() and not bool(xp.all(each > 0)):
        raise ValueError(f"temperature must be greater than 0, got {describe_values(temperature, ~(each > 0))}")
    if each.ndim > 0 and tuple(each.shape) != tuple(logits.shape[-3:-2]):
        raise ValueError(
            f"temperature must be a number or one per head, shape {tuple(logits.shape[-3:-2])}, "
            f"got shape {tuple(each.shape)}"
        )
    return xp.astype(each if each.ndim == 0 else each[:, None, None], logits.dtype, copy=False)


def _fitting(name: str, value: Array, shape: tuple[int, ...]) -> Array:
    """`value`, after checking that it broadcasts to logits of that shape."""
    own = tuple(value.shape)
    each_axis_fits = len(own) == len(shape) and all(n in (1, full) for n, full in zip(own, shape, strict=True))
    if own in (shape[-2:], shape[-3:]) or (each_axis_fits and own[-1] == shape[-1]):
        return value
    kinds = " or ".join(str(accepted) for accepted in dict.fromkeys((shape[-2:], shape[-3:], shape)))
    raise ValueError(f"{name} must have shape {kinds} (the last with 1 for any axis but the keys), got shape {own}")


def _bias(bias: Array, q: Array, shape: tuple[int, ...]) -> Array:
    """`bias`, after checking it."""
    xp = namespace(q, check_float_array("bias", bias))
    # One comparison for both: NaN is not below infinity either.
    if not is_compiling() and not bool(xp.all(bias < math.inf)):
        raise ValueError(
            f"bias must be finite, or −∞ for a masked pair, got {describe_values(bias, ~(bias < math.inf))}"
        )
    return _fitting("bias", bias, shape)


def _mask(mask: Array, q: Array, shape: tuple[int, ...]) -> Array:
    """`mask`, after checking it."""
    if not is_array(mask):
        raise TypeError(f"mask must be an array of booleans, True where a query may attend, got {describe(mask)}")
    if not namespace(q, mask).isdtype(mask.dtype, "bool"):
        raise TypeError(f"mask must be an array of booleans, True where a query may attend, got dtype {mask.dtype}")
    return _fitting("mask", mask, shape)


def _softmax(logits: Array) -> Array:
    """Softmax over the last axis; all 0 where every logit is −∞ or there is none."""
    if logits.shape[-1] == 0:
        return logits
    xp = namespace(logits)
    peak = xp.max(logits, axis=-1, keepdims=True)
    # Subtracting the peak avoids overflow. In a row of −∞, −∞ − (−∞) would be NaN.
    powers = xp.exp(logits - xp.where(peak == -math.inf, xp.zeros_like(peak), peak))
    total = xp.sum(powers, axis=-1, keepdims=True)
    return powers / xp.where(total == 0, xp.ones_like(total), total)
