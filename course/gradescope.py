"""An autograder for Gradescope: the archive to upload, and what runs in it.

    python -m course.gradescope NUMBER [--output FILE]     write _build/gradescope/assignment_NUMBER.zip
    python -m course.gradescope NUMBER --grade FOLDER      in Gradescope's container, where FOLDER is /autograder

The form of both is Gradescope's "Autograder Specifications". In the container an answer runs as a user who can read
neither the questions nor the results, behind the same filter of system calls as in the sandbox.
"""

from __future__ import annotations

import argparse
import hmac
import json
import secrets
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from course.grade import NUMBERS, Report, assignment, grade, imports_of, packages, student
from course.question import path_of
from course.sandbox import Limits, NoSandbox, Worker
from course.student_copy import tracked
from course.submission import notebooks, one_of
from course.words import visible

ROOT = Path(__file__).resolve().parents[1]
KEY = "gradescope.key"  # in the archive: secret inputs are drawn from it
PACKAGES = ("numpy", "torch", "array-api-compat", "safetensors", "scipy", "tqdm", "plotly", "ipywidgets", "ipython")
SETUP = """#!/usr/bin/env bash
set -euo pipefail
apt-get update
apt-get install -y python3 python3-venv
apt-get install -y bubblewrap || true
python3 -m venv /opt/grader
# torch's CPU build is a tenth of the default: install it here first, as torch's own installation page says
/opt/grader/bin/pip install {packages}
chmod -R go-rwx /autograder/source
"""
RUN = """#!/usr/bin/env bash
cd /autograder/source
PYTHONPATH=src:. OMP_NUM_THREADS=1 exec /opt/grader/bin/python -m course.gradescope {number} --grade /autograder
"""


def needed(number: int) -> list[str]:
    """The files of this clone that the autograder of an assignment needs."""
    kept = ("src/posenc/", "src/posenc_lab/data/", "src/posenc_lab/recorded/", "src/posenc_lab/__init__.py")
    own = (
        f"course/private/questions/assignment_{number}.",
        "course/private/questions/ropes.py",
    )
    names = [name for name in tracked(ROOT) if name.startswith((*kept, *own))]
    names += [
        name
        for name in tracked(ROOT)
        if name.startswith("course/") and name.endswith(".py") and "/private/" not in name and "/tests/" not in name
    ]
    inits = ["course/private/__init__.py", "course/private/questions/__init__.py"]
    return [*names, *inits, student(number).relative_to(ROOT).as_posix()]


def answers(number: int) -> dict[str, Any]:
    """The solutions that likely mistakes are edits of, with their imports, and nothing else of the source."""
    kept = {"imports", "imports-torch", *(question.name for question in assignment(number).questions)}
    return {"cells": [cell for cell in json.loads(path_of(number).read_bytes())["cells"] if cell["id"] in kept]}


def bundle(number: int, path: Path) -> int:
    """Write the archive, and say how many files it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pinned = " ".join(f"{name}=={version(name).partition('+')[0]}" for name in PACKAGES)
    scripts = {"setup.sh": SETUP.format(packages=pinned), "run_autograder": RUN.format(number=number)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in scripts.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o755 << 16
            archive.writestr(info, text)
        archive.writestr(KEY, secrets.token_hex(32))
        archive.writestr(path_of(number).relative_to(ROOT).as_posix(), json.dumps(answers(number)))
        if (seed := ROOT / "course/private/seed").is_file():
            archive.write(seed, "course/private/seed")
        for name in needed(number):
            archive.write(ROOT / name, name)
    return len(needed(number)) + len(scripts) + 2


def results(report: Report, run: str) -> dict[str, Any]:
    """What Gradescope reads in results.json: points and a sentence for each part, and nothing of the inputs."""
    tests = [
        {
            "name": f"{graded.question.name}, {graded.question.title}: {result.part.title}",
            "number": f"{graded.question.name[1:]}.{place}",
            "score": float(result.earned),
            "max_score": float(result.part.points),
            "status": "passed" if result.earned else "failed",
            "output": visible(result.sentence),
            "output_format": "text",
            "visibility": "visible",
        }
        for graded in report.graded
        for place, result in enumerate(graded.results, start=1)
    ]
    waiting = [f"{question.name} ({question.points} points) is read by a person." for question in report.waiting]
    said = [report.submission.problem, *report.submission.notes, *waiting, f"To appeal, name this run: {run}."]
    output = visible("\n".join(filter(None, said)), keep="\n")
    return {
        "score": float(report.points),
        "execution_time": round(report.seconds),
        "output": output,
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def graded(number: int, folder: Path, contained: bool | None = None) -> dict[str, Any]:
    """Grade what lies in Gradescope's folders. Without bubblewrap, or where it may not run, all this is contained."""
    given = assignment(number)
    metadata = json.loads((folder / "submission_metadata.json").read_text(encoding="utf-8"))
    run = f"{metadata.get('id', '')} {metadata.get('created_at', '')}".strip()
    secret = hmac.new((ROOT / KEY).read_bytes(), run.encode(), "sha256").hexdigest()
    one = one_of(folder, "submission", notebooks(folder / "submission"), number)
    if contained is None:
        try:
            with Worker(packages(given), imports_of(number), Limits()) as worker:
                worker.start()
            contained = False
        except NoSandbox:
            contained = True
    return results(grade(one, given, imports_of(number), secret, Limits(), contained), run)


def main() -> None:
    """Write the archive, or grade."""
    parser = argparse.ArgumentParser(prog="python -m course.gradescope", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("number", type=int, choices=NUMBERS, help="of the assignment")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the archive (_build/gradescope/…)")
    parser.add_argument("--grade", type=Path, metavar="FOLDER", help="grade there: Gradescope's /autograder")
    parser.add_argument("--contained", action="store_true", default=None, help="without bubblewrap, as root")
    chosen = parser.parse_args()
    if chosen.grade:
        found = graded(chosen.number, chosen.grade, chosen.contained)
        target = chosen.grade / "results" / "results.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        return
    path = chosen.output or ROOT / "_build" / "gradescope" / f"assignment_{chosen.number}.zip"
    try:
        print(f"{bundle(chosen.number, path)} files in {path}: upload it as the autograder of the assignment.")
    except (ValueError, OSError) as error:
        sys.exit(f"Not written. {error}")


if __name__ == "__main__":
    main()
