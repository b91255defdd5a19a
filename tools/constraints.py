"""Print constraints.txt: every package of this environment, at its version.

Run it with the Python of an environment that has been brought up to date by
hand and in which every test passes:

    .venv/bin/python tools/constraints.py > constraints.txt

torch is left out, because requirements.txt pins it and builds of it differ by
machine. A version that some supported Python cannot take gets a marker, so that
pip is free to choose an older one there.
"""

from __future__ import annotations

from importlib.metadata import Distribution, distributions

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

LEFT_OUT = {"pip", "posenc", "setuptools", "torch", "wheel"}
SUPPORTED = ("3.11.0", "3.12.0", "3.13.0")
HEADER = """\
# Every package that requirements.txt brings in, at the version tested.
# Written by tools/constraints.py, which says how to make it anew.
"""


def pin(dist: Distribution) -> str:
    """The constraint for one distribution, with a marker where one is needed.

    >>> pin(next(d for d in distributions() if d.name == "numpy")).startswith("numpy==")
    True
    """
    line = f"{dist.name}=={dist.version.partition('+')[0]}"
    needs = dist.metadata.get("Requires-Python")
    if needs and not all(v in SpecifierSet(needs) for v in SUPPORTED):
        marker = " and ".join(
            f'python_full_version {clause.operator} "{clause.version}"' for clause in SpecifierSet(needs)
        )
        line += f"; {marker}"
    return line


def main() -> None:
    """Write the constraints of the running environment to standard output."""
    pins = {
        canonicalize_name(dist.name): pin(dist)
        for dist in distributions()
        if canonicalize_name(dist.name) not in LEFT_OUT
    }
    print(HEADER + "\n".join(pins[name] for name in sorted(pins)))


if __name__ == "__main__":
    main()
