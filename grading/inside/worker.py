"""The process inside the sandbox: it imports what answers may use, then runs each check's answer in a child.

It is given cells and calls, and gives back plain data. It knows neither inputs to come, nor right values, nor points.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import types
from contextlib import nullcontext
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lockdown  # noqa: E402
from alone import ReadyMade, attention_written_out, namespace, without_onnx  # noqa: E402
from plain import LARGEST, decode, encode, plain  # noqa: E402


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


def failure(error: BaseException) -> dict[str, Any]:
    """What is told of an exception: its kind, and never its text, which could carry inputs out."""
    if isinstance(error, ReadyMade):
        return {"ready_made": str(error.args[0])}
    if isinstance(error, RuntimeError) and "allocate memory" in str(error):  # how torch says it
        return {"raised": "MemoryError"}
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
    return {"unanswered": True} if "NotImplementedError" in kinds else {"raised": kinds[0]}


def called(function: Any, arguments: list[Any], watch: Any) -> dict[str, Any]:
    """What an answer's function gives, or that it changed what it was given."""
    before = encode(arguments)
    with watch():
        value = plain(function(*arguments))
    return {"value": value} if encode(plain(arguments)) == before else {"changed": True}


def answer(order: dict[str, Any], source: int, target: int, unsafe: bool) -> None:
    """Run one check's answer: execute its cells, then answer calls until there are no more."""
    nothing = os.open(os.devnull, os.O_RDWR)
    source, target = os.dup(source), os.dup(target)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    signal.alarm(0)
    watch = attention_written_out if order["watched"] else nullcontext
    for name in ("alone", "lockdown", "plain", "__main__"):  # no names for an answer to replace
        sys.modules[name] = types.ModuleType(name)
    found = namespace(tuple(order["allowed"]), order["imports"])
    lockdown.limit_resources(order["memory"], order["seconds"])
    if not unsafe:
        lockdown.refuse_system_calls()
    with without_onnx():
        try:
            for number, cell in enumerate(order["cells"]):
                exec(compile(cell, f"<answer {number}>", "exec"), found)
        except BaseException as error:  # sys.exit and KeyboardInterrupt are ways to fail like any other
            send(target, failure(error))
            return
        send(target, {"defined": [name for name in order["names"] if callable(found.get(name))]})
        while (call := receive(source)) is not None and "finish" not in call:
            try:
                reply = called(found[call["name"]], call["args"], watch)
                encode(reply)
            except BaseException as error:  # as above
                reply = failure(error)
            send(target, reply)


def main() -> None:
    """Read what to import, say that all is ready, then run one child after another."""
    source, target = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    order = receive(source)
    for name in order["packages"]:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    with attention_written_out():  # what it imports at its first use is not left to a child
        pass
    lockdown.hide_memory()
    lockdown.write_nothing()
    unsafe = order["unsafe"]
    if not unsafe:
        lockdown.refuse_system_calls(forks=True)
    endings = order["endings"]  # where the worker alone can write: no child can pretend that it has ended
    send(target, {"ready": True, "largest": LARGEST})
    while (order := receive(source)) is not None:
        if "cells" not in order:  # "finish", for a child that has ended already
            continue
        if (child := os.fork()) == 0:
            try:
                os.close(endings)
                answer(order, source, target, unsafe)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""
        os.write(endings, f"{ended}\n".encode())


if __name__ == "__main__":
    main()
