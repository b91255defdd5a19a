"""The book's Sphinx extension: live explorables, Plotly figures from JSON, and no request to another host.

Everything that needs Sphinx is imported inside `setup`.
"""

from __future__ import annotations

import hashlib
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from book._site import words
from tools import execute, pseudo

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[2]

# In this order their hooks run.
PARTS = (
    *("patches", "outputs.render"),
    *("reference.directives", "reference.map", "pages.numbers", "reference.package"),
    *("reference.glossary", "reference.terms"),
    *("pages.translate", "pages.predict", "pages.details", "pages.cite", "pages.head"),
    *("python.in_page", "outputs.assets", "pages.search_index"),
)

# What of the package a directive shows: explorables name themselves, the map and the reference note what they read,
# and claims are computed by book/claims.
COMPUTED = {"doctor": "from posenc import doctor\ndoctor"}


def _own_version() -> int:
    """A number that changes with the extension's sources and words, so that Sphinx reads every page again."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for path in sorted([*here.rglob("*.py"), *here.rglob("words.json")]):
        digest.update(words.file(path.relative_to(here).as_posix()).read_bytes())
    return int(digest.hexdigest()[:12], 16)


def configure(app: Sphinx, config: Config) -> None:
    """Name the execution cache; launch buttons and edit links need the address of the book's repository."""
    config.nb_execution_cache_path = str(execute.CACHE)
    if config.language == pseudo.LANGUAGE:
        pseudo.mark_theme(app)
    options = config.html_theme_options
    options["use_edit_page_button"] = bool(options.get("repository_url"))
    if not options.get("repository_url"):
        options.pop("launch_buttons", None)


def note_inputs(app: Sphinx, doctree: nodes.document) -> None:
    """Have a page read anew when what it shows of the package has changed, executed or computed by a directive."""
    path = Path(app.env.doc2path(app.env.docname))
    if path in execute.chapters():
        app.env.note_dependency(str(execute.executed_file(path)))
    elif path.suffix == ".md":
        text = path.read_text(encoding="utf-8")
        code = [f"from posenc.widgets import {name}" for name in re.findall(r"\{(?:explorable|living)\} *(\w+)", text)]
        code += re.findall(r"(?s)```\{plot\}\n(.*?)```", text)
        code += [statement for directive, statement in COMPUTED.items() if f"{{{directive}}}" in text]
        if re.search(r"\{claims\}", text):
            code += [source.read_text(encoding="utf-8") for source in (ROOT / "book" / "claims").rglob("*.py")]
        for source in {file for one in code for file in execute.package().files(one)}:
            app.env.note_dependency(str(source))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("config-inited", configure)
    app.connect("doctree-read", note_inputs)
    for name in PARTS:
        import_module(f"book._site.{name}").setup(app)
    return {"env_version": _own_version()}
