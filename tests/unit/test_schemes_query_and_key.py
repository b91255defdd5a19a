"""posenc.schemes.query_and_key: rotation and scaling by name, xPos, and refusals."""

import pytest
import torch

from posenc import scaling
from posenc.rope import Rope
from posenc.rotary import rotate, xpos_cos_sin
from posenc.schemes import Mixed, Rotary
from tests.unit.scheme_cases import (
    HEAD_DIM,
    HEADS,
    INJECTION_POINTS,
    LENGTH,
    YARN,
    inputs,
    make,
    normal,
    projected,
)

pytestmark = pytest.mark.torch


def close(found, expected, atol=1e-13):
    for ours, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, wanted, atol=atol, rtol=0)


def test_rotation():
    q, k, _ = projected(inputs())
    at, keys_at = torch.arange(LENGTH) + 3, torch.arange(LENGTH) * 2
    dynamic = {"factor": 2.0, "original_max_position_embeddings": 4, "seq_len": LENGTH}
    wanted = {
        "rope": Rope(HEAD_DIM),
        "rope interleaved": Rope.from_frequencies(Rope(HEAD_DIM, 100.0).inv_freq, 1.2, layout="interleaved"),
        "rope partial": Rope(HEAD_DIM, 100.0, rotary_dim=4),
        "rope linear": Rope.from_frequencies(*scaling.linear(HEAD_DIM, factor=4.0)),
        "rope dictionary": Rope.from_frequencies(
            *scaling.yarn(HEAD_DIM, 100.0, factor=4.0, original_max_position_embeddings=8)
        ),
        "rope dynamic": Rope.from_frequencies(*scaling.dynamic_ntk(HEAD_DIM, 100.0, **dynamic)),
    }
    for case, rope in wanted.items():
        scheme = make(case)
        assert scheme.frequencies().inv_freq == pytest.approx(rope.inv_freq, rel=1e-15)
        assert scheme.frequencies().attention_factor == rope.attention_factor
        close(scheme.rotate(q, k, at, keys_at), rope(q, k, at, key_positions=keys_at))
        close(scheme.rotate(q, k[:, :1], at, keys_at)[1:], [scheme.rotate(q, k, at, keys_at)[1][:, :1]])  # grouped keys
    inv_freq = torch.tensor(scaling.default(HEAD_DIM, 100.0).inv_freq)
    for_q, for_k = (xpos_cos_sin(place, inv_freq, scale_base=16.0) for place in (at, keys_at))
    close(make("xpos").rotate(q, k, at, keys_at), [rotate(q, for_q[0]), rotate(k, for_k[1])])
    rows = torch.stack([at, keys_at])  # each sequence has its own positions
    together = make("xpos interleaved").rotate(q, k, rows)
    for row in range(2):
        alone = make("xpos interleaved").rotate(q[row : row + 1], k[row : row + 1], rows[row])
        close([x[row : row + 1] for x in together], alone)


def test_gradients_flow_after_a_pass_without_them_and_positions_may_carry_one():
    scheme, (q, k, _), at = Rotary(HEAD_DIM), projected(inputs()), torch.arange(LENGTH)
    with torch.inference_mode():
        scheme.rotate(q, k, at)
    learned, moving = q.clone().requires_grad_(), at.double().requires_grad_()
    scheme.rotate(learned, k, moving)[0].square().sum().backward()
    close([learned.grad], [2 * q])  # a rotation keeps lengths
    scheme.rotate(q, k, moving)[0].sum().backward()
    assert moving.grad.abs().min() > 0


@pytest.mark.parametrize("window", [None, 3])
def test_every_fourth_layer_does_not_rotate_and_the_others_see_a_window(window):
    scheme, (q, k, _), at = Mixed(HEAD_DIM, every=4, window=window), projected(inputs()), torch.arange(LENGTH)
    back = at[:, None] - at
    for index in range(8):
        layer = scheme.for_layer(index)
        rotates, added = index % 4 != 3, layer.bias(q, k, at)
        close(layer.rotate(q, k, at), Rope(HEAD_DIM)(q, k) if rotates else (q, k))
        if window and rotates:
            assert torch.equal(
                added[1], torch.zeros(LENGTH, LENGTH, dtype=added.dtype).masked_fill(back >= window, -torch.inf)
            )
        else:
            assert added is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scaling": "linear"}, "factor"),
        ({"scaling": "dynamic_ntk", "scaling_options": {"seq_len": 3}}, "seq_len"),
        ({"scaling": YARN, "base": 1e4}, "base"),
        ({"scaling": YARN, "scaling_options": {"factor": 2.0}}, "scaling_options"),
        ({"scaling": {**YARN, "rope_type": "spiral"}}, "rope_type"),
    ],
)
def test_settings_that_do_not_fit_each_other(change, said):
    with pytest.raises(ValueError, match=said):
        make("rope", **change)


def test_bad_widths_heads_and_positions():
    at, q = torch.arange(3), normal(2, HEADS, 3, 6)
    for name in INJECTION_POINTS["query and key"]:
        with pytest.raises(ValueError, match=r"q must have heads of width 8, got shape \(2, 2, 3, 6\)"):
            make(name).rotate(q, q, at)
        with pytest.raises(ValueError, match=r"k must have shape \(2, a divisor of 2, keys, 6\)"):
            make(name).rotate(q, normal(2, 3, 3, 6), at)
    with pytest.raises(ValueError, match="subtract a common origin"):
        make("xpos", scale_base=512.0).rotate(normal(2, HEADS, 3, 8), normal(2, HEADS, 3, 8), at + 40_000)
