"""Schemes that act on queries and keys: both are rotated by their positions, in every layer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from posenc import scaling
from posenc._arrays import (
    Array,
    Layout,
    as_float_array,
    check_choice,
    check_int,
    check_positive,
    check_rotary_dim,
    describe,
)
from posenc.absolute import relative_positions
from posenc.rope import Rope
from posenc.rotary import LAYOUTS, CosSin, rotate, xpos_cos_sin
from posenc.scaling import Scaled
from posenc.schemes.interface import PositionScheme
from posenc.schemes.no_position import NoPosition

_SCALINGS: dict[str, Callable[..., Scaled]] = {
    "default": scaling.default,
    "linear": scaling.linear,
    "ntk_aware": scaling.ntk_aware,
    "dynamic_ntk": scaling.dynamic_ntk,
    "ntk_by_parts": scaling.ntk_by_parts,
    "yarn": scaling.yarn,
    "llama3": scaling.llama3,
    "longrope": scaling.longrope,
    "proportional": scaling.proportional,
}
SCALINGS = tuple(_SCALINGS)
_BY_LENGTH = ("dynamic_ntk", "longrope")


class Rotary(PositionScheme):
    """RoPE: every dimension pair of a query and a key is rotated by its position times its frequency.

    Args:
        base: of the frequencies base^(−2i/d), 10 000 where it is left out. A Hugging Face dictionary has its own.
        layout: "half-split" or "interleaved".
        rotary_dim: how many of the first dimensions are rotated, even; None: all of them.
        scaling: None, the name of a function of `posenc.scaling`, or a Hugging Face dictionary, as
            `posenc.scaling.from_config` reads it.
        scaling_options: the further arguments of that function: factor, original_max_position_embeddings and so on.
        layer_type: the layers wanted, for a dictionary that is per layer.
        attention_factor: multiplies cosines and sines, in place of what the scaling says.
        seq_len: tokens in the sequence, for scalings that follow it; None: one more than the greatest position at hand.

    Source: Su et al. 2021, section 3.2.2; for scaling, see `posenc.scaling`.

    >>> scheme, ones = Rotary(4), torch.ones(1, 1, 3, 4)
    >>> q, k = scheme.rotate(ones, ones, torch.arange(3))
    >>> (q @ k.mT)[0, 0].round(decimals=2)  # a score depends on the distance alone
    tensor([[4.0000, 3.0800, 1.1700],
            [3.0800, 4.0000, 3.0800],
            [1.1700, 3.0800, 4.0000]])
    """

    injection_point = "query and key"

    def __init__(
        self,
        head_dim: int,
        base: float | None = None,
        layout: Layout = "half-split",
        rotary_dim: int | None = None,
        scaling: str | Mapping[str, Any] | None = None,
        scaling_options: Mapping[str, Any] | None = None,
        layer_type: str | None = None,
        attention_factor: float | None = None,
        seq_len: int | None = None,
    ) -> None:
        super().__init__()
        self.head_dim = check_int("head_dim", head_dim)
        self.seq_len = None if seq_len is None else check_int("seq_len", seq_len, 0)
        if isinstance(scaling, Mapping):
            # The dictionary says all of these itself.
            for name, value in (("base", base), ("rotary_dim", rotary_dim), ("scaling_options", scaling_options)):
                if value is not None:
                    raise ValueError(f"{name} must be None where scaling is a dictionary, got {describe(value)}")
            rope = Rope.from_config(scaling, self.head_dim, layout=layout, layer_type=layer_type, seq_len=seq_len)
        else:
            if layer_type is not None:
                raise ValueError(f"layer_type must be None where scaling is no dictionary, got {layer_type!r}")
            method = "default" if scaling is None else check_choice("scaling", scaling, SCALINGS)
            width = check_rotary_dim("head_dim", rotary_dim, self.head_dim)
            options = _options_of(method, {} if scaling_options is None else scaling_options)
            frequencies = partial(_SCALINGS[method], width, 10_000.0 if base is None else base, **options)
            if method in _BY_LENGTH:
                rope = Rope.from_schedule(lambda n: frequencies(seq_len=n), dim=self.head_dim, layout=layout)
            else:
                rope = Rope.from_frequencies(*frequencies(), dim=self.head_dim, layout=layout)
        self.rope = rope if attention_factor is None else _with_factor(rope, attention_factor)

    def frequencies(self, seq_len: int | None = None, *, like: Array = None) -> Scaled:
        """The frequencies in radians per token, float64, shape (dimensions that turn / 2,), and the factor: a `Scaled`.

        `seq_len` is the number of tokens at hand, for scalings that follow it; None: the scheme's own, or 0. `like` is
        an array whose library and device the answer takes; None: NumPy.
        """
        found = self.rope.frequencies(self.seq_len if seq_len is None else check_int("seq_len", seq_len, 0))
        if like is None:
            return found
        return found._replace(inv_freq=as_float_array("inv_freq", found.inv_freq.tolist(), like=like))

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        if self.rope.axes is not None:  # the same position on all axes
            positions, key_positions = positions[..., None], key_positions[..., None]
        return self.rope(q, k, positions, key_positions=key_positions, seq_len=self.seq_len)


class Mixed(PositionScheme):
    """Layers that rotate, and every so many one that does not, from which the distance is hidden.

    The scheme of a layer is `for_layer(index)`; on its own this one has neither rotation nor bias.

    Args:
        every: the layers every − 1, 2·every − 1, … do not rotate; at least 2.
        window: tokens that a layer which rotates looks back at, itself included; None: all.
        base, layout, scaling, scaling_options, attention_factor: as in `Rotary`.

    Source: Yang et al. 2025, "Rope to Nope and Back Again", for layers of both kinds and for the window.

    >>> scheme = Mixed(8, every=4)
    >>> [scheme.for_layer(index) is scheme.plain for index in range(5)]
    [False, False, False, True, False]
    """

    injection_point = "query and key"

    def __init__(
        self,
        head_dim: int,
        base: float | None = None,
        every: int = 4,
        window: int | None = None,
        layout: Layout = "half-split",
        scaling: str | None = None,
        scaling_options: Mapping[str, Any] | None = None,
        attention_factor: float | None = None,
    ) -> None:
        super().__init__()
        self.every = check_int("every", every, 2)
        self.rotated = _Windowed(
            head_dim, base, layout, scaling=scaling, scaling_options=scaling_options, attention_factor=attention_factor
        )
        self.rotated.window = None if window is None else check_int("window", window)
        self.plain = NoPosition()

    def for_layer(self, index: int) -> PositionScheme:
        return self.plain if check_int("index", index, 0) % self.every == self.every - 1 else self.rotated


class _Windowed(Rotary):
    """RoPE whose queries see no further back than a window, of so many tokens with their own."""

    window: int | None = None

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor | None:
        if self.window is None:
            return None
        offsets = relative_positions(positions, key_positions)
        outside = torch.zeros_like(offsets, dtype=q.dtype).masked_fill(offsets <= -self.window, -torch.inf)
        return outside.unsqueeze(-3).expand(*outside.shape[:-2], q.shape[1], -1, -1)


class XPos(PositionScheme):
    """xPos: rotation with lengths that shrink for queries and grow for keys (`posenc.rotary.xpos_cos_sin`).

    Scores depend on distances alone and fade with them, for queries after their keys. Positions have to stay below
    about 35 000 with the paper's constants: subtract a common origin beyond. `gamma` (γ) and `scale_base`, the tokens
    over which pair i shrinks by ζ_i, are greater than 0.

    Source: Sun et al. 2022, "A Length-Extrapolatable Transformer", section 2.

    >>> scheme, ones = XPos(4, scale_base=2.0), torch.ones(1, 1, 3, 4)
    >>> q, k = scheme.rotate(ones, ones, torch.arange(3))
    >>> (q @ k.mT)[0, 0, :, 0].round(decimals=2)  # the scores of the first key
    tensor([4.0000, 2.1800, 1.0500])
    """

    injection_point = "query and key"

    def __init__(
        self,
        head_dim: int,
        base: float = 10_000.0,
        layout: Layout = "half-split",
        gamma: float = 0.4,
        scale_base: float = 512.0,
    ) -> None:
        super().__init__()
        self.head_dim = check_rotary_dim("head_dim", None, check_int("head_dim", head_dim))
        self.layout = check_choice("layout", layout, LAYOUTS)
        self._base = check_positive("base", base)
        self._gamma, self._scale_base = check_positive("gamma", gamma), check_positive("scale_base", scale_base)

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        if q.shape[-1] != self.head_dim:
            raise ValueError(f"q must have heads of width {self.head_dim}, got shape {tuple(q.shape)}")
        inv_freq = scaling.default(self.head_dim, self._base, like=positions).inv_freq
        (of_queries, _), (_, of_keys) = (
            xpos_cos_sin(at, inv_freq, gamma=self._gamma, scale_base=self._scale_base)
            for at in (positions, key_positions)
        )
        if positions.ndim == 2:  # one row of positions for each sequence, the same in all heads
            of_queries, of_keys = (CosSin(*(part[:, None] for part in both)) for both in (of_queries, of_keys))
        return rotate(q, of_queries, self.layout), rotate(k, of_keys, self.layout)


def _with_factor(rope: Rope, attention_factor: float) -> Rope:
    """The same rotation with another factor on cosines and sines."""
    if rope.follows_length:
        return Rope.from_schedule(
            lambda n: rope.frequencies(n)._replace(attention_factor=attention_factor),
            dim=rope.dim,
            layout=rope.layout,
            axes=rope.axes,
        )
    return Rope.from_frequencies(rope.inv_freq, attention_factor, dim=rope.dim, layout=rope.layout, axes=rope.axes)


def _options_of(method: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """`options`, after checking that the scaling of that name takes them and lacks none."""
    if not isinstance(options, Mapping):
        raise TypeError(f"scaling_options must be a mapping, got {describe(options)}")
    parameters = inspect.signature(_SCALINGS[method]).parameters
    accepted = {name: one for name, one in parameters.items() if name not in ("dim", "base", "seq_len", "like")}
    if set(options) - set(accepted):
        raise ValueError(f"scaling_options for {method!r} must be among {sorted(accepted)}, got {options!r}")
    missing = [name for name, one in accepted.items() if one.default is one.empty and name not in options]
    if missing:
        raise ValueError(f"scaling_options must have {missing} for {method!r}, got {options!r}")
    return options
