"""The claims and what decides them.

`load_manifest` reads the files of manifest/. `evaluate` computes, for one claim, whether it holds as it is said, under
which of the conditions that were tried, or else whether a weaker reading holds, and the figure that shows it; the
functions that do so lie in decided/, one named after each claim. What they find allows one verdict and no other.
The claims page prints the same figure. `objection` is what the tests ask of a verdict, and `unnoticed` counts what
they would not see.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path

from tools.notebooks import heading, load

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[1] / "notebooks"
PAGES = {path.name[:2]: path for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))}
CHAPTERS = {number: heading(load(path)) for number, path in PAGES.items()}
VERDICTS = ("TRUE", "COND", "MISL", "FALSE", "UNTESTED")
KINDS = ("executable", "misprint", "literature", "untestable")
NOTES = ("000", "001", "002", "003", "004")
OURS = "ours"  # who says what no note says


@dataclass(frozen=True)
class Evidence:
    """What was computed for a claim; only a figure, or nothing, where no computation here can decide it.

    A sentence is tried as it is said, or as it is said under several conditions, each named in words; then `as_said`
    is not given. For one that does not hold, weaker readings are tried, which are named as well.
    """

    as_said: bool | None = None
    cases: Mapping[str, bool] = field(default_factory=dict)
    weaker: Mapping[str, bool] = field(default_factory=dict)
    figure: str = ""

    @property
    def verdict(self) -> str:
        """The one verdict that this evidence allows; empty where nothing was decided."""
        found = list(self.cases.values()) or [self.as_said]
        if found == [None]:
            return ""
        if all(found):
            return "TRUE"
        if any(found):
            return "COND"
        return "MISL" if any(self.weaker.values()) else "FALSE"

    @property
    def tried(self) -> str:
        """What was tried besides the bare sentence, and what became of it, as Markdown."""
        if self.cases:
            held, failed = (
                "; ".join(name for name, found in self.cases.items() if bool(found) is wanted)
                for wanted in (True, False)
            )
            return f"It holds {held}. It fails {failed}."
        readings = (("that holds", True), ("that fails too", False))
        return " ".join(
            f"A weaker reading {what}: {name}."
            for what, wanted in readings
            for name, found in self.weaker.items()
            if bool(found) is wanted
        )


@dataclass(frozen=True)
class Claim:
    """One row of the manifest."""

    id: str
    sentence: str
    verdict: str
    chapter: str  # where its subject is treated
    section: str = ""  # an anchor in the chapter's notebook; empty where the claim is told on the claims page only
    original: Mapping[str, str] = field(default_factory=dict)  # the notes' own words; empty for a claim of ours
    also: tuple[str, ...] = ()  # further numbers of the same claim
    kind: str = "executable"
    note: str = ""
    torch: bool = False  # whether torch is needed to decide it

    @property
    def ids(self) -> tuple[str, ...]:
        """All its numbers."""
        return (self.id, *self.also)

    @property
    def said_by(self) -> tuple[str, ...]:
        """The notes that make it, or `OURS`."""
        return tuple(self.original) or (OURS,)

    @property
    def title(self) -> str:
        """The chapter's number and title."""
        return f"{self.chapter} {CHAPTERS[self.chapter]}"

    @property
    def link(self) -> str:
        """Where the claim is told, from the root of the website; empty where no chapter does."""
        if not self.section:
            return ""
        return f"notebooks/{PAGES[self.chapter].stem}.html#{self.section}"


@cache
def load_manifest() -> tuple[Claim, ...]:
    """Every claim of manifest/, in the order of the ids."""
    claims = []
    for path in sorted(HERE.glob("manifest/*.toml")):
        for claim_id, row in tomllib.loads(path.read_text(encoding="utf-8")).items():
            claims.append(Claim(id=claim_id, **(row | {"also": tuple(row.get("also", ()))})))
    return tuple(sorted(claims, key=lambda claim: claim.id))


@cache
def evaluate(claim_id: str) -> Evidence:
    """The evidence for a claim; empty for one that rests on others' measurements or on a misprint alone."""
    return _functions().get(claim_id, Evidence)()


@cache
def _functions() -> dict[str, Callable[[], Evidence]]:
    """The functions of decided/ that are named after claims."""
    modules = [import_module(f"book.claims.decided.{path.stem}") for path in sorted(HERE.glob("decided/*.py"))]
    found = [pair for module in modules for pair in vars(module).items() if re.fullmatch(r"C\d{3}", pair[0])]
    assert len(found) == len(dict(found)), "a claim is decided twice"
    return dict(found)


def below(error: float, limit: float = 1e-12) -> str:
    """An error as figures print it: rounding noise, which differs between machines, only by what it stays below."""
    return (f"below {limit:.0e}" if error < limit else f"{error:.2f}").replace("e-0", "e-")


def listed(values: Iterable[float], digits: int = 3) -> str:
    """Numbers as figures print them."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


def objection(claim: Claim) -> str:
    """What speaks against a claim's verdict, as far as a test can see it; empty where nothing does."""
    if (claim.verdict == "UNTESTED") is not (claim.kind == "untestable"):
        return f"{claim.verdict} does not go with {claim.kind}"
    if claim.kind == "misprint" and claim.verdict != "FALSE":
        return "a formula is judged as it is printed"
    evidence = evaluate(claim.id)
    if claim.kind == "executable" and claim.verdict != evidence.verdict:
        return f"computed is {evidence.verdict}: {evidence.figure}. {evidence.tried}"
    return ""


def exchanges() -> list[Claim]:
    """Every claim with its verdict exchanged for each of the others."""
    return [replace(claim, verdict=other) for claim in load_manifest() for other in VERDICTS if other != claim.verdict]


def unnoticed() -> list[Claim]:
    """The exchanges to which nothing objects."""
    return [claim for claim in exchanges() if not objection(claim)]
