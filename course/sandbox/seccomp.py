"""What a process that is about to run a student's code gives up for ever: new processes, sockets, memory, files."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct

PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 4, 22, 24, 38
SECCOMP_MODE_FILTER = 2
NOBODY = 65534
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # refuse: the call fails with EPERM
NEW_NAMESPACES = 0x7E020000  # the flags of clone that ask for one
CAPABILITIES_OF_64_BITS = 0x20080522  # the form in which capset takes them

# The system calls that Python, NumPy and torch need for computing: number on x86_64, number on aarch64.
# All others fail: processes, programs, sockets, shared memory, other processes' signals, limits and priorities.
COMPUTING = {
    # files, which can be read; nothing can be written
    **{"read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67)},
    **{"pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70), "preadv2": (327, 286), "pwritev2": (328, 287)},
    **{"open": (2, None), "openat": (257, 56), "openat2": (437, 437), "close": (3, 57), "close_range": (436, 436)},
    **{"stat": (4, None), "fstat": (5, 80), "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291)},
    **{"access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, None)},
    **{"readlinkat": (267, 78), "getdents": (78, None), "getdents64": (217, 61), "lseek": (8, 62), "getcwd": (79, 17)},
    **{"chdir": (80, 49), "fchdir": (81, 50), "umask": (95, 166), "statfs": (137, 43), "fstatfs": (138, 44)},
    **{"fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46), "fadvise64": (221, 223)},
    **{"sendfile": (40, 71), "pipe": (22, None), "pipe2": (293, 59), "dup": (32, 23), "dup2": (33, None)},
    **{"dup3": (292, 24), "eventfd2": (290, 19), "poll": (7, None), "ppoll": (271, 73), "select": (23, None)},
    **{"pselect6": (270, 72), "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21)},
    **{"epoll_wait": (232, None), "epoll_pwait": (281, 22)},
    # its own memory
    **{"mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216), "madvise": (28, 233)},
    **{"msync": (26, 227), "mincore": (27, 232), "brk": (12, 214), "mlock": (149, 228), "munlock": (150, 229)},
    **{"get_mempolicy": (239, 236), "set_mempolicy": (238, 237), "membarrier": (324, 283)},
    # itself
    **{"futex": (202, 98), "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "getcpu": (309, 168)},
    **{"getrandom": (318, 278), "rseq": (334, 293), "set_robust_list": (273, 99), "set_tid_address": (218, 96)},
    **{"restart_syscall": (219, 128), "arch_prctl": (158, None), "prctl": (157, 167), "sysinfo": (99, 179)},
    **{"uname": (63, 160), "getrusage": (98, 165), "getrlimit": (97, 163), "getpriority": (140, 141)},
    **{"getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175)},
    **{"getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148), "getresgid": (120, 150)},
    **{"getgroups": (115, 158), "getpgrp": (111, None), "getpgid": (121, 155), "getsid": (124, 156)},
    **{"exit": (60, 93), "exit_group": (231, 94)},
    # signals that it gets, and time
    **{"rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136)},
    **{"rt_sigsuspend": (130, 133), "rt_sigtimedwait": (128, 137), "sigaltstack": (131, 132), "alarm": (37, None)},
    **{"pause": (34, None), "getitimer": (36, 102), "setitimer": (38, 103), "time": (201, None)},
    **{"gettimeofday": (96, 169), "clock_gettime": (228, 113), "clock_getres": (229, 114)},
    **{"clock_nanosleep": (230, 115), "nanosleep": (35, 101), "times": (100, 153)},
}
# Calls that may only be made with certain values of one argument: numbers, then which argument.
SIGNALS = {"kill": ((62, 129), 0), "tkill": ((200, 130), 0), "tgkill": ((234, 131), 0)}  # to itself
CONTROLS = {
    # Neither an owner nor a signal for a pipe, and no flag of one: those are shared with the process at its other end.
    "fcntl": ((72, 25), 1, (0, 1, 2, 3, 1030)),  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
    "ioctl": ((16, 29), 1, (0x5401, 0x5413, 0x5450, 0x5451)),  # is it a terminal, its size, close on exec or not
}
# What the worker needs besides, to start a child for every check.
FORKING = {"fork": (57, None), "vfork": (58, None), "wait4": (61, 260), "waitid": (247, 95), "setrlimit": (160, 164)}
CLONE, PRLIMIT = (56, 220), (302, 261)
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # its number in audit.h, its column above


def _prctl(option: int, *values: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *values, *[0] * (4 - len(values))):
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed: {os.strerror(ctypes.get_errno())}")


def new_namespaces() -> None:
    """Make namespaces of every kind: those of processes for the children that follow, the others for this one, too.

    Raises OSError where the kernel will not.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_NAMESPACES):
        raise OSError(ctypes.get_errno(), f"new namespaces: {os.strerror(ctypes.get_errno())}")


def drop_capabilities() -> None:
    """Give up what a process may do in namespaces that were made for it. Raises OSError where it may still do it."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = 0
    while not libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0):  # until there is none of that number
        number += 1
    whose, none = struct.pack("Ii", CAPABILITIES_OF_64_BITS, 0), bytes(24)
    if libc.capset(whose, none):
        raise OSError(ctypes.get_errno(), f"capset failed: {os.strerror(ctypes.get_errno())}")


def become_nobody() -> None:
    """Become a user who owns nothing. Raises OSError where this process may not."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def hide_memory() -> None:
    """Keep other processes of the same user from reading or writing this one's memory."""
    _prctl(PR_SET_DUMPABLE, 0)


def program(machine: str, pid: int, forks: bool) -> bytes:
    """The filter of system calls, in the kernel's form (classic BPF); with `forks`, the worker's own.

    Raises OSError for a machine whose numbers are not known here.
    """
    if machine not in ARCHITECTURES:
        raise OSError(f"no list of system calls for {machine}: known are {', '.join(ARCHITECTURES)}")
    architecture, column = ARCHITECTURES[machine]
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF_LD|W|ABS, BPF_JMP|…, BPF_RET

    def step(code: int, yes: int, no: int, value: int) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    def argument(number: int) -> bytes:
        return step(load, 0, 0, 16 + 8 * number)  # its lower half

    def only(numbers: tuple[int | None, int | None], place: int, values: tuple[int, ...]) -> list[bytes]:
        """A call that may be made with some values of one argument only."""
        tests = [step(equal, len(values) - at, 0, value) for at, value in enumerate(values)]
        steps = [argument(place), *tests, step(give, 0, 0, REFUSE), step(give, 0, 0, ALLOW)]
        number = numbers[column]
        return [] if number is None else [step(equal, 0, len(steps), number), *steps]

    steps = [step(load, 0, 0, 4), step(equal, 1, 0, architecture), step(give, 0, 0, KILL), step(load, 0, 0, 0)]
    steps += [step(at_least, 0, 1, 0x40000000), step(give, 0, 0, REFUSE)]  # the x32 numbers of x86_64
    free = COMPUTING | (FORKING | {name: numbers for name, (numbers, _) in SIGNALS.items()} if forks else {})
    for numbers in free.values():
        if (number := numbers[column]) is not None:
            steps += [step(equal, 0, 1, number), step(give, 0, 0, ALLOW)]
    for numbers, place in () if forks else SIGNALS.values():
        steps += only(numbers, place, (pid,))
    for numbers, place, values in CONTROLS.values():
        steps += only(numbers, place, values)
    if forks:
        refuse_namespaces = [argument(0), step(any_bit, 0, 1, NEW_NAMESPACES), step(give, 0, 0, REFUSE)]
        steps += [step(equal, 0, 4, CLONE[column]), *refuse_namespaces, step(give, 0, 0, ALLOW)]
        steps += only(PRLIMIT, 0, (0,))  # its own limits, and those of a child before it runs anything
    return b"".join([*steps, step(give, 0, 0, REFUSE)])


def refuse_system_calls(forks: bool = False) -> None:
    """Install the filter, for this process and all that it starts, and without a way back.

    Raises OSError where the kernel will not.
    """
    code = program(platform.machine(), os.getpid(), forks)
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    installed = Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(installed))


def write_nothing() -> None:
    """No file written, no core dumped, few files open; for this process and all that it starts."""
    for limit, value in {resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0, resource.RLIMIT_NOFILE: 64}.items():
        resource.setrlimit(limit, (value, value))


def limit_resources(memory: int | None, seconds: int) -> None:
    """At most `memory` bytes of addresses in all, unless that is None, and `seconds` of processor time."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
