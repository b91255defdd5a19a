"""posenc.schemes, every scheme alike: shapes, shifts, dtypes, state, refusals."""

import copy
import math
from itertools import product

import pytest
import torch

from posenc import schemes
from posenc.schemes import SCHEMES, PositionScheme, make_scheme
from tests.unit.scheme_cases import (
    ABSOLUTE,
    BATCH,
    CASES,
    CONTENT_SCHEMES,
    DIM,
    HEAD_DIM,
    HEADS,
    INJECTION_POINTS,
    LENGTH,
    attend,
    every_case,
    inputs,
    make,
    name_of,
    normal,
    projected,
    shapes_of,
)

pytestmark = pytest.mark.torch


def test_every_scheme_is_tried_and_public():
    hidden = {kind.__name__ for kind in SCHEMES.values()} - set(schemes.__all__)
    assert not hidden, f"__all__ of posenc.schemes lacks {hidden}"
    assert {name_of(case) for case in CASES} == set(SCHEMES), "CASES of scheme_cases.py has an entry for each scheme"


@every_case
def test_it_acts_at_its_injection_point_alone(case):
    scheme, positions = make(case).double(), torch.arange(LENGTH)
    x, (q, k, _) = inputs(), projected(inputs())
    turned = scheme.rotate(q, k, positions)
    assert torch.equal(scheme.embed(x, positions), x) == (scheme.injection_point != "input")
    assert (turned[0] is q and turned[1] is k) == (scheme.injection_point != "query and key")
    assert (scheme.bias(q, k, positions) is None) == (scheme.injection_point != "logits")
    expected = {"t5": 1.0, "tener": 1.0, "deberta": 1 / math.sqrt(24), "none_with_temperature": 1.3 / math.sqrt(8)}
    assert scheme.logit_scale(HEAD_DIM, LENGTH) == pytest.approx(expected.get(name_of(case), 1 / math.sqrt(8)))


def test_temperature_of_nope():
    assert make_scheme("none_with_temperature", factor=2.0).logit_scale(16, 10**6) == 2 / 4
    follows = make_scheme("none_with_temperature", trained_length=128)
    assert [follows.logit_scale(16, n) for n in (0, 1, 128, 128**2)] == pytest.approx([0.25] * 3 + [0.5])


def test_a_scheme_of_ones_own():
    """A subclass overrides one method and gets checked arguments."""

    class Nearest(PositionScheme):
        injection_point = "logits"

        def _bias(self, q, k, positions, key_positions):
            return -(positions[:, None] - key_positions).abs().to(q.dtype)

    q = normal(1, 2, 3, 4)
    scheme, positions = Nearest(), torch.tensor([0, 5, 6])
    assert scheme.bias(q, q, positions).tolist() == [[0, -5, -6], [-5, 0, -1], [-6, -1, 0]]
    assert scheme.rotate(q, q, positions)[0] is q
    with pytest.raises(ValueError, match="positions"):
        scheme.bias(q, q, torch.arange(4))


@every_case
def test_positions_of_every_shape(case):
    """For all sequences, in one row for all, or in a row for each; queries and keys need not have the same shape."""
    scheme, x, positions = make(case).double(), inputs(), torch.arange(LENGTH)
    for each in shapes_of(positions):
        torch.testing.assert_close(scheme.embed(x, each), scheme.embed(x, positions), atol=0, rtol=0)
        torch.testing.assert_close(attend(scheme, x, each), attend(scheme, x, positions), atol=1e-12, rtol=0)
    q, k, _ = projected(x)
    q, at = q[:, :, -3:], positions[-3:]
    turned, bias = scheme.rotate(q, k, at, positions), scheme.bias(q, k, at, positions)
    for each, of_keys in product(shapes_of(at), shapes_of(positions)):
        torch.testing.assert_close(scheme.rotate(q, k, each, of_keys), turned, atol=1e-12, rtol=0)
        got = scheme.bias(q, k, each, of_keys)
        assert (got is None) == (bias is None) == (scheme.injection_point != "logits")
        if bias is not None:
            wanted = bias.expand(BATCH, HEADS, 3, LENGTH)
            torch.testing.assert_close(got.expand_as(wanted), wanted, atol=1e-12, rtol=0)
    with pytest.raises(
        ValueError, match=rf"positions must have shape \({LENGTH},\), \(1, {LENGTH}\) or \({BATCH}, {LENGTH}\)"
    ):
        attend(scheme, x, positions.expand(BATCH + 1, LENGTH))


@every_case
@pytest.mark.parametrize("causal", [True, False])
def test_moved_positions(case, causal):
    """Where the text begins is seen by codes of the input and by FIRE, and by no other scheme."""
    scheme, x = make(case).double(), inputs()
    there, moved = (attend(scheme, x, torch.arange(LENGTH) + start, causal) for start in (2, 9))
    change = float((there - moved).abs().max().detach())
    if name_of(case) in ABSOLUTE:
        assert change > 1e-4
    else:
        assert change < 1e-10


@every_case
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("bfloat16", 6e-2)])
def test_narrow_dtypes(case, dtype, tolerance):
    """Close to float64 and in the dtype given; a bias is in float32 at least, far from the start too."""
    narrow, wide = getattr(torch, dtype), make(case).double()
    scheme = copy.deepcopy(wide).to(narrow)
    wide = wide.to(narrow).double()  # the same parameters
    start = {"rope": 5000, "xpos": 300, "alibi": 1000}.get(name_of(case), 20)
    positions = torch.arange(LENGTH) + start
    x = inputs().to(narrow)
    assert scheme.embed(x, positions).dtype == narrow
    q, k, _ = projected(x)
    turned = scheme.rotate(q, k, positions)
    added = scheme.bias(*turned, positions)
    assert turned[0].dtype == turned[1].dtype == narrow
    assert added is None or added.dtype == torch.float32
    expected = wide.rotate(q.double(), k.double(), positions)
    scale = float(expected[0].abs().max())
    torch.testing.assert_close(turned[0].double(), expected[0], atol=tolerance * scale, rtol=0)
    if added is not None:
        sure = wide.bias(q.double(), k.double(), positions)
        bound = tolerance * max(1.0, float(sure[sure.isfinite()].abs().max().detach()))
        torch.testing.assert_close(added.double(), sure, atol=bound, rtol=0)


@every_case
def test_parameters_and_state(case):
    """Some schemes learn; parameters are equal for equal seeds."""
    learned = set(make(case).state_dict())
    assert learned == {name for name, _ in make(case).named_parameters()}
    assert bool(learned) == (name_of(case) in {"learned", "t5", "kerple", "fire", *CONTENT_SCHEMES})
    if not learned:
        return
    same, other = make(case, seed=5), make(case, seed=6)
    before = torch.get_rng_state()
    again = make(case, seed=5)
    assert torch.equal(before, torch.get_rng_state())
    for name, value in again.state_dict().items():
        assert torch.equal(value, same.state_dict()[name])
    assert any(not torch.equal(value, other.state_dict()[name]) for name, value in same.state_dict().items())


# torch.compile makes an instance of any autograd function that it traces, and torch warns of that
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize("case", [case for case in CASES if case == name_of(case) or case == "rope dictionary"])
@pytest.mark.release
def test_it_compiles_into_one_graph(case):
    scheme, x, positions = make(case).double(), inputs(), torch.arange(LENGTH)
    expected = attend(scheme, x, positions)
    torch.compiler.reset()
    compiled = torch.compile(lambda y: attend(scheme, y, positions), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), expected, atol=1e-12, rtol=0)


def test_bad_names():
    with pytest.raises(ValueError, match="name must be one of none, .*, rope, .*got 'RoPE'"):
        make_scheme("RoPE")
    with pytest.raises(TypeError, match="name must be a string"):
        make_scheme(["rope"])
    with pytest.raises(ValueError, match=r"'rope' does not take dim, theta; it takes head_dim, base, layout"):
        make_scheme("rope", head_dim=8, theta=1e4, dim=8)
    with pytest.raises(ValueError, match="'deberta' lacks n_heads, head_dim; it takes n_heads, head_dim, span"):
        make_scheme("deberta")


def wrong_tensors():
    """Arguments of embed, of rotate and of bias that do not fit, with what the message names."""
    x, q, at = normal(2, 3, DIM), normal(2, HEADS, 3, HEAD_DIM), torch.arange(3)
    embed = [((bad, at), "x") for bad in (None, x[0], x.long())]
    positions = [None, torch.arange(4), at.expand(3, 3), at > 1, at / 0]
    embed += [((x, bad), "positions") for bad in positions]
    both = [((q, q, bad), "positions") for bad in positions]
    both += [((q, q, at, bad), "key_positions") for bad in positions if bad is not None]
    both += [((bad, q, at), "q") for bad in (None, q[0], q.long(), q[..., :0])]
    both += [((q, bad, at), "k") for bad in (q[0], q.float(), q[:1], q[..., :4])]
    both += [((q, q[:, :, :2], at), "key_positions")]
    return {"embed": embed, "rotate": both, "bias": both}


@pytest.mark.parametrize("method", ["embed", "rotate", "bias"])
@pytest.mark.parametrize("case", ["none", "rope", "deberta"])
def test_bad_tensors(case, method):
    """Every scheme checks them, also at the injection points that it does not use."""
    scheme = make(case).double()
    for arguments, said in wrong_tensors()[method]:
        with pytest.raises((TypeError, ValueError), match=rf"^{said} must"):
            getattr(scheme, method)(*arguments)


def test_bad_widths_and_heads():
    at = torch.arange(3)
    for name in INJECTION_POINTS["logits"]:
        q = normal(2, 3, 3, HEAD_DIM)
        with pytest.raises(ValueError, match=r"q must have shape \(batch, 2, length, .*\), got shape \(2, 3, 3, 8\)"):
            make(name).double().bias(q, q, at)
        with pytest.raises(ValueError, match=r"k must have shape \(2, 3, keys, 8\)"):
            make(name).double().bias(q, q[:, :1], at)
