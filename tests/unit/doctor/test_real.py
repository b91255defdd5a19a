"""Real configurations, transformers' own defaults and published ones, against what transformers computes."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from posenc import configs
from posenc.doctor import diagnose
from tests.unit.doctor.cases import LONGEST
from tests.unit.doctor.score import reports
from tests.unit.test_rope_torch import _theirs

pytestmark = pytest.mark.torch

# Whose default cannot run in transformers either, as test_rope_torch.py shows: 37 pairs need 74 dimensions of 73.
WRONG = {"qwen3_omni_moe", "qwen3_omni_moe_text", "qwen3_omni_moe_thinker"}
# What draws pairs in an order of its own, the same frequencies.
SORTED = {"ernie4_5_vl_moe_text"}


@pytest.fixture(scope="module")
def defaults():
    """The default configuration of every model type of transformers and of its parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        import transformers
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING

        transformers.logging.set_verbosity_error()
        found = []
        for name in CONFIG_MAPPING:
            try:
                whole = CONFIG_MAPPING[name]()
            except Exception:  # noqa: BLE001, S112  some cannot be made without arguments, and each says so in its own way
                continue
            parts = (getattr(whole, part, None) for part in getattr(whole, "sub_configs", {}))
            found += [whole, *(part for part in parts if hasattr(part, "to_dict"))]
        yield found


@pytest.mark.release
def test_no_default_of_transformers_is_called_wrong(defaults):
    wrong = {
        config.model_type for config in defaults if diagnose(config.to_dict()).worst() == "wrong" and not fault(config)
    }
    assert len(defaults) > 900
    assert wrong == WRONG


def fault(config):
    """Whether a configuration says nothing of positions."""
    return diagnose(config.to_dict()).fault


@pytest.mark.release
def test_what_is_drawn_of_every_default_is_what_transformers_computes(defaults):
    """One after another, layer by layer; to 1e-6 where their code computes in the usual order."""
    agree, closely, seen = 0, set(), set()
    for config in defaults:
        rope = getattr(config, "rope_parameters", None)
        if not rope or fault(config) or repr(config) in seen:
            continue
        seen.add(repr(config))
        diagnosis = diagnose(config.to_dict())
        if diagnosis.nested:
            continue  # its part is among the defaults too
        for rotation in diagnosis.rotations:
            if rotation.after is None:
                continue
            layer = rotation.layer or None
            theirs = _theirs(config, rope[layer] if layer else rope, layer)
            ours = np.sort(rotation.after)[::-1] if config.model_type in SORTED else rotation.after
            fits = [
                np.sort(one.double().numpy())[::-1] if config.model_type in SORTED else one.double().numpy()
                for one, attention in theirs
                if abs(attention - rotation.attention_factor) < 1e-6
            ]
            fits = [one for one in fits if one.shape == ours.shape]
            assert any(np.allclose(one, ours, rtol=1e-4, atol=0) for one in fits), (config.model_type, layer)
            agree += 1
            closely |= {config.model_type} if any(np.allclose(one, ours, rtol=1e-6, atol=0) for one in fits) else set()
    assert agree > 200
    assert len(closely) > 100


PUBLISHED = {
    name: {"head_dim": model.qk_rope_head_dim or model.head_dim} | dict(model.rope)
    for name, model in configs.MODELS.items()
    if not model.layer_types
}
REPORTED = {
    name: one["configuration"]
    for name, one in reports("working").items()
    if "rope_local_base_freq" not in one["configuration"] and "text_config" not in one["configuration"]
}
LENGTHS = (None, 1000, 200_000)


def plain(value):
    """A copy in dictionaries and lists."""
    if hasattr(value, "items"):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", [*PUBLISHED, *REPORTED])
def test_published_configurations_equal_transformers(name):
    """The shared functions of transformers, on a Llama of these settings, to 1e-6, in short texts and in long ones."""
    import transformers
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.glm4.modeling_glm4 import Glm4RotaryEmbedding

    written = plain(PUBLISHED.get(name) or REPORTED[name])
    compared = 0
    for length in LENGTHS:
        diagnosis = diagnose(written, length)
        [rotation] = diagnosis.rotations
        if rotation.after is None:
            assert diagnosis.worst() == "wrong"
            continue
        kept = {
            key: value
            for key, value in copy.deepcopy(written).items()
            if key not in ("model_type", "dtype", "torch_dtype")
        }
        kept |= {"head_dim": rotation.facts["head_dim"], LONGEST: written.get(LONGEST, 4096)}
        kept.setdefault("hidden_size", 4096)
        kept |= {"num_attention_heads": 1} if kept["hidden_size"] % kept.get("num_attention_heads", 32) else {}
        config = transformers.LlamaConfig(**kept)
        kind = config.rope_parameters["rope_type"]
        compute = ROPE_INIT_FUNCTIONS.get(kind, Glm4RotaryEmbedding.compute_default_rope_parameters)
        theirs, attention = compute(config, seq_len=rotation.length)
        np.testing.assert_allclose(theirs.numpy(), rotation.after, rtol=1e-6)
        assert rotation.attention_factor == pytest.approx(attention, abs=1e-9)
        compared += 1
    assert compared in (0, len(LENGTHS))
