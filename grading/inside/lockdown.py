"""What a process that is about to run a student's code gives up for ever: new processes, sockets, memory, files."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys

PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 4, 22, 38
SECCOMP_MODE_FILTER = 2
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # refuse: the call fails with EPERM

# System calls by machine: number of the architecture in audit.h, then numbers of calls.
# A new process or thread, another program, the network; memory that RLIMIT_AS does not count;
# other processes' memory and limits; namespaces and keys; and io_uring, which could make refused calls unseen.
NUMBERS = {
    "x86_64": (
        0xC000003E,
        {
            **{"fork": 57, "vfork": 58, "clone": 56, "clone3": 435, "execve": 59, "execveat": 322},
            **{"socket": 41, "socketpair": 53, "memfd_create": 319, "memfd_secret": 447},
            **{"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240},
            **{"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "prlimit64": 302},
            **{"tkill": 200, "pidfd_open": 434, "pidfd_send_signal": 424, "pidfd_getfd": 438},
            **{"rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297},
            **{"unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155},
            **{"add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321, "perf_event_open": 298},
            **{"userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427},
        },
        {"kill": 62, "tgkill": 234},
    ),
    "aarch64": (
        0xC00000B7,
        {
            **{"clone": 220, "clone3": 435, "execve": 221, "execveat": 281},
            **{"socket": 198, "socketpair": 199, "memfd_create": 279, "memfd_secret": 447},
            **{"shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180},
            **{"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "prlimit64": 261},
            **{"tkill": 130, "pidfd_open": 434, "pidfd_send_signal": 424, "pidfd_getfd": 438},
            **{"rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240},
            **{"unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41},
            **{"add_key": 217, "request_key": 218, "keyctl": 219, "bpf": 280, "perf_event_open": 241},
            **{"userfaultfd": 282, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427},
        },
        {"kill": 129, "tgkill": 131},
    ),
}


def _prctl(option: int, *values: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *values, *[0] * (4 - len(values))):
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed: {os.strerror(ctypes.get_errno())}")


def hide_memory() -> None:
    """Keep other processes of the same user from reading or writing this one's memory by way of /proc."""
    if sys.platform == "linux":
        _prctl(PR_SET_DUMPABLE, 0)


def program(machine: str, pid: int) -> bytes:
    """The filter of system calls, in the kernel's form (classic BPF).

    Raises OSError for a machine whose numbers are not known here.
    """
    if machine not in NUMBERS:
        raise OSError(f"no list of system calls for {machine}: known are {', '.join(NUMBERS)}")
    architecture, refused, to_oneself = NUMBERS[machine]
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ, |JGE, BPF_RET

    def step(code: int, yes: int, no: int, value: int) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    steps = [step(load, 0, 0, 4), step(equal, 1, 0, architecture), step(give, 0, 0, KILL), step(load, 0, 0, 0)]
    steps += [step(at_least, 0, 1, 0x40000000), step(give, 0, 0, REFUSE)]  # the x32 numbers of x86_64
    for number in refused.values():
        steps += [step(equal, 0, 1, number), step(give, 0, 0, REFUSE)]
    for number in to_oneself.values():  # signals to no process but itself, which abort() needs
        steps += [step(equal, 0, 4, number), step(load, 0, 0, 16), step(equal, 1, 0, pid)]
        steps += [step(give, 0, 0, REFUSE), step(give, 0, 0, ALLOW)]
    return b"".join([*steps, step(give, 0, 0, ALLOW)])


def refuse_system_calls() -> None:
    """Install the filter, for this process and without a way back. Raises OSError where the kernel will not."""
    code = program(platform.machine(), os.getpid())
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    installed = Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(installed))


def limit_resources(memory: int, seconds: int) -> None:
    """At most `memory` bytes more than now, `seconds` of processor time, no file written, no core dumped."""
    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 64,
    }
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        limits[resource.RLIMIT_AS] = now + memory
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))
