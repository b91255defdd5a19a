"""The counts of bug reports that are published are those that are counted."""

import re
from pathlib import Path

import pytest

from tests.unit.configurations.score import REPORTS, by_words, naming, reports

ROOT = Path(__file__).resolve().parents[3]
SENTENCES = {
    "working": "they name the cause in all twenty",
    "held_out": "The other ten, held out and counted once, were all named too",
    "later": "named one at first and three now",
    "second": "they name nine",
    "third": "they named fourteen",
}


@pytest.mark.parametrize(
    ("folder", "label"),
    [
        ("working", "working"),
        ("held_out", "held out"),
        ("later", "later, by the rules of today"),
        ("second", "second, by the rules of today"),
        ("third", "third"),
    ],
)
def test_the_published_counts_are_those_counted(folder, label):
    told = [bool(naming(report)) for report in reports(folder).values()]
    readme = (REPORTS / "README.md").read_text(encoding="utf-8")
    [counted] = re.findall(rf"^\| {label}\b.*\| (\d+ of \d+) \|$", readme, re.MULTILINE)
    assert counted == f"{sum(told)} of {len(told)}"
    assert SENTENCES[folder] in (ROOT / "book" / "doctor.md").read_text(encoding="utf-8")


def test_the_count_by_words_alone_is_that_of_the_page():
    told = [by_words(report) for report in reports("third").values()]
    readme = (REPORTS / "README.md").read_text(encoding="utf-8")
    assert f"by words alone, {sum(told)} of {len(told)}" in " ".join(readme.split())
