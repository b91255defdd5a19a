"""The wheels, as pip would install them, on a Python that has NumPy and array-api-compat and nothing else."""

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.unit.test_layers import NUMPY_ALONE, WITH_DATA
from tools.release import build_wheels

pytestmark = pytest.mark.release
ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = ("posenc", "posenc_lab")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Each distribution in a folder of its own, from the wheels that a release has."""
    folder = tmp_path_factory.mktemp("wheels")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    found = {}
    for name, wheel in zip(DISTRIBUTIONS, build_wheels(ROOT, folder), strict=True):
        subprocess.run([*pip, "install", "--no-deps", "--target", folder / name, wheel], check=True)
        found[name] = wheel, folder / name
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
    wheel, folder = installed[name]
    files = {path for path in source.rglob("*") if path.is_file() and not {"__pycache__", "build"} & {*path.parts}}
    wanted = {path.relative_to(source) for path in files - apart if ".egg-info" not in str(path)}
    found = {path for path in (folder / name).rglob("*") if path.is_file()}
    found = {path.relative_to(folder / name) for path in found if path.suffix != ".pyc"}
    assert len(wanted) > 20
    assert found == wanted
    assert wheel.stat().st_size < megabytes * 1e6


def test_numpy_and_array_api_compat_are_enough_for_its_functions(installed, tmp_path):
    _, core = installed["posenc"]
    result = run(tmp_path, [core], *NUMPY_ALONE, "print(posenc.__version__, posenc.__file__)")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert (result.stdout, result.stderr) == (f"{version} {core / 'posenc' / '__init__.py'}\n", "")


def test_the_data_of_posenc_lab_is_read_without_torch(installed, tmp_path):
    lines = [
        *(f"import posenc.{module}" for module in WITH_DATA),
        "from posenc import lab",
        "print(lab.results().runs)",
    ]
    result = run(tmp_path, [folder for _, folder in installed.values()], *lines)
    assert (result.stdout[:2], result.stderr) == ("{'", "")
