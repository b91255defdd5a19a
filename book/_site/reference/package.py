"""The reference of `posenc`, made from its docstrings: `package` shows one module, `package-contents` lists all names.

sphinx.ext.autodoc and napoleon do the work. The docstrings are written for a terminal, as plain text with names in
single backticks and formulas and columns set apart by four spaces, so `to_rst` turns them into what napoleon reads.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book._site.reference.bibliography import with_sources

PACKAGE = "posenc"
PAGES = "book/package"  # the page of a module lies in this folder, the contents in a page beside it
# From the ground floor up; below each module, those of its parts that readers import from.
MODULES: dict[str, tuple[str, ...]] = {
    "frequencies": (),
    "absolute": (),
    "rotary": (),
    "scaling": (),
    "rope": (),
    "position_ids": (),
    "rotary_module": (),
    "tables": (),
    "attention": (),
    "bias": (),
    "analysis": (),
    "configs": (),
    "configuration": (),
    "doctor": (),
    "schemes": (),
    "transformer": (),
    "llama": (),
    "lab": (
        "runs",
        "corpus",
        "train",
        "measurements",
        "benchmarks",
        "evaluate",
        "statistics",
        "cache",
        "intervals",
        "measured",
        "tables",
        "real",
        "real_results",
    ),
    "figures": (),
    "widgets": (),
    "check": (),
}
# Packages whose page has the names of each of their files under the first line of that file.
UNDER_HEADINGS = {f"{PACKAGE}.{module}" for module in ("scaling", "bias", "analysis", "schemes", "figures")}


# ---- what is public ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Name:
    """A public name: `module` is where readers import it from, `home` where it is written."""

    module: str
    name: str
    home: str
    kind: str  # "function", "class" or "data"

    @property
    def full(self) -> str:
        """The name with its module, which is also its anchor."""
        return f"{self.module}.{self.name}"


def _module(name: str) -> ModuleType:
    return importlib.import_module(name)


def _kind(value: Any) -> str:
    if inspect.isclass(value):
        return "class"
    return "function" if callable(value) else "data"


def _written_in(module: ModuleType) -> Iterator[tuple[str, str]]:
    """What a module defines itself, and where what it imports from its own package comes from, in its own order."""
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    for statement in ast.parse(inspect.getsource(module)).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, module.__name__
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if name.isupper():
                yield name, module.__name__
            case ast.ImportFrom(module=str(home), names=names) if home.startswith(package + "."):
                yield from ((alias.asname or alias.name, home) for alias in names)


@cache
def public_names(module: str) -> tuple[Name, ...]:
    """The names in a module's `__all__`; where it has none, every function, class and constant without underscore."""
    found = _module(module)
    homes = dict(_written_in(found))
    listed = getattr(found, "__all__", None)
    if listed is None:
        names = [name for name, home in homes.items() if home == module and not name.startswith("_")]
    else:
        order = {name: place for place, name in enumerate(homes)}
        names = sorted(listed, key=lambda name: order.get(name, len(order)))
    values = {name: getattr(found, name) for name in names}
    return tuple(
        Name(module, name, homes.get(name) or getattr(value, "__module__", module), _kind(value))
        for name, value in values.items()
    )


def parts(module: str) -> list[str]:
    """A module of `MODULES` and its parts, with their full names."""
    return [f"{PACKAGE}.{module}", *(f"{PACKAGE}.{module}.{part}" for part in MODULES[module])]


@cache
def everything() -> dict[str, str]:
    """Every name that has an entry, by its full name; the value is the role that links to it."""
    found = {}
    for module in MODULES:
        for part in parts(module):
            found[part] = "mod"
            for name in public_names(part):
                found[name.full] = "obj"
                if name.kind == "class":
                    found |= {f"{name.full}.{member}": "obj" for member in _members(name)}
    return found


def _members(name: Name) -> list[str]:
    """What a class defines and explains itself, which are the members that autodoc shows."""
    own = vars(getattr(_module(name.module), name.name)).items()
    return [member for member, value in own if not member.startswith("_") and _explained(value)]


def _explained(value: Any) -> bool:
    function = isinstance(value, (property, staticmethod, classmethod)) or inspect.isfunction(value)
    return function and bool(inspect.getdoc(value))


# ---- docstrings ----------------------------------------------------------------------------------------------------

SECTION = re.compile(r"(Args|Returns|Yields|Raises|Attributes):$")
# θ_i, q_j, logits_ij, M_{a+b}: an index; 2^i, 10^−4, base^(−2i/d), M^{a+b}: an exponent
INDEX = re.compile(r"(?<![\w.])([^\W\d_]|logits)_(?:\{([^{}]+)\}|([A-Za-z0-9]{1,2})(?![A-Za-z0-9_(]))")
EXPONENT = re.compile(r"(?<=[\w)])\^(?:\{([^{}]+)\}|\(([^()]*(?:\([^()]*\)[^()]*)*)\)|([-−]?\w+))")
NAME = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?$")
PAPER = re.compile(r".+ <\w+>$")


def _escaped(text: str) -> str:
    return re.sub(r"([\\*|`])|(?<=\w)(_)(?!\w)", lambda match: "\\" + match[0], text)


def formula_text(text: str, own: set[str]) -> str:
    """Plain text with its indices and exponents set low and high, and what reStructuredText would misread escaped.

    Names in `own` stay as they are.
    """
    pieces: list[str] = []
    end = 0
    found = [(match, "sub") for match in INDEX.finditer(text)] + [(match, "sup") for match in EXPONENT.finditer(text)]
    for match, role in sorted(found, key=lambda pair: pair[0].start()):
        start = match.end(1) if role == "sub" else match.start()
        if start < end or match[0] in own:
            continue
        inner = next(group for group in match.groups()[1 if role == "sub" else 0 :] if group is not None)
        pieces += [_escaped(text[end:start]), rf"\ :{role}:`{_escaped(inner)}`"]
        end = match.end()
        if text[end : end + 1].strip():
            pieces.append("\\ ")
    return "".join([*pieces, _escaped(text[end:])])


def linked(code: str, module: str, own: set[str], class_: str = "") -> str:
    """What stands in backticks: a link to a paper or to a name's entry, else code. `own` are names of the docstring.

    `class_` is the full name of the class in whose docstrings it stands.
    """
    if PAPER.match(code):
        return f":source:`{code}`"
    match = NAME.match(code)
    if match and code not in own:
        name, call = match[1], match[2] or ""
        above = module.rpartition(".")[0]
        of_class = [f"{class_}.{name}"] if class_ else []
        for full in (*of_class, name, f"{module}.{name}", f"{above}.{name}", f"{PACKAGE}.{name}"):
            if full == module and "." not in name:  # not the page that it stands on, but an argument or an attribute
                continue
            of_package = "." in name or name in MODULES or full.startswith(f"{module}.")
            if everything().get(full) == "obj" or (full in everything() and of_package and not call):
                return f":py:{everything()[full]}:`{name}{call} <{full}>`"
    return f"``{code}``"


def inline(text: str, module: str, own: set[str], class_: str = "") -> str:
    """One line of a docstring as reStructuredText."""
    pieces = re.split(r"`([^`]+)`", text)
    return "".join(
        linked(piece, module, own, class_) if odd % 2 else formula_text(piece, own) for odd, piece in enumerate(pieces)
    )


# ---- what is set apart in a docstring -------------------------------------------------------------------------------

NO_CODE = "\\ "  # an escape that shows nothing: without one, Sphinx takes what is literal for Python
CELL = re.compile(r"\S+(?: {1,2}\S+)*")


def _in_columns(block: list[str]) -> bool:
    return sum(bool(re.search(r"\S {3,}\S", line)) for line in block) > 1


def cells_of(block: list[str]) -> list[list[str]] | None:
    """The rows of a block in columns, or None where it is a drawing. A line without a first cell goes on with a row."""
    found = [{cell.start(): cell[0] for cell in CELL.finditer(line)} for line in block]
    starts = sorted(max(found, key=len))
    if 0 not in found[0] or not all(set(cells) <= set(starts) for cells in found):
        return None
    rows: list[list[str]] = []
    for cells in found:
        row = [cells.get(start, "") for start in starts]
        if row[0]:
            rows.append(row)
        else:
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], row, strict=True)]
    return rows


def _column(text: str, words: Callable[[str], str]) -> str:
    """What stands in the first column: names of arguments or functions, a line of code, or words."""
    names = text.split(", ")
    if all(name.isidentifier() for name in names):
        return ", ".join(words(f"`{name}`") for name in names)
    return f"``{text}``" if "(" in text else words(text)


def _as_table(rows: list[list[str]], words: Callable[[str], str]) -> list[str]:
    header = len(rows[0]) > 2  # two columns are names and what they mean
    answer = ["", ".. list-table::", "   :class: posenc-columns", "   :stub-columns: 1"]
    answer += ["   :header-rows: 1", ""] if header else [""]
    for number, (first, *rest) in enumerate(rows):
        answer.append("   * - " + (words(first) if header and not number else _column(first, words)))
        answer += [f"     - {words(cell)}" for cell in rest]
    return [*answer, ""]


def _as_list(block: list[str], words: Callable[[str], str]) -> list[str]:
    """`name: what it is`, and lines below it that are set in and go on with it."""
    answer = [""]
    for entry in re.split(r"\n(?! )", "\n".join(block)):
        name, _, meaning = " ".join(entry.split()).partition(": ")
        answer += [words(name), f"    {words(meaning)}", ""]
    return answer


def set_apart(block: list[str], words: Callable[[str], str]) -> list[str]:
    """A block of a docstring that four spaces set apart; `words` makes reStructuredText of its text."""
    block = textwrap.dedent("\n".join(block)).splitlines()
    if _in_columns(block):
        if rows := cells_of(block):
            return _as_table(rows, words)
        drawing = [f"   {NO_CODE}{_escaped(line)}" for line in block]  # indices would shift its places
        return ["", ".. parsed-literal::", "   :class: posenc-formula", "", *drawing, ""]
    if any(line.startswith(" ") for line in block):
        return _as_list(block, words)
    alone = [part for line in block for part in ("   .. parsed-literal::", "", f"      {NO_CODE}{words(line)}", "")]
    return ["", ".. container:: posenc-formula", "", *alone]  # each line alone, so that it may break


def to_rst(lines: list[str], module: str, own: set[str], class_: str = "") -> list[str]:
    """A docstring in the form that napoleon reads: formulas set apart, names linked, nothing misread."""
    text = with_sources("\n".join(lines))
    text = re.sub(r"`[^`]+`", lambda match: " ".join(match[0].split()), text)  # code that was broken over two lines
    answer: list[str] = []
    block: list[str] = []
    in_section = in_example = False
    indent = 0

    def words(piece: str) -> str:
        return inline(piece, module, own, class_)

    def close() -> None:
        while block and not block[-1].strip():
            block.pop()
        if block:
            answer.extend(set_apart(block, words))
            block.clear()

    for line in text.splitlines():
        if not in_example:
            indent = len(line) - len(line.lstrip())
        in_example = line.lstrip().startswith(">>> ") or (in_example and bool(line.strip()))
        if in_example:  # which is shown as it stands
            close()
            in_section = False
            answer.append(line[indent:])
            continue
        indented = line.startswith("    ")
        if not in_section and (indented or (block and not line.strip())):
            block.append(line)
            continue
        close()
        if line.strip() and not indented:
            in_section = bool(SECTION.match(line))
        answer.append(words(line))
    close()
    return [*answer, ""]


def read_docstring(app: Sphinx, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Prepare a docstring of the package, before napoleon reads it."""
    if name.partition(".")[0] != PACKAGE:
        return
    own = {name.rpartition(".")[2]}
    with suppress(TypeError, ValueError):  # a module, or data
        own |= set(inspect.signature(item).parameters)
    modules = [full for full, role in everything().items() if role == "mod" and f"{name}.".startswith(f"{full}.")]
    owner = max(modules, key=len)
    class_ = name if what == "class" else name.rpartition(".")[0]
    lines[:] = to_rst(lines, owner, own, class_ if everything().get(class_) == "obj" else "")


def skip_member(app: Sphinx, what: str, name: str, item: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what Python itself documents: the fields of a named tuple, whose class says what they are."""
    return True if (inspect.getdoc(item) or "").startswith("Alias for field number") else None


# ---- directives ----------------------------------------------------------------------------------------------------


def _value(item: Any) -> str:
    """A value of a constant, as code: a class by its name, a file as it lies in the package, a table by its title."""
    if inspect.isclass(item):
        return f"``{item.__name__}``"
    if isinstance(item, Path):
        item = item.relative_to(Path(inspect.getfile(_module(PACKAGE))).parents[2]).as_posix()
    elif isinstance(item, tuple):
        item = getattr(item, "title", item)
    return f'``"{item}"``' if isinstance(item, str) else f"``{item!r}``"


def _entry(name: Name) -> list[str]:
    if name.kind == "function":
        return [f".. autofunction:: {name.full}", ""]
    if name.kind == "class":
        return [f".. autoclass:: {name.full}", "   :members:", "   :member-order: bysource", ""]
    value = getattr(_module(name.module), name.name)
    if isinstance(value, Mapping) and all(isinstance(item, (int, float)) for item in value.values()):
        words = [f'``"{key}": {item:g}``' for key, item in value.items()]
    else:
        one = isinstance(value, (int, float, str, Path))
        words = [_value(item) for item in ([value] if one else value)]
    return [f".. py:data:: {name.name}", "", "   " + ", ".join(words), ""]


class Markdown(SphinxDirective):
    """A directive that is written as Markdown, and read as such."""

    def read(self, lines: list[str]) -> list[nodes.Node]:
        """The nodes of some Markdown."""
        box = nodes.container(classes=["posenc-package"])
        self.state.nested_parse(StringList(lines, source=self.env.docname), self.content_offset, box)
        return [box]

    def note(self, module: str) -> None:
        """Read the page again when the module changes."""
        self.env.note_dependency(str(Path(_module(module).__file__ or "")))


class PackageModule(Markdown):
    """```{package} rotary```: the docstring of a module, and every public name with its own."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """What autodoc makes of it."""
        lines = ["````{eval-rst}"]
        for part in parts(self.arguments[0]):
            self.note(part)
            if part.count(".") > 1:
                lines += [f".. rubric:: {part}", "   :class: posenc-part", ""]
            lines += [f".. automodule:: {part}", ""]
            home = part
            for name in public_names(part):
                self.note(name.home)
                if name.home != home and not name.home.rpartition(".")[2].startswith("_") and part in UNDER_HEADINGS:
                    home = name.home
                    first = (_module(home).__doc__ or "").partition("\n")[0]
                    lines += [f".. rubric:: {inline(first, part, set())}", "   :class: posenc-part", ""]
                lines += _entry(name)
        return self.read([*lines, "````"])


class PackageContents(Markdown):
    """```{package-contents}```: every module with its first line, and its names as links."""

    def run(self) -> list[nodes.Node]:
        """A definition list in reStructuredText."""
        lines = ["````{eval-rst}"]
        for module in MODULES:
            for part in parts(module):
                self.note(part)
                first = (_module(part).__doc__ or "").partition("\n")[0]
                names = [f":py:obj:`{name.name} <{name.full}>`" for name in public_names(part) if name.kind != "data"]
                lines += [f":py:mod:`{part}`", f"   {inline(first, part, set())}", ""]
                lines += ["   .. container:: posenc-names", "", "      " + " · ".join(names), ""]
        return self.read([*lines, "````"])


# ---- links ---------------------------------------------------------------------------------------------------------


def register_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Let a notebook link to an entry as to a heading, `package/rotary.md#posenc.rotary.rotate`, or be warned."""
    if not app.env.docname.startswith(PAGES + "/"):
        return
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for signature in doctree.findall(addnodes.desc_signature):
        for anchor in signature["ids"]:
            slugs[anchor] = (signature.line, anchor, signature["ids"][0].rpartition(".")[2])


def leave_foreign_names(app: Sphinx, env: Any, node: addnodes.pending_xref, shown: nodes.Node) -> nodes.Node | None:
    """A name of Python's or of a library is shown as it is; a name of the package that has no entry is a warning."""
    foreign = node.get("refdomain") == "py" and not str(node.get("reftarget")).startswith(PACKAGE)
    return shown if foreign else None


def set_arguments_in_lines(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Sphinx sets a long signature's arguments as descriptions without terms, which is no HTML: lines instead."""
    lines = {"<dl>": '<span class="posenc-arguments">', "</dl>": "</span>", "<dd>": "<span>", "</dd>": "</span>"}

    def in_lines(signature: re.Match[str]) -> str:
        return re.sub("</?d[ld]>", lambda tag: lines[tag[0]], signature[0])

    if pagename.startswith(PAGES + "/"):
        context["body"] = re.sub(r'<dt class="sig .*?</dt>', in_lines, context["body"], flags=re.DOTALL)


CODE = re.compile(r'(<span class="pre">|<h1>)([^<]+)(?=<)')
BREAK = re.compile(r"(?<=[._,(/])(?=[\w&])|(?<=[a-z])(?=[A-Z][a-z])")


def let_break(html: str) -> str:
    """Names as code and as titles may break after a full stop, a comma and the like, and before a word's capital."""
    return CODE.sub(lambda match: match[1] + BREAK.sub("<wbr>", match[2]), html)


def let_names_break(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """On the package's pages, in their contents, and in the titles of those before and after."""
    if not f"{pagename}/".startswith(PAGES + "/"):
        return
    for part in {"body", "toc"} & context.keys():
        context[part] = let_break(context[part])
    for side in ("prev", "next"):
        if page := context.get(side):
            context[side] = {**page, "title": BREAK.sub("<wbr>", page["title"])}


def setup(app: Sphinx) -> None:
    """Register the directives and the hooks: `read_docstring` comes before napoleon's own."""
    app.add_directive("package", PackageModule)
    app.add_directive("package-contents", PackageContents)
    app.connect("autodoc-process-docstring", read_docstring, priority=100)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("doctree-read", register_anchors)
    app.connect("missing-reference", leave_foreign_names)
    app.connect("html-page-context", set_arguments_in_lines)
    app.connect("html-page-context", let_names_break, priority=100)  # before the theme reads the contents
