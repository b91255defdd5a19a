"""posenc.schemes.no_position: the temperature, refusals."""

import pytest
import torch

from posenc.attention import attention
from posenc.schemes import make_scheme
from tests.unit.scheme_cases import normal

pytestmark = pytest.mark.torch


def test_temperature_of_nope():
    assert make_scheme("none_with_temperature", factor=2.0).logit_scale(16, 10**6) == 2 / 4
    follows = make_scheme("none_with_temperature", trained_length=128)
    assert [follows.logit_scale(16, n) for n in (0, 1, 128)] == [0.25] * 3
    assert follows.logit_scale(16, 128**2) == pytest.approx(0.5)
    # C133: among n keys of logits that are normal, one of logit 6 keeps its weight.
    logits = normal(8192, seed=5)
    logits[0] = 6.0
    weights = {}
    for n in (128, 8192):
        q, k = torch.ones(1, 1, 1, 1, dtype=torch.float64), logits[:n].reshape(1, 1, n, 1)
        plain, kept = (attention(q, k, k, scale=s).weights[0, 0, 0, 0] for s in (1.0, follows.logit_scale(1, n)))
        weights[n] = float(plain), float(kept)
    assert weights[128][0] == weights[128][1]
    assert weights[8192][0] < 0.1 * weights[128][0]
    assert weights[8192][1] > 0.75 * weights[128][1]
