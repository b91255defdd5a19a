"""Whoever asks a command for help gets it, and nothing is done."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FILES = [path.relative_to(ROOT) for folder in ("tools", "course") for path in sorted((ROOT / folder).glob("*.py"))]
COMMANDS = [
    ".".join(path.with_suffix("").parts)
    for path in FILES
    if '__name__ == "__main__"' in (ROOT / path).read_text(encoding="utf-8")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_given_and_nothing_done(command, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [command, "--help"])
    monkeypatch.delitem(sys.modules, command, raising=False)  # runpy warns of a module that is there already
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(command, run_name="__main__")
    assert not ended.value.code
    assert capsys.readouterr().out.startswith("usage: ")
