"""Write the repository's address everywhere it is used, or take it away.

    python -m tools.address https://github.com/OWNER/REPOSITORY
    python -m tools.address ""

_config.yml is the place that counts; the first cells of the notebooks, the
README, CITATION.cff and pyproject.toml follow it. Without an address the site
has no launch buttons, no edit links and no BibTeX entries, and the notebooks
run in a clone only.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from tools.notebooks import dump, heading, joined, load

ROOT = Path(__file__).resolve().parents[1]
GITHUB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+)")
SETTING = re.compile(r'^REPOSITORY = "(?P<url>[^"\n]*)"  # set by: make address$', re.MULTILINE)
CONFIG = re.compile(r'(?<=^repository:\n  url: )"[^"\n]*"$', re.MULTILINE)
README = re.compile(r"(?<=<!-- address: begin -->\n).*(?=<!-- address: end -->)", re.DOTALL)
CITATION = re.compile(r'^repository-code: "[^"\n]*"\n', re.MULTILINE)
URLS = re.compile(r"^\[project\.urls\]\n(?:[^\[\n].*\n)*\n", re.MULTILINE)


def notebooks(root: Path) -> list[Path]:
    """The chapters, the assignments and the assignments' sources: whatever begins by finding the package."""
    folders = ("notebooks", "notebooks/assignments", "course/private/sources")
    return [path for folder in folders for path in sorted((root / folder).glob("*.ipynb"))]


def checked(url: str) -> str:
    """The address in its plain form; ``ValueError`` if it is not a repository on GitHub.

    >>> checked("https://github.com/owner/name.git")
    'https://github.com/owner/name'
    """
    plain = url.strip().rstrip("/").removesuffix(".git")
    if plain and not GITHUB.fullmatch(plain):
        raise ValueError(
            f"the address must look like https://github.com/OWNER/REPOSITORY, not {url!r}: "
            "Colab's buttons and the Pages workflow work with GitHub only"
        )
    return plain


def colab(url: str, path: str) -> str:
    """Where Colab opens the notebook ``path`` of the repository."""
    owner, name = GITHUB.fullmatch(url).groups()
    return f"https://colab.research.google.com/github/{owner}/{name}/blob/main/{path}"


def site(url: str) -> str:
    """Where the Pages workflow publishes the repository's book."""
    owner, name = GITHUB.fullmatch(url).groups()
    return f"https://{owner}.github.io/{name}"


def config(text: str, url: str) -> str:
    """_config.yml with the address."""
    return _once(CONFIG, f'"{url}"', text)


def readme(text: str, url: str) -> str:
    """The README with links that need the address, or a line that says there is none."""
    if not url:
        block = "Not published yet: build the book yourself, as described below.\n"
        return _once(README, block, text)
    lines = [
        f"[![tests]({url}/actions/workflows/tests.yml/badge.svg)]({url}/actions/workflows/tests.yml)",
        "",
        f"- Clone it: `git clone {url}`",
        f"- Read it: {site(url)}/ (published by the Pages workflow)",
    ]
    for path in notebooks(ROOT):
        place = path.relative_to(ROOT).as_posix()
        if place.startswith("notebooks/"):
            lines.append(f"- Open in Colab: [{heading(load(path))}]({colab(url, place)})")
    return _once(README, "\n".join(lines) + "\n", text)


def citation(text: str, url: str) -> str:
    """CITATION.cff with ``repository-code``, or without."""
    text = CITATION.sub("", text)
    return text + (f'repository-code: "{url}"\n' if url else "")


def project(text: str, url: str) -> str:
    """pyproject.toml with the table ``project.urls``, or without."""
    text = URLS.sub("", text)
    if not url:
        return text
    addresses = {
        "Documentation": f"{site(url)}/book/package.html",
        "Repository": url,
        "Issues": f"{url}/issues",
        "Changelog": f"{url}/blob/main/CHANGELOG.md",
    }
    table = "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
    before, tool, after = text.partition("[tool.")
    return f"{before}[project.urls]\n{table}\n{tool}{after}"


def first_cell(source: str, url: str) -> str:
    """The source of a notebook's first code cell with the address."""
    return _once(SETTING, f'REPOSITORY = "{url}"  # set by: make address', source)


def set_address(root: Path, url: str) -> list[Path]:
    """Write ``url`` into every file below ``root`` that uses it; return those that changed."""
    changed = []

    def rewrite(path: Path, new: str) -> None:
        if path.read_text(encoding="utf-8") != new:
            path.write_text(new, encoding="utf-8")
            changed.append(path)

    files: dict[str, Callable[[str, str], str]] = {
        "_config.yml": config,
        "README.md": readme,
        "CITATION.cff": citation,
        "pyproject.toml": project,
        "src/posenc_lab/pyproject.toml": project,
    }
    for name, edit in files.items():
        path = root / name
        rewrite(path, edit(path.read_text(encoding="utf-8"), url))
    for path in notebooks(root):
        notebook = load(path)
        cell = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
        cell["source"] = first_cell(joined(cell["source"]), url).splitlines(keepends=True)
        rewrite(path, dump(notebook))
    return changed


def _once(pattern: re.Pattern[str], new: str, text: str) -> str:
    """The text with the pattern's one match replaced; ``ValueError`` if there is not one."""
    text, count = pattern.subn(lambda _: new, text)
    if count != 1:
        raise ValueError(f"expected one place for the address, found {count}: {pattern.pattern}")
    return text


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.address", description=__doc__)
    parser.add_argument("url", metavar="URL", help="https://github.com/OWNER/REPOSITORY, or empty")
    try:
        url = checked(parser.parse_args().url)
        changed = set_address(ROOT, url)
    except ValueError as error:
        sys.exit(f"The address was not set: {error}.")
    print(f"The repository's address is {url or 'not set'}.")
    for path in changed:
        print(f"  changed: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
