"""Execute the chapters, two at a time, into the execution cache.

    python -m tools.execute            what the cache does not hold as it stands
    python -m tools.execute FILE …     these notebooks, and store their text outputs in them

The cache finds a notebook by its code cells. Beside what executing it gave stands a key: of these cells, of those files
of the package that they depend on (tools/imports.py), and of versions. With another key it is executed anew. In the
state that the last cell leaves, its exercises and sliders are tried out (tools/smoke_exercises.py). Seconds and peak
memory of each go to _build/report/notebooks.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache as remembered
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.cache.db import NbCacheRecord
from jupyter_client.client import KernelClient
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellTimeoutError, DeadKernelError
from nbclient.util import run_sync
from traitlets.config import Config

from tools import smoke_exercises
from tools.imports import Package
from tools.notebooks import TABLE, as_printed, clean, dump, in_one

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
REPORT = ROOT / "_build" / "report"
CACHE = ROOT / "_build" / ".jupyter_cache"
AT_ONCE = 2
CELL_TIMEOUT = 120
MOST_KEPT = 100  # executed notebooks; those looked at longest ago go first
# Packages whose version can change what a notebook prints or draws.
VERSIONED = ("anywidget", "array-api-compat", "ipywidgets", "numpy", "plotly", "scipy", "torch")


@dataclass
class Execution:
    """What executing one notebook gave."""

    notebook: nbformat.NotebookNode
    seconds: float
    peak_mib: float | None
    error: str = ""
    tried: dict[str, Any] = field(default_factory=dict)


def chapters() -> list[Path]:
    """The chapters' notebooks, in the order of their names."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def read(path: Path) -> nbformat.NotebookNode:
    """The notebook at ``path``."""
    return nbformat.read(path, as_version=4)


def peak_of_children() -> float | None:
    """Peak memory in MiB of the largest ended child process; ``None`` on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def explain(error: Exception, cell: nbformat.NotebookNode, number: int) -> str:
    """Say which cell failed, how, and what it holds."""
    output = next((o for o in cell.outputs if o.output_type == "error"), None)
    what = f"{output.ename}: {output.evalue}" if output else str(error).strip()
    if isinstance(error, CellTimeoutError):
        what = f"took longer than {CELL_TIMEOUT} s"
    trace = "\n".join(output.traceback) if output else ""
    trace = re.sub(r"\x1b\[[0-9;]*m", "", trace)
    source = "\n".join(f"    {line}" for line in cell.source.splitlines())
    return f"cell {number} (id {cell.get('id', '?')}): {what}\n{source}\n{trace}".rstrip()


def asking_often(get_message: Callable[..., Awaitable[dict]]) -> Callable[..., Awaitable[dict]]:
    """`get_message` that looks for a message every second, instead of waiting once until it is told of one.

    Now and then zmq does not tell of a message that is there; asked with no time to wait, it looks.
    """

    async def ask(timeout: float | None = None) -> dict:
        end = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            with suppress(Empty):
                return await get_message(timeout=0)
            left = end - time.monotonic()
            if left <= 0:
                raise Empty
            with suppress(Empty):
                return await get_message(timeout=min(1.0, left))

    return ask


class Client(NotebookClient):
    """nbclient's, with channels that are asked often."""

    async def async_start_new_kernel_client(self) -> KernelClient:
        client = await super().async_start_new_kernel_client()
        for channel in (client.shell_channel, client.iopub_channel):
            channel.get_msg = asking_often(channel.get_msg)
        return client

    start_new_kernel_client = run_sync(async_start_new_kernel_client)  # nbclient's own would start nbclient's


# Else each kernel warns that whoever can listen on this machine can read along.
ENCRYPTED = Config({"KernelManager": {"transport_encryption": "auto"}})
# In the kernel, before a notebook's first cell: a page shows tables as HTML.
WITH_TABLES = f"""\
import posenc.tables as _tables
_tables.show = lambda text, html: display({{"text/plain": text, {TABLE!r}: html}}, raw=True)"""
TRY_OUT = """\
import sys
_tables.show = None
sys.path.insert(0, {root!r})
from tools.smoke_exercises import try_out
import json
print(json.dumps(try_out(globals(), {exercises!r})))
"""


def execute(path: Path, kernel_name: str = "python3", tries: bool = False) -> Execution:
    """Execute the notebook at ``path`` in its own folder, by the kernel of a name; try out what it asks, if told to.

    Run it in a process of its own: the memory is that of the process's largest
    child, which is then the kernel.
    """
    notebook = read(path)
    if tries:  # a cell more, which goes again
        source = TRY_OUT.format(root=str(ROOT), exercises=smoke_exercises.exercises(notebook.cells))
        notebook.cells.append(nbformat.v4.new_code_cell(source))
    current = {"cell": None, "number": 0}

    def started(cell: nbformat.NotebookNode, cell_index: int) -> None:
        current.update(cell=cell, number=cell_index + 1)

    client = Client(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name=kernel_name,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=started,
        config=ENCRYPTED,
        extra_arguments=[f"--IPKernelApp.code_to_run={WITH_TABLES}"],
        record_timing=False,  # timings in the cells would make them others than the source's
    )
    error = ""
    start = time.perf_counter()
    try:
        client.execute()
    except (CellControlSignal, DeadKernelError) as problem:
        error = explain(problem, current["cell"], current["number"])
    seconds = round(time.perf_counter() - start, 2)
    tried = {}
    if tries:
        last = notebook.cells.pop()
        if not error:
            printed = "".join(output.text for output in last.outputs if output.get("name") == "stdout")
            tried = json.loads(printed)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = in_one(cell.outputs)  # else what a cell prints slowly falls into several boxes
    return Execution(notebook, seconds, peak_of_children(), error, tried)


# ---- the cache ------------------------------------------------------------------------------------------------------


def versions() -> list[str]:
    """The versions of Python and of the packages that can change what a notebook gives."""
    lines = [platform.python_version()]
    for name in VERSIONED:
        try:
            lines.append(f"{name}={version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} is absent")
    return lines


@remembered
def package() -> Package:
    """The package as it is when this process first looks."""
    return Package()


def key(notebook: nbformat.NotebookNode) -> str:
    """What executing a notebook hangs on: its code, its exercises, what of the package they import, and versions."""
    exercises = smoke_exercises.exercises(notebook.cells)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    solutions = [exercise["solution"] or "" for exercise in exercises]
    digest = hashlib.sha256(json.dumps([versions(), code, exercises]).encode())
    digest.update(Path(smoke_exercises.__file__).read_bytes())
    for path in package().files("\n".join([*code, *solutions])):
        digest.update(f"{path.relative_to(package().folder.parent).as_posix()} {package().digest(path)}\n".encode())
    return digest.hexdigest()


@contextmanager
def open_cache() -> Iterator[JupyterCacheAbstract]:
    """The execution cache."""
    CACHE.mkdir(parents=True, exist_ok=True)
    cache = get_cache(str(CACHE))
    try:
        yield cache
    finally:
        cache.db.dispose()  # else its connection stays open, which Python 3.13 warns of


def record_of(cache: JupyterCacheAbstract, path: Path) -> NbCacheRecord | None:
    """The record of executing ``path`` as it and the package stand; None if there is none."""
    notebook = read(path)
    try:
        record = cache.match_cache_notebook(notebook)
    except KeyError:
        return None
    return record if record.data.get("key") == key(notebook) else None


def cached(path: Path) -> nbformat.NotebookNode:
    """The executed notebook of ``path``, tables as text; ``LookupError`` if it has to be executed first."""
    with open_cache() as cache:
        if record_of(cache, path) is None:
            raise LookupError(f"{path.name} is not executed as it stands: run `make book`")
        notebook = cache.merge_match_into_notebook(read(path))[1]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = in_one(map(as_printed, cell.outputs))
    return notebook


def tried(path: Path) -> dict[str, Any]:
    """What trying out the exercises and sliders of ``path`` gave; ``LookupError`` if that has to be done first."""
    with open_cache() as cache:
        record = record_of(cache, path)
    if record is None:
        raise LookupError(f"{path.name} is not executed as it stands: run `make book`")
    return record.data["tried"]


def executed_file(path: Path) -> Path:
    """Where the cache keeps, or will keep, what the code cells of ``path`` gave: a new file after each execution."""
    with open_cache() as cache:
        _, hashkey = cache.create_hashed_notebook(read(path))
    return CACHE / "executed" / hashkey / "base.ipynb"


def drop_outdated(cache: JupyterCacheAbstract, paths: list[Path]) -> list[Path]:
    """Remove what the cache holds of notebooks with another key, which would be shown; return all that it lacks."""
    missing = [path for path in paths if record_of(cache, path) is None]
    for path in missing:
        with suppress(KeyError):
            cache.remove_cache(cache.match_cache_notebook(read(path)).pk)
    return missing


# ---- all chapters ---------------------------------------------------------------------------------------------------


def prepared() -> BaseContext:
    """How to start processes: copies of one that has imported this module, where the system can make copies."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["tools.execute"])
    return context


def execute_all(cache: JupyterCacheAbstract, paths: list[Path]) -> dict[str, str]:
    """Execute what the cache does not hold; return the errors by notebook."""
    cache.change_cache_limit(MOST_KEPT)
    missing = drop_outdated(cache, paths)
    here = len(paths) - len(missing)
    print(f"Notebooks: {len(missing)} to execute, {here} executed already.", flush=True)
    errors = {}
    keys = {path: key(read(path)) for path in missing}  # before they run: what is changed meanwhile counts as changed
    # A process for each notebook, so that each has its own kernel and its own peak of memory.
    with ProcessPoolExecutor(AT_ONCE, prepared(), max_tasks_per_child=1) as pool:
        running = {}
        for path in reversed(missing):  # later chapters take longer, and no process is to be left with one at the end
            running[pool.submit(execute, path, tries=True)] = path
        for future in as_completed(running):
            path, result = running[future], future.result()
            if result.error:
                errors[path.name] = result.error
                print(f"  {path.name}: failed after {result.seconds:.1f} s", flush=True)
                continue
            data = {"execution_seconds": result.seconds, "peak_mib": result.peak_mib, "tried": result.tried}
            data["key"] = keys[path]
            cache.cache_notebook_bundle(
                CacheBundleIn(result.notebook, str(path), data=data),
                check_validity=False,
                overwrite=True,
            )
            memory = "" if result.peak_mib is None else f", {result.peak_mib:.0f} MiB"
            print(f"  {path.name}: {result.seconds:.1f} s{memory}", flush=True)
    return errors


def write_report(cache: JupyterCacheAbstract, paths: list[Path]) -> None:
    """Write seconds and peak memory of every executed notebook."""
    report = {}
    for path in paths:
        data = cache.match_cache_notebook(read(path)).data
        report[path.name] = {
            "seconds": data["execution_seconds"],
            "peak_mib": data.get("peak_mib"),
        }
    REPORT.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=2) + "\n"
    (REPORT / "notebooks.json").write_text(text, encoding="utf-8")


def store_outputs(path: Path) -> None:
    """Execute a notebook and store its text outputs in it."""
    result = execute(path)
    if result.error:
        sys.exit(f"{path.name}, {result.error}")
    print(f"{path.name}: executed in {result.seconds:.1f} s", flush=True)
    path.write_text(dump(clean(result.notebook)), encoding="utf-8")


def main(paths: list[Path] | None = None) -> None:
    """Execute every chapter, or those of these paths, that the cache does not hold; exit 1 if one fails."""
    paths = chapters() if paths is None else paths
    # With two notebooks at once, torch's further threads would only wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with open_cache() as cache:
        errors = execute_all(cache, paths)
        if not errors:
            write_report(cache, paths)
    for name, error in errors.items():
        print(f"\n{name}, {error}", file=sys.stderr)
    if errors:
        sys.exit(f"\n{len(errors)} of {len(paths)} notebooks failed: {', '.join(errors)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.execute", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="FILE", help="store text outputs in these")
    if notebooks := parser.parse_args().notebooks:
        for notebook in notebooks:
            store_outputs(notebook)
    else:
        main()
