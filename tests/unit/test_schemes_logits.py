"""posenc.schemes.logits: each bias is its function, initial values."""

import pytest
import torch

from posenc import absolute, bias
from tests.unit.scheme_cases import (
    CASES,
    CONTENT_SCHEMES,
    HEADS,
    INJECTION_POINTS,
    check_biases,
    last_four,
    make,
    name_of,
)

pytestmark = pytest.mark.torch


def test_biases():
    _, _, at, keys_at = last_four()
    offsets = absolute.relative_positions(at, keys_at)
    schemes = {
        case: make(case).double()
        for case in CASES
        if name_of(case) in INJECTION_POINTS["logits"] and name_of(case) not in CONTENT_SCHEMES
    }
    wanted = {
        "alibi": bias.alibi(offsets, [1 / 16, 1 / 256], dtype=offsets.dtype),
        "alibi slopes": bias.alibi(offsets, [0.5, 0.0625], dtype=offsets.dtype),
        "alibi symmetric": bias.alibi(offsets, [1 / 16, 1 / 256], symmetric=True, dtype=offsets.dtype),
        "t5": bias.t5(offsets, schemes["t5"].table, bidirectional=False, max_distance=8),
        "t5 encoder": 2 * bias.t5(offsets, schemes["t5 encoder"].table, bidirectional=True, max_distance=8),
        "sandwich": bias.sandwich(offsets, HEADS, 16, 100.0, dtype=offsets.dtype),
        "kerple": bias.kerple(
            offsets, schemes["kerple"].log_r1.exp(), schemes["kerple"].log_r2.exp(), dtype=offsets.dtype
        ),
        "kerple power": bias.kerple(
            offsets, schemes["kerple power"].r1, schemes["kerple power"].r2, kind="power", dtype=offsets.dtype
        ),
        "fire": bias.fire(at, keys_at, schemes["fire"].mlp, torch.tensor(0.1, dtype=torch.float64), 2.0),
    }
    check_biases(schemes, wanted, {"fire": 1e-6})  # its log_c was float32 before it was doubled


def test_kerple_stays_in_its_range_wherever_it_is_driven():
    offsets = -torch.arange(5.0)[None]
    for kind in ("logarithmic", "power"):
        scheme = make("kerple", kind=kind)
        for step in (-20.0, 20.0):
            with torch.no_grad():
                for parameter in scheme.parameters():
                    parameter.fill_(step / 4)
            assert bool((scheme.relative_bias(offsets)[:, 0, 1:] < 0).all())
            assert kind == "logarithmic" or bool((scheme.r2 < 2).all())
