"""Every chapter's cells in a page, in order: which run, print what the notebook has stored, or need more.

    python -m tests.book.python [NAME …]

takes the built book (`make book`) and ends with a table, which also goes to _build/report/page.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from statistics import median

from playwright.sync_api import sync_playwright

from tests.book.python.cells import ROOT
from tests.book.python.chapters import chapters, try_chapter
from tests.book.site.browser import launch, require_site, serve

REPORT = ROOT / "_build" / "report" / "page.json"
LEAST = 0.92  # of the spines' cells, over the book, that are to run in the page


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.book.python", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="chapters, by the beginning of their names")
    wanted = tuple(parser.parse_args().names)
    rows: dict[str, dict[str, object]] = {}
    with serve(require_site()) as url, sync_playwright() as playwright, launch(playwright) as browser:
        for name in (name for name in chapters() if name.startswith(wanted or "")):
            rows[name] = try_chapter(browser, url, name)
            told = " ".join(f"{key} {value}" for key, value in rows[name].items() if key != "faults")
            print(f"{name}: {told}", flush=True)
    faults = [fault for row in rows.values() for fault in row["faults"]]  # type: ignore[attr-defined]
    numbered = [row for name, row in rows.items() if name[:2].isdigit()]
    run, counted = (sum(row[key] for row in numbered) for key in ("spine_run", "spine"))  # type: ignore[misc]
    print(f"of {counted} cells of the chapters' spines {run} run")
    waits = [row["ready_s"] for row in rows.values()]
    print(f"Python and NumPy are ready after {median(waits)} s, the median of {len(waits)} pages")  # type: ignore[type-var]
    if not wanted and run < LEAST * counted:
        faults.append(f"less than {LEAST} of the spines' cells run")
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print("\n".join(map(str, faults)))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
