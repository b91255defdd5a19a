"""The process inside the sandbox: it imports what answers may use, then runs each check's answer in a child.

It is given cells and calls, and gives back plain data. It knows neither inputs to come, nor right values, nor points.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.util
import os
import signal
import sys
import types
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lockdown  # noqa: E402
from plain import LARGEST, decode, encode, plain  # noqa: E402

KEPT: list[Any] = []  # what ends with its last reference


class ReadyMade(Exception):
    """An answer asked for something that it may not use; `args[0]` is its name."""


def receive(source: int) -> Any:
    """The next message; None at the end of the stream."""

    def exactly(count: int) -> bytes:
        parts = []
        while count and (part := os.read(source, min(count, 1 << 20))):
            parts.append(part)
            count -= len(part)
        return b"".join(parts) if not count else b""

    head = exactly(8)
    return decode(exactly(int.from_bytes(head, "big"))) if head else None


def send(target: int, value: Any) -> None:
    """Write one message."""
    message = encode(value)
    data = memoryview(len(message).to_bytes(8, "big") + message)
    while data:
        data = data[os.write(target, data) :]


class Inert(types.ModuleType):
    """Stands for `check` in an answer: whatever is asked of it does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert(name)

    def __call__(self, *args: Any, **named: Any) -> None:
        return None


class Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules that a question lists from their text, and refuses an answer all that it may not use."""

    def __init__(self, sources: dict[str, str], allowed: list[str]) -> None:
        self.sources = sources
        self.allowed = {*sys.stdlib_module_names, *allowed}
        self.first_refused = ""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name in self.sources:
            package = any(other.startswith(f"{name}.") for other in self.sources)
            return importlib.util.spec_from_loader(name, self, is_package=package)
        ready_made = f"{name}.".startswith("torch.onnx.")  # rotary embedding and attention, as functions
        if ready_made or (name.partition(".")[0] not in self.allowed and asked_by_an_answer()):
            self.first_refused = self.first_refused or name
            raise ModuleNotFoundError(f"an answer may not use {name}", name=name)
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        exec(compile(self.sources[module.__name__], f"<{module.__name__}>", "exec"), module.__dict__)


def asked_by_an_answer() -> bool:
    """Whether the import under way was written in an answer's cell, and not in a library that it uses."""
    frame = sys._getframe(2)
    while frame and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back  # type: ignore[assignment]
    return bool(frame) and frame.f_code.co_filename.startswith("<answer")


def forbid(names: list[str]) -> None:
    """Replace torch's ready-made answers by a function that says so, and torch's own operators below their names."""
    torch: Any = sys.modules["torch"]
    library = torch.library.Library("aten", "IMPL")
    KEPT.append(library)
    for name in names:
        first, *middle, last = name.split(".")
        owner: Any = sys.modules[first]
        for part in middle:
            if not hasattr(owner, part):  # a module that nobody has imported yet
                importlib.import_module(f"{owner.__name__}.{part}")
            owner = getattr(owner, part)

        def refuse(*args: Any, name: str = name, **named: Any) -> None:
            raise ReadyMade(name)

        setattr(owner, last, refuse)
        if name.startswith("torch.ops.aten."):
            library.impl(last, refuse, "CPU")


def prelude(source: str, namespace: dict[str, Any], allowed: list[str]) -> None:
    """Execute the notebook's own imports, those that this question allows."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Import):
            roots = {alias.name.partition(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            roots = {str(statement.module).partition(".")[0]}
        else:
            roots = set()
        if roots <= {*sys.stdlib_module_names, *allowed}:
            exec(compile(ast.Module([statement], []), "<imports>", "exec"), namespace)


def failure(error: BaseException, importer: Importer) -> dict[str, Any]:
    """What is told of an exception: its kind, and never its text, which could carry inputs out."""
    if isinstance(error, ReadyMade):
        return {"ready_made": str(error.args[0])}
    if importer.first_refused:
        return {"ready_made": importer.first_refused}
    if isinstance(error, RuntimeError) and "allocate memory" in str(error):  # how torch says it
        return {"raised": "MemoryError"}
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
    return {"unanswered": True} if "NotImplementedError" in kinds else {"raised": kinds[0]}


def answer(order: dict[str, Any], source: int, target: int, unsafe: bool) -> None:
    """Run one check's answer: execute its cells, then answer calls until there are no more."""
    nothing = os.open(os.devnull, os.O_RDWR)
    source, target = os.dup(source), os.dup(target)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    signal.alarm(0)
    forbid(order["forbidden"])
    importer = Importer(order["sources"], order["allowed"])
    sys.meta_path.insert(0, importer)
    namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__, "check": Inert("check")}
    sys.modules["posenc.check"] = Inert("posenc.check")
    prelude(order["imports"], namespace, order["allowed"])
    lockdown.limit_resources(order["memory"], order["seconds"])
    if not unsafe:
        lockdown.refuse_system_calls()
    try:
        for number, cell in enumerate(order["cells"]):
            exec(compile(cell, f"<answer {number}>", "exec"), namespace)
    except BaseException as error:  # sys.exit and KeyboardInterrupt are ways to fail like any other
        send(target, failure(error, importer))
        return
    if importer.first_refused:
        send(target, {"ready_made": importer.first_refused})
        return
    send(target, {"defined": [name for name in order["names"] if callable(namespace.get(name))]})
    while (call := receive(source)) is not None and "finish" not in call:
        try:
            reply = {"value": plain(namespace[call["name"]](*call["args"]))}
            reply = {"ready_made": importer.first_refused} if importer.first_refused else reply
            encode(reply)
        except BaseException as error:  # as above
            reply = failure(error, importer)
        send(target, reply)


def main() -> None:
    """Read what to import, say that all is ready, then run one child after another."""
    source, target = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    order = receive(source)
    for name in order["packages"]:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    lockdown.hide_memory()
    endings = order["endings"]  # where the worker alone can write: no child can pretend that it has ended
    send(target, {"ready": True, "largest": LARGEST})
    while (order := receive(source)) is not None:
        if "cells" not in order:  # "finish", for a child that has ended already
            continue
        if (child := os.fork()) == 0:
            try:
                os.close(endings)
                answer(order, source, target, order["unsafe"])
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""
        os.write(endings, f"{ended}\n".encode())


if __name__ == "__main__":
    main()
