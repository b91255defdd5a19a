"""What an answer can reach from inside the sandbox, and what ends with it."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from course import sandbox as sandbox_module
from course.grade import grade_question
from course.question import Question
from course.sandbox import Limits, Prepared, Worker, end_all
from course.tests import hostile, toys
from posenc.check._question import Result
from posenc.check._wrong import say

pytestmark = pytest.mark.torch
SECONDS = 3.0
Grade = Callable[[Question, str], list[Result]]


def worker() -> Worker:
    return Worker(toys.PACKAGES, toys.IMPORTS, Limits(SECONDS, 2**30))


@pytest.fixture(scope="module")
def one() -> Iterator[Worker]:
    """A worker: what an answer does there ends with its child."""
    with worker() as made:
        yield made


@pytest.fixture
def graded(one: Worker) -> Grade:
    return lambda question, cell: grade_question(one, question, [cell], "seed")


@pytest.fixture
def told(one: Worker) -> Callable[[str], str]:
    """What an answer's function says of itself."""

    def says(cell: str) -> str:
        with one.answers(toys.SCALED, [cell]) as functions:
            return str(functions["scaled"]())

    return says


# ---- what is within reach

CALLS = """
import ctypes, fcntl, os, resource, signal, socket, threading
libc = ctypes.CDLL(None, use_errno=True)
own, parent = os.getpid(), os.getppid()
pipe = os.pipe()[1]
DOORS = {
    "a process": os.fork,
    "a thread": threading.Thread(target=print).start,
    "a socket": socket.socket,
    "a program": lambda: os.execv("/bin/true", ["true"]),
    "a signal to the worker": lambda: os.kill(parent, signal.SIGKILL),
    "a signal to all": lambda: os.kill(-1, signal.SIGTERM),
    "an owner of a pipe": lambda: fcntl.fcntl(pipe, fcntl.F_SETOWN, parent),
    "a signal of a pipe": lambda: fcntl.fcntl(pipe, 10, signal.SIGKILL),
    "flags of a pipe": lambda: fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC),
    "flags by ioctl": lambda: fcntl.ioctl(pipe, 0x5421, b"\\1\\0\\0\\0"),
    "signals by ioctl": lambda: fcntl.ioctl(pipe, 0x5452, b"\\1\\0\\0\\0"),
    "a pipe's size": lambda: fcntl.fcntl(pipe, 1031, 4096),
    "the worker's limits": lambda: resource.prlimit(parent, resource.RLIMIT_CPU),
    "the worker's priority": lambda: os.setpriority(os.PRIO_PROCESS, parent, 19),
    "the worker's cores": lambda: os.sched_setaffinity(parent, {0}),
    "the worker's scheduler": lambda: os.sched_setscheduler(parent, os.SCHED_IDLE, os.sched_param(0)),
    "the worker's file handles": lambda: os.open(f"/proc/{parent}/fd", os.O_RDONLY),
    "the worker's memory": lambda: os.open(f"/proc/{parent}/mem", os.O_RDONLY),
    "what is mounted": lambda: os.open("/proc/self/mountinfo", os.O_RDONLY),
    "memory that has no address": lambda: os.memfd_create("x"),
    "a lock of a file": lambda: fcntl.flock(os.open("/grader/plain.py", os.O_RDONLY), fcntl.LOCK_SH),
    "a terminal": lambda: os.open("/dev/ptmx", os.O_RDWR),
    "the terminals": lambda: os.listdir("/dev/pts"),
    "memory of all": lambda: open("/dev/shm/x", "w"),
    "a new file": lambda: open("/tmp/x", "w"),
}
NUMBERS = {"x86_64": {"ptrace": 101, "unshare": 272, "io_uring_setup": 425, "keyctl": 250, "shmget": 29,
                      "process_vm_readv": 310, "pidfd_open": 434, "timer_create": 222, "x32 getpid": 0x40000027}}
for name, number in NUMBERS.get(os.uname().machine, {}).items():
    def call(number=number):
        if libc.syscall(number, 0, 0, 0, 0, 0) == -1 and ctypes.get_errno() == 1:
            raise PermissionError
    DOORS[name] = call

def scaled():
    through = []
    for name, door in DOORS.items():
        try:
            door()
        except (OSError, RuntimeError):
            continue
        through.append(name)
    return ", ".join(through)
"""


def test_no_door_is_open(told: Callable[[str], str]) -> None:
    assert told(CALLS) == ""


TELLS = "import os\ndef scaled():\n    return f'{os.getppid()} {os.path.exists(\"/proc\")}'"


def test_the_first_process_is_the_worker_itself(told: Callable[[str], str]) -> None:
    assert told(TELLS) == "1 False"


LISTS = "import os\ndef scaled():\n    return ' '.join(sorted(os.listdir('FOLDER')))"


def test_of_packages_and_of_the_grader_only_what_an_answer_may_use_is_there(told: Callable[[str], str]) -> None:
    found = {name.partition("-")[0] for name in told(LISTS.replace("FOLDER", "/packages")).split()}
    assert {"numpy", "torch", "typing_extensions"} <= found
    assert not found & {"posenc", "scipy", "sympy", "mpmath", "transformers", "course"}
    assert told(LISTS.replace("FOLDER", "/grader")) == "alone.py plain.py seccomp.py worker.py"


# ---- what ends


def living(number: int) -> set[psutil.Process]:
    """A process, and all that come from it."""
    process = psutil.Process(number)
    return {process, *process.children(recursive=True)}


def alive(process: psutil.Process) -> bool:
    """Whether a process runs; one that has ended and waits to be looked after does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_sandbox_ends_even_when_bubblewrap_is_gone() -> None:
    """The signal that follows a parent's death is not relied upon, and workers end with what they are copies of."""
    prepared = Prepared(toys.PACKAGES, contained=False)
    copy = prepared.start(itself=False)
    # named one by one: who made the copy is ending, and a process that ends is no way to those below it
    both = {psutil.Process(prepared.number), psutil.Process(copy.number)}
    assert all(map(alive, both))
    found = living(prepared.process.pid) | both
    prepared.process.kill()
    prepared.process.wait()
    prepared.end()
    assert not any(map(alive, found))
    copy.end()  # nothing is left to end


def test_without_namespaces_in_namespaces_each_worker_has_a_sandbox_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    makes = sandbox_module.command

    def refusing(*given: Any) -> list[str]:
        program, *words = makes(*given)
        return [program, "--unshare-user", "--disable-userns", *words]

    monkeypatch.setattr(sandbox_module, "command", refusing)
    monkeypatch.setattr(sandbox_module, "_prepared", {})
    try:
        with worker() as sandbox:
            sandbox.start()
            assert sandbox.started is not None
            assert sandbox.started.itself
            found = living(sandbox.started.prepared.process.pid)
            with sandbox.answers(toys.SCALED, [TELLS]) as functions:
                assert str(functions["scaled"]()) == "1 False"
            sandbox.stop()
            assert not any(map(alive, found))
    finally:
        end_all()


def test_a_worker_has_no_rights_and_is_the_first_of_all_that_it_sees() -> None:
    """Its namespaces are made for it, and who makes namespaces has every right in them at first."""
    with worker() as first, worker() as other, worker() as another:
        for sandbox in (first, other, another):
            sandbox.start()
            assert sandbox.started is not None
            assert not sandbox.started.itself
            lines = Path(f"/proc/{sandbox.started.number}/status").read_text(encoding="ascii").splitlines()
            status = dict(line.split(":\t", 1) for line in lines)
            rights = {name: int(value, 16) for name, value in status.items() if name.startswith("Cap")}
            assert set(rights.values()) == {0}, rights
            assert len(rights) == 5
            assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
            above, its = status["NSpid"].split()[-2:]
            assert its == "1"
            assert above != "1", "it is not the process that it is a copy of"


def test_an_escape_leaves_no_process() -> None:
    cell = hostile.WITHOUT_FIRST["code for the first process"].replace("FUNCTION", "scaled")
    with worker() as sandbox:
        sandbox.start()
        assert sandbox.started is not None
        before = set(psutil.pids()) - {sandbox.started.number}
        results = grade_question(sandbox, toys.SCALED, [cell], "seed")
    assert not any(result.earned for result in results)
    time.sleep(3)
    this = psutil.Process()
    left = []
    for pid in set(psutil.pids()) - before:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if "worker.py" in " ".join(process.cmdline()) and (process.ppid() == 1 or this in process.parents()):
                left.append(process)
    assert not left


STEAL = """
def scaled(x, by):
    forge(forged('value', 1))
    os.read(FROM, 4)
    os._exit(0)
"""


def test_an_answer_that_ends_its_process_costs_no_other_question(graded: Grade) -> None:
    """It may have read a part of what was meant for the next one."""
    assert not any(result.earned for result in graded(toys.SCALED, hostile.FORGE + STEAL))
    assert all(result.earned for result in graded(toys.SCALED, toys.RIGHT))


# Rings once its answer is given, and breaks off in the middle of the next message.
BREAKS_OFF = """
import os, signal, sys
def ring(*args):
    frame = sys._getframe()
    while "source" not in frame.f_locals:
        frame = frame.f_back
    os.read(frame.f_locals["source"], 3)
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, ring)
def scaled():
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    return "given"
"""


def test_an_answer_that_breaks_off_in_a_message_costs_no_other_question() -> None:
    with worker() as other:
        for cell in (BREAKS_OFF, "def scaled(): return 'given'"):
            with other.answers(toys.SCALED, [cell]) as functions:
                assert functions["scaled"]() == "given"
                time.sleep(0.2)


def test_a_named_tuple_is_a_tuple(graded: Grade) -> None:
    two = toys.toy(lambda x, by: (x * by, x))
    head = "from typing import NamedTuple\nclass Two(NamedTuple):\n    scaled: object\n    x: object\n"
    assert all(result.earned for result in graded(two, f"{head}def scaled(x, by):\n    return Two(x * by, x)"))


def test_ready_made_attention_is_no_answer(graded: Grade) -> None:
    written_out = toys.toy(attention_written_out=True)
    assert all(result.earned for result in graded(written_out, toys.RIGHT))
    for ready in ("F.scaled_dot_product_attention(x, x, x)", "torch.nn.MultiheadAttention(4, 1)(x, x, x)"):
        results = graded(written_out, f"def scaled(x, by):\n    return {ready}")
        assert {(result.earned, result.sentence) for result in results} == {(0, say("cell.attention"))}
