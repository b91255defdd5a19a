"""A student's functions as the grader will see them: defined by their cell alone."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import linecache
import os
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from posenc.check._alone import ATTENTION, ReadyMade, kind_of, namespace, refused, undefined, without_onnx
from posenc.check._wrong import Unanswered, Wrong, say

Answer = Callable[..., Any]
LONGEST_NAME = 60  # letters of a name in an answer that are shown


def _wrapped(function: Any) -> Iterator[Any]:
    """A function, and what it wraps: by a decorator, by `partial`, by NumPy, or as a method of its own."""
    seen: list[Any] = []
    while function is not None and not any(function is one for one in seen):
        seen.append(function)
        yield function
        inner = (getattr(function, name, None) for name in ("__wrapped__", "func", "pyfunc", "__func__"))
        own = inspect.getattr_static(type(function), "__call__", None)
        function = next((one for one in inner if callable(one)), own if inspect.isfunction(own) else None)


def cell_of(function: Answer) -> str:
    """The text of the notebook's cell that defines a function; empty where it was not defined in one."""
    for one in _wrapped(function):
        name = getattr(getattr(one, "__code__", None), "co_filename", "")
        in_file = os.path.exists(name) and "ipykernel_" not in name  # a debugger writes cells into such files
        if name and not in_file and (cell := "".join(linecache.getlines(name))):
            return cell
    return ""


def _refuse_installed(function: Answer) -> None:
    """Raise `Wrong` for a function of an installed package, handed over as it is."""
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    if module.partition(".")[0] in ("posenc", "torch", "numpy"):
        raise Wrong(say("cell.installed", module=module))


def why_not(kind: str, cells: list[str], allowed: tuple[str, ...], imports: str) -> str:
    """What an answer's text says of a failure of a kind, `ReadyMade` or `NameError`; empty where it says nothing."""
    if kind not in ("ReadyMade", "NameError"):
        return ""
    try:
        names = refused(cells, allowed) if kind == "ReadyMade" else undefined(cells, allowed, imports)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # running it will say so
        return ""
    shown = [name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…" for name in names[:5]]
    facts = {"names": [{"name": name} for name in shown], "more": len(names[5:])}
    if kind == "ReadyMade":
        return say("cell.refused", **facts)
    return say("cell.undefined", **facts) if names else ""


def has_torch() -> bool:
    """Whether there is torch here; a page in a browser has none."""
    return importlib.util.find_spec("torch") is not None


def needs_torch(error: Exception) -> bool:
    """Whether an exception says that torch is not here: of that an answer is not guilty, and it is told as it is."""
    return isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] == "torch"


def told(error: Exception) -> str:
    """What an exception says, and the last line of the answer that it went through: its number and its text."""
    line = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith("<answer") or "ipykernel_" in frame.filename or "ipython-input" in frame.filename:
            line = say("cell.line", number=frame.lineno, text=f"`{(frame.line or '')[:80]}`" if frame.line else "")
    return " ".join(filter(None, (line, f"({str(error)[:300]})" if str(error) else "")))


def alone(
    functions: tuple[Answer, ...], names: tuple[str, ...], allowed: tuple[str, ...], imports: str, written_out: bool
) -> tuple[Answer, ...]:
    """The functions of those names, from the cell that defines the first one, executed as the grader executes it.

    `allowed` and `imports` are the question's packages and its notebook's import lines; `written_out` is for a
    question that asks for attention written out. A function that no cell defines comes back as it is. Raises `Wrong`
    where the cell alone does not do, `Unanswered` where it is empty.
    """
    cell = cell_of(functions[0])
    if not cell:
        _refuse_installed(functions[0])
        return functions

    if written_out and ATTENTION.search(cell):
        raise Wrong(say("cell.attention"))

    def why(kind: str) -> str:
        return why_not(kind, [cell], allowed, imports)

    def guarded(run: Answer) -> Answer:
        def call(*args: Any) -> Any:
            try:
                with without_onnx():
                    return run(*args)
            except NotImplementedError:
                raise Unanswered from None
            except ReadyMade:
                raise Wrong(why("ReadyMade")) from None
            except Exception as error:
                if needs_torch(error):
                    raise
                kind = type(error).__name__
                reason = why(kind)
                sentence = reason or say("cell.raised", kind=kind)
                raise Wrong(sentence, told(error), raised="" if reason else kind_of(error)) from error

        return call

    found = namespace(allowed, imports)
    with contextlib.redirect_stdout(io.StringIO()):  # it has been printed when the cell ran
        linecache.cache["<answer 0>"] = len(cell), None, cell.splitlines(keepends=True), "<answer 0>"
        guarded(lambda: exec(compile(cell, "<answer 0>", "exec"), found))()
    for name in names:
        if not callable(found.get(name)):
            raise Wrong(say("cell.no_function", name=name))
    return tuple(guarded(found[name]) for name in names)
