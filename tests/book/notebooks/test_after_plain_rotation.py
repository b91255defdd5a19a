"""What chapter 17 says of other people's models and codes, against the library transformers and against their formulas.

A cell of the notebook is run as it stands, and what it defines is compared.
"""

from __future__ import annotations

import inspect
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posenc import Rope, inv_freq
from tests.js.oracles.layer_stack import STACKS
from tools.notebooks import joined, load

ROOT = Path(__file__).resolve().parents[3]
CHAPTER = ROOT / "notebooks" / "17_partial_and_hybrid.ipynb"
RELEASED = ROOT / "tests" / "unit" / "configurations" / "raw"
RNG = np.random.default_rng(17)


@cache
def cell(name: str, before: str = "") -> dict[str, Any]:
    """What a cell defines, run after the imports and after those named before it."""
    sources = {one["id"]: joined(one["source"]) for one in load(CHAPTER)["cells"] if one["cell_type"] == "code"}
    held: dict[str, Any] = {}
    for source in ("imports", *before.split(), name):
        exec(compile(sources[source], source, "exec"), held)
    return held


@pytest.mark.torch
@pytest.mark.parametrize("name", ["SmolLM3", "Llama4Text", "Cohere2", "Gemma4Text"])
def test_stacks_are_those_of_the_classes(name):
    """And of LayerStack, whose periods and windows tests/js/test_layer_stack.py compares with the classes."""
    import transformers

    period, count, window = cell("stacks")["STACKS"][name]
    stack = STACKS[name.lower().removesuffix("text")]
    assert count == getattr(transformers, f"{name}Config")().num_hidden_layers
    assert period.replace("P", "R") == stack["period"]
    assert ("P" in period) == (stack["full"]["turning"] < stack["full"]["pairs"])
    assert window == (stack["window"] if "r" in period else None)


def released(name):
    """The part of a released config.json that is about the language model."""
    raw = json.loads((RELEASED / f"{name}.json").read_text(encoding="utf-8"))
    return raw.get("text_config", raw)


def test_hybrids_are_those_of_the_released_files():
    hybrids = cell("hybrids", "stacks")["HYBRIDS"]
    qwen, kimi = released("Qwen__Qwen3.5-27B"), released("moonshotai__Kimi-K3")
    share = qwen["rope_parameters"]["partial_rotary_factor"]
    attention = qwen["layer_types"].count("full_attention")
    assert hybrids["Qwen3.5-27B"] == (len(qwen["layer_types"]), attention, share * qwen["head_dim"], qwen["head_dim"])
    assert kimi["mla_use_nope"] is True
    assert hybrids["Kimi-K3"] == (
        kimi["num_hidden_layers"],
        len(kimi["linear_attn_config"]["full_attn_layers"]),
        0,
        kimi["qk_nope_head_dim"] + kimi["qk_rope_head_dim"],
    )
    for name, file, width in (
        ("Nemotron-H-56B", "nvidia__Nemotron-H-56B-Base-8K", "attention_head_dim"),
        ("Nemotron-3-Nano-30B-A3B", "nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "head_dim"),
    ):
        raw = released(file)
        pattern = raw["hybrid_override_pattern"]
        assert hybrids[name] == (len(pattern), pattern.count("*"), 0, raw[width])
    assert released("nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16")["rope_theta"] == 10_000
    gpt_j = released("mlc-ai__gpt_j")
    assert (gpt_j["rotary_dim"], gpt_j["n_embd"] // gpt_j["n_head"]) == (64, 256)


@pytest.mark.torch
def test_hybrids_without_rotation_do_not_rotate_in_transformers():
    import transformers
    from transformers.models.jamba import modeling_jamba
    from transformers.models.kimi_linear import modeling_kimi_linear
    from transformers.models.nemotron_h import modeling_nemotron_h

    jamba = transformers.JambaConfig()
    kinds = list(jamba.layers_block_type)
    attention = sum("attention" in kind and "linear" not in kind for kind in kinds)
    width = jamba.hidden_size // jamba.num_attention_heads
    assert cell("hybrids", "stacks")["HYBRIDS"]["Jamba"] == (jamba.num_hidden_layers, attention, 0, width)
    for attention_class in (
        modeling_jamba.JambaAttention,
        modeling_nemotron_h.NemotronHAttention,
        modeling_kimi_linear.KimiLinearAttention,
    ):
        assert "apply_rotary_pos_emb(" not in inspect.getsource(attention_class.forward)
    assert transformers.GraniteMoeHybridConfig().position_embedding_type is None
    qwen = transformers.Qwen3NextConfig()
    assert qwen.rope_parameters["partial_rotary_factor"] == 0.25
    assert qwen.layer_types[:4] == ["linear_attention"] * 3 + ["full_attention"]


def test_a_local_layer_ignores_what_is_far_and_a_nope_layer_ignores_positions():
    held = cell("layer")
    layer, at = held["attention_layer"], np.arange(9)
    q, k, v = RNG.normal(size=(3, 2, 9, 8))
    other = v.copy()
    other[:, :4] += 1
    local = layer(q, k, v, at, window=4)
    np.testing.assert_allclose(layer(q, k, other, at, window=4)[:, 7:], local[:, 7:])
    assert not np.allclose(layer(q, k, other, at)[:, 7:], layer(q, k, v, at)[:, 7:])
    nope = layer(q, k, v, at, use_rope=False)
    np.testing.assert_allclose(layer(q, k, v, at * 7, use_rope=False), nope)
    assert not np.allclose(layer(q, k, v, at), nope)


def test_the_temperature_is_llama_4s():
    """The formula of its attention, which tests/unit/test_questions.py compares with the library's class."""
    at = np.arange(20)
    expected = 1 + 0.4 * np.log(1 + np.floor((at + 1) / 3))
    found = cell("crowd-counted", "stacks")["attention_scale"](at, floor_scale=3, attn_scale=0.4)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.torch
def test_values_turned_back_are_deepseek_v4s():
    """The library's turn with the sine negated, at the query, brings each value home by its distance."""
    import torch
    from transformers.models.deepseek_v4.modeling_deepseek_v4 import apply_rotary_pos_emb

    speeds, at = inv_freq(8), np.arange(6)
    values, weights = RNG.normal(size=(6, 8)), np.tril(RNG.random((6, 6)))
    table = [torch.tensor(one(np.outer(at, speeds)))[None] for one in (np.cos, np.sin)]
    turned = apply_rotary_pos_emb(torch.tensor(values)[None, None], *table)
    home = apply_rotary_pos_emb(torch.tensor(weights) @ turned, table[0], -table[1])[0, 0].numpy()
    rope, expected = Rope(8, layout="interleaved"), np.zeros((6, 8))
    for m in at:
        for n in range(m + 1):
            expected[m] += weights[m, n] * rope.rotate(values[n][None], np.array([n - m]))[0]
    np.testing.assert_allclose(home, expected, atol=1e-6)


def test_a_value_arrives_with_its_distance():
    arrives = cell("values-arrive", "order")["output"]
    for m, n in ((50, 3), (50, 49), (200, 0)):
        x, y = arrives(m, n)
        assert -np.arctan2(y, x) / 0.01 == pytest.approx(m - n)


def test_fox_sums_the_gates_between():
    gates = RNG.uniform(0.1, 1, 7)
    bias = cell("fox-path")["fox"](gates)
    for m in range(7):
        for n in range(m + 1):
            assert bias[m, n] == pytest.approx(sum(np.log(gates[n + 1 : m + 1])))


def test_path_is_the_product_of_its_reflections():
    q, k, w = RNG.normal(size=(3, 6, 4))
    beta, scores = RNG.uniform(0, 2, 6), None
    scores = cell("fox-path")["path"](q, k, w, beta)
    for m in range(6):
        for n in range(m + 1):
            between = np.eye(4)
            for t in range(n + 1, m + 1):
                between = (np.eye(4) - beta[t] * np.outer(w[t], w[t])) @ between
            assert scores[m, n] == pytest.approx(q[m] @ between @ k[n])
    assert np.isneginf(scores[2, 3])


def test_pope_is_a_product_of_complex_numbers():
    q, k, shift = RNG.normal(size=(3, 5))
    theta, softplus = 10_000.0 ** -(np.arange(5) / 5), lambda x: np.log(1 + np.exp(x))
    found = cell("pope-grape", "order values-arrive")["pope"](q, k, np.array([4, 0]), theta, shift)
    for m, n, score in ((9, 5, found[0]), (3, 3, found[1])):
        query, key = softplus(q) * np.exp(1j * m * theta), softplus(k) * np.exp(1j * (n * theta + shift))
        assert score == pytest.approx((query.conj() * key).real.sum())


def test_grape_is_the_exponential_of_its_generator():
    a, b = RNG.normal(size=(2, 5))
    values, vectors = np.linalg.eig(np.outer(a, b) - np.outer(b, a))
    exponential = (vectors @ np.diag(np.exp(values)) @ np.linalg.inv(vectors)).real
    found = cell("pope-grape", "order values-arrive")["rotation_in_plane"](a, b)
    np.testing.assert_allclose(found, exponential, atol=1e-9)
    np.testing.assert_allclose(found @ found.T, np.eye(5), atol=1e-12)
