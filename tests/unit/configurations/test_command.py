"""`python -m posenc.doctor`, as a reader and as a script use it."""

import io
import json
import runpy
import sys

import pytest

from posenc.doctor.__main__ import main
from tests.unit.configurations.cases import PLAIN, YARN, scaled


@pytest.fixture
def written(tmp_path):
    def write(config):
        path = tmp_path / "config.json"
        path.write_text(config if isinstance(config, str) else json.dumps(config), encoding="utf-8")
        return str(path)

    return write


def test_a_report_has_findings_frequencies_and_keys(written, capsys):
    path = written({"text_config": scaled(YARN | {"attn_factor": 1.0}, vocab_size=9, dtype="bfloat16")})
    assert main([path, "--length", "4_096"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == f"{path}: 1 likely mistake, 4 notes"
    assert "Read from text_config, the language model's part." in out
    assert "likely mistake  attn_factor. attn_factor is a key that nothing in transformers reads." in out
    assert "chapter 07, Implementing RoPE: frequencies and their names in code" in out
    assert "64 pairs from base 10\u202f000, half-split; in 4\u202f096 tokens" in out
    assert "fine            rope_scaling.factor = 4. How many times slower" in out
    assert "One further key says nothing of positions." in out
    assert max(map(len, out.splitlines()[1:])) <= 115


def test_something_wrong_fails_and_nothing_is_drawn(written, capsys):
    assert main([written(scaled({"type": "linear", "factor": 0.5}))]) == 1
    out = capsys.readouterr().out
    assert "Nothing is drawn: mend first what is wrong." in out
    assert "as trained" not in out


def test_a_broken_file_fails(written, capsys):
    path = written("{'rope_theta': 10000.0}")
    assert main([path]) == 1
    assert capsys.readouterr().out.startswith(
        f"{path}: no configuration\nerror           This is written as Python writes"
    )


def test_a_file_that_cannot_be_read(tmp_path, capsys):
    assert main([str(tmp_path / "none.json")]) == 2
    assert "none.json cannot be read: No such file or directory" in capsys.readouterr().err
    binary = tmp_path / "model.safetensors"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    assert main([str(binary)]) == 2
    assert "model.safetensors cannot be read: invalid start byte" in capsys.readouterr().err


@pytest.mark.parametrize("length", ["0", "many"])
def test_a_bad_length_is_refused(written, capsys, length):
    with pytest.raises(SystemExit) as stopped:
        main([written(PLAIN), f"--length={length}"])
    assert stopped.value.code == 2
    assert f"the length must be a positive integer (tokens), got “{length}”" in capsys.readouterr().err


def test_what_is_piped_in_is_read_and_the_module_runs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(PLAIN)))
    monkeypatch.setattr(sys, "argv", ["doctor", "-"])
    monkeypatch.delitem(sys.modules, "posenc.doctor.__main__")
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("posenc.doctor", run_name="__main__")
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("-: fine: transformers computes what the file says\n")
