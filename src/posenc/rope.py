"""`Rope`: the rotary encoding of one kind of layer as one object, from numbers or from a model's configuration.

It puts together `posenc.scaling` (frequencies), `posenc.frequencies` (angles) and `posenc.rotary` (tables, rotation),
and keeps the table of the first positions. Arguments of the wrong kind raise TypeError, others that do not fit, and
configurations that `posenc.scaling.from_config` refuses, ValueError.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, cast

import numpy as np

from posenc._arrays import (
    Array,
    as_float_array,
    check_bool,
    check_choice,
    check_float_array,
    check_int,
    check_positive,
    check_rotary_dim,
    describe,
    device_of,
    is_array,
    is_compiling,
    is_concrete,
    is_torch,
    namespace,
    widest_float,
)
from posenc.configuration import read_configuration
from posenc.frequencies import angles as make_angles
from posenc.frequencies import inv_freq as make_inv_freq
from posenc.rotary import LAYOUTS, RotaryTable, rotary_table, rotate
from posenc.scaling import Scaled, from_config

_BY_LENGTH = ("dynamic", "longrope")  # types whose frequencies follow the length at hand
_LEAST_KEPT = 256  # positions in a table that is kept; longer ones are powers of two


class Rope:
    """Rotary encoding: turns queries and keys by their positions.

    Args:
        dim: width of a head, even unless `rotary_dim` says what turns.
        base: of the frequencies base^(−2i/d); None: what `scaling` says, else 10 000.
        layout: "interleaved" (pair i is dimensions 2i and 2i + 1) or "half" (i and i + d/2).
        rotary_dim: the first dimensions that turn, even; None: what `scaling` says, else all.
        scaling: None; a mapping that `posenc.scaling.from_config` reads, as `{"rope_type": "yarn", "factor": 4, …}`;
            frequencies and a factor, as the functions of `posenc.scaling` return them, where frequencies may be a
            tensor that learns; or a function of `seq_len` that returns both.
        layer_type: the layers wanted, for a mapping that is per layer.
        axes: for positions of several axes, which of them each pair follows: one whole number a pair, as `sections`
            and `Rope.axial` make them. None: what the mapping says (M-RoPE), else positions have one axis.
        seq_len: tokens of the whole sequence, for scalings that follow it (dynamic, longrope, a function). None: one
            more than the greatest position at hand.
        attention_factor: the factor on cosines and sines, greater than 0; None: what `scaling` says, else 1.

    Attributes:
        inv_freq, attention_factor: frequencies in radians per token, shape (rotary_dim/2,), and the factor on cosines
            and sines; where they follow the length, those of a sequence of length `seq_len`, else of an empty one.

    Source: Su et al. 2021, "RoFormer", section 3.2.2.

    >>> rope = Rope(4)
    >>> q, k = rope(np.ones((1, 1, 3, 4)), np.ones((1, 1, 3, 4)))  # (batch, heads, length, dim)
    >>> (q @ np.swapaxes(k, -1, -2))[0, 0].round(2).tolist()  # a score depends on the distance alone
    [[4.0, 3.08, 1.17], [3.08, 4.0, 3.08], [1.17, 3.08, 4.0]]
    """

    def __init__(
        self,
        dim: int,
        base: float | None = None,
        *,
        layout: str = "interleaved",
        rotary_dim: int | None = None,
        scaling: Mapping[str, Any] | Scaled | Callable[..., Scaled] | None = None,
        layer_type: str | None = None,
        axes: Sequence[int] | None = None,
        seq_len: int | None = None,
        attention_factor: float | None = None,
    ) -> None:
        self.dim, self.layout = check_int("dim", dim, 2), check_choice("layout", layout, LAYOUTS)
        self.seq_len = None if seq_len is None else check_int("seq_len", seq_len, 0)
        self._rotary_dim = None if rotary_dim is None else check_rotary_dim("dim", rotary_dim, self.dim)
        self._factor = None if attention_factor is None else check_positive("attention_factor", attention_factor)
        dictionary: dict[str, Any] = {}
        self._places: list[int] | None = None  # of each pair in a list of frequencies that axes share
        if isinstance(scaling, Mapping):
            scaling = scaling if base is None else _with_base(scaling, base)
            dictionary = scaling = dict(read_configuration(scaling).of(layer_type).parameters)
            follows = dictionary["rope_type"] in _BY_LENGTH
            axes = _axes_of(dictionary) if axes is None else axes
        elif layer_type is not None:
            raise ValueError(f"layer_type must be None where scaling is no mapping, got {layer_type!r}")
        elif scaling is None:
            width = check_rotary_dim("dim", rotary_dim, self.dim)
            scaling, follows = Scaled(make_inv_freq(width, 10_000.0 if base is None else base), 1.0), False
        elif base is not None:
            raise ValueError(f"base must be None where scaling has the frequencies, got {base!r}")
        else:
            follows = callable(scaling)
        self._scaling, self.follows_length = scaling, follows and self.seq_len is None
        if dictionary.get("rope_type") == "axial":
            listed = self.frequencies(self.seq_len).inv_freq.shape[0]
            axes = (
                _in_blocks(listed, dictionary.get("n_axes", 2), dictionary.get("shared", False))
                if axes is None
                else axes
            )
            self._places = None if dictionary.get("shared") else _places(axes, listed)
        self.inv_freq, self.attention_factor = self.frequencies(self.seq_len)
        self.rotary_dim = 2 * as_float_array("scaling", self.inv_freq).shape[-1]
        if self._rotary_dim not in (None, self.rotary_dim) or self.rotary_dim > self.dim:
            raise ValueError(
                f"scaling must have a frequency for each pair that turns, {(self._rotary_dim or self.dim) // 2}, got "
                f"{describe(self.inv_freq)}"
            )
        self.axes = None if axes is None else _check_axes(axes, self.rotary_dim // 2)
        self._numbers = _as_numbers(self.inv_freq)
        self._kept: dict[Any, RotaryTable] = {}
        self._last: tuple[Any, tuple[RotaryTable, ...]] = None, ()  # tables, and what they were made for

    @classmethod
    def from_config(
        cls,
        config: Any,
        head_dim: int | None = None,
        *,
        layout: str | None = None,
        layer_type: str | None = None,
        seq_len: int | None = None,
    ) -> Rope:
        """The rotation that a model's configuration asks for.

        Args:
            config: a mapping as read from config.json, or a configuration of the library transformers, as
                `posenc.configuration.read_configuration` takes it.
            head_dim: width of a head, of the part that rotates; None: what the configuration says.
            layout: None: that of the model's code by its model_type, "half" where the type is not known.
            layer_type: the layers wanted, where they differ; `by_layer_type` gives all.

        >>> llama = {"head_dim": 128, "rope_parameters": {"rope_type": "default", "rope_theta": 500_000.0}}
        >>> Rope.from_config(llama)
        Rope(128, layout='half', 64 pairs from 1 to 2.46e-06 radians a token)
        """
        rotation = read_configuration(config).of(layer_type)
        dim = rotation.head_dim if head_dim is None else head_dim
        if dim is None:
            raise ValueError(
                f"config must have head_dim, or hidden_size and num_attention_heads, got {describe(config)}"
            )
        if rotation.head_dim not in (None, dim):
            raise ValueError(f"head_dim must be what config says, {rotation.head_dim}, got {dim}")
        return cls(dim, layout=layout or rotation.layout, scaling=rotation.parameters, seq_len=seq_len)

    @classmethod
    def by_layer_type(
        cls, config: Any, head_dim: int | None = None, *, layout: str | None = None, seq_len: int | None = None
    ) -> dict[str, Rope]:
        """The rotations of a configuration whose layers differ, by the names that its `layer_types` has.

        Layers that do not rotate have none. Arguments and errors as for `from_config`.

        >>> rope = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}
        >>> list(Rope.by_layer_type({"rope_parameters": rope}, 64))
        ['full_attention', 'sliding_attention']
        """
        names = [one.layer_type for one in read_configuration(config).rotations]
        if names in ([], [None]):
            raise ValueError(f"config must have parameters per layer, got {describe(config)}")
        return {
            str(name): cls.from_config(config, head_dim, layout=layout, layer_type=name, seq_len=seq_len)
            for name in names
        }

    @classmethod
    def axial(cls, dim: int, n_axes: int = 2, base: float = 10_000.0, *, layout: str = "interleaved") -> Rope:
        """A rotation for grids: the head is shared out among the axes, each with a whole list of frequencies.

        `dim`, the width of a head, is a multiple of 2·n_axes; `n_axes` is that of the positions, 2 for pictures.
        Source: Fang et al. 2023, "EVA-02", section 2.1, and Heo et al. 2024, "Rotary Position Embedding for Vision
        Transformer", equation (12), for two axes.

        >>> rope = Rope.axial(8)  # rows and columns: two pairs each
        >>> rope.axes, rope.inv_freq.tolist()
        ((0, 0, 1, 1), [1.0, 0.01, 1.0, 0.01])
        """
        check_int("n_axes", n_axes)
        if check_int("dim", dim, 2) % (2 * n_axes):
            raise ValueError(f"dim must be a multiple of two for each of the {n_axes} axes, {2 * n_axes}, got {dim}")
        of_axis = make_inv_freq(dim // n_axes, base)
        axes = [axis for axis in range(n_axes) for _ in of_axis]
        return cls(dim, layout=layout, scaling=Scaled(np.tile(of_axis, n_axes), 1.0), axes=axes)

    @property
    def n_axes(self) -> int:
        """How many axes the positions have."""
        return 1 if self.axes is None else max(self.axes) + 1

    def __repr__(self) -> str:
        fastest, slowest = (f"{float(self.inv_freq[pair]):.3g}" for pair in (0, -1))
        factor = "" if self.attention_factor == 1 else f", attention factor {self.attention_factor:.4g}"
        along = "" if self.axes is None else f", along {self.n_axes} axes"
        pairs = f"{self.rotary_dim // 2} pairs from {fastest} to {slowest} radians a token"
        return f"Rope({self.dim}, layout={self.layout!r}, {pairs}{factor}{along})"

    def frequencies(self, seq_len: int | None = None) -> Scaled:
        """Frequencies, NumPy, and factor for a sequence of `seq_len` tokens; alike where they do not follow it.

        >>> rope = Rope(4, scaling={"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 8})
        >>> [rope.frequencies(length).inv_freq.round(4).tolist() for length in (8, 16)]
        [[1.0, 0.01], [1.0, 0.0033]]
        """
        if isinstance(self._scaling, Mapping):
            width = self.dim if self._rotary_dim is None else self._rotary_dim
            found = from_config(self._scaling, width, seq_len)
            found = found if self._places is None else found._replace(inv_freq=found.inv_freq[self._places])
        elif callable(self._scaling):
            found = Scaled(*self._scaling(seq_len=seq_len or 0))
        else:
            found = Scaled(*self._scaling)
        return found if self._factor is None else found._replace(attention_factor=self._factor)

    def sequence_length(self, *positions: Array) -> int | None:
        """One more than the greatest position, for the `seq_len` of `table`; None: frequencies do not follow it.

        Raises ValueError for positions whose values torch.compile hides: give `Rope` a `seq_len`.

        >>> rope = Rope(4, scaling={"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 8})
        >>> rope.sequence_length(np.arange(5)), Rope(4).sequence_length(np.arange(5))
        (5, None)
        """
        if not self.follows_length:
            return None
        ends = [0]
        for each in positions:
            if not is_concrete(each):
                raise ValueError("seq_len must be given to Rope where positions cannot be looked at, got None")
            at = np.asarray(each.detach().cpu() if is_torch(each) else each)
            ends.append(int(at.max()) + 1 if at.size else 0)
        return max(ends)

    def table(
        self,
        positions: Array = None,
        *,
        length: int | None = None,
        offset: int | Array = 0,
        length_axis: int = -2,
        like: Array = None,
        seq_len: int | None = None,
    ) -> RotaryTable:
        """Cosines and sines for `posenc.rotary.rotate`: to be made once and used in every layer.

        Args:
            positions: shape (..., length), or (..., length, axes) where the rotation has axes; its axes before the
                length belong to the first axes of x, and one of size 1 serves all. A last axis of size 1 stands for the
                same position on all axes, as of text among pictures. None: offset, offset + 1, …, `length` of them.
            offset: a number, or an array of no axes.
            length_axis: the axis of x, from its end, that counts tokens.
            like: queries or keys, whose library, device and working precision the table takes.
            seq_len: as `sequence_length` says it of the positions of queries and keys; None: of `positions` alone.

        >>> table = Rope(64).table(length=1000)
        >>> table[:10].cos.shape
        (10, 32)
        """
        if (positions is None) == (length is None):
            raise ValueError(f"either positions or length must be given, got {describe(positions)} and {length!r}")
        if length is not None:
            return self._counted(check_int("length", length, 0), offset, length_axis, like)
        numbers, factor = self._numbers, self.attention_factor
        if self.follows_length:
            scaled = self.frequencies(self.sequence_length(positions) if seq_len is None else seq_len)
            numbers, factor = _as_numbers(scaled.inv_freq), scaled.attention_factor
        turned = self._angles(positions, numbers, like)
        return rotary_table(turned, factor, length_axis=length_axis, like=like)

    def _counted(self, length: int, offset: int | Array, length_axis: int, like: Array) -> RotaryTable:
        """The table of `length` positions from `offset` on."""
        learned = not isinstance(self._numbers, list)
        if is_compiling() or self.follows_length or learned or is_array(offset):
            xp, device = namespace(like, self.inv_freq if learned else None), device_of(like, self.inv_freq)
            counted = xp.arange(length, device=device if xp is namespace(like) or learned else None) + offset
            counted = counted if self.axes is None else counted[:, None]
            return self.table(counted, length_axis=length_axis, like=like)
        key = None if like is None else (type(like), device_of(like), like.dtype)
        kept = self._kept.get(key)
        end = check_int("offset", offset, 0) + length
        if kept is None or kept.cos.shape[0] < end:
            size = max(_LEAST_KEPT, 2 ** (end - 1).bit_length()) if end else _LEAST_KEPT
            every = np.arange(size) if self.axes is None else np.arange(size)[:, None]
            kept = rotary_table(self._angles(every, self._numbers, None), self.attention_factor, length_axis=-2)
            if like is not None:
                kept = _as_like(kept, like)
            if is_concrete(like) or like is None:
                self._kept[key] = kept
        return cast("RotaryTable", kept[end - length : end])._replace(length_axis=length_axis)

    def _angles(self, positions: Array, frequencies: list[float] | Array, like: Array) -> Array:
        """Angles in radians, (..., length, pairs), by frequencies as `_as_numbers` has them."""
        if isinstance(frequencies, list):
            xp, device = namespace(positions, like), device_of(positions, like)
            frequencies = xp.asarray(frequencies, dtype=widest_float(xp, device), device=device)
        if self.axes is None:
            return make_angles(positions, frequencies)
        at = as_float_array("positions", positions, like=like)
        xp = namespace(at)
        if at.ndim < 2 or at.shape[-1] not in (1, self.n_axes):
            raise ValueError(
                f"positions must have shape (..., length, {self.n_axes}), got {describe(positions, at.shape)}"
            )
        if at.shape[-1] > 1:
            at = xp.take(at, xp.asarray(self.axes, device=device_of(at)), axis=-1)
        return at * as_float_array("inv_freq", frequencies)

    def rotate(self, x: Array, positions: Array = None, *, offset: int | Array = 0, length_axis: int = -2) -> Array:
        """Queries or keys `x`, shape (..., length, dim), each pair turned by its angle.

        Args:
            positions, offset: as for `table`; without them x stands at 0, 1, ….
            length_axis: the axis of x, from its end, that counts tokens: −2 for (batch, heads, length, dim), −3 for
                (batch, length, heads, dim).

        >>> Rope(2).rotate(np.array([[1.0, 0.0]]), offset=1).round(2).tolist()
        [[0.54, 0.84]]
        """
        shape = tuple(check_float_array("x", x).shape)
        if positions is None:
            table = self.table(length=_length("x", shape, length_axis), offset=offset, length_axis=length_axis, like=x)
        else:
            table = self.table(positions, length_axis=length_axis, like=x)
        return self._turn("x", x, table)

    def __call__(
        self,
        q: Array,
        k: Array,
        positions: Array = None,
        *,
        key_positions: Array = None,
        offset: int | Array = 0,
        length_axis: int = -2,
    ) -> tuple[Array, Array]:
        """Queries and keys, turned, each in its shape and dtype.

        Args:
            q, k: shape (..., length, dim) each; heads may be fewer in k.
            positions: of the queries, and of the keys where `key_positions` is None; as for `table`.
            key_positions: of the keys, where they are others.
            offset: the first position, where neither is given. Keys then count from it, and queries that are fewer are
                the last of them, as in decoding with a cache of keys that are not turned yet.
            length_axis: as for `rotate`.
        """
        if key_positions is None and positions is not None:
            table = self.table(positions, length_axis=length_axis, like=q)
            for_k = table if _same(q, k) else self.table(positions, length_axis=length_axis, like=k)
            return self._turn("q", q, table), self._turn("k", k, for_k)
        if positions is not None:
            seq_len = self.sequence_length(positions, key_positions)
            for_q, for_k = (
                self.table(at, length_axis=length_axis, like=x, seq_len=seq_len)
                for at, x in ((positions, q), (key_positions, k))
            )
            return self._turn("q", q, for_q), self._turn("k", k, for_k)
        if key_positions is not None:
            raise ValueError(f"positions must be given where key_positions are, got None and {describe(key_positions)}")
        return self._turn_counted(q, k, offset, length_axis)

    def _turn_counted(self, q: Array, k: Array, offset: int | Array, length_axis: int) -> tuple[Array, Array]:
        """Queries and keys that stand one after another. The next layer asks for the tables of the last call."""
        rotary_dim = None if self.rotary_dim == self.dim else self.rotary_dim
        key = None
        if type(offset) is int and is_torch(q) and is_torch(k) and not is_compiling():
            key = offset, length_axis, q.shape, k.shape, q.dtype, k.dtype, q.device, k.device, type(q), type(k)
            if self._last[0] == key:
                for_q, for_k = self._last[1]
                return (
                    rotate(q, for_q, self.layout, rotary_dim=rotary_dim),
                    rotate(k, for_k, self.layout, rotary_dim=rotary_dim),
                )
        queries, keys = (
            _length(name, tuple(check_float_array(name, x).shape), length_axis) for name, x in (("q", q), ("k", k))
        )
        if queries > keys:
            raise ValueError(f"q must be no longer than k without positions, got {queries} and {keys} tokens")
        for_k = for_q = self.table(length=keys, offset=offset, length_axis=length_axis, like=k)
        if queries < keys or not _same(q, k):
            last = offset + (keys - queries)
            for_q = self.table(length=queries, offset=last, length_axis=length_axis, like=q)
        turned = self._turn("q", q, for_q), self._turn("k", k, for_k)
        if key is not None and is_concrete(q) and is_concrete(k) and _may_be_kept(for_q) and _may_be_kept(for_k):
            self._last = key, (for_q, for_k)
        return turned

    def _turn(self, name: str, x: Array, table: RotaryTable) -> Array:
        if x.shape[-1] != self.dim:
            raise ValueError(f"{name} must have heads of width {self.dim}, got shape {tuple(x.shape)}")
        return rotate(x, table, self.layout, rotary_dim=None if self.rotary_dim == self.dim else self.rotary_dim)


def sections(sizes: Sequence[int], interleaved: bool = False) -> list[int]:
    """Which axis of the positions each pair follows, where each axis has so many pairs.

    Args:
        sizes: pairs of each axis, whole numbers of at least 0; for M-RoPE those of time, height and width.
        interleaved: False: one axis after the other (Qwen2-VL). True: in turn, 0, 1, 2, 0, 1, 2, …, until an axis has
            all its pairs, whose places axis 0 then takes (Qwen3-VL).

    Returns as many numbers as the sum of `sizes`, for `Rope(axes=…)`.
    Source: Wang et al. 2024, "Qwen2-VL", section 2.1; the code released with Qwen3-VL in the library transformers.

    >>> sections((1, 2, 1)), sections((2, 1, 1), interleaved=True)
    ([0, 1, 1, 2], [0, 1, 2, 0])
    """
    counted = [check_int("sizes", size, 0) for size in sizes]
    if not check_bool("interleaved", interleaved):
        return [axis for axis, size in enumerate(counted) for _ in range(size)]
    axes, step = [0] * sum(counted), len(counted)
    for axis, size in enumerate(counted[1:], 1):
        if axis + step * (size - 1) >= len(axes):
            raise ValueError(f"sizes must leave room to take turns, got {describe(sizes)}")
        axes[axis : size * step : step] = [axis] * size
    return axes


def _axes_of(dictionary: Mapping[str, Any]) -> Sequence[int] | None:
    """What a rope dictionary says of axes, pair by pair."""
    if "mrope_section" in dictionary:
        return sections(dictionary["mrope_section"], bool(dictionary.get("mrope_interleaved", False)))
    return dictionary.get("axes")


def _in_blocks(listed: int, n_axes: int = 2, shared: bool = False) -> list[int]:
    """Axes that one after another have a part of the head, given how many frequencies `posenc.scaling.axial` lists."""
    return [axis for axis in range(n_axes) for _ in range(listed // n_axes if shared else listed)]


def _places(axes: Sequence[int], listed: int) -> list[int]:
    """For each pair, the place in a list of frequencies that every axis goes through on its own."""
    places = [list(axes[:pair]).count(axis) for pair, axis in enumerate(axes)]
    if max(places, default=0) >= listed:
        raise ValueError(f"axes must have at most {listed} pairs of each axis, got {describe(axes)}")
    return places


def _check_axes(axes: Sequence[int], pairs: int) -> tuple[int, ...]:
    checked = tuple(check_int("axes", axis, 0) for axis in axes)
    if len(checked) != pairs:
        raise ValueError(f"axes must have a number for each of the {pairs} pairs, got {len(checked)}")
    return checked


def _as_numbers(inv_freq: Array) -> list[float] | Array:
    """Frequencies as Python's numbers, which every library takes and a compiler holds as constants.

    A tensor, which may learn, stays as it is.
    """
    return inv_freq if is_array(inv_freq) and not isinstance(inv_freq, np.ndarray) else np.asarray(inv_freq).tolist()


def _with_base(scaling: Mapping[str, Any], base: float) -> dict[str, Any]:
    given = scaling.get("rope_theta")
    if given not in (None, base):
        raise ValueError(f"base must be what scaling says, {given!r}, or None, got {base!r}")
    return dict(scaling) | {"rope_theta": base}


def _as_like(table: RotaryTable, like: Array) -> RotaryTable:
    """A NumPy table in the library, on the device and in the working precision of `like`."""
    xp = namespace(like)
    dtype = xp.float32 if xp.finfo(like.dtype).bits < 32 else like.dtype
    with sys.modules["torch"].inference_mode(False) if is_torch(like) else nullcontext():  # a later call may train
        cos, sin = (xp.asarray(part, dtype=dtype, device=device_of(like)) for part in (table.cos, table.sin))
    return RotaryTable(cos, sin, table.length_axis)


def _length(name: str, shape: tuple[int, ...], length_axis: int) -> int:
    """The number of tokens, the size of one axis."""
    if isinstance(length_axis, bool) or not isinstance(length_axis, int) or not -len(shape) <= length_axis <= -2:
        raise ValueError(f"length_axis must name an axis of {name} of shape {shape} from its end, got {length_axis!r}")
    return shape[length_axis]


def _may_be_kept(table: RotaryTable) -> bool:
    """Whether a later call may use a table of torch: it does not learn, and was made where derivatives are."""
    return is_concrete(table.cos) and not (table.cos.requires_grad or table.cos.is_inference())


def _same(q: Array, k: Array) -> bool:
    """Whether a table made for one serves the other."""
    return bool(q.dtype == k.dtype and device_of(q) == device_of(k))
