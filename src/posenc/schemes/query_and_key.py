"""Schemes in the query and key: both are turned by their positions, in every layer."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from posenc import scaling
from posenc._arrays import (
    Array,
    as_float_array,
    check_choice,
    check_int,
    check_positive,
    check_rotary_dim,
    describe,
    is_compiling,
    is_concrete,
)
from posenc.absolute import relative_positions
from posenc.rope import Rope
from posenc.rotary import LAYOUTS, RotaryTable, xpos_tables
from posenc.rotary import rotate as turn
from posenc.scaling import Scaled
from posenc.schemes._shared import working_dtype
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


class _Turning(PositionScheme, ABC):
    """Turns queries and keys by tables, which layers that share their positions share."""

    door = "query and key"

    def __init__(self, head_dim: int, layout: str) -> None:
        super().__init__()
        self.head_dim, self.layout = check_int("head_dim", head_dim), check_choice("layout", layout, LAYOUTS)
        self._last: tuple[Any, ...] | None = None

    @abstractmethod
    def tables(self, positions: Tensor, key_positions: Tensor, like: Tensor) -> tuple[RotaryTable, RotaryTable]:
        """Cosines and sines for queries and keys, computed in float64 and cast to the working dtype of `like`."""

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        if q.shape[-1] != self.head_dim:
            raise ValueError(f"q must have shape (batch, heads, length, {self.head_dim}), got shape {tuple(q.shape)}")
        for_q, for_k = self._shared_tables(positions, key_positions, q)
        turning = 2 * for_q.cos.shape[-1]
        rotary_dim = None if turning == self.head_dim else turning
        return (
            turn(q, for_q, self.layout, rotary_dim=rotary_dim),
            turn(k, for_k, self.layout, rotary_dim=rotary_dim),
        )

    def _shared_tables(self, positions: Tensor, key_positions: Tensor, like: Tensor) -> tuple[RotaryTable, RotaryTable]:
        """The tables made last where they were made for these very tensors, and these have not changed since."""
        both = (positions, key_positions)
        # Tables of a graph that is traced or differentiated belong to it, and those made for inference stay there.
        passing = is_compiling() or torch.is_inference_mode_enabled() or not all(map(is_concrete, both))
        if passing or any(at.requires_grad or at.is_inference() for at in both):
            return self.tables(positions, key_positions, like)
        state = (*(at._version for at in both), *(at.dtype for at in both), working_dtype(like.dtype), like.device)
        if self._last is not None:
            known, known_state, made = self._last
            # the same memory: a row for the whole batch is another view of it in every layer
            if known_state == state and all(at.is_set_to(last) for at, last in zip(both, known, strict=True)):
                return made  # type: ignore[no-any-return]
        made = self.tables(positions, key_positions, like)
        self._last = (both, state, made)
        return made


class Rotary(_Turning):
    """RoPE: every pair of a query and a key is turned by its position times its frequency.

    Args:
        base: of the frequencies base^(−2i/d), 10 000 where it is left out. A Hugging Face dictionary has its own.
        rotary_dim: the number of first dimensions that turn, even; None: all of them.
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

    def __init__(
        self,
        head_dim: int,
        base: float | None = None,
        layout: str = "interleaved",
        rotary_dim: int | None = None,
        scaling: str | Mapping[str, Any] | None = None,
        scaling_options: Mapping[str, Any] | None = None,
        layer_type: str | None = None,
        attention_factor: float | None = None,
        seq_len: int | None = None,
    ) -> None:
        super().__init__(head_dim, layout)
        wanted: Mapping[str, Any] | Scaled | Callable[..., Scaled]
        if isinstance(scaling, Mapping):
            # The dictionary says all of these itself.
            for name, value in (("base", base), ("rotary_dim", rotary_dim), ("scaling_options", scaling_options)):
                if value is not None:
                    raise ValueError(f"{name} must be None where scaling is a dictionary, got {describe(value)}")
            wanted = scaling
        else:
            method = "default" if scaling is None else check_choice("scaling", scaling, SCALINGS)
            turning = check_rotary_dim("head_dim", rotary_dim, self.head_dim)
            options = _options_of(method, {} if scaling_options is None else scaling_options)
            function = partial(_SCALINGS[method], turning, 10_000.0 if base is None else base, **options)
            wanted = function if method in _BY_LENGTH else function()
        self.rope = Rope(
            self.head_dim,
            layout=self.layout,
            scaling=wanted,
            layer_type=layer_type,
            seq_len=seq_len,
            attention_factor=attention_factor,
        )

    @property
    def seq_len(self) -> int | None:
        """Tokens in the sequence, as given."""
        return self.rope.seq_len

    def frequencies(self, seq_len: int | None = None, *, like: Array = None) -> Scaled:
        """The frequencies in radians per token, float64, shape (dimensions that turn / 2,), and the factor: a `Scaled`.

        `seq_len` is the number of tokens at hand, for scalings that follow it; None: the scheme's own, or 0. `like` is
        an array whose library and device the answer takes; None: NumPy.
        """
        found = self.rope.frequencies(self.seq_len if seq_len is None else check_int("seq_len", seq_len, 0))
        if like is None:
            return found
        return found._replace(inv_freq=as_float_array("inv_freq", found.inv_freq.tolist(), like=like))

    def tables(self, positions: Tensor, key_positions: Tensor, like: Tensor) -> tuple[RotaryTable, RotaryTable]:
        seq_len = self.rope.sequence_length(positions, key_positions)
        for_q = self._table(positions, like, seq_len)
        return for_q, for_q if key_positions is positions else self._table(key_positions, like, seq_len)

    def _table(self, positions: Tensor, like: Tensor, seq_len: int | None) -> RotaryTable:
        along = positions if self.rope.axes is None else positions[..., None]  # the same on all axes
        return self.rope.table(along, like=like, seq_len=seq_len)


class Mixed(PositionScheme):
    """Layers that rotate, and every so many one that does not, from which the distance is hidden.

    The scheme of a layer is `for_layer(index)`; on its own this one has neither rotation nor bias.

    Args:
        every: the layers every − 1, 2·every − 1, … do not rotate; at least 2.
        window: tokens that a layer which rotates looks back at, itself included; None: all.
        base, scaling, scaling_options, attention_factor: as in `Rotary`.

    Source: Yang et al. 2025, "Rope to Nope and Back Again", for layers of both kinds and for the window.

    >>> scheme = Mixed(8, every=4)
    >>> [scheme.for_layer(index) is scheme.plain for index in range(5)]
    [False, False, False, True, False]
    """

    door = "query and key"

    def __init__(
        self,
        head_dim: int,
        base: float | None = None,
        every: int = 4,
        window: int | None = None,
        scaling: str | None = None,
        scaling_options: Mapping[str, Any] | None = None,
        attention_factor: float | None = None,
    ) -> None:
        super().__init__()
        self.every = check_int("every", every, 2)
        self.rotated = _Windowed(
            head_dim, base, scaling=scaling, scaling_options=scaling_options, attention_factor=attention_factor
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


class XPos(_Turning):
    """xPos: rotation with lengths that shrink for queries and grow for keys (`posenc.rotary.xpos_tables`).

    Scores depend on distances alone and fade with them, for queries after their keys. Positions have to stay below
    about 35 000 with the paper's constants: subtract a common origin beyond. `gamma` (γ) and `scale_base`, the tokens
    over which pair i shrinks by ζ_i, are greater than 0.

    Source: Sun et al. 2022, "A Length-Extrapolatable Transformer", section 2.

    >>> scheme, ones = XPos(4, scale_base=2.0), torch.ones(1, 1, 3, 4)
    >>> q, k = scheme.rotate(ones, ones, torch.arange(3))
    >>> (q @ k.mT)[0, 0, :, 0].round(decimals=2)  # the scores of the first key
    tensor([4.0000, 2.1800, 1.0500])
    """

    def __init__(
        self,
        head_dim: int,
        base: float = 10_000.0,
        layout: str = "interleaved",
        gamma: float = 0.4,
        scale_base: float = 512.0,
    ) -> None:
        super().__init__(check_rotary_dim("head_dim", None, check_int("head_dim", head_dim)), layout)
        self._base = check_positive("base", base)
        self._constants = {
            "gamma": check_positive("gamma", gamma),
            "scale_base": check_positive("scale_base", scale_base),
        }

    def tables(self, positions: Tensor, key_positions: Tensor, like: Tensor) -> tuple[RotaryTable, RotaryTable]:
        inv_freq = scaling.default(self.head_dim, self._base, like=positions).inv_freq
        of_queries, of_keys = (
            xpos_tables(at, inv_freq, **self._constants, length_axis=-2, like=like) for at in (positions, key_positions)
        )
        return of_queries[0], of_keys[1]


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
