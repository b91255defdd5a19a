"""posenc.scaling against the library transformers: every function, any ramp, and whole models."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc.scaling import from_config, ntk_aware, ntk_base
from tests.unit.rope_configurations import LENGTH, configured

pytestmark = pytest.mark.torch

lengths = st.integers(1, 2**20)
betas = st.tuples(st.floats(0.05, 64), st.floats(0.05, 64)).map(sorted)  # slow, fast


@pytest.fixture(scope="module")
def hugging_face():
    """What the tests need of transformers; importing it takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        import transformers
        from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
        from transformers.models.glm4.modeling_glm4 import Glm4RotaryEmbedding
        from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
        from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLVisionRotaryEmbedding

        def config(rope, longest, head_dim=64):
            return transformers.LlamaConfig(
                hidden_size=4 * head_dim,
                num_attention_heads=4,
                head_dim=head_dim,
                max_position_embeddings=longest,
                rope_parameters=copy.deepcopy(rope),
            )

        yield SimpleNamespace(
            config=config,
            functions=ROPE_INIT_FUNCTIONS
            | {
                "default": lambda config, seq_len=None: Glm4RotaryEmbedding.compute_default_rope_parameters(config),
                "llama": LlamaRotaryEmbedding.compute_default_rope_parameters,
                "axial": lambda config, seq_len=None: Qwen2VLVisionRotaryEmbedding.compute_axial_rope_parameters(
                    config
                ),
            },
        )


def assert_agrees(scaled, theirs):
    """Their frequencies are float32, hence 1e-6; their attention factor is a Python float."""
    frequencies, attention_factor = theirs
    assert scaled.inv_freq.shape == tuple(frequencies.shape)
    np.testing.assert_allclose(frequencies.numpy(), scaled.inv_freq, rtol=1e-6)
    assert scaled.attention_factor == pytest.approx(attention_factor, abs=1e-12)


@configured
def test_transformers_agrees(hugging_face, rope, longest, seq_len, expected):
    config = hugging_face.config(rope, longest)
    theirs = hugging_face.functions[rope.get("rope_type", "default")](config, seq_len=seq_len)
    assert_agrees(expected(), theirs)
    whole = {"head_dim": 64, "max_position_embeddings": longest, "rope_parameters": rope}
    assert_agrees(from_config(whole, 64, seq_len), theirs)
    saved = hugging_face.config(rope, longest).to_dict()
    assert_agrees(from_config(saved, 64, seq_len), theirs)


@pytest.mark.parametrize("factor", [1.0, 2.0, 4.0, 32.0])
def test_transformers_agrees_on_ntk(hugging_face, factor):
    """There is no static NTK there: dynamic NTK with factor 1 at factor·L tokens, and the default of the new base."""
    config = hugging_face.config({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 1.0}, 4096)
    scaled = ntk_aware(64, factor=factor)
    assert_agrees(scaled, hugging_face.functions["dynamic"](config, seq_len=int(4096 * factor)))
    config = hugging_face.config({"rope_theta": ntk_base(64, factor=factor)}, 4096)
    assert_agrees(scaled, hugging_face.functions["llama"](config))


@given(st.data())
@settings(max_examples=60)
def test_transformers_agrees_on_any_released_ramp(hugging_face, data):
    """Any trained length and bounds, also those where the range is empty or past the end."""
    head_dim = 2 * data.draw(st.integers(1, 64))
    base, factor = data.draw(st.floats(2, 1e6)), data.draw(st.floats(1, 8))
    length, (slow, fast) = data.draw(lengths), data.draw(betas)
    rope = {"rope_type": "yarn", "rope_theta": base, "factor": factor, LENGTH: length}
    rope |= {"beta_fast": fast, "beta_slow": slow}
    theirs = hugging_face.functions["yarn"](hugging_face.config(rope, length, head_dim))
    assert_agrees(from_config(rope, head_dim), theirs)
