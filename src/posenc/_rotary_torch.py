"""The fastest rotations of torch tensors that we know; `posenc.rotary` checks and chooses, and has the formula.

What runs when, for `rotate(…, method=None)` and a table that does not learn:

    where                         what
    torch.compile, export         the formula, of which the compiler makes one pass over memory; the same kernel for
                                  large tensors in the half layout with method="compiled", eight shapes of them
    fewer than LARGE numbers      three calls in the half layout, one in the interleaved one, with a table that is
                                  kept in their form, and the checks of an earlier call with such an x
    LARGE numbers and more        pieces that stay in the processor's cache: x·cos, to whose halves ∓x·sin is added in
                                  place, or a product of complex numbers; half precision is widened by the piece
    vmap, forward derivatives     the same as for LARGE numbers, or the formula

Rotating is linear in x, and its transpose is the rotation by the opposite angles: derivatives of large tensors are
calls of the same code, with nothing of x kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

RotaryTable = Any  # that of `posenc.rotary`, which stands a floor above

MOST_KERNELS = 8  # shapes that one is compiled for, in seconds each; torch makes no more of one function
LARGE = 2**15  # elements from which it is worth while to save memory's time; below, the calls of torch cost most
PIECE = 2**19  # elements of x that stay in a processor's cache with what is made of them, in float32


def turn(
    x: Tensor, cos: Tensor, sin: Tensor, layout: str, out: Tensor | None = None, *, compiled: bool = False
) -> Tensor:
    """Turns all pairs of `x`, (..., dim), by tables that broadcast along it, (..., dim/2), in the tables' precision.

    With `out`, of the shape and dtype of x or x itself, the answer is written there, and no gradient flows. If
    `compiled`, the half layout is turned by a kernel that torch.compile makes at its first use.
    """
    if out is not None:
        return _into(out, x, cos, sin, layout, compiled)
    rotation = _Rotation if torch.compiler.is_compiling() else _EagerRotation
    return rotation.apply(x, cos, sin, layout, compiled)  # type: ignore[no-untyped-call, no-any-return]


def again(x: Tensor, table: RotaryTable, layout: str) -> Tensor | None:
    """`x` turned by what `turn_small` has kept for tensors like it; None: nothing, or nothing that may be used here."""
    kept = table.__dict__.get("_kept")
    if kept is None or _is_transformed():
        return None
    known = kept.get((x.shape, x.dtype, layout))
    cos, sin = table.cos, table.sin
    if known is None or known[0] != (cos._version, sin._version) or cos.requires_grad or sin.requires_grad:
        return None
    return _by_form(x, known[1], layout, x.requires_grad and torch.is_grad_enabled())


def turn_small(x: Tensor, cos: Tensor, sin: Tensor, layout: str, table: RotaryTable | None) -> Tensor:
    """Turns all pairs of `x`, of few numbers, as `turn` does.

    `table`, from which cos and sin were made to fit x, keeps the form of them that turns tensors like x, if it may.
    """
    transformed = _is_transformed()
    with torch.inference_mode(False), torch.no_grad():
        form = _form(cos, sin, layout)
    if table is not None and not transformed and _may_keep(table):
        kept = table.__dict__.setdefault("_kept", {})
        kept[x.shape, x.dtype, layout] = (table.cos._version, table.sin._version), form
    return _by_form(x, form, layout, transformed or (x.requires_grad and torch.is_grad_enabled()))


def _may_keep(table: RotaryTable) -> bool:
    parts = table.cos, table.sin
    return all(type(part) in (Tensor, torch.nn.Parameter) and not part.is_inference() for part in parts)


def _by_form(x: Tensor, form: tuple[Tensor, ...], layout: str, derivatives: bool) -> Tensor:
    wide = x if x.element_size() >= 4 else x.float()
    turned = (_small_half if layout == "half" else _small_interleaved)(wide, form, derivatives)
    return turned if turned.dtype == x.dtype else turned.type_as(x)  # quicker than to


def _form(cos: Tensor, sin: Tensor, layout: str) -> tuple[Tensor, ...]:
    if layout == "half":
        return torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)
    return (torch.complex(cos, sin),)


def _is_transformed() -> bool:
    """Whether torch.compile, torch.func or forward derivatives look on: nothing is kept then, or taken from before."""
    return (
        torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0
    )


def _small_half(x: Tensor, form: tuple[Tensor, ...], derivatives: bool) -> Tensor:
    cos, sin = form
    other = x.roll(x.shape[-1] // 2, -1)
    return torch.addcmul(x * cos, other, sin) if derivatives else (x * cos).addcmul_(other, sin)


def _small_interleaved(x: Tensor, form: tuple[Tensor, ...], derivatives: bool) -> Tensor:
    (phases,) = form
    if derivatives or not x.is_contiguous() or x.storage_offset() % 2:
        return torch.view_as_real(_as_complex(x) * phases).flatten(-2)
    return (x.view(phases.dtype) * phases).view(x.dtype)


class _Rotation(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, cos: Tensor, sin: Tensor, layout: str, compiled: bool) -> Tensor:
        if torch.compiler.is_compiling():
            return _one_pass(x, cos, sin, layout)
        return _into(torch.empty_like(x), x, cos, sin, layout, compiled)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, cos, sin, ctx.layout, ctx.compiled = inputs
        ctx.save_for_backward(cos, sin)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None, None]:
        cos, sin = ctx.saved_tensors
        return turn(gradient, cos, -sin, ctx.layout, compiled=ctx.compiled), None, None, None, None


class _EagerRotation(_Rotation):
    """With what torch.compile does not take: forward derivatives and torch.vmap."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _Rotation.setup_context(ctx, inputs, output)
        ctx.save_for_forward(*inputs[1:3])

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *unused: None) -> Tensor:
        cos, sin = ctx.saved_tensors
        return turn(tangent, cos, sin, ctx.layout, compiled=ctx.compiled)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *inputs: Any) -> Any:
        *tensors, layout, compiled = inputs
        x, cos, sin = (
            part[None] if dim is None else part.movedim(dim, 0) for part, dim in zip(tensors, in_dims, strict=False)
        )
        return turn(x.expand(info.batch_size, *x.shape[1:]), cos, sin, layout, compiled=compiled), 0


def _one_pass(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """The formula in a form that torch.compile makes one pass of: halves are exchanged, and not joined."""
    wide, pairs = x.to(cos.dtype), x.shape[-1] // 2
    if layout == "half":
        halves = wide.reshape(*x.shape[:-1], 2, pairs)
        sign = 2 * torch.arange(2, device=x.device, dtype=cos.dtype)[:, None] - 1
        turned = halves * cos.unsqueeze(-2) + halves.flip(-2) * (sign * sin.unsqueeze(-2))
        return turned.flatten(-2).to(x.dtype)
    first, second = wide.reshape(*x.shape[:-1], pairs, 2).unbind(-1)
    return torch.stack([first * cos - second * sin, first * sin + second * cos], -1).flatten(-2).to(x.dtype)


def _one_pass_into(out: Tensor, x: Tensor, cos: Tensor, sin: Tensor) -> None:
    out.copy_(_one_pass(x, cos, sin, "half"))


@cache
def _kernel() -> Callable[..., None]:
    # Where sizes are left open, the compiler makes loops that are tens of times slower.
    return torch.compile(_one_pass_into, dynamic=False)


_KERNELS: set[Any] = set()  # what they were made for


def _has_kernel(*tensors: Tensor) -> bool:
    """Whether there is a kernel for tensors of such shapes, or one more may be made."""
    kind = torch.get_num_threads(), *((part.shape, part.stride(), part.dtype, part.device) for part in tensors)
    if kind not in _KERNELS and len(_KERNELS) < MOST_KERNELS:
        _KERNELS.add(kind)
    return kind in _KERNELS


def _into(out: Tensor, x: Tensor, cos: Tensor, sin: Tensor, layout: str, compiled: bool) -> Tensor:
    """Piece by piece or in one pass; `out` may be x, which a copy of it or of the piece then stands for."""
    if compiled and layout == "half" and _has_kernel(out, x, cos, sin):
        _kernel()(out, x.clone() if out is x else x.detach(), cos, sin)
        return out
    rotate: Any = _interleaved if layout == "interleaved" else _half
    parts = [torch.complex(cos, sin)] if layout == "interleaved" else [torch.cat([cos, cos], -1), sin]
    table = [part.expand(*x.shape[:-1], -1) for part in parts]
    narrow, in_place = x.dtype != cos.dtype, out is x and layout == "half"
    passes = x.device.type == "cpu" and (narrow or layout == "half")  # more than one over memory
    outer, size = _piece(x.shape) if passes else (0, len(x))
    number = 2 if narrow else int(in_place)
    memory = [torch.empty((size, *x.shape[outer + 1 :]), dtype=cos.dtype, device=x.device) for _ in range(number)]
    for place in _places(x.shape, outer, size):
        taken, given = x[place], out[place]
        copied = [part[: len(taken)] for part in memory]
        rotate(
            copied[0].copy_(taken) if copied else taken,
            copied[1] if narrow else given,
            *(part[place] for part in table),
        )
        if narrow:
            given.copy_(copied[1])
    return out


def _piece(shape: torch.Size) -> tuple[int, int]:
    """How many axes to go through one by one, and how much of the next to take, for about PIECE numbers at once."""
    outer = 0
    while outer < len(shape) - 2 and math.prod(shape[outer + 1 :]) >= PIECE:
        outer += 1
    row = len(shape) == 1  # which is not cut
    return outer, shape[0] if row else min(shape[outer], max(1, PIECE // max(1, math.prod(shape[outer + 1 :]))))


def _places(shape: torch.Size, outer: int, size: int) -> Iterator[tuple[int | slice, ...]]:
    """Where the pieces are that `_piece` describes."""
    for first in product(*map(range, shape[:outer])):
        for start in range(0, shape[outer], max(1, size)):
            yield (*first, slice(start, start + size))


def _interleaved(x: Tensor, turned: Tensor, phases: Tensor) -> None:
    """As a product of complex numbers."""
    if _is_aligned(turned):
        torch.mul(_as_complex(x), phases, out=_as_complex(turned))
    else:
        turned.copy_(torch.view_as_real(_as_complex(x) * phases).flatten(-2))


def _half(x: Tensor, turned: Tensor, cos: Tensor, sin: Tensor) -> None:
    """All of x times the cosine, which is listed for both halves, and to each half the other times the sine."""
    torch.mul(x, cos, out=turned)
    (first, second), (into_first, into_second) = x.chunk(2, -1), turned.chunk(2, -1)
    into_first.addcmul_(second, sin, value=-1)
    into_second.addcmul_(first, sin)


def _is_aligned(x: Tensor) -> bool:
    """Whether neighbouring numbers can be seen as a complex number."""
    return x.stride(-1) == 1 and not any(step % 2 for step in (*x.stride()[:-1], x.storage_offset()))


def _as_complex(x: Tensor) -> Tensor:
    """Neighbouring numbers as one complex number, (..., dim/2), without a copy where memory allows it."""
    whole = x if _is_aligned(x) else x.clone(memory_format=torch.contiguous_format)
    return torch.view_as_complex(whole.reshape(*whole.shape[:-1], whole.shape[-1] // 2, 2))
