"""Run the tests of what has changed since the last commit: for the impatient, and not the last word.

    python -m tools.changed [--since COMMIT] [FILE …]

A file's tests are found by names: src/posenc/rotary.py has tests/test_rotary.py, notebooks/NN_name.ipynb those tests of
tests/notebooks and tests/nbval that name it, grading/report.py has tests/grading/test_report.py where there is one, and
a test file has itself. The site is not looked at: that needs a built book, and `make test` builds it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path, PurePosixPath

from tools import execute

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK_TESTS = ("tests/notebooks/test_chapters.py", "tests/nbval/test_stored_outputs.py")


def changed(since: str) -> list[str]:
    """The files that differ from a commit, and those that git does not know yet."""
    found: set[str] = set()
    for words in (["diff", "--name-only", "-z", since, "--"], ["ls-files", "-z", "--others", "--exclude-standard"]):
        listed = subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        found |= {name for name in listed.decode().split("\0") if name}
    return sorted(found)


def candidates(name: str) -> list[str]:
    """Patterns of the test files of one file, by its place and name."""
    path = PurePosixPath(name)
    top, stem = path.parts[0], path.stem
    if top == "tests" and path.suffix == ".py":
        return [name] if stem.startswith("test_") else []
    if path.match("src/posenc/widgets/*.py"):
        return ["tests/test_widgets.py", f"tests/test_widgets_{stem}.py"]
    if path.match("src/posenc/*.py"):
        return [f"tests/test_{stem}.py"]
    if path.match("src/posenc/*/*.py"):
        package = path.parts[2]
        if package in ("check", "doctor"):
            return [f"tests/{package}/test_*.py"]
        own = f"tests/test_{package}_{stem}.py"
        return [f"tests/test_{package}.py", own if (ROOT / own).is_file() else f"tests/test_{package}_*.py"]
    return [f"tests/{top}/test_{stem}.py"] if top in ("grading", "tools") else []


def found_by_name(names: list[str]) -> tuple[list[str], list[str]]:
    """Of some files: the words that pytest needs for their tests, and the files that have none here."""
    found: dict[str, None] = {}
    without = []
    for name in names:
        path = PurePosixPath(name)
        if path.match("notebooks/*.ipynb") and len(path.parts) == 2:
            words = [f"{test}::{name}" for test in NOTEBOOK_TESTS]
        else:
            words = [str(file.relative_to(ROOT)) for pattern in candidates(name) for file in sorted(ROOT.glob(pattern))]
        found |= dict.fromkeys(words)
        if not words:
            without.append(name)
    return list(found), without


def commands(words: list[str]) -> list[list[str]]:
    """The runs of pytest: one for all whole files, and one for all notebooks, by their names."""
    files = [word for word in words if "::" not in word]
    stems = sorted({PurePosixPath(word.partition("::")[2]).stem for word in words if "::" in word})
    runs = [files] if files else []
    return [*runs, [*NOTEBOOK_TESTS, "-k", " or ".join(stems)]] if stems else runs


def main() -> None:
    """Run the tests of what changed; fail if one does."""
    parser = argparse.ArgumentParser(prog="python -m tools.changed", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="instead of what changed")
    parser.add_argument("--since", default="HEAD", metavar="COMMIT", help="compare with this commit (HEAD)")
    options = parser.parse_args()
    words, without = found_by_name(options.files or changed(options.since))
    if without:
        print(f"No tests by name, so `make test` alone looks at: {', '.join(without)}")
    if any("::" in word for word in words):
        execute.main()
    failed = [run for run in commands(words) if subprocess.call([sys.executable, "-m", "pytest", "-q", *run], cwd=ROOT)]
    if not words:
        print("Nothing to run.")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
