"""posenc.schemes.content: the terms are their functions, initial values."""

import math

import pytest
import torch

from posenc import absolute, bias
from tests.unit.scheme_cases import (
    CASES,
    CONTENT_SCHEMES,
    DIM,
    HEAD_DIM,
    HEADS,
    check_biases,
    last_four,
    make,
    name_of,
    normal,
)

pytestmark = pytest.mark.torch


def test_terms():
    q, k, at, keys_at = last_four()
    offsets = absolute.relative_positions(at, keys_at)
    schemes = {case: make(case).double() for case in CASES if name_of(case) in CONTENT_SCHEMES}
    wanted = {}

    def in_heads(rows):
        return rows.unflatten(-1, (HEADS, HEAD_DIM)).transpose(0, 1)

    xl = schemes["transformer_xl"]
    r = in_heads(absolute.sinusoidal(torch.arange(8, -1, -1), DIM, layout="half-split", dtype=torch.float64) @ xl.w_kr)
    wanted["transformer_xl"] = bias.transformer_xl(q, k, r, xl.u, xl.v).bias / math.sqrt(HEAD_DIM)
    xl = schemes["transformer_xl encoder"]
    r = in_heads(
        absolute.sinusoidal(torch.arange(8, -4, -1), 10, 100.0, layout="half-split", dtype=torch.float64) @ xl.w_kr
    )
    wanted["transformer_xl encoder"] = bias.transformer_xl(q, k, r, xl.u, xl.v).bias / math.sqrt(HEAD_DIM)
    for case, nearest in (("tener", -3), ("tener decoder", 0)):
        r, tener = absolute.sinusoidal(torch.arange(8, nearest - 1, -1), HEAD_DIM, dtype=torch.float64), schemes[case]
        wanted[case] = bias.tener(q, k, r, tener.u, tener.v).bias
    it = schemes["deberta"]
    terms = bias.deberta(q, k, in_heads(it.p @ it.w_kr), in_heads(it.p @ it.w_qr), offsets)
    wanted["deberta"] = terms.bias / math.sqrt(3 * HEAD_DIM)
    check_biases(schemes, wanted)


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
