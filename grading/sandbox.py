"""The trusted side of the sandbox: start a worker under bubblewrap, ask it for answers, and never wait or believe.

What comes back is decoded as plain data of bounded size, within bounded time; anything else ends the worker.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

import posenc
from posenc.check import _plain
from posenc.check._plain import LARGEST, decode, encode
from posenc.check._question import Question, Unanswered, Wrong

ROOT = Path(__file__).resolve().parents[1]
INSIDE = ROOT / "grading" / "inside"
PACKAGE = Path(posenc.__file__).resolve().parent
START_SECONDS = 120  # importing torch on a busy machine
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
LIBRARIES = ("OMP", "OPENBLAS", "MKL")  # those that would start threads, which an answer may not have
HOW_TO_GET_IT = (
    "The grader runs submissions in bubblewrap, on Linux: install it with the system's packages "
    "(Debian and Ubuntu: apt-get install bubblewrap) and try again. Where it says 'setting up uid map: Permission "
    "denied', as on Ubuntu 24.04 and newer, AppArmor must first allow it user namespaces."
)


class NoSandbox(Exception):
    """The sandbox cannot be had here; the message says why and how to get it."""


class Ended(Exception):
    """The child has ended; `args[0]` is the signal that ended it, if one did."""


class Broken(Exception):
    """The worker broke off or said what it must not: it is stopped, and a new one is started."""


@dataclass(frozen=True)
class Limits:
    """What one check's answer may take."""

    seconds: float = 10.0
    memory: int = 2 * 2**30  # bytes


@cache
def distributions(packages: tuple[str, ...]) -> dict[str, Path]:
    """The files and folders, by name, of the named packages and of all that they need."""
    owners = metadata.packages_distributions()
    waiting = [name for package in packages for name in owners[package]]
    seen: dict[str, metadata.Distribution] = {}
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        try:
            seen[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # an extra, or for another system: the package works without it
        waiting += [re.match(r"[\w.-]+", need)[0] for need in seen[name].requires or () if "extra ==" not in need]  # type: ignore[index]
    found: dict[str, Path] = {}
    for distribution in seen.values():
        for file in distribution.files or ():
            top = file.parts[0]
            place = Path(str(distribution.locate_file(top)))
            if top not in ("..", "__pycache__") and not top.endswith(".pth") and place.exists():
                found[top] = place
    return found


@cache
def sources(modules: tuple[str, ...]) -> dict[str, str]:
    """The text of the named modules of posenc and of those that they import, by name."""
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py")
        if name in found or not path.is_file():
            continue
        found[name] = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(found[name])):
            if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "posenc":
                waiting += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return {"posenc": "", **found} if found else {}


def _system_mounts() -> Iterator[str]:
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache")


def _hidden() -> list[Path]:
    """The folders in what is mounted that an answer is not to see: installed packages, sources, this repository."""
    mounted = (Path("/usr"), Path(sys.base_prefix))
    patterns = ("lib/python*/*-packages", "local/lib/python*/*-packages", "src", "local/src", "envs", "pkgs")
    found = {path for prefix in mounted for pattern in patterns for path in prefix.glob(pattern) if path.is_dir()}
    found |= {ROOT} if any(ROOT.is_relative_to(prefix) for prefix in mounted) else set()
    found = {path.resolve() for path in found}
    return sorted(path for path in found if not found & set(path.parents))


def bubblewrap() -> str:
    """The program that makes the sandbox. Raises NoSandbox where there is none."""
    program = shutil.which("bwrap")
    if sys.platform != "linux" or program is None:
        raise NoSandbox(HOW_TO_GET_IT)
    return program


def command(packages: tuple[str, ...], empty: Path) -> list[str]:
    """bubblewrap's command line: nothing to see but the system's programs, Python, and the named packages."""
    words = [bubblewrap(), "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--uid", "65534", "--gid", "65534", "--hostname", "grader", "--clearenv"]
    words += [*_system_mounts(), "--proc", "/proc", "--dev", "/dev"]
    if not Path(sys.base_prefix).is_relative_to("/usr"):
        words += ["--ro-bind", sys.base_prefix, sys.base_prefix]
    for folder in _hidden():
        words += ["--ro-bind", str(empty), str(folder)]
    for name, place in distributions(packages).items():
        words += ["--ro-bind", str(place), f"/packages/{name}"]
        if name == "torch" and (place / "onnx").is_dir():  # rotary embedding and attention, as functions
            words += ["--ro-bind", str(empty), "/packages/torch/onnx"]
    for file in INSIDE.glob("*.py"):
        words += ["--ro-bind", str(file), f"/grader/{file.name}"]
    words += ["--ro-bind", str(_plain.__file__), "/grader/plain.py", "--remount-ro", "/dev", "--remount-ro", "/"]
    settings = {"PYTHONPATH": "/packages", "HOME": "/nowhere", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    settings |= {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}
    for name, value in settings.items():
        words += ["--setenv", name, value]
    return [*words, "--chdir", "/", os.path.realpath(sys.executable), "-s", "-S", "/grader/worker.py"]


class Worker:
    """One submission's process in the sandbox; `unsafe` runs it without one, with the same limits of resources."""

    def __init__(self, packages: tuple[str, ...], imports: str, limits: Limits, unsafe: bool = False) -> None:
        self.packages, self.imports, self.limits, self.unsafe = packages, imports, limits, unsafe
        self.started: tuple[subprocess.Popen[bytes], Path, int] | None = None
        self.child_waits = False  # for a call, or to be told to finish

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End the worker and every process in its sandbox."""
        if self.started is None:
            return
        process, folder, endings = self.started
        self.started = None
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        os.close(endings)
        process.wait()
        shutil.rmtree(folder)

    def start(self) -> None:
        """Start the worker and wait until it has imported what answers may use. Raises NoSandbox where it cannot."""
        if not self.unsafe:
            bubblewrap()  # before a folder is made
        folder = Path(tempfile.mkdtemp(prefix="grading-"))
        (folder / "empty").mkdir()
        if self.unsafe:
            # beside the worker, as in the sandbox
            shutil.copytree(INSIDE, folder / "grader", ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(str(_plain.__file__), folder / "grader" / "plain.py")
            words = [sys.executable, "-s", str(folder / "grader" / "worker.py")]
        else:
            words = command(self.packages, folder / "empty")
        environment = {"PATH": os.defpath}
        environment |= {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}
        endings, its_end = os.pipe()
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env=environment,
            cwd=folder / "empty",
            pass_fds=(its_end,),
        )
        os.close(its_end)
        self.started = process, folder, endings
        try:
            self.send({"packages": list(self.packages), "endings": its_end}, time.monotonic() + START_SECONDS)
            ready = self.receive(time.monotonic() + START_SECONDS)
        except (Broken, Ended, TimeoutError) as error:
            process.kill()
            assert process.stderr is not None
            said = process.stderr.read(4000).decode(errors="replace").strip()
            self.stop()
            raise NoSandbox(f"The sandbox did not start: {said or error}\n{HOW_TO_GET_IT}") from None
        if ready != {"ready": True, "largest": LARGEST}:
            self.stop()
            raise NoSandbox(f"The sandbox's first words were {str(ready)[:200]}\n{HOW_TO_GET_IT}")

    def send(self, value: Any, deadline: float) -> None:
        """Write one message, by `deadline`; TimeoutError if it is not taken, Broken if nobody reads."""
        assert self.started is not None
        stream = self.started[0].stdin
        assert stream is not None
        message = encode(value)
        data = memoryview(len(message).to_bytes(8, "big") + message)
        os.set_blocking(stream.fileno(), False)
        while data:
            if not select.select([], [stream], [], max(0.0, deadline - time.monotonic()))[1]:
                raise TimeoutError
            try:
                data = data[os.write(stream.fileno(), data) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise Broken("nobody reads") from error

    def receive(self, deadline: float) -> Any:
        """The next message, by `deadline`.

        Raises TimeoutError if there is none, Ended if the child has ended instead, Broken if it is no message.
        """
        head = self._exactly(8, deadline)
        length = int.from_bytes(head, "big")
        if length > LARGEST + 8:
            raise Broken("too long a message")
        try:
            return decode(self._exactly(length, deadline))
        except (ValueError, MemoryError) as error:
            raise Broken("not a message") from error

    def _exactly(self, count: int, deadline: float) -> bytes:
        assert self.started is not None
        process, _, endings = self.started
        assert process.stdout is not None
        stream = process.stdout.fileno()
        content = bytearray()
        latest = max(deadline, time.monotonic()) + 1  # what is there late is taken; what trickles in for ever is not
        while len(content) < count:
            now = time.monotonic()
            ready = select.select([stream, endings], [], [], max(0.0, deadline - now))[0]
            if not ready or now > latest:
                raise TimeoutError
            if stream not in ready and (name := os.read(endings, 64)):
                raise Ended(name.decode().strip())
            part = os.read(stream, min(count - len(content), 1 << 20)) if stream in ready else b""
            if not part:
                raise Broken("the worker ended")
            content += part
        return bytes(content)

    @contextmanager
    def answers(self, question: Question, cells: list[str]) -> Iterator[Mapping[str, Callable[..., Any]]]:
        """The functions that a question's cells define, each a stand-in that asks a fresh child in the sandbox.

        Raises Wrong where the cells do not define them, Unanswered where they are still empty.
        """
        if self.started is None:
            self.start()
        deadline = time.monotonic() + self.limits.seconds
        allowed = ["numpy", "torch", *question.packages]
        order = {
            **{"cells": cells, "names": list(question.names), "imports": self.imports, "allowed": allowed},
            **{"sources": sources(question.modules), "forbidden": list(question.forbidden), "unsafe": self.unsafe},
            **{"memory": self.limits.memory, "seconds": int(self.limits.seconds) + 2},
        }
        self.child_waits = True
        defined = self._ask(question, order, deadline)
        if not isinstance(defined, list) or not all(isinstance(name, str) for name in defined):
            self.stop()
            raise Wrong("its process sent what is not an answer")
        missing = [name for name in question.names if name not in defined]
        if missing:
            self._finish(deadline)
            raise Wrong(f"its answer cell does not define the function {missing[0]}")

        def function(name: str) -> Callable[..., Any]:
            return lambda *args: self._ask(question, {"name": name, "args": list(args)}, deadline)

        try:
            yield {name: function(name) for name in question.names}
        finally:
            self._finish(deadline)

    def _finish(self, deadline: float) -> None:
        """Let the child end; a worker that is not then where it should be is stopped."""
        if self.started is None or not self.child_waits:
            return
        self.child_waits = False
        try:
            self.send({"finish": True}, deadline)
            self.receive(max(deadline, time.monotonic() + 1))
            self.stop()  # it said something more, and nobody knows what else it would say
        except Ended:
            pass
        except (Broken, TimeoutError):
            self.stop()

    def _ask(self, question: Question, message: dict[str, Any], deadline: float) -> Any:
        """What the child replies; Wrong, in our own words, where that is no value."""
        if self.started is None:
            raise Wrong("its process had been stopped")
        try:
            self.send(message, deadline)
            reply = self.receive(deadline)
        except TimeoutError:
            self.stop()
            raise Wrong(f"no answer within {self.limits.seconds:g} s: is there a loop without an end?") from None
        except Ended as ended:
            self.child_waits = False
            raise Wrong(_ending(str(ended))) from None
        except Broken:
            self.stop()
            raise Wrong("its process broke off, or sent what is not an answer") from None
        if not isinstance(reply, dict) or len(reply) != 1:
            self.stop()
            raise Wrong("its process sent what is not an answer")
        kind, content = next(iter(reply.items()))
        if kind in ("value", "defined"):
            return content
        self._finish(deadline)
        if kind == "unanswered":
            raise Unanswered
        raise Wrong(self._sentence(kind, content, question.forbidden))

    def _sentence(self, kind: str, content: Any, forbidden: tuple[str, ...]) -> str:
        if not isinstance(content, str):
            return "its process sent what is not an answer"
        if kind == "ready_made":
            name = content if content in forbidden else _known(content)
            return f"it uses {name}, which answers this question or is a package that an answer may not use"
        if kind == "raised" and content == "MemoryError":
            return f"it asked for more than {self.limits.memory // 2**20} MiB of memory"
        if kind == "raised" and isinstance(getattr(builtins, content, None), type):
            return f"it raised {content}"
        return "it raised an exception" if kind == "raised" else "its process sent what is not an answer"


def _ending(name: str) -> str:
    """How a process ended, by the name of the signal that ended it."""
    if name in ("SIGXCPU", "SIGKILL"):
        return "its process was ended: it took too much time or memory"
    return f"it ended its own process ({name})" if name else "it ended its own process"


def _known(name: str) -> str:
    """A module's name if its package is installed here, and so no text of the student's own."""
    root = name.partition(".")[0]
    installed = {*metadata.packages_distributions(), "posenc"}
    if root == "posenc" or f"{name}.".startswith("torch.onnx."):
        return "posenc" if root == "posenc" else "torch.onnx"
    return root if root in installed else "a package"
