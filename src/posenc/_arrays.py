"""Checks of arguments that all modules share, for NumPy arrays and torch tensors alike."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from importlib import import_module
from numbers import Integral, Real
from typing import Any, Literal, Protocol, TypeVar

import array_api_compat
import numpy as np

NEEDS_SCIPY = 'this part of posenc needs SciPy: pip install "posenc[figures]"'
Array = Any  # a NumPy array or a torch tensor; whatever the array API standard describes


class _HasShape(Protocol):
    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


Layout = Literal["half-split", "interleaved"]
ChoiceT = TypeVar("ChoiceT", bound=str)
ArrayT = TypeVar("ArrayT", bound=_HasShape)  # an array that is answered in kind

_LONG = 8  # entries of a list that a message prints


def scipy_module(name: str) -> Any:
    """A module of SciPy, which takes longer to import than all that needs NumPy alone."""
    try:
        return import_module(f"scipy.{name}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(NEEDS_SCIPY, name="scipy") from error


def is_compiling() -> bool:
    """Whether torch.compile is tracing: a traced graph has no values that a check could look at."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def is_concrete(value: Any) -> bool:
    """Whether a check can look at what an array holds: not while it is traced or mapped, nor on torch's meta device."""
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and isinstance(value, torch.Tensor):
        inside = torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(value)
        return not (inside or value.is_meta)
    return not is_compiling() and not (jax is not None and isinstance(value, jax.core.Tracer))


def is_array(value: object) -> bool:
    """Whether `value` is an array of a library of the array API standard."""
    if is_torch(value):
        return True
    # torch.compile warns of the caches in array_api_compat
    # a class of arrays, such as np.float64, has all that an array has
    return not is_compiling() and not isinstance(value, type) and array_api_compat.is_array_api_obj(value)


def is_torch(value: object) -> bool:
    """Whether `value` is a torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def describe(value: Any, shape: tuple[int, ...] | None = None) -> str:
    """`value` as a message says it: of an array its shape alone, of a long list how it begins, and so for their parts.

    What is no array by itself, but was read as one, can be followed by the `shape` that it came to.
    """
    if is_array(value) and value.ndim > 0:
        return f"an array of shape {tuple(value.shape)}"
    text = repr(value)
    if isinstance(value, Mapping):
        text = f"{{{', '.join(f'{key!r}: {describe(part)}' for key, part in value.items())}}}"
    elif isinstance(value, list | tuple):
        inner = ", ".join([*map(describe, value[:_LONG]), *["..."] * (len(value) > _LONG)])
        text = f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    return text if shape is None else f"{text} of shape {tuple(shape)}"


def describe_values(value: Any, refused: Array) -> str:
    """`value` as above, and of an array also the first of its numbers for which `refused` is True."""
    if is_array(value) and value.ndim > 0:
        return f"{float(value[refused][0]):.17g} in {describe(value)}"
    return describe(value)


def check_like(name: str, value: Array) -> Array:
    """`value`, after checking that it is an array, or None; only its library and device are looked at."""
    if value is not None and not is_array(value):
        raise TypeError(f"{name} must be None or an array, whose library and device are taken, got {describe(value)}")
    return value


def first_array(*values: Array) -> Array:
    """The first array among `values`, whose library and device the others take; None where there is none."""
    return next((value for value in values if is_array(value)), None)


def namespace(*values: Array) -> Any:
    """The array library of `values`; NumPy where none of them is an array.

    Raises TypeError when arrays of two libraries are mixed.
    """
    arrays = [value for value in values if is_array(value)]
    if is_compiling() or (arrays and all(map(is_torch, arrays))):  # quick, and known to torch.compile
        from array_api_compat import torch as torch_namespace

        return torch_namespace
    if not arrays:
        return array_api_compat.array_namespace(np.empty(0))
    try:
        return array_api_compat.array_namespace(*arrays)
    except TypeError as error:
        kinds = " and ".join(sorted({type(array).__name__ for array in arrays}))
        raise TypeError(f"cannot mix {kinds}: pass arrays of one library") from error


def device_of(*values: Array) -> Any:
    """The device of the first array among `values`; None (the library's default) where there is none."""
    array = first_array(*values)
    if array is None:
        return None
    return array.device if is_compiling() or is_torch(array) else array_api_compat.device(array)


def widest_float(xp: Any, device: Any) -> Any:
    """float64, or float32 where that is all there is: on Apple's GPU, and in JAX unless `jax_enable_x64` is set."""
    jax = sys.modules.get("jax")
    if jax is not None and xp is jax.numpy:
        return xp.result_type(float)
    return xp.float32 if getattr(device, "type", None) == "mps" else xp.float64


def working_dtype(x: Array) -> Any:
    """The dtype of `x`, or float32 where that has fewer than 32 bits."""
    xp = namespace(x)
    return xp.float32 if xp.finfo(x.dtype).bits < 32 else x.dtype


def default_float(xp: Any) -> Any:
    """The dtype in which the library makes floats that nobody chose: float32 in torch and JAX, float64 in NumPy."""
    torch = sys.modules.get("torch")
    if torch is not None and xp is namespace(torch.empty(0)):
        return torch.get_default_dtype()
    return xp.empty(0).dtype


def cast_to(array: Array, dtype: Any) -> Array:
    """`array` in `dtype`, a floating dtype of its library; None: in the library's default."""
    xp = namespace(array)
    if dtype is None:
        return xp.astype(array, default_float(xp), copy=False)
    try:
        floating = xp.isdtype(dtype, "real floating")
    except (AttributeError, TypeError):  # no dtype of this library
        floating = False
    if not floating:
        raise TypeError(f"dtype must be None or a floating dtype of the arrays' library, got {describe(dtype)}")
    return xp.astype(array, dtype, copy=False)


def _is_integral(value: Array) -> bool:
    """Whether `value` is an array of integers by its dtype: its values need no look."""
    return is_array(value) and namespace(value).isdtype(value.dtype, "integral")


def as_float_array(name: str, value: Array, *, like: Array = None) -> Array:
    """`value` as a finite array in the widest float; numbers and lists go to the library and device of `like`."""
    xp = namespace(value, like)
    if is_array(value):
        if not xp.isdtype(value.dtype, ("integral", "real floating")):
            raise TypeError(f"{name} must be real numbers, got dtype {value.dtype}")
        array = xp.astype(value, widest_float(xp, device_of(value)), copy=False)
    else:
        try:
            numbers = is_compiling() or np.asarray(value).dtype.kind in "iuf"
        except ValueError:  # lists of unequal length
            numbers = False
        if not numbers:
            raise TypeError(f"{name} must be a number or an array of real numbers, got {describe(value)}")
        device = device_of(like)
        array = xp.asarray(value, dtype=widest_float(xp, device), device=device)
    if is_concrete(array) and not _is_integral(value) and not bool(xp.all(xp.isfinite(array))):
        raise ValueError(f"{name} must be finite, got {describe_values(value, ~xp.isfinite(array))}")
    return array


def check_float_array(name: str, value: Array) -> Array:
    """`value`, after checking that it is an array of floats with at least one axis; its values are not looked at."""
    if not is_array(value):
        raise TypeError(f"{name} must be an array of floats, got {describe(value)}")
    if not (value.is_floating_point() if is_torch(value) else namespace(value).isdtype(value.dtype, "real floating")):
        raise TypeError(f"{name} must be an array of floats, got dtype {value.dtype}")
    if value.ndim == 0:
        raise ValueError(f"{name} must have at least one axis, got shape ()")
    return value


def check_int(name: str, value: int, least: int = 1) -> int:
    """`value` as an int, after checking that it is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {describe(value)}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def check_even_dim(dim: int) -> int:
    """`dim` as an int, after checking that it is even and positive."""
    if isinstance(dim, bool) or not isinstance(dim, Integral):
        raise TypeError(f"dim must be an integer, got {describe(dim)}")
    if dim <= 0 or dim % 2:
        raise ValueError(f"dim must be even and positive (two dimensions a pair), got {dim}")
    return int(dim)


def check_rotary_dim(name: str, rotary_dim: int | None, width: int) -> int:
    """The number of dimensions that are rotated, of `width`."""
    if rotary_dim is None:
        if width == 0 or width % 2:
            raise ValueError(f"{name} must have an even width where all of it is rotated, got {width}")
        return width
    check_int("rotary_dim", rotary_dim, least=2)
    if rotary_dim % 2 or rotary_dim > width:
        raise ValueError(f"rotary_dim must be even and at most the width {width}, got {rotary_dim}")
    return int(rotary_dim)


def check_bool(name: str, value: bool) -> bool:
    """`value`, after checking that it is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {describe(value)}")
    return value


def check_choice(name: str, value: str, accepted: tuple[ChoiceT, ...]) -> ChoiceT:
    """`value`, after checking that it is one of the `accepted` names."""
    if value not in accepted:
        raise ValueError(f"{name} must be one of {accepted}, got {describe(value)}")
    return accepted[accepted.index(value)]


def check_integers(name: str, value: Array, *, like: Array = None, least: int | None = None) -> Array:
    """`value` as a float array of integers, each at least `least` where that is given."""
    array = as_float_array(name, value, like=like)
    if not is_concrete(array):
        return array
    xp = namespace(array)
    if not _is_integral(value) and bool(xp.any(array != xp.round(array))):
        raise ValueError(f"{name} must be integers, got {describe_values(value, array != xp.round(array))}")
    if least is not None and bool(xp.any(array < least)):
        raise ValueError(f"{name} must be at least {least}, got {describe_values(value, array < least)}")
    return array


def check_leading_axes(query_positions: Array, key_positions: Array) -> None:
    """Check that positions of shape (..., queries) and (..., keys) agree in all axes before the last."""
    if query_positions.shape[:-1] != key_positions.shape[:-1]:
        raise ValueError(
            "query_positions and key_positions must have the same axes before the last, "
            f"got shapes {tuple(query_positions.shape)} and {tuple(key_positions.shape)}"
        )


def check_positive(name: str, value: float) -> float:
    """`value` as a float, after checking that it is a finite number greater than zero."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {describe(value)}")
    if is_compiling():  # a symbolic number has no value yet
        return value
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{name} must be finite and greater than 0, got {describe(value)}")
    return float(value)


def check_positions(positions: Array, *, like: Array = None, name: str = "positions") -> Array:
    """`positions` in the widest float, after checking that their dtype can hold consecutive integers."""
    if is_array(positions):
        xp = namespace(positions)
        if xp.isdtype(positions.dtype, "real floating") and xp.finfo(positions.dtype).bits < 32:
            raise TypeError(
                f"{name} must be integers, float32 or float64, got {positions.dtype}, in which large positions of "
                "neighbouring tokens are equal"
            )
    return as_float_array(name, positions, like=like)


def check_inv_freq(inv_freq: Array) -> Array:
    """`inv_freq` as a one-dimensional array of finite frequencies, none negative."""
    frequencies = as_float_array("inv_freq", inv_freq)
    if frequencies.ndim != 1 or frequencies.shape[0] == 0:
        raise ValueError(f"inv_freq must have shape (dim/2,), got {describe(inv_freq, frequencies.shape)}")
    if is_concrete(frequencies) and bool(namespace(frequencies).any(frequencies < 0)):
        raise ValueError(f"inv_freq must not be negative, got {describe_values(inv_freq, frequencies < 0)}")
    return frequencies
