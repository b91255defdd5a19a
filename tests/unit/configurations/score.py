"""How many bug reports the doctor names: `python -m tests.unit.configurations.score working` (or `held_out`)."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from posenc.doctor import Finding, diagnose

REPORTS = Path(__file__).with_name("reports")


def reports(folder: str) -> dict[str, dict[str, Any]]:
    """The reports of a folder, by the names of their files."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((REPORTS / folder).glob("*.json"))}


def naming(report: dict[str, Any]) -> list[Finding]:
    """The findings that name what a report is about, as reports/README.md defines it."""
    expected, found = report["expected"], diagnose(report["configuration"], report.get("length")).findings
    return [
        one
        for one in found
        if one.key in expected["key"] and one.level in expected["levels"] and re.search(expected["says"], one.text)
    ]


def main() -> None:
    """Print each report with what names it, and how many are named."""
    told = {name: naming(report) for name, report in reports(sys.argv[1]).items()}
    for name, findings in told.items():
        print(f"{name}: {', '.join(one.rule for one in findings) or 'not named'}")
    print(f"{sum(map(bool, told.values()))} of {len(told)} named rightly")


if __name__ == "__main__":
    main()
