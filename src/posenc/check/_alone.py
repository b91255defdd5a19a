"""An answer's cell on its own, as it is graded: what stands around it, what it may import, what is watched.

The grader runs this same file inside its sandbox and the public checks run it in a notebook, so it imports nothing of
this package.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import symtable
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

ATTENTION = "<attention>"  # where the name of a module stands that was used: no module has this one

# A notebook's own names and modules, which an answer may use and which do nothing.
INERT = ("check", "display", "get_ipython", "help", "exit", "quit", "credits", "license", "copyright")
NOTEBOOK = ("posenc.check", "IPython")

# torch's operators that multiply matrices, and those that take exponentials: attention is one after the other.
PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "addmv", "dot", "vdot", "linear", "convolution"}
EXPONENTIALS = {"_softmax", "_safe_softmax", "_masked_softmax", "_log_softmax", "exp", "exp_", "exp2", "logsumexp"}
# Operators with an underscore, torch's mark of what is internal, that ordinary expressions come down to all the same;
# those of its core set are known by their tag.
INTERNAL = {
    *("_unsafe_view", "_reshape_alias", "_conj", "_conj_physical", "_neg_view", "_unique2", "_index_put_impl_"),
    *("_safe_softmax", "_masked_softmax", "_fft_c2c", "_euclidean_dist", "_assert_async", "_stack", "_trilinear"),
    *("_linalg_check_errors", "_linalg_svd", "_linalg_eigh", "_linalg_det", "_linalg_slogdet", "_linalg_solve_ex"),
}


class ReadyMade(Exception):
    """An answer used what it may not use; `args[0]` is its name, or `ATTENTION`."""


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


@contextmanager
def attention_written_out() -> Iterator[None]:
    """Watch torch's operators; raises `ReadyMade` where one call of the answer's is attention.

    That is: a call that both multiplies matrices and takes exponentials, by whatever way it came there, or an operator
    that is torch's own affair. A call is one instruction of code that was compiled as an answer; what an answer's own
    functions do inside it is counted as theirs.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    look = sys._getframe
    calls: list[tuple[Any, int, set[str]]] = []  # for each of the answer's frames: its instruction, and what it did
    seen: list[str] = []
    found: list[str] = []

    def note(frame: Any, space: str, name: str, core: bool) -> None:
        frames = []
        while frame is not None:
            if frame.f_code.co_filename.startswith("<answer"):
                frames.append(frame)
            frame = frame.f_back
        frame, place = (frames[0], frames[0].f_lasti) if frames else (None, 0)
        calls[:] = [call for call in calls if call[0] is None or any(call[0] is one for one in frames)]
        done = next((done for one, instruction, done in calls if one is frame and instruction == place), None)
        if done is None:
            calls[:] = [call for call in calls if call[0] is not frame]
            calls.append((frame, place, done := set()))
        done |= {kind for kind, names in (("product", PRODUCTS), ("exponential", EXPONENTIALS)) if name in names}
        internal = name.startswith("_") and not core and name not in INTERNAL
        if space not in ("aten", "prim", "prims") or internal or len(done) == 2:
            found.append(name)
            raise ReadyMade(ATTENTION)

    class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's class has no types
        supports_higher_order_operators = True

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # which would import torch's compiler, a second long

        def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(operator, "__name__", "").partition(".")[0]
            core = torch.Tag.core in getattr(operator, "tags", ())
            seen.append(name)
            note(look(1), getattr(operator, "namespace", ""), name, core)
            return operator(*args, **(kwargs or {}))

    with Watch():  # type: ignore[no-untyped-call]
        yield
        before = len(seen)
        torch.ones(2).add(1)  # is the watch still there?
        if len(seen) != before + 2:
            found.append("watch")
    if found:  # also where the answer caught the exception
        raise ReadyMade(ATTENTION)
