"""Every scheme of the book as a torch module, each at the door by which it enters attention.

    x = scheme.embed(x, positions)                              the input: added to the embeddings, once
    q, k = scheme.rotate(q, k, positions)                       the query and key: turned in every layer
    attention(q, k, v, bias=scheme.bias(q, k, positions), scale=scheme.logit_scale(head_dim, n_keys))
                                                                the logits: biased or scaled in every layer

A scheme changes one of them and leaves the others neutral, so that a Transformer calls all and takes any scheme. The
arithmetic is that of `posenc.absolute`, `rotary`, `scaling` and `bias`; here are parameters, shapes and dtypes.

Positions are explicit everywhere, tensors of shape (length,), (1, length) or (batch, length), in tokens. In decoding
with a cache the queries are the last ones of the keys: `positions` are then those of the queries, and `key_positions`
those of the keys. Where a scheme rotates, either rotate queries and keys together as they come and keep the rotated
keys, or keep them unrotated and rotate them all with their `key_positions`; for a scaling that follows the length of
the sequence (dynamic NTK, LongRoPE) only the second is right. The bias wants all keys, and q and k as `rotate` has
left them.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

try:
    import torch
    from torch import Tensor, nn
except ModuleNotFoundError:
    from posenc._arrays import NEEDS_TORCH

    raise ModuleNotFoundError(NEEDS_TORCH, name="torch") from None

from posenc import absolute, scaling
from posenc import bias as biases
from posenc._arrays import (
    Array,
    being_traced,
    even_dim,
    flag,
    floats,
    has_values,
    one_of,
    positive,
    said,
    said_of,
    whole,
)
from posenc.absolute import relative_positions
from posenc.rope import Rope
from posenc.rotary import LAYOUTS, RotaryTable, check_rotary_dim, xpos_tables
from posenc.rotary import rotate as turn
from posenc.scaling import Scaled

DOORS = ("input", "query and key", "logits", "none")
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


# ---------------------------------------------------------------------------------------------------------------------
# What all of them ask of their arguments


def _floats(name: str, value: Tensor, shape: str) -> Tensor:
    """`value`, after checking that it is a tensor of floats with as many axes as `shape` names."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor of floats, got {said(value)}")
    if not value.is_floating_point():
        raise TypeError(f"{name} must be a tensor of floats, got dtype {value.dtype}")
    if value.ndim != shape.count(",") + 1:
        raise ValueError(f"{name} must have shape {shape}, got shape {tuple(value.shape)}")
    return value


def _positions(name: str, positions: Tensor, batch: int, length: int) -> Tensor:
    """`positions`, after checking that they belong to sequences of that length; their values are checked later."""
    if not isinstance(positions, Tensor):
        raise TypeError(f"{name} must be a tensor of real numbers, got {said(positions)}")
    if positions.dtype == torch.bool or positions.is_complex():
        raise TypeError(f"{name} must be a tensor of real numbers, got dtype {positions.dtype}")
    if tuple(positions.shape) not in {(length,), (1, length), (batch, length)}:
        raise ValueError(
            f"{name} must have shape ({length},), (1, {length}) or ({batch}, {length}), "
            f"got shape {tuple(positions.shape)}"
        )
    if positions.is_floating_point() and not being_traced() and not bool(positions.isfinite().all()):
        raise ValueError(f"{name} must be finite, got {said_of(positions, ~positions.isfinite())}")
    return positions[0] if positions.ndim == 2 and batch > 1 == positions.shape[0] else positions


def _queries_and_keys(q: Tensor, k: Tensor, *, grouped: bool) -> None:
    """Refuses queries and keys that do not belong together; with `grouped`, several heads of q may share one of k."""
    for name, tensor in (("q", q), ("k", k)):
        _floats(name, tensor, "(batch, heads, length, head_dim)")
        if 0 in (tensor.shape[1], tensor.shape[3]):
            raise ValueError(f"{name} must have at least one head and dimension, got shape {tuple(tensor.shape)}")
    if k.dtype != q.dtype:
        raise TypeError(f"k must have the dtype of q, {q.dtype}, got dtype {k.dtype}")
    heads_fit = q.shape[1] % k.shape[1] == 0 if grouped else q.shape[1] == k.shape[1]
    if k.shape[0] != q.shape[0] or k.shape[3] != q.shape[3] or not heads_fit:
        heads = f"a divisor of {q.shape[1]}" if grouped else str(q.shape[1])
        raise ValueError(f"k must have shape ({q.shape[0]}, {heads}, keys, {q.shape[3]}), got shape {tuple(k.shape)}")


def _where_they_stand(q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor | None) -> tuple[Tensor, Tensor]:
    """The positions of queries and of keys, of equally many axes, on their device; the same tensor where they agree."""
    batch, queries, keys = q.shape[0], q.shape[2], k.shape[2]
    at = _positions("positions", positions, batch, queries)
    if key_positions is None:
        if keys != queries:
            raise ValueError(
                f"key_positions must be given where there are {queries} queries and {keys} keys, got {key_positions}"
            )
        return (on_device := at.to(q.device)), on_device
    keys_at = _positions("key_positions", key_positions, batch, keys)
    if at.ndim != keys_at.ndim:
        at, keys_at = at.expand(batch, queries), keys_at.expand(batch, keys)
    return at.to(q.device), keys_at.to(q.device)


def _working_dtype(dtype: torch.dtype) -> torch.dtype:
    """float32 for the half precisions, in which a bias would lose its last tokens."""
    return torch.float32 if dtype.itemsize < 4 else dtype


@contextmanager
def _seeded(seed: int | None) -> Iterator[None]:
    """Draws initial values from a seed of their own, or from torch's global generator where there is none."""
    if seed is None:
        yield
        return
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(whole("seed", seed, 0))  # that of the CPU alone, which is put back
        yield


def _normal(*shape: int, std: float) -> nn.Parameter:
    return nn.Parameter(torch.randn(shape) * std)


# ---------------------------------------------------------------------------------------------------------------------
# The interface


class PositionScheme(nn.Module):
    """A scheme that changes nothing: attention blind to positions but for its mask. The others are built on it.

    Attributes:
        door: where the scheme enters: "input", "query and key", "logits" or "none".
        causal: True for a scheme for decoders, whose queries look only back; False for one for encoders; None where
            the scheme is the same for both. A bias of a causal scheme may be −∞ for later keys, but need not be: the
            mask is attention's.

    A scheme of your own overrides `_embed`, `_rotate`, `_bias` or `_logit_scale`, which get checked arguments.
    """

    door: ClassVar[str] = "none"
    causal: bool | None = None

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """The embeddings with their positions: x itself, or x + a code of the position.

        Args:
            x: shape (batch, length, dim), any floating dtype.
            positions: shape (length,), (1, length) or (batch, length), in tokens.

        Returns:
            shape and dtype of x.

        Raises:
            TypeError, ValueError: tensors of another kind or shape, positions that the scheme has no code for.
        """
        _floats("x", x, "(batch, length, dim)")
        at = _positions("positions", positions, x.shape[0], x.shape[1])
        return self._embed(x, at.to(x.device))

    def rotate(
        self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys, turned by their positions or as they are.

        Args:
            q: shape (batch, heads, queries, head_dim), any floating dtype.
            k: shape (batch, key heads, keys, head_dim), in the dtype of q; the number of key heads divides heads.
            positions: of the queries, shape (queries,), (1, queries) or (batch, queries), in tokens.
            key_positions: of the keys, likewise; None: those of the queries.

        Returns:
            (q, k), of the shapes and the dtype given.

        Raises:
            TypeError, ValueError: tensors of another kind or shape.
        """
        _queries_and_keys(q, k, grouped=True)
        return self._rotate(q, k, *_where_they_stand(q, k, positions, key_positions))

    def bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor | None = None) -> Tensor | None:
        """What is added to the scaled products q·k·logit_scale, or None.

        Args:
            q, k: as for `rotate`, with as many heads of k as of q: repeat the keys of a group before.
            positions, key_positions: as for `rotate`.

        Returns:
            None, or floats of shape (heads, queries, keys), or (batch, heads, queries, keys) where positions differ
            between sequences or the bias depends on q and k; finite, or −∞ for keys that stand after the query. In the
            dtype of q, in float32 for bfloat16 and float16: for `posenc.attention.attention`, and for torch's
            `scaled_dot_product_attention` as attn_mask.

        Raises:
            TypeError, ValueError: tensors of another kind or shape.
        """
        _queries_and_keys(q, k, grouped=False)
        added = self._bias(q, k, *_where_they_stand(q, k, positions, key_positions))
        return None if added is None else added.to(_working_dtype(q.dtype))

    def logit_scale(self, head_dim: int, n_keys: int) -> float:
        """The factor on q·k: 1/√head_dim, unless the scheme has another.

        Args:
            head_dim: width of a query, at least 1.
            n_keys: keys that the softmax is taken over, at least 0; only a temperature that follows it looks at it.

        Raises:
            TypeError, ValueError: no whole numbers, or too small.
        """
        return self._logit_scale(whole("head_dim", head_dim), whole("n_keys", n_keys, 0))

    def for_layer(self, index: int) -> PositionScheme:
        """The scheme of one layer of a Transformer, by its index from 0: itself, unless layers differ."""
        return self

    def _embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        return q, k

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor | None:
        return None

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1 / math.sqrt(head_dim)


# ---------------------------------------------------------------------------------------------------------------------
# No code at all


class NoPosition(PositionScheme):
    """NoPE: positions are told by the causal mask alone, and without it by nothing.

    Source: Haviv et al. 2022; Kazemnejad et al. 2023.
    """


class NoPositionWithTemperature(PositionScheme):
    """NoPE with sharper logits: the factor λ/√head_dim, against the dilution of weights among many keys.

    λ = factor, or factor · max(1, ln n_keys / ln trained_length) where a trained length is given. The second grows
    with n_keys: in decoding step by step each query has its own, in one pass all have that of the last.

    Args:
        factor: greater than 0; above 1 it sharpens.
        trained_length: tokens in training, at least 2, or None.

    Source: Wang et al. 2024, "Length Generalization of Causal Transformers without Position Encoding", for the factor;
    Su 2021 (kexue.fm/archives/8823) for the logarithm, under which a key that stands ln trained_length above equal ones
    keeps half of the weight at any n_keys.
    """

    def __init__(self, factor: float = 1.0, trained_length: int | None = None) -> None:
        super().__init__()
        self.factor = positive("factor", factor)
        self.trained_length = None if trained_length is None else whole("trained_length", trained_length, 2)

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        sharper = self.factor
        if self.trained_length is not None:
            sharper *= math.log(max(n_keys, self.trained_length)) / math.log(self.trained_length)
        return sharper * super()._logit_scale(head_dim, n_keys)


# ---------------------------------------------------------------------------------------------------------------------
# The input


class _Added(PositionScheme, ABC):
    """Adds a code of the position to embeddings of one width."""

    door = "input"

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = whole("dim", dim)

    def _embed(self, x: Tensor, positions: Tensor) -> Tensor:
        if x.shape[-1] != self.dim:
            raise ValueError(f"x must have shape (batch, length, {self.dim}), got shape {tuple(x.shape)}")
        return x + self.code(positions).to(x.dtype)

    @abstractmethod
    def code(self, positions: Tensor) -> Tensor:
        """What is added, shape (*positions.shape, dim)."""


class Integer(_Added):
    """The position itself on every dimension (`posenc.absolute.integer`). A baseline that drowns the embedding.

    Args:
        dim: width of the embeddings, at least 1.
    """

    def code(self, positions: Tensor) -> Tensor:
        return absolute.integer(positions, self.dim)  # type: ignore[no-any-return]


class Normalised(_Added):
    """The share of the text before the position (`posenc.absolute.normalised`). A baseline.

    Args:
        dim: width of the embeddings, at least 1.
        length: tokens in a text, at least 1.
    """

    def __init__(self, dim: int, length: int) -> None:
        super().__init__(dim)
        self.length = whole("length", length)

    def code(self, positions: Tensor) -> Tensor:
        return absolute.normalised(positions, self.length, self.dim)  # type: ignore[no-any-return]


class Binary(_Added):
    """The position in binary (`posenc.absolute.binary`), for positions below 2^dim. A baseline.

    Args:
        dim: width of the embeddings, at least 1.
    """

    def code(self, positions: Tensor) -> Tensor:
        return absolute.binary(positions, self.dim)  # type: ignore[no-any-return]


class Sinusoidal(_Added):
    """The sinusoidal code (`posenc.absolute.sinusoidal`).

    Args:
        dim: width of the embeddings, at least 1.
        base: finite and greater than 0.
        layout: "interleaved" or "half".

    Source: Vaswani et al. 2017, section 3.5.
    """

    def __init__(self, dim: int, base: float = 10_000.0, layout: str = "interleaved") -> None:
        super().__init__(dim)
        self.base, self.layout = positive("base", base), one_of("layout", layout, absolute.LAYOUTS)

    def code(self, positions: Tensor) -> Tensor:
        return absolute.sinusoidal(positions, self.dim, self.base, self.layout)  # type: ignore[no-any-return]


class Learned(_Added):
    """A learned table (`posenc.absolute.learned`), a row for each position.

    Args:
        dim: width of the embeddings, at least 1.
        max_positions: rows, at least 1.
        past_end: "refuse" positions that have no row, "clamp" them to the last row, or "interpolate" the table.
        length: positions that the table is stretched over, for "interpolate" alone.
        std: of the normal distribution that rows are drawn from.
        seed: of the initial values; None: torch's global generator.
    """

    def __init__(
        self,
        dim: int,
        max_positions: int,
        past_end: str = "refuse",
        length: int | None = None,
        std: float = 0.02,
        seed: int | None = None,
    ) -> None:
        super().__init__(dim)
        self.past_end, self.length = one_of("past_end", past_end, absolute.PAST_END), length
        with _seeded(seed):
            self.table = _normal(whole("max_positions", max_positions), self.dim, std=positive("std", std))
        self.code(torch.zeros(0))  # refuses a length that does not go with past_end

    def code(self, positions: Tensor) -> Tensor:
        return absolute.learned(  # type: ignore[no-any-return]
            positions, self.table, past_end=self.past_end, length=self.length
        )


# ---------------------------------------------------------------------------------------------------------------------
# The query and key


class _Turning(PositionScheme, ABC):
    """Turns queries and keys by tables, which layers that share their positions share."""

    door = "query and key"

    def __init__(self, head_dim: int, layout: str) -> None:
        super().__init__()
        self.head_dim, self.layout = whole("head_dim", head_dim), one_of("layout", layout, LAYOUTS)
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
        passing = being_traced() or torch.is_inference_mode_enabled() or not all(map(has_values, both))
        if passing or any(at.requires_grad or at.is_inference() for at in both):
            return self.tables(positions, key_positions, like)
        state = (*(at._version for at in both), *(at.dtype for at in both), _working_dtype(like.dtype), like.device)
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
        head_dim: width of a head, at least 2.
        base: of the frequencies base^(−2i/d), 10 000 where it is left out. A Hugging Face dictionary has its own.
        layout: "interleaved" or "half".
        rotary_dim: the number of first dimensions that turn, even; None: all of them.
        scaling: None, the name of a function of `posenc.scaling`, or a Hugging Face dictionary, as
            `posenc.scaling.from_config` reads it.
        scaling_options: the further arguments of that function: factor, original_max_position_embeddings and so on.
        layer_type: the layers wanted, for a dictionary that is per layer.
        attention_factor: multiplies cosines and sines, in place of what the scaling says.
        seq_len: tokens in the sequence, for scalings that follow it; None: one more than the greatest position at hand.

    Source: Su et al. 2021, section 3.2.2; for scaling, see `posenc.scaling`.
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
                    raise ValueError(f"{name} must be None where scaling is a dictionary, got {said(value)}")
            wanted = scaling
        else:
            method = "default" if scaling is None else one_of("scaling", scaling, SCALINGS)
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
        """The frequencies in radians per token, and the factor on cosines and sines.

        Args:
            seq_len: tokens in the sequence at hand, for scalings that follow it; None: the scheme's own, or 0.
            like: an array whose library and device the answer takes; NumPy where it is left out.

        Returns:
            `Scaled`: float64, shape (dimensions that turn / 2,), and the attention factor.
        """
        found = self.rope.frequencies(self.seq_len if seq_len is None else whole("seq_len", seq_len, 0))
        if like is None:
            return found
        return found._replace(inv_freq=floats("inv_freq", found.inv_freq.tolist(), like=like))

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
        head_dim: width of a head, at least 2.
        every: the layers every − 1, 2·every − 1, … do not rotate; at least 2.
        window: tokens that a layer which rotates looks back at, itself included; None: all.
        base, scaling, scaling_options, attention_factor: as in `Rotary`.

    Source: Yang et al. 2025, "Rope to Nope and Back Again", for layers of both kinds and for the window.
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
        self.every = whole("every", every, 2)
        self.rotated = _Windowed(
            head_dim, base, scaling=scaling, scaling_options=scaling_options, attention_factor=attention_factor
        )
        self.rotated.window = None if window is None else whole("window", window)
        self.plain = NoPosition()

    def for_layer(self, index: int) -> PositionScheme:
        return self.plain if whole("index", index, 0) % self.every == self.every - 1 else self.rotated


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
    about 35 000 with the paper's constants: subtract a common origin beyond.

    Args:
        head_dim: width of a head, even.
        base: of the frequencies, finite and greater than 0.
        layout: "interleaved" or "half".
        gamma: γ, greater than 0.
        scale_base: tokens over which pair i shrinks by ζ_i, greater than 0.

    Source: Sun et al. 2022, "A Length-Extrapolatable Transformer", section 2.
    """

    def __init__(
        self,
        head_dim: int,
        base: float = 10_000.0,
        layout: str = "interleaved",
        gamma: float = 0.4,
        scale_base: float = 512.0,
    ) -> None:
        super().__init__(check_rotary_dim("head_dim", None, whole("head_dim", head_dim)), layout)
        self._base = positive("base", base)
        self._constants = {"gamma": positive("gamma", gamma), "scale_base": positive("scale_base", scale_base)}

    def tables(self, positions: Tensor, key_positions: Tensor, like: Tensor) -> tuple[RotaryTable, RotaryTable]:
        inv_freq = scaling.default(self.head_dim, self._base, like=positions).inv_freq
        of_queries, of_keys = (
            xpos_tables(at, inv_freq, **self._constants, length_axis=-2, like=like) for at in (positions, key_positions)
        )
        return of_queries[0], of_keys[1]


def _options_of(method: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """`options`, after checking that the scaling of that name takes them and lacks none."""
    if not isinstance(options, Mapping):
        raise TypeError(f"scaling_options must be a mapping, got {said(options)}")
    parameters = inspect.signature(_SCALINGS[method]).parameters
    accepted = {name: one for name, one in parameters.items() if name not in ("dim", "base", "seq_len", "like")}
    if set(options) - set(accepted):
        raise ValueError(f"scaling_options for {method!r} must be among {sorted(accepted)}, got {options!r}")
    missing = [name for name, one in accepted.items() if one.default is one.empty and name not in options]
    if missing:
        raise ValueError(f"scaling_options must have {missing} for {method!r}, got {options!r}")
    return options


# ---------------------------------------------------------------------------------------------------------------------
# The logits


class _Biasing(PositionScheme):
    """Adds a bias to the logits of a number of heads."""

    door = "logits"

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.n_heads = whole("n_heads", n_heads)

    def _check_heads(self, q: Tensor) -> None:
        if q.shape[1] != self.n_heads:
            wanted = f"(batch, {self.n_heads}, length, head_dim)"
            raise ValueError(f"q must have shape {wanted}, got shape {tuple(q.shape)}")


class _OffsetBiasing(_Biasing, ABC):
    """Adds a bias that depends on relative positions alone."""

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        self._check_heads(q)
        return self.of_offsets(relative_positions(positions, key_positions))

    @abstractmethod
    def of_offsets(self, offsets: Tensor) -> Tensor:
        """The bias of relative positions, key − query: (..., queries, keys) in, (..., heads, queries, keys) out."""


class ALiBi(_OffsetBiasing):
    """ALiBi: a penalty of m_h logits for each token of distance (`posenc.bias.alibi`).

    Args:
        n_heads: at least 1.
        slopes: m_h, none negative, one for each head; None: the paper's for that number of heads.
        causal: whether queries look only back, as in the paper; −∞ for later keys. Otherwise the symmetric form.

    Source: Press et al. 2022, section 3.
    """

    def __init__(self, n_heads: int, slopes: Sequence[float] | None = None, causal: bool = True) -> None:
        super().__init__(n_heads)
        self.causal = flag("causal", causal)
        if slopes is not None and (isinstance(slopes, str) or not isinstance(slopes, Sequence)):
            raise TypeError(f"slopes must be a list of numbers or None, got {said(slopes)}")
        if slopes is not None and len(slopes) != self.n_heads:
            raise ValueError(f"slopes must be {self.n_heads} numbers, one for each head, got {said(slopes)}")
        self.slopes = tuple(map(float, biases.alibi_slopes(self.n_heads))) if slopes is None else tuple(slopes)
        biases.alibi(torch.zeros(1, 1), self.slopes)  # refuses slopes that are no numbers, or negative

    def of_offsets(self, offsets: Tensor) -> Tensor:
        return biases.alibi(offsets, self.slopes, symmetric=not self.causal)  # type: ignore[no-any-return]


class T5(_OffsetBiasing):
    """T5's learned bias of bucketed relative positions (`posenc.bias.t5`); the products q·k are not scaled.

    One T5 serves all its layers with one table.

    Args:
        n_heads: at least 1.
        causal: True for a decoder, whose buckets are all for the past; False for an encoder, which has half for each
            side.
        num_buckets: at least 2; even and at least 4 for an encoder.
        max_distance: from which on the last bucket holds everything.
        gain: what the table is multiplied by: with more than 1 the same steps of an optimiser move the bias further.
        std: of the normal distribution that the table is drawn from.
        seed: of the initial values; None: torch's global generator.

    Source: Raffel et al. 2020, section 2.1.
    """

    def __init__(
        self,
        n_heads: int,
        causal: bool = True,
        num_buckets: int = 32,
        max_distance: int = 128,
        gain: float = 1.0,
        std: float = 0.02,
        seed: int | None = None,
    ) -> None:
        super().__init__(n_heads)
        self.causal, self.max_distance, self.gain = flag("causal", causal), max_distance, positive("gain", gain)
        # Refuses buckets and distances that do not fit.
        biases.t5_bucket(
            torch.zeros(0), bidirectional=not self.causal, num_buckets=num_buckets, max_distance=max_distance
        )
        with _seeded(seed):
            self.table = _normal(num_buckets, self.n_heads, std=positive("std", std))

    def of_offsets(self, offsets: Tensor) -> Tensor:
        looked_up = biases.t5(offsets, self.table, bidirectional=not self.causal, max_distance=self.max_distance)
        return self.gain * looked_up  # type: ignore[no-any-return]

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1.0


class Sandwich(_OffsetBiasing):
    """Sandwich: the product of two sinusoidal codes, weaker from head to head (`posenc.bias.sandwich`).

    Args:
        n_heads: at least 1.
        dim: width of the codes, even.
        base: finite and greater than 0.

    Source: Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis".
    """

    def __init__(self, n_heads: int, dim: int = 128, base: float = 10_000.0) -> None:
        super().__init__(n_heads)
        self.dim, self.base = even_dim(dim), positive("base", base)

    def of_offsets(self, offsets: Tensor) -> Tensor:
        return biases.sandwich(offsets, self.n_heads, self.dim, self.base)  # type: ignore[no-any-return]


class Kerple(_OffsetBiasing):
    """KERPLE: −r1·ln(1 + r2·distance) or −r1·distance^r2, with learned r1 and r2 for each head (`posenc.bias.kerple`).

    They stay positive because what is learned are their logarithms, log_r1 and log_r2; for the power it is the number
    whose logistic function is half of r2, logit_r2, so that r2 stays below 2.

    Args:
        n_heads: at least 1.
        kind: "logarithmic" or "power".
        seed: of the initial values, drawn evenly from 0.1 to 1 for r1 and r2 of every head; None: torch's global
            generator.

    Source: Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation"; the initial
    values are ours.
    """

    def __init__(self, n_heads: int, kind: str = "logarithmic", seed: int | None = None) -> None:
        super().__init__(n_heads)
        self.kind = one_of("kind", kind, biases.KERPLE_KINDS)
        with _seeded(seed):
            r1, r2 = torch.empty(2, self.n_heads).uniform_(0.1, 1.0)
        self.log_r1 = nn.Parameter(r1.log())
        if kind == "power":
            self.logit_r2 = nn.Parameter((r2 / 2).logit())
        else:
            self.log_r2 = nn.Parameter(r2.log())

    @property
    def r1(self) -> Tensor:
        """Shape (heads,), greater than 0."""
        return self.log_r1.exp()

    @property
    def r2(self) -> Tensor:
        """Shape (heads,), greater than 0; below 2 for the power."""
        return 2 * self.logit_r2.sigmoid() if self.kind == "power" else self.log_r2.exp()

    def of_offsets(self, offsets: Tensor) -> Tensor:
        return biases.kerple(offsets, self.r1, self.r2, kind=self.kind)  # type: ignore[no-any-return]


class Fire(_Biasing):
    """FIRE: a small network's answer to the share of the text that a distance spans (`posenc.bias.fire`).

    The network is Linear(1, width), ReLU, Linear(width, heads), with torch's own initial values. c and the threshold
    stay positive because what is learned are their logarithms, log_c and log_threshold. Positions count from the start
    of the text; −∞ for later keys.

    Args:
        n_heads: at least 1.
        width: of the network's hidden layer, at least 1.
        c: at the beginning, greater than 0.
        threshold: in tokens, at the beginning, greater than 0.
        seed: of the initial values; None: torch's global generator.

    Source: Li et al. 2024, "Functional Interpolation for Relative Positions Improves Long Context Transformers".
    """

    causal = True

    def __init__(
        self, n_heads: int, width: int = 32, c: float = 0.1, threshold: float = 512.0, seed: int | None = None
    ) -> None:
        super().__init__(n_heads)
        with _seeded(seed):
            self.mlp = nn.Sequential(nn.Linear(1, whole("width", width)), nn.ReLU(), nn.Linear(width, self.n_heads))
        self.log_c = nn.Parameter(torch.tensor(math.log(positive("c", c))))
        self.log_threshold = nn.Parameter(torch.tensor(math.log(positive("threshold", threshold))))

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        self._check_heads(q)
        c, threshold = self.log_c.exp(), self.log_threshold.exp()
        return biases.fire(positions, key_positions, self.mlp, c, threshold)  # type: ignore[no-any-return]


class _ContentBiasing(_Biasing, ABC):
    """Adds terms that depend on queries and keys, of one width."""

    def __init__(self, n_heads: int, head_dim: int) -> None:
        super().__init__(n_heads)
        self.head_dim = whole("head_dim", head_dim)

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        if (q.shape[1], q.shape[3]) != (self.n_heads, self.head_dim):
            wanted = f"(batch, {self.n_heads}, length, {self.head_dim})"
            raise ValueError(f"q must have shape {wanted}, got shape {tuple(q.shape)}")
        terms = self.terms(q, k, positions, key_positions)
        return self._logit_scale(self.head_dim, k.shape[2]) * terms

    def _in_heads(self, rows: Tensor) -> Tensor:
        """Rows of all heads side by side, (rows, heads·head_dim), as (heads, rows, head_dim)."""
        return rows.reshape(-1, self.n_heads, self.head_dim).transpose(0, 1)

    @abstractmethod
    def terms(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        """What is added to q·k before the scale, shape (batch, heads, queries, keys)."""


def _check_consecutive(positions: Tensor, key_positions: Tensor) -> None:
    """Refuses keys that do not follow one another, and queries that are not the last of them."""
    queries, keys = positions.shape[-1], key_positions.shape[-1]
    if queries > keys:
        raise ValueError(f"key_positions must be as many as positions, {queries}, or more, got {keys}")
    if being_traced() or keys == 0:
        return
    steps = torch.arange(keys, device=key_positions.device)
    in_order = bool((key_positions == key_positions[..., :1] + steps).all())
    if not in_order or not bool((positions == key_positions[..., keys - queries :]).all()):
        raise ValueError(
            "key_positions must be consecutive and positions the last of them, got positions "
            f"of shape {tuple(positions.shape)} and key_positions of shape {tuple(key_positions.shape)}"
        )


class TransformerXL(_ContentBiasing):
    """Transformer-XL's relative terms: q·r + u·k + v·r with r = W_kR·R of the distance (`posenc.bias.transformer_xl`).

    Keys stand at consecutive positions, and queries are the last of them.

    Args:
        n_heads, head_dim: at least 1.
        causal: whether queries look only back, as in the paper; −∞ for later keys. Otherwise distances go both ways.
        dim: width of the sinusoidal code R; None: n_heads·head_dim.
        base: of that code, finite and greater than 0.
        std: of the normal distribution that w_kr (dim, n_heads·head_dim), u and v (n_heads, head_dim) are drawn from.
        seed: of the initial values; None: torch's global generator.

    Source: Dai et al. 2019, section 3.3.
    """

    def __init__(
        self,
        n_heads: int,
        head_dim: int,
        causal: bool = True,
        dim: int | None = None,
        base: float = 10_000.0,
        std: float = 0.02,
        seed: int | None = None,
    ) -> None:
        super().__init__(n_heads, head_dim)
        width, std = self.n_heads * self.head_dim, positive("std", std)
        self.causal, self.base = flag("causal", causal), positive("base", base)
        self.dim = width if dim is None else whole("dim", dim)
        with _seeded(seed):
            self.w_kr = _normal(self.dim, width, std=std)
            self.u = _normal(self.n_heads, self.head_dim, std=std)
            self.v = _normal(self.n_heads, self.head_dim, std=std)

    def terms(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        _check_consecutive(positions, key_positions)
        farthest, nearest = k.shape[2] - 1, -1 if self.causal else -q.shape[2]
        distances = torch.arange(farthest, min(nearest, farthest), -1, device=q.device)
        code = absolute.sinusoidal(distances, self.dim, self.base, layout="half").to(self.w_kr.dtype)  # (rows, dim)
        r = self._in_heads(code @ self.w_kr)
        return biases.transformer_xl(q, k, r, self.u, self.v).bias  # type: ignore[no-any-return]


class Tener(_ContentBiasing):
    """TENER's relative terms: q·R + u·k + v·R with the sinusoidal code R of the distance itself (`posenc.bias.tener`).

    Made for encoders: distances go both ways, and sines tell left from right. The logits are not scaled. Keys stand at
    consecutive positions, and queries are the last of them.

    Args:
        n_heads, head_dim: at least 1.
        causal: whether queries look only back, in a decoder, which the paper does not have; −∞ for later keys.
        base: of the code, finite and greater than 0.
        std: of the normal distribution that u and v (n_heads, head_dim) are drawn from.
        seed: of the initial values; None: torch's global generator.

    Source: Yan et al. 2019, "TENER: Adapting Transformer Encoder for Named Entity Recognition".
    """

    def __init__(
        self,
        n_heads: int,
        head_dim: int,
        causal: bool = False,
        base: float = 10_000.0,
        std: float = 0.02,
        seed: int | None = None,
    ) -> None:
        super().__init__(n_heads, head_dim)
        self.causal, self.base, std = flag("causal", causal), positive("base", base), positive("std", std)
        with _seeded(seed):
            self.u = _normal(self.n_heads, self.head_dim, std=std)
            self.v = _normal(self.n_heads, self.head_dim, std=std)

    def terms(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        _check_consecutive(positions, key_positions)
        farthest, nearest = k.shape[2] - 1, -1 if self.causal else -q.shape[2]
        distances = torch.arange(farthest, min(nearest, farthest), -1, device=q.device)
        r = absolute.sinusoidal(distances, self.head_dim, self.base)  # (rows, head_dim)
        return biases.tener(q, k, r, self.u, self.v).bias  # type: ignore[no-any-return]

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1.0


class Deberta(_ContentBiasing):
    """DeBERTa's disentangled terms: content to position and position to content (`posenc.bias.deberta`).

    The logits are divided by √(3·head_dim).

    Args:
        n_heads, head_dim: at least 1.
        span: keys `span` − 1 and more before the query share a row, keys `span` and more after it another; at least 1.
        std: of the normal distribution that the table of relative positions p (2·span, n_heads·head_dim) and its
            projections w_kr and w_qr (square) are drawn from.
        seed: of the initial values; None: torch's global generator.

    Source: He et al. 2021, section 3.1.
    """

    def __init__(
        self, n_heads: int, head_dim: int, span: int = 512, std: float = 0.02, seed: int | None = None
    ) -> None:
        super().__init__(n_heads, head_dim)
        width, std = self.n_heads * self.head_dim, positive("std", std)
        with _seeded(seed):
            self.p = _normal(2 * whole("span", span), width, std=std)
            self.w_kr = _normal(width, width, std=std)
            self.w_qr = _normal(width, width, std=std)

    def terms(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        key_relative, query_relative = self._in_heads(self.p @ self.w_kr), self._in_heads(self.p @ self.w_qr)
        offsets = relative_positions(positions, key_positions)
        if offsets.ndim == 2:
            return biases.deberta(q, k, key_relative, query_relative, offsets).bias  # type: ignore[no-any-return]
        each = [  # the offsets of a sequence choose its rows
            biases.deberta(q[i], k[i], key_relative, query_relative, offsets[i]).bias for i in range(q.shape[0])
        ]
        return torch.stack(each) if each else q.new_zeros(*q.shape[:3], k.shape[2])

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1 / math.sqrt(3 * head_dim)


# ---------------------------------------------------------------------------------------------------------------------
# By name

SCHEMES: Mapping[str, type[PositionScheme]] = MappingProxyType(
    {
        "none": NoPosition,
        "none_with_temperature": NoPositionWithTemperature,
        "integer": Integer,
        "normalised": Normalised,
        "binary": Binary,
        "sinusoidal": Sinusoidal,
        "learned": Learned,
        "rope": Rotary,
        "xpos": XPos,
        "alibi": ALiBi,
        "t5": T5,
        "sandwich": Sandwich,
        "kerple": Kerple,
        "fire": Fire,
        "transformer_xl": TransformerXL,
        "tener": Tener,
        "deberta": Deberta,
    }
)


def make_scheme(name: str, **config: Any) -> PositionScheme:
    """A scheme by its name, as `make_scheme("rope", head_dim=64, base=10_000.0)`.

    Args:
        name: one of `SCHEMES`.
        config: the arguments of that class.

    Raises:
        TypeError: `name` is no string, or an argument is of the wrong type.
        ValueError: an unknown name, an argument that the scheme does not take or lacks, or one out of its range; the
            message lists what is accepted.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {said(name)}")
    if name not in SCHEMES:
        raise ValueError(f"name must be one of {', '.join(SCHEMES)}, got {name!r}")
    kind = SCHEMES[name]
    # Without an __init__ of its own a class would answer with that of torch's modules, which takes anything.
    accepted = {} if kind.__init__ is PositionScheme.__init__ else dict(inspect.signature(kind).parameters)
    unknown = sorted(set(config) - set(accepted))
    if unknown:
        raise ValueError(
            f"scheme {name!r} does not take {', '.join(unknown)}; it takes {', '.join(accepted) or 'nothing'}"
        )
    missing = [key for key, one in accepted.items() if one.default is one.empty and key not in config]
    if missing:
        raise ValueError(f"scheme {name!r} lacks {', '.join(missing)}; it takes {', '.join(accepted)}")
    return kind(**config)
