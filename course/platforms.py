"""Grades in the forms that learning platforms read, for those on the roster; what a platform gave goes back unchanged.

Where the forms were looked up:
- Canvas: the importer itself, `lib/gradebook_importer.rb` of github.com/instructure/canvas-lms. It asks for Student,
  ID, SIS User ID, SIS Login ID and Section in this order, knows an assignment by `title (number)` or by its title,
  takes points from the row Points Possible, and a student by ID, SIS User ID, SIS Login ID or name, what fits first.
- Moodle, gradebook: docs.moodle.org/311/en/Grade_import. One chooses in a form which column is the address or the ID
  number, and which one the grade; addresses must agree to the letter.
- Moodle, assignment: the importer itself, `mod/assign/feedback/offline/importgradeslib.php` of github.com/moodle/
  moodle, which needs Identifier, Grade and Last modified (grade) of the worksheet that one has downloaded.
- Gradescope: the headings of its own export of grades, as tests of public repositories that read it have them. We know
  of no import of grades there: this one is for programs that read that export. Its roster, which we read, is told of
  in guides.gradescope.com, "Adding Students and Staff".
"""

from __future__ import annotations

from datetime import timedelta

from course.grade import Report
from course.question import Assignment
from course.roster import Person, Roster
from course.words import no_formula, visible

Table = list[list[str]]
Grades = list[tuple[Person, Report]]
WORKSHEET = {"Identifier", "Grade", "Last modified (grade)"}


def grade_of(report: Report) -> str:
    """The points; nothing while a question waits for a reader, since an empty cell changes nothing on a platform."""
    return "" if report.waiting else f"{report.points:g}"


def told(report: Report) -> str:
    """The points by question, and what was odd, in a line."""
    points = [
        f"{question.name}: {report.points_of(question.name):g} of {question.points}"
        for question in report.assignment.graded
        if question.name in report.earned
    ]
    problem = no_formula(visible(report.submission.problem))
    return problem or f"{', '.join(points)}. {report.late}".strip()


def canvas(grades: Grades, assignment: Assignment, column: str) -> Table:
    """Canvas's gradebook."""
    table = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column],
        ["    Points Possible", "", "", "", "", str(assignment.points)],
    ]
    for person, report in grades:
        known = (person.known.get(name, "") for name in ("name", "canvas", "number", "login", "section"))
        table.append([*known, grade_of(report)])
    return table


def moodle(grades: Grades, column: str) -> Table:
    """Moodle's import of grades from CSV."""
    table = [["Full name", "ID number", "Email address", column]]
    for person, report in grades:
        table.append([*(person.known.get(name, "") for name in ("name", "number", "email")), grade_of(report)])
    return table


def worksheet(grades: Grades, columns: list[str]) -> Table:
    """Moodle's grading worksheet of an assignment, as it was downloaded, with grades and feedback."""
    table = [columns]
    for person, report in grades:
        row = {**person.row, "Grade": grade_of(report)}
        if "Feedback comments" in columns:
            row["Feedback comments"] = told(report)
        table.append([row[name] for name in columns])
    return table


def gradescope(grades: Grades, assignment: Assignment) -> Table:
    """Gradescope's export of an assignment's grades."""
    asked = [
        f"{number}: {question.title} ({question.points:.1f} pts)"
        for number, question in enumerate(assignment.graded, start=1)
    ]
    about = ["Name", "SID", "Email", "Sections", "Total Score", "Max Points", "Status", "Submission Time"]
    table = [[*about, "Lateness (H:M:S)", *asked]]
    for person, report in grades:
        absent = report.submission.problem
        status = "Missing" if absent else "Ungraded" if report.waiting else "Graded"
        points = {name: f"{report.points_of(name):g}" for name in report.earned}
        late = max(report.lateness, timedelta(0)) // timedelta(seconds=1)
        lateness = f"{late // 3600:02}:{late // 60 % 60:02}:{late % 60:02}"
        table.append(
            [*(person.known.get(name, "") for name in ("name", "number", "email", "section"))]
            + ["" if absent else f"{report.points:g}", f"{assignment.points:.1f}", status]
            + ([f"{report.handed_in:%Y-%m-%d %H:%M:%S %z}", lateness] if report.handed_in else ["", ""])
            + ["" if absent else points.get(question.name, "") for question in assignment.graded]
        )
    return table


def forms(grades: Grades, assignment: Assignment, roster: Roster, column: str = "") -> dict[str, Table]:
    """The tables by their file's name, in the roster's order: those for which it knows who somebody is there."""
    grades = sorted(grades, key=lambda one: roster.people.index(one[0]))
    column = column or f"Assignment {assignment.number}: {assignment.title}"
    known = {name for person in roster.people for name in person.known}
    made = {"gradescope.csv": gradescope(grades, assignment)}
    if known & {"canvas", "number", "login"}:
        made["canvas.csv"] = canvas(grades, assignment, column)
    if known & {"email", "number"}:
        made["moodle.csv"] = moodle(grades, column)
    if set(roster.columns) >= WORKSHEET:
        made["moodle_worksheet.csv"] = worksheet(grades, roster.columns)
    return made
