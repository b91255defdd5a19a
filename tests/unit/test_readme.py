"""What the pages in front of the book say of it is so: its version, in every place, and what the README counts."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import yaml

import posenc
from posenc.lab.measured import RESULTS, read_json, shipped_folder
from posenc.widgets import EXPLORABLES
from tools import environment, release

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OF_THE_PACKAGE = (ROOT / "src" / "posenc" / "README.md").read_text(encoding="utf-8")
WORDS = {3: "three", 6: "six", 8: "eight", 16: "sixteen", 23: "twenty-three"}


def test_every_place_that_names_the_version_names_this_one():
    version = release.version()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert posenc.__version__ == citation["version"] == version
    paths = [ROOT / "pyproject.toml", ROOT / "src" / "posenc_lab" / "pyproject.toml"]
    core, lab = (tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in paths)
    assert core["version"] == lab["version"] == version
    assert f"posenc-lab=={version}" in core["optional-dependencies"]["lab"]
    newest = re.search(r"(?m)^## (?!Unreleased)(.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[1]
    assert newest == f"{version} ({citation['date-released']})"
    assert f"Version {version}. " in README
    assert f", version {version}. " in (ROOT / "book" / "findings.md").read_text(encoding="utf-8")


def test_what_the_readme_counts_is_there():
    runs = read_json(shipped_folder() / RESULTS)["runs"]
    seeds = Counter((run["task"], run["scheme"]) for run in runs if run["profile"] == "full")
    counted = {
        "{} interactive figures": len(EXPLORABLES),
        "{} encodings, equal training budgets": len({scheme for _, scheme in seeds}),
        "{} seeds each": min(seeds.values()),
        "{} checkpoints": len([*shipped_folder().glob("*.safetensors")]),
        "{} assignments": len([*(ROOT / "notebooks" / "assignments").glob("*.ipynb")]),
    }
    told = " ".join(README.split()).lower()
    download = environment.DOWNLOAD["book"] + environment.DOWNLOAD["torch"]
    assert f"about {round(download, -1)} mb (including {environment.DOWNLOAD['torch']} mb for torch's cpu build" in told
    assert f"another {round(environment.DOWNLOAD['test'] + environment.DOWNLOAD['lab'], -1)} mb" in told
    chapters = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert re.findall(r"\(notebooks/(.+?)\)", README) == chapters
    assert [text for text, count in counted.items() if text.format(WORDS[count]) not in told] == []
    explorables = (ROOT / "book" / "explorables.md").read_text(encoding="utf-8")
    assert f"\n{WORDS[len(EXPLORABLES)].capitalize()} interactive figures." in explorables


def test_the_program_on_the_packages_own_page_prints_what_it_says(capsys):
    [program] = re.findall(r"^```python\n(.+?)^```$", OF_THE_PACKAGE, re.MULTILINE | re.DOTALL)
    exec(program, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.+\)  # (.+)$", program, re.MULTILINE)


def test_the_packages_own_page_lists_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert re.findall(r"`pip install \"posenc\[(\w+)\]\"`", OF_THE_PACKAGE) == [*project["optional-dependencies"]]
