"""What every page's head needs: a title, a description, and the page host where there is something to draw."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from book._site.pages.predict import WORDS
from book._site.style.font import FAMILY

# Pages that Sphinx generates have no text of their own to describe them.
GENERATED = {
    "search": "Search the book Turn by Turn.",
    "genindex": "Index of the book Turn by Turn.",
}
# Formulas are as large as the letters around them, which are measured once: in the page's face, not in one before it,
# unless that takes as long as a browser itself would wait for it.
# And they take the processor for a second: they are set when the first explorable is drawn, or could not be.
FORMULAS_WAIT = f""";
  let firstDrawn;
  window.MathJax.startup = {{
    pageReady: () => {{
      const letters = Promise.race([
        document.fonts.load("1em '{FAMILY}'"),
        new Promise((late) => setTimeout(late, 3000)),
      ]);
      return Promise.allSettled([letters, firstDrawn]).then(() => MathJax.startup.defaultPageReady());
    }},
  }};
"""
FOR_THE_FIRST_EXPLORABLE = """
  firstDrawn = new Promise((go) => {
    document.addEventListener("posenc:drawn", go);
    addEventListener("load", () => setTimeout(go, 1000)); // should the page host itself be missing
  });
"""
LONGEST = 300  # characters of a description taken from a page's first paragraph

logger = logging.getLogger(__name__)


def _first_paragraph(doctree: nodes.document) -> str:
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if text:
            return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …"
    return ""


def describe(app: Sphinx, pagename: str, doctree: nodes.document | None) -> str:
    """The page's description: its metadata key `description`, else its first paragraph."""
    meta = app.env.metadata.get(pagename, {})
    text = meta.get("description") or GENERATED.get(pagename, "")
    if not text and doctree is not None:
        text = _first_paragraph(doctree)
    if not text:
        logger.warning("the page has no description", location=pagename, type="posenc", subtype="description")
    return " ".join(text.split())


def page_context(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the description, and load the host only on pages that have something for it."""
    if app.builder.format != "html":
        return
    description = escape(describe(app, pagename, doctree))
    context["metatags"] = context.get("metatags", "") + f'\n<meta name="description" content="{description}" />'
    if title := app.env.metadata.get(pagename, {}).get("head_title"):
        context["title"], context["docstitle"] = title, ""  # a page may have a fuller title than its heading
    if pagename == "search":
        # Search results fetch their excerpts, which browsers refuse on file://; the results themselves still show.
        app.add_js_file(
            None, body="if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;"
        )
    raw = "" if doctree is None else "".join(node.astext() for node in doctree.findall(nodes.raw))
    modules = list(dict.fromkeys(re.findall(r'class="posenc-explorable" data-module="(\w+)"', raw)))
    # before the other scripts, and the first explorable's fetched before them: the reader waits for its sliders
    for module in ["shared", *modules] if modules else []:
        fetched = {"fetchpriority": "high"} if module in ("shared", modules[0]) else {}
        app.add_js_file(f"posenc/modules/{module}.js", priority=100, loading_method="async", **fetched)
    if 'id="claim-filter"' in raw:
        app.add_js_file("posenc/claims.js", loading_method="defer")
    if 'id="doctor-form"' in raw:
        app.add_css_file("posenc/doctor.css")
        app.add_js_file("posenc/doctor.js", loading_method="defer")
    if re.search(r'class="posenc-(?:explorable|plotly|interact)', raw):
        app.add_js_file("posenc/host.js", priority=110, loading_method="defer", fetchpriority="high")


def set_up_mathjax(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Keep MathJax, the heaviest file of all, off a page without formulas, and behind letters and sliders on others.

    Sphinx also loads it where a page's table of contents leads to formulas, which is to say on the first page.
    """
    scripts = context["script_files"]
    if not app.env.get_domain("math").data["has_equations"].get(pagename):
        scripts[:] = [
            script
            for script in scripts
            if app.config.mathjax_path not in str(script.filename)
            and "window.MathJax" not in script.attributes.get("body", "")
        ]
    else:
        explorable = any("posenc/modules" in str(script.filename) for script in scripts)
        for script in scripts:
            if "window.MathJax" in script.attributes.get("body", ""):
                script.attributes["body"] += FORMULAS_WAIT + (FOR_THE_FIRST_EXPLORABLE if explorable else "")


def say_without_javascript(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Say under the title of a page with formulas what a browser without JavaScript makes of them."""
    if app.env.get_domain("math").data["has_equations"].get(pagename):
        told = f"<noscript><p>{escape(WORDS['without_script'])}</p></noscript>"
        context["body"] = context["body"].replace("</h1>", f"</h1>\n{told}", 1)


def mend_roles(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """What a screen reader is told wrongly: the theme's arrows have no name, and docutils' bibliography no entries."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')
    if generate := context.get("generate_toctree_html"):

        def with_names(*args: Any, **options: Any) -> str:
            return str(generate(*args, **options)).replace("<summary><span", '<summary aria-label="Pages below"><span')

        context["generate_toctree_html"] = with_names


def write_front_door(app: Sphinx, exception: Exception | None) -> None:
    """A root index.html that leads to the first page, with a title, description and icon of its own.

    Jupyter Book writes a bare one if there is none.
    """
    if exception or app.builder.format != "html":
        return
    page = f"{app.config.root_doc}.html"
    meta = app.env.metadata[app.config.root_doc]
    (Path(app.outdir) / "index.html").write_text(
        f"""<!DOCTYPE html>
<html lang="{app.config.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(meta["head_title"])}</title>
<meta name="description" content="{escape(meta["description"])}">
<link rel="icon" href="_static/favicon.svg">
<meta http-equiv="refresh" content="0; url={page}">
</head>
<body><p><a href="{page}">{escape(app.config.html_title)}</a></p></body>
</html>
""",
        encoding="utf-8",
    )


def colour_without_javascript(app: Sphinx, exception: Exception | None) -> None:
    """The light theme, until the theme's script chooses: for `auto`, which it writes, there are no colours."""
    if exception or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(' data-theme="auto">', ' data-theme="light">', 1), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("html-page-context", page_context)
    app.connect("html-page-context", set_up_mathjax, priority=900)
    app.connect("html-page-context", say_without_javascript)
    app.connect("html-page-context", mend_roles, priority=900)  # after the theme
    app.connect("build-finished", write_front_door)
    app.connect("build-finished", colour_without_javascript)
