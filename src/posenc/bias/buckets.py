"""T5: a learned bias per bucket of relative positions."""

from __future__ import annotations

from posenc._arrays import (
    Array,
    check_bool,
    check_float_array,
    check_int,
    device_of,
    namespace,
)
from posenc.bias._shared import integer_offsets, pairwise


def t5_bucket(
    relative_positions: Array, *, bidirectional: bool, num_buckets: int = 32, max_distance: int = 128
) -> Array:
    """T5's bucket of a relative position: one per distance nearby, logarithmically wider ones farther away.

    With B buckets for one direction and E = ⌊B/2⌋, distance n has bucket n below E, and from there on bucket
    E + ⌊(B − E)·ln(n/E)/ln(max_distance/E)⌋, at most B − 1. Causal: B = num_buckets, and keys after the query have
    bucket 0. Bidirectional: B = num_buckets/2, and keys after the query get B more. Bucket boundaries are computed in
    integers, n^(B − E) ≥ E^(B − E − b)·max_distance^b; Hugging Face's float32 agrees at offsets up to ±4096.

    Args:
        relative_positions: key − query, integers of any shape.
        bidirectional: True for an encoder, False for a decoder.
        num_buckets: at least 2; even and at least 4 if bidirectional.
        max_distance: greater than E, up to 2^53. The last bucket starts before it: with 32 and 128, at 113 in a decoder
            and at 91 in an encoder.

    Returns int64, in the shape of `relative_positions`.
    Source: Raffel et al. 2020, section 2.1; the numbers are from the authors' code.

    >>> t5_bucket([-1, -15, -20, -113, 3], bidirectional=False).tolist()
    [1, 15, 17, 31, 0]
    >>> t5_bucket([-20, 20], bidirectional=True).tolist()
    [10, 26]
    """
    num_buckets = check_int("num_buckets", num_buckets)
    _check_num_buckets("num_buckets", num_buckets, str(num_buckets), check_bool("bidirectional", bidirectional))
    one_way = num_buckets // 2 if bidirectional else num_buckets
    max_distance = check_int("max_distance", max_distance)
    if not one_way // 2 < max_distance <= 2**53:
        raise ValueError(
            f"max_distance must be greater than {one_way // 2}, the buckets of one distance each, and at most 2^53, "
            f"got {max_distance}"
        )
    offsets = integer_offsets(relative_positions)
    xp = namespace(offsets)
    starts = xp.asarray(_bucket_starts(one_way, max_distance), dtype=offsets.dtype, device=device_of(offsets))
    distance = xp.abs(offsets) if bidirectional else xp.clip(-offsets, min=0)
    # Flattened, because torch warns about non-contiguous tables.
    bucket = xp.reshape(xp.searchsorted(starts, xp.reshape(distance, (-1,)), side="right"), distance.shape)
    return bucket + one_way * xp.astype(offsets > 0, xp.int64) if bidirectional else bucket


def t5(relative_positions: Array, table: Array, *, bidirectional: bool, max_distance: int = 128) -> Array:
    """T5's learned bias: b_ij = table[bucket(j − i), h].

    All layers of a T5 share one table, and its products q·k are not scaled: `attention(..., scale=1.0, bias=...)`. It
    works at any length; all distances in the last bucket share one learned value.

    Args:
        table: shape (num_buckets, heads), any floating dtype; may carry a gradient.
        bidirectional: as in `t5_bucket`. In a decoder later keys get bucket 0: mask them.
        max_distance: as in `t5_bucket`.

    Returns shape (..., heads, queries, keys), in the dtype of `table`.
    Source: Raffel et al. 2020, section 2.1.

    >>> import numpy as np
    >>> table = np.arange(64.0).reshape(32, 2)  # two heads
    >>> t5([[-20, -1, 0]], table, bidirectional=False).tolist()
    [[[34.0, 2.0, 0.0]], [[35.0, 3.0, 1.0]]]
    """
    if check_float_array("table", table).ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"table must have shape (num_buckets, heads), got shape {tuple(table.shape)}")
    num_buckets, heads = table.shape
    _check_num_buckets("table", num_buckets, f"shape {tuple(table.shape)}", check_bool("bidirectional", bidirectional))
    offsets = pairwise(relative_positions, like=table)
    buckets = t5_bucket(offsets, bidirectional=bidirectional, num_buckets=num_buckets, max_distance=max_distance)
    xp = namespace(table)
    looked_up = xp.take(xp.matrix_transpose(table), xp.reshape(buckets, (-1,)), axis=1)
    return xp.moveaxis(xp.reshape(looked_up, (heads, *offsets.shape)), 0, -3)


def _check_num_buckets(name: str, number: int, shown: str, bidirectional: bool) -> None:
    if number < 2 + 2 * bidirectional or (bidirectional and number % 2):
        expected = "an even number of buckets, at least 4," if bidirectional else "at least 2 buckets"
        raise ValueError(f"{name} must give {expected} with bidirectional={bidirectional}, got {shown}")


def _bucket_starts(num_buckets: int, max_distance: int) -> tuple[int, ...]:
    """The minimum distance of every bucket of one direction but the first."""
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
