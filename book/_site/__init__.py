"""The book's Sphinx extension: live explorables, Plotly figures from JSON, and no request to another host.

Everything that needs Sphinx is imported inside `setup`.
"""

from __future__ import annotations

import hashlib
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools import execute

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[2]

# In this order their hooks run.
PARTS = (
    "outputs.render",
    *("reference.directives", "reference.map", "pages.numbers", "reference.package"),
    *("reference.glossary", "pages.paths", "reference.snippets", "reference.backlinks", "reference.terms"),
    *("pages.predict", "pages.details", "pages.head", "python.in_page", "outputs.assets", "pages.search"),
    "pages.search_index",
)

# What of the package a directive shows: explorables name themselves, the map and the reference note what they read,
# and claims are computed by book/claims.
COMPUTED = {"road": "from posenc.widgets import EXPLORABLES", "doctor": "from posenc import doctor\ndoctor"}
PROCESSES = 2  # that read and write pages
# What does nothing while pages are read, and only does not say that several processes may read them: one numbers
# sections afterwards, the other serves LaTeX.
UNSAID = {"sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"}


def _own_version() -> int:
    """A number that changes with the extension's sources, so that Sphinx reads every page again."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return int(digest.hexdigest()[:12], 16)


def configure(app: Sphinx, config: Config) -> None:
    """Name the execution cache; drop launch buttons while the book has no address."""
    config.nb_execution_cache_path = str(execute.CACHE)
    options = config.html_theme_options
    if not options.get("repository_url"):
        options.pop("launch_buttons", None)


def use_processes(app: Sphinx, config: Config) -> None:
    """Have pages read and written by several processes, for which Jupyter Book's command has no option.

    They are copies of one that has loaded NumPy, which not every system's mathematics survives. What reads a page
    also executes it, if the cache does not hold it, and two processes cannot fill the cache at once: then there is one
    process. What the cache holds of older code is removed first, so that no page shows it.
    """
    with execute.open_cache() as cache:
        missing = execute.drop_outdated(cache, execute.chapters())
    if sys.platform != "linux" or missing:
        return
    from book._site.outputs import processes

    processes.use()
    app.parallel = max(app.parallel, PROCESSES)
    for name in UNSAID & app.extensions.keys():
        app.extensions[name].parallel_read_safe = True


def note_inputs(app: Sphinx, doctree: nodes.document) -> None:
    """Have a page read anew when what it shows of the package has changed, executed or computed by a directive."""
    path = Path(app.env.doc2path(app.env.docname))
    if path in execute.chapters():
        app.env.note_dependency(str(execute.executed_file(path)))
    elif path.suffix == ".md":
        text = path.read_text(encoding="utf-8")
        code = [f"from posenc.widgets import {name}" for name in re.findall(r"\{explorable\} *(\w+)", text)]
        code += [statement for directive, statement in COMPUTED.items() if f"{{{directive}}}" in text]
        if re.search(r"\{claims(-kept)?\}", text):
            code += [source.read_text(encoding="utf-8") for source in (ROOT / "book" / "claims").rglob("*.py")]
        for source in {file for one in code for file in execute.package().files(one)}:
            app.env.note_dependency(str(source))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("config-inited", configure)
    app.connect("config-inited", use_processes)
    app.connect("doctree-read", note_inputs)
    for name in PARTS:
        import_module(f"book._site.{name}").setup(app)
    return {"env_version": _own_version(), "parallel_read_safe": True, "parallel_write_safe": True}
