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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import CodeType, ModuleType
from typing import Any

PLOTLY = "application/vnd.plotly.v1+json"
EXPLORABLE = 'class="posenc-explorable"'
MOST_CHARACTERS = 100_000  # of what one run prints; the page shows that there was more
MOST_SHOWN = 50  # values and figures that one run shows
PATIENCE = 0.1  # seconds between two looks at what a cell is printing
TOLD = 4096  # characters that are told at once

Tell = Callable[[str], None]  # takes JSON


# ---- what a cell names ----------------------------------------------------------------------------------------------


def _bound_by(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds where it stands, or whose value it changes by `x[…] = …` or `x.… = …`."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        return  # what is bound inside stays inside
    if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return
    if isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    if isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        base: ast.expr = node
        while isinstance(base, (ast.Attribute, ast.Subscript)):
            base = base.value
        if isinstance(base, ast.Name):
            yield base.id
    for child in ast.iter_child_nodes(node):
        yield from _bound_by(child)


def bound(source: str) -> set[str]:
    """The names that a cell binds, or whose value it visibly changes; none where it is not Python."""
    try:
        return set(_bound_by(ast.parse(source)))
    except SyntaxError:
        return set()


def used(source: str) -> set[str]:
    """The names that a cell reads; none where it is not Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def imported(source: str) -> set[str]:
    """The modules that a cell imports, by their full names; none where it is not Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def imports(source: str) -> list[str]:
    """A cell's own import statements, one by one; none where it is not Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    return [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]


# what comes with the first cell that imports it: Plotly, which the book's figures draw with; what checks compare with
LATER = {"plotly": r"(?:plotly|posenc\.figures)\b", "recorded": r"posenc\.check\b"}


def wants(source: str) -> list[str]:
    """What a cell needs that is brought later, by name."""
    names = imported(source)
    return [pack for pack, pattern in LATER.items() if any(re.match(pattern, name) for name in names)]


# ---- what a value looks like ----------------------------------------------------------------------------------------


def bundle(value: Any) -> dict[str, str]:
    """A value as the page can show it: a Plotly figure's JSON, an explorable's HTML, or else its text."""
    if hasattr(value, "to_plotly_json") and hasattr(value, "to_json"):
        from plotly_figure import plotly_html  # the page's own way to show one, which comes with this module

        return {PLOTLY: plotly_html(json.loads(value.to_json()))}
    if hasattr(value, "_repr_mimebundle_"):
        found = value._repr_mimebundle_()
        data = found[0] if isinstance(found, tuple) else found
        if EXPLORABLE in (data or {}).get("text/html", ""):
            return {"text/html": data["text/html"]}
    return {"text/plain": repr(value)}


def trimmed(error: BaseException, files: Mapping[str, str]) -> str:
    """A traceback without what is not the reader's: the lines of cells, and what went wrong."""
    told = traceback.TracebackException.from_exception(error)
    chain: list[traceback.TracebackException] = [told]
    while (last := chain[-1].__cause__ or chain[-1].__context__) is not None and last not in chain:
        chain.append(last)
    for one in chain:
        one.stack[:] = [frame for frame in one.stack if frame.filename in files]
        if isinstance(where := getattr(one, "filename", None), str):  # a syntax error says itself where it is
            one.filename = files.get(where, where)
        for frame in one.stack:
            frame.filename = files[frame.filename]
    return "".join(told.format()).rstrip()


class _Printed(io.TextIOBase):
    """What a cell prints: told in pieces, and no more than the page can hold."""

    def __init__(self, name: str, tell: Callable[[dict[str, Any]], None], left: list[int]) -> None:
        self._name, self._tell, self._left = name, tell, left  # `left` is shared by stdout and stderr
        self._held: list[str] = []
        self._told = time.monotonic()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() takes a str, got {type(text).__name__}")
        kept = text[: max(self._left[0], 0)]
        self._left[0] -= len(text)
        if kept:
            self._held.append(kept)
            if len(kept) > TOLD or time.monotonic() - self._told > PATIENCE:
                self.flush()
        return len(text)

    def flush(self) -> None:
        if self._held:
            self._tell({"stream": self._name, "text": "".join(self._held)})
            self._held.clear()
            self._told = time.monotonic()


# ---- the notebook ---------------------------------------------------------------------------------------------------


class Notebook:
    """The variables of a page, its cells' outputs and its sliders.

    Args:
        tell: takes what the page is to know, as JSON: {"cell": …, "output": …}, or with "interact" and a number
            instead of "cell" for what belongs to a set of sliders.
    """

    def __init__(self, tell: Tell) -> None:
        self._send = tell
        self.names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, "display": self.display}
        self.missing: dict[str, str] = {}  # a name -> the package that the cell that would bind it needs
        self._files: dict[str, str] = {}  # how Python calls what a cell held at a run -> how the reader calls it
        self._draws: list[Callable[[Mapping[str, Any]], Any]] = []
        self._collect: Callable[[dict[str, Any]], None] | None = None
        self._shown = 0

    # outputs

    def _output(self, output: dict[str, Any]) -> None:
        if self._collect is None:
            raise RuntimeError("nothing runs, so nothing can be shown")
        self._collect(output)

    def display(self, *values: Any) -> None:
        """Show values below the cell that runs."""
        for value in values:
            self._shown += 1
            if self._shown <= MOST_SHOWN:
                sys.stdout.flush()  # what was printed before comes before
                self._output({"data": bundle(value)})

    @contextmanager
    def _outputs(self, collect: Callable[[dict[str, Any]], None]) -> Iterator[None]:
        """Outputs go to `collect`; at the end it is told how much was left out."""
        before, self._collect, shown, self._shown = self._collect, collect, self._shown, 0
        left = [MOST_CHARACTERS]
        out, err = _Printed("stdout", collect, left), _Printed("stderr", collect, left)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                yield
        finally:
            out.flush()
            err.flush()
            cut = {"characters": max(-left[0], 0), "shown": max(self._shown - MOST_SHOWN, 0)}
            if any(cut.values()):
                collect({"cut": cut})
            self._collect, self._shown = before, shown

    # cells

    def _compiled(self, cell: str, source: str) -> tuple[CodeType, CodeType | None]:
        """A cell's statements, and its last expression, whose value is shown unless a semicolon ends it."""
        file = f"<{cell} {len(self._files)}>"  # what was defined keeps its text, which a check may want to read
        self._files[file] = cell
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        tree = ast.parse(source, file)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            last = compile(ast.Expression(tree.body.pop().value), file, "eval")  # type: ignore[attr-defined]
        return compile(tree, file, "exec"), last

    def _let_figures_show(self, source: str) -> None:
        """Have a figure's own `show()` show it here: Plotly would open a window, and a page has none."""
        if sys.platform == "emscripten" and "plotly" in wants(source):
            from plotly import io as plotly_io

            plotly_io.show = lambda figure, *args, **named: self.display(figure)

    def _execute(self, cell: str, source: str) -> None:
        self._let_figures_show(source)
        statements, last = self._compiled(cell, source)
        exec(statements, self.names)
        if last is not None and (value := eval(last, self.names)) is not None:
            self.display(value)

    def run(self, cell: str, source: str) -> str:
        """Run a cell; as JSON, how it ended.

        {"status": "done"}; {"status": "failed", "error": text}; or {"status": "needs", "package": name, "through":
        name, "error": text} when it needs what the page does not have: a package, or a variable of a cell that
        needs one.
        """
        ended: dict[str, Any] = {"status": "done"}
        with self._outputs(lambda output: self._send(json.dumps({"cell": cell, "output": output}))):
            try:
                self._execute(cell, source)
            except BaseException as error:  # what a reader's code raises is the reader's, KeyboardInterrupt too
                ended = self._failure(error)
        if ended["status"] == "needs":
            self._forget(source, ended["package"])
        elif ended["status"] == "done":
            for name in bound(source):
                self.missing.pop(name, None)
        return json.dumps(ended)

    def _failure(self, error: BaseException) -> dict[str, Any]:
        told = {"status": "failed", "error": trimmed(error, self._files)}
        if isinstance(error, ModuleNotFoundError) and error.name:
            package = error.name.partition(".")[0]
            return told | {
                "status": "needs",
                "package": error.name if package in sys.modules else package,
                "through": "",
            }
        if isinstance(error, NameError) and error.name in self.missing:
            package = self.missing[error.name]
            return told | {
                "status": "needs",
                "package": package,
                "through": error.name if error.name != package else "",
            }
        return told

    def _forget(self, source: str, package: str) -> None:
        """Leave nothing half done behind a cell that could not run.

        What it binds is unknown from now on, also what earlier cells had put there; and so is a generator of random
        numbers that it might have drawn from, whose next numbers would not be the book's.
        """
        drawn_from = {
            name for name in used(source) if type(self.names.get(name)).__name__ in ("Generator", "RandomState")
        }
        for name in bound(source) | drawn_from:
            self.names.pop(name, None)
            self.missing[name] = package
        for statement in imports(source):  # they leave nothing half done, and later cells may want them
            try:
                exec(statement, self.names)
            except ImportError:
                continue  # stays missing
            for name in bound(statement):
                self.missing.pop(name, None)

    # sliders

    def interact(self, controls: list[dict[str, Any]], draw: Callable[[Mapping[str, Any]], Any]) -> None:
        """Show controls, and below them what `draw` makes of the values that they open with."""
        number = len(self._draws)
        self._draws.append(draw)
        sys.stdout.flush()
        outputs = self._drawn(draw, {}, keep_errors=False)
        self._output({"interact": number, "controls": controls, "outputs": outputs})

    def _drawn(
        self, draw: Callable[[Mapping[str, Any]], Any], values: Mapping[str, Any], keep_errors: bool
    ) -> list[dict[str, Any]]:
        outputs: list[dict[str, Any]] = []
        with self._outputs(outputs.append):
            try:
                value = draw(values)
                if value is not None:
                    self.display(value)
            except BaseException as error:
                if not keep_errors:
                    raise  # the cell fails as a whole
                outputs.append({"error": trimmed(error, self._files)})
        return outputs

    def move(self, number: int, values: str) -> str:
        """What a set of sliders shows at values that the page sends as JSON: a list of outputs, as JSON."""
        return json.dumps(self._drawn(self._draws[number], json.loads(values), keep_errors=True))


PAGE: Notebook


def load_numpy() -> str:
    """Import NumPy; its version.

    Its wheel for the page has no f2py, which compiles Fortran. array-api-compat copies whatever NumPy names, so the
    name stands for a module with nothing in it.
    """
    import numpy

    if importlib.util.find_spec("numpy.f2py") is None:
        numpy.f2py = ModuleType("numpy.f2py", "f2py compiles Fortran, which a page cannot.")
    return numpy.__version__


def open_notebook(tell: Tell) -> Notebook:
    """The page's notebook, to which `interact` speaks."""
    global PAGE
    PAGE = Notebook(tell)
    return PAGE
