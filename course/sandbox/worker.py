"""The processes inside the sandbox: one imports what answers may use, and each worker is a copy of it.

A worker is a submission's own: walled off from all others, it runs each check's answer in a child. It is given cells
and calls, and gives back plain data. It knows neither inputs to come, nor right values, nor points. The process that
it is a copy of never sees any of that, and so is as good for the next submission as it was for the first.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import socket
import sys
import traceback
import types
from contextlib import suppress
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import seccomp  # noqa: E402
from alone import ReadyMade, kind_of, namespace, without_onnx  # noqa: E402
from plain import LARGEST, REPLY, decode, encode, plain, runnable  # noqa: E402


class Nowhere(io.RawIOBase):
    """Takes what is written, and keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        return int(memoryview(content).nbytes)


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
    kind = kind_of(error)
    return {"unanswered": True} if isinstance(error, NotImplementedError) else {"raised": kind.partition(" ")[0]}


def called(function: Any, arguments: list[Any]) -> dict[str, Any]:
    """What an answer's function gives, or that it changed what it was given."""
    before = encode(arguments)
    value = plain(function(*map(runnable, arguments)))
    return {"value": value} if encode(plain(arguments)) == before else {"changed": True}


def answer(order: dict[str, Any], source: int, target: int) -> None:
    """Run one check's answer: execute its cells, then answer calls until there are no more."""
    signal.alarm(0)
    for name in ("alone", "seccomp", "plain", "__main__"):  # no names for an answer to replace
        sys.modules[name] = types.ModuleType(name)
    found = namespace(tuple(order["allowed"]), order["imports"])
    seccomp.limit_resources(order["memory"], order["seconds"])
    seccomp.refuse_system_calls()
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
                reply = called(found[call["name"]], call["args"])
            except BaseException as error:  # as above
                reply = failure(error)
            try:
                encode(reply, *REPLY)
            except ValueError:
                reply = {"large": True}
            send(target, reply)


def work(handles: list[int], contained: bool) -> None:
    """Be one submission's worker: say that all is ready, then run one child after another."""
    source, target, endings = handles  # where the worker alone can write: no child can pretend that it has ended
    if not contained:
        seccomp.drop_capabilities()
    seccomp.hide_memory()
    seccomp.write_nothing()
    seccomp.refuse_system_calls(forks=True)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # until here, what goes wrong is said there
        os.dup2(nothing, number)
    os.close(nothing)
    # some kernels refuse writes to a device, too, where no file may grow
    sys.stdout = sys.stderr = io.TextIOWrapper(io.BufferedWriter(Nowhere()), encoding="utf-8", errors="replace")
    send(target, {"ready": True, "largest": LARGEST})
    while (order := receive(source)) is not None:
        if "here" in order:
            os.write(endings, b"\n")
        if "cells" not in order:  # that, or "finish" for a child that has ended already
            continue
        if (child := os.fork()) == 0:
            try:
                os.close(endings)
                answer(order, source, target)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""
        os.write(endings, f"{ended}\n".encode())


def copied(control: socket.socket, handles: list[int], contained: bool) -> None:
    """Start a worker, a copy of this process, and tell of it: its number here, and a handle of it.

    Its namespaces are its own, unless it is in a container that allows none: it is the first process of all that it
    sees, and they end with it.
    """
    itself = os.getpid()
    try:
        if not contained and (between := os.fork()):  # who makes namespaces makes them for its children, and is in none
            os.waitpid(between, 0)
            return
        if not contained:
            seccomp.new_namespaces()
        worker = os.fork()
    except OSError as error:
        control.send(f"refused: {error}".encode())
    else:
        if worker == 0:
            try:
                os.setsid()
                control.close()
                work(handles, contained)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        handle = os.pidfd_open(worker)
        socket.send_fds(control, [str(worker).encode()], [handle])
        os.close(handle)
    if os.getpid() != itself:
        os._exit(0)


def main() -> None:
    """Import what answers may use, say so, and start a worker for each request, or be one where that is asked for."""
    control = socket.socket(fileno=os.dup(0))
    order = receive(0)
    for name in order["packages"]:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    # What is imported at its first use is not left to every child, which may be somebody who can't read it.
    for name in ("numpy.fft", "numpy.random"):
        importlib.import_module(name)
    if "plotly" in order["packages"]:
        figures = importlib.import_module("plotly.graph_objects")
        plain(figures.Figure(figures.Scatter(x=[0], y=[0])).update_layout(title={"text": ""}, yaxis={"type": "log"}))
    if order["contained"]:
        seccomp.become_nobody()
    seccomp.hide_memory()
    control.send(b"+")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    while True:
        request, handles, _, _ = socket.recv_fds(control, 4, 3)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # workers that have ended
                pass
        if request == b"copy":
            copied(control, handles, order["contained"])
        elif request == b"be":
            control.close()
            work(handles, order["contained"])
            return
        else:
            return
        for handle in handles:
            os.close(handle)


if __name__ == "__main__":
    main()
