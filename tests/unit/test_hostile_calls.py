"""Calls that a user may type in a hurry: an error that names the argument refuses each, or it is right.

Of `Rope` and what belongs to it; other functions are tried argument by argument in test_invalid_arguments.py.
"""

import re

import numpy as np
import pytest
import torch

from posenc import absolute, bias, frequencies, position_ids, rope, rotary, scaling
from posenc.rope import Rope

pytestmark = pytest.mark.torch
NAMES = {name: value for module in (scaling, frequencies, absolute, bias, position_ids, rotary, rope)
         for name, value in vars(module).items()} | {
    "R": Rope(16), "q": torch.ones(2, 4, 6, 16), "at": torch.arange(6), "nan": float("nan"), "x": np.ones((2, 6, 16)),
    "phi": np.ones((6, 8)), "cos": np.ones((6, 8)), "sin": np.zeros((6, 8)), "torch": torch, "linear": scaling.linear,
    "of_frequencies": Rope.from_frequencies, "of_config": Rope.from_config, "of_schedule": Rope.from_schedule,
}  # fmt: skip

# Each call as it is typed, and what the message of TypeError, ValueError or a warning says: the argument, and the value
# or shape.
REFUSED = r"""
R(q, q, offset=-5)                                  offset must be at least 0, got -5
R(q, q, offset=2.5)                                 offset must be an integer, got 2.5
R(q, q, offset=[5, 9])                              offset must be .*\[5, 9\]
R(q, q, offset=torch.tensor([5, 9]).bfloat16())     bfloat16, in which large positions of neighbouring tokens are equal
R(q, q, offset=torch.arange(3))                     (offset|positions) .*\(3.* fit x of shape \(2, 4, 6, 16\)
R(q, q, at, offset=100)                             offset must be 0 where positions are given, got 100
R(q, q, at.half())                                  positions must be integers, float32 or float64, got torch.float16
R(q, q, torch.tensor([3]))                          positions of shape \(1,\) do not fit x of shape \(2, 4, 6, 16\)
R(q, q, np.arange(6))                               cannot mix Tensor and ndarray
R(q, q, key_positions=at)                           positions must be given where key_positions are, got an array
R(q, q[:, :, :3])                                   q must be no longer than k without positions, got 6 and 3 tokens
R(q.double(), q)                                    k must have the dtype of q, torch.float64, got torch.float32
R(q, q[..., :8])                                    k must have heads of width 16, got shape \(2, 4, 6, 8\)
R(q[0, 0, 0], q[0, 0, 0])                           length_axis must name an axis of q of shape \(16,\) .*, got -2
R(q, q, length_axis=1)                              length_axis must name an axis of q .* got 1
Rope(7)                                             dim must have an even width .* got 7
Rope(16, 1)                                         base must be greater than 1, .* got 1
Rope(16, layout="neox")                             layout must be one of .* got 'neox'
Rope(16, rotary_dim=0.5)                            rotary_dim must be an integer, got 0.5
Rope(16, rotary_dim=18)                             rotary_dim must be even and at most the width 16, got 18
Rope(16, axes=[0, 1])                               axes must have an integer per pair, 8, got 2
Rope.axial((7, 9))                                  axes_dim must be even .* got \(7, 9\)
Rope.axial((8, 8)).rotate(q, at)                    positions must have shape \(..., length, 2\), got shape \(6,\)
sections((1, 3), interleaved=True)                  sizes must leave room to take turns, got \(1, 3\)
sections((1, 3), "false")                           interleaved must be True or False, got 'false'
of_frequencies(np.full(8, nan))                     inv_freq must be finite, got nan
of_frequencies(linear(16, factor=2.0))              inv_freq must be .* got \(an array of shape \(8,\), 1.0\)
of_frequencies(np.ones(8), dim=8)                   inv_freq must have at most 4 frequencies, .* got 8
of_schedule(Scaled(np.ones(8), 1.0))                frequencies must be a function of seq_len, got \(an array
of_schedule(lambda n: [1.0] * 8)                    frequencies must return
of_config({"head_dim": 128, "rope_theta": 1e4}, 64)  head_dim must be what config says, 128, got 64
of_config({"rope_theta": 1e4, "hidden_size": 8})    config must have head_dim
of_config({"mrope_section": [4, 2, 2], "mrope_interleaved": "false", "rope_theta": 1e4}, 16)  interleaved .* got 'false'
R.cos_sin()                                         give either positions or length
R.cos_sin(length=2, like="torch")                   like must be None or an array, .* got 'torch'
R.rerotate(q, torch.arange(5))                      shift must be .* \(6,\), got an array of shape \(5,\)
rotate(x, (cos, sin[:1]))                           cos and sin must have one shape, got \(6, 8\) and \(1, 8\)
rotate(q, torch.ones(6, 8), out=q[..., :8])         out must be like x, \(2, 4, 6, 16\), .* got \(2, 4, 6, 8\)
packed_position_ids("32")                           lengths must be a list of integers, got '32'
packed_position_ids([2, -1])                        lengths must be at least 0, got -1
grid_position_ids(2, 0)                             sizes must be at least 1, got 0
of_config("config.json")                            config must be a mapping or a configuration .* got 'config.json'
convert_projection(torch.ones(64, 192), 4, 48, "half-split")  weight must .* got shape \(64, 192\). .*transpose one of shape
packed_position_ids(torch.tensor([3, 2]))           lengths must be an integer, got tensor\(3\)
"""
# Each call, and what it equals.
RIGHT = """
R.rotate(q, (at + 250).to(torch.uint8))             R.rotate(q, offset=250)
R.rotate(q, at - 5.5)                               R.rotate(q, (at.double() - 5.5))
R.rotate(q, offset=torch.tensor([[7], [7]]))        R.rotate(q, offset=7)
R(q, q[:1])[1]                                      R.rotate(q)[:1]
Rope(17, rotary_dim=16).rotate(torch.ones(6, 17))[:, :16]  R.rotate(q)[0, 0]
of_frequencies(-inv_freq(16)).rotate(q)             R.rotate(q, -at)
packed_position_ids(np.array([3, 2]))               [0, 1, 2, 0, 1]
sinusoidal(torch.zeros(2, 5, 8), 4).shape           (2, 5, 8, 4)
sinusoidal(at, 8).dtype == alibi(at - at[:, None], [0.5]).dtype == torch.float32  True
R.rotate(torch.ones(6, 4, 6, 16), offset=at)[3]     R.rotate(torch.ones(6, 4, 6, 16), offset=3)[3]
R.rotate(q.to(torch.float8_e4m3fn)).float()         R.rotate(q).to(torch.float8_e4m3fn).float()
of_frequencies(np.ones(4), dim=16).rotate(q)[..., 8:]  q[..., 8:]
of_config({"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 4}, 16, seq_len=4).rotate(q)  R.rotate(q)
of_config({"rope_theta": 1e6, "head_dim": 128, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}).axes  sections((16, 24, 24))
rotate(x[0], phi * 90)                              rotate(x[0], phi * (90 - 28 * np.pi))
"""


def rows(table: str) -> list[list[str]]:
    """The calls of a table, each with what is expected of it."""
    return [re.split(r"  +", line, maxsplit=1) for line in table.strip().splitlines()]


@pytest.mark.parametrize(("call", "message"), rows(REFUSED))
def test_a_wrong_call_is_refused_by_an_error_that_names_the_argument(call, message):
    with pytest.raises((TypeError, ValueError, UserWarning), match=message):  # warnings are errors in all tests
        eval(call, NAMES)


@pytest.mark.parametrize(("call", "expected"), rows(RIGHT))
def test_an_unusual_call_is_right(call, expected):
    found, right = (np.asarray(eval(one, NAMES)) for one in (call, expected))
    np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-6)
