"""Every benchmark, one after the other, each in a process of its own; tables as they come, then one JSON file.

    python -m release.benchmarks [NAME …]

writes _build/report/benchmarks.json: the machine, its versions, and what each benchmark saved. Nothing else should
run on the machine meanwhile.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from release.benchmarks.results import REPORT, ROOT, load, machine, save

NAMES = ("explorables", "site", "rotary", "flex")


def main() -> None:
    """Run the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m release.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none is named")
    names = parser.parse_args().names or NAMES
    for name in names:
        if name not in NAMES:
            parser.error(f"there is no benchmark {name!r}: there are {', '.join(NAMES)}")
    here = machine()
    print(f"{here['processor']}, {here['cores']} cores, {here['system']}, Python {here['python']}")
    print(", ".join(f"{name} {version}" for name, version in here["versions"].items()))
    for name in names:
        print(f"\n== {name}", flush=True)
        if status := subprocess.call([sys.executable, "-m", f"release.benchmarks.{name}"], cwd=ROOT):
            sys.exit(f"the benchmark {name} ended with status {status}")
    save("benchmarks", {"machine": here} | {name: load(name) for name in names})
    print(f"\nAll of it is in {REPORT / 'benchmarks.json'}")


if __name__ == "__main__":
    main()
