"""The cleaner: text outputs stay, everything else goes."""

import pytest

from tools.notebooks import clean, text_of


def code(identity: str, outputs: list[dict], count: int | None = 7, **metadata) -> dict:
    return {
        "cell_type": "code",
        "id": identity,
        "metadata": metadata,
        "source": "x",
        "execution_count": count,
        "outputs": outputs,
    }


def stream(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": text}


def result(**data: str) -> dict:
    data = {mime.replace("_", "/"): text for mime, text in data.items()}
    return {"output_type": "execute_result", "metadata": {"a": 1}, "execution_count": 7, "data": data}


def notebook(*cells: dict) -> dict:
    metadata = {"kernelspec": {"name": "other"}, "widgets": {"a": 1}, "description": "About x."}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 2}


def test_text_stays_and_figures_go():
    figure = result(text_plain="Figure()", image_png="iVBOR")
    cleaned = clean(notebook(code("a", [stream("1\n"), figure, result(text_plain="2")])))
    [cell] = cleaned["cells"]
    assert text_of(cell) == "1\n\n2"
    assert [output["output_type"] for output in cell["outputs"]] == ["stream", "execute_result"]
    assert cell["outputs"][1] == {**result(text_plain="2"), "metadata": {}, "execution_count": 1}


def test_pieces_of_a_stream_become_one():
    [cell] = clean(notebook(code("a", [stream("1\n2"), stream("3\n"), stream("4", "stderr")])))["cells"]
    assert [output["text"] for output in cell["outputs"]] == [["1\n", "23\n"], ["4"]]


def test_counts_ids_and_metadata_are_put_in_order():
    dirty = [code("a", [], 3, tags=["check"], execution={"t": 1}), code("a", [], None), code("", [], 9)]
    cleaned = clean(notebook(*dirty))
    assert [cell["execution_count"] for cell in cleaned["cells"]] == [1, None, 2]
    assert [cell["id"] for cell in cleaned["cells"]] == ["a", "cell-2", "cell-3"]
    assert cleaned["cells"][0]["metadata"] == {"tags": ["check"]}
    assert set(cleaned["metadata"]) == {"kernelspec", "language_info", "description"}
    assert cleaned["metadata"]["kernelspec"]["name"] == "python3"


@pytest.mark.parametrize("tags", [[], ["raises-exception"]])
def test_an_error_stays_only_where_it_is_meant(tags):
    error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["long"]}
    [cell] = clean(notebook(code("a", [error], tags=tags)))["cells"]
    assert cell["outputs"] == ([{**error, "traceback": []}] if tags else [])
