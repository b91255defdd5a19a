"""Rotary position encoding: each pair of a query or a key is turned by its position times its frequency.

Two layouts say which dimensions make pair i: "interleaved" takes 2i and 2i + 1 (RoFormer, LLaMA's own code), "half"
takes i and i + d/2 (GPT-NeoX, Hugging Face). Source: Su et al. 2021, section 3.2.2, equations (14), (15) and (34).
"""

from __future__ import annotations

from typing import NamedTuple

from posenc._arrays import Array, floats, namespace

LAYOUTS = ("interleaved", "half")


class RotaryTable(NamedTuple):
    """Cosines and sines of a set of angles, each of shape (..., dim/2), made once and used in every layer."""

    cos: Array
    sin: Array


def rotary_table(angles: Array) -> RotaryTable:
    """Cosines and sines of `angles`, in float64 where the device has it.

    Args:
        angles: shape (..., length, dim/2), in radians, as `posenc.frequencies.angles` makes them.

    Raises ValueError for an angle that is not finite.
    """
    turned = floats("angles", angles)
    xp = namespace(turned)
    return RotaryTable(xp.cos(turned), xp.sin(turned))


def rotate(x: Array, angles_or_table: Array | RotaryTable, layout: str = "interleaved") -> Array:
    """Turns every pair of `x` by its angle: (a, b) becomes (a·cos − b·sin, a·sin + b·cos).

    Args:
        x: shape (..., length, dim), queries or keys; any floating dtype, which the answer keeps.
        angles_or_table: angles in radians or their `rotary_table`, shape (length, dim/2) for positions that all
            batches and heads share, or as many axes as `x`.
        layout: "interleaved" or "half".

    Returns:
        the shape of `x`, every pair as long as before.

    Raises:
        ValueError: an unknown layout, an odd width, or shapes that do not fit.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {LAYOUTS}, got {layout!r}")
    table = angles_or_table if isinstance(angles_or_table, RotaryTable) else rotary_table(angles_or_table)
    dim = x.shape[-1]
    if dim % 2 or table.cos.shape[-1] != dim // 2:
        raise ValueError(f"x has width {dim}, so the angles need width {dim / 2:g}, got {table.cos.shape[-1]}")
    if table.cos.ndim > 2 and table.cos.ndim != x.ndim:
        raise ValueError(
            f"angles of {table.cos.ndim} axes do not say which axes of x (shape {tuple(x.shape)}) they belong to: "
            "give two axes, or as many as x has"
        )
    xp = namespace(x, table.cos)
    cos, sin = xp.astype(table.cos, x.dtype), xp.astype(table.sin, x.dtype)
    if layout == "interleaved":
        first, second = x[..., 0::2], x[..., 1::2]  # (..., length, dim/2) each
        turned = xp.stack([first * cos - second * sin, first * sin + second * cos], axis=-1)
        return xp.reshape(turned, x.shape)
    first, second = x[..., : dim // 2], x[..., dim // 2 :]
    return xp.concat([first * cos - second * sin, first * sin + second * cos], axis=-1)
