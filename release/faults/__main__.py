"""Plant faults one at a time in a copy of the repository and its built book; each must be noticed by the tests.

    python -m release.faults [--per-change] [NAME …]

faults.toml lists them: what is changed in which file (`find` becomes `replace`, once), and the tests that are to fail
on it and pass without. With --per-change it asks which are noticed by `make test`, without the tests that wait for a
release. It takes minutes, so it is a command and no test; `make book` comes first. The tests of the
package's own arithmetic have their wrong copies in release/mutants.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from release.colab.run import copy_files

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("faults.toml")
PLACE = {"file": "_build/html/book/intro.html", "find": "</article>"}  # where a fault is planted that names none
BUILT = ("html", ".jupyter_cache")


def copy(folder: Path) -> None:
    """Copy the files of the repository as they are, and what was built of the book."""
    copy_files(folder)
    for name in BUILT:
        shutil.copytree(ROOT / "_build" / name, folder / "_build" / name)


def run(folder: Path, *words: str) -> int:
    """Run a module of Python's in the copy, with the copy's package; its exit status."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}"}
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    ).returncode


def tested(folder: Path, fault: dict[str, str], *options: str) -> int:
    """The exit status of the tests that are to notice a fault, after an execution of its notebook where it says so."""
    if fault.get("execute"):
        run(folder, "tools.execute")
    words = [*fault["tests"].split(), *(["-k", fault["only"]] if "only" in fault else [])]
    return run(folder, "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, *words)


def plant(folder: Path, fault: dict[str, str], *options: str) -> int:
    """Plant a fault, run its tests, and take it out again; the exit status of the tests."""
    path = folder / fault["file"]
    sound = path.read_text(encoding="utf-8")
    if sound.count(fault["find"]) == 0:
        raise LookupError(f"{fault['name']}: {fault['find']!r} is not in {fault['file']}")
    path.write_text(sound.replace(fault["find"], fault["replace"], 1), encoding="utf-8")
    try:
        return tested(folder, fault, *options)
    finally:
        path.write_text(sound, encoding="utf-8")
        if fault.get("execute"):  # the cache has dropped what the sound notebook gave
            run(folder, "tools.execute")


def main() -> None:
    """Plant what is named, or all; fail if a fault is not noticed, or if its tests fail without it."""
    faults = [{**PLACE, **fault} for fault in tomllib.loads(LIST.read_text(encoding="utf-8"))["fault"]]
    parser = argparse.ArgumentParser(prog="python -m release.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of the names of some; all if none is named")
    parser.add_argument("--per-change", action="store_true", help="leave out the tests that wait for a release")
    chosen_by_name = parser.parse_args()
    names, options = chosen_by_name.names, ["-m", "not release"] if chosen_by_name.per_change else []
    chosen = [fault for fault in faults if not names or any(name in fault["name"] for name in names)]
    unnoticed, passing = [], {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "turn-by-turn"
        copy(folder)
        for fault in chosen:
            sound = (fault["tests"], fault.get("only", ""))
            if sound not in passing:
                passing[sound] = tested(folder, {**fault, "execute": ""}, *options) == pytest.ExitCode.OK
            noticed = plant(folder, fault, *options) == pytest.ExitCode.TESTS_FAILED
            words = "noticed" if noticed and passing[sound] else "not noticed" if not noticed else "fails without it"
            print(f"{fault['name']:60} {words}", flush=True)
            if words != "noticed":
                unnoticed.append(fault["name"])
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} faults noticed")
    sys.exit(bool(unnoticed))


if __name__ == "__main__":
    main()
