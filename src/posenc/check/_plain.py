"""What an answer gives, as plain data: numbers, text, lists, dictionaries and arrays, and nothing that could act.

The grader runs this same file on both sides of its sandbox, so it imports nothing of this package.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from typing import Any

import numpy as np

LARGEST = 32 * 2**20  # bytes of all arrays in one message
LONGEST = 4 * 2**20  # bytes of all else in it: text becomes objects, which take many times as much
REPLY = (2**23, 2**18)  # the same two of what an answer gives back: what compares it is outside the sandbox
MOST = 2**20  # elements of all arrays of such a reply
DEEPEST = 12  # nested lists or dictionaries
DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


class Opaque:
    """Stands for an object that is not plain data; equal to nothing but itself."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"an object of type {self.kind}"


def described(value: Any) -> str:
    """A value by type and shape, whatever its size: a number or a short text is shown as it is."""
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        kind = "array" if isinstance(value, np.ndarray) else "tensor"
        return f"{kind} of shape {tuple(value.shape)}, {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, (list, tuple, dict)):
        return f"{type(value).__name__} of length {len(value)}"
    if isinstance(value, str) and len(value) > 40:
        return f"text of {len(value)} characters"
    if isinstance(value, int) and value.bit_length() > 64:
        return f"integer of {value.bit_length()} bits"
    return repr(value)


class Code:
    """A function as text, for an answer that tests functions: it finds `np` and `math`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Code) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def runnable(value: Any) -> Any:
    """The function that a `Code` defines last; any other value as it is."""
    if not isinstance(value, Code):
        return value
    names: dict[str, Any] = {"np": np, "math": math}
    exec(compile(value.text, "<given>", "exec"), names)
    return list(names.values())[-1]


def _shown(value: Any) -> dict[str, Any] | None:
    """A Plotly figure or a slider as a dictionary of what it shows."""
    go = sys.modules.get("plotly.graph_objects")
    if go is not None and isinstance(value, go.Figure):
        return {"figure": _unpacked(value.to_dict())}
    widgets = sys.modules.get("ipywidgets")
    if widgets is not None and isinstance(value, widgets.ValueWidget):
        names = ("min", "max", "step", "base", "value", "options")
        return {"widget": type(value).__name__} | {n: getattr(value, n) for n in names if hasattr(value, n)}
    return None


def _unpacked(item: Any) -> Any:
    """A figure's dictionary with its arrays as lists: Plotly packs them into text since version 6."""
    if isinstance(item, dict) and {"bdata", "dtype"} <= set(item):
        return np.frombuffer(base64.b64decode(item["bdata"]), item["dtype"]).tolist()
    if isinstance(item, dict):
        return {key: _unpacked(value) for key, value in item.items()}
    return [_unpacked(value) for value in item] if isinstance(item, (list, tuple)) else item


def plain(value: Any, depth: int = 0) -> Any:
    """`value` with tensor and array subclasses flattened, and unknown objects made `Opaque`.

    Raises ValueError where lists or dictionaries are nested more than `DEEPEST` deep.
    """
    torch = sys.modules.get("torch")
    if depth > DEEPEST:
        raise ValueError(f"lists or dictionaries are nested more than {DEEPEST} deep")
    if value is None or type(value) in (bool, int, float, str, Code):
        return value
    if torch is not None and isinstance(value, torch.Tensor):
        with torch._C.DisableTorchFunctionSubclass():  # else a subclass answers in torch's place
            # a tensor that is to be conjugated or negated when it is read cannot be written down
            return value.detach().as_subclass(torch.Tensor).cpu().resolve_conj().resolve_neg()
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        array = np.array(value, subok=False)
        return array if array.dtype.name in DTYPES else Opaque(f"array of {array.dtype.name}")
    for kind in (list, tuple):
        if isinstance(value, kind):  # a named tuple is a tuple
            items = kind.__iter__(value)  # type: ignore[arg-type]  # of the kind just asked for
            return kind(plain(item, depth + 1) for item in items)
    if isinstance(value, dict) and {"figure", "widget"} & set(dict.keys(value)):
        return Opaque("dict")  # which could be taken for a figure or a slider
    shown = value if isinstance(value, dict) else _shown(value)
    if shown is None:
        return Opaque(type(value).__name__)
    return {str(key): plain(item, depth + 1) for key, item in dict.items(shown)}


def _bytes_of(array: Any) -> tuple[str, bytes]:
    """The name of an array's or a tensor's dtype, and its elements as bytes."""
    if isinstance(array, np.ndarray):
        return array.dtype.name, np.ascontiguousarray(array).tobytes()
    import torch

    name = str(array.dtype).removeprefix("torch.")
    array = array.contiguous()
    return name, (array.view(torch.int16) if name == "bfloat16" else array).numpy().tobytes()


def encode(value: Any, largest: int = LARGEST, longest: int = LONGEST) -> bytes:
    """Plain data as one message: a line of JSON, then the arrays' elements.

    Raises ValueError where all of it takes more than `largest` bytes, or what is no array more than `longest`.
    """
    arrays: list[bytes] = []

    def put(item: Any) -> Any:
        if item is None or isinstance(item, (bool, int, str)):
            return item
        if isinstance(item, float):
            return item if math.isfinite(item) else {"float": repr(item)}
        if isinstance(item, Opaque):
            return {"opaque": item.kind[:80]}
        if isinstance(item, Code):
            return {"code": item.text}
        if isinstance(item, list):
            return {"list": [put(part) for part in item]}
        if isinstance(item, tuple):
            return {"tuple": [put(part) for part in item]}
        if isinstance(item, dict):
            return {"dict": [[key, put(part)] for key, part in item.items()]}
        name, content = _bytes_of(item)
        if name not in (*DTYPES, "bfloat16"):
            return {"opaque": f"array of {name}"}
        arrays.append(content)
        kind = "array" if isinstance(item, np.ndarray) else "tensor"
        return {kind: name, "shape": list(item.shape), "bytes": len(content)}

    head = json.dumps(put(value)).encode()
    if len(head) > longest:
        raise ValueError(f"{len(head)} bytes without arrays are too many: at most {longest}")
    if (size := len(head) + sum(map(len, arrays))) > largest:
        raise ValueError(f"{size} bytes are too many: at most {largest}")
    return len(head).to_bytes(8, "big") + head + b"".join(arrays)


def decode(message: bytes, longest: int = LONGEST, most: int = LARGEST) -> Any:
    """The plain data in a message of `encode`; ValueError for any other bytes. Nothing in it is executed.

    `longest` is as there; its arrays may have `most` elements together.
    """
    length = int.from_bytes(message[:8], "big")
    place = 8 + length
    if length > longest:
        raise ValueError("not a message: too much of it is no array")

    def take(kind: str, name: object, shape: object, size: object) -> Any:
        nonlocal place, most
        if name not in (*DTYPES, *(["bfloat16"] if kind == "tensor" else [])) or not isinstance(shape, list):
            raise ValueError(f"not an array: {kind} of {str(name)[:40]}")
        if (
            type(size) is not int
            or size < 0
            or len(shape) > 16
            or not all(type(n) is int and 0 <= n <= LARGEST for n in shape)
        ):
            raise ValueError("not a shape")
        array = np.frombuffer(message[place : place + size], "int16" if name == "bfloat16" else name)
        if array.size != math.prod(shape):
            raise ValueError("an array's elements do not fill its shape")
        most -= array.size
        if most < 0:
            raise ValueError("its arrays have too many elements")
        place += size
        array = array.reshape(shape).copy()
        if kind == "array":
            return array
        try:
            import torch
        except ModuleNotFoundError:  # as in a page: an array stands for the tensor
            return (array.astype("uint32") << 16).view("float32") if name == "bfloat16" else array
        tensor = torch.from_numpy(array)
        return tensor.view(torch.bfloat16) if name == "bfloat16" else tensor

    def get(item: Any) -> Any:
        if not isinstance(item, dict):
            if item is not None and type(item) not in (bool, int, float, str):
                raise ValueError("not a message")
            return item
        kind = next(iter(item), None)
        content = item.get(kind)
        if kind in ("list", "tuple") and isinstance(content, list):
            parts = [get(part) for part in content]
            return parts if kind == "list" else tuple(parts)
        if kind == "dict" and isinstance(content, list):
            return {str(key): get(part) for key, part in content}
        if kind == "float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if kind == "opaque" and isinstance(content, str):
            return Opaque(content[:80])
        if kind == "code" and isinstance(content, str):
            return Code(content)
        if kind in ("array", "tensor"):
            return take(kind, content, item.get("shape"), item.get("bytes"))
        raise ValueError("not a message")

    try:
        return get(json.loads(message[8:place]))
    except (TypeError, KeyError, IndexError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError("not a message") from error
