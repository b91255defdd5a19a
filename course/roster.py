"""The class: who is on the roster, by what names platforms know them, and when they handed in."""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # it has no types of its own

from course.submission import Submission
from course.words import name_shown, visible

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
# What Gradescope packs: folders such as submission_123456, and this file, which says of each whose it is. It documents
# the form nowhere that we know of. Folders, submitters and names are as `otter/grade/metadata.py` reads them, of
# github.com/ucbds-infra/otter-grader; numbers and addresses as other public programs do.
METADATA = "submission_metadata.yml"
SUBMITTER = {":name": "name", ":sid": "number", ":email": "email"}
BEFORE_AT = "before @"  # of an address: what somebody may also be called by
csv.field_size_limit(2**31 - 1)  # a student's text may stand in a worksheet of Moodle's, however long


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
    def keys(self) -> set[tuple[str, str]]:
        """Whatever a file or a folder of theirs may be named, each with what that is."""
        keys = {(name, self.known[name]) for name in KNOWN_BY if name in self.known}
        last, comma, first = self.known.get("name", "").partition(",")
        if comma:  # as Canvas writes it
            keys.add(("name", f"{first} {last}"))
        keys.add((BEFORE_AT, self.known.get("email", "").partition("@")[0]))
        return {(kind, _same(key)) for kind, key in keys if key}


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
    by_key: dict[tuple[str, str], list[Person]] = field(init=False)

    def __post_init__(self) -> None:
        """Find by every name who it may be."""
        self.by_key = defaultdict(list)
        for person in self.people:
            for key in person.keys:
                self.by_key[key].append(person)

    def fits(self, name: str, *kinds: str) -> Person | None:
        """Whom a name fits alone; None where it fits nobody, or several. `kinds` says as what, if not as anything.

        A login comes before what others may call themselves: nobody is in the way who takes another one's as a name.
        """
        for kind in kinds or (*KNOWN_BY[:-1], BEFORE_AT, "name"):
            if found := self.by_key.get((kind, _same(name))):
                return found[0] if len(found) == 1 else None
        return None

    def person(self, known: Mapping[str, str]) -> Person | None:
        """Of whom a row of another table tells: each cell as what it is, and then as anything."""
        names = [(known[kind], kind) for kind in KNOWN_BY if kind in known]
        found = [self.fits(name, kind) for name, kind in names] + [self.fits(name) for name, _ in names]
        return next(filter(None, found), None)

    def owner(self, student: str) -> Person | None:
        """Whose a folder or a file is, by its name: the platform's own number in it first.

        The outermost folder that tells of anybody decides. A platform has named it, or you have; a student may have
        named what is within.
        """
        for part in student.split("/"):
            if packed := MOODLE.fullmatch(part):
                numbered = self.fits(f"Participant {packed['id']}", "participant")
                return numbered or self.fits(packed["name"], "name") or self.fits(part)
            if packed := CANVAS.fullmatch(part):
                return self.fits(packed["id"], "canvas") or self.fits(part)
            if person := self.fits(part):
                return person
        return None


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
        if "number" not in known and (name == "Student, Test" or (name == "Points Possible" and len(known) == 1)):
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
    """Whose every submission is, in the order of the folder; then those who handed in nothing; None is not on it.

    What several have handed in together, as Gradescope allows, is each one's.
    """
    packed = gradescope(folder)
    theirs: dict[object, tuple[Person | None, list[Submission]]] = {}
    for group in found:
        student = group[0].student
        handed_in_by = packed.get(student.partition("/")[0])
        if handed_in_by is None:
            owners = [roster.owner(student)]
        else:
            owners = [person for known in handed_in_by if (person := roster.person(known))] or [None]
        for person in owners:
            _, held = theirs.setdefault(person or student, (person, []))
            own = name_shown(person.called) if person and handed_in_by else student
            name = held[0].student if held else own  # what lies in several places has one name
            held += [replace(one, student=name, notes=[*one.notes], hints={**one.hints}) for one in group]
    absent = [person for person in roster.people if person not in theirs]
    nothing = [(person, [Submission(name_shown(person.called), folder, problem=ABSENT)]) for person in absent]
    return [*theirs.values(), *nothing]


def _submitter(told: Mapping[str, Any]) -> dict[str, str]:
    """What Gradescope tells of somebody, by the names of `HEADINGS`."""
    return {name: str(told[key]) for key, name in SUBMITTER.items() if told.get(key) not in (None, "")}


def gradescope(folder: Path) -> dict[str, list[dict[str, str]]]:
    """What Gradescope says of those who handed in each folder that it packed; nothing where it has packed none.

    Raises ValueError where its file is not as it writes it.
    """
    path = folder / METADATA
    if not path.is_file():
        return {}
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the file holds the outputs of all tests, too
    try:
        packed = yaml.load(path.read_text(encoding="utf-8"), loader)
        return {name: [_submitter(one) for one in told[":submitters"]] for name, told in packed.items()}
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not as Gradescope writes it ({type(error).__name__})") from None


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
        person = roster.person(known) if roster else None
        student = of_person.get(id(person)) or next((students[name] for name in named if name in students), None)
        if student is None:
            unknown.append(visible(named[0]) if named else f"line {line}")
        else:
            times.students[student] = when
    return times, unknown


def used_before(
    records: Iterable[Mapping[str, Any]], number: int, at: datetime, roster: Roster
) -> tuple[Counter[Person], set[str]]:
    """The free days that each one has used for the assignments that were due before a time, and who is not known.

    Of several records of an assignment the newest that names somebody counts, so that a regrade adds nothing.
    """
    days: dict[tuple[int, Person], int] = {}
    strangers: set[str] = set()
    for record in sorted(records, key=lambda record: str(record.get("time"))):
        due, which = record.get("deadline"), record.get("assignment")
        if not due or not isinstance(which, int) or which == number or moment(due) >= at:
            continue
        for name, used in record.get("free_days", {}).items():
            if person := roster.fits(name):
                days[which, person] = used
            elif used:
                strangers.add(name)
    used_by: Counter[Person] = Counter()
    for (_, person), used in days.items():
        used_by[person] += used
    return used_by, strangers


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

    def taken(self, when: datetime, points: int, free: int | None = None, term: bool = False) -> tuple[float, str, int]:
        """The points that lateness takes off, the note that says so, and the free days that were used.

        `free` is how many this student has. With `term` the note says how many are left for the term.
        """
        days, free = self.days_late(when), self.free if free is None else free
        if not days:
            return 0.0, "", 0
        used = min(days, free)
        taken = min(1.0, (days - used) * self.price / 100) * points
        spared = f", {used} of them free" if free or term else ""
        handed = f"Handed in {when.isoformat(sep=' ', timespec='minutes')}"
        note = f"{handed}: {days} {'day' if days == 1 else 'days'} late{spared}, {taken:g} points taken off."
        return taken, note + (f" Free days left for the term: {free - used}." if term else ""), used
