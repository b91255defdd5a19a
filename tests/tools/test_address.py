"""The repository's address: set everywhere by one command, and true for a stranger's first two cells."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from tests.colab.run import URL, addressed_copy
from tools import address
from tools.execute import ROOT, cached, chapters
from tools.notebooks import joined, load

UNSET = 'repository:\n  url: ""\n  branch: main\n'


@pytest.mark.parametrize("written", [URL, URL + "/", URL + ".git", f" {URL}\n"])
def test_an_address_is_brought_to_its_plain_form(written):
    assert address.checked(written) == URL


@pytest.mark.parametrize("wrong", ["github.com/a/b", "https://example.org/a/b", "https://github.com/a", "a b"])
def test_what_is_no_address_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match="must look like") as error:
        address.checked(wrong)
    assert repr(wrong) in str(error.value)


def test_a_file_without_its_place_for_the_address_is_reported():
    with pytest.raises(ValueError, match="found 0"):
        address.config("title: a book\n", URL)


@pytest.mark.parametrize(
    ("edit", "name"),
    [(address.config, "_config.yml"), (address.readme, "README.md"), (address.citation, "CITATION.cff")]
    + [(address.project, "pyproject.toml")],
)
def test_setting_twice_is_setting_once_and_unsetting_restores(edit, name):
    text = (ROOT / name).read_text(encoding="utf-8")
    unset, once = edit(text, ""), edit(text, URL)
    assert URL in once
    assert edit(once, URL) == once
    assert edit(once, "") == unset
    assert URL not in unset


def test_files_in_the_repository_agree_on_the_address():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    url = config["repository"]["url"]
    for edit, name in ((address.readme, "README.md"), (address.citation, "CITATION.cff")):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert edit(text, url) == text, name


# --- a stranger's clone ------------------------------------------------------------------


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command printed; its output is shown if it fails."""
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A repository with the files of this one as they are now, and an address set and committed."""
    folder = tmp_path_factory.mktemp("clone") / "turn-by-turn"
    changed = addressed_copy(folder)
    assert {path.name for path in changed} >= {"_config.yml", "README.md", "CITATION.cff", "pyproject.toml"}
    assert set(address.notebooks(folder)) <= set(changed)
    return folder


def fill_cache(clone: Path) -> None:
    """Give the clone's execution cache what this one's holds.

    A first cell with an address is another cell for the cache, yet it does the
    same wherever posenc is found, so the chapters need not be run again.
    """
    for path in chapters():
        executed = copy.deepcopy(cached(path))
        for cell, source in zip(executed.cells, load(clone / "notebooks" / path.name)["cells"], strict=True):
            cell.source = joined(source["source"])
        (clone / "_executed").mkdir(exist_ok=True)
        text = json.dumps(executed, ensure_ascii=False)
        (clone / "_executed" / path.name).write_text(text, encoding="utf-8")
    code = """
from pathlib import Path
from jupyter_cache.base import CacheBundleIn
from tools import execute
with execute.open_cache() as cache:
    for path in Path("_executed").iterdir():
        bundle = CacheBundleIn(execute.read(path), str(path), data={"execution_seconds": 0.0})
        cache.cache_notebook_bundle(bundle, check_validity=False)
"""
    run(sys.executable, "-c", code, cwd=clone)
    shutil.rmtree(clone / "_executed")


@pytest.mark.torch
def test_every_chapters_page_has_its_colab_link(clone):
    fill_cache(clone)
    printed = run(sys.executable, "-m", "tools.book", cwd=clone)
    assert "0 to execute" in printed
    for path in chapters():
        page = (clone / "_build/html/notebooks" / path.name).with_suffix(".html")
        link = f"https://colab.research.google.com/github/example-owner/turn-by-turn/blob/main/notebooks/{path.name}"
        assert f'href="{link}"' in page.read_text(encoding="utf-8")


@pytest.mark.torch
def test_without_an_address_no_page_offers_a_launch():
    url = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    pages = list((ROOT / "_build/html").glob("*/*.html"))
    assert pages, "run `make book` first"
    assert url or not any("colab.research" in page.read_text(encoding="utf-8") for page in pages)


def strangers_environment(folder: Path) -> Path:
    """An environment that has every package of this one but posenc; the path of its Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    packages = folder / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("posenc", "__editable__")):
            (packages / entry.name).symlink_to(entry)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = Path(run(python, "-c", code, cwd=folder).strip())
    (own / "packages.pth").write_text(f"{packages}\n", encoding="utf-8")
    return python


def first_two_cells(path: Path) -> str:
    """The code with which a notebook begins."""
    cells = [cell for cell in load(path)["cells"] if cell["cell_type"] == "code"][:2]
    return "\n".join(joined(cell["source"]) for cell in cells)


@pytest.mark.torch
@pytest.mark.parametrize("name", {first_two_cells(path): path.name for path in chapters()}.values())
def test_the_first_two_cells_install_posenc_from_the_address_and_nothing_else(name, clone, tmp_path):
    """In an empty folder, with no index to ask: so nothing is pinned, replaced or fetched. Each beginning once."""
    python = strangers_environment(tmp_path / "environment")
    empty = tmp_path / "empty"
    empty.mkdir()
    script = first_two_cells(clone / "notebooks" / name) + "\nimport posenc\nprint(posenc.__file__)\n"
    freeze = ["-m", "pip", "--disable-pip-version-check", "freeze", "--all"]
    before = set(run(python, *freeze, cwd=empty).splitlines())
    printed = run(
        python,
        "-c",
        script,
        cwd=empty,
        PIP_NO_INDEX="1",
        PIP_CONFIG_FILE=os.devnull,
        # pip reads this one as the option's value: 0 is "no build isolation", so setuptools is not fetched.
        PIP_NO_BUILD_ISOLATION="0",
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0=f"url.{clone.as_uri()}.insteadOf",
        GIT_CONFIG_VALUE_0=URL,
        PYTHONPATH="",
    )
    assert Path(printed.splitlines()[-1]).is_relative_to(tmp_path / "environment" / "lib")
    after = set(run(python, *freeze, cwd=empty).splitlines())
    assert {line.partition(" ")[0] for line in after - before} == {"posenc"}
    assert before <= after
