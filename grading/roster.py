"""The class: who is on the roster, by what names platforms know them, and when they handed in."""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from grading.submission import Submission
from grading.words import name_shown, visible

ABSENT = "Nothing was handed in."
# What a column is called: in the gradebook that Canvas exports, in Moodle's grading worksheet and its lists,
# in Gradescope's roster and grades, and in a table of one's own.
HEADINGS = {
    "name": ("student", "full name", "name", "student name"),
    "first": ("first name", "firstname", "given name"),
    "last": ("last name", "lastname", "surname", "family name"),
    "email": ("email address", "email", "e-mail"),
    "login": ("sis login id", "login id", "login", "username"),
    "number": ("sis user id", "id number", "sid", "student id"),
    "canvas": ("id",),
    "participant": ("identifier",),
    "section": ("section", "sections"),
    "free": ("free days",),
}
KNOWN_BY = ("login", "email", "number", "canvas", "participant", "name")  # the first is what a table calls somebody
FIELDS = {heading: name for name, headings in HEADINGS.items() for heading in headings}
TIME, FILE = ("time", "submission time"), "file"
# The name of a file that Canvas packs, and of a folder that Moodle packs: both hold the platform's own number.
CANVAS = re.compile(r"[^_]+(?:_LATE)?_(?P<id>\d+)_\d+_.+")
MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_\w*")


def rows_of(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and the rows of a table as spreadsheets write it: with , ; or tabs, in UTF-8 or UTF-16."""
    content = path.read_bytes()
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8 or UTF-16: save it as CSV in UTF-8") from None
    heading = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=heading.count))
    return list(reader.fieldnames or ()), list(reader)


def moment(text: str) -> datetime:
    """A point in time: `2026-03-01T23:59+01:00`; without an offset, by this machine's clock. Raises ValueError."""
    try:
        return datetime.fromisoformat(re.sub(r"\s+(?=[+-]\d\d:?\d\d$)", "", text.strip())).astimezone()
    except ValueError:
        raise ValueError(f"{text!r} is no time: write it as 2026-03-01T23:59+01:00") from None


def _same(text: str) -> str:
    """What two names have in common that are one."""
    return unicodedata.normalize("NFC", " ".join(text.split())).casefold()


@dataclass(frozen=True, eq=False)
class Person:
    """Somebody on the roster: what is known of them, by the names of `HEADINGS`, and the row as it was read."""

    known: Mapping[str, str]
    row: Mapping[str, str]

    @property
    def called(self) -> str:
        """What the table calls one who handed in nothing."""
        return next(self.known[name] for name in KNOWN_BY if name in self.known)

    @property
    def free_days(self) -> int | None:
        """Late days that are free for this one; None where all have the same."""
        return int(self.known["free"]) if "free" in self.known else None

    @property
    def keys(self) -> set[str]:
        """Whatever a file or a folder of theirs may be named."""
        keys = {self.known[name] for name in KNOWN_BY if name in self.known}
        last, comma, first = self.known.get("name", "").partition(",")
        if comma:  # as Canvas writes it
            keys.add(f"{first} {last}")
        keys.add(self.known.get("email", "").partition("@")[0])
        return {_same(key) for key in keys if key}


def known_of(row: Mapping[str, str]) -> dict[str, str]:
    """What a row tells of somebody, by the names of `HEADINGS`; empty cells tell nothing."""
    known = {FIELDS[_same(heading)]: (cell or "").strip() for heading, cell in row.items() if _same(heading) in FIELDS}
    known = {name: cell for name, cell in known.items() if cell}
    if "name" not in known and known.keys() & {"first", "last"}:
        known["name"] = " ".join(known[part] for part in ("first", "last") if part in known)
    return known


@dataclass
class Roster:
    """A class. `columns` are the headings of its table."""

    columns: list[str]
    people: list[Person]
    by_key: dict[str, list[Person]] = field(init=False)

    def __post_init__(self) -> None:
        """Find by every name who it may be."""
        self.by_key = defaultdict(list)
        for person in self.people:
            for key in person.keys:
                self.by_key[key].append(person)

    def fits(self, names: Iterable[str]) -> Person | None:
        """Whom the first of some names that fits anybody alone fits; None where there is none."""
        for name in names:
            if len(found := self.by_key.get(_same(name), [])) == 1:
                return found[0]
        return None

    def owner(self, student: str) -> Person | None:
        """Whose a folder or a file is, by its name: the platform's own number in it first."""
        last = student.rpartition("/")[2]
        names = [student, last]
        if packed := MOODLE.fullmatch(last):
            names = [f"Participant {packed['id']}", packed["name"], *names]
        elif packed := CANVAS.fullmatch(last):
            names = [packed["id"], *names]
        return self.fits(names)


def load(path: Path) -> Roster:
    """The roster in a table: Canvas's gradebook, Moodle's grading worksheet, Gradescope's roster, or one of your own.

    Raises ValueError where no column says who somebody is, or two rows are of one person.
    """
    columns, table = rows_of(path)
    if not {FIELDS.get(_same(column)) for column in columns} & {*KNOWN_BY, "first", "last"}:
        accepted = ", ".join(heading for name in ("name", "email", "login", "number") for heading in HEADINGS[name])
        raise ValueError(f"{path} has the columns {', '.join(columns)}: none of them says who somebody is ({accepted})")
    people: list[Person] = []
    lines: dict[tuple[str, str], int] = {}
    for line, row in enumerate(table, start=2):
        row = {heading: cell or "" for heading, cell in row.items() if isinstance(heading, str)}
        known = known_of(row)
        name = known.get("name", "")
        # rows of Canvas's that are no students: what may be earned, and the student that it makes for trials
        if name == "Points Possible" or (name == "Student, Test" and "number" not in known):
            continue
        if not known.keys() & {*KNOWN_BY}:
            continue
        if not known.get("free", "0").isdecimal():
            raise ValueError(f"{path}, line {line}: free days are a whole number: {known['free']!r}")
        for name in ("login", "email", "number", "canvas", "participant"):
            if name in known and lines.setdefault((name, _same(known[name])), line) != line:
                raise ValueError(
                    f"{path}, line {line}: {known[name]!r} stands in line {lines[name, _same(known[name])]}"
                )
        people.append(Person(known, row))
    if not people:
        raise ValueError(f"{path} names nobody")
    return Roster(columns, people)


def arrange(
    found: list[list[Submission]], roster: Roster, folder: Path
) -> list[tuple[Person | None, list[Submission]]]:
    """Whose every submission is, in the order of the folder; then those who handed in nothing; None is not on it."""
    theirs: dict[object, tuple[Person | None, list[Submission]]] = {}
    for group in found:
        person = roster.owner(group[0].student)
        _, held = theirs.setdefault(person or group[0].student, (person, []))
        for one in group:  # what lies in several places has one name
            one.student = held[0].student if held else one.student
            held.append(one)
    absent = [person for person in roster.people if person not in theirs]
    nothing = [(person, [Submission(name_shown(person.called), folder, problem=ABSENT)]) for person in absent]
    return [*theirs.values(), *nothing]


@dataclass
class Times:
    """When something was handed in, by file and by student."""

    files: dict[str, datetime] = field(default_factory=dict)
    students: dict[str, datetime] = field(default_factory=dict)

    def of(self, one: Submission, folder: Path) -> datetime | None:
        """When a notebook was handed in; None where nothing says so."""
        return self.files.get(one.path.relative_to(folder).as_posix()) or self.students.get(one.student)


def handed_in(
    path: Path, found: list[tuple[Person | None, list[Submission]]], folder: Path, roster: Roster | None
) -> tuple[Times, list[str]]:
    """The times in a table, and whom or what it names that is not there. Raises ValueError for what cannot be read.

    A row has a time and a file, or a time and a student: by the name in the folder, or by any name on the roster.
    """
    columns, table = rows_of(path)
    time = next((column for column in columns if _same(column) in TIME), None)
    if time is None:
        raise ValueError(f"{path} has the columns {', '.join(columns)}: it needs the column time")
    file = next((column for column in columns if _same(column) == FILE), None)
    files = {one.path.relative_to(folder).as_posix() for _, theirs in found for one in theirs}
    students = {theirs[0].student: theirs[0].student for _, theirs in found}
    of_person = {id(person): theirs[0].student for person, theirs in found if person}
    times, unknown = Times(), []
    for line, row in enumerate(table, start=2):
        if not (row[time] or "").strip():
            continue
        try:
            when = moment(row[time])
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from None
        if file and (name := (row[file] or "").strip().replace("\\", "/").removeprefix("./")):
            if name in files:
                times.files[name] = when
            else:
                unknown.append(visible(name))
            continue
        known = known_of({heading: cell for heading, cell in row.items() if isinstance(heading, str)})
        named = [known[name] for name in KNOWN_BY if name in known]
        person = roster.fits(named) if roster else None
        student = of_person.get(id(person)) or next((students[name] for name in named if name in students), None)
        if student is None:
            unknown.append(visible(named[0]) if named else f"line {line}")
        else:
            times.students[student] = when
    return times, unknown


@dataclass(frozen=True)
class Deadline:
    """Until when, how many late days are free, and what each other one takes off, in percent of all points."""

    at: datetime
    free: int = 0
    price: float = 0.0

    def days_late(self, when: datetime) -> int:
        """Days of 24 hours that have begun since the deadline.

        >>> Deadline(moment("2026-03-01T12:00+00:00")).days_late(moment("2026-03-02T12:01+00:00"))
        2
        """
        return max(0, math.ceil((when - self.at) / timedelta(days=1)))

    def taken(self, when: datetime, points: int, free: int | None = None) -> tuple[float, str]:
        """The points that lateness takes off, and the note that says so; `free` is this student's own."""
        days, free = self.days_late(when), self.free if free is None else free
        if not days:
            return 0.0, ""
        taken = min(1.0, max(0, days - free) * self.price / 100) * points
        spared = f", {min(days, free)} of them free" if free else ""
        handed = f"Handed in {when.isoformat(sep=' ', timespec='minutes')}"
        return taken, f"{handed}: {days} {'day' if days == 1 else 'days'} late{spared}, {taken:g} points taken off."
