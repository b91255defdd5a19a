"""Wrong implementations, each of which the tests of its module must notice.

tests/mutants/<module>.toml lists changes of src/posenc/<module>.py: mistakes that people make, and that a model hides
by training all the same. The module's tests, the NumPy part of them, must fail on a copy so changed; for a change that
only torch can tell, `torch = true` there, the other part. tests/site/test_mutants.py has those of the JavaScript.
"""

from __future__ import annotations

import pytest

from tests.mutants.run import LISTS, UNCHANGED, Subject, outcomes

MODULES = sorted({path.stem for path in LISTS.glob("*.toml")} - {"js"})
NAMES = [(module, mutant["name"]) for module in MODULES for mutant in Subject(module).mutants]
WITH_TORCH = [(module, mutant["name"]) for module in MODULES for mutant in Subject(module, torch=True).mutants]


@pytest.mark.parametrize("module", MODULES)
def test_the_copy_passes_before_it_is_changed(module):
    status, printed = outcomes(module)[UNCHANGED]
    assert status == pytest.ExitCode.OK, printed


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[f"{module}: {name}" for module, name in NAMES])
def test_it_is_noticed(module, name):
    status, printed = outcomes(module)[name]
    assert status == pytest.ExitCode.TESTS_FAILED, printed


@pytest.mark.torch
@pytest.mark.parametrize(("module", "name"), WITH_TORCH, ids=[f"{module}: {name}" for module, name in WITH_TORCH])
def test_it_is_noticed_by_the_tests_that_need_torch(module, name):
    found = outcomes(module, torch=True)
    assert found[UNCHANGED][0] == pytest.ExitCode.OK, found[UNCHANGED][1]
    status, printed = found[name]
    assert status == pytest.ExitCode.TESTS_FAILED, printed
