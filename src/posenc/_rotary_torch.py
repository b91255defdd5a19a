"""The fastest rotations of torch tensors that we know, eager and compiled; `posenc.rotary` checks and chooses.

Rotating is linear in x, and its transpose is the rotation by the opposite angles: backward and forward derivatives
are calls of the same code, with nothing of x kept.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import torch
from torch import Tensor

PIECE = 2**17  # elements of x that stay in a processor's cache, in float32


def turn(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """Turns all pairs of `x`, (..., dim), by tables of as many axes, (..., dim/2), in x's working precision."""
    rotation = _Rotation if torch.compiler.is_compiling() else _EagerRotation
    return rotation.apply(x, cos, sin, layout)  # type: ignore[no-untyped-call, no-any-return]


class _Rotation(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
        return _interleaved(x, cos, sin) if layout == "interleaved" else _half(x, cos, sin)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, cos, sin, ctx.layout = inputs
        ctx.save_for_backward(cos, sin)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        cos, sin = ctx.saved_tensors
        return turn(gradient, cos, -sin, ctx.layout), None, None, None


class _EagerRotation(_Rotation):
    """With what torch.compile does not take: forward derivatives and torch.vmap."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _Rotation.setup_context(ctx, inputs, output)
        ctx.save_for_forward(*inputs[1:3])

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *unused: None) -> Tensor:
        cos, sin = ctx.saved_tensors
        return turn(tangent, cos, sin, ctx.layout)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Any:
        x, cos, sin = (
            part[None] if dim is None else part.movedim(dim, 0)
            for part, dim in zip((x, cos, sin), in_dims, strict=False)
        )
        return turn(x.expand(info.batch_size, *x.shape[1:]), cos, sin, layout), 0


def _interleaved(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """As a product of complex numbers, in float32 for half precision."""
    if torch.compiler.is_compiling():  # which knows no complex numbers and joins real ones into one pass
        first, second = x.to(cos.dtype).reshape(*x.shape[:-1], x.shape[-1] // 2, 2).unbind(-1)
        turned = torch.stack([first * cos - second * sin, first * sin + second * cos], -1)
        return turned.flatten(-2).to(x.dtype)
    phases = torch.complex(cos, sin)
    if x.dtype == cos.dtype:
        return torch.view_as_real(_as_complex(x) * phases).flatten(-2)
    if x.device.type != "cpu":
        return torch.view_as_real(_as_complex(x.to(cos.dtype)) * phases).flatten(-2).to(x.dtype)
    # Piece by piece, the float32 copy stays in the cache: twice as fast as a copy of everything.
    axes = 0
    while axes < x.ndim - 2 and math.prod(x.shape[axes + 1 :]) >= PIECE:
        axes += 1
    phases = phases.expand(*x.shape[:-1], -1)
    turned = torch.empty_like(x)
    wide = torch.empty(x.shape[axes:], dtype=cos.dtype)
    for piece in product(*map(range, x.shape[:axes])):
        wide.copy_(x[piece])
        _as_complex(wide).mul_(phases[piece])
        turned[piece].copy_(wide)
    return turned


def _half(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """With the second product added to the first in place, in the precision of `x`."""
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    middle = x.shape[-1] // 2
    first, second = x[..., :middle], x[..., middle:]
    if torch.compiler.is_compiling():
        return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)
    if x.element_size() < 4:  # whole rows at once, which counts for more there
        both = torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)
        return torch.mul(x, both[0]).addcmul_(x.roll(middle, -1), both[1])
    turned = torch.empty_like(x)
    torch.mul(first, cos, out=turned[..., :middle]).addcmul_(second, sin, value=-1)
    torch.mul(second, cos, out=turned[..., middle:]).addcmul_(first, sin)
    return turned


def _as_complex(x: Tensor) -> Tensor:
    """Neighbouring numbers as one complex number, (..., dim/2), without a copy where memory allows it."""
    aligned = x.stride(-1) == 1 and not any(step % 2 for step in (*x.stride()[:-1], x.storage_offset()))
    whole = x if aligned else x.clone(memory_format=torch.contiguous_format)
    return torch.view_as_complex(whole.reshape(*whole.shape[:-1], whole.shape[-1] // 2, 2))
