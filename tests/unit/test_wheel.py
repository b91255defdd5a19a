"""The wheel, as pip would install it, on a Python that has NumPy and array-api-compat and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.unit.test_layers import NUMPY_ALONE
from tools.release import build_wheel

pytestmark = pytest.mark.release
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package, from a wheel as a release has it."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = build_wheel(ROOT, folder)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", wheel], check=True)
    return folder / "site"


def test_it_holds_every_file_of_the_package(installed):
    files = {path.relative_to(ROOT / "src") for path in (ROOT / "src" / "posenc").rglob("*") if path.is_file()}
    wanted = {path for path in files if "__pycache__" not in path.parts}
    assert len(wanted) > 100
    assert {str(path) for path in wanted if not (installed / path).is_file()} == set()


def test_numpy_and_array_api_compat_are_enough_for_its_functions(installed, tmp_path):
    for name in ("numpy", "array_api_compat"):
        (tmp_path / name).symlink_to(Path(find_spec(name).origin).parent)
    (tmp_path / "numpy.libs").symlink_to(Path(find_spec("numpy").origin).parents[2] / "numpy.libs")
    script = [
        f"import sys; sys.path[:0] = {[str(installed), str(tmp_path)]}",
        *NUMPY_ALONE,
        "print(posenc.__version__, posenc.__file__)",
    ]
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", "\n".join(script)], capture_output=True, text=True
    )
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert (result.stdout, result.stderr) == (f"{version} {installed / 'posenc' / '__init__.py'}\n", "")
