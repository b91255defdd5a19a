"""The trusted side of the sandbox: start a worker under bubblewrap, ask it for answers, and never wait or believe.

What comes back is decoded as plain data of bounded size, within bounded time; anything else ends the worker.
"""

from __future__ import annotations

import builtins
import json
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
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

from posenc.check import _alone, _plain
from posenc.check._alone import ATTENTION, CHANGED, why_not
from posenc.check._plain import LARGEST, decode, encode
from posenc.check._question import Question, Unanswered, Wrong

ROOT = Path(__file__).resolve().parents[1]
INSIDE = ROOT / "grading" / "inside"
START_SECONDS = 120  # importing torch on a busy machine
STOP_SECONDS = 30  # until the kernel has ended every process of a sandbox whose first one was killed
# What a package cannot be imported without, where that is not all that it names: torch's other needs are for its
# compiler, and a package of special functions among them would be answers to have.
NEEDED = {"torch": ("typing-extensions",)}
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
SHARED = {str(_plain.__file__): "plain.py", str(_alone.__file__): "alone.py"}  # what both sides run
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
        needs = [need for need in seen[name].requires or () if "extra ==" not in need]
        waiting += NEEDED.get(name) or [re.match(r"[\w.-]+", need)[0] for need in needs]  # type: ignore[index]
    found: dict[str, Path] = {}
    for distribution in seen.values():
        for file in distribution.files or ():
            top = file.parts[0]
            place = Path(str(distribution.locate_file(top)))
            if top not in ("..", "__pycache__") and not top.endswith(".pth") and place.exists():
                found[top] = place
    return found


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


def command(packages: tuple[str, ...], empty: Path, told_who: int) -> list[str]:
    """bubblewrap's command line: nothing to see but the system's programs, Python, and the named packages.

    Which process is the first in the sandbox is written to `told_who`.
    """
    # --as-pid-1: otherwise bubblewrap's own process is the first, without limits and within reach of an answer
    words = [bubblewrap(), "--unshare-all", "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--uid", "65534", "--gid", "65534", "--hostname", "grader", "--clearenv", "--info-fd", str(told_who)]
    words += [*_system_mounts(), "--dev", "/dev"]  # and no /proc: nothing that is needed is there
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
    for module, name in SHARED.items():
        words += ["--ro-bind", module, f"/grader/{name}"]
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    settings = {"PYTHONPATH": "/packages", "HOME": "/nowhere", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    settings |= {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}
    for name, value in settings.items():
        words += ["--setenv", name, value]
    return [*words, "--chdir", "/", os.path.realpath(sys.executable), "-s", "-S", "/grader/worker.py"]


@dataclass
class Started:
    """A worker that runs."""

    process: subprocess.Popen[bytes]  # bubblewrap, or with `unsafe` the worker itself
    folder: Path  # what it needs of files
    endings: int  # where the worker alone writes
    first: int | None = None  # a handle of the sandbox's first process, with which all others end
    memory: int | None = None  # the size of the worker's addresses when it is ready, in bytes

    def end(self) -> None:
        """End it and every process in its sandbox. Raises NoSandbox where one is still alive."""
        if self.first is not None:
            with suppress(ProcessLookupError):  # it has ended already
                signal.pidfd_send_signal(self.first, signal.SIGKILL)
            # the kernel says so only when every other process of the sandbox has ended, too
            if not select.select([self.first], [], [], STOP_SECONDS)[0]:
                raise NoSandbox(f"A process of a sandbox could not be ended within {STOP_SECONDS} s. Stop it by hand.")
            os.close(self.first)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        os.close(self.endings)
        self.process.wait()
        shutil.rmtree(self.folder)


class Worker:
    """One submission's process in the sandbox; `unsafe` runs it without one, with the same limits of resources."""

    def __init__(self, packages: tuple[str, ...], imports: str, limits: Limits, unsafe: bool = False) -> None:
        self.packages, self.imports, self.limits, self.unsafe = packages, imports, limits, unsafe
        self.started: Started | None = None
        self.child_waits = False  # for a call, or to be told to finish
        self.cells: list[str] = []  # of the answer under way

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End the worker and every process in its sandbox."""
        if self.started is not None:
            started, self.started = self.started, None
            started.end()

    def start(self) -> None:
        """Start the worker and wait until it has imported what answers may use. Raises NoSandbox where it cannot."""
        if not self.unsafe:
            bubblewrap()  # before a folder is made
        folder = Path(tempfile.mkdtemp(prefix="grading-"))
        (folder / "empty").mkdir()
        says_who, told_who = os.pipe()
        if self.unsafe:
            # beside the worker, as in the sandbox
            shutil.copytree(INSIDE, folder / "grader", ignore=shutil.ignore_patterns("__pycache__"))
            for module, name in SHARED.items():
                shutil.copy(module, folder / "grader" / name)
            words = [sys.executable, "-s", str(folder / "grader" / "worker.py")]
        else:
            words = command(self.packages, folder / "empty", told_who)
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
            pass_fds=(its_end, told_who),
        )
        os.close(its_end)
        os.close(told_who)
        self.started = Started(process, folder, endings)
        try:
            deadline = time.monotonic() + START_SECONDS
            number = process.pid if self.unsafe else _first_process(says_who, deadline)
            if not self.unsafe:
                self.started.first = os.pidfd_open(number)
            order = {"packages": list(self.packages), "endings": its_end, "unsafe": self.unsafe}
            self.send(order, deadline)
            ready = self.receive(deadline)
            if sys.platform == "linux":
                pages = int(Path(f"/proc/{number}/statm").read_text(encoding="ascii").split()[0])
                self.started.memory = pages * os.sysconf("SC_PAGE_SIZE")
        except (Broken, Ended, TimeoutError, OSError, ValueError) as error:
            os.killpg(process.pid, signal.SIGKILL)
            assert process.stderr is not None
            said = process.stderr.read(4000).decode(errors="replace").strip()
            self.stop()
            raise NoSandbox(f"The sandbox did not start: {said or error}\n{HOW_TO_GET_IT}") from None
        finally:
            os.close(says_who)
        if ready != {"ready": True, "largest": LARGEST}:
            self.stop()
            raise NoSandbox(f"The sandbox's first words were {str(ready)[:200]}\n{HOW_TO_GET_IT}")

    def send(self, value: Any, deadline: float) -> None:
        """Write one message, by `deadline`; TimeoutError if it is not taken, Broken if nobody reads."""
        assert self.started is not None
        stream = self.started.process.stdin
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
        process, endings = self.started.process, self.started.endings
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
        assert self.started is not None
        deadline = time.monotonic() + self.limits.seconds
        memory = None if self.started.memory is None else self.started.memory + self.limits.memory
        order = {
            **{"cells": cells, "names": list(question.names), "imports": self.imports},
            **{"allowed": list(question.allowed), "watched": question.attention_written_out},
            **{"memory": memory, "seconds": int(self.limits.seconds) + 2},
        }
        self.cells = cells
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
            self.stop()  # nobody knows what it has read before, of what was meant for the worker
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
        if kind == "changed":
            raise Wrong(CHANGED)
        raise Wrong(self._sentence(question, kind, content, loading="cells" in message))

    def _sentence(self, question: Question, kind: str, content: Any, loading: bool) -> str:
        """What is told of a failure: its kind on loading; later, as that could tell of an input, that it failed."""
        if not isinstance(content, str) or kind not in ("ready_made", "raised"):
            return "its process sent what is not an answer"
        if content == ATTENTION:
            return ATTENTION
        if content == "MemoryError":
            return f"it asked for more than {self.limits.memory // 2**20} MiB of memory"
        known = loading and isinstance(getattr(builtins, content, None), type)
        why = why_not("ReadyMade" if kind == "ready_made" else content, self.cells, question.allowed, self.imports)
        return why or (f"it raised {content}" if known else "it raised an exception")


def _first_process(says_who: int, deadline: float) -> int:
    """The number of the sandbox's first process, as bubblewrap tells it. Raises ValueError where it tells none."""
    said = b""
    while select.select([says_who], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(says_who, 4096)
        said += part
        if not part or b"}" in part:
            return int(json.loads(said or b"{}").get("child-pid", -1))
    raise TimeoutError("bubblewrap did not say which process is the first")


def _ending(name: str) -> str:
    """How a process ended; not by which signal, which could tell of an input."""
    if name in ("SIGXCPU", "SIGKILL"):
        return "its process was ended: it took too much time or memory"
    return "its process broke off: a crash, or an end of its own"
