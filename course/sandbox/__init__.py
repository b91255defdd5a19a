"""The trusted side of the sandbox: start a worker under bubblewrap, ask it for answers, and never wait or believe.

What answers may use takes seconds to import. So one process under bubblewrap imports it, and every worker is a copy of
that one, in namespaces of its own; what a worker runs never comes near the process that the next one is a copy of.

What comes back is decoded as plain data of bounded size, within bounded time; anything else ends the worker.
"""

from __future__ import annotations

import atexit
import builtins
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
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
from posenc.check._alone import ATTENTION as READY_MADE
from posenc.check._notebook import why_not
from posenc.check._plain import LARGEST, MOST, REPLY, decode, encode
from posenc.check._question import Question, Unanswered, Wrong
from posenc.check._wrong import say

ROOT = Path(__file__).resolve().parents[2]
INSIDE = ROOT / "course" / "sandbox"
START_SECONDS = 120  # importing torch on a busy machine
STOP_SECONDS = 30  # until the kernel has ended every process of a sandbox whose first one was killed
# What a package cannot be imported without, where that is not all that it names: torch's other needs are for its
# compiler, and a package of special functions among them would be answers to have.
NEEDED = {"torch": ("typing-extensions",)}
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
# What runs inside: its own files, and those that both sides run.
FILES = {str(INSIDE / name): name for name in ("worker.py", "seccomp.py")}
FILES |= {str(_plain.__file__): "plain.py", str(_alone.__file__): "alone.py"}
COPY, BE, READY = b"copy", b"be", b"+"  # what is said between here and the process that workers are copies of
LIBRARIES = ("OMP", "OPENBLAS", "MKL")  # those that would start threads, which an answer may not have
SETTINGS = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}
# All of Python's memory from the system's malloc, in large pages where there are any: of small ones a process with
# torch has so many that to copy their table took most of the time of starting a child.
SETTINGS |= {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
LARGE_PAGE = 2 * 2**20  # bytes that malloc may hold in advance: an answer could use them beyond its limit
LARGE_PAGES = "/sys/kernel/mm/transparent_hugepage"  # where malloc reads how large they are
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
    for path in map(Path, ("/etc/ld.so.cache", LARGE_PAGES)):
        yield from ("--ro-bind-try", str(path), str(path))


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
    words += [*_system_mounts()]  # and no /proc, no terminals: two submissions could tell each other something there
    for device in DEVICES:
        words += ["--dev-bind", device, device]
    if not Path(sys.base_prefix).is_relative_to("/usr"):
        words += ["--ro-bind", sys.base_prefix, sys.base_prefix]
    for folder in _hidden():
        words += ["--ro-bind", str(empty), str(folder)]
    for name, place in distributions(packages).items():
        words += ["--ro-bind", str(place), f"/packages/{name}"]
        if name == "torch" and (place / "onnx").is_dir():  # rotary embedding and attention, as functions
            words += ["--ro-bind", str(empty), "/packages/torch/onnx"]
    for file, name in FILES.items():
        words += ["--ro-bind", file, f"/grader/{name}"]
    words += ["--remount-ro", "/"]
    settings = {"PYTHONPATH": "/packages", "HOME": "/nowhere", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    for name, value in (settings | SETTINGS).items():
        words += ["--setenv", name, value]
    return [*words, "--chdir", "/", os.path.realpath(sys.executable), "-s", "-S", "/grader/worker.py"]


class Refused(Exception):
    """There is no copy to be had, mostly since the system allows no namespaces within namespaces."""


def _kill(handle: int) -> None:
    """End a process by its handle, and wait for that, and for all that end with it. Raises NoSandbox where they do not.

    If it is the first of its namespace, the kernel says so only when every other one there has ended, too.
    """
    with suppress(ProcessLookupError):  # it has ended already
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    if not select.select([handle], [], [], STOP_SECONDS)[0]:
        raise NoSandbox(f"A process of a sandbox could not be ended within {STOP_SECONDS} s. Stop it by hand.")
    os.close(handle)


def _number(handle: int) -> int:
    """The number of the process that a handle is of."""
    return int(re.search(r"^Pid:\t(\d+)", Path(f"/proc/self/fdinfo/{handle}").read_text(), re.MULTILINE)[1])  # type: ignore[index]


class Prepared:
    """A process that has imported what answers may use and runs none: every worker is a copy of it.

    It is the first one of a sandbox. Where all this is `contained`, as in a container of Gradescope's that allows no
    namespaces, it is a user of its own instead, who may read what all may read.
    """

    def __init__(self, packages: tuple[str, ...], contained: bool) -> None:
        """Start it and wait until it is ready. Raises NoSandbox where it cannot be had."""
        self.contained = contained
        self.lock = threading.Lock()
        self.first: int | None = None  # a handle of the sandbox's first process, with which all others end
        if not contained:
            bubblewrap()  # before a folder is made
        elif os.getuid():
            raise NoSandbox("In a container the grader must be root, so that submissions can be somebody else.")
        self.folder = Path(tempfile.mkdtemp(prefix="course-"))  # what it needs of files
        (self.folder / "empty").mkdir()
        says_who, told_who = os.pipe()
        if contained:
            # beside the worker, as in the sandbox
            self.folder.chmod(0o755)
            (self.folder / "grader").mkdir()
            for file, name in FILES.items():
                shutil.copy(file, self.folder / "grader" / name)
            words = [sys.executable, "-s", str(self.folder / "grader" / "worker.py")]
        else:
            words = command(packages, self.folder / "empty", told_who)
        self.control, its_end = socket.socketpair()
        self.process = subprocess.Popen(  # bubblewrap, or where contained the process itself
            words,
            stdin=its_end.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
            env={"PATH": os.defpath} | SETTINGS,
            cwd=self.folder / "empty",
            pass_fds=(told_who,),
        )
        its_end.close()
        os.close(told_who)
        self.number = self.process.pid
        deadline = time.monotonic() + START_SECONDS
        try:
            if not contained:
                self.number = _first_process(says_who, deadline)
                self.first = os.pidfd_open(self.number)
            self.control.settimeout(START_SECONDS)
            message = encode({"packages": list(packages), "contained": contained})
            self.control.sendall(len(message).to_bytes(8, "big") + message)
            if self.control.recv(1) != READY:
                raise Broken("the process that workers are copies of ended")
        except (Broken, OSError, ValueError) as error:
            reason = self.why(error)
            self.end()
            raise reason from None
        finally:
            os.close(says_who)

    def why(self, error: Exception) -> NoSandbox:
        """What to raise where something went wrong: what the process said itself, if it did."""
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        said = (self.process.stdout.read(4000) or b"").decode(errors="replace").strip()
        return NoSandbox(f"The sandbox did not start: {said or error}\n{HOW_TO_GET_IT}")

    def end(self) -> None:
        """End it and every process in its sandbox. Raises NoSandbox where one is still alive."""
        self.control.close()
        if self.first is not None:
            first, self.first = self.first, None
            _kill(first)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, itself: bool) -> Started:
        """A worker: a copy of the process, or `itself`. Raises Refused, or OSError where the process does not reply."""
        source, asks = os.pipe()
        replies, target = os.pipe()
        endings, says_ended = os.pipe()
        theirs = [source, target, says_ended]
        handle: int | None = None
        try:
            with self.lock:
                self.control.settimeout(START_SECONDS)
                socket.send_fds(self.control, [BE if itself else COPY], theirs)
                if itself:
                    number, handle = self.number, self.first
                else:
                    said, handles, _, _ = socket.recv_fds(self.control, 400, 1)
                    if said.startswith(b"refused"):
                        raise Refused(said.decode(errors="replace"))
                    if not said:
                        raise BrokenPipeError
                    handle = handles[0]
                    number = _number(handle)
        except BaseException:
            for mine in (asks, replies, endings):
                os.close(mine)
            raise
        finally:
            for its in theirs:
                os.close(its)
        return Started(self, itself, asks, replies, endings, number, None if itself else handle)


@dataclass
class Started:
    """A worker that runs."""

    prepared: Prepared  # what it is a copy of
    itself: bool  # no copy: it ends with this worker
    asks: int  # where it is asked
    replies: int  # where its children reply
    endings: int  # where the worker alone writes
    number: int  # of its process
    first: int | None  # a handle of that process: the first one of its sandbox, with which all others end
    memory: int | None = None  # the size of the worker's addresses when it is ready, in bytes

    def end(self) -> None:
        """End it and every process in its sandbox. Raises NoSandbox where one is still alive."""
        for stream in (self.asks, self.replies, self.endings):
            os.close(stream)
        if self.itself:
            self.prepared.end()
            return
        if self.prepared.contained:
            with suppress(ProcessLookupError):  # it has ended already
                os.killpg(self.number, signal.SIGKILL)
        if self.first is not None:
            _kill(self.first)


_prepared: dict[tuple[object, ...], Prepared] = {}  # by packages, and by the program that makes the sandbox
_given_up: list[Prepared] = []  # other workers may still be copies of them
_preparing = threading.Lock()


def start(packages: tuple[str, ...], contained: bool) -> Started:
    """Start a worker: a copy of a process that is ready. Raises NoSandbox where none can be had.

    Where the system allows no namespaces within namespaces, every worker is in a sandbox that is made for it.
    """
    key = (packages, contained or bubblewrap())
    with _preparing:
        if key in _prepared and _prepared[key].process.poll() is not None:
            _prepared.pop(key).end()
        if key not in _prepared:
            _prepared[key] = Prepared(packages, contained)
        one = _prepared[key]
    try:
        return one.start(itself=False)
    except Refused:
        pass
    except OSError as error:
        give_up(one)
        raise one.why(error) from None
    one = Prepared(packages, contained)
    try:
        return one.start(itself=True)
    except OSError as error:
        reason = one.why(error)
        one.end()
        raise reason from None


def give_up(one: Prepared) -> None:
    """Make no more copies of a process: one did not start."""
    with _preparing:
        for key in [key for key, known in _prepared.items() if known is one]:
            _given_up.append(_prepared.pop(key))


@atexit.register
def end_all() -> None:
    """End every process that workers are copies of, and with them the workers."""
    with _preparing:
        while _prepared:
            _given_up.append(_prepared.popitem()[1])
        while _given_up:
            _given_up.pop().end()


class Worker:
    """One submission's process in the sandbox, or where `contained` in the container that all this is in."""

    def __init__(self, packages: tuple[str, ...], imports: str, limits: Limits, contained: bool = False) -> None:
        self.packages, self.imports, self.limits, self.contained = packages, imports, limits, contained
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
        """Start the worker and wait until it is ready. Raises NoSandbox where it cannot."""
        self.started = start(self.packages, self.contained)
        try:
            ready = self.receive(time.monotonic() + START_SECONDS)
            pages = int(Path(f"/proc/{self.started.number}/statm").read_text(encoding="ascii").split()[0])
            self.started.memory = pages * os.sysconf("SC_PAGE_SIZE")
        except (Broken, Ended, TimeoutError, OSError, ValueError) as error:
            reason = self.started.prepared.why(error)
            give_up(self.started.prepared)
            self.stop()
            raise reason from None
        if ready != {"ready": True, "largest": LARGEST}:
            self.stop()
            raise NoSandbox(f"The sandbox's first words were {str(ready)[:200]}\n{HOW_TO_GET_IT}")

    def send(self, value: Any, deadline: float) -> None:
        """Write one message, by `deadline`; TimeoutError if it is not taken, Broken if nobody reads."""
        assert self.started is not None
        stream = self.started.asks
        message = encode(value)
        data = memoryview(len(message).to_bytes(8, "big") + message)
        os.set_blocking(stream, False)
        while data:
            if not select.select([], [stream], [], max(0.0, deadline - time.monotonic()))[1]:
                raise TimeoutError
            try:
                data = data[os.write(stream, data) :]
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
        if length > REPLY[0] + 8:
            raise Broken("too long a message")
        try:
            return decode(self._exactly(length, deadline), REPLY[1], MOST)
        except (ValueError, MemoryError) as error:
            raise Broken("not a message") from error

    def _exactly(self, count: int, deadline: float) -> bytes:
        assert self.started is not None
        stream, endings = self.started.replies, self.started.endings
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
        if question.attention_written_out and any(map(READY_MADE.search, cells)):
            raise Wrong(say("cell.attention"))
        if self.started is None:
            self.start()
        assert self.started is not None
        seconds = self.limits.seconds * question.patience
        deadline = time.monotonic() + seconds
        assert self.started.memory is not None
        order = {
            **{"cells": cells, "names": list(question.names), "imports": self.imports},
            **{"allowed": list(question.allowed), "seconds": int(seconds) + 2},
            "memory": self.started.memory + self.limits.memory - LARGE_PAGE,
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
        """Let the child end; a worker that is not then where it should be is stopped.

        A child that broke off may have read a part of a message: then the worker waits for the rest and says nothing.
        """
        if self.started is None or not self.child_waits:
            return
        self.child_waits = False
        try:
            for order, until in (("finish", deadline), ("here", 0.0)):
                self.send({order: True}, deadline)
                with suppress(Ended):  # the child has ended; and then: the worker is here
                    self.receive(max(until, time.monotonic() + 1))
                    raise Broken("it said something more, and nobody knows what else it would say")
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
            seconds = self.limits.seconds * question.patience
            raise Wrong(f"no answer within {seconds:g} s: is there a loop without an end?", kind="timeout") from None
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
        if kind in ("changed", "large"):
            raise Wrong(say(f"cell.{kind}"))
        raise Wrong(self._sentence(question, kind, content, loading="cells" in message))

    def _sentence(self, question: Question, kind: str, content: Any, loading: bool) -> str:
        """What is told of a failure: its kind on loading; later, as that could tell of an input, that it failed."""
        if not isinstance(content, str) or kind not in ("ready_made", "raised"):
            return "its process sent what is not an answer"
        if content == "MemoryError":
            return f"it asked for more than {self.limits.memory // 2**20} MiB of memory"
        known = loading and isinstance(getattr(builtins, content, None), type)
        why = why_not("ReadyMade" if kind == "ready_made" else content, self.cells, question.allowed, self.imports)
        return why or say("cell.raised", kind=content if known else "")


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
