"""posenc.schemes on NumPy arrays: the same numbers as on tensors, with torch installed and without it."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from posenc.schemes import Mixed, make_scheme
from tests.unit.scheme_cases import CASES, DIM, HEAD_DIM, HEADS, LENGTH, every_case, inputs, make, name_of, projected
from tests.unit.test_layers import without

pytestmark = pytest.mark.torch

X, (Q, K, _) = inputs(), projected(inputs())
AT = torch.arange(LENGTH) + 3
SHAPES = {
    "one row": AT,
    "a row for each sequence": torch.stack([AT, AT + 9]),
    "halves": AT / 2,
}
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


def test_a_window_of_arrays():
    scheme = Mixed(HEAD_DIM, window=3).for_layer(0)
    for at in (SHAPES["one row"], SHAPES["a row for each sequence"]):
        assert_same(computed(scheme, *(one.numpy() for one in (X, Q, K, at))), as_numpy(computed(scheme, X, Q, K, at)))


@every_case
def test_empty_arrays(case):
    scheme = make(case)
    for batch, length in ((2, 0), (0, 3)):
        x, q = np.zeros((batch, length, DIM)), np.zeros((batch, HEADS, length, HEAD_DIM))
        for at in (np.arange(length), np.zeros((batch, length), int) + np.arange(length)):
            assert scheme.embed(x, at).shape == x.shape
            assert scheme.rotate(q, q, at)[0].shape == q.shape
            bias = scheme.bias(q, q, at)
            assert bias is None or bias.shape[-3:] == (HEADS, length, length)


@pytest.mark.parametrize("case", ["rope", "alibi", "learned", "tener"])
def test_arrays_of_two_libraries_are_refused(case):
    scheme = make(case).double()
    for arguments in ((X.numpy(), AT), (X, AT.numpy())):
        with pytest.raises(TypeError, match="cannot mix Tensor and ndarray"):
            scheme.embed(*arguments)
    for arguments in ((Q.numpy(), K, AT), (Q, K, AT.numpy()), (Q, K, AT, AT.numpy())):
        for method in (scheme.rotate, scheme.bias):
            with pytest.raises(TypeError, match="cannot mix Tensor and ndarray"):
                method(*arguments)


WITHOUT_TORCH = """
import json
import numpy as np
from posenc.schemes import PositionScheme, make_scheme
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
    if "seed" in options:
        again, other = (make_scheme(case.split()[0], **options | {"seed": seed}) for seed in (options["seed"], 9))
        pairs = list(zip(scheme.state_dict().values(), again.state_dict().values(), other.state_dict().values()))
        assert all((one == two).all() for one, two, _ in pairs) and any((one != three).any() for one, _, three in pairs)
    scheme.load_state_dict(weights)
    x, q, k, at = (saved[name] for name in ("x", "q", "k", "at"))
    found[case + "/embedded"] = scheme.embed(x, at)
    found[case + "/q"], found[case + "/k"] = scheme.rotate(q, k, at)
    bias = scheme.bias(q, k, at)
    if bias is not None:
        found[case + "/bias"] = bias
np.savez("found.npz", **found)

class Two(PositionScheme):
    def __init__(self):
        super().__init__()
        self.first, self.second = make_scheme("t5", n_heads=1), make_scheme("rope", head_dim=2)

assert list(Two().state_dict()) == ["first.table"]
try:
    scheme.load_state_dict({"p": np.zeros((1, 2))})
except ValueError as error:
    assert "weights must have the names and shapes {'p': (6, 16)" in str(error) and "{'p': (1, 2)}" in str(error)
else:
    raise AssertionError
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


INITIAL_VALUES = """
from posenc.schemes import make_scheme

table = make_scheme("learned", dim=64, max_positions=512).table
kerple, fire = make_scheme("kerple", n_heads=999), make_scheme("fire", n_heads=2, width=64, c=0.3)
weights = {name: abs(weight).max() for name, weight in fire.state_dict().items()}
print(table.std(), abs(table.mean()), kerple.r1.min(), kerple.r2.max(), float(fire.log_c))
print(weights["mlp.0.weight"], weights["mlp.2.weight"])
"""


def test_initial_values_without_torch_are_as_distributed():
    script = without(["torch"]) + INITIAL_VALUES
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.stderr == ""
    std, mean, least, most, log_c, first, last = map(float, ran.stdout.split())
    assert std == pytest.approx(0.02, rel=0.03)
    assert mean < 1e-3
    assert (least, most) == (pytest.approx(0.1, abs=0.01), pytest.approx(1, abs=0.01))
    assert log_c == pytest.approx(np.log(0.3), rel=1e-6)
    assert 0.8 < first <= 1  # ±1/√in_features, as in torch.nn.Linear
    assert 0.8 / 8 < last <= 1 / 8


def test_other_refusals_without_torch():
    script = without(["torch"]) + "from posenc.schemes import make_scheme\nmake_scheme('t5', n_heads=2, seed=-1)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.stderr.splitlines()[-1] == "ValueError: seed must be at least 0, got -1"
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        make_scheme("t5", n_heads=2, seed=-1)
