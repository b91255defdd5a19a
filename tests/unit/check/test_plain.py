"""What crosses the sandbox's wall: plain data both ways, unharmed, and nothing that could act."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc.check._plain import DEEPEST, DTYPES, LARGEST, LONGEST, Opaque, decode, encode, plain

pytestmark = pytest.mark.torch
simple = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    simple,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(values)
@settings(max_examples=30)
def test_plain_data_comes_back_as_it_went(value: object) -> None:
    assert decode(encode(value)) == value


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (2, 0, 4), (2, 3)])
def test_arrays_and_tensors_come_back(name: str, shape: tuple[int, ...]) -> None:
    array = np.resize([1, 0], shape).astype(name)
    back = decode(encode([array, torch.from_numpy(array)]))
    np.testing.assert_array_equal(back[0], array)
    assert back[0].dtype == array.dtype
    assert isinstance(back[1], torch.Tensor)
    torch.testing.assert_close(back[1], torch.from_numpy(array), rtol=0, atol=0)


def test_bfloat16_and_strides_come_back() -> None:
    tensor = torch.arange(12.0).reshape(3, 4).bfloat16().T
    back = decode(encode(tensor))
    assert back.dtype == torch.bfloat16
    assert torch.equal(back, tensor)
    assert np.array_equal(decode(encode(np.arange(12).reshape(3, 4)[:, ::-2])), np.arange(12).reshape(3, 4)[:, ::-2])


def test_numbers_that_json_lacks_come_back() -> None:
    back = decode(encode([float("inf"), float("-inf"), float("nan")]))
    assert back[:2] == [float("inf"), float("-inf")]
    assert back[2] != back[2]


class Pretender(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


class Numbers(np.ndarray):
    def __eq__(self, other: object) -> bool:
        return True


class Words(str):
    pass


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (torch.zeros(2).as_subclass(Pretender), torch.Tensor),
        (np.zeros(2).view(Numbers), np.ndarray),
        (np.float32(3), np.ndarray),
        (torch.nn.Parameter(torch.zeros(2)), torch.Tensor),
        (object(), Opaque),
        (Words("x"), Opaque),
        (np.array([object()]), Opaque),
        (lambda: None, Opaque),
        ({"widget": "IntSlider", "min": 1}, Opaque),
        ({"figure": {"data": []}}, Opaque),
    ],
)
def test_what_could_act_is_flattened_or_opaque(value: object, kind: type) -> None:
    found = plain(value)
    assert type(found) is kind
    back = decode(encode([found]))[0]
    assert type(back) is kind


def test_nesting_and_size_are_bounded() -> None:
    value: list = []
    value.append(value)
    with pytest.raises(ValueError, match=f"more than {DEEPEST} deep"):
        plain(value)
    with pytest.raises(ValueError, match="too many"):
        encode(np.zeros(LARGEST // 8 + 1))
    with pytest.raises(ValueError, match="without arrays are too many"):
        encode("x" * LONGEST)


def message(head: object, content: bytes = b"") -> bytes:
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "big") + text + content


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"\xff" * 20,
        message({"unknown": 1}),
        message({"float": "__import__('os')"}),
        message({"list": ["x" * LONGEST]}),
        message({"dict": [[1]]}),
        message({"array": "object", "shape": [1], "bytes": 8}, b"x" * 8),
        message({"array": "float64", "shape": [2], "bytes": 8}, b"x" * 8),
        message({"array": "float64", "shape": [-1], "bytes": 8}, b"x" * 8),
        message({"array": "float64", "shape": [2**62, 2**62], "bytes": 8}, b"x" * 8),
        message({"tensor": "float64", "shape": [1], "bytes": "8"}, b"x" * 8),
        (10**7).to_bytes(8, "big") + b"[" * 10**5,
    ],
)
def test_other_bytes_are_refused(bad: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  what is wrong with them is nobody's concern
        decode(bad)


@given(st.binary(max_size=200))
def test_any_bytes_are_data_or_refused(content: bytes) -> None:
    try:
        decode(len(content).to_bytes(8, "big") + content)
    except ValueError:
        return
    assert content  # what was decoded was said
