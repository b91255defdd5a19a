"""Write requirements.txt and constraints.txt: what requirements.in allows, at the versions of this environment.

To bring the book up to date, let pip take the newest versions that the ranges allow, then write down what it took:

    .venv/bin/python -m pip install --upgrade --upgrade-strategy eager -r requirements.in
    .venv/bin/python tools/pins.py
    make test

requirements.txt pins what the book, its tests and its tools name themselves, constraints.txt what that brings in.
torch is no constraint, because builds of it differ by machine. A version that some supported Python cannot take gets
a marker, so that pip is free to choose an older one there.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = {"pip", "posenc", "setuptools", "torch", "wheel"}
SUPPORTED = ("3.11.0", "3.12.0", "3.13.0")
REQUIREMENTS = """\
# The direct dependencies of the book, its tests and its tools, pinned. What they need in turn is pinned in
# constraints.txt. Both are written by tools/pins.py from the ranges in requirements.in. The package posenc itself
# asks for less and pins nothing: see pyproject.toml.
"""
CONSTRAINTS = """\
# Every package that requirements.txt brings in, at the version tested. Written by tools/pins.py.
"""


def number(dist: Distribution) -> str:
    """Its version, without the part that names a build: torch's 2.13.0+cpu is 2.13.0."""
    return dist.version.partition("+")[0]


def pinned(ranges: str, installed: dict[str, Distribution]) -> str:
    """The text of requirements.in with each range replaced by the installed version; its first comment goes."""
    lines = []
    for line in re.sub(r"\A(#.*\n)+", "", ranges).splitlines():
        if line and not line.startswith("#"):
            wanted = Requirement(line)
            dist = installed.get(canonicalize_name(wanted.name))
            if dist is None or number(dist) not in wanted.specifier:
                found = f"version {number(dist)} is" if dist else "none is"
                sys.exit(f"requirements.in asks for {line}, but {found} installed here")
            line = f"{wanted.name}=={number(dist)}"
        lines.append(line + "\n")
    return "".join(lines)


def constraint(dist: Distribution) -> str:
    """The constraint for one distribution, with a marker where one is needed."""
    line = f"{dist.name}=={number(dist)}"
    needs = dist.metadata.get("Requires-Python")
    if needs and not all(v in SpecifierSet(needs) for v in SUPPORTED):
        marker = " and ".join(
            f'python_full_version {clause.operator} "{clause.version}"' for clause in SpecifierSet(needs)
        )
        line += f"; {marker}"
    return line


def main() -> None:
    """Write both files."""
    argparse.ArgumentParser(prog="python -m tools.pins", description=__doc__).parse_args()
    installed = {canonicalize_name(dist.name): dist for dist in distributions()}
    requirements = pinned((ROOT / "requirements.in").read_text(encoding="utf-8"), installed)
    (ROOT / "requirements.txt").write_text(REQUIREMENTS + requirements, encoding="utf-8")
    constraints = [constraint(dist) for name, dist in sorted(installed.items()) if name not in LEFT_OUT]
    (ROOT / "constraints.txt").write_text(CONSTRAINTS + "\n".join(constraints) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
