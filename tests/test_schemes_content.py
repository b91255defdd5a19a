"""posenc.schemes.content: the terms are their functions, initial values, refusals."""

import math

import pytest
import torch

from posenc import absolute, bias
from posenc.schemes import make_scheme
from tests.scheme_cases import (
    BAD_NUMBERS,
    BAD_POSITIVE,
    CASES,
    CONTENT_SCHEMES,
    DIM,
    HEAD_DIM,
    HEADS,
    LENGTH,
    bad_settings,
    check_refused,
    inputs,
    make,
    name_of,
    normal,
    projected,
)

pytestmark = pytest.mark.torch


def test_terms():
    q, k, _ = projected(inputs())
    q, at, keys_at = q[:, :, -4:], torch.arange(LENGTH)[-4:] + 5, torch.arange(LENGTH) + 5
    offsets = absolute.relative_positions(at, keys_at)
    schemes = {case: make(case).double() for case in CASES if name_of(case) in CONTENT_SCHEMES}
    wanted = {}

    def in_heads(rows):
        return rows.unflatten(-1, (HEADS, HEAD_DIM)).transpose(0, 1)

    xl = schemes["transformer_xl"]
    r = in_heads(absolute.sinusoidal(torch.arange(8, -1, -1), DIM, layout="half") @ xl.w_kr)
    wanted["transformer_xl"] = bias.transformer_xl(q, k, r, xl.u, xl.v).bias / math.sqrt(HEAD_DIM)
    xl = schemes["transformer_xl encoder"]
    r = in_heads(absolute.sinusoidal(torch.arange(8, -4, -1), 10, 100.0, layout="half") @ xl.w_kr)
    wanted["transformer_xl encoder"] = bias.transformer_xl(q, k, r, xl.u, xl.v).bias / math.sqrt(HEAD_DIM)
    for case, nearest in (("tener", -3), ("tener decoder", 0)):
        r, tener = absolute.sinusoidal(torch.arange(8, nearest - 1, -1), HEAD_DIM), schemes[case]
        wanted[case] = bias.tener(q, k, r, tener.u, tener.v).bias
    it = schemes["deberta"]
    terms = bias.deberta(q, k, in_heads(it.p @ it.w_kr), in_heads(it.p @ it.w_qr), offsets)
    wanted["deberta"] = terms.bias / math.sqrt(3 * HEAD_DIM)
    assert set(wanted) == set(schemes)
    for case, scheme in schemes.items():
        torch.testing.assert_close(scheme.bias(q, k, at, keys_at), wanted[case], atol=1e-12, rtol=0)


def test_initial_values():
    """Normal, with the given deviation."""
    spread = make_scheme("transformer_xl", n_heads=4, head_dim=32, seed=0).w_kr.detach()
    assert float(spread.std()) == pytest.approx(0.02, rel=0.03)


@bad_settings(
    [
        *[
            (name, {"n_heads": bad}, "n_heads")
            for name in ("transformer_xl", "tener", "deberta")
            for bad in BAD_NUMBERS
        ],
        *[
            (name, {"head_dim": bad}, "head_dim")
            for name in ("transformer_xl", "tener", "deberta")
            for bad in BAD_NUMBERS
        ],
        *[("transformer_xl", {"causal": bad}, "causal") for bad in (0, 1, None, "no")],
        *[(name, {"base": bad}, "base") for name in ("transformer_xl", "tener") for bad in BAD_POSITIVE],
        *[(name, {"std": bad}, "std") for name in ("transformer_xl", "tener", "deberta") for bad in BAD_POSITIVE],
        *[
            (name, {"seed": bad}, "seed")
            for name in ("transformer_xl", "tener", "deberta")
            for bad in (-1, 2.5, "1", True)
        ],
        *[("transformer_xl", {"dim": bad}, "dim") for bad in (0, -1, 2.5, "8", True)],
        *[("deberta", {"span": bad}, "span") for bad in BAD_NUMBERS],
    ]
)
def test_bad_settings(name, change, said):
    check_refused(name, change, said)


def test_bad_positions():
    q = normal(1, HEADS, 3, HEAD_DIM)
    for name in ("transformer_xl", "tener"):
        for bad in ([0, 2, 3], [2, 1, 0], [0, 0, 1]):
            with pytest.raises(ValueError, match="key_positions must be consecutive"):
                make(name).double().bias(q, q, torch.tensor(bad))
        with pytest.raises(ValueError, match="positions the last of them"):
            make(name).double().bias(q[:, :, :2], q, torch.tensor([0, 1]), torch.arange(3))
        with pytest.raises(ValueError, match="key_positions must be as many as positions, 3, or more, got 2"):
            make(name).double().bias(q, q[:, :, :2], torch.arange(3), torch.arange(2))
