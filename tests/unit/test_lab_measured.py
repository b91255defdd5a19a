"""posenc.lab.measured: results are found and spread over seeds; what is damaged is named."""

import json

import pytest

from posenc import lab
from posenc.lab.measured import benchmarks
from posenc.lab.tables import TABLES, as_text

RUN = "quick-order-rope_100-0"


def results_file(path, **changes):
    run = {"run": RUN, "profile": "quick", "task": "order", "scheme": "rope_100", "seed": 0, "causal": True}
    ask = {"run": RUN, "kind": "plain", "probe": "order", "length": 3, "loss": 0.5, "accuracy": 0.75}
    content = {"schema_version": 1, "runs": [run], "measurements": [ask, ask | {"length": 6}]} | changes
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_select_and_spread(tmp_path):
    found = lab.results(results_file(tmp_path / "results.json"))
    (one,) = found.select(scheme="rope_100", length=6)
    assert (one["loss"], one["seed"], one["task"]) == (0.5, 0, "order")
    assert found.select(scheme="none") == []
    assert found.over_seeds(length=3).by_seed == {0: 0.5}
    assert str(found.over_seeds("accuracy", length=3)) == "0.75 (0.75 to 0.75)"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ({"scheme": "none"}, "filters must leave one measurement per seed, got 0 of {'scheme': 'none'}"),
        ({"scheme": "rope_100"}, "filters must leave one measurement per seed, got 2 of"),
        ({"steps_more": 3}, "filters must name fields among accuracy, causal, .*task, got steps_more"),
        ({"metric": "perplexity", "length": 3}, r"metric must be one of \('loss', 'accuracy'\), got 'perplexity'"),
    ],
)
def test_questions_that_have_no_answer(tmp_path, ask, message):
    with pytest.raises(ValueError, match=message):
        lab.results(results_file(tmp_path / "results.json")).over_seeds(**ask)


def test_files_of_results_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        lab.results(tmp_path / "nowhere.json")
    (tmp_path / "cut.json").write_text('{"schema_version": 1, "runs": [')
    with pytest.raises(ValueError, match=r"cut\.json is not a complete JSON file: "):
        lab.results(tmp_path / "cut.json")
    for number, content in enumerate(([], {"schema_version": 2}, {"runs": []})):
        (tmp_path / f"{number}.json").write_text(json.dumps(content))
        with pytest.raises(ValueError, match=rf"{number}\.json must hold results of schema version 1"):
            lab.results(tmp_path / f"{number}.json")


def test_a_table_of_the_benchmarks_that_ship():
    heading, columns, *rows = as_text(TABLES[0], benchmarks()).splitlines()
    assert heading == TABLES[0].title
    assert rows
    assert all("±" in row for row in rows)
