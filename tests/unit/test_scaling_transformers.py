"""posenc.scaling against the library transformers: every function, any ramp, and whole models."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc.scaling import (
    from_config,
    ntk_aware,
    ntk_base,
)
from tests.unit.rope_configurations import LENGTH, LONG, configured

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
        from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding
        from transformers.models.gemma4.modeling_gemma4 import Gemma4TextRotaryEmbedding
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
            models=transformers,
            config=config,
            functions=ROPE_INIT_FUNCTIONS
            | {
                "default": lambda config, seq_len=None: Glm4RotaryEmbedding.compute_default_rope_parameters(config),
                "llama": LlamaRotaryEmbedding.compute_default_rope_parameters,
                "axial": lambda config, seq_len=None: Qwen2VLVisionRotaryEmbedding.compute_axial_rope_parameters(
                    config
                ),
            },
            gemma3=Gemma3RotaryEmbedding,
            gemma4=Gemma4TextRotaryEmbedding,
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


def test_whole_models_of_transformers(hugging_face):
    models, functions = hugging_face.models, hugging_face.functions
    lists = {"short_factor": [1.1] * 48, "long_factor": LONG + LONG[:16]}
    written = {"rope_theta": 1e4, "max_position_embeddings": 131_072, LENGTH: 4096}
    written |= {"rope_scaling": {"type": "longrope", **lists}}
    phi3 = models.Phi3Config(hidden_size=384, num_attention_heads=4, **copy.deepcopy(written))
    for seq_len in (None, 4096, 4097):
        theirs = functions["longrope"](phi3, seq_len=seq_len)
        assert_agrees(from_config(written, 96, seq_len), theirs)
        assert_agrees(from_config(phi3.to_dict(), 96, seq_len), theirs)

    written = {"qk_rope_head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 163_840}
    written["rope_scaling"] = {"type": "yarn", "factor": 40, LENGTH: 4096, "beta_fast": 32, "beta_slow": 1}
    written["rope_scaling"] |= {"mscale": 1.0, "mscale_all_dim": 1.0}
    deepseek = models.DeepseekV3Config(**copy.deepcopy(written))
    assert_agrees(from_config(written, 64), functions["yarn"](deepseek))
    assert_agrees(from_config(deepseek.to_dict(), 64), functions["yarn"](deepseek))

    gpt_oss = models.GptOssConfig()
    assert_agrees(from_config(gpt_oss.to_dict(), 64), functions["yarn"](gpt_oss))


def test_models_of_transformers_with_parameters_per_layer(hugging_face):
    written = {"head_dim": 256, "rope_theta": 1e6, "rope_local_base_freq": 1e4}
    written["rope_scaling"] = {"rope_type": "linear", "factor": 8.0}
    gemma3 = hugging_face.models.Gemma3TextConfig(**copy.deepcopy(written))
    gemma4 = hugging_face.models.Gemma4TextConfig()
    rotations = [(written, hugging_face.gemma3(gemma3)), (gemma3.to_dict(), hugging_face.gemma3(gemma3))]
    rotations.append((gemma4.to_dict(), hugging_face.gemma4(gemma4)))
    for config, rotation in rotations:
        for layer_type in ("full_attention", "sliding_attention"):
            frequencies = getattr(rotation, f"{layer_type}_inv_freq")
            theirs = (frequencies, getattr(rotation, f"{layer_type}_attention_scaling"))
            assert_agrees(from_config(config, 2 * len(frequencies), layer_type=layer_type), theirs)
