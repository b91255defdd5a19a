"""Chapter 11's Llama in NumPy against `posenc.llama`: a small one, and SmolLM2-135M with its own weights."""

import numpy as np
import pytest

from posenc.configs import released
from tools.execute import chapters
from tools.notebooks import joined, load

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def llama():
    [path] = [path for path in chapters() if path.name.startswith("11_")]
    cells = {cell["id"]: joined(cell["source"]) for cell in load(path)["cells"]}
    names = {"np": np}
    for cell in ("default-rope", "llama-parts", "llama-forward"):
        exec(cells[cell], names)
    return names["llama"]


def logits_of_both(llama, model, ids):
    import torch

    config = {key: getattr(model.config, key) for key in ("num_hidden_layers", "num_attention_heads", "rms_norm_eps")}
    config |= {key: getattr(model.config, key) for key in ("num_key_value_heads", "hidden_size", "rope_theta")}
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    with torch.no_grad():
        return config, llama(ids, weights, config), model(torch.tensor(ids)[None])[0].numpy()


def test_smollm2(llama):
    from posenc.llama import load

    model, tokenizer = load("SmolLM2-135M", layout="half-split")
    ids = tokenizer.encode("The capital of France is")[0].numpy()
    config, ours, theirs = logits_of_both(llama, model, ids)
    np.testing.assert_allclose(ours, theirs, atol=2e-3)
    assert config == {key: pytest.approx(released("SmolLM2-135M")[key]) for key in config}
    assert tokenizer.decode(ours[-1:].argmax(-1)[None]) == " Paris"
