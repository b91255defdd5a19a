"""What is replaced or undone of myst-nb and Sphinx, each with its reason and with when it can go.

Everything else on the Sphinx side uses what they offer: events, directives, configuration.
"""

from __future__ import annotations

from docutils import nodes
from myst_nb.core import render
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx

from book._site.outputs.render import OwnOutput, WidgetOutput


def add_renderers() -> None:
    """Put the book's renderers of outputs before those that myst-nb finds.

    Why: myst-nb 1.4 finds renderers by entry points of installed packages only, and a local extension has none.
    Until: myst-nb takes renderers from its configuration, or the Sphinx side becomes an installed package.
    """
    found = render.load_mime_renders
    render.load_mime_renders = lambda: [OwnOutput, WidgetOutput, *found()]


def forget_widget_states(app: Sphinx, doctree: nodes.document) -> None:
    """Take the widgets' states, each with its whole module, off the page.

    Why: myst-nb 1.4 writes them into every page with a widget, also if `nb_ipywidgets_js` names no script for them.
    Until: myst-nb leaves them out where there is no such script.
    """
    files = NbMetadataCollector.get_js_files(app.env, app.env.docname)
    for key in [key for key in files if key.startswith("ipywidgets")]:
        del files[key]


def free_tagged_equations(app: Sphinx, doctree: nodes.document) -> None:
    r"""Let an equation with a `\tag` stand as written.

    Why: Sphinx 7 puts an equation of several lines into a `split`, in which MathJax refuses a tag; notebooks number
    their equations by tags because that is what Colab knows.
    Until: MathJax takes a `\tag` within `split`, or Sphinx writes no `split` around an environment.
    """
    for block in doctree.findall(nodes.math_block):
        if r"\tag" in block.astext():
            block["nowrap"] = True
            block[:] = [nodes.Text(rf"\[{block.astext()}\]")]


def setup(app: Sphinx) -> None:
    """Apply them."""
    add_renderers()
    app.connect("doctree-read", forget_widget_states)
    app.connect("doctree-read", free_tagged_equations)
