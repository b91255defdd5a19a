"""The assignments' sources, and the student versions and the public checks' recordings that follow from them.

    python -m course.sources [NUMBER …]     write notebooks/assignments/ and src/posenc_lab/recorded/, of all
                                            assignments or of some, and prove that nothing is given away

A source is a notebook with nbgrader's metadata (schema 3): solutions between its markers, hidden checks between
theirs. The student version has neither, and nothing else is changed.
"""

from __future__ import annotations

import argparse
import copy
import re
import sys
from typing import Any

from course import question, recorded
from course.grade import NUMBERS, ROOT, STUDENT, assignment, imports_of, student
from course.question import PRIVATE, Question, source
from course.submission import source_of
from posenc.check._alone import namespace
from posenc.check._question import Result, stand_in
from tools.notebooks import dump

SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION[ \t]*$", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"\n?^### BEGIN HIDDEN TESTS\n(.*?)^### END HIDDEN TESTS[ \t]*$", re.MULTILINE | re.DOTALL)
PROSE_STUB = "YOUR ANSWER HERE"  # as nbgrader's own, which replaces such a cell whole
STUB = r"\1# YOUR CODE HERE\n\1raise NotImplementedError()"  # as nbgrader's own


def is_prose_answer(cell: dict[str, Any]) -> bool:
    """Whether a cell holds an answer in words; in a source, a model answer."""
    return cell["cell_type"] == "markdown" and "nbgrader" in cell["metadata"]


def student_version(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook without solutions, hidden checks and outputs."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook["cells"]:
        if is_prose_answer(cell):
            cell["source"] = [PROSE_STUB]
        elif cell["cell_type"] == "code":
            source = HIDDEN.sub("", SOLUTION.sub(STUB, source_of(cell)))
            cell |= {"source": source.splitlines(keepends=True), "outputs": [], "execution_count": None}
    return notebook


def secrets(source: dict[str, Any]) -> dict[str, set[str]]:
    """The lines of solutions, model answers and hidden checks, by the cell's name; short ones tell nothing."""
    found: dict[str, set[str]] = {}
    for cell in source["cells"]:
        text = source_of(cell)
        hidden = [match[group] for pattern, group in ((SOLUTION, 2), (HIDDEN, 1)) for match in pattern.finditer(text)]
        lines = {line.strip() for part in hidden + [text] * is_prose_answer(cell) for line in part.splitlines()}
        if telling := {line for line in lines if len(line) > 24}:
            found[cell["id"]] = telling
    return found


def given_away(source: dict[str, Any], student: dict[str, Any]) -> list[str]:
    """The lines of solutions and hidden checks that the student version still holds."""
    secret = {line for lines in secrets(source).values() for line in lines}
    kept = {line.strip() for cell in student["cells"] for line in source_of(cell).splitlines()}
    marks = {line for line in kept if line.startswith(("### BEGIN", "### END"))}
    return sorted((secret & kept) | marks)


def trial(notebook: dict[str, Any], number: int) -> list[tuple[Question, Result]]:
    """What our own notebook scores. It is ours, so it needs no sandbox."""
    cells = {cell["id"]: source_of(cell) for cell in notebook["cells"]}
    found = []
    for one in assignment(number).questions:
        names = namespace(one.allowed, imports_of(number))
        exec(compile(cells[one.name], "<answer 0>", "exec"), names)
        answers = one.suited({name: stand_in(names[name]) for name in one.names}, [cells[one.name]])
        found += [(one, one.grade_part(part, answers, "trial")) for part in one.parts]
    return found


def prove(number: int, student: dict[str, Any]) -> list[str]:
    """What is not as it should be: something given away, points for nothing, or a solution without all its points."""
    faults = [f"the student version gives away: {line}" for line in given_away(source(number), student)]
    for one, result in trial(student, number):
        if result.earned or result.answered:
            faults.append(f"untouched, {one.name} earns {result.earned}: {result.sentence}")
    for one, result in trial(source(number), number):
        if result.earned != result.part.points:
            faults.append(f"the solution of {one.name}, {result.part.title}: {result.sentence} {result.detail}")
    return faults


def main() -> None:
    """Write the recordings and the student versions, and prove them; exit 1 where a proof fails."""
    parser = argparse.ArgumentParser(prog="python -m course.sources", description=__doc__.partition("\n")[0])
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="from 1 to 6; all if none is named")
    parser.add_argument("--seed", metavar="NAME", help="write a variant with other numbers and inputs, and remember it")
    chosen = parser.parse_args()
    if chosen.seed is not None:
        question.SEED = chosen.seed  # before any question is read
        (PRIVATE / "seed").write_text(chosen.seed + "\n", encoding="utf-8")
    STUDENT.mkdir(parents=True, exist_ok=True)
    faults = []
    for number in chosen.numbers or NUMBERS:
        path, handout = student(number), student_version(source(number))
        path.write_text(dump(handout), encoding="utf-8")
        recorded.write(number, imports_of(number))
        found = prove(number, handout)
        faults += [f"{path.name}: {fault}" for fault in found]
        given = assignment(number)
        print(f"{path.relative_to(ROOT)}: {given.title}, {given.points} points: {'FAILED' if found else 'proved'}")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
