"""Wrong implementations, each of which the tests of its module must notice.

tests/mutants/<module>.toml lists changes of src/posenc/<module>.py: mistakes that people make, and that a model hides
by training all the same. The module's tests, the NumPy part of them, must fail on a copy so changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache

import pytest

from tests.mutants.run import ROOT, UNCHANGED, mutants

MODULES = sorted(path.stem for path in ROOT.glob("tests/mutants/*.toml"))
NAMES = [(module, mutant["name"]) for module in MODULES for mutant in mutants(module)]


@cache
def outcomes(module: str) -> dict[str, tuple[int, str]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["OPENBLAS_NUM_THREADS"] = "1"  # the other core is busy with other tests
    command = [sys.executable, "-m", "tests.mutants.run", module]
    result = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


@pytest.mark.parametrize("module", MODULES)
def test_the_copy_passes_before_it_is_changed(module):
    status, printed = outcomes(module)[UNCHANGED]
    assert status == pytest.ExitCode.OK, printed


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[f"{module}: {name}" for module, name in NAMES])
def test_it_is_noticed(module, name):
    status, printed = outcomes(module)[name]
    assert status == pytest.ExitCode.TESTS_FAILED, printed
