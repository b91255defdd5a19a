"""Wrong implementations, each of which the tests of its module must notice.

release/mutants/<module>.toml lists changes of src/posenc/<module>.py (scaling.ntk.toml of src/posenc/scaling/ntk.py):
mistakes that people make, and that a model hides by training all the same. The tests of the module and its package, the
NumPy part of them, must fail on a copy so changed; for a change that only torch can tell, `torch = true` there, the
other part. The test that an entry names is asked first, the others if it does not fail; whatever is asked must pass on
the copy before it is changed. release/mutants/test_javascript.py has those of the JavaScript.
"""

from __future__ import annotations

import pytest

from release.mutants.python import MODULES, UNCHANGED, listed, outcomes

NAMES = [(module, change["name"]) for module in MODULES for change in listed(module)]
WITH_TORCH = [(module, change["name"]) for module in MODULES for change in listed(module, torch=True)]


@pytest.mark.parametrize("module", MODULES)
def test_the_copy_passes_before_it_is_changed(module):
    status, printed = outcomes()[module][UNCHANGED]
    assert status == pytest.ExitCode.OK, printed


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[f"{module}: {name}" for module, name in NAMES])
def test_it_is_noticed(module, name):
    status, printed = outcomes()[module][name]
    assert status == pytest.ExitCode.TESTS_FAILED, printed


@pytest.mark.torch
@pytest.mark.parametrize(("module", "name"), WITH_TORCH, ids=[f"{module}: {name}" for module, name in WITH_TORCH])
def test_it_is_noticed_by_the_tests_that_need_torch(module, name):
    found = outcomes(torch=True)[module]
    assert found[UNCHANGED][0] == pytest.ExitCode.OK, found[UNCHANGED][1]
    status, printed = found[name]
    assert status == pytest.ExitCode.TESTS_FAILED, printed
