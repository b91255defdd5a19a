"""An answer's cell on its own, as it is graded: what stands around it, and what it may import.

The grader runs this same file inside its sandbox and the public checks run it in a notebook, so it imports nothing of
this package.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import symtable
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

# A notebook's own names and modules, which an answer may use and which do nothing.
INERT = ("check", "display", "get_ipython", "help", "exit", "quit", "credits", "license", "copyright")
NOTEBOOK = ("posenc.check", "IPython")

# Attention in one call, which a question may ask to be written out. A name in the text is looked for and no more:
# who hides it from the check hides it from the reader of the pledge, too.
ATTENTION = re.compile(r"scaled_dot_product|flex_attention|[mM]ulti_?[hH]ead_?[aA]ttention|Transformer(En|De)coder")


class ReadyMade(Exception):
    """An answer used what it may not use; `args[0]` is its name."""


class Absent(types.ModuleType):
    """Stands for what an answer may not use: to import it costs nothing, to call it raises `ReadyMade`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")

    def __call__(self, *args: Any, **named: Any) -> Any:
        raise ReadyMade(self.__name__)


class NotHere(types.ModuleType):
    """Stands for a package that a notebook imports and this machine has not: to use it raises as its import does."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ModuleNotFoundError(f"No module named {self.__name__!r}", name=self.__name__)


class Inert(types.ModuleType):
    """Stands for `check`, `display` and `get_ipython` in an answer: whatever is asked of it does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert(name)

    def __call__(self, *args: Any, **named: Any) -> Inert:
        return self


def permitted(name: str, allowed: Iterable[str]) -> bool:
    """Whether an answer may use a module: the standard library and the allowed packages, but not `torch.onnx`.

    That one has rotary embedding and attention as functions.
    """
    root = name.partition(".")[0]
    return root in {*sys.stdlib_module_names, *allowed} and not f"{name}.".startswith("torch.onnx.")


def _imports(allowed: tuple[str, ...]) -> Callable[..., Any]:
    """What an answer's import statements call."""

    def guarded(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if name.startswith(NOTEBOOK):
            return Inert(name if fromlist else name.partition(".")[0])
        if level == 0 and not permitted(name, allowed):
            return Absent(name if fromlist else name.partition(".")[0])
        return importlib.__import__(name, globals, locals, fromlist, level)

    return guarded


def _permitted_lines(imports: str, allowed: tuple[str, ...]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements of a notebook that import only what an answer may use."""
    for statement in ast.parse(imports).body:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(statement, ast.ImportFrom):
            names = [str(statement.module)]
        else:
            names = [alias.name for alias in statement.names]
        if all(permitted(name, allowed) for name in names):
            yield statement


def namespace(allowed: tuple[str, ...], imports: str) -> dict[str, Any]:
    """What an answer's cell finds: Python's own names, and what the notebook's import lines define, where permitted."""
    inside = {**vars(builtins), "__import__": _imports(allowed)}
    found = {"__name__": "__main__", "__builtins__": inside, **{name: Inert(name) for name in INERT}}
    for line in _permitted_lines(imports, allowed):
        try:
            exec(compile(ast.Module([line], []), "<imports>", "exec"), found)
        except ModuleNotFoundError as error:
            names = (alias.asname or alias.name.partition(".")[0] for alias in line.names)
            found |= {name: NotHere(error.name or name) for name in names}
    return found


def undefined(cells: Iterable[str], allowed: tuple[str, ...], imports: str) -> list[str]:
    """The names that an answer's cells use, and that neither they nor what stands around them define.

    None is told where a cell imports everything of a module.
    """
    cells = list(cells)
    stars = (node for cell in cells for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.ImportFrom))
    if any(alias.name == "*" for node in stars for alias in node.names):
        return []
    used: set[str] = set()
    lines = ast.unparse(ast.Module(list(_permitted_lines(imports, allowed)), []))
    made = {*dir(builtins), *INERT, "__name__"}

    def look(table: symtable.SymbolTable) -> None:
        for symbol in table.get_symbols():
            if table.get_type() == "module" or symbol.is_global():
                if symbol.is_referenced():
                    used.add(symbol.get_name())
                if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                    made.add(symbol.get_name())
        for child in table.get_children():
            look(child)

    for cell in (lines, *cells):
        look(symtable.symtable(cell, "<answer>", "exec"))
    return sorted(used - made)


def _of_tensors_alone(name: str) -> bool:
    """Whether a method of that name is a tensor's, and no array's, list's, dictionary's, text's or number's."""
    torch = sys.modules.get("torch")
    others = (list, dict, set, str, complex, getattr(sys.modules.get("numpy"), "ndarray", None))
    return hasattr(getattr(torch, "Tensor", None), name) and not any(hasattr(one, name) for one in others)


def libraries(cells: Iterable[str]) -> set[str]:
    """Which of NumPy and torch an answer's cells use: by their names, or by methods that only tensors have."""
    names: set[str] = set()
    for node in (node for cell in cells for node in ast.walk(ast.parse(cell))):
        if isinstance(node, ast.Name):
            names.add({"np": "numpy"}.get(node.id, node.id))
        elif isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module).partition(".")[0])
        elif isinstance(node, ast.Attribute) and _of_tensors_alone(node.attr):
            whose = node.value
            while isinstance(whose, ast.Attribute):
                whose = whose.value
            if not (isinstance(whose, ast.Name) and whose.id in ("np", "numpy", "math")):
                names.add("torch")
    return names & {"numpy", "torch"}


def refused(cells: Iterable[str], allowed: Iterable[str]) -> list[str]:
    """The packages that an answer's cells name and may not use."""
    names: set[str] = set()
    for node in (node for cell in cells for node in ast.walk(ast.parse(cell))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names |= {f"{node.value.id}.{node.attr}"} & {"torch.onnx"}
    names = {
        name for name in names if not permitted(name, allowed) and not name.startswith(("posenc.check.", "IPython"))
    }
    return sorted({"torch.onnx" if name.startswith("torch.") else name.partition(".")[0] for name in names})


def kind_of(error: BaseException) -> str:
    """What kind of built-in exception it is; of a RuntimeError, in which torch reports everything, what it is about.

    >>> kind_of(RuntimeError("expected m1 and m2 to have the same dtype, but got: float != double"))
    'RuntimeError of dtypes'
    """
    kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
    if type(error) is not RuntimeError:
        return kind
    text = str(error)
    if "allocate memory" in text:
        return "MemoryError"
    about = {"dtypes": r"same dtype|scalar type|Float|Double", "shapes": r"shape|size|dimension"}
    return next((f"{kind} of {what}" for what, words in about.items() if re.search(words, text)), kind)


@contextmanager
def without_onnx() -> Iterator[None]:
    """Nothing of `torch.onnx` by way of torch's own name."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    names = vars(torch)
    before = names.get("onnx")
    names["onnx"] = Absent("torch.onnx")
    try:
        yield
    finally:
        del names["onnx"]
        if before is not None:
            names["onnx"] = before
