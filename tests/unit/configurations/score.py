"""Which bug reports the doctor names; test_reports.py counts them."""

import json
import re
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


def by_words(report: dict[str, Any]) -> bool:
    """Whether a finding has one of the words that a report lists."""
    findings = diagnose(report["configuration"]).findings
    told = " ".join(f"{one.key} {one.text}" for one in findings).lower()
    return any(word.lower() in told for word in report["words"])
