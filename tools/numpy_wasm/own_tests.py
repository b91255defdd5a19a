"""The half of own_tests.mjs that runs in Pyodide: NumPy's tests from its source."""

from __future__ import annotations

import collections
import functools
import importlib
import json
import sys
import tarfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.ma  # noqa: F401 (before _Making stands for functions that it takes over)
import pytest

SITE = Path(pytest.__file__).parents[1]
CONFIGURATION = Path("/own_tests/pytest.ini")
COMPILED = "needs NumPy's compiled test module "
# left out of the wheel, since only tests import them
MODULES = ("_multiarray_tests", "_operand_flag_tests", "_rational_tests", "_struct_ufunc_tests", "_umath_tests")


def unpack(source: str) -> None:
    """Put the tests beside the modules that they test, and NumPy's settings of pytest elsewhere.

    With `pytest.ini` beside NumPy its `conftest.py` would draw other examples at every run.
    """
    with tarfile.open(source) as archive:
        for member in archive:
            member.name = member.name.partition("/")[2]
            if "tests" in Path(member.name).parts or member.name == "numpy/conftest.py":
                archive.extract(member, SITE, filter="data")
            elif member.name == CONFIGURATION.name:
                archive.extract(member, CONFIGURATION.parent, filter="data")
    importlib.invalidate_caches()


class _Missing:
    """Something of a compiled test module: a file can import it, and a test that uses it fails."""

    collecting = True

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{COMPILED}{self._name}>"

    def _used(self) -> _Missing:
        if _Missing.collecting:
            return self  # a test's argument, which fails the test as soon as that uses it
        pytest.fail(COMPILED + self._name)

    def __reduce__(self) -> str:
        return str(self._used())

    def __call__(self, *arguments: object, **options: object) -> _Missing:
        return self._used()

    def __getattr__(self, name: str) -> _Missing:
        if name.startswith("__"):
            raise AttributeError(name)  # Python and pytest ask for these of anything
        return self._used()

    def attribute(self, name: str) -> _Missing:
        """What the module gives when a file asks for something of it."""
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self._name}.{name}")


class _Making:
    """What makes an array, which gives a missing dtype back: an array of it, a test's argument, is missing too.

    No function: as an attribute of a test class that would become a method, which NumPy's own does not.
    """

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        functools.update_wrapper(self, make)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        dtype = options.get("dtype")
        return dtype if isinstance(dtype, _Missing) else self._make(*arguments, **options)


def stand_in() -> None:
    """Let the files import the compiled test modules, without which none of their tests would run."""
    core = importlib.import_module("numpy._core")
    for name in MODULES:
        module = types.ModuleType(f"numpy._core.{name}")
        module.__getattr__ = _Missing(name).attribute  # type: ignore[method-assign]
        sys.modules[module.__name__] = module
        setattr(core, name, module)
    # what the compiled one answers where the processor is no x86
    sys.modules["numpy._core._multiarray_tests"].get_fpu_mode = lambda: None  # type: ignore[attr-defined]


class _Results:
    """How the tests of every file came out, and why the failed ones failed."""

    def __init__(self) -> None:
        self.counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.failures: list[str] = []
        self.patch = pytest.MonkeyPatch()

    def pytest_collection(self) -> None:
        for name in ("arange", "array"):
            self.patch.setattr(np, name, _Making(getattr(np, name)))

    def pytest_collection_finish(self) -> None:
        _Missing.collecting = False
        self.patch.undo()

    def _count(self, report: pytest.TestReport | pytest.CollectReport, outcome: str) -> None:
        self.counts[report.nodeid.partition("::")[0]][outcome] += 1
        if outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = crash.message if crash else str(report.longrepr)
            self.failures.append(" ".join(f"{report.nodeid}: {reason}".split()))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._count(report, report.outcome)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        expected = hasattr(report, "wasxfail")
        if report.failed:
            self._count(report, "failed")  # a test whose clean-up fails after it passed counts as both
        elif report.skipped:
            self._count(report, "xfailed" if expected else "skipped")
        elif report.when == "call":
            self._count(report, "xpassed" if expected else "passed")


def run(*files: str) -> str:
    """The counts by file, the failures and pytest's exit status, as JSON."""
    results = _Results()
    options = ["-c", str(CONFIGURATION), "--rootdir", str(SITE), "--continue-on-collection-errors"]
    options += ["-p", "no:cacheprovider", "-q", "--tb=short", "-r", "N", "--show-capture=no", "--no-showlocals"]
    status = pytest.main([*options, *(str(SITE / "numpy" / file) for file in files)], plugins=[results])
    return json.dumps({"counts": results.counts, "failures": results.failures, "status": int(status)})
