"""The quality gates that need no built book, in one place: `make check` and pre-commit run these.

    python -m tools.gates [NAME …]

That modules import each other in no circle is a test: tests/unit/test_layers.py.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tools.notebooks import joined, load

ROOT = Path(__file__).resolve().parents[1]
# two letters at least, on one line or over a line's end; a capital may begin the next sentence
DOUBLED = re.compile(r"\b([a-z]{2,})[ \t]*[ \n][ \t]*\1\b")
FENCED = re.compile(r"^(`{3,}).*?^\1|\$\$.*?\$\$|\$[^$\n]*\$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
# in CommonMark, two stars between a mark and a letter are stars: the mark has to stand outside of them
NOT_BOLD = re.compile(r"\*\*[^*\n]+[，。、！？：；）」』”]\*\*(?=\w)|(?<=\w)\*\*[（「『“][^*\n]+\*\*")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
ADDRESS = re.compile(r"[a-z]+:|/")
WORKFLOWS = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))


def prose(path: Path) -> str:
    """The text of a Markdown file, or of a notebook's Markdown cells, without code and formulas."""
    if path.suffix == ".ipynb":
        cells = (cell for cell in load(path)["cells"] if cell["cell_type"] == "markdown")
        text = "\n\n".join(joined(cell["source"]) for cell in cells)
    else:
        text = path.read_text(encoding="utf-8")
    return FENCED.sub("…", text)


def doubled_words(paths: list[Path]) -> int:
    """Print every word that stands twice in a row; how many there are."""
    found = [(path, match[0]) for path in paths for match in DOUBLED.finditer(prose(path))]
    for path, words in found:
        print(f"{path}: {' '.join(words.split())!r} stands twice")
    return len(found)


def not_bold(paths: list[Path]) -> int:
    """Print every emphasis of Chinese words that no reader would see; how many there are."""
    found = [(path, match[0]) for path in paths for match in NOT_BOLD.finditer(prose(path))]
    for path, words in found:
        print(f"{path}: {words!r} is not bold, its mark has to stand outside of the stars")
    return len(found)


def broken_links(paths: list[Path]) -> int:
    """Print every link to a file of the repository that is not there; how many there are."""
    found = [
        (path, target)
        for path in paths
        for target in LINK.findall(prose(path))
        if "." in target and not ADDRESS.match(target) and not (path.parent / target).exists()
    ]
    for path, target in found:
        print(f"{path}: no file {target}")
    return len(found)


def module(*command: str) -> Callable[[], int]:
    """A gate that is a module of this Python's."""
    return lambda: subprocess.call([sys.executable, "-m", *command], cwd=ROOT)


def texts(*kinds: str) -> list[Path]:
    """The files of these kinds that are in the repository, or those in Markdown and the notebooks."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *(kinds or ("*.md", "*.ipynb"))],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name]


GATES: dict[str, Callable[[], int]] = {
    "rules": module("ruff", "check", "--quiet", "."),
    "format": module("ruff", "format", "--quiet", "--check", "."),
    "notebooks": module("tools.notebooks", "--check"),
    "spelling": module("codespell_lib", "."),
    "doubled words": lambda: doubled_words(texts()),
    "bold Chinese": lambda: not_bold(texts("*.md", "*.ipynb", "*.po", "book/claims/*.toml")),
    # an assignment's source is written to another folder, where its links hold
    "links": lambda: broken_links([path for path in texts() if "sources" not in path.parts]),
    "workflows": module("check_jsonschema", "--quiet", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS),
    "types": module("mypy", "--no-error-summary"),
}
if (ROOT / "course" / "private").is_dir():
    GATES["types of the course"] = module(
        "mypy", "--no-error-summary", "course", "--exclude", "course/(tests|private/bank)"
    )


def main() -> None:
    """Run the gates that are named, or all; fail if one of them does."""
    parser = argparse.ArgumentParser(prog="python -m tools.gates", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(GATES)}; all if none is named")
    names = parser.parse_args().names or list(GATES)
    for name in names:
        if name not in GATES:
            parser.error(f"there is no gate {name!r}: there are {', '.join(GATES)}")
    failed = []
    for name in names:
        print(f"{name} …", flush=True)
        if GATES[name]():
            failed.append(name)
    if failed:
        sys.exit(f"refused by: {', '.join(failed)}")


if __name__ == "__main__":
    main()
