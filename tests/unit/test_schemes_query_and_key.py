"""posenc.schemes.query_and_key: rotation, scaling, tables that layers share, refusals."""

import pytest
import torch

from posenc import scaling
from posenc.configs import model, scaled
from posenc.frequencies import angles
from posenc.rotary import rotary_table, rotate, xpos_tables
from posenc.schemes import SCALINGS, Rotary, make_scheme
from tests.unit.scheme_cases import (
    BAD_LAYOUTS,
    BAD_NUMBERS,
    BAD_POSITIVE,
    BATCH,
    DOORS,
    DYNAMIC,
    HEAD_DIM,
    HEADS,
    LENGTH,
    YARN,
    inputs,
    make,
    normal,
    of_each,
    projected,
    refuses,
)

pytestmark = pytest.mark.torch


def test_rotation():
    q, k, _ = projected(inputs())
    at, keys_at = torch.arange(LENGTH) + 3, torch.arange(LENGTH) * 2
    wanted = {
        "rope": scaling.default(HEAD_DIM),
        "rope half": scaling.Scaled(scaling.default(HEAD_DIM, 100.0).inv_freq, 1.2),
        "rope partial": scaling.default(4, 100.0),
        "rope linear": scaling.linear(HEAD_DIM, factor=4.0),
        "rope dictionary": scaling.yarn(HEAD_DIM, 100.0, factor=4.0, original_max_position_embeddings=8),
        "rope dynamic": scaling.dynamic_ntk(
            HEAD_DIM, 100.0, factor=2.0, original_max_position_embeddings=4, seq_len=LENGTH
        ),
    }
    for case, (inv_freq, factor) in wanted.items():
        scheme, layout = make(case), "half" if case == "rope half" else "interleaved"
        got = scheme.frequencies()
        assert got.inv_freq == pytest.approx(inv_freq, rel=1e-15)
        assert got.attention_factor == factor
        rotary_dim = 4 if case == "rope partial" else None
        for x, turned, place in zip((q, k), scheme.rotate(q, k, at, keys_at), (at, keys_at), strict=True):
            table = rotary_table(angles(place, torch.tensor(inv_freq)), factor, length_axis=-2)
            torch.testing.assert_close(turned, rotate(x, table, layout, rotary_dim=rotary_dim), atol=1e-13, rtol=0)
    inv_freq = torch.tensor(scaling.default(HEAD_DIM, 100.0).inv_freq)
    for_q, for_k = (xpos_tables(place, inv_freq, scale_base=16.0, length_axis=-2) for place in (at, keys_at))
    got = make("xpos").rotate(q, k, at, keys_at)
    torch.testing.assert_close(got[0], rotate(q, for_q[0]), atol=1e-13, rtol=0)
    torch.testing.assert_close(got[1], rotate(k, for_k[1]), atol=1e-13, rtol=0)


def test_heads_of_a_group_share_keys():
    """Grouped keys are rotated as they are, and repeated afterwards."""
    scheme, at = make("rope"), torch.arange(LENGTH)
    q, k, _ = projected(inputs())
    turned = scheme.rotate(q, k[:, :1], at)[1]
    assert turned.shape == (BATCH, 1, LENGTH, HEAD_DIM)
    torch.testing.assert_close(turned, scheme.rotate(q, k, at)[1][:, :1])


@pytest.mark.parametrize("of", ["name", "dictionary"])
def test_a_dynamic_scaling_follows_the_sequence(of):
    options = {"original_max_position_embeddings": 4, "factor": 2.0}
    settings = {"base": 100.0, "scaling": "dynamic_ntk", "scaling_options": options} if of == "name" else {
        "scaling": DYNAMIC
    }  # fmt: skip
    scheme = make_scheme("rope", head_dim=HEAD_DIM, **settings)
    q, k, _ = projected(inputs())
    for last in (3, 8, 29):
        at = torch.arange(LENGTH) + last - LENGTH + 1 if last >= LENGTH - 1 else torch.zeros(LENGTH) + last
        frequencies = scaling.dynamic_ntk(HEAD_DIM, 100.0, seq_len=last + 1, **options).inv_freq
        plain = make_scheme("rope", head_dim=HEAD_DIM, base=float(frequencies[1] ** -4))  # θ_1 = base^(−1/4)
        got, expected = scheme.rotate(q, k, at), plain.rotate(q, k, at)
        torch.testing.assert_close(got[0], expected[0], atol=1e-9, rtol=0)
        torch.testing.assert_close(got[1], expected[1], atol=1e-9, rtol=0)
    # The sequence goes as far as its farthest key, wherever the queries are.
    far = scheme.rotate(q[:, :, :1], k, torch.tensor([0]), torch.arange(LENGTH) + 21)[1]
    torch.testing.assert_close(far, scheme.rotate(q, k, torch.arange(LENGTH) + 21)[1], atol=1e-12, rtol=0)
    # A key that was rotated in a shorter sequence no longer fits (C216).
    early, late = (scheme.rotate(q[:, :, :1], k[:, :, :1], torch.tensor([end]), torch.tensor([5])) for end in (5, 29))
    assert float((early[1] - late[1]).abs().max()) > 1e-3


def test_every_scaling_by_name():
    length = {"original_max_position_embeddings": 16}
    options = {
        "default": {},
        "linear": {"factor": 4.0},
        "ntk_aware": {"factor": 4.0},
        "dynamic_ntk": length,
        "ntk_by_parts": {"factor": 4.0, **length, "beta_fast": 4.0},
        "yarn": {"factor": 4.0, **length, "ramp": "paper"},
        "llama3": {"factor": 4.0, **length},
        "longrope": {"factor": 4.0, **length, "short_factor": [1.0] * 4, "long_factor": [1.0, 2.0, 3.0, 4.0]},
        "proportional": {"partial_rotary_factor": 0.5},
    }
    assert set(options) == set(SCALINGS)
    for name, chosen in options.items():
        scheme = Rotary(HEAD_DIM, 1000.0, scaling=name, scaling_options=chosen, seq_len=100)
        more = {"seq_len": 100} if name in ("dynamic_ntk", "longrope") else {}
        expected = getattr(scaling, name)(HEAD_DIM, 1000.0, **chosen, **more)
        assert scheme.frequencies().inv_freq == pytest.approx(expected.inv_freq, rel=1e-15)
        assert scheme.frequencies().attention_factor == expected.attention_factor
        turned, _ = scheme.rotate(*projected(inputs())[:2], torch.arange(LENGTH))
        assert turned.shape == (BATCH, HEADS, LENGTH, HEAD_DIM)


def test_published_models():
    """A published dictionary goes in as it is; Gemma 3 has one scheme for each layer type."""
    for name, layer_type in (("Llama-3.1-8B", None), ("gpt-neox-20b", None), ("gemma-3-4b-it", "sliding_attention")):
        config = model(name)
        scheme = Rotary(config.head_dim, scaling=config.rope, layer_type=layer_type)
        expected = scaled(config, layer_type=layer_type)
        assert scheme.frequencies().inv_freq == pytest.approx(expected.inv_freq, rel=1e-15)
        q = normal(1, 1, 3, config.head_dim)
        turned = scheme.rotate(q, q, torch.arange(3))[0]
        assert torch.equal(turned[..., config.rotary_dim :], q[..., config.rotary_dim :])
        assert not torch.equal(turned[..., : config.rotary_dim], q[..., : config.rotary_dim])


def test_layers_share_their_tables(monkeypatch):
    """Made once for the same positions, again when these change, and never kept from a pass for inference."""
    scheme, made = Rotary(HEAD_DIM), []
    real = Rotary.tables
    monkeypatch.setattr(Rotary, "tables", lambda *arguments: made.append(1) or real(*arguments))
    q, k, _ = projected(inputs())
    positions = torch.arange(LENGTH)
    for _ in range(3):
        first = scheme.rotate(q, k, positions)
    assert len(made) == 1
    positions += 1
    second = scheme.rotate(q, k, positions)
    assert len(made) == 2
    assert float((first[0] - second[0]).abs().max()) > 0.1
    torch.testing.assert_close(second[0], Rotary(HEAD_DIM).rotate(q, k, torch.arange(LENGTH) + 1)[0])
    scheme.rotate(q.float(), k.float(), positions)
    scheme.rotate(q.bfloat16(), k.bfloat16(), positions)
    assert len(made) == 4  # one beside the reference, one in float32, which bfloat16 shares
    with torch.inference_mode():
        scheme.rotate(q.float(), k.float(), torch.arange(LENGTH))
        scheme.rotate(q, k, positions)
    learned = q.clone().requires_grad_()
    scheme.rotate(learned, k, positions)[0].sum().backward()
    assert learned.grad is not None
    before = len(made)
    row = torch.arange(LENGTH)[None]
    for _ in range(3):
        scheme.rotate(q, k, row)
    assert len(made) == before + 1
    each = torch.vmap(lambda at: scheme.rotate(q, k, at)[0])(torch.stack([row[0], row[0] + 1]))
    torch.testing.assert_close(each[1], second[0])
    moving = torch.arange(LENGTH, dtype=torch.float64).requires_grad_()
    for _ in range(2):
        scheme.rotate(q, k, moving)[0].sum().backward()
    assert bool(moving.grad.abs().sum() > 0)


test_bad_settings = refuses(
    [
        *of_each(("rope", "xpos"), "base", BAD_POSITIVE),
        *of_each(("rope", "xpos"), "layout", BAD_LAYOUTS),
        *of_each(("rope", "xpos"), "head_dim", BAD_NUMBERS),
        ("xpos", {"head_dim": 7}, "head_dim"),
        ("rope", {"head_dim": 7}, "dim"),
        *of_each(["rope"], "rotary_dim", (0, -2, 3, 10, 2.5, "4", True)),
        *of_each(["rope"], "scaling", ("ntk", "", "attention", 3, ["linear"])),
        *of_each(["rope"], "scaling_options", ({"factor": 2.0}, {"like": None}, 3, [1])),
        ("rope", {"scaling": "linear"}, "factor"),
        ("rope", {"scaling": "linear", "scaling_options": {"factor": 0.5}}, "factor"),
        ("rope", {"scaling": "dynamic_ntk", "scaling_options": {"seq_len": 3}}, "seq_len"),
        *[("rope", {"scaling": YARN, **more}, next(iter(more))) for more in ({"base": 1e4}, {"rotary_dim": 4})],
        ("rope", {"scaling": YARN, "scaling_options": {"factor": 2.0}}, "scaling_options"),
        ("rope", {"scaling": YARN, "layer_type": "full_attention"}, "layer_type"),
        ("rope", {"layer_type": "full_attention"}, "layer_type"),
        ("rope", {"scaling": {**YARN, "factor": -1.0}}, "factor"),
        ("rope", {"scaling": {**YARN, "rope_type": "spiral"}}, "rope_type"),
        *of_each(["rope"], "attention_factor", BAD_POSITIVE),
        *of_each(["rope"], "seq_len", (-1, 2.5, "8", True)),
        *of_each(["xpos"], "gamma", BAD_POSITIVE),
        *of_each(["xpos"], "scale_base", BAD_POSITIVE),
    ]
)


def test_bad_widths_and_heads():
    at = torch.arange(3)
    for name in DOORS["query and key"]:
        q = normal(2, HEADS, 3, 6)
        with pytest.raises(
            ValueError, match=r"q must have shape \(batch, heads, length, 8\), got shape \(2, 2, 3, 6\)"
        ):
            make(name).rotate(q, q, at)
        with pytest.raises(ValueError, match=r"k must have shape \(2, a divisor of 2, keys, 6\)"):
            make(name).rotate(q, normal(2, 3, 3, 6), at)


def test_bad_positions():
    q = normal(1, HEADS, 3, HEAD_DIM)
    with pytest.raises(ValueError, match="subtract a common origin"):
        make("xpos", scale_base=512.0).rotate(q, q, torch.tensor([0, 1, 40_000]))
