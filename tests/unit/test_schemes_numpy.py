"""posenc.schemes on NumPy arrays: the same numbers as on tensors, with torch installed and without it."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.unit.scheme_cases import CASES, HEAD_DIM, LENGTH, every_case, inputs, make, name_of, projected
from tests.unit.test_layers import without

pytestmark = pytest.mark.torch

X, (Q, K, _) = inputs(), projected(inputs())
AT = torch.arange(LENGTH) + 3
SHAPES = {"a row for each sequence": torch.stack([AT, AT + 9]), "halves": AT / 2}
WHOLE = ("integer", "normalised", "binary", "learned", "t5", "transformer_xl", "tener", "deberta")  # positions alone


def computed(scheme, x, q, k, at):
    """What a scheme makes of embeddings, queries and keys, and of four queries after a cache."""
    found = {"embedded": scheme.embed(x, at), "scale": scheme.logit_scale(HEAD_DIM, LENGTH)}
    found["q"], found["k"] = scheme.rotate(q, k, at)
    found["bias"] = scheme.bias(q, k, at)
    last = at[..., -4:]
    found["last q"], found["all k"] = scheme.rotate(q[:, :, -4:], k, last, at)
    found["last bias"] = scheme.bias(q[:, :, -4:], k, last, at)
    return {name: value for name, value in found.items() if value is not None}


def as_numpy(values):
    return {name: np.asarray(value.detach() if torch.is_tensor(value) else value) for name, value in values.items()}


def assert_same(found, wanted, tolerance=1e-12):
    assert set(found) == set(wanted)
    for name, value in found.items():
        np.testing.assert_allclose(value, wanted[name], atol=tolerance, rtol=0, err_msg=name)


@pytest.mark.parametrize(
    ("case", "shape"),
    [(case, shape) for case in CASES for shape in SHAPES if shape != "halves" or name_of(case) not in WHOLE],
)
def test_arrays_get_what_tensors_get(case, shape):
    scheme, at = make(case).double(), SHAPES[shape]
    found = computed(scheme, *(one.numpy() for one in (X, Q, K, at)))
    assert all(isinstance(value, np.ndarray | float) for value in found.values())
    assert_same(found, as_numpy(computed(scheme, X, Q, K, at)))


@every_case
def test_arrays_of_single_precision_stay_so(case):
    scheme = make(case)
    tensors = [X.float(), Q.float(), K.float(), AT]
    found = computed(scheme, *(one.numpy() for one in tensors))
    assert {value.dtype for value in found.values() if not isinstance(value, float)} == {np.dtype("float32")}
    assert_same(found, as_numpy(computed(scheme, *tensors)), 1e-5)


WITHOUT_TORCH = """
import json
import numpy as np
from posenc.schemes import make_scheme
from posenc.schemes._module import _ArrayModule

saved = np.load("saved.npz")
found = {}
for case, options in json.load(open("cases.json")).items():
    scheme = make_scheme(case.split()[0], **options)
    assert isinstance(scheme, _ArrayModule)
    prefix = f"{case}/"
    own = {name: weight.shape for name, weight in scheme.state_dict().items()}
    weights = {name.removeprefix(prefix): saved[name] for name in saved if name.startswith(prefix)}
    assert own == {name: weight.shape for name, weight in weights.items()}, (case, own)
    scheme.load_state_dict(weights)
    x, q, k, at = (saved[name] for name in ("x", "q", "k", "at"))
    found[case + "/embedded"] = scheme.embed(x, at)
    found[case + "/q"], found[case + "/k"] = scheme.rotate(q, k, at)
    bias = scheme.bias(q, k, at)
    if bias is not None:
        found[case + "/bias"] = bias
np.savez("found.npz", **found)
"""


def test_without_torch_weights_are_arrays(tmp_path):
    """Every scheme, with the weights that torch made: the numbers that it computes with them on tensors."""
    saved, wanted = {"x": X.numpy(), "q": Q.numpy(), "k": K.numpy(), "at": AT.numpy()}, {}
    for case in CASES:
        scheme = make(case)
        saved |= {f"{case}/{name}": weight.numpy() for name, weight in scheme.state_dict().items()}
        values = as_numpy(computed(scheme, X, Q, K, AT))
        wanted |= {f"{case}/{name}": values[name] for name in ("embedded", "q", "k", "bias") if name in values}
    np.savez(tmp_path / "saved.npz", **saved)
    (tmp_path / "cases.json").write_text(json.dumps(CASES))
    script = without(["torch"]) + WITHOUT_TORCH
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert ran.stderr == ""
    with np.load(tmp_path / "found.npz") as found:
        assert_same(dict(found), wanted, 1e-6)
