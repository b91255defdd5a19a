"""The page of questions: the code under an answer runs as it stands and prints what stands below each print.

So does what an answer says of a number: it is printed by the answer's own code, stands in it, or is printed by a
chapter that the answer links to.
"""

import re
import runpy
from pathlib import Path

import pytest

from tests.book.notebooks.prose import numbers_in_output, numbers_in_prose
from tools.notebooks import joined, load

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "questions.md").read_text(encoding="utf-8")
QUESTION = re.compile(r"^(?P<fence>`{3,})\{question\} (?P<asked>.+?)\n(?P<answer>.*?)^(?P=fence)$", re.M | re.S)
PROGRAM = re.compile(r"^```python\n(.+?)^```$", re.M | re.S)
PRINTS = re.compile(r"^print\(.+\)\n# (.+)$", re.M)
CHAPTER = re.compile(r"\.\./notebooks/(\w+)\.ipynb#")
ANSWERS = {match["asked"]: match["answer"] for match in QUESTION.finditer(PAGE)}
PROGRAMS = {asked: program[1] for asked, answer in ANSWERS.items() for program in [PROGRAM.search(answer)] if program}

every_answer = pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))
every_program = pytest.mark.parametrize(
    "program",
    [
        pytest.param(program, marks=[pytest.mark.torch] * bool(re.search("torch|schemes", program)), id=asked)
        for asked, program in PROGRAMS.items()
    ],
)


@every_program
@pytest.mark.filterwarnings("ignore:config has keys that nothing reads. mscale")  # which is what the answer says
def test_it_prints_what_it_says(program, tmp_path, capsys):
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    runpy.run_path(str(tmp_path / "program.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == PRINTS.findall(program)


def test_one_program_an_answer_and_none_in_another_form():
    assert len(PROGRAMS) == PAGE.count("```python") >= 20


@every_answer
def test_its_numbers_are_printed(answer):
    stated = numbers_in_prose(answer)
    shown = {number for program in PROGRAM.findall(answer) for number in numbers_in_output(program)}
    for chapter in CHAPTER.findall(answer) if stated else []:
        for cell in load(ROOT / "notebooks" / f"{chapter}.ipynb")["cells"]:
            for output in cell.get("outputs", []):
                text = output.get("text") or output.get("data", {}).get("text/plain", "")
                shown |= numbers_in_output(joined(text))
    assert [number.text for number in stated if not any(number.shown_by(value) for value in shown)] == []


# ---- what answers say of the library transformers, of which no code of ours prints anything


@pytest.mark.torch
def test_llama_4_and_smollm3_leave_out_every_fourth_layer_and_1_means_that_a_layer_rotates(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import Llama4TextConfig, SmolLM3Config

    for config in (Llama4TextConfig(), SmolLM3Config()):
        assert config.no_rope_layers[:8] == [1, 1, 1, 0] * 2
    assert (Llama4TextConfig().floor_scale, Llama4TextConfig().attn_scale) == (8192, 0.1)
    models = "transformers.models.{0}.modeling_{0}"
    for name, attention in (("llama4", "Llama4TextAttention"), ("smollm3", "SmolLM3Attention")):
        config = (Llama4TextConfig if name == "llama4" else SmolLM3Config)()
        module = __import__(models.format(name), fromlist=[attention])
        layers = [getattr(module, attention)(small(config), layer) for layer in range(4)]
        assert [bool(layer.use_rope) for layer in layers] == [True, True, True, False]


def small(config):
    """The same configuration with heads that take no memory."""
    config.hidden_size, config.num_attention_heads, config.num_key_value_heads, config.head_dim = 8, 2, 1, 4
    return config


@pytest.mark.torch
def test_llama_4s_temperature_is_that_of_the_answer(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import torch
    from transformers import Llama4TextConfig
    from transformers.models.llama4 import modeling_llama4

    [program] = [program for asked, program in PROGRAMS.items() if "Llama 4" in asked]
    namespace: dict = {}
    exec(program.partition("print(sharper")[0], namespace)
    config = small(Llama4TextConfig())
    config.floor_scale, config._attn_implementation = 4, "eager"
    layer = modeling_llama4.Llama4TextAttention(config, layer_idx=3)
    seen = {}

    def attend(layer, q, *rest, **named):
        seen["q"] = q
        return q.transpose(1, 2), None

    monkeypatch.setattr(modeling_llama4, "eager_attention_forward", attend)
    x = torch.randn(1, 11, 8, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        layer(x, position_embeddings=None, attention_mask=None)
        plain = layer.q_proj(x).view(1, 11, 2, 4).transpose(1, 2)  # (batch, heads, length, head_dim)
    sharper = torch.as_tensor(namespace["sharper"](torch.arange(11).numpy(), floor_scale=4)).float()
    assert (sharper[2], len(sharper.unique())) == (1, 3)
    torch.testing.assert_close(seen["q"], plain * sharper[:, None])
