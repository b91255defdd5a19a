"""Wrong arithmetic in JavaScript, which the comparison with Python must notice; tests/test_mutants.py has Python's.

tests/mutants/js.toml lists changes of modules in src/posenc/js, each with the test that is to fail on it.
"""

from __future__ import annotations

import pytest

from tests.mutants.run import UNCHANGED, Subject, outcomes


def test_the_copy_passes_before_it_is_changed():
    status, printed = outcomes("js")[UNCHANGED]
    assert status == pytest.ExitCode.OK, printed


@pytest.mark.parametrize("name", [mutant["name"] for mutant in Subject("js").mutants])
def test_it_is_noticed(name):
    status, printed = outcomes("js")[name]
    assert status == pytest.ExitCode.TESTS_FAILED, printed
