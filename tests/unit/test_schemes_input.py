"""posenc.schemes.input: each code is its function, initial values."""

import pytest
import torch

from posenc import absolute
from posenc.schemes import make_scheme
from tests.unit.scheme_cases import CASES, DIM, INJECTION_POINTS, inputs, make, name_of, normal

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("case", [case for case in CASES if name_of(case) in INJECTION_POINTS["input"]])
def test_encodings_of_the_input(case):
    scheme, x, at = make(case), inputs(), torch.tensor([[0, 5, 2], [9, 1, 33]])
    functions = {
        "integer": lambda: absolute.integer(at, DIM, dtype=torch.float64),
        "normalised": lambda: absolute.normalised(at, 64, DIM, dtype=torch.float64),
        "binary": lambda: absolute.binary(at, DIM, dtype=torch.float64),
        "sinusoidal": lambda: absolute.sinusoidal(at, DIM, 100.0, dtype=torch.float64),
        "sinusoidal half": lambda: absolute.sinusoidal(at, DIM, layout="half-split", dtype=torch.float64),
        "learned": lambda: absolute.learned(at, scheme.table),
        "learned clamp": lambda: absolute.learned(at, scheme.table, past_end="clamp"),
        "learned interpolate": lambda: absolute.learned(at, scheme.table, past_end="interpolate", length=64),
    }
    x = x[:, :3]
    torch.testing.assert_close(scheme.embed(x, at), x + functions[case](), atol=0, rtol=0)
    assert torch.equal(scheme.encoding(at), functions[case]())


def test_initial_values():
    """Normal, with the given deviation."""
    table = make_scheme("learned", dim=64, max_positions=512, seed=0).table.detach()
    assert float(table.mean()) == pytest.approx(0, abs=1e-3)
    assert float(table.std()) == pytest.approx(0.02, rel=0.03)


def test_bad_widths():
    at = torch.arange(3)
    for name in INJECTION_POINTS["input"]:
        with pytest.raises(ValueError, match=r"x must have shape \(batch, length, 16\), got shape \(2, 3, 8\)"):
            make(name).embed(normal(2, 3, 8), at)
