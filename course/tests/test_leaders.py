"""The table of leaders: models by what they find past their trained length, and nothing for who did not compute it."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import course.__main__ as command
from course import leaders, sources
from course.grade import assignment, grade_question, packages
from course.private.bank import assignment_5 as bank
from course.private.questions.assignment_5 import q4
from course.sandbox import Limits, Worker

pytestmark = pytest.mark.torch
Run = Callable[..., None]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, with these words."""

    def command_line(*words: object) -> None:
        monkeypatch.setattr(sys, "argv", ["leaders", *map(str, words)])
        leaders.main()

    return command_line


def test_models_are_ranked_by_what_they_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "key").write_text("the same secret at every run of this test", encoding="utf-8")
    monkeypatch.setattr(command, "KEY", tmp_path / "key")
    folder, table = tmp_path / "submissions", tmp_path / "grades" / "leaders.csv"
    folder.mkdir()
    answers = {
        "=ada": bank.RIGHT["q4"]["attention written out"],
        "alan": bank.WRONG["q4"]["linear"][1],
        "eve": bank.WRONG["q4"]["looks the block up"][1],
    }
    notebook = sources.load(sources.STUDENT / "assignment_5.ipynb")
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "q4")
    for student, answer in answers.items():
        cell["source"] = answer
        (folder / f"{student}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    run(folder, "--texts", 4, "--seed", "one", "--output", table)
    printed = capsys.readouterr().out
    with table.open(newline="", encoding="utf-8") as file:
        first, second, third = csv.DictReader(file)
    assert [row["student"] for row in (first, second, third)] == ["'=ada", "alan", "eve"]
    assert [row["level with the first"] for row in (first, second, third)] == ["yes", "no", "no"]
    assert (first["note"], second["note"]) == ("", "")
    assert float(first["512 tokens"].split()[0]) > 0.7
    assert third["mean"] == "0.00 [0.00, 0.00]"
    for length in leaders.LENGTHS:
        assert f"{length}: the logits are not what the trained weights give" in third["note"]
    assert "The run's name: one" in printed
    assert [line.split()[1] for line in printed.splitlines()[1:4]] == ["'=ada", "alan", "eve"]


def test_a_table_for_a_class_has_the_names_that_the_pages_of_feedback_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "KEY", tmp_path / "key")
    folder, table = tmp_path / "submissions", tmp_path / "grades" / "leaders.csv"
    for name in ("S1", "S2"):
        (folder / name).mkdir(parents=True)
    (folder / "S1" / "ada.ipynb").write_bytes((sources.STUDENT / "assignment_5.ipynb").read_bytes())
    (folder / "S2" / "alan.pdf").touch()
    (tmp_path / "roster.csv").write_text("name,sid\nAda,S1\nAlan,S2\nGrace,S3\n", encoding="utf-8")
    words = (folder, "--roster", tmp_path / "roster.csv", "--output")
    run(*words, table, "--texts", 4, "--handles")
    text = table.read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["course", *map(str, words), str(tmp_path / "out")])
    command.main()
    assert "note" not in text
    for name in ("S1", "S2"):
        assert name not in text + capsys.readouterr().out.partition("The table:")[0]
        assert command.handle(name) in text
        page = (tmp_path / "out" / "feedback" / f"{name}.html").read_text(encoding="utf-8")
        assert f"without names this model is called {command.handle(name)}." in page
    assert len(text.splitlines()) == 3, "and none for who handed in nothing"


@pytest.mark.parametrize(
    ("words", "told"), [(("--texts", 3), "--texts 3: at least 4"), ((), "Not ranked. there is no notebook")]
)
def test_what_cannot_be_ranked_is_said(
    words: tuple[object, ...], told: str, tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(tmp_path, *words)
    assert told in f"{stopped.value}{capsys.readouterr().err}"


def test_the_model_may_take_four_times_as_long_and_no_longer() -> None:
    asked = replace(q4, parts=q4.parts[:1])
    with Worker(packages(assignment(5)), sources.imports_of(5), Limits(seconds=0.5)) as worker:
        (result,) = grade_question(worker, asked, ["def model(*given):\n    while True:\n        pass"], "a secret")
    assert result.sentence == "no answer within 2 s: is there a loop without an end?"
