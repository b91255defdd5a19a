"""posenc.transformer: gradients, decoding with a cache, weights, and what it refuses.

What it computes is compared with `posenc.transformer.forward` in test_transformer_forward.py.
"""

import pytest
import torch

from posenc._rms_norm import RMSNorm
from posenc.schemes import make_scheme
from posenc.transformer import KeyValueCache, Transformer, TransformerConfig
from tests.unit.scheme_cases import CASES, HEAD_DIM, HEADS, LENGTH, make

pytestmark = pytest.mark.torch

VOCAB, DIM, BATCH = 11, HEADS * HEAD_DIM, 2
FOR_ENCODERS = ["alibi symmetric", "t5 encoder", "transformer_xl encoder", "tener"]
FOR_DECODERS = ["alibi", "alibi slopes", "t5", "fire", "transformer_xl", "tener decoder"]
ONE_EACH = [case for case in CASES if " " not in case or case in FOR_ENCODERS + FOR_DECODERS]
DECODERS = [case for case in ONE_EACH if case not in FOR_ENCODERS]
ENCODERS = [case for case in ONE_EACH if case not in FOR_DECODERS]
EITHER = [(case, causal) for causal, cases in ((True, DECODERS), (False, ENCODERS)) for case in cases]
every_decoder = pytest.mark.parametrize("case", DECODERS)
every_model = pytest.mark.parametrize(("case", "causal"), EITHER)


def config(**more):
    return TransformerConfig(**{"vocab_size": VOCAB, "dim": DIM, "n_heads": HEADS, "mlp_dim": 20, **more})


def model(case="rope", *, scheme=None, **more):
    """A model in float64 that has something to say: its output does not start at zero."""
    built = Transformer(config(**more), make(case) if scheme is None else scheme, seed=5).double().eval()
    torch.nn.init.normal_(built.head.weight, generator=torch.Generator().manual_seed(6))
    return built


def some_tokens(length=LENGTH, seed=0):
    return torch.randint(0, VOCAB, (BATCH, length), generator=torch.Generator().manual_seed(seed))


def assert_close(got, expected, tolerance=1e-10):
    torch.testing.assert_close(got, expected, atol=tolerance, rtol=0)


def decoded(built, tokens, chunks, positions=None):
    """The answers to a text that is read in chunks, with a cache."""
    cache, answers, start = KeyValueCache(), [], 0
    for chunk in chunks:
        here = slice(start, start + chunk)
        at = None if positions is None else positions[..., here]
        answers.append(built(tokens[:, here], at, cache=cache))
        start += chunk
    return torch.cat(answers, dim=1)


# --- what it computes -----------------------------------------------------------------------------------------------


@every_model
def test_gradients_reach_every_weight(case, causal):
    built, tokens = model(case, causal=causal), some_tokens()
    loss = torch.nn.functional.cross_entropy(built(tokens).flatten(0, 1), some_tokens(seed=1).flatten())
    loss.backward()
    for name, weight in built.named_parameters():
        assert weight.grad is not None, name
        assert bool(weight.grad.isfinite().all()), name
        assert bool((weight.grad != 0).any()), name


@every_decoder
def test_later_tokens_change_no_earlier_answer(case):
    built, tokens = model(case), some_tokens()
    changed = tokens.clone()
    changed[:, 5] = (tokens[:, 5] + 1) % VOCAB
    before, after = built(tokens), built(changed)
    assert_close(after[:, :5], before[:, :5], 1e-12)
    assert bool(((after - before)[:, 5:].abs().amax(dim=-1) > 1e-6).all())


# --- decoding -------------------------------------------------------------------------------------------------------


@every_decoder
@pytest.mark.parametrize(
    ("chunks", "start"), [([1] * LENGTH, None), ([4, 1, 4], [[3], [11]])], ids=["token by token", "in chunks"]
)
def test_decoding_with_a_cache_is_one_pass(case, chunks, start):
    built, tokens = model(case), some_tokens()
    positions = None if start is None else torch.arange(LENGTH) + torch.tensor(start)
    with torch.inference_mode():
        assert_close(decoded(built, tokens, chunks, positions), built(tokens, positions))


def test_tokens_go_on_from_the_last_position():
    """Where none are given, in every shape that positions have."""
    built, tokens, steps = model("sinusoidal"), some_tokens(), torch.arange(LENGTH)
    for positions in (steps, steps + 7, steps[None], steps + torch.tensor([[3], [11]])):
        cache = KeyValueCache()
        built(tokens[:, :4], positions[..., :4], cache=cache)
        got = [built(tokens[:, 4:7], cache=cache), built(tokens[:, 7:], cache=cache)]
        assert_close(torch.cat(got, dim=1), built(tokens, positions)[:, 4:])
        assert torch.equal(cache.positions, positions)
        assert [tuple(k.shape) for k, _ in cache.layers] == [(BATCH, HEADS, LENGTH, HEAD_DIM)] * 2


def test_scalings_that_follow_the_length():
    """Dynamic NTK, L = 4: what layers made of earlier tokens was made with the frequencies of that time."""
    options = {"original_max_position_embeddings": 4}
    dynamic = {"head_dim": HEAD_DIM, "base": 100.0, "scaling": "dynamic_ntk", "scaling_options": options}
    tokens, single = some_tokens(), [1] * LENGTH
    shallow, deep = (model(scheme=make_scheme("rope", **dynamic), n_layers=layers) for layers in (1, 2))
    # Within the trained length nothing changes, and a chunk that is the whole text is one pass.
    assert_close(decoded(deep, tokens[:, :4], [1] * 4), deep(tokens[:, :4]))
    assert_close(decoded(deep, tokens, [LENGTH]), deep(tokens), 0)
    # Keys are turned anew: with one layer every answer is the last one of a fresh pass over the text so far.
    fresh = {built: torch.stack([built(tokens[:, :end])[:, -1] for end in range(1, LENGTH + 1)], dim=1)
             for built in (shallow, deep)}  # fmt: skip
    assert_close(decoded(shallow, tokens, single), fresh[shallow])
    # With two, the second reads what the first made of earlier tokens: it differs where the frequencies do.
    change = (decoded(deep, tokens, single) - fresh[deep]).detach().abs().amax(dim=(0, 2))
    assert float(change[:4].max()) < 1e-10
    assert float(change[5:].min()) > 1e-6
    # One pass differs from both, and a length that is given beforehand makes all agree.
    assert float((shallow(tokens) - fresh[shallow]).detach().abs()[:, 5:-1].max()) > 1e-6
    fixed = model(scheme=make_scheme("rope", **dynamic, seq_len=LENGTH))
    assert_close(decoded(fixed, tokens, single), fixed(tokens))
    assert_close(fixed(tokens), deep(tokens))


# --- its weights ----------------------------------------------------------------------------------------------------


def test_initial_weights():
    shape = config(dim=256, n_heads=2, mlp_dim=None, vocab_size=400)

    def built(scheme, seed=0, **options):
        return Transformer(shape, make_scheme(scheme, **options), seed)

    plain, t5 = built("none"), built("t5", n_heads=2, seed=0)
    weights = plain.state_dict()
    assert bool((plain(some_tokens()) == 0).all())  # at first nothing is known
    assert weights["embedding.weight"].std() == pytest.approx(1, rel=0.02)
    assert weights["layers.1.mlp.0.weight"].shape == (1024, 256)
    for name, width in (("layers.0.qkv", 256), ("layers.1.out", 256), ("layers.1.mlp.2", 1024)):
        weight = weights[f"{name}.weight"]
        assert weight.abs().max() == pytest.approx(width**-0.5, rel=1e-3)
        assert weight.std() == pytest.approx((3 * width) ** -0.5, rel=0.02)
    # T5 does not divide by √128: queries begin smaller by that
    queries = [each.state_dict()["layers.0.qkv.weight"][:256] for each in (plain, t5)]
    assert_close(queries[1], queries[0] * 128**-0.5, 1e-8)
    assert all(torch.equal(weight, weights[name]) for name, weight in built("none").state_dict().items())
    assert not torch.equal(weights["layers.0.out.weight"], built("none", 1).state_dict()["layers.0.out.weight"])
    given = make("t5")
    assert torch.equal(Transformer(config(), given, seed=0).state_dict()["scheme.table"], make("t5").table)


# --- what it refuses (arguments one by one: invalid_arguments/transformer.py) -----------------------------------------


@pytest.mark.parametrize(("case", "causal"), [(case, False) for case in FOR_DECODERS] + [
    (case, True) for case in FOR_ENCODERS
])  # fmt: skip
def test_a_scheme_of_the_other_kind_is_refused(case, causal):
    with pytest.raises(ValueError, match=f"scheme must have causal={causal} or None"):
        model(case, causal=causal)


@pytest.mark.parametrize("more", [{"causal": False}, {"n_classes": 2}, {"n_classes": 2, "causal": False}])
def test_some_models_have_no_cache(more):
    with pytest.raises(ValueError, match="cache must be None for a model that is not causal or has classes"):
        model(**more)(some_tokens(), cache=KeyValueCache())


def test_the_cache_of_something_else_is_refused():
    tokens = some_tokens()
    for other, now in (({"n_layers": 3}, tokens), ({"n_heads": 1, "scheme": make("none")}, tokens), ({}, tokens[:1])):
        cache = KeyValueCache()
        model(**other)(tokens, cache=cache)
        with pytest.raises(ValueError, match=f"cache must be of this model and {len(now)} sequences, got keys of"):
            model()(now, cache=cache)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("size", [0.0, 1e-4, 0.6])  # of a row: with ε and, from 0.5 on, where it is lost
def test_the_norm_and_its_gradients_are_torchs(dtype, size):
    generator = torch.Generator().manual_seed(3)
    rows, weight, gradient = (torch.randn(2, 3, 8, generator=generator, dtype=torch.float64) for _ in range(3))
    rows = rows / rows.square().mean(dim=-1, keepdim=True).sqrt()
    rows[0, 0] *= size
    found = []
    for norm in (RMSNorm(8, dtype=getattr(torch, dtype)), torch.nn.RMSNorm(8, dtype=getattr(torch, dtype))):
        with torch.no_grad():
            norm.weight.copy_(weight[0, 0])
        x = rows.to(norm.weight.dtype).requires_grad_()
        y = norm(x)
        y.backward(gradient.to(y.dtype))
        found.append((y, x.grad, norm.weight.grad))
    torch.testing.assert_close(*found)
