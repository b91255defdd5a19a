"""posenc.scaling against the library transformers: every function, any ramp, and whole models."""

import copy

import numpy as np
import pytest

from posenc.scaling import from_config
from tests.unit.rope_configurations import configured

pytestmark = pytest.mark.torch


def assert_agrees(scaled, theirs):
    """Their frequencies are float32, hence 1e-6; their attention factor is a Python float."""
    frequencies, attention_factor = theirs
    assert scaled.inv_freq.shape == tuple(frequencies.shape)
    np.testing.assert_allclose(frequencies.numpy(), scaled.inv_freq, rtol=1e-6)
    assert scaled.attention_factor == pytest.approx(attention_factor, abs=1e-12)


@configured
def test_transformers_agrees(rope, longest, seq_len, expected, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import transformers
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.glm4.modeling_glm4 import Glm4RotaryEmbedding
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLVisionRotaryEmbedding

    functions = ROPE_INIT_FUNCTIONS | {
        "default": lambda config, seq_len: Glm4RotaryEmbedding.compute_default_rope_parameters(config),
        "axial": lambda config, seq_len: Qwen2VLVisionRotaryEmbedding.compute_axial_rope_parameters(config),
    }
    sizes = {"hidden_size": 256, "num_attention_heads": 4, "head_dim": 64, "max_position_embeddings": longest}
    config = transformers.LlamaConfig(**sizes, rope_parameters=copy.deepcopy(rope))
    saved = config.to_dict()
    theirs = functions[rope.get("rope_type", "default")](config, seq_len=seq_len)
    assert_agrees(expected(), theirs)
    whole = {"head_dim": 64, "max_position_embeddings": longest, "rope_parameters": rope}
    assert_agrees(from_config(whole, 64, seq_len), theirs)
    assert_agrees(from_config(saved, 64, seq_len), theirs)
