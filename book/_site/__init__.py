"""The book's Sphinx extension: live explorables, Plotly figures from JSON, and no request to another host.

`execution_cache` needs only the standard library, so that tools can ask for the path without Sphinx.
Everything that needs Sphinx is imported inside `setup`.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[2]

# Packages whose version can change what a notebook prints or draws.
VERSIONED = ("anywidget", "array-api-compat", "ipywidgets", "numpy", "plotly", "scipy", "torch")

# In this order their hooks run.
PARTS = (
    "outputs.render",
    *("reference.directives", "reference.map", "pages.numbers", "reference.package", "reference.bibliography"),
    *("reference.glossary", "pages.paths", "reference.snippets", "reference.backlinks", "reference.terms"),
    *("pages.predict", "pages.details", "pages.head", "python.in_page", "outputs.assets", "pages.search"),
    "pages.search_index",
)

PROCESSES = 2  # that read and write pages
# What does nothing while pages are read, and only does not say that several processes may read them: one numbers
# sections afterwards, the other serves LaTeX.
UNSAID = {"sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"}


def execution_cache(root: Path = ROOT) -> Path:
    """Folder of the execution cache: a new one whenever `src/posenc` or a relevant version changes.

    Jupyter's cache compares only a notebook's own cells, so it would show the output of old code.
    The students' checks count for nothing: no chapter uses them. Nor do scripts and styles: the pages bring their own.
    """
    digest = hashlib.sha256(platform.python_version().encode())
    for name in VERSIONED:
        try:
            found = version(name)
        except PackageNotFoundError:
            found = "absent"
        digest.update(f"{name}={found}\n".encode())
    package = root / "src" / "posenc"
    for path in sorted(package.rglob("*")):
        parts = set(path.relative_to(package).parts)
        if path.is_file() and path.suffix not in {".js", ".css"} and not {"__pycache__", "check"} & parts:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return root / "_build" / ".jupyter_cache" / digest.hexdigest()[:16]


def _own_version() -> int:
    """A number that changes with the extension's sources, so that Sphinx reads every page again."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return int(digest.hexdigest()[:12], 16)


def configure(app: Sphinx, config: Config) -> None:
    """Point the execution cache at today's code; drop launch buttons while the book has no address."""
    config.nb_execution_cache_path = str(execution_cache())
    options = config.html_theme_options
    if not options.get("repository_url"):
        options.pop("launch_buttons", None)


def use_processes(app: Sphinx, config: Config) -> None:
    """Have pages read and written by several processes, for which Jupyter Book's command has no option.

    They are copies of one that has loaded NumPy, which not every system's mathematics survives. What reads a page
    also executes it, if the cache does not hold it, and two processes cannot fill the cache at once: without a cache
    there is one process.
    """
    if sys.platform != "linux" or not execution_cache().exists():
        return
    from book._site.outputs import processes

    processes.use()
    app.parallel = max(app.parallel, PROCESSES)
    for name in UNSAID & app.extensions.keys():
        app.extensions[name].parallel_read_safe = True


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("config-inited", configure)
    app.connect("config-inited", use_processes)
    for name in PARTS:
        import_module(f"book._site.{name}").setup(app)
    return {"env_version": _own_version(), "parallel_read_safe": True, "parallel_write_safe": True}
