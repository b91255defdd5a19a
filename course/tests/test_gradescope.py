"""The bundle for Gradescope: what is in it, what it grades as root in a container, and the form of its results."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from course import gradescope, sources
from course.grade import assignment
from course.sandbox import NoSandbox, Prepared
from tools.notebooks import load

pytestmark = pytest.mark.torch
NUMBER = 2
QUESTION = next(one for one in assignment(NUMBER).questions if one.name == "q3")  # of one function
# What we use of the documented form of results.json ("Autograder Specifications", "Output format").
OF_ALL = {"score", "execution_time", "output", "output_format", "stdout_visibility", "tests"}
OF_A_TEST = {"score", "max_score", "output_format", "visibility", "name", "number", "output", "status"}
SAID = {
    "status": {"passed", "failed"},
    "output_format": {"text", "html", "simple_format", "md", "ansi"},
    **dict.fromkeys(("visibility", "stdout_visibility"), {"hidden", "after_due_date", "after_published", "visible"}),
}


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gradescope's folder, with the bundle unpacked as its documentation says."""
    folder = tmp_path_factory.mktemp("autograder")
    archive = folder / "bundle.zip"
    gradescope.bundle(NUMBER, archive)
    with zipfile.ZipFile(archive) as file:
        assert file.getinfo("run_autograder").external_attr >> 16 & 0o111
        file.extractall(folder / "source")
    metadata = {"id": 12, "created_at": "2026-03-01T23:59:00.000000-07:00", "users": []}
    (folder / "submission_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    (folder / "submission").mkdir()
    return folder


def graded(harness: Path, notebook: dict[str, Any], *words: str) -> dict[str, Any]:
    """What results.json says of a notebook."""
    (harness / "submission" / "x.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    source = harness / "source"
    for path in [source, *source.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)  # as setup.sh does
    command = [sys.executable, "-m", "course.gradescope", str(NUMBER), "--grade", str(harness), *words]
    environment = {"PATH": os.defpath, "PYTHONPATH": "src:.", "OMP_NUM_THREADS": "1"}
    subprocess.run(command, cwd=source, env=environment, check=True)
    found = json.loads((harness / "results" / "results.json").read_text(encoding="utf-8"))
    assert set(found) <= OF_ALL
    assert all({"score", "max_score"} <= set(test) <= OF_A_TEST for test in found["tests"])
    assert all(one[name] in SAID[name] for one in (found, *found["tests"]) for name in SAID.keys() & one.keys())
    assert found["score"] == sum(test["score"] for test in found["tests"])
    return dict(found)


def test_the_bundle_has_what_gradescope_asks_for_and_no_model_answer(harness: Path) -> None:
    names = {path.relative_to(harness / "source").as_posix() for path in (harness / "source").rglob("*.*")}
    names |= {path.name for path in (harness / "source").iterdir()}
    assert {"setup.sh", "run_autograder", "gradescope.key"} <= names
    private = {name for name in names if name.startswith("course/private/")}
    assert private == {
        *("course/private/__init__.py", "course/private/questions/__init__.py", "course/private/questions/ropes.py"),
        *(f"course/private/questions/assignment_{NUMBER}.py", f"course/private/sources/assignment_{NUMBER}.ipynb"),
    }
    assert all(cell["cell_type"] == "code" for cell in gradescope.answers(NUMBER)["cells"])
    for name in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", str(harness / "source" / name)], check=True)


SPY = """
import os, socket
def FUNCTION(*args):
    return "nothing was found"
tries = [lambda place=place: open(place).read() for place in (
    "SOURCE/gradescope.key", "SOURCE/course/private/sources/assignment_2.ipynb", "SOURCE/course/grade.py")]
for attempt in (*tries, socket.socket, os.fork, lambda: os.listdir("SOURCE/../results")):
    try:
        attempt()
    except OSError:
        continue
    raise LookupError
if os.getuid() == 0:
    raise LookupError
"""


def test_right_and_wrong_notebooks_get_their_points(harness: Path) -> None:
    given = assignment(NUMBER)
    solved = sources.source(NUMBER)
    everything = graded(harness, solved)
    coded = sum(question.points for question in given.questions)
    assert everything["score"] == coded
    assert all(test["status"] == "passed" and test["output"] == "" for test in everything["tests"])
    assert len(everything["tests"]) == sum(len(question.parts) for question in given.questions)
    cell = next(cell for cell in solved["cells"] if cell["id"] == QUESTION.name)
    cell["source"] = f"def {QUESTION.names[0]}(*args):\n    return args[0]"
    wrong = graded(harness, solved)
    assert wrong["score"] < coded
    assert any(test["status"] == "failed" and test["output"] for test in wrong["tests"])
    untouched = graded(harness, load(sources.student(NUMBER)))
    assert untouched["score"] == 0
    assert {test["output"] for test in untouched["tests"]} == {"not answered yet"}


def test_in_a_container_an_answer_is_nobody_and_reads_nothing(harness: Path) -> None:
    if os.getuid():  # the container's user is root; nobody else can become somebody else
        with pytest.raises(NoSandbox, match="must be root"):
            Prepared(("numpy", "torch"), contained=True)
        return
    solved = sources.source(NUMBER)
    cell = next(cell for cell in solved["cells"] if cell["id"] == QUESTION.name)
    cell["source"] = SPY.replace("SOURCE", str(harness / "source")).replace("FUNCTION", QUESTION.names[0])
    spied = graded(harness, solved, "--contained")
    assert spied["score"] == sum(one.points for one in assignment(NUMBER).questions) - QUESTION.points
    [told] = {test["output"] for test in spied["tests"] if test["status"] == "failed"}
    assert told != "it raised LookupError", "something was read, or done"


def test_a_notebook_that_cannot_be_read_is_told_why(harness: Path) -> None:
    found = graded(harness, {"cells": 3})
    assert found["score"] == 0
    assert found["output"].startswith("The file is not a notebook that can be read: it has no list of cells.")
