"""posenc.transformer.forward: what the torch model computes, on NumPy arrays and tensors, and what its layers do."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from posenc import lab
from posenc.attention import attention
from posenc.lab.evaluate import clipped, interpolated, scaled, slow_pairs, with_scheme
from posenc.lab.measured import statistics
from posenc.lab.statistics import ClampedDistanceBias
from posenc.schemes import Mixed, make_scheme
from posenc.transformer import Transformer, TransformerConfig, forward
from tests.unit.scheme_cases import LENGTH
from tests.unit.test_layers import without
from tests.unit.test_transformer import BATCH, every_model, model, some_tokens

pytestmark = pytest.mark.torch

SHIPPED = lab.shipped()
ROTARY = "full-text-rope_100-0"
HALF = 64  # a window of half the trained length


def tokens_for(run, length, sequences=2):
    return np.random.default_rng(1).integers(0, run.config().vocab_size, (sequences, length))


def by_torch(name, tokens, scheme=None):
    trained, _ = lab.load(name)
    with torch.inference_mode():
        return (trained if scheme is None else with_scheme(trained, scheme))(torch.from_numpy(tokens)).numpy()


def assert_close(found, wanted, tolerance=1e-4):
    """To 1e-4 of the largest number if nothing else is said: in float32, torch is as far from the truth as NumPy."""
    wanted = np.asarray(wanted)
    scale = max(1, abs(wanted).max()) if tolerance == 1e-4 else 1
    np.testing.assert_allclose(found, wanted, atol=tolerance * scale, rtol=0)


# ---- checkpoints


def clamped(run):
    content = statistics()[f"{run.name}/content"]
    frequencies = run.make_scheme().frequencies().inv_freq
    by_layer = dict.fromkeys(range(len(content)), slow_pairs(run))
    return ClampedDistanceBias(run.make_scheme(), content, frequencies, by_layer, run.settings.length)


CHANGED = {
    **{name: lambda run, name=name: scaled(run, name, 2.0) for name in
        ("dynamic_ntk", "yarn", "yarn_temperature")},
    "slow pairs interpolated": lambda run: interpolated(run, 2.0, slow_pairs(run)),
    "slow pairs clipped": lambda run: clipped(run, slow_pairs(run)),
    "distance bias clamped": clamped,
    "a window": lambda run: Mixed(32, run.scheme_options[1]["base"], layout="interleaved", window=HALF).rotated,
    "RoPE and NoPE": lambda run: Mixed(32, run.scheme_options[1]["base"], 2, HALF, "interleaved"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGED)
def test_a_rotary_checkpoint_with_another_scheme(change):
    weights, trained, run = lab.load_weights(ROTARY)
    scheme, tokens = CHANGED[change](run), tokens_for(run, 2 * run.settings.length, sequences=1)
    logits = forward(weights, tokens, run.config(), scheme).logits
    assert_close(logits, by_torch(ROTARY, tokens, scheme))
    assert abs(logits - forward(weights, tokens, run.config(), trained).logits).max() > 0.01


def test_a_mask_is_a_window():
    weights, scheme, run = lab.load_weights(ROTARY)
    tokens, at = tokens_for(run, 200), np.arange(200)
    near = at[:, None] - at < HALF
    masked = forward(weights, tokens, run.config(), scheme, mask=near, with_layers=True)
    windowed = CHANGED["a window"](run)
    assert_close(masked.logits, by_torch(ROTARY, tokens, windowed))
    for layer in masked.layers:
        assert not layer.weights[:, :, ~near | (at > at[:, None])].any()
        assert_close(layer.weights.sum(axis=-1), 1, 1e-5)


# ---- inside


@pytest.mark.parametrize("name", ["full-text-rope_100-0", "full-text-t5-0", "two_layers-text-tener-0"])
def test_queries_keys_and_attention_weights_are_the_models(name):
    weights, scheme, run = lab.load_weights(name)
    tokens = tokens_for(run, 100)
    found = forward(weights, tokens, run.config(), scheme, with_layers=True)
    assert forward(weights, tokens, run.config(), scheme).layers == ()
    trained, _ = lab.load(name)
    projected = []
    for layer in trained.layers:
        layer.qkv.register_forward_hook(lambda module, x, result: projected.append(result))
    with torch.inference_mode():
        trained(torch.from_numpy(tokens))
        at = torch.arange(100)
        assert len(found.layers) == len(projected) == 2
        for layer, one in zip(found.layers, projected, strict=True):
            q, k, v = one.unflatten(-1, (3, trained.config.n_heads, -1)).permute(2, 0, 3, 1, 4)
            assert_close(layer.q, q)
            assert_close(layer.k, k)
            rotated_q, rotated_k = trained.scheme.rotate(q, k, at)
            bias, scale = trained.scheme.bias(rotated_q, rotated_k, at), trained.scheme.logit_scale(q.shape[-1], 100)
            inside = attention(rotated_q, rotated_k, v, causal=True, bias=bias, scale=scale).weights
            assert_close(layer.weights, inside, 1e-5)


@every_model
def test_every_scheme_of_decoders_and_encoders(case, causal):
    """In float64: tensors as in the model, and arrays as exactly as erf is known."""
    built, tokens = model(case, causal=causal), some_tokens()
    at = torch.arange(LENGTH) + torch.tensor([[3], [11]])
    weights = {name: weight.numpy() for name, weight in built.state_dict().items()}
    for positions in (None, at[0], at[:1], at):
        with torch.no_grad():
            wanted = built(tokens, positions).numpy()
            tensors = forward(built.state_dict(), tokens, built.config, built.scheme, positions=positions)
        at_arrays = None if positions is None else positions.numpy()
        found = forward(weights, tokens.numpy(), built.config, built.scheme, positions=at_arrays)
        assert_close(tensors.logits, wanted, 1e-10)
        assert_close(found.logits, wanted, 1e-5)
        assert found.logits.dtype == np.float64


@pytest.mark.parametrize("causal", [True, False])
def test_logits_of_classes(causal):
    built, tokens = model("rope", n_classes=3, causal=causal), some_tokens().int()
    weights = {name: weight.numpy() for name, weight in built.state_dict().items()}
    logits = forward(weights, tokens.numpy(), built.config, built.scheme).logits
    assert logits.shape == (BATCH, 3)
    assert_close(logits, built(tokens).detach(), 1e-5)


def test_gradients_reach_the_weights_of_tensors():
    built, tokens = model("t5"), some_tokens()
    forward(dict(built.named_parameters()), tokens, built.config, built.scheme).logits.square().sum().backward()
    assert all(bool((weight.grad != 0).any()) for weight in built.parameters())


# ---- without torch


WITHOUT_TORCH = """
import numpy as np
from posenc import lab
from posenc.lab.evaluate import clipped, scaled, slow_pairs, with_scheme

found = {}
for name in lab.shipped():
    model = lab.load_weights(name)
    run, tokens = model.run, np.arange(60).reshape(2, 30)
    longer = np.arange(128 if run.scheme == "learned" else 256)[None] % run.config().vocab_size
    found[name] = model(longer)
    assert isinstance(run.make_task().batch(np.random.RandomState(1), 1, 128).tokens, np.ndarray)
    if run.scheme == "rope_100":
        for change, other in {"yarn": scaled(run, "yarn", 4.0), "clipped": clipped(run, slow_pairs(run))}.items():
            found[f"{name} {change}"] = with_scheme(model, other)(tokens)
np.savez("found.npz", **found)
"""


def test_every_checkpoint_without_torch_and_safetensors(tmp_path):
    script = without(["torch", "safetensors"]) + WITHOUT_TORCH
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert ran.stderr == ""
    with np.load(tmp_path / "found.npz") as found:
        assert len(found) == len(SHIPPED) + 2 * sum("rope_100-" in name for name in SHIPPED)
        for name, logits in found.items():
            name, _, change = name.partition(" ")
            run = lab.load(name)[1]
            scheme = None
            if change:
                scheme = scaled(run, "yarn", 4.0) if change == "yarn" else clipped(run, slow_pairs(run))
            longer = np.arange(128 if run.scheme == "learned" else 256)[None] % run.config().vocab_size
            assert logits.dtype == np.float32
            assert_close(logits, by_torch(name, np.arange(60).reshape(2, 30) if change else longer, scheme))


# ---- what it refuses (other arguments: invalid_arguments/transformer.py)


def test_weights_that_lack_something_are_refused():
    shape = TransformerConfig(vocab_size=5, dim=4, n_heads=2)
    built = Transformer(shape, make_scheme("none"), seed=0)
    weights = {name: weight.numpy() for name, weight in built.state_dict().items()}
    tokens, scheme = np.array([[0, 1]]), make_scheme("none")
    assert forward(weights, tokens, shape, scheme).logits.shape == (1, 2, 5)
    for change, message in (
        ({"head.weight": None}, r"weights must have head\.weight of shape \(5, 4\), got None"),
        ({"layers.1.qkv.weight": np.zeros((4, 12))}, r"layers\.1\.qkv\.weight of shape \(12, 4\), got .* \(4, 12\)"),
    ):
        with pytest.raises(ValueError, match=message):
            forward(weights | change, tokens, shape, scheme)
    with pytest.raises(TypeError, match="cannot mix Tensor and ndarray"):
        forward(weights, torch.from_numpy(tokens), shape, scheme)
    with pytest.raises(ValueError, match="scheme must have causal=True or None"):
        forward(weights, tokens, shape, make_scheme("alibi", n_heads=2, causal=False))
