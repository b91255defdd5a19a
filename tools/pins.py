"""Write requirements.txt and constraints.txt: what the dependency groups allow, at the versions of this environment.

To bring the book up to date, let pip take the newest versions that the ranges allow, then write down what it took:

    .venv/bin/python -m pip install --upgrade --upgrade-strategy eager $(.venv/bin/python tools/pins.py --ranges)
    .venv/bin/python tools/pins.py
    make test

requirements.txt pins what the group `book` names itself, constraints.txt all that any group brings in. torch is no
constraint, because builds of it differ by machine. A version that some supported Python cannot take gets a marker, so
that pip is free to choose an older one there.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = {"pip", "posenc", "setuptools", "torch", "wheel"}
SUPPORTED = ("3.11.0", "3.12.0", "3.13.0")
REQUIREMENTS = """\
# What `make book` needs, pinned: the group `book` of pyproject.toml. What that brings in is pinned in constraints.txt.
# tools/pins.py writes both.
"""
CONSTRAINTS = """\
# Every package that a dependency group of pyproject.toml brings in, at the version tested. Written by tools/pins.py.
"""


def number(dist: Distribution) -> str:
    """Its version, without the part that names a build: torch's 2.13.0+cpu is 2.13.0."""
    return dist.version.partition("+")[0]


def pinned(ranges: list[str], installed: dict[str, Distribution]) -> str:
    """A line for each range: its package at the installed version."""
    lines = []
    for entry in ranges:
        requirement = Requirement(entry)
        dist = installed.get(canonicalize_name(requirement.name))
        if dist is None or number(dist) not in requirement.specifier:
            version = f"version {number(dist)} is" if dist else "none is"
            sys.exit(f"pyproject.toml asks for {entry}, but {version} installed here")
        lines.append(f"{requirement.name}=={number(dist)}\n")
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
    """Write both files, or print the ranges of all groups."""
    parser = argparse.ArgumentParser(prog="python tools/pins.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--ranges", action="store_true", help="print what all groups ask for, for pip")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    if parser.parse_args().ranges:
        print(
            *sorted({entry.replace(" ", "") for group in groups.values() for entry in group if isinstance(entry, str)})
        )
        return
    installed = {canonicalize_name(dist.name): dist for dist in distributions()}
    (ROOT / "requirements.txt").write_text(REQUIREMENTS + pinned(groups["book"], installed), encoding="utf-8")
    constraints = [constraint(dist) for name, dist in sorted(installed.items()) if name not in LEFT_OUT]
    (ROOT / "constraints.txt").write_text(CONSTRAINTS + "\n".join(constraints) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
