"""The assignments' student versions follow from their sources, give nothing away, and run."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

from course import question, sources
from course.grade import NUMBERS, assignment, student
from course.private import bank
from course.submission import source_of
from tests.book.notebooks.markdown import faults
from tools.execute import CELL_TIMEOUT, Client
from tools.notebooks import load

pytestmark = pytest.mark.torch
every_assignment = pytest.mark.parametrize("number", NUMBERS)


@every_assignment
def test_the_student_version_is_up_to_date(number: int) -> None:
    made = sources.dump(sources.student_version(sources.source(number)))
    assert made == student(number).read_text(encoding="utf-8"), "run `make assignments`"


@every_assignment
def test_nothing_is_given_away_and_the_points_are_right(number: int) -> None:
    assert sources.prove(number, load(student(number))) == []


def test_what_is_given_away_is_found() -> None:
    source = sources.source(1)
    given = sources.given_away(source, source)
    assert "### BEGIN SOLUTION" in given
    assert len(given) > 20
    found = sources.prove(1, source)
    assert any("gives away" in fault for fault in found)
    assert any(fault.startswith("untouched, q1 earns") for fault in found)


@every_assignment
def test_it_is_a_notebook_of_nbgrader(number: int) -> None:
    notebook = nbformat.read(student(number), as_version=4)
    nbformat.validate(notebook)
    given = assignment(number)
    cells = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
    points = {one.name: one.points for one in given.graded}
    checks = {f"{one.name}-check" for one in given.questions}
    assert set(cells) == set(points) | checks
    for name, cell in cells.items():
        metadata = cell["metadata"]["nbgrader"]
        assert cell["id"] == name
        assert metadata["schema_version"] == 3
        assert metadata["task"] is False
        hand_graded = name in {question.name for question in given.hand_graded}
        graded = hand_graded or name in checks
        assert (metadata["grade"], metadata["solution"], metadata["locked"]) == (
            graded,
            name not in checks,
            name in checks,
        )
        assert metadata.get("points") == (points[name.removesuffix("-check")] if graded else None)


@every_assignment
def test_every_question_has_a_check_below_with_hidden_ones_and_its_hints(number: int) -> None:
    solved = {cell["id"]: source_of(cell) for cell in sources.source(number)["cells"]}
    for one in assignment(number).questions:
        assert sources.HIDDEN.search(solved[f"{one.name}-check"])
        assert sources.SOLUTION.search(solved[one.name])
    cells = load(student(number))["cells"]
    names = [cell["id"] for cell in cells]
    for one in assignment(number).graded:
        assert names.count(f"{one.name}-check") == 1
        assert names.index(f"{one.name}-check") == names.index(one.name) + 1
        assert f"check.{one.name}(" in source_of(cells[names.index(f"{one.name}-check")])
    assert "Write `check.q1.hint()` on a line below the check" in source_of(cells[0])


@every_assignment
def test_its_opening_names_it_and_its_points(number: int) -> None:
    notebook, given = load(student(number)), assignment(number)
    assert notebook["metadata"]["posenc"] == {"assignment": number}
    opening = source_of(notebook["cells"][0])
    assert opening.startswith(f"# Assignment {number}: {given.title}\n")
    assert f"{given.points} points" in opening


@every_assignment
def test_its_text_shows_in_colab_and_jupyterlab(number: int) -> None:
    for cell in load(student(number))["cells"]:
        if cell["cell_type"] == "markdown":
            assert faults(source_of(cell)) == [], cell["id"]


IN_A_VARIANT = """
import json, sys
from course import question
question.SEED = sys.argv[1]  # before any question is read
from course import recorded, sources
from course.grade import NUMBERS, imports_of
for number, published in zip(NUMBERS, json.load(sys.stdin)):
    faults = sources.prove(number, sources.student_version(sources.source(number)))
    lost = sorted({one.name for one, result in sources.trial(published, number) if not result.earned})
    print(json.dumps([faults, lost, published != sources.source(number)]))
assert not recorded.is_up_to_date(2, imports_of(2))
"""


def test_in_a_variant_our_answers_earn_everything_and_published_ones_do_not() -> None:
    given = json.dumps([load(question.path_of(number)) for number in NUMBERS])
    command = [sys.executable, "-c", IN_A_VARIANT, "spring 2028"]
    place = {"PYTHONPATH": f"{sources.ROOT / 'src'}:{sources.ROOT}"}
    ran = subprocess.run(command, input=given, env=os.environ | place, capture_output=True, text=True, check=True)
    for number, line in zip(NUMBERS, ran.stdout.splitlines(), strict=True):
        faults, lost, another = json.loads(line)
        assert faults == []
        assert lost or not assignment(number).questions
        assert another


@every_assignment
def test_what_a_variant_changes_is_there(number: int) -> None:
    cells = load(question.path_of(number))["cells"]
    text = "\n".join(map(source_of, cells)) + Path(bank.__file__).with_name(f"assignment_{number}.py").read_text(
        "utf-8"
    )
    assert [find for find in question.questions(number).VARIANT if find not in text] == []


def test_a_variant_has_no_first_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed, picked in (("", {0}), ("another year", {1, 2, 3})):
        monkeypatch.setattr(question, "SEED", seed)
        assert {question.pick(f"name {number}", *range(4)) for number in range(20)} == picked
        assert (question.sample("faults", range(12), 8) == list(range(8))) == (not seed)


Run = Callable[[int, bool], list[nbformat.NotebookNode]]
FORGET = "import os\nos.chdir({folder!r})\nimport sys\nsys.path[:] = {path!r}\n%reset -f"


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Runs a notebook, untouched or solved, and gives its cells.

    In one kernel, which forgets all names before each notebook: of its own each would import torch anew.
    """
    together = nbformat.v4.new_notebook()
    together.cells = [nbformat.v4.new_code_cell("import json, sys\nprint(json.dumps(sys.path))")]
    client = Client(together, timeout=CELL_TIMEOUT, kernel_name="python3", allow_errors=True)

    def runs(number: int, solved: bool) -> list[nbformat.NotebookNode]:
        notebook = sources.source(number) if solved else load(student(number))
        cells = list(nbformat.reads(json.dumps(notebook), as_version=4).cells)
        forget = nbformat.v4.new_code_cell(FORGET.format(folder=str(student(number).parent), path=found))
        for cell in (forget, *cells):
            together.cells.append(cell)
            client.execute_cell(cell, len(together.cells) - 1)
        assert not forget.outputs
        return cells

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(sources.ROOT), prepend=os.pathsep)  # for the hidden checks
        with client.setup_kernel():
            client.execute_cell(together.cells[0], 0)
            found = json.loads(together.cells[0].outputs[0].text)
            yield runs


@pytest.mark.parametrize(
    ("number", "solved"),
    [
        pytest.param(number, solved, marks=[pytest.mark.release] * (number == 6 and solved))  # it trains a model
        for number in NUMBERS
        for solved in (False, True)
    ],
)
def test_it_runs_from_top_to_bottom(number: int, solved: bool, run: Run) -> None:
    code = [cell for cell in run(number, solved) if cell.cell_type == "code"]
    errors = [output.evalue for cell in code for output in cell.outputs if output.output_type == "error"]
    assert errors == []
    assert all(cell.execution_count for cell in code)
    given = assignment(number)
    texts = {cell["id"]: "".join(output.get("text", "") for output in cell.outputs) for cell in code}
    for one in given.questions:
        text = texts[f"{one.name}-check"]
        words = f"{one.points} of {one.points} points on the public checks" if solved else "not answered yet"
        assert words in text
        assert "✗" not in text
