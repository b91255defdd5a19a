"""The claims and what decides them.

`load_manifest` reads the files of manifest/. `evaluate` computes, for one claim, whether it holds as it is said,
whether its core holds (under a condition, or in a weaker reading that the manifest's note names), and the figure that
shows it; the functions that do so lie in decided/, one named after each claim. The claims page prints the same figure
that the test judges.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[1] / "notebooks"
CHAPTERS = {
    "01": "Attention from scratch",
    "02": "The blind spot",
    "03": "What a position code must do, and the codes that almost do it",
    "04": "Sinusoids",
    "05": "RoPE by matrices",
    "06": "RoPE by complex numbers, and why it is nearly forced",
    "07": "Many dimensions, and code that runs",
    "08": "Multi-frequency decay",
    "09": "Why extrapolation fails",
    "10": "Longer contexts",
    "11": "RoPE in real models",
    "12": "What survives the projections",
    "13": "Learned positions, and none at all",
    "14": "Biases on the logits",
    "15": "Every scheme measured",
}
VERDICTS = ("TRUE", "COND", "MISL", "FALSE", "UNTESTED")
KINDS = ("executable", "misprint", "literature", "untestable")


@dataclass(frozen=True)
class Evidence:
    """What was computed for a claim; `as_said` and `core` are None where no computation here can decide it."""

    as_said: bool | None = None
    core: bool | None = None
    figure: str = ""

    @property
    def verdicts(self) -> set[str]:
        """The verdicts that this evidence allows."""
        if self.as_said is None:
            return set()
        if self.as_said:
            return {"TRUE"}
        return {"COND", "MISL"} if self.core else {"FALSE"}


@dataclass(frozen=True)
class Claim:
    """One row of the manifest."""

    id: str
    sentence: str
    source: tuple[str, ...]
    verdict: str
    kind: str
    note: str
    chapter: str
    section: str  # an anchor in the chapter's notebook
    torch: bool = False  # whether torch is needed to decide it

    @property
    def title(self) -> str:
        """The chapter's number and title."""
        return f"{self.chapter} {CHAPTERS[self.chapter]}"

    @property
    def link(self) -> str:
        """Where the claim is told, from the root of the website."""
        [page] = NOTEBOOKS.glob(f"{self.chapter}_*.ipynb")
        return f"notebooks/{page.stem}.html#{self.section}"


@cache
def load_manifest() -> tuple[Claim, ...]:
    """Every claim of manifest/, in the order of the ids."""
    claims = []
    for path in sorted(HERE.glob("manifest/*.toml")):
        for claim_id, row in tomllib.loads(path.read_text(encoding="utf-8")).items():
            claims.append(Claim(id=claim_id, **(row | {"source": tuple(row["source"])})))
    return tuple(sorted(claims, key=lambda claim: claim.id))


@cache
def evaluate(claim_id: str) -> Evidence:
    """The evidence for a claim; empty for one that rests on others' measurements or on a misprint alone."""
    for path in sorted(HERE.glob("decided/*.py")):
        import_module(f"decided.{path.stem}")
    return _FUNCTIONS.get(claim_id, Evidence)()


def decides(function: Callable[[], Evidence]) -> Callable[[], Evidence]:
    """Register a function as what decides the claim that it is named after."""
    if function.__name__ in _FUNCTIONS:
        raise ValueError(f"{function.__name__} is decided twice")
    _FUNCTIONS[function.__name__] = function
    return function


_FUNCTIONS: dict[str, Callable[[], Evidence]] = {}
