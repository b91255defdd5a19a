"""The programs of book/package.md: each runs as it stands and prints what stands beside its prints."""

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
PAGE = Path(__file__).resolve().parents[2] / "book" / "package.md"
PROGRAMS = dict(
    re.findall(r"^#+ (.+?)$(?:(?!^#)[\s\S])*?^```python\n(.+?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
)


def test_six_programs_and_the_first_one_are_found():
    assert len(PROGRAMS) == 7
    assert PAGE.read_text(encoding="utf-8").count("```python") == 7
    assert [line for program in PROGRAMS.values() for line in program.splitlines() if len(line) > 90] == []


# Without torch.compile, FlexAttention says that it is slow; nobody needs a compiler to read this page.
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(program, marks=[pytest.mark.release] * ("import jax" in program), id=heading)
        for heading, program in PROGRAMS.items()
    ],
)
def test_it_prints_what_it_says(program, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers.models.llama import modeling_llama

    monkeypatch.setattr(modeling_llama, "apply_rotary_pos_emb", modeling_llama.apply_rotary_pos_emb)  # put back
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    runpy.run_path(str(tmp_path / "program.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.+\)  # (.+)$", program, re.M)
