"""How long the book takes to build, cold and with nothing changed, and what each chapter takes of it.

    python -m release.benchmarks.build

The book is built in a copy of the repository, from an empty execution cache, in this environment. Below it stand the
times of the last run of the tests here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from release.benchmarks.results import ROOT, load, save

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__", ".*_cache", ".hypothesis")


def build(folder: Path) -> float:
    """Seconds that one build takes."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tools.book"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Build twice, print, write _build/report/build.json."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "book"
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
        results: dict[str, object] = {"cold_seconds": build(folder), "unchanged_seconds": build(folder)}
        chapters = json.loads((folder / "_build" / "report" / "notebooks.json").read_text(encoding="utf-8"))
    results["chapters"] = chapters
    print(f"make book: cold {results['cold_seconds']:.0f} s, with nothing changed {results['unchanged_seconds']:.0f} s")
    print(f"{'chapter':52}{'seconds':>10}{'peak, MiB':>12}")
    for name, entry in chapters.items():
        print(f"{name:52}{entry['seconds']:10.1f}{entry['peak_mib']:12.0f}")
    tests = load("tests")
    if tests is None:
        print("No run of the tests has ended here yet, so there are no times of theirs.")
    else:
        print(f"{'tests, in their last run here':32}{'passed':>10}{'seconds of one core':>22}")
        for group, entry in tests["groups"].items():
            print(f"{group:32}{entry['passed']:10}{entry['seconds']:22.0f}")
    save("build", results)


if __name__ == "__main__":
    main()
