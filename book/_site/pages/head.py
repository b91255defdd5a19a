"""What a page's head needs: a description, and scripts where there is something for them. And two repairs of roles."""

from __future__ import annotations

import html
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book._site.words import words
from tools.address import site

CARD = "_static/posenc/card.png"  # 1200 by 630
WORDS = words("pages")["head"]


def describe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the description, and a title where a page has a fuller one than its heading."""
    meta = app.env.metadata.get(pagename, {})
    description = meta.get("description") or WORDS[pagename].format(title=app.config.html_title)  # of Sphinx's own
    if title := meta.get("head_title"):
        context["title"], context["docstitle"] = title, ""
    name = re.sub("<[^>]+>", "", context.get("title") or "")
    tags = f'\n<meta name="description" content="{escape(description)}" />\n'
    context["metatags"] = context.get("metatags", "") + tags + card(app, pagename, name, description)


def card(app: Sphinx, pagename: str, title: str, description: str) -> str:
    """What a link to the page looks like elsewhere. Addresses are whole once the book knows its own."""
    repository = app.config.html_theme_options.get("repository_url")
    address = f"{site(repository)}/" if repository else ""
    up = "" if address else "../" * pagename.count("/")
    properties = {
        "og:type": "website",
        "og:site_name": "Turn by Turn",
        "og:title": title,
        "og:description": description,
        "og:image": f"{address or up}{CARD}",
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": WORDS["card"],
    }
    if address:
        properties["og:url"] = f"{address}{pagename}.html"
    lines = [f'<meta property="{name}" content="{escape(html.unescape(said))}" />' for name, said in properties.items()]
    return "\n".join([*lines, '<meta name="twitter:card" content="summary_large_image" />'])


def lead_in(app: Sphinx, exception: Exception | None) -> None:
    """Give the page that leads to the first one what the first says of itself: it has the address that people share."""
    if exception is None and app.builder.name == "html":
        meta = app.env.metadata[app.config.root_doc]
        path = Path(app.outdir) / "index.html"
        own = card(app, "index", meta["head_title"], meta["description"])
        text = path.read_text(encoding="utf-8").format(
            lang=app.config.language.replace("_", "-"),
            title=escape(meta["head_title"]),
            description=escape(meta["description"]),
            card=own,
        )
        path.write_text(text, encoding="utf-8")


def bring_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load the page host, explorables and what else draws only on pages that have something for it."""
    if pagename == "search":
        # Search results fetch their excerpts, which browsers refuse on file://; the results themselves still show.
        app.add_js_file(
            None, body="if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;"
        )
    raw = "" if doctree is None else "".join(node.astext() for node in doctree.findall(nodes.raw))
    modules = list(dict.fromkeys(re.findall(r'class="posenc-explorable" data-module="(\w+)"', raw)))
    for module in ["shared", *modules] if modules else []:
        app.add_js_file(f"posenc/modules/{module}.js", priority=100, loading_method="async")
    if 'id="claim-filter"' in raw:
        app.add_js_file("posenc/claims.js", loading_method="defer")
    if 'id="doctor-form"' in raw:
        app.add_css_file("posenc/doctor.css")
        app.add_js_file("posenc/doctor.js", loading_method="defer")
    if re.search(r'class="posenc-(?:explorable|plotly|interact)', raw):
        app.add_js_file("posenc/host.js", priority=110, loading_method="defer")
    if "posenc-small" in raw:
        app.add_css_file("posenc/front.css", priority=900)
        app.add_js_file("posenc/front.js", priority=120, loading_method="defer")


def leave_out_mathjax(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Keep MathJax, the heaviest file of all, off a page that has no formulas.

    Sphinx also loads it where a page's table of contents leads to formulas, which is to say on the first page.
    """
    if not app.env.get_domain("math").data["has_equations"].get(pagename):
        scripts = context["script_files"]
        scripts[:] = [script for script in scripts if app.config.mathjax_path not in str(script.filename)]


def mend_roles(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """What a screen reader is told wrongly: the theme's arrows have no name, and docutils' bibliography no entries."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')
    if generate := context.get("generate_toctree_html"):

        def with_names(*args: Any, **options: Any) -> str:
            named = f'<summary aria-label="{escape(WORDS["below"])}"><span'
            return str(generate(*args, **options)).replace("<summary><span", named)

        context["generate_toctree_html"] = with_names


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("html-page-context", describe)
    app.connect("html-page-context", bring_scripts)
    app.connect("html-page-context", leave_out_mathjax, priority=900)  # after Sphinx
    app.connect("html-page-context", mend_roles, priority=900)  # after the theme
    app.connect("build-finished", lead_in)
