"""Everything that is tried before a release, stage by stage.

    python -m release [--workers N] [STAGE …]

A stage that passed on the same files is not run again: what passed stands in _build/report/release.json, so a run that
was stopped goes on where it was. `make test-release` calls this after `make book`.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "_build" / "report" / "release.json"
# With several processes, further threads would only wait for each other.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", **os.environ}
# What each stage runs, a module with its arguments; "N" is the number of processes.
PYTEST = ("pytest", "-n", "N", "--dist", "loadgroup", "--no-loadscope-reorder", "-q", "--reruns", "1", "--only-rerun")
BROWSER_IS_LATE = "^TimeoutError: .*(drew no frame|not complete within|Timeout [0-9]+ms exceeded)"
# The course's tests that run posenc.check in their own process, so that coverage sees it.
IN_PROCESS = [f"course/tests/test_{name}.py" for name in ("hints", "notebook", "recorded", "wrong_answers")]
STAGES: dict[str, list[tuple[str, ...]]] = {
    "check": [("tools.gates",)],
    "tests": [(*PYTEST, BROWSER_IS_LATE, "tests")],
    "course": [(*PYTEST, BROWSER_IS_LATE, "course/tests")],
    "mutants": [("pytest", "-n", "N", "--dist", "loadgroup", "-q", "release/mutants")],
    "coverage": [("pytest", "-n", "N", "-q", "--cov", "--cov-report=term", "tests/unit", *IN_PROCESS)],
    "faults": [("release.faults",)],
    "cpus": [("release.other_cpus",)],
    "page": [("tests.book.python",)],
    "browsers": [("release.browsers",)],
    "colab": [("release.colab.run",)],
}


def fingerprint() -> str:
    """A hash of every file that git tracks, and of what it does not know yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    digest = hashlib.sha256()
    for name in sorted(name for name in listed.split("\0") if (ROOT / name).is_file()):
        digest.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    return digest.hexdigest()


def run(stage: str, workers: int) -> bool:
    """Run a stage; whether it passed. What belongs to the course is left out where that is not there."""
    for module, *arguments in STAGES[stage]:
        if "course" in f"{module} {' '.join(arguments)}" and not (ROOT / "course" / "private").is_dir():
            continue
        words = [str(workers) if word == "N" else word for word in arguments]
        if subprocess.call([sys.executable, "-m", module, *words], cwd=ROOT, env=ENVIRONMENT):
            return False
    return True


def main() -> None:
    """Run the stages that are named, or all that have not passed yet."""
    parser = argparse.ArgumentParser(prog="python -m release", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"of {', '.join(STAGES)}; all if none is named")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    options = parser.parse_args()
    if unknown := [name for name in options.stages if name not in STAGES]:
        parser.error(f"there is no stage {unknown[0]!r}: there are {', '.join(STAGES)}")
    files = fingerprint()
    known = json.loads(REPORT.read_text(encoding="utf-8")) if REPORT.is_file() else {}
    passed = known.get("passed", {}) if known.get("files") == files else {}
    failed = []
    for stage in options.stages or STAGES:
        if stage in passed:
            print(f"{stage}: passed already, in {passed[stage]} s", flush=True)
            continue
        print(f"{stage} …", flush=True)
        start = time.monotonic()
        if run(stage, options.workers):
            passed[stage] = round(time.monotonic() - start)
            print(f"{stage}: passed in {passed[stage]} s", flush=True)
        else:
            failed.append(stage)
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(json.dumps({"files": files, "passed": passed}, indent=1) + "\n", encoding="utf-8")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
