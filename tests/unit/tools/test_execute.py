"""Executing a notebook: what a failure says, and what is measured."""

import sys
from pathlib import Path

import nbformat
import nbformat.v4 as v4
import pytest
from jupyter_cache.base import CacheBundleIn

from tools import execute
from tools.imports import Package


def notebook(folder: Path, *sources: str) -> Path:
    cells = [v4.new_code_cell(source, id=f"cell-{place}") for place, source in enumerate(sources, start=1)]
    path = folder / "a.ipynb"
    nbformat.write(v4.new_notebook(cells=cells), path)
    return path


def test_a_notebook_is_executed_in_its_own_folder_and_measured(tmp_path):
    result = execute.execute(notebook(tmp_path, "from pathlib import Path\nprint(Path.cwd().name)"))
    assert result.error == ""
    assert result.notebook.cells[0].outputs[0].text == f"{tmp_path.name}\n"
    assert result.notebook.cells[0].metadata == {}
    assert result.seconds > 0
    assert result.peak_mib is None if sys.platform == "win32" else result.peak_mib > 10


def test_a_failure_names_the_cell_and_the_error(tmp_path):
    error = execute.execute(notebook(tmp_path, "x = 1", "y = x / 0", "print('never')")).error
    assert error.startswith("cell 2 (id cell-2): ZeroDivisionError: division by zero\n    y = x / 0")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, and an empty cache."""
    folder = tmp_path / "p"
    folder.mkdir()
    for name in ("__init__", "used", "other"):
        (folder / f"{name}.py").write_text("x = 1")
    monkeypatch.setattr(execute, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(execute, "package", lambda: Package(folder))
    return folder


def test_what_another_execution_hangs_on(package, tmp_path, monkeypatch):
    def key(code="from p import used", text="", solution="1"):
        folded = f"<summary>Solution</summary>\n\n```python\n{solution}\n```"
        cells = [v4.new_code_cell("", id="stub", metadata={"tags": ["exercise"]}), v4.new_markdown_cell(folded)]
        cells += [v4.new_code_cell(code, id="check", metadata={"tags": ["check"]}), v4.new_markdown_cell(text)]
        return execute.key(v4.new_notebook(cells=cells))

    before = key()
    assert key(text="another") == before
    assert len({before, key(code="from p import used  # again"), key(solution="2")}) == 3
    (package / "other.py").write_text("x = 2")
    assert key() == before != key(solution="from p import other")
    (package / "used.py").write_text("x = 2")
    assert key() != before
    before = key()
    monkeypatch.setattr(execute, "version", lambda name: "0")
    assert key() != before


def test_what_older_code_gave_is_not_shown(package, tmp_path):
    path = notebook(tmp_path, "from p import used")
    with execute.open_cache() as cache:
        bundle = CacheBundleIn(
            execute.read(path), str(path), data={"key": execute.key(execute.read(path)), "tried": {}}
        )
        assert execute.drop_outdated(cache, [path]) == [path]
        cache.cache_notebook_bundle(bundle, check_validity=False)
        assert execute.drop_outdated(cache, [path]) == []
        assert execute.executed_file(path).is_file()
        assert execute.cached(path).cells[0].source == "from p import used"
        (package / "used.py").write_text("x = 2")
        for look in (execute.cached, execute.tried):
            with pytest.raises(LookupError, match=r"a\.ipynb is not executed as it stands: run `make book`"):
                look(path)
        assert execute.drop_outdated(cache, [path]) == [path]
        assert not execute.executed_file(path).exists()
