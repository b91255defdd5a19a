"""Checks of arrays and positions that schemes share."""

from __future__ import annotations

from posenc._arrays import (
    Array,
    check_float_array,
    describe,
    describe_values,
    is_array,
    is_compiling,
    is_torch,
    namespace,
)


def check_axes(name: str, value: Array, shape: str) -> Array:
    """`value`, after checking that it is an array of floats with as many axes as `shape` names."""
    if check_float_array(name, value).ndim != shape.count(",") + 1:
        raise ValueError(f"{name} must have shape {shape}, got shape {tuple(value.shape)}")
    return value


def check_sequence_positions(name: str, positions: Array, x: Array, length: int) -> Array:
    """`positions` of the sequences of x, of that length: after checking type and shape, on the device of x."""
    if not is_array(positions):
        raise TypeError(f"{name} must be an array of real numbers, got {describe(positions)}")
    xp, batch = namespace(x, positions), x.shape[0]
    if not xp.isdtype(positions.dtype, ("integral", "real floating")):
        raise TypeError(f"{name} must be an array of real numbers, got dtype {positions.dtype}")
    if tuple(positions.shape) not in {(length,), (1, length), (batch, length)}:
        raise ValueError(
            f"{name} must have shape ({length},), (1, {length}) or ({batch}, {length}), "
            f"got shape {tuple(positions.shape)}"
        )
    if xp.isdtype(positions.dtype, "real floating") and not is_compiling():
        infinite = ~xp.isfinite(positions)
        if bool(xp.any(infinite)):
            raise ValueError(f"{name} must be finite, got {describe_values(positions, infinite)}")
    at = positions[0] if positions.ndim == 2 and batch > 1 == positions.shape[0] else positions
    return at.to(x.device) if is_torch(at) else at


def check_queries_and_keys(q: Array, k: Array, *, grouped: bool) -> None:
    """Checks that q and k fit together; if `grouped`, several heads of q may share one of k."""
    for name, array in (("q", q), ("k", k)):
        check_axes(name, array, "(batch, heads, length, head_dim)")
        if 0 in (array.shape[1], array.shape[3]):
            raise ValueError(f"{name} must have at least one head and dimension, got shape {tuple(array.shape)}")
    namespace(q, k)
    if k.dtype != q.dtype:
        raise TypeError(f"k must have the dtype of q, {q.dtype}, got dtype {k.dtype}")
    heads_fit = q.shape[1] % k.shape[1] == 0 if grouped else q.shape[1] == k.shape[1]
    if k.shape[0] != q.shape[0] or k.shape[3] != q.shape[3] or not heads_fit:
        heads = f"a divisor of {q.shape[1]}" if grouped else str(q.shape[1])
        raise ValueError(f"k must have shape ({q.shape[0]}, {heads}, keys, {q.shape[3]}), got shape {tuple(k.shape)}")


def query_and_key_positions(q: Array, k: Array, positions: Array, key_positions: Array | None) -> tuple[Array, Array]:
    """Positions of queries and keys with equally many axes, on their device; one array if equal."""
    batch, queries, keys = q.shape[0], q.shape[2], k.shape[2]
    at = check_sequence_positions("positions", positions, q, queries)
    if key_positions is None:
        if keys != queries:
            raise ValueError(
                f"key_positions must be given where there are {queries} queries and {keys} keys, got {key_positions}"
            )
        return at, at
    keys_at = check_sequence_positions("key_positions", key_positions, q, keys)
    if at.ndim != keys_at.ndim:
        xp = namespace(at)
        at, keys_at = xp.broadcast_to(at, (batch, queries)), xp.broadcast_to(keys_at, (batch, keys))
    return at, keys_at
