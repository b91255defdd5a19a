"""What every module of the ground floor asks of its input, for NumPy arrays and torch tensors alike."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import array_api_compat
import numpy as np

Array = Any  # a NumPy array or a torch tensor; whatever the array API standard describes


def namespace(*values: Array) -> Any:
    """The array library of `values`; NumPy where none of them is an array.

    Raises TypeError when arrays of two libraries are mixed.
    """
    arrays = [value for value in values if array_api_compat.is_array_api_obj(value)]
    if not arrays:
        return array_api_compat.array_namespace(np.empty(0))
    try:
        return array_api_compat.array_namespace(*arrays)
    except TypeError as error:
        kinds = " and ".join(sorted({type(array).__name__ for array in arrays}))
        raise TypeError(f"cannot mix {kinds}: pass arrays of one library") from error


def device_of(*values: Array) -> Any:
    """The device of the first array among `values`; None (the library's default) where there is none."""
    for value in values:
        if array_api_compat.is_array_api_obj(value):
            return array_api_compat.device(value)
    return None


def widest_float(xp: Any, device: Any) -> Any:
    """float64, or float32 on Apple's GPU, which has no float64."""
    return xp.float32 if getattr(device, "type", None) == "mps" else xp.float64


def floats(name: str, value: Array, *, like: Array = None) -> Array:
    """`value` as a finite array in the widest float; numbers and lists go to the library and device of `like`."""
    xp = namespace(value, like)
    if array_api_compat.is_array_api_obj(value):
        if not xp.isdtype(value.dtype, ("integral", "real floating")):
            raise TypeError(f"{name} must be real numbers, got dtype {value.dtype}")
        array = xp.astype(value, widest_float(xp, device_of(value)), copy=False)
    else:
        device = device_of(like)
        try:
            array = xp.asarray(value, dtype=widest_float(xp, device), device=device)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must be a number or an array of real numbers, got {value!r}") from error
    if not bool(xp.all(xp.isfinite(array))):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return array


def even_dim(dim: int) -> int:
    """`dim` as an int, after checking that it is even and positive."""
    if isinstance(dim, bool) or not isinstance(dim, Integral):
        raise TypeError(f"dim must be a whole number, got {dim!r}")
    if dim <= 0 or dim % 2:
        raise ValueError(f"dim must be even and positive (two dimensions a pair), got {dim}")
    return int(dim)


def positive(name: str, value: float) -> float:
    """`value` as a float, after checking that it is a finite number greater than zero."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{name} must be finite and greater than 0, got {value!r}")
    return float(value)


def frequency_list(inv_freq: Array) -> Array:
    """`inv_freq` as a one-dimensional array of finite frequencies, none negative."""
    frequencies = floats("inv_freq", inv_freq)
    if frequencies.ndim != 1 or frequencies.shape[0] == 0:
        raise ValueError(f"inv_freq must have shape (dim/2,), got shape {tuple(frequencies.shape)}")
    if bool(namespace(frequencies).any(frequencies < 0)):
        raise ValueError(f"inv_freq must not be negative, got {inv_freq!r}")
    return frequencies
