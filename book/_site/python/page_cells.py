"""Runs the cells of a notebook in a page, and tells the page what came of them.

It is Python that runs in the browser; nothing here knows of one, so that tests run it as it is.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import io
import json
import linecache
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from symtable import SymbolTable, symtable
from types import ModuleType
from typing import Any

EXPLORABLE = 'class="posenc-explorable"'
MOST_CHARACTERS = 100_000  # of what one run prints
CUT = f"\n… cut off after {MOST_CHARACTERS:,} characters.\n"
DRAWS = re.compile(r"^(\w+) = .*\bdefault_rng\(", re.MULTILINE)
PATIENCE = 0.1  # seconds between two looks at what a cell is printing

# {"stream": name, "text": …}, {"text": …}, {"html": …}, {"error": …} or {"interact": number, …}; a table is a stream
# that has "html" too
Output = dict[str, Any]
Tell = Callable[[Output], None]


class _AsGenerators(ast.NodeTransformer):
    """Comprehensions as generators: since Python 3.12 only these keep their names in a table of their own."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


def _table(source: str) -> SymbolTable:
    return symtable(ast.unparse(_AsGenerators().visit(ast.parse(source))), "cell", "exec")


def bound(source: str) -> set[str]:
    """The names that a cell binds, or whose value it changes by `x[…] = …` or `x.… = …`."""
    stores = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Attribute, ast.Subscript))]
    changed = {node.value.id for node in stores if isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Store)}
    symbols = _table(source).get_symbols()
    return changed | {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}


def _globals(table: SymbolTable) -> Iterator[str]:
    """The names that a cell reads outside of functions, and those that its functions find there."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals(child)


def read(source: str) -> set[str]:
    """The names a cell takes from cells before it: it reads and does not set them, or sets them from themselves."""
    own = {one.get_name() for one in _table(source).get_symbols() if one.is_assigned()}
    again: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            to = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
            of = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
            again |= to if isinstance(node, ast.AugAssign) else to & of
    return set(_globals(_table(source))) - own | again


def needed(sources: Sequence[str]) -> list[int]:
    """Which of the cells before the last one it depends on, also through others.

    A cell that draws random numbers depends on all that drew from the same generator before.
    """
    cells = []
    for source in sources:
        try:
            cells.append((read(source), bound(source), DRAWS.findall(source)))
        except SyntaxError:  # it can't run, so that nothing comes from it
            cells.append((set(), set(), []))
    generators = {name for *_, names in cells for name in names}
    wanted, found = set(cells[-1][0]), []
    for index in reversed(range(len(cells) - 1)):
        reads, binds, _ = cells[index]
        if wanted & (binds | reads & generators):
            found.append(index)
            wanted |= reads
    return found[::-1]


def shown(value: Any) -> Output:
    """A value as the page can show it: a Plotly figure's or an explorable's HTML, or else its text."""
    if hasattr(value, "to_plotly_json"):
        from plotly_figure import plotly_html  # the book's own, which comes with this module

        return {"html": plotly_html(json.loads(value.to_json()))}
    if hasattr(value, "_repr_mimebundle_"):
        found = value._repr_mimebundle_()
        data = (found[0] if isinstance(found, tuple) else found) or {}
        if EXPLORABLE in data.get("text/html", ""):
            return {"html": data["text/html"]}
    return {"text": repr(value)}


class _Printed(io.TextIOBase):
    """What a cell prints: told in pieces, and no more than the page can hold."""

    def __init__(self, name: str, tell: Tell) -> None:
        self._name, self._tell = name, tell
        self._left, self._held, self._told = MOST_CHARACTERS, "", time.monotonic()

    def write(self, text: str) -> int:
        if self._left > 0:
            self._held += text[: self._left] + (CUT if len(text) > self._left else "")
        self._left -= len(text)
        if time.monotonic() - self._told > PATIENCE:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self._held:
            self._tell({"stream": self._name, "text": self._held})
        self._held, self._told = "", time.monotonic()


def _control(widget: Any) -> dict[str, Any]:
    """What the page needs to draw one of ipywidgets' controls."""
    if hasattr(widget, "_options_labels"):
        state = {"kind": "choice", "value": widget.index, "labels": widget._options_labels}
    elif isinstance(widget.value, bool):
        state = {"kind": "switch", "value": widget.value}
    elif hasattr(widget, "step") and hasattr(widget, "min"):
        state = {key: getattr(widget, key) for key in ("value", "min", "max", "step", "base") if hasattr(widget, key)}
        state["kind"] = "slider"
    else:
        raise ValueError(f"a page has no {type(widget).__name__}: give a slider, a number, a pair, a list or True")
    return {"name": widget._kwarg, "label": widget.description, **state}


class Notebook:
    """The variables of a page, its cells' outputs and its sliders.

    Args:
        tell: takes what a cell shows: its name, and an output as JSON.
    """

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        self._send = tell
        self.names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, "display": self.display}
        self.missing: dict[str, str] = {}  # a name -> the package that the cell that would bind it needs
        self._cells: set[str] = set()
        self._draws: list[Callable[[Mapping[str, Any]], Any]] = []
        self._tell: Tell = lambda output: None

    def display(self, *values: Any) -> None:
        """Show values below the cell that runs."""
        for value in values:
            sys.stdout.flush()  # what was printed before comes before
            self._tell(shown(value))

    def table(self, text: str, html: str) -> None:
        """Show a table below the cell that runs."""
        sys.stdout.flush()
        self._tell({"stream": "stdout", "text": text, "html": html})

    @contextmanager
    def _outputs(self, tell: Tell) -> Iterator[None]:
        """Have outputs go to `tell`."""
        before, self._tell = self._tell, tell
        out, err = _Printed("stdout", tell), _Printed("stderr", tell)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                yield
        finally:
            out.flush()
            err.flush()
            self._tell = before

    # cells

    def _execute(self, cell: str, source: str) -> None:
        """Run a cell's statements, and show the value of its last expression unless a semicolon ends it."""
        self._cells.add(cell)
        linecache.cache[cell] = (len(source), None, source.splitlines(keepends=True), cell)
        tree = ast.parse(source, cell)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        exec(compile(tree, cell, "exec"), self.names)
        if last is not None and (value := eval(compile(last, cell, "eval"), self.names)) is not None:
            self.display(value)

    def run(self, cell: str, source: str) -> str:
        """Run a cell; as JSON, how it ended.

        {"status": "done"}; {"status": "failed", "error": text}; or {"status": "needs", "package": name, "through":
        name, "error": text} when it needs what the page does not have: a package, or a variable of a cell that
        needs one.
        """
        ended: dict[str, Any] = {"status": "done"}
        with self._outputs(lambda output: self._send(cell, json.dumps(output))):
            try:
                self._execute(cell, source)
            except BaseException as error:  # what a reader's code raises is the reader's, KeyboardInterrupt too
                ended = {"status": "failed", "error": self._trimmed(error)} | self._needs(error)
        if ended["status"] == "needs":
            self._forget(source, ended["package"])
        elif ended["status"] == "done":
            for name in bound(source):
                self.missing.pop(name, None)
        return json.dumps(ended)

    def needed(self, sources: str) -> str:
        """Which of the cells before the last one it depends on, as JSON."""
        return json.dumps(needed(json.loads(sources)))

    def _trimmed(self, error: BaseException) -> str:
        """A traceback without what is not the reader's: the lines of cells, and what went wrong."""
        told = traceback.TracebackException.from_exception(error)
        one: traceback.TracebackException | None = told
        while one is not None:
            one.stack[:] = [frame for frame in one.stack if frame.filename in self._cells]
            one = one.__cause__ or one.__context__
        return "".join(told.format()).rstrip()

    def _needs(self, error: BaseException) -> dict[str, str]:
        """The package that a cell needs and the page does not have, and the variable that would have it."""
        if isinstance(error, ModuleNotFoundError) and error.name:
            package = error.name.partition(".")[0]
            package = error.name if package in sys.modules else package
            return {"status": "needs", "package": package, "through": ""}
        if isinstance(error, NameError) and error.name in self.missing:
            package = self.missing[error.name]
            return {"status": "needs", "package": package, "through": error.name if error.name != package else ""}
        return {}

    def _forget(self, source: str, package: str) -> None:
        """Leave nothing half done behind a cell that could not run.

        What it binds is unknown from now on, also what earlier cells had put there; and so is a generator of random
        numbers that it might have drawn from, whose next numbers would not be the book's.
        """
        used = symtable(source, "cell", "exec").get_identifiers()
        drawn_from = {name for name in used if type(self.names.get(name)).__name__ == "Generator"}
        for name in bound(source) | drawn_from:
            self.names.pop(name, None)
            self.missing[name] = package
        for node in ast.parse(source).body:  # its imports leave nothing half done, and later cells may want them
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                try:
                    exec(ast.unparse(node), self.names)
                except ImportError:
                    continue  # stays missing
                for name in bound(ast.unparse(node)):
                    self.missing.pop(name, None)

    # sliders

    def interact(self, function: Callable[..., Any] | None = None, /, **given: Any) -> Any:
        """ipywidgets' interact: a control for each argument of a function, and below them its value.

        Also a decorator, with controls or without.
        """
        from ipywidgets import DOMWidget, interactive

        if function is None:
            return lambda function: self.interact(function, **given)
        widgets = interactive(function, {"manual": True}, **given).kwargs_widgets  # by hand, it does not draw yet
        controls = {widget._kwarg: widget for widget in widgets if isinstance(widget, DOMWidget)}

        def draw(values: Mapping[str, Any]) -> Any:
            for name, value in values.items():
                setattr(controls[name], "index" if hasattr(controls[name], "index") else "value", value)
            return function(**{widget._kwarg: widget.get_interact_value() for widget in widgets})

        opening = {"interact": len(self._draws), "controls": list(map(_control, controls.values()))}
        self._draws.append(draw)
        sys.stdout.flush()
        self._tell({**opening, "outputs": self._drawn(draw, {})})
        return function

    def _drawn(self, draw: Callable[[Mapping[str, Any]], Any], values: Mapping[str, Any]) -> list[Output]:
        outputs: list[Output] = []
        with self._outputs(outputs.append):
            if (value := draw(values)) is not None:
                self.display(value)
        return outputs

    def move(self, number: int, values: str) -> str:
        """What a set of sliders shows at values that the page sends as JSON: a list of outputs, as JSON."""
        try:
            return json.dumps(self._drawn(self._draws[number], json.loads(values)))
        except BaseException as error:
            return json.dumps([{"error": self._trimmed(error)}])


def open_notebook(tell: Callable[[str, str], None]) -> Notebook:
    """A page's notebook, with what a page has in place of IPython, of ipywidgets' `interact` and of Plotly's `show`."""
    notebook = Notebook(tell)
    ipython = ModuleType("IPython", "The part that ipywidgets imports.")
    parts = {"get_ipython": lambda: None, "display": notebook.display, "clear_output": lambda wait=False: None}
    vars(ipython).update(parts, InteractiveShell=object)
    for name in ("IPython", "IPython.display", "IPython.core", "IPython.core.interactiveshell"):
        sys.modules[name] = ipython
    import ipywidgets
    import numpy
    import plotly.io

    from posenc import tables

    tables.show = notebook.table
    ipywidgets.interact = notebook.interact
    plotly.io.show = lambda figure, *args, **named: notebook.display(figure)
    if importlib.util.find_spec("numpy.f2py") is None:  # array-api-compat copies all that NumPy names
        numpy.f2py = ModuleType("numpy.f2py", "Compiles Fortran, which a page cannot.")
    return notebook
