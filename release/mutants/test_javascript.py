"""Wrong arithmetic in JavaScript, which the comparison with Python must notice; test_python.py has Python's.

js.toml lists changes of modules in src/posenc/js, each with the tests that are to fail on it. pytest runs those on a
package whose JavaScript is a changed copy; with an unchanged copy all of them pass.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "posenc"
MUTANTS = tomllib.loads((ROOT / "release" / "mutants" / "js.toml").read_text(encoding="utf-8"))["mutant"]


def copied(folder: Path) -> Path:
    """Make `folder` a path on which `posenc` is the package with a copy of its JavaScript, and return that copy."""
    package = folder / "posenc"
    package.mkdir()
    for path in PACKAGE.iterdir():
        if path.name != "js":
            (package / path.name).symlink_to(path)
    return Path(shutil.copytree(PACKAGE / "js", package / "js"))


def run(tests: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run tests on the package of `folder`, until one fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    paths = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("tests", sorted({mutant["test"] for mutant in MUTANTS}))
def test_an_unchanged_copy_passes(tests, tmp_path):
    copied(tmp_path)
    ended = run([tests], tmp_path)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_it_is_noticed(mutant, tmp_path):
    path = copied(tmp_path) / f"{mutant['module']}.js"
    source = path.read_text(encoding="utf-8")
    assert source.count(mutant["find"]) == 1, f"{mutant['find']!r} is not once in {path.name}"
    path.write_text(source.replace(mutant["find"], mutant["replace"]), encoding="utf-8")
    ended = run([mutant["test"]], tmp_path)
    assert ended.returncode == 1, f"no test failed:\n{ended.stdout}"
