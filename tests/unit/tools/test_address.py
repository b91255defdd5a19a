"""The repository's address: set everywhere by one command, and true for a stranger's first two cells."""

import ast
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from release.colab.run import URL, addressed_copy
from tools import address
from tools.execute import ROOT, chapters
from tools.notebooks import joined, load


@pytest.mark.parametrize("wrong", ["github.com/a/b", "https://example.org/a/b", "https://github.com/a", "a b"])
def test_what_is_no_address_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match="must look like") as error:
        address.checked(wrong)
    assert repr(wrong) in str(error.value)


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
        [str(part) for part in command], cwd=cwd, env=os.environ | environment, capture_output=True, text=True
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
    run("git", "config", "pack.window", "0", cwd=folder)  # what git finds alike, it searches long for at every clone
    return folder


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


def packages(python: Path) -> set[tuple[str, str]]:
    """Every package of an environment with its version."""
    code = "from importlib.metadata import distributions as all; print([(one.name, one.version) for one in all()])"
    return set(ast.literal_eval(run(python, "-c", code, cwd=python.parent, PYTHONPATH="")))


def first_two_cells(path: Path) -> str:
    """The code with which a notebook begins."""
    cells = [cell for cell in load(path)["cells"] if cell["cell_type"] == "code"][:2]
    return "\n".join(joined(cell["source"]) for cell in cells)


@pytest.mark.release
@pytest.mark.torch
@pytest.mark.parametrize("name", {first_two_cells(path): path.name for path in chapters()}.values())
def test_the_first_two_cells_install_posenc_from_the_address_and_nothing_else(name, clone, tmp_path):
    """In an empty folder, with no index to ask: so nothing is pinned, replaced or fetched. Each beginning once."""
    python = strangers_environment(tmp_path / "environment")
    empty = tmp_path / "empty"
    empty.mkdir()
    script = first_two_cells(clone / "notebooks" / name) + "\nimport posenc\nprint(posenc.__file__)\n"
    before = packages(python)
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
    after = packages(python)
    assert {name for name, version in after - before} == {"posenc", "posenc-lab"}
    assert before <= after
