"""posenc.bias, every function alike: batches, empty sequences, dtypes, what is refused, and torch."""

import numpy as np
import pytest

from posenc.absolute import relative_positions
from posenc.bias import (
    alibi,
    alibi_rank_two,
    alibi_slopes,
    deberta,
    fire,
    kerple,
    relative_shift,
    sandwich,
    sandwich_features,
    score_mod,
    t5,
    t5_bucket,
    tener,
    transformer_xl,
)
from tests.unit.bias_arguments import deberta_arguments, normal, square, xl_arguments


def everything(convert):
    """Each function on small arguments, converted to a library; arrays of positions, lists of positions."""
    at = convert(np.arange(5.0))
    offsets, slopes = relative_positions(at, at), convert(np.array([0.5, 0.25, 1.0]))
    table = convert(normal(32, 3))
    yield "slopes", alibi_slopes(6, like=at, dtype=at.dtype)
    for given_offsets in (offsets, offsets.tolist()):
        yield "alibi", alibi(given_offsets, slopes, dtype=at.dtype)
        yield "symmetric", alibi(given_offsets, slopes, symmetric=True, dtype=at.dtype)
        yield "t5", t5(given_offsets, table, bidirectional=False)
        yield "t5 both", t5(given_offsets, table, bidirectional=True)
        yield "kerple", kerple(given_offsets, [0.5, 0.25, 1.0], slopes, dtype=at.dtype)
        yield "kerple power", kerple(given_offsets, slopes, [0.5, 0.25, 1.0], kind="power", dtype=at.dtype)
        yield from zip("qk", alibi_rank_two(at.tolist(), at, slopes, dtype=at.dtype), strict=True)
        yield from zip("qk", alibi_rank_two(at, at.tolist(), [0.5, 0.25], dtype=at.dtype), strict=True)
        yield from zip("qk", alibi_rank_two([1], [2, 3], slopes, dtype=at.dtype), strict=True)
    yield "bucket", t5_bucket(offsets, bidirectional=True)
    yield "sandwich", sandwich(offsets, 3, dtype=at.dtype)
    yield "sandwich features", sandwich_features(at, 3, dtype=at.dtype)
    yield "fire", fire(at, at.tolist(), lambda share: share * share + 0 * slopes, 0.5, 2.0)
    yield "fire", fire([3, 5], [0, 4], lambda share: share * slopes, slopes[0], slopes[2])
    for both in (False, True):
        arguments = [convert(array) for array in xl_arguments(both=both)]
        yield from zip("abcd", transformer_xl(*arguments), strict=True)
    q, k, r, u, v = arguments
    yield "tener", tener(q, k, r[0], u, v).logits
    yield "shift", relative_shift(r)
    arguments = deberta_arguments()
    yield from zip("abc", deberta(*[convert(array) for array in arguments]), strict=True)
    yield "deberta", deberta(*[convert(array) for array in arguments[:-1]], arguments[-1].tolist()).logits


def test_causal_methods_hide_later_keys_and_no_others():
    q, k, r, u, v = xl_arguments(queries=5, keys=5)
    for bias in (
        alibi(square(5), [0.5, 2.0]),
        fire(np.arange(5), np.arange(5), np.negative, 1.0, 3.0),
        transformer_xl(q, k, r, u, v).bias,
    ):
        np.testing.assert_array_equal(np.isneginf(bias), np.broadcast_to(np.tri(5) == 0, bias.shape))


def test_score_mod_adds_the_bias_of_each_pair():
    q, k = normal(2, 3, 4, 8), normal(2, 3, 9, 8)
    offsets, of_content = relative_positions(np.arange(5, 9), np.arange(9)), normal(2, 3, 4, 9)
    for bias, whole in (
        (lambda offsets: alibi(offsets, [0.5, 0.25, 1.0]), alibi(offsets, [0.5, 0.25, 1.0])),
        (of_content[0], of_content[0]),
        (of_content, of_content),
    ):
        add, whole = score_mod(bias, q, k), np.broadcast_to(whole, (2, 3, 4, 9))
        for place in np.ndindex(whole.shape):
            assert add(1.5, *place) == 1.5 + whole[place]


def test_activations_keep_their_dtype():
    for make, function in ((xl_arguments, transformer_xl), (deberta_arguments, deberta)):
        q, k, *others = make()
        terms = function(q.astype("float32"), k.astype("float32"), *others)
        assert {term.dtype for term in terms} == {np.dtype("float32")}
        np.testing.assert_allclose(terms.logits, function(q, k, *others).logits, rtol=1e-5, atol=1e-5)


DEBERTA = deberta_arguments()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: t5_bucket(0, bidirectional=True, num_buckets=7), "an even number of buckets, at least 4, .* got 7"),
        (lambda: t5_bucket(0, bidirectional=False, max_distance=16), "max_distance must be greater than 16, .* got 16"),
        (lambda: kerple(square(3), [1.0], [2.5], kind="power"), "r2 must be at most 2 for the power"),
        (lambda: kerple(square(3), [1.0], [1.0, 2.0]), r"equally many, got \[1.0\] and \[1.0, 2.0\]"),
        (lambda: fire([1], [1], lambda share: share[..., 0], 1.0, 1.0), r"mlp must return shape \(1, 1, heads\)"),
        (
            lambda: deberta(*DEBERTA[:2], DEBERTA[2][:, 1:], *DEBERTA[3:]),
            r"key_relative must have an even number of rows, 2·span, got shape \(3, 3, 4\)",
        ),
    ],
)
def test_arguments_that_do_not_fit_each_other_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.torch
def test_torch_gets_what_numpy_gets(torch):
    convert = lambda array: torch.from_numpy(np.ascontiguousarray(array))  # noqa: E731 (one line says it)
    for (name, ours), (_, numpy) in zip(everything(convert), everything(np.asarray), strict=True):
        assert isinstance(ours, torch.Tensor), name
        assert str(ours.dtype) == f"torch.{numpy.dtype}", name
        np.testing.assert_allclose(ours, numpy, atol=1e-12, err_msg=name)


@pytest.mark.torch
def test_gradients(torch):
    """Finite differences; exp makes −∞ a number that can be differenced."""
    random = lambda array: torch.tensor(array, dtype=torch.float64, requires_grad=True)  # noqa: E731 (short)
    check, offsets = torch.autograd.gradcheck, torch.from_numpy(square(4))
    slopes, other = random([0.5, 0.1]), random([1.5, 0.7])
    assert check(lambda m: alibi(offsets, m, dtype=m.dtype).exp(), slopes)
    assert check(lambda table: t5(offsets, table, bidirectional=True), random(normal(32, 2)))
    assert check(lambda r1, r2: kerple(offsets, r1, r2, kind="power", dtype=r1.dtype), (slopes, other))
    at = random([0.0, 1.0, 4.0])
    power = kerple(relative_positions(at, at), [1.0], [0.5], kind="power")
    assert torch.isfinite(torch.autograd.grad(power.sum(), at)[0]).all()  # 0^½ is steep
    weight = random([[0.5], [-2.0]])
    net = lambda c, L, w: fire([0, 2, 9], [0, 1, 5], lambda share: torch.tanh(share @ w.T), c, L).exp()  # noqa: E731
    assert check(net, (random(0.3), random(4.0), weight))
    arguments = [random(array) for array in xl_arguments(heads=1, queries=2, keys=3)]
    assert check(lambda *arrays: (transformer_xl(*arrays).logits / 4).exp(), arguments)
