"""posenc.rope against the library transformers: every kind of model rotates as its own code does."""

import contextlib
import importlib

import numpy as np
import pytest
import torch

from posenc.configuration import read_configuration
from posenc.rope import Rope
from posenc.scaling import from_config

pytestmark = pytest.mark.torch


def pair(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(*shape, generator=generator, dtype=dtype) for _ in range(2))


@pytest.fixture(scope="module")
def transformers():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        import transformers

        transformers.logging.set_verbosity_error()
        yield transformers


def test_qwen2_vl_and_qwen3_vl_text(transformers):
    """Positions (3, batch, length) there, (batch, length, 3) here; equal on all axes for text, a grid for a picture."""
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLRotaryEmbedding
    from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding, apply_rotary_pos_emb

    q, k = pair(1, 2, 10, 128)
    text, grid = torch.arange(4)[:, None].expand(4, 3), torch.cartesian_prod(torch.arange(1), *2 * [torch.arange(2)])
    at = torch.cat([text, 4 + grid, torch.tensor([[6, 6, 6], [7, 7, 7]])])[None]  # (1, 10, 3)
    older = transformers.Qwen2VLConfig().text_config
    older.rope_parameters |= {"mrope_section": [16, 24, 24]}
    cos, sin = Qwen2VLRotaryEmbedding(older)(q, at.movedim(-1, 0))
    theirs, ours = apply_rotary_pos_emb(q, k, cos, sin), Rope.from_config(older)(q, k, at)
    assert all(torch.allclose(one, other, atol=1e-4) for one, other in zip(ours, theirs, strict=True))
    newer = transformers.Qwen3VLConfig().text_config
    newer.rope_parameters |= {"mrope_section": [24, 20, 20], "mrope_interleaved": True}
    cos, sin = Qwen3VLTextRotaryEmbedding(newer)(q, at.movedim(-1, 0))
    theirs, ours = apply_rotary_pos_emb(q, k, cos, sin), Rope.from_config(newer)(q, k, at)
    assert all(torch.allclose(one, other, atol=1e-4) for one, other in zip(ours, theirs, strict=True))
    assert Rope.from_config(newer).n_axes == 3


def _made(transformers, model, part="", **settings):
    """A configuration of a model or of a part of it, and the module of that model's code."""
    config = transformers.models.auto.configuration_auto.CONFIG_MAPPING[model](**settings)
    config = getattr(config, part) if part else config
    return config, importlib.import_module(type(config).__module__.replace(".configuration_", ".modeling_"))


def _called(kind, *inputs):
    """Cosines and sines that a class of theirs makes of its inputs, not in training, when one moves positions about."""
    return lambda code, config: getattr(code, kind)(config).eval()(*inputs)


def _listed(table):
    """Cosines and sines of a table that has the sines of all pairs and then their cosines."""
    sin, cos = table.repeat_interleave(2, -1).chunk(2, -1)
    return cos, sin


GRID = torch.cartesian_prod(torch.arange(3), torch.arange(4))  # rows and columns, (12, 2)
TIMES = torch.cat([torch.arange(12)[:, None] // 6, GRID], -1)  # time, rows and columns, (12, 3)
ROW = torch.arange(12)
CENTRES = 2 * torch.pi * ((2 * GRID + 1) / torch.tensor([3.0, 4.0]) - 1)  # of patches in turns, from -1 to 1
PICTURE = torch.zeros(1, 3, 48, 64)  # 3 · 4 patches of 16 pixels
TOKENS = torch.zeros(1, 12, 8)
X = torch.zeros(1, 256, 12, 16)
# Model and part, its settings, layout, positions of ours, and its own cosines and sines.
OWN_CODE = [
    ("pixtral", "", {}, "half-split", GRID, _called("PixtralVisionRotaryEmbedding", X, GRID.T[None])),
    ("minimax_m3_vl", "vision_config", {}, "half-split", TIMES, _called("MiniMaxM3VLVisionRotaryEmbedding", X, TIMES)),
    (*("ernie4_5_vl_moe", "text_config", {}, "interleaved", TIMES), _called("Ernie4_5_VLMoeTextRotaryEmbedding", X,
        TIMES.T[:, None])),
    ("sam2_video", "", {}, "interleaved", GRID, _called("Sam2VideoVisionRotaryEmbedding", X, GRID)),
    ("sam3_tracker_video", "", {}, "interleaved", GRID, _called("Sam3TrackerVideoVisionRotaryEmbedding", X, GRID)),
    ("edgetam_video", "", {}, "interleaved", GRID, _called("EdgeTamVideoVisionRotaryEmbedding", X, GRID)),
    # a table of halves, which its code deals out to pairs
    ("moonshine", "", {}, "half-split", ROW, _called("MoonshineRotaryEmbedding", X, ROW[None])),
    ("glm4_moe", "", {}, "half-split", ROW, _called("Glm4MoeRotaryEmbedding", X, ROW[None])),
    ("eomt_dinov3", "", {}, "half-split", CENTRES, _called("EomtDinov3RotaryEmbedding", PICTURE)),
    ("dinov3_vit", "", {}, "half-split", CENTRES, _called("DINOv3ViTRopePositionEmbedding", PICTURE)),
    ("sapiens2", "", {}, "half-split", CENTRES, _called("Sapiens2RopePositionEmbedding", PICTURE)),
    (*("evolla", "protein_encoder_config", {}, "half-split", ROW),
        _called("EvollaSaProtRotaryEmbedding", X, ROW[None])),
    (*("esm", "", {"position_embedding_type": "rotary"}, "half-split", ROW),
        _called("EsmRotaryEmbedding", X, ROW[None])),
    *((model, "", {"position_embeddings_type": "rotary"}, "half-split", ROW, _called(f"{kind}RotaryPositionalEmbedding",
        TOKENS)) for model, kind in (("wav2vec2-bert", "Wav2Vec2Bert"), ("wav2vec2-conformer", "Wav2Vec2Conformer"),
        ("seamless_m4t", "SeamlessM4TConformer"))),
    *((model, "", {}, "interleaved", ROW, lambda code, config: _listed(code.create_sinusoidal_positions(12,
        64))) for model in ("gptj", "codegen")),
    (*("granitemoehybrid", "", {"position_embedding_type": "rope"}, "half-split", ROW),
        _called("GraniteMoeHybridRotaryEmbedding", X, ROW[None])),
    ("zamba2", "", {"use_mem_rope": True}, "half-split", ROW, _called("Zamba2RotaryEmbedding", X, ROW[None])),
    (*("roformer", "", {}, "interleaved", ROW), lambda code,
        config: _listed(code.RoFormerSinusoidalPositionalEmbedding(12, 64).create_weight())),
]  # fmt: skip


@pytest.mark.parametrize(("model", "part", "settings", "layout", "at", "theirs"), OWN_CODE)
def test_models_that_rotate_in_a_way_of_their_own(model, part, settings, layout, at, theirs, transformers):
    """Cosines and sines as their code spreads them over a head, against what ours makes of pairs (1, 0)."""
    config, code = _made(transformers, model, part, **settings)
    cos, sin = (table.reshape(12, -1) for table in theirs(code, config))
    rope = Rope.from_config(config, layout=layout)
    assert rope.rotary_dim == cos.shape[-1]
    first = slice(0, rope.rotary_dim, 2) if layout == "interleaved" else slice(rope.rotary_dim // 2)
    second = slice(1, rope.rotary_dim, 2) if layout == "interleaved" else slice(rope.rotary_dim // 2, rope.rotary_dim)
    pairs = torch.zeros(12, rope.dim)
    pairs[:, first] = 1
    turned = rope.rotate(pairs, at)
    for place, table in ((first, cos), (second, sin)):
        assert torch.equal(table[:, first], table[:, second])
        assert torch.allclose(turned[:, place], table[:, place], atol=2e-5)
    assert torch.equal(turned[:, rope.rotary_dim :], pairs[:, rope.rotary_dim :])


# Default configurations that speak of rotation, or whose code does, and from which transformers computes none.
REFUSED = {
    *("BltConfig", "ClvpEncoderConfig", "EfficientLoFTRConfig", "EsmFold2AtomEncoderConfig", "PPDocLayoutV2Config",
      "VJEPA2Config"),  # their code rotates by more than they say
    *("EsmConfig", "GraniteMoeHybridConfig", "SeamlessM4TConfig", "Wav2Vec2BertConfig", "Wav2Vec2ConformerConfig",
      "Zamba2Config"),  # a setting turns rotation off
    *("Glm5NextTextConfig", "KimiLinearConfig"),  # nothing in their attention rotates
    "Qwen3OmniMoeTextConfig",  # of 73 dimensions, 37 pairs need 74
}  # fmt: skip


def _theirs(config, rope, layer_type):
    """What transformers computes: its shared function, or the models' own, of which one module may have several."""
    kind, layer = rope.get("rope_type", "default"), {} if layer_type is None else {"layer_type": layer_type}
    if kind not in ("default", "axial"):
        from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

        return [ROPE_INIT_FUNCTIONS[kind](config, "cpu", **layer)]
    found = []
    with contextlib.suppress(ModuleNotFoundError):  # two share another model's code
        code = importlib.import_module(type(config).__module__.replace(".configuration_", ".modeling_"))
        for one in vars(code).values():
            compute = getattr(one, f"compute_{kind}_rope_parameters", None)
            # A class of another part of the model does not find its own settings in this configuration.
            with contextlib.suppress(Exception):
                found += [] if compute is None else [compute(config, **layer)]
    if not found and kind == "default":  # where the class computes it when it is made
        width = read_configuration(config).of(layer_type).head_dim
        found = [(1 / rope["rope_theta"] ** (torch.arange(0, width, 2).float() / width), 1.0)]
    return found


def _agrees(config, ours, theirs):
    frequencies = theirs[0].double().numpy()
    if config.model_type == "ernie4_5_vl_moe_text":  # it keeps height before width, and mixes both when it rotates
        frequencies = np.sort(frequencies)[::-1]
    return (
        frequencies.shape == ours.inv_freq.shape
        and np.allclose(frequencies, ours.inv_freq, rtol=1e-4, atol=0)
        and abs(theirs[1] - ours.attention_factor) < 1e-6
    )


def _speaks_of_rotation(settings):
    named = {key for key, value in settings.items() if value not in (None, False)}
    return any({"rope", "rotary"} & {*key.split("_")} for key in named)


@pytest.mark.release
@pytest.mark.filterwarnings("ignore:config")
def test_every_configuration_of_transformers(transformers):
    """Each model's default configuration and those of its parts, layer type by layer type.

    What shared functions of theirs compute is compared here, what models compute in their own way above.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    agree, refused, differ, elsewhere = 0, set(), [], set()
    for name in CONFIG_MAPPING:
        try:
            whole = CONFIG_MAPPING[name]()
        except Exception:  # noqa: BLE001, S112  some cannot be made without arguments, and each says so in its own way
            continue
        for config in (whole, *(getattr(whole, part, None) for part in getattr(whole, "sub_configs", {}))):
            settings, kind = {} if config is None else config.to_dict(), type(config).__name__
            rope = settings.get("rope_parameters")
            if not (rope or kind in REFUSED or _speaks_of_rotation(settings)):
                continue
            per_layer = any(isinstance(value, dict) for value in (rope or {}).values())
            for layer_type in [kind for kind, value in rope.items() if value] if per_layer else [None]:
                try:
                    ours = from_config(settings, layer_type=layer_type)
                except ValueError:
                    refused.add(kind)
                    continue
                if not rope:
                    elsewhere.add(kind)
                elif any(
                    _agrees(config, ours, one)
                    for one in _theirs(config, rope[layer_type] if per_layer else rope, layer_type)
                ):
                    agree += 1
                else:
                    differ.append((kind, layer_type))
    assert differ == [("MusicFlamingoConfig", None)]  # it rotates by times; of it the language model's part is read
    assert agree > 420
    elsewhere -= {"CohereCompassTextConfig"}  # whose default has parameters for no type of layers, see below
    assert elsewhere <= {type(_made(transformers, *of_model[:2])[0]).__name__ for of_model in OWN_CODE}
    assert refused == REFUSED
