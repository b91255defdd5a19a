"""Scaled dot-product attention, with a place for everything that a position code may change.

    logits  = (q·kᵀ · scale + bias) / temperature        −∞ where a query may not look
    weights = softmax(logits) over the keys
    output  = weights · v

Without bias and mask nothing here knows where a token stands: moved tokens get the same outputs, moved with them
(equivariance), and a query from outside gets the same output as before (invariance).
Source: Vaswani et al. 2017, section 3.2.

NumPy arrays and torch tensors alike. What is of the wrong kind, or of two libraries or dtypes, raises TypeError; a
number out of its range or a shape that does not fit, ValueError.
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
    """What `attention` answers: what each query receives, in which shares, and why."""

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
    """softmax((q·kᵀ·scale + bias) / temperature)·v, the softmax taken over the keys a query may look at.

    Causal queries are the last ones of the keys, as in decoding with a cache: query i may look at keys 0 to
    i + keys − queries. (torch's `is_causal` takes them for the first ones where there are fewer queries than keys.)
    A query that may look nowhere gets weights, output and gradients 0, as `scaled_dot_product_attention` of torch 2.13.

    Args:
        q: queries, shape (..., queries, head_dim), any floating dtype.
        k: keys, shape (..., keys, head_dim), in the dtype of q. Leading axes (batch, heads) are those of q, but heads
            may be fewer, a divisor of q's, each shared by as many in a row (grouped queries, Ainslie et al. 2023).
        v: values, shape (..., keys, value_dim), with the leading axes of k.
        causal: whether a query may look only at itself and what stands before it; no more queries than keys then.
        bias: floats added to the scaled products, −∞ for a pair that is masked, no NaN and no +∞. Of shape (queries,
            keys), (heads, queries, keys), or of as many axes as the logits, of which each but the keys may be 1.
        mask: booleans, True where a query may look; shapes as for `bias`. With `causal`, both must allow it.
        scale: factor on q·k alone, greater than 0; None: 1/√head_dim. YaRN's attention factor (squared) belongs here;
            T5 trains with 1, DeBERTa with 1/√(3·head_dim).
        temperature: divides scaled products and bias: less than 1 sharpens, more flattens; a factor λ on the logits is
            1/λ. Greater than 0, one number or one for each head, shape (heads,); may carry a gradient.

    Returns output, shape (..., queries, value_dim), in the dtype of q; weights, shape (..., queries, keys), each row
    summing to 1 or all 0; logits, shape (..., queries, keys), as the softmax takes them. Weights and logits are in the
    dtype of q too, but in float32 for float16 and bfloat16: all arithmetic is done there.
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
    # Softmax in half precision would lose small weights; torch's own kernels accumulate in float32 as well.
    dtype = xp.float32 if xp.finfo(q.dtype).bits == 16 else q.dtype
    wide_q, wide_k, wide_v = (xp.astype(array, dtype, copy=False) for array in (q, k, v))
    if k.shape[:-2] != q.shape[:-2]:
        wide_k, wide_v = (xp.repeat(array, q.shape[-3] // k.shape[-3], axis=-3) for array in (wide_k, wide_v))

    logits = xp.matmul(wide_q, xp.matrix_transpose(wide_k)) * _scale(scale, q.shape[-1])  # (..., queries, keys)
    allowed = None if mask is None else _mask(mask, q, shape)
    if bias is not None:
        added = xp.astype(_bias(bias, q, shape), dtype, copy=False)
        # −∞ joins the mask: divided by the temperature, it would give that a gradient of NaN.
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
    """The mask of sequences packed one after another: a token may look only inside its own sequence.

    Give it to `attention` as `mask`, with `causal=True` for a decoder. Positions start anew in each sequence.

    Args:
        lengths: tokens in each sequence, whole numbers, none negative, shape (sequences,).
        like: an array whose library and device the answer takes where `lengths` is a list.

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
    sequence = xp.searchsorted(ends, tokens, side="right")  # (total,): how many sequences have ended before
    return sequence[:, None] == sequence


def _check_shapes(q: Array, k: Array, v: Array) -> None:
    """Refuses q, k and v of which one would be stretched, or whose widths and dtypes do not fit."""
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
    """The factor on q·k."""
    return 1 / math.sqrt(head_dim) if scale is None else check_positive("scale", scale)


def _temperature(temperature: float | Array, logits: Array) -> float | Array:
    """What the logits are divided by: a number, or an array of shape (heads, 1, 1)."""
    if not is_array(temperature) and not isinstance(temperature, list | tuple):
        return check_positive("temperature", temperature)
    each = as_float_array("temperature", temperature, like=logits)
    xp = namespace(each)
    if not is_compiling() and not bool(xp.all(each > 0)):
        raise ValueError(f"temperature must be greater than 0, got {describe_values(temperature, ~(each > 0))}")
    if each.ndim > 0 and tuple(each.shape) != tuple(logits.shape[-3:-2]):
        raise ValueError(
            f"temperature must be a number or one for each head, shape {tuple(logits.shape[-3:-2])}, "
            f"got shape {tuple(each.shape)}"
        )
    return xp.astype(each if each.ndim == 0 else each[:, None, None], logits.dtype, copy=False)


def _fitting(name: str, value: Array, shape: tuple[int, ...]) -> Array:
    """`value`, after checking that it says what it is for: logits of the given shape."""
    given = tuple(value.shape)
    each_axis_fits = len(given) == len(shape) and all(own in (1, full) for own, full in zip(given, shape, strict=True))
    if given in (shape[-2:], shape[-3:]) or (each_axis_fits and given[-1] == shape[-1]):
        return value
    kinds = " or ".join(str(accepted) for accepted in dict.fromkeys((shape[-2:], shape[-3:], shape)))
    raise ValueError(f"{name} must have shape {kinds} (the last with 1 for any axis but the keys), got shape {given}")


def _bias(bias: Array, q: Array, shape: tuple[int, ...]) -> Array:
    """`bias`, after checking that it can be added to logits of the given shape."""
    xp = namespace(q, check_float_array("bias", bias))
    # One comparison for both: NaN is not below infinity either.
    if not is_compiling() and not bool(xp.all(bias < math.inf)):
        raise ValueError(
            f"bias must be finite, or −∞ for a masked pair, got {describe_values(bias, ~(bias < math.inf))}"
        )
    return _fitting("bias", bias, shape)


def _mask(mask: Array, q: Array, shape: tuple[int, ...]) -> Array:
    """`mask`, after checking that it allows and forbids entries of logits of the given shape."""
    if not is_array(mask):
        raise TypeError(f"mask must be an array of booleans, True where a query may look, got {describe(mask)}")
    if not namespace(q, mask).isdtype(mask.dtype, "bool"):
        raise TypeError(f"mask must be an array of booleans, True where a query may look, got dtype {mask.dtype}")
    return _fitting("mask", mask, shape)


def _softmax(logits: Array) -> Array:
    """Shares that sum to 1 over the last axis; all 0 where every logit is −∞ or there is none."""
    if logits.shape[-1] == 0:
        return logits
    xp = namespace(logits)
    peak = xp.max(logits, axis=-1, keepdims=True)
    # Less its peak no logit overflows. A row of −∞ has no peak, and −∞ − (−∞) would be NaN.
    powers = xp.exp(logits - xp.where(peak == -math.inf, xp.zeros_like(peak), peak))
    total = xp.sum(powers, axis=-1, keepdims=True)
    return powers / xp.where(total == 0, xp.ones_like(total), total)
