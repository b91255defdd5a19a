"""`Rope`: the rotary position embedding of one kind of layer as one object, from numbers or from a model's config.

It puts together `posenc.scaling` (frequencies), `posenc.frequencies` (angles) and `posenc.rotary` (rotation), computes
what is asked for and keeps nothing. Arguments of the wrong kind raise TypeError; others that do not fit, and
configurations that `posenc.scaling.from_config` refuses, raise ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from posenc._arrays import (
    Array,
    ArrayT,
    Layout,
    as_float_array,
    check_bool,
    check_choice,
    check_float_array,
    check_int,
    check_integers,
    check_like,
    check_positions,
    check_positive,
    check_rotary_dim,
    describe,
    device_of,
    is_array,
    is_concrete,
    is_torch,
    namespace,
    widest_float,
    working_dtype,
)
from posenc.configuration import LayerRotation, read_configuration
from posenc.frequencies import inv_freq as geometric
from posenc.rotary import LAYOUTS, CosSin, rotate
from posenc.rotary import _cos_sin as cosines_and_sines
from posenc.scaling import Scaled, from_config

_BY_LENGTH = ("dynamic", "longrope")  # types whose frequencies follow the length of the sequence
Frequencies = Callable[[int], Scaled]  # of a sequence of so many tokens


class Rope:
    """Rotary position embedding: rotates queries and keys by their positions.

    `Rope(dim, base)` is plain RoPE; `from_config` reads a model's config.json, `from_frequencies` takes any list of
    frequencies, `from_schedule` one that follows the length of the sequence, and `axial` is for images and videos.

    Args:
        dim: width of a head (head_dim).
        base: of the frequencies θ_i = base^(−2i/rotary_dim), greater than 1 (rope_theta).
        layout: "half-split" (pair i is dimensions i and i + d/2; Hugging Face) or "interleaved" (2i and 2i + 1).
        rotary_dim: how many of the first dimensions are rotated, even (partial rotary); None: all of them.
        axes: for positions of several axes, which of them each pair follows, one integer per pair, as `sections`
            makes them. None: positions have one axis.

    Attributes:
        dim, layout, rotary_dim, axes: as given.
        inv_freq: frequencies in radians per token, shape (rotary_dim/2,): NumPy, read-only; or the tensor that was
            given, which may learn. Where they follow the length, those of an empty sequence.
        attention_factor: the factor on cosines and sines.
        follows_length: whether frequencies depend on the length of the sequence.

    Source: Su et al. 2021, "RoFormer", section 3.2.2.

    >>> rope = Rope(4)
    >>> q, k = rope(np.ones((1, 1, 3, 4)), np.ones((1, 1, 3, 4)))  # (batch, heads, length, dim)
    >>> (q @ np.swapaxes(k, -1, -2))[0, 0].round(2).tolist()  # a score depends on the distance alone
    [[4.0, 3.08, 1.17], [3.08, 4.0, 3.08], [1.17, 3.08, 4.0]]
    """

    def __init__(
        self,
        dim: int,
        base: float = 10_000.0,
        *,
        layout: Layout = "half-split",
        rotary_dim: int | None = None,
        axes: Sequence[int] | None = None,
    ) -> None:
        width = check_rotary_dim("dim", rotary_dim, check_int("dim", dim, 2))
        if check_positive("base", base) <= 1:
            raise ValueError(f"base must be greater than 1, so that frequencies decrease, got {base}")
        self._set(Scaled(geometric(width, base), 1.0), dim, layout, axes)

    def _set(self, scaled: Scaled, dim: int | None, layout: Layout, axes: Sequence[int] | None) -> Rope:
        self._schedule: Frequencies | None = None
        inv_freq, factor = scaled
        checked = as_float_array("inv_freq", inv_freq)
        if not is_array(inv_freq) or isinstance(inv_freq, np.ndarray):
            inv_freq = np.array(checked)
            inv_freq.setflags(write=False)
        # As Python's numbers too, which every library takes and a compiler holds as constants.
        self._numbers = inv_freq.tolist() if isinstance(inv_freq, np.ndarray) else None
        if inv_freq.ndim != 1 or inv_freq.shape[0] == 0:
            raise ValueError(f"inv_freq must have shape (rotary_dim/2,), got shape {tuple(inv_freq.shape)}")
        self._inv_freq, self._attention_factor = inv_freq, check_positive("attention_factor", factor)
        self.rotary_dim = 2 * inv_freq.shape[0]
        self.dim = self.rotary_dim if dim is None else check_int("dim", dim, 2)
        if self.rotary_dim > self.dim:
            raise ValueError(
                f"inv_freq must have at most {self.dim // 2} frequencies, one per pair of dim={self.dim}, got "
                f"{inv_freq.shape[0]}"
            )
        self.layout = check_choice("layout", layout, LAYOUTS)
        self.axes = None if axes is None else tuple(_integers("axes", axes, 0))
        if self.axes is not None and len(self.axes) != self.rotary_dim // 2:
            raise ValueError(f"axes must have an integer per pair, {self.rotary_dim // 2}, got {len(self.axes)}")
        return self

    @classmethod
    def from_frequencies(
        cls,
        inv_freq: Array,
        attention_factor: float = 1.0,
        *,
        dim: int | None = None,
        layout: Layout = "half-split",
        axes: Sequence[int] | None = None,
    ) -> Rope:
        """A rotation with frequencies of your own, or as `posenc.scaling` returns them.

        Args:
            inv_freq: shape (rotary_dim/2,), in radians per token. A tensor is used as it is, gradients included:
                `posenc.rotary_module.RotaryEmbedding` registers one that learns.
            attention_factor: greater than 0, on cosines and sines.
            dim: width of a head; None: 2·len(inv_freq).
            layout, axes: as for `Rope`.

        >>> from posenc.scaling import yarn
        >>> Rope.from_frequencies(*yarn(128, factor=4.0, original_max_position_embeddings=4096))
        Rope(128, layout='half-split', 64 pairs from 1 to 2.89e-05 radians per token, attention factor 1.139)
        """
        return cls.__new__(cls)._set(Scaled(inv_freq, attention_factor), dim, layout, axes)

    @classmethod
    def from_schedule(
        cls,
        frequencies: Frequencies,
        *,
        dim: int | None = None,
        layout: Layout = "half-split",
        axes: Sequence[int] | None = None,
    ) -> Rope:
        """A rotation whose frequencies follow the length of the sequence, as dynamic NTK and LongRoPE do.

        `frequencies(seq_len)` returns frequencies and attention factor for a sequence of so many tokens, as the
        functions of `posenc.scaling` do. The length is one more than the largest position at hand, or the `seq_len` of
        `cos_sin`: pass keys that are not rotated yet, since every longer sequence rotates all of them anew.

        >>> from posenc.scaling import dynamic_ntk
        >>> trained = {"factor": 2.0, "original_max_position_embeddings": 8}
        >>> rope = Rope.from_schedule(lambda n: dynamic_ntk(4, seq_len=n, **trained))
        >>> [rope.frequencies(length).inv_freq.round(4).tolist() for length in (8, 16)]
        [[1.0, 0.01], [1.0, 0.0033]]
        """
        if not callable(frequencies):
            raise TypeError(f"frequencies must be a function of seq_len, got {describe(frequencies)}")
        rope = cls.__new__(cls)._set(_scaled(frequencies(0)), dim, layout, axes)
        rope._schedule = frequencies
        return rope

    @classmethod
    def from_config(
        cls,
        config: Any,
        head_dim: int | None = None,
        *,
        layout: Layout | None = None,
        layer_type: str | None = None,
        seq_len: int | None = None,
    ) -> Rope:
        """The rotation that a model's configuration asks for.

        Args:
            config: a mapping as read from config.json, a rope_scaling or rope_parameters alone, or a configuration of
                the library transformers.
            head_dim: width of a head, of the part that is rotated; None: what the configuration says.
            layout: of the model's code; None: that of its model_type, "half-split" where that is not known.
            layer_type: the layers wanted, where they differ; `by_layer_type` gives all.
            seq_len: tokens of the sequence, for dynamic NTK and LongRoPE; None: as `from_schedule` says.

        >>> llama = {"head_dim": 128, "rope_parameters": {"rope_type": "default", "rope_theta": 500_000.0}}
        >>> Rope.from_config(llama)
        Rope(128, layout='half-split', 64 pairs from 1 to 2.46e-06 radians per token)
        """
        return cls._of(read_configuration(config).of(layer_type), head_dim, layout, seq_len)

    @classmethod
    def _of(cls, rotation: LayerRotation, head_dim: int | None, layout: Layout | None, seq_len: int | None) -> Rope:
        """The rotation of one kind of layers, as a configuration has it."""
        parameters, order = rotation.parameters, None
        dim = rotation.head_dim if head_dim is None else check_int("head_dim", head_dim, 2)
        axes = _axes_of(parameters)

        def frequencies(length: int | None) -> Scaled:
            scaled = from_config(rotation, dim, length)
            return scaled if order is None else scaled._replace(inv_freq=scaled.inv_freq[order])

        length = None if seq_len is None else check_int("seq_len", seq_len, 0)
        if parameters.get("rope_type") == "axial":
            listed, shared = frequencies(length).inv_freq.shape[0], bool(parameters.get("shared"))
            n_axes = parameters.get("n_axes", 2)
            if axes is None:
                axes = [axis for axis in range(n_axes) for _ in range(listed // n_axes if shared else listed)]
            order = None if shared else _places(axes, listed)
        layout = rotation.layout if layout is None else layout
        if length is None and parameters["rope_type"] in _BY_LENGTH:
            return cls.from_schedule(frequencies, dim=dim, layout=layout, axes=axes)
        return cls.from_frequencies(*frequencies(length), dim=dim, layout=layout, axes=axes)

    @classmethod
    def by_layer_type(
        cls, config: Any, head_dim: int | None = None, *, layout: Layout | None = None, seq_len: int | None = None
    ) -> dict[str, Rope]:
        """The rotations of a configuration whose layers differ, by the names that its `layer_types` has.

        Layers that do not rotate have none. Arguments and errors as for `from_config`.

        >>> rope = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}
        >>> list(Rope.by_layer_type({"rope_parameters": rope}, 64))
        ['full_attention', 'sliding_attention']
        """
        rotations = read_configuration(config).rotations
        if any(rotation.layer_type is None for rotation in rotations) or not rotations:
            raise ValueError(f"config must have parameters per layer, got {describe(config)}")
        return {str(one.layer_type): cls._of(one, head_dim, layout, seq_len) for one in rotations}

    @classmethod
    def axial(cls, axes_dim: Sequence[int], base: float = 10_000.0, *, layout: Layout = "half-split") -> Rope:
        """Axial RoPE for grids: each axis of the positions has a part of the head, with a whole list of frequencies.

        `axes_dim` are the dimensions of each axis, even: (32, 32) for images (rows, columns), (44, 42, 42) for Wan's
        videos (frames, rows, columns), (16, 56, 56) for FLUX.
        Source: Fang et al. 2023, "EVA-02", section 2.1, and Heo et al. 2024, "Rotary Position Embedding for Vision
        Transformer", equation (12), for two axes.

        >>> rope = Rope.axial((4, 4))
        >>> rope.axes, rope.inv_freq.tolist()
        ((0, 0, 1, 1), [1.0, 0.01, 1.0, 0.01])
        """
        if check_positive("base", base) <= 1:
            raise ValueError(f"base must be greater than 1, so that frequencies decrease, got {base}")
        widths = _integers("axes_dim", axes_dim, 2)
        if not widths or any(width % 2 for width in widths):
            raise ValueError(f"axes_dim must be even dimensions, one number per axis, got {describe(axes_dim)}")
        parts = [geometric(width, base) for width in widths]
        axes = [axis for axis, part in enumerate(parts) for _ in part]
        return cls.from_frequencies(np.concatenate(parts), layout=layout, axes=axes)

    @property
    def inv_freq(self) -> Array:
        """Frequencies in radians per token, shape (rotary_dim/2,)."""
        return self._inv_freq

    @property
    def attention_factor(self) -> float:
        """The factor on cosines and sines."""
        return self._attention_factor

    @property
    def follows_length(self) -> bool:
        """Whether frequencies depend on the length of the sequence."""
        return self._schedule is not None

    @property
    def n_axes(self) -> int:
        """How many axes the positions have."""
        return 1 if self.axes is None else max(self.axes) + 1

    def __repr__(self) -> str:
        fastest, slowest = (f"{float(self.inv_freq[pair]):.3g}" for pair in (0, -1))
        factor = "" if self.attention_factor == 1 else f", attention factor {self.attention_factor:.4g}"
        along = "" if self.axes is None else f", along {self.n_axes} axes"
        pairs = f"{self.rotary_dim // 2} pairs from {fastest} to {slowest} radians per token"
        return f"Rope({self.dim}, layout={self.layout!r}, {pairs}{factor}{along})"

    def frequencies(self, seq_len: int | None = None) -> Scaled:
        """Frequencies in radians per token, and attention factor, for a sequence of `seq_len` tokens.

        >>> Rope(4).frequencies()
        Scaled(inv_freq=array([1.  , 0.01]), attention_factor=1.0)
        """
        length = None if seq_len is None else check_int("seq_len", seq_len, 0)
        if self._schedule is None or length is None:
            return Scaled(self._inv_freq, self._attention_factor)
        scaled = _scaled(self._schedule(length))
        if tuple(np.shape(scaled.inv_freq)) != tuple(self._inv_freq.shape):
            raise ValueError(
                f"frequencies must have {self.rotary_dim // 2} pairs at every length, got {describe(scaled.inv_freq)} "
                f"for {length} tokens"
            )
        return scaled

    def cos_sin(
        self,
        positions: Array = None,
        *,
        length: int | None = None,
        offset: int | Array = 0,
        seq_len: int | None = None,
        like: Array = None,
        dtype: Any = None,
    ) -> CosSin:
        """Cosines and sines for `posenc.rotary.rotate`: to be computed once and used in every layer.

        Args:
            positions: shape (..., length), or (..., length, axes) where the rotation has axes; a last axis of size 1
                stands for the same position on all axes, as of text among images. None: offset, offset + 1, …,
                `length` of them.
            length: how many positions count on from `offset`.
            offset: the first of them, an integer, or one per sequence, shape (batch,).
            seq_len: tokens of the whole sequence, for frequencies that follow it; None: one more than the largest
                position.
            like: an array whose library and device the answer takes where positions are counted or lists.
            dtype: of the answer; None: float64 where the device has it.

        Returns cosines and sines, shape (..., length, rotary_dim/2).

        >>> cos, sin = Rope(64).cos_sin(length=1000)
        >>> cos.shape
        (1000, 32)
        """
        if (positions is None) == (length is None):
            raise ValueError(f"give either positions or length, got {describe(positions)} and {length!r}")
        check_like("like", like)
        if length is not None:
            positions = self._counted(check_int("length", length, 0), offset, like)
        elif is_array(offset) or offset != 0:
            raise ValueError(f"offset must be 0 where positions are given, got {describe(offset)}")
        else:
            positions = check_positions(positions, like=like)
            along = "" if self.axes is None else f", {self.n_axes}"
            fits = positions.ndim > 0 if self.axes is None else positions.ndim > 1
            if not fits or (self.axes is not None and positions.shape[-1] not in (1, self.n_axes)):
                raise ValueError(f"positions must have shape (..., length{along}), got shape {tuple(positions.shape)}")
        return self._table(positions, self._length_of(positions) if seq_len is None else seq_len, dtype)

    def _counted(self, length: int, offset: int | Array, like: Array) -> Array:
        """Positions offset, offset + 1, …: shape (length,), or (batch, length) with an offset per sequence."""
        if not is_array(offset) or isinstance(offset, np.generic):
            offset = check_int("offset", offset, 0)
        elif is_concrete(offset):
            offset = check_integers("offset", check_positions(offset, name="offset"), least=0)
        like = like if like is not None else self._inv_freq if is_torch(self._inv_freq) else None
        xp, device = namespace(like, offset if is_array(offset) else None), device_of(like, offset)
        counted = xp.arange(length, dtype=widest_float(xp, device), device=device)
        if is_array(offset):
            counted = counted + xp.astype(offset, counted.dtype)[..., None]
        elif offset:
            counted = counted + offset
        return counted if self.axes is None else counted[..., None]

    def _length_of(self, *positions: Array) -> int | None:
        """One more than the largest position, where frequencies follow the length."""
        if self._schedule is None:
            return None
        if not all(map(is_concrete, positions)):
            raise ValueError("seq_len must be given where positions cannot be looked at (torch.compile), got None")
        return max((int(at.max()) + 1 for at in positions if 0 not in at.shape), default=0)

    def _table(self, positions: Array, seq_len: int | None, dtype: Any) -> CosSin:
        """Cosines and sines at positions that are floats of the widest kind, after all checks."""
        xp, device = namespace(positions), device_of(positions)
        inv_freq, factor = self.frequencies(seq_len)
        if isinstance(inv_freq, np.ndarray):
            numbers = self._numbers if inv_freq is self._inv_freq else inv_freq.tolist()
            inv_freq = xp.asarray(numbers, dtype=positions.dtype, device=device)
        elif device_of(inv_freq) != device or inv_freq.dtype != positions.dtype:
            inv_freq = xp.astype(inv_freq, positions.dtype)
            inv_freq = inv_freq.to(device) if is_torch(inv_freq) else inv_freq
        if self.axes is None:
            phi = positions[..., None] * inv_freq  # (..., length, pairs)
        elif positions.shape[-1] == 1:
            phi = positions * inv_freq
        else:
            phi = xp.take(positions, xp.asarray(self.axes, device=device), axis=-1) * inv_freq
        return cosines_and_sines(phi, factor, dtype)

    def rotate(
        self,
        x: ArrayT,
        positions: Array = None,
        *,
        offset: int | Array = 0,
        length_axis: int = -2,
        seq_len: int | None = None,
    ) -> ArrayT:
        """Queries or keys `x`, shape (..., length, dim), rotated.

        Args:
            positions, offset, seq_len: as for `cos_sin`; without them x is at 0, 1, …. The axes of positions before
                the length belong to the first axes of x: with shape (batch, length), each sequence has its own.
            length_axis: the axis of x, from its end, that counts tokens: −2 for (batch, heads, length, dim), −3 for
                (batch, length, heads, dim).

        >>> Rope(2).rotate(np.array([[1.0, 0.0]]), offset=1).round(2).tolist()
        [[0.54, 0.84]]
        """
        table = self._for(x, positions, offset, _length("x", x, length_axis), seq_len)
        return self._rotated("x", x, table, length_axis)

    def __call__(
        self,
        q: ArrayT,
        k: ArrayT,
        positions: Array = None,
        *,
        key_positions: Array = None,
        offset: int | Array = 0,
        length_axis: int = -2,
        seq_len: int | None = None,
    ) -> tuple[ArrayT, ArrayT]:
        """Queries and keys, rotated, each in its shape.

        Args:
            q, k: shape (..., length, dim) each, of one dtype; k may have fewer heads.
            positions: of the queries, and of the keys where `key_positions` is None; as for `rotate`.
            key_positions: of the keys, where they are others.
            offset: the first position, where neither is given. Keys then count from it, and queries that are fewer are
                the last of them, as in decoding with a cache of keys that are not rotated yet.
            length_axis, seq_len: as for `rotate`.
        """
        queries, keys = _length("q", q, length_axis), _length("k", k, length_axis)
        namespace(q, k)
        if q.dtype != k.dtype:
            raise TypeError(f"k must have the dtype of q, {q.dtype}, got {k.dtype}")
        if positions is None:
            if key_positions is not None:
                raise ValueError(f"positions must be given where key_positions are, got {describe(key_positions)}")
            if queries > keys:
                raise ValueError(f"q must be no longer than k without positions, got {queries} and {keys} tokens")
            of_keys = self._for(k, None, offset, keys, seq_len)
            of_queries = CosSin(*(part[..., keys - queries :, :] for part in of_keys)) if queries < keys else of_keys
        else:
            if key_positions is not None and seq_len is None and self._schedule is not None:
                seq_len = self._length_of(*(check_positions(at, like=q) for at in (positions, key_positions)))
            of_queries = self._for(q, positions, offset, queries, seq_len)
            of_keys = of_queries if key_positions is None else self._for(k, key_positions, offset, keys, seq_len)
        return self._rotated("q", q, of_queries, length_axis), self._rotated("k", k, of_keys, length_axis)

    def rerotate(self, k: ArrayT, shift: int | Array, *, length_axis: int = -2) -> ArrayT:
        """Keys that are rotated already, moved by `shift` tokens: for a cache from which tokens were dropped.

        The attention factor is in them already and is not applied again. `shift`, negative towards the beginning, is
        an integer or one per token, shape (length,). Not for frequencies that follow the length.

        >>> rope, k = Rope(4), np.ones((3, 4))
        >>> np.allclose(rope.rerotate(rope.rotate(k, offset=5), -5), rope.rotate(k))
        True
        """
        if self._schedule is not None:
            raise ValueError("k must be rotated anew from keys before rotation, as frequencies follow the length")
        length = _length("k", k, length_axis)
        shifts = check_positions(shift, like=k)
        if shifts.ndim > 1 or (shifts.ndim == 1 and shifts.shape[0] != length):
            raise ValueError(f"shift must be a number or one per token, shape ({length},), got {describe(shift)}")
        shifts = namespace(shifts).broadcast_to(shifts, (length,))
        plain = Scaled(self._inv_freq, 1.0)
        same = type(self).__new__(type(self))._set(plain, self.dim, self.layout, self.axes)
        return same.rotate(k, shifts if self.axes is None else shifts[:, None], length_axis=length_axis)

    def _for(self, x: Array, positions: Array, offset: int | Array, length: int, seq_len: int | None) -> CosSin:
        """Cosines and sines for `x`, on its device and in float32 where it has fewer bits."""
        dtype = working_dtype(check_float_array("x", x))
        if positions is not None:
            return self.cos_sin(positions, offset=offset, seq_len=seq_len, like=x, dtype=dtype)
        counted = self._counted(length, offset, x)
        return self._table(counted, self._length_of(counted) if seq_len is None else seq_len, dtype)

    def _rotated(self, name: str, x: ArrayT, table: CosSin, length_axis: int) -> ArrayT:
        if x.shape[-1] != self.dim:
            raise ValueError(f"{name} must have heads of width {self.dim}, got shape {tuple(x.shape)}")
        aligned = _aligned(table, x, length_axis)
        return rotate(x, aligned, self.layout, rotary_dim=None if self.rotary_dim == self.dim else self.rotary_dim)


def sections(sizes: Sequence[int], interleaved: bool = False) -> list[int]:
    """Which axis of the positions each pair follows, where each axis has so many pairs.

    Args:
        sizes: pairs of each axis, integers of at least 0; for M-RoPE those of time, height and width (mrope_section).
        interleaved: False: one axis after the other (Qwen2-VL). True: in turn, 0, 1, 2, 0, 1, 2, …, until an axis has
            all its pairs, whose places axis 0 then takes (Qwen3-VL).

    Returns as many numbers as the sum of `sizes`, for `Rope(axes=…)`.
    Source: Wang et al. 2024, "Qwen2-VL", section 2.1; the code released with Qwen3-VL in the library transformers.

    >>> sections((1, 2, 1)), sections((2, 1, 1), interleaved=True)
    ([0, 1, 1, 2], [0, 1, 2, 0])
    """
    pairs = _integers("sizes", sizes, 0)
    if not check_bool("interleaved", interleaved):
        return [axis for axis, size in enumerate(pairs) for _ in range(size)]
    axes, step = [0] * sum(pairs), len(pairs)
    for axis, size in enumerate(pairs[1:], 1):
        if axis + step * (size - 1) >= len(axes):
            raise ValueError(f"sizes must leave room to take turns, got {describe(sizes)}")
        axes[axis : size * step : step] = [axis] * size
    return axes


def _axes_of(parameters: Mapping[str, Any]) -> Sequence[int] | None:
    """What rope parameters say of axes, pair by pair."""
    if "mrope_section" in parameters:
        return sections(parameters["mrope_section"], parameters.get("mrope_interleaved") or False)
    return parameters.get("axes")


def _places(axes: Sequence[int], listed: int) -> list[int]:
    """For each pair, the place in a list of frequencies that every axis goes through on its own."""
    places = [list(axes[:pair]).count(axis) for pair, axis in enumerate(axes)]
    if max(places, default=0) >= listed:
        raise ValueError(f"axes must have at most {listed} pairs of each axis, got {describe(axes)}")
    return places


def _integers(name: str, values: Sequence[int], least: int) -> list[int]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a list of integers, got {describe(values)}")
    return [check_int(name, value, least) for value in values]


def _scaled(frequencies: Any) -> Scaled:
    """What a schedule returns, after checking that it is a pair."""
    if not isinstance(frequencies, tuple) or len(frequencies) != 2:
        raise TypeError(f"frequencies must return (inv_freq, attention_factor), got {describe(frequencies)}")
    return Scaled(*frequencies)


def _length(name: str, x: Array, length_axis: int) -> int:
    """The number of tokens, the size of one axis."""
    shape = tuple(check_float_array(name, x).shape)
    if isinstance(length_axis, bool) or not isinstance(length_axis, int) or not -len(shape) <= length_axis <= -2:
        raise ValueError(f"length_axis must name an axis of {name} of shape {shape} from its end, got {length_axis!r}")
    return cast("int", shape[length_axis])


def _aligned(table: CosSin, x: Array, length_axis: int) -> CosSin:
    """Cosines and sines, (..., length, pairs), with axes of size 1 where `x` has others between."""
    shape, of_x = tuple(table.cos.shape), tuple(x.shape)
    before = len(shape) - 2
    if before > len(of_x) + length_axis:
        raise ValueError(f"positions have too many axes, {before + 1}, for x of shape {of_x}")
    if any(size not in (1, wide) for size, wide in zip(shape[:before], of_x, strict=False)) or (
        shape[-2] != of_x[length_axis]
    ):
        raise ValueError(f"positions of shape {shape[:-1]} do not fit x of shape {of_x}, length_axis {length_axis}")
    if before == 0 and length_axis == -2:
        return table
    sizes = [1] * len(of_x)
    sizes[:before], sizes[length_axis], sizes[-1] = shape[:before], shape[-2], shape[-1]
    return CosSin(table.cos.reshape(sizes), table.sin.reshape(sizes))
