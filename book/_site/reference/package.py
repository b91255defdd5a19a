"""The reference of `posenc`, made from its docstrings: `package` shows one module, `package-contents` lists all names.

sphinx.ext.autodoc and napoleon do the work. The docstrings are written for a terminal. A name in single backticks has
Sphinx's default role, `py:obj`: a link where the name has an entry, else code. `to_rst` sees to the rest.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from pybtex.database import Entry, parse_file
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PACKAGE = "posenc"
PAGES = "book/package"  # the page of a module lies in this folder, the contents in a page beside it
# From the ground floor up
MODULES = (
    *("frequencies", "absolute", "rotary", "scaling", "rope", "position_ids", "rotary_module", "tables", "attention"),
    *("bias", "analysis", "configs", "configuration", "doctor", "schemes", "transformer", "llama", "lab", "figures"),
    *("widgets", "check"),
)
# Of some modules, those parts that readers import from: they share its page.
PARTS = {
    "lab": (
        *("runs", "corpus", "train", "measurements", "benchmarks", "evaluate", "statistics", "cache", "intervals"),
        *("measured", "tables", "real", "real_results"),
    )
}
# Packages whose page has the names of each of their files under the first line of that file.
UNDER_HEADINGS = {f"{PACKAGE}.{module}" for module in ("scaling", "bias", "analysis", "schemes", "figures")}


# ---- what is public ------------------------------------------------------------------------------------------------

DEFINED = re.compile(r"^(?:(?:def|class) ([^\W_]\w*)|([A-Z][A-Z\d_]*)(?:: .+)? = )", re.MULTILINE)


def parts(module: str) -> list[str]:
    """A module of `MODULES` and its parts, with their full names."""
    return [f"{PACKAGE}.{module}", *(f"{PACKAGE}.{module}.{part}" for part in PARTS.get(module, ()))]


def public_names(module: str) -> list[str]:
    """A module's `__all__`, constants first, else what it defines without an underscore; in the order of the source."""
    found = importlib.import_module(module)
    if not hasattr(found, "__all__"):
        return list(dict.fromkeys("".join(name) for name in DEFINED.findall(inspect.getsource(found))))
    order = {name: place for place, name in enumerate(vars(found))}
    return sorted(found.__all__, key=lambda name: (not name.isupper(), order.get(name, len(order))))


def _first_line(module: str) -> str:
    return escaped((importlib.import_module(module).__doc__ or "").partition("\n")[0])


# ---- docstrings ----------------------------------------------------------------------------------------------------

SECTION = re.compile(r"(Args|Returns|Yields|Raises|Attributes):$")
NAME_CODE_OR_MARK = re.compile(r"(`[A-Za-z][\w.]*`)|(`[^`]+`)|([\\*|]|(?<=\w)_(?!\w))")
BIBLIOGRAPHY = Path(__file__).resolve().parents[2] / "references.bib"
NAMED_PAPER = re.compile(
    r'\b([A-Z][\w-]+)(\s+et\s+al\.|\s+and\s+[A-Z][\w-]+)?,?\s+((?:19|20)\d\d)\b(?=(?:,\s+"(\w+))?)'
)


def escaped(text: str) -> str:
    """Text in which reStructuredText misreads nothing outside of code."""
    return NAME_CODE_OR_MARK.sub(lambda found: found[1] or (f"`{found[2]}`" if found[2] else f"\\{found[3]}"), text)


@cache
def bibliography() -> Mapping[str, Entry]:
    """The papers by their keys, which are also their anchors."""
    return parse_file(str(BIBLIOGRAPHY), bib_format="bibtex").entries  # type: ignore[no-any-return]


def paper_link(named: re.Match[str]) -> str:
    """A paper's authors and year as a link to the bibliography, if it is clear which paper it is."""
    author, others, year, title = named.groups(default="")
    keys = []
    for key, entry in bibliography().items():
        authors = entry.persons["author"]
        count = min(len(authors), 3) == (3 if "al." in others else 2 if others else 1)
        titled = re.sub("[{}]", "", entry.fields["title"]).startswith(title)
        if (
            count
            and titled
            and "".join(authors[0].last_names).strip("{}") == author
            and entry.fields["year"][:4] == year
        ):
            keys.append(key)
    return f"`{' '.join(named[0].split())} <../references.html#{keys[0]}>`__" if len(keys) == 1 else named[0]


def to_rst(text: str) -> str:
    """A docstring in the form that napoleon reads: nothing misread, and what four spaces set apart as it stands."""
    text = re.sub(r"`[^`]+`", lambda code: " ".join(code[0].split()), text)  # code that was broken over two lines
    answer: list[str] = []
    kind = "text"
    for line in text.splitlines():
        indented = line.startswith("    ")
        if line.lstrip().startswith(">>> "):
            kind = "example"
        elif kind == "example":
            kind = "example" if line.strip() else "text"
        elif line.strip() and not indented:
            kind = "section" if SECTION.match(line) else "text"
        elif indented and kind == "text":
            kind = "block"
            answer += [".. code-block:: none", ""]
        answer.append(line if kind in ("example", "block") else escaped(line))
    return NAMED_PAPER.sub(paper_link, "\n".join([*answer, ""]))


def read_docstring(app: Sphinx, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Prepare a docstring, before napoleon reads it."""
    lines[:] = to_rst("\n".join(lines)).split("\n")


def skip_member(app: Sphinx, what: str, name: str, item: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what Python itself documents: the fields of a named tuple, whose class says what they are."""
    return True if (inspect.getdoc(item) or "").startswith("Alias for field number") else None


# ---- directives ----------------------------------------------------------------------------------------------------

LONGEST = 400  # characters of a value that is shown


def _constant(value: Any) -> list[str]:
    """What a constant is: its value where that is short and plain, else the keys of a table."""
    text = repr(dict(value) if isinstance(value, Mapping) else value)
    if len(text) <= LONGEST and "<" not in text:
        return [f"   :value: {text}"]
    return [f"   :value: {{{', '.join(f'{key!r}: …' for key in value)}}}"] if isinstance(value, Mapping) else []


def _entry(module: str, name: str) -> list[str]:
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value):
        return [f".. autoclass:: {module}.{name}", "   :members:", ""]
    if callable(value):
        return [f".. autofunction:: {module}.{name}", ""]
    return [f".. py:data:: {name}", *_constant(value), ""]


class PackageDirective(SphinxDirective):
    """A directive that writes reStructuredText on a page of Markdown."""

    def read(self, lines: list[str]) -> list[nodes.Node]:
        """The nodes of the text."""
        self.env.note_dependency(str(BIBLIOGRAPHY))
        box = nodes.container(classes=["posenc-package"])
        text = StringList(["````{eval-rst}", *lines, "````"], source=self.env.docname)
        self.state.nested_parse(text, self.content_offset, box)
        return [box]

    def note(self, module: str) -> None:
        """Read the page again when the module changes."""
        self.env.note_dependency(str(importlib.import_module(module).__file__))


class PackageModule(PackageDirective):
    """```{package} rotary```: the docstring of a module, and every public name with its own."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """What autodoc makes of it."""
        lines = []
        for part in parts(self.arguments[0]):
            self.note(part)
            if part.count(".") > 1:
                lines += [f".. rubric:: {part}", ""]
            lines += [f".. automodule:: {part}", ""]
            home = part
            for name in public_names(part):
                written_in = getattr(getattr(importlib.import_module(part), name), "__module__", None) or home
                if written_in.startswith(f"{PACKAGE}.") and written_in != home:
                    home = written_in
                    self.note(home)
                    if part in UNDER_HEADINGS and "._" not in home:
                        lines += [f".. rubric:: {_first_line(home)}", ""]
                lines += _entry(part, name)
        return self.read(lines)


class PackageContents(PackageDirective):
    """```{package-contents}```: every module with its first line, and its functions and classes as links."""

    def run(self) -> list[nodes.Node]:
        """A definition list in reStructuredText."""
        lines = []
        for part in [part for module in MODULES for part in parts(module)]:
            self.note(part)
            names = [f":py:obj:`{name} <{part}.{name}>`" for name in public_names(part) if not name.isupper()]
            lines += [f":py:mod:`{part}`", f"   {_first_line(part)}", "", f"   {' · '.join(names)}", ""]
        return self.read(lines)


# ---- links ---------------------------------------------------------------------------------------------------------


def register_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Let a notebook link to an entry as to a heading, `package/rotary.md#posenc.rotary.rotate`, or be warned."""
    if not app.env.docname.startswith(PAGES + "/"):
        return
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for signature in doctree.findall(addnodes.desc_signature):
        for anchor in signature["ids"]:
            slugs[anchor] = (signature.line, anchor, signature["ids"][0].rpartition(".")[2])


def setup(app: Sphinx) -> None:
    """Register the directives and the hooks: `read_docstring` comes before napoleon's own."""
    app.add_directive("package", PackageModule)
    app.add_directive("package-contents", PackageContents)
    app.connect("autodoc-process-docstring", read_docstring, priority=100)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("doctree-read", register_anchors)
