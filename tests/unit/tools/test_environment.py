"""Setting up: one clear sentence where it cannot be done, and a torch that stays."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment
from tools.environment import Problem

ROOT = Path(environment.ROOT)
SCRIPT = ROOT / "tools" / "environment.py"


def test_a_python_that_is_too_old_can_read_the_script():
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_a_python_that_is_too_old_is_named():
    with pytest.raises(Problem, match=r"Python 3\.11 or newer is needed.*Python 3\.8: name a newer one"):
        environment.check_python((3, 8, 18))


def test_a_python_that_is_not_there_is_named():
    result = subprocess.run(["make", "environment", "PYTHON=python-none"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode
    assert result.stderr.splitlines()[0] == (
        "There is no python-none here: install Python 3.11 or newer, or name one with PYTHON=…"
    )


@pytest.mark.parametrize(
    ("torch", "without", "expected"), [("", False, True), ("2.11.0", False, False), ("", True, False)]
)
def test_torch_is_installed_only_where_it_is_wanted_and_missing(monkeypatch, torch, without, expected):
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda command: calls.append(command) or 0)
    monkeypatch.setattr(environment, "ask", lambda python, code: "site-packages")
    environment.install("python", ["book", "lab"], torch, without)
    packages, weights, compiled, package = calls
    assert {"--no-deps", *environment.WITHOUT_DEPENDENCIES} <= {*weights}
    assert ("--no-compile" in packages, compiled[-1]) == (True, "site-packages")  # all of it at once
    assert any(word.startswith("torch==") for word in packages) is expected
    assert any(word.startswith("numpy==") for word in packages)
    assert any(word.startswith("jupyterlab>=") for word in packages)
    assert not any(word.startswith(("--index", "--extra-index", "-i")) for call in calls for word in call)
    assert package[-1] == environment.ROOT


@pytest.mark.parametrize(("version", "kept"), [("2.11.0+cu130", "2.11.0+cu130"), ("2.3.1", "")])
def test_a_torch_that_is_new_enough_is_recognised(monkeypatch, version, kept):
    monkeypatch.setattr(environment, "ask", lambda python, code: version)
    assert environment.torch_present("python") == kept


@pytest.mark.release
def test_what_is_left_without_torch_needs_none():
    """Files that are not marked as torch's from end to end can be collected where it cannot be found."""
    script = """if True:
        import sys
        import pytest

        class Without:
            def find_spec(self, name, path=None, target=None):
                if name == "torch":
                    raise ModuleNotFoundError(name=name)

        sys.meta_path.insert(0, Without())
        sys.exit(pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", "-m", "not torch", "tests"]))
    """
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
    assert "tests/unit/test_rotary.py" in found.stdout
