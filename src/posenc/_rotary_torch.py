"""The fastest rotations of torch tensors that we know, compiled and of large ones; `posenc.rotary` checks and chooses.

The plain formula makes four products and reads memory as often. Here the second product is added to the first in
place, and half precision is widened piece by piece, so that a piece stays in the processor's cache. torch.compile
makes one pass of the formula.

Rotating is linear in x, and its transpose is the rotation by the opposite angles: backward and forward derivatives
are calls of the same code, with nothing of x kept.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import torch
from torch import Tensor

LARGE = 2**15  # elements from which it is worth while: below, the formula takes less time than the call
PIECE = 2**18  # elements of x that stay in a processor's cache, in float32


def turn(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """Turns all pairs of `x`, (..., dim), by tables that broadcast along it, (..., dim/2), in the tables' precision."""
    rotation = _Rotation if torch.compiler.is_compiling() else _EagerRotation
    return rotation.apply(x, cos, sin, layout)  # type: ignore[no-untyped-call, no-any-return]


class _Rotation(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
        return (_compiled if torch.compiler.is_compiling() else _eager)(x, cos, sin, layout)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, cos, sin, ctx.layout = inputs
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


def _compiled(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    wide, pairs = x.to(cos.dtype), x.shape[-1] // 2
    split = wide.reshape(*x.shape[:-1], pairs, 2).unbind(-1) if layout == "interleaved" else wide.chunk(2, -1)
    turned = split[0] * cos - split[1] * sin, split[0] * sin + split[1] * cos
    joined = torch.stack(turned, -1).flatten(-2) if layout == "interleaved" else torch.cat(turned, -1)
    return joined.to(x.dtype)


def _eager(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    if layout == "interleaved":
        table = [torch.complex(cos, sin)]
    else:
        table = [torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)]
    rotate: Any = _interleaved if layout == "interleaved" else _half
    turned = torch.empty_like(x)
    if x.dtype == cos.dtype:
        rotate(x, turned, *table)
        return turned
    axes = 0  # that are gone through piece by piece
    while x.device.type == "cpu" and axes < x.ndim - 2 and math.prod(x.shape[axes + 1 :]) >= PIECE:
        axes += 1
    table = [part.expand(*x.shape[:-1], -1) for part in table]
    wide, result = (torch.empty(x.shape[axes:], dtype=cos.dtype, device=x.device) for _ in range(2))
    for piece in product(*map(range, x.shape[:axes])):
        rotate(wide.copy_(x[piece]), result, *(part[piece] for part in table))
        turned[piece].copy_(result)
    return turned


def _interleaved(x: Tensor, turned: Tensor, phases: Tensor) -> None:
    """As a product of complex numbers."""
    torch.mul(_as_complex(x), phases, out=_as_complex(turned))


def _half(x: Tensor, turned: Tensor, cos: Tensor, sin: Tensor) -> None:
    """With halves that have changed places, and in place: each step goes through whole rows."""
    first, second = x.chunk(2, -1)
    torch.cat([second, first], -1, out=turned).mul_(sin).addcmul_(x, cos)


def _as_complex(x: Tensor) -> Tensor:
    """Neighbouring numbers as one complex number, (..., dim/2), without a copy where memory allows it."""
    aligned = x.stride(-1) == 1 and not any(step % 2 for step in (*x.stride()[:-1], x.storage_offset()))
    whole = x if aligned else x.clone(memory_format=torch.contiguous_format)
    return torch.view_as_complex(whole.reshape(*whole.shape[:-1], whole.shape[-1] // 2, 2))
