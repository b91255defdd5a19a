"""posenc.lab.evaluate: other schemes for trained weights, interventions against loops, known answers."""

import math

import numpy as np
import pytest
import torch

from posenc import lab, scaling
from posenc.lab import evaluate
from posenc.lab.corpus import IGNORED, Batch
from posenc.lab.runs import Run
from posenc.lab.train import build
from posenc.schemes import make_scheme
from posenc.transformer import Transformer, TransformerConfig
from tests.unit.small_laboratory import make_small

pytestmark = pytest.mark.torch

BASE, HEAD_DIM, TRAINED = 100.0, 32, 64  # of the run quick-…-rope_100
PAIRS = range(HEAD_DIM // 2)


@pytest.fixture
def small(monkeypatch):
    """Makes models of runs of the small laboratory."""
    make_small(monkeypatch, steps=7)
    return model_of


def run_of(scheme="rope_100", task="offset", **more):
    return Run("quick", task, scheme, 0, **more)


def model_of(run):
    """A model of a run that has something to say before it is trained."""
    model = build(run).eval()
    torch.nn.init.normal_(model.head.weight, generator=torch.Generator().manual_seed(6))
    return model


def tokens_of(run, length, sequences=2):
    return run.make_task().batch(np.random.RandomState(5), sequences, length).tokens


def weights_of(model):
    return {name: weight.clone() for name, weight in model.state_dict().items()}


def assert_close(got, expected, tolerance=1e-5):
    torch.testing.assert_close(got, expected, atol=tolerance, rtol=0)


# --- another scheme ---------------------------------------------------------------------------------------------------


def test_a_model_with_another_scheme_has_the_same_weights(small):
    run = run_of("none")
    model, scheme = small(run), run_of("rope_100").make_scheme()
    other, tokens = evaluate.with_scheme(model, scheme), tokens_of(run, 20)
    before = model(tokens)
    assert other.scheme is scheme
    assert [id(one) for one in other.parameters()] == [id(one) for one in model.parameters()]
    turned = small(run_of("rope_100"))
    turned.load_state_dict(model.state_dict())
    assert torch.equal(other(tokens), turned(tokens))
    assert torch.equal(model(tokens), before)


def test_weights_that_were_not_trained_are_refused(small):
    learned = run_of("learned")
    model = small(learned)
    for scheme in (learned.make_scheme(seed=1), run_of("transformer_xl").make_scheme()):
        with pytest.raises(ValueError, match="scheme must have no weights that the model was not trained with, got "):
            evaluate.with_scheme(model, scheme)
    longer = learned.make_scheme(past_end="clamp")
    longer.load_state_dict(model.scheme.state_dict())
    assert evaluate.with_scheme(model, longer)(tokens_of(learned, 40)).shape == (2, 40, 64)


def test_a_checkpoint_of_arrays_is_evaluated_as_its_transformer():
    model, run = lab.load("two_layers-text-rope_100-0")
    arrays, yarn, probe = lab.load_weights(run.name), evaluate.scaled(run, "yarn", 2.0), run.make_task().windows(200, 3)
    for one, same in ((model, arrays), (evaluate.with_scheme(model, yarn), evaluate.with_scheme(arrays, yarn))):
        found, wanted = evaluate.answers(same, probe, 32), evaluate.answers(one, probe, 32)
        assert found.losses == pytest.approx(wanted.losses, abs=1e-5)
        assert found.position_loss == pytest.approx(wanted.position_loss, abs=1e-4)
        assert found.accuracies == pytest.approx(wanted.accuracies, abs=0.04)  # of 32, one may be a tie
    assert arrays.scheme is not yarn
    with pytest.raises(ValueError, match="scheme must have no weights .*, got table"):
        evaluate.with_scheme(arrays, run_of("learned").make_scheme())


# --- other frequencies, other temperatures ----------------------------------------------------------------------------


def test_scaled_frequencies():
    factor = 4.0
    length = {"original_max_position_embeddings": TRAINED}
    bounds = {"beta_fast": 4.0, "beta_slow": 1.0, **length, "factor": factor}
    expected = {
        "default": scaling.default(HEAD_DIM, BASE),
        "linear": scaling.linear(HEAD_DIM, BASE, factor=factor),
        "ntk_aware": scaling.ntk_aware(HEAD_DIM, BASE, factor=factor),
        "dynamic_ntk": scaling.dynamic_ntk(HEAD_DIM, BASE, seq_len=int(factor * TRAINED), **length),
        "ntk_by_parts": scaling.ntk_by_parts(HEAD_DIM, BASE, **bounds),
        "yarn": scaling.yarn(HEAD_DIM, BASE, **bounds),
        "yarn_paper": scaling.yarn(HEAD_DIM, BASE, **bounds, ramp="paper"),
        "yarn_published_bounds": scaling.yarn(HEAD_DIM, BASE, **bounds | {"beta_fast": 32.0}),
        "yarn_frequencies": scaling.yarn(HEAD_DIM, BASE, **bounds, attention_factor=1.0),
        "yarn_temperature": scaling.Scaled(scaling.default(HEAD_DIM, BASE).inv_freq, scaling.mscale(factor)),
    }
    assert set(expected) == set(evaluate.SCALINGS)
    for name, (frequencies, attention_factor) in expected.items():
        scheme = evaluate.scaled(run_of(), name, factor)
        found = scheme.frequencies(int(factor * TRAINED))
        assert found.inv_freq == pytest.approx(frequencies, rel=1e-14), name
        assert found.attention_factor == attention_factor, name


def test_interpolated_pairs():
    trained, slowed = (evaluate.scaled(run_of(), name, 4.0).frequencies() for name in ("default", "linear"))
    for pairs in ([], [3, 15], PAIRS):
        found = evaluate.interpolated(run_of(), 4.0, pairs).frequencies(1000)
        expected = [(slowed if pair in pairs else trained).inv_freq[pair] for pair in PAIRS]
        assert found.inv_freq == pytest.approx(expected, rel=1e-14)
        assert found.attention_factor == 1


def test_pairs_that_made_no_turn():
    for scheme, base in (("rope_100", 100), ("rope_10000", 10_000), ("rope_1", 1)):
        slow = [pair for pair in PAIRS if TRAINED * base ** (-2 * pair / HEAD_DIM) < 2 * math.pi]
        assert evaluate.slow_pairs(run_of(scheme)) == slow
    assert slow == []
    assert evaluate.slow_pairs(run_of("rope_10000")) == list(range(5, 16))


# --- clipping ---------------------------------------------------------------------------------------------------------


def heads():
    return torch.randn(2, 2, 2, 7, 8, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def scores(scheme, q, k, positions, key_positions):
    """The logits that attention makes of queries and keys."""
    q, turned = scheme.rotate(q, k, positions, key_positions)
    logits = q @ turned.transpose(-1, -2) * scheme.logit_scale(q.shape[-1], k.shape[2])
    bias = scheme.bias(q, turned, positions, key_positions)
    return logits if bias is None else logits + bias


@pytest.mark.parametrize("pairs", [[1, 3], range(4)])
@pytest.mark.parametrize("limit", [0, 2])
def test_clipping_against_complex_numbers(pairs, limit):
    """Each pair as a complex number, rotated by its distance or by the limit."""
    theta = torch.tensor([10.0 ** (-pair / 4) for pair in range(4)], dtype=torch.float64)
    q, k = heads()
    at = torch.stack([torch.arange(7) + 3, 2 * torch.arange(7) + 30])
    got = scores(evaluate.ClippedRotary(theta.tolist(), pairs, limit), q, k, at, at)
    distance = (at[:, :, None] - at[:, None])[:, None, ..., None]  # (batch, 1, queries, keys, 1)
    told = torch.where(torch.tensor([pair in pairs for pair in range(4)]), distance.clamp(max=limit), distance)
    of_q, of_k = (torch.view_as_complex(x.unflatten(-1, (4, 2))) for x in (q, k))
    products = of_q[:, :, :, None] * of_k[:, :, None].conj() * torch.exp(1j * told * theta)
    assert_close(got.tril(), products.real.sum(-1).tril() / math.sqrt(8), 1e-12)


# --- what a model answers ---------------------------------------------------------------------------------------------


def successor_model():
    """A model that knows one thing, that after each symbol comes the next one: all else in it is zero."""
    model = Transformer(TransformerConfig(vocab_size=8, dim=8, n_heads=2), make_scheme("none"), seed=0)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.zero_()
        model.embedding.weight.copy_(torch.eye(8))
        model.head.weight.copy_(torch.eye(8).roll(1, dims=0))
    return model.eval()


@pytest.mark.parametrize("at_once", [None, 1])
def test_answers_to_a_known_probe(at_once, monkeypatch):
    """The right symbol has the logit √8 and the seven others 0, so every answer costs one of two numbers."""
    if at_once is not None:
        monkeypatch.setattr(evaluate, "_MAX_ENTRIES", at_once)
    tokens = torch.tensor([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7], [7, 0, 1, 2, 3]])
    targets = torch.tensor([[IGNORED, IGNORED, 3, 0, 5], [IGNORED, 5, 6, 7, 1], [IGNORED, 1, 0, 3, 4]])
    found = evaluate.answers(successor_model(), Batch(tokens, targets), 2)
    right = math.log(1 + 7 * math.exp(-math.sqrt(8)))
    wrong = right + math.sqrt(8)
    assert found.loss == pytest.approx((4 * right + 2 * wrong) / 6, rel=1e-5)
    assert found.accuracy == pytest.approx(4 / 6)
    shares = [math.nan, 1, 2 / 3, 2 / 3, 2 / 3]
    assert found.position_accuracy == pytest.approx(shares, nan_ok=True)
    losses = [share * right + (1 - share) * wrong for share in shares]
    assert found.position_loss == pytest.approx(losses, rel=1e-5, nan_ok=True)
    everything = evaluate.answers(successor_model(), Batch(tokens[:, 2:], targets[:, 2:]), 3)
    assert everything.accuracy == pytest.approx(6 / 9)
    assert everything.loss == pytest.approx(np.mean(losses[2:]), rel=1e-5)


def test_tokens_without_targets_are_not_scored():
    tokens = torch.tensor([[0, 1, 2], [3, 4, 5]])
    targets = torch.tensor([[1, 2, 3], [4, IGNORED, 6]])
    assert evaluate.answers(successor_model(), Batch(tokens, targets), 1).accuracy == 1
    for n_scored in (2, 4):
        with pytest.raises(ValueError, match=f"n_scored must be at most the last tokens .*, got {n_scored}"):
            evaluate.answers(successor_model(), Batch(tokens, targets), n_scored)


def test_measuring(small):
    """The probes of a task at each length, by the model as it is or by another scheme for each."""
    run = run_of()
    model, made, lengths = small(run), run.make_task(), (40, 100)
    plain = evaluate.measure(model, made, lengths, sequences=3)
    assert list(plain) == [40, 100]
    for length, found in plain.items():
        one = evaluate.answers(model, made.probe(length, 3), made.n_scored)
        assert (found.loss, found.accuracy) == (one.loss, one.accuracy)
        assert len(found.position_loss) == length
    asked, none = [], run_of("none").make_scheme()
    elsewhere = evaluate.measure(
        model, made, lengths, sequences=3, scheme_at=lambda length: asked.append(length) or none
    )
    assert asked == [40, 100]
    blind = evaluate.measure(evaluate.with_scheme(model, none), made, lengths, sequences=3)
    assert [found.loss for found in elsewhere.values()] == [found.loss for found in blind.values()]
    assert elsewhere[40].loss != plain[40].loss


# --- a few steps more -------------------------------------------------------------------------------------------------


def test_fine_tuning_leaves_the_model_as_it_was(small):
    """And its scheme, which may be the very one that is tuned."""
    run = run_of("t5", "text")
    model, task = small(run), run.make_task()
    before = weights_of(model)
    tuned = evaluate.fine_tune(model, run, task, model.scheme, length=20, steps=3, learning_rate=0.01)
    assert not tuned.training
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, before[name]), name
        assert not torch.equal(tuned.state_dict()[name], weight), name
    probe = task.probe(32, 8)
    losses = [evaluate.answers(evaluate.with_scheme(one, run_of("none").make_scheme()), probe, 32).loss
              for one in (model, tuned)]  # fmt: skip
    assert losses[1] < losses[0]
