"""Runs the tests of modules on wrong copies of them, and names the copies that no test notices.

    python -m release.mutants.python [--torch] [--json] [LIST …]

LIST names a file beside this one: `rotary` lists changes of src/posenc/rotary.py, `scaling.ntk` those of
src/posenc/scaling/ntk.py. All of them, if none is named. A change meets the module's and its package's tests that need
no torch or, with --torch and where the list says `torch = true`, those that do: first the one that the list names as
the one to notice it, and if that one does not fail, all.

pytest is set up once, before anything of posenc is imported. Then each copy has a process of its own, forked from
there, which imports the package with the changed module in its place, collects and runs.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.abc
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType
from typing import TextIO

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "release" / "mutants"
SOURCE = ROOT / "src" / "posenc"
MODULES = sorted({path.stem for path in LISTS.glob("*.toml")} - {"js"})
UNCHANGED = "unchanged"
ALL_TORCH = "pytestmark = pytest.mark.torch"
NOT_RUN = 99
OPTIONS = [
    "-x", "-q", "--no-header", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:groups",
    "--disable-plugin-autoload", "-p", "_hypothesis_pytestplugin", "--hypothesis-profile=mutants",
]  # fmt: skip
LIBRARIES = ["array_api_compat.numpy", "hypothesis.strategies", "numpy", "scipy.special", "scipy.stats"]

Outcome = tuple[int, str]  # pytest's exit status, and what it printed


def listed(module: str, torch: bool = False) -> list[dict]:
    """The changes of a module that the tests with torch, or those without, are to notice."""
    changes = tomllib.loads((LISTS / f"{module}.toml").read_text(encoding="utf-8"))["mutant"]
    return [change for change in changes if change.get("torch", False) == torch]


def path_of(module: str) -> Path:
    """The file of a module of the package."""
    return SOURCE.joinpath(*module.split(".")).with_suffix(".py")


class Copy(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Finds and loads one module of the package, from a source that is not in its file."""

    def __init__(self, module: str, source: str) -> None:
        super().__init__(f"posenc.{module}", str(path_of(module)))
        self.source = source

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        return (
            importlib.util.spec_from_file_location(fullname, self.path, loader=self) if fullname == self.name else None
        )

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec", dont_inherit=True)


@dataclass(frozen=True)
class Run:
    """What a child does: load a copy, and run the test functions of these names, or all for None."""

    copy: Copy
    tests: frozenset[str] | None
    torch: bool

    @property
    def files(self) -> list[str]:
        """The tests of the module, and those of its package; a file that is torch's from end to end only with it."""
        package, _, part = self.copy.name.removeprefix("posenc.").partition(".")
        names = [f"tests/unit/test_{package}.py", *[f"tests/unit/test_{package}_{part}.py"] * bool(part)]
        names += ["tests/unit/configurations/test_reading.py"] * ("configuration" in (package, part))
        found = [name for name in names if (ROOT / name).is_file()]
        return found if self.torch else [name for name in found if ALL_TORCH not in (ROOT / name).read_text("utf-8")]


class Children:
    """A plugin of pytest that leaves collecting and running to children of this process."""

    def __init__(self, modules: list[str], torch: bool, printed: TextIO) -> None:
        self.modules, self.torch, self.printed = modules, torch, printed
        self.found: dict[str, dict[str, Outcome]] = {module: {} for module in modules}
        self.run: Run | None = None  # in a child, what it is to do

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Fork for every run; a child collects its tests, and pytest goes on to run them."""
        assert not [name for name in sys.modules if name.partition(".")[0] == "posenc"], "the copy would come too late"
        gc.freeze()  # else pytest has every child look through all that it has from here
        plan = self.plan()
        with contextlib.suppress(StopIteration):
            run = next(plan)
            while child := os.fork():
                run = plan.send(self.outcome(child))
            self.run = run
            sys.meta_path.insert(0, run.copy)
            session.perform_collect(run.files)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out all other files."""
        here = [ROOT / file for file in self.run.files]
        return True if collection_path.is_file() and collection_path not in here else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, name: str) -> list | None:
        """Leave out the functions that are not asked for."""
        return [] if self.run.tests and name.startswith("test_") and name not in self.run.tests else None

    def plan(self) -> Generator[Run, Outcome, None]:
        """The runs of every module, the unchanged copy last: it meets whatever was to notice a change."""
        for module in filter(partial(listed, torch=self.torch), self.modules):
            right, met = path_of(module).read_text(encoding="utf-8"), set()
            for change in listed(module, self.torch):
                if (count := right.count(change["find"])) != 1:
                    said = f"{change['find']!r} is in {path_of(module).name} {count} times, not once"
                    self.found[module][change["name"]] = -1, said
                    continue
                wrong = Copy(module, right.replace(change["find"], change["replace"]))
                for tests in ({change["test"]}, None) if "test" in change else (None,):
                    met.add(tests and frozenset(tests))
                    found = self.found[module][change["name"]] = yield Run(wrong, tests, self.torch)
                    if found[0] == pytest.ExitCode.TESTS_FAILED:
                        break
            tests = None if None in met else frozenset().union(*met)
            self.found[module][UNCHANGED] = yield Run(Copy(module, right), tests, self.torch)

    def outcome(self, child: int) -> Outcome:
        """What a child came to, once it has ended."""
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self.printed.seek(0)
        text = self.printed.read()
        self.printed.seek(0)
        self.printed.truncate()
        return status, text


def run(modules: list[str], torch: bool) -> dict[str, dict[str, Outcome]]:
    """What the runs of some modules came to, by the name of the change."""
    parent = os.getpid()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        children, status = Children(modules, torch, printed), NOT_RUN
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                status = pytest.main([*OPTIONS, "-m", "torch" if torch else "not torch"], plugins=[children])
            if children.run:
                assert sys.modules[children.run.copy.name].__loader__ is children.run.copy
                assert torch or "torch" not in sys.modules, "tests that are to do without torch imported it"
        except BaseException:
            status = NOT_RUN
            raise
        finally:
            if os.getpid() != parent:
                printed.flush()
                os._exit(status)
    return children.found


@cache
def outcomes(torch: bool = False) -> dict[str, dict[str, Outcome]]:
    """What all runs came to, by the module and by the name of the change, in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["OPENBLAS_NUM_THREADS"] = "1"  # the other core is busy with other tests
    command = [sys.executable, "-m", "release.mutants.python", "--json", *["--torch"] * torch]
    result = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


def main() -> None:
    """Run what is named."""
    parser = argparse.ArgumentParser(prog="python -m release.mutants.python", description=__doc__)
    parser.add_argument("lists", nargs="*", metavar="LIST", help=f"of {', '.join(MODULES)}")
    parser.add_argument("--torch", action="store_true", help="the changes that tests with torch are to notice")
    parser.add_argument("--json", action="store_true", help="print what each run came to")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    for library in LIBRARIES + ["torch"] * arguments.torch:
        import_module(library)
    found = run(arguments.lists or MODULES, arguments.torch)
    if arguments.json:
        print(json.dumps(found))
        return
    faults = [
        f"{module}: {name}: {'the tests fail' if name == UNCHANGED else 'no test notices it'}\n{printed}"
        for module, runs in found.items()
        for name, (status, printed) in runs.items()
        if status != (pytest.ExitCode.OK if name == UNCHANGED else pytest.ExitCode.TESTS_FAILED)
    ]
    print(f"{sum(len(runs) - 1 for runs in found.values() if runs)} wrong copies tried, {len(faults)} faults")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
