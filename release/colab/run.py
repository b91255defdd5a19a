"""Run chapters and assignments as in Google Colab: its versions, an empty folder, posenc installed by the first cell.

    python -m release.colab.run [--torch VERSION] [NOTEBOOK …]

All of them, if none is named. The environment is made in _build/colab with the Python that runs this. The repository
needs no address for it: git is told to take the address that the first cell names from a copy of this clone. Every
cell must run, and print what is stored where something is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools import address
from tools.execute import NOTEBOOKS, ROOT, execute, read
from tools.notebooks import is_shown

URL = "https://github.com/example-owner/turn-by-turn"
TORCH = "2.11.0"  # Colab's in August 2026
PLACE = ROOT / "_build" / "colab"
KERNEL = "simulated-colab"
IDENTITY = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]


def environment(torch: str) -> Path:
    """The Python of an environment with Colab's versions and without posenc."""
    python = PLACE / "environment" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    requirements = Path(__file__).with_name("requirements.txt")
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--requirement", requirements, f"torch=={torch}"], check=True)
    subprocess.run([*pip, "uninstall", "--quiet", "--yes", "posenc", "posenc-lab"], check=True)
    return python


def copy_files(folder: Path) -> None:
    """Copy the files of this repository, as they are now, into a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def addressed_copy(folder: Path) -> list[Path]:
    """Commit the files of this repository as they are now, with an address set, in a folder; what that changed."""
    copy_files(folder)
    changed = address.set_address(folder, URL)
    for command in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"], ["commit", "-qm", "All"]):
        subprocess.run(["git", *IDENTITY, *command], cwd=folder, check=True)
    return changed


def install_kernel(python: Path, repository: Path) -> None:
    """Make the environment a kernel of Jupyter's, in which git finds the repository under its address."""
    folder = PLACE / "jupyter" / "kernels" / KERNEL
    folder.mkdir(parents=True, exist_ok=True)
    specification = {
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Simulated Colab",
        "language": "python",
        "env": {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{repository.as_uri()}.insteadOf",
            "GIT_CONFIG_VALUE_0": URL,
            "PYTHONPATH": "",
        },
    }
    (folder / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    os.environ["JUPYTER_PATH"] = str(PLACE / "jupyter")


def printed(cell: dict[str, object]) -> str:
    """The text of a code cell's outputs that are stored."""
    outputs = [output for output in cell["outputs"] if not is_shown(output)]
    texts = (output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)
    return "".join(texts)


def differences(executed: dict[str, object], stored: dict[str, object]) -> list[str]:
    """The ids of the cells that print something else than what is stored; the first one may say what pip says.

    An assignment stores nothing: there it is enough that every cell runs.
    """
    pairs = [(one, other) for one, other in zip(executed["cells"], stored["cells"], strict=True) if "outputs" in other]
    if not any(printed(other) for _, other in pairs):
        return []
    return [one["id"] for one, other in pairs[1:] if printed(one) != printed(other)]


def run(notebook: Path, repository: Path, python: Path) -> list[str]:
    """What went wrong in one notebook, run in an empty folder."""
    subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "posenc", "posenc-lab"], check=True)
    with tempfile.TemporaryDirectory() as empty:
        copy = Path(empty) / notebook.name
        shutil.copy2(repository / notebook.relative_to(ROOT), copy)
        execution = execute(copy, KERNEL)
    if execution.error:
        return [execution.error]
    return [f"cell {name} prints something else" for name in differences(execution.notebook, read(notebook))]


def main() -> None:
    """Run what is named, say what went wrong, and fail if anything did."""
    parser = argparse.ArgumentParser(prog="python -m release.colab.run", description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    parser.add_argument("--torch", default=TORCH, metavar="VERSION", help=f"{TORCH} if it is not said")
    arguments = parser.parse_args()
    notebooks = [path.resolve() for path in arguments.notebooks] or sorted(NOTEBOOKS.rglob("*.ipynb"))
    python = environment(arguments.torch)
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        repository = Path(temporary) / "turn-by-turn"
        addressed_copy(repository)
        install_kernel(python, repository)
        for notebook in notebooks:
            start = time.perf_counter()
            problems = run(notebook, repository, python)
            print(f"{notebook.name}: {time.perf_counter() - start:.0f} s{', FAILED' if problems else ''}", flush=True)
            for problem in problems:
                print(problem, flush=True)
            failed += bool(problems)
    print(f"{len(notebooks) - failed} of {len(notebooks)} notebooks ran as stored")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
