"""The wheels, as pip would install them, on a Python that has NumPy and array-api-compat and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from email.message import Message
from email.parser import Parser
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.unit.test_layers import NUMPY_ALONE, WITH_DATA
from tools.release import build_wheels

pytestmark = pytest.mark.release
ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = ("posenc", "posenc_lab")


class Installed(NamedTuple):
    """A wheel and the folder that it was installed into."""

    wheel: Path
    folder: Path

    @property
    def metadata(self) -> Message:
        """What a package index shows of it."""
        [path] = self.folder.glob("*.dist-info/METADATA")
        return Parser().parsestr(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Each distribution in a folder of its own, from the wheels that a release has."""
    folder = tmp_path_factory.mktemp("wheels")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    found = {}
    for name, wheel in zip(DISTRIBUTIONS, build_wheels(ROOT, folder), strict=True):
        subprocess.run([*pip, "install", "--no-deps", "--target", folder / name, wheel], check=True)
        found[name] = Installed(wheel, folder / name)
    return found


def run(tmp_path: Path, folders: list[Path], *lines: str) -> subprocess.CompletedProcess[str]:
    """Some lines in a Python that has these folders, NumPy and array-api-compat."""
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for name in ("numpy", "array_api_compat"):
        (libraries / name).symlink_to(Path(find_spec(name).origin).parent)
    (libraries / "numpy.libs").symlink_to(Path(find_spec("numpy").origin).parents[2] / "numpy.libs")
    script = "\n".join([f"import sys; sys.path[:0] = {[*map(str, folders), str(libraries)]}", *lines])
    return subprocess.run([sys.executable, "-I", "-S", "-W", "error", "-c", script], capture_output=True, text=True)


@pytest.mark.parametrize(("name", "megabytes"), [("posenc", 0.7), ("posenc_lab", 17)])
def test_it_holds_every_file_of_its_package_and_no_other(installed, name, megabytes):
    source = ROOT / "src" / name
    apart = {source / "README.md", source / "LICENSE", source / "pyproject.toml"}
    files = {path for path in source.rglob("*") if path.is_file() and not {"__pycache__", "build"} & {*path.parts}}
    wanted = {path.relative_to(source) for path in files - apart if ".egg-info" not in str(path)}
    found = {path for path in (installed[name].folder / name).rglob("*") if path.is_file()}
    found = {path.relative_to(installed[name].folder / name) for path in found if path.suffix != ".pyc"}
    assert len(wanted) > 20
    assert found == wanted
    assert installed[name].wheel.stat().st_size < megabytes * 1e6


@pytest.mark.parametrize(
    ("name", "licence", "texts"),
    [
        ("posenc", "MIT", {"LICENSE"}),
        ("posenc_lab", "MIT AND PSF-2.0", {"LICENSE", "data/frozen_text_licence.txt"}),
    ],
)
def test_its_page_on_a_package_index_is_about_itself(installed, name, licence, texts):
    metadata = installed[name].metadata
    assert metadata["License-Expression"] == licence
    assert set(metadata.get_all("License-File")) == texts
    [licences] = installed[name].folder.glob("*.dist-info/licenses")
    assert all((licences / text).is_file() for text in texts)
    assert metadata["Author"] == "The Turn by Turn authors"
    assert metadata.get_payload().startswith(f"# {name.replace('_', '-')}\n")
    assert not [line for line in metadata.get_payload().splitlines() if "](" in line and "](https://" not in line]


def test_numpy_and_array_api_compat_are_enough_for_its_functions(installed, tmp_path):
    core = installed["posenc"].folder
    result = run(tmp_path, [core], *NUMPY_ALONE, "print(posenc.__version__, posenc.__file__)")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert (result.stdout, result.stderr) == (f"{version} {core / 'posenc' / '__init__.py'}\n", "")


def test_the_data_of_posenc_lab_is_read_without_torch(installed, tmp_path):
    lines = [
        *(f"import posenc.{module}" for module in WITH_DATA),
        "from posenc import lab",
        "print(lab.results().runs)",
    ]
    result = run(tmp_path, [one.folder for one in installed.values()], *lines)
    assert (result.stdout[:2], result.stderr) == ("{'", "")
