"""RoPE and its variants: queries and keys are rotated by their positions, in every layer."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

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
    namespace,
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
    """RoPE: every dimension pair of queries and keys is rotated by its position times its frequency.

    Args:
        base: of the frequencies base^(−2i/d); None: 10 000. A Hugging Face dictionary has its own.
        layout: "half-split" or "interleaved".
        rotary_dim: number of first dimensions that are rotated, even (partial rotary); None: all.
        scaling: None, the name of a function of `posenc.scaling`, or a Hugging Face dictionary, as
            `posenc.scaling.from_config` reads it.
        scaling_options: further arguments of that function: factor, original_max_position_embeddings and so on.
        layer_type: kind of layers, for a dictionary that is per layer type.
        attention_factor: factor on cosines and sines, instead of the scaling's.
        seq_len: tokens in the sequence, for scalings that depend on it; None: one more than the largest position.

    Source: Su et al. 2021, section 3.2.2; for scaling, see `posenc.scaling`.

    >>> import numpy as np
    >>> scheme, ones = Rotary(4), np.ones((1, 1, 3, 4))
    >>> q, k = scheme.rotate(ones, ones, np.arange(3))
    >>> (q @ np.swapaxes(k, -1, -2))[0, 0].round(2).tolist()  # a score depends on the distance alone
    [[4.0, 3.08, 1.17], [3.08, 4.0, 3.08], [1.17, 3.08, 4.0]]
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
            # The dictionary has all of these.
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
        """Frequencies, float64, shape (rotary_dim/2,), in radians per token, and attention factor: a `Scaled`.

        Args:
            seq_len: tokens in the sequence, for scalings that depend on it; None: the scheme's own, or 0.
            like: array whose library and device the result has; None: NumPy.
        """
        scaled = self.rope.frequencies(self.seq_len if seq_len is None else check_int("seq_len", seq_len, 0))
        if like is None:
            return scaled
        return scaled._replace(inv_freq=as_float_array("inv_freq", scaled.inv_freq.tolist(), like=like))

    def _rotate(self, q: Array, k: Array, positions: Array, key_positions: Array) -> tuple[Array, Array]:
        if self.rope.axes is not None:  # the same position on all axes
            positions, key_positions = positions[..., None], key_positions[..., None]
        return self.rope(q, k, positions, key_positions=key_positions, seq_len=self.seq_len)


class Mixed(PositionScheme):
    """RoPE layers with a NoPE layer after every `every` − 1 of them.

    The scheme of a layer is `for_layer(index)`; on its own this one neither rotates nor biases.

    Args:
        every: layers every − 1, 2·every − 1, … are NoPE layers; at least 2.
        window: sliding window of the RoPE layers in tokens, the query included; None: global.
        base, layout, scaling, scaling_options, attention_factor: as in `Rotary`.

    Source: Yang et al. 2025, "Rope to Nope and Back Again".

    >>> scheme = Mixed(8, every=4)
    >>> [scheme.for_layer(index) is scheme.nope for index in range(5)]
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
        self.nope = NoPosition()

    def for_layer(self, index: int) -> PositionScheme:
        return self.nope if check_int("index", index, 0) % self.every == self.every - 1 else self.rotated


class _Windowed(Rotary):
    """RoPE with sliding-window attention."""

    window: int | None = None

    def _bias(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array | None:
        if self.window is None:
            return None
        offsets = relative_positions(positions, key_positions)[..., None, :, :]
        xp = namespace(offsets)
        outside = xp.where(offsets <= -self.window, -math.inf, xp.zeros_like(offsets))
        return xp.broadcast_to(outside, (*offsets.shape[:-3], q.shape[1], *offsets.shape[-2:]))


class XPos(PositionScheme):
    """xPos: RoPE whose queries shrink and whose keys grow with position (`posenc.rotary.xpos_cos_sin`).

    Scores depend on distance alone and decay with it, for queries after their keys. With the paper's constants,
    positions must stay below about 35 000: subtract a common origin beyond. `gamma` (γ) and `scale_base`, the tokens
    over which pair i shrinks by ζ_i, are greater than 0.

    Source: Sun et al. 2022, "A Length-Extrapolatable Transformer", section 2.

    >>> import numpy as np
    >>> scheme, ones = XPos(4, scale_base=2.0), np.ones((1, 1, 3, 4))
    >>> q, k = scheme.rotate(ones, ones, np.arange(3))
    >>> (q @ np.swapaxes(k, -1, -2))[0, 0, :, 0].round(2).tolist()  # the scores of the first key
    [4.0, 2.18, 1.05]
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

    def _rotate(self, q: Array, k: Array, positions: Array, key_positions: Array) -> tuple[Array, Array]:
        if q.shape[-1] != self.head_dim:
            raise ValueError(f"q must have heads of width {self.head_dim}, got shape {tuple(q.shape)}")
        inv_freq = scaling.default(self.head_dim, self._base, like=positions).inv_freq
        (for_q, _), (_, for_k) = (
            xpos_cos_sin(at, inv_freq, gamma=self._gamma, scale_base=self._scale_base)
            for at in (positions, key_positions)
        )
        if positions.ndim == 2:  # one row per sequence, the same in all heads
            for_q, for_k = (CosSin(*(part[:, None] for part in cos_sin)) for cos_sin in (for_q, for_k))
        return rotate(q, for_q, self.layout), rotate(k, for_k, self.layout)


def _with_factor(rope: Rope, attention_factor: float) -> Rope:
    """The same rotation with another attention factor."""
    if rope.follows_length:
        return Rope.from_schedule(
            lambda n: rope.frequencies(n)._replace(attention_factor=attention_factor),
            dim=rope.dim,
            layout=rope.layout,
            axes=rope.axes,
        )
    return Rope.from_frequencies(rope.inv_freq, attention_factor, dim=rope.dim, layout=rope.layout, axes=rope.axes)


def _options_of(method: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """`options`, after checking that the scaling takes all of them and lacks none."""
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
