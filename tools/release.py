"""Pack a release: the built website as one archive, which works when it is unpacked, the book as a PDF, and the wheels.

python -m tools.release           pack what `make book` built into _build/release
python -m tools.release v0.3.0    the same, if that is this version's tag
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tools.book import BUILD, SITE
from tools.execute import ROOT

RELEASE = BUILD / "release"


def version() -> str:
    """The version that pyproject.toml names."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def pack_site(site: Path, folder: Path) -> Path:
    """Pack the website into an archive in the folder, below one folder of the archive's own name.

    Raises:
        FileNotFoundError: The website is not there.
    """
    if not (site / "index.html").is_file():
        raise FileNotFoundError(f"There is no website in {site}: run `make book` first.")
    name = f"turn-by-turn-{version()}"
    staged = folder / "staged"
    # what Sphinx keeps for the next build is for nobody else
    shutil.copytree(site, staged / name, ignore=shutil.ignore_patterns(".buildinfo", ".doctrees"))
    archive = shutil.make_archive(str(folder / name), "zip", staged, name)
    shutil.rmtree(staged)
    return Path(archive)


def build_wheels(source: Path, folder: Path) -> list[Path]:
    """Build the wheels of both packages from a copy of what the repository holds, so that nothing is left in it.

    Returns:
        the wheel of posenc, then that of posenc-lab.
    """
    copy = folder / "copy"
    shutil.copytree(source / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(source / name, copy)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    projects = [copy, copy / "src" / "posenc_lab"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, *projects], check=True)
    shutil.rmtree(copy)
    return sorted(folder.glob("posenc*.whl"))


def main() -> None:
    """Pack all of it, and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__.partition("\n")[0])
    parser.add_argument("tag", nargs="?", help="the release's tag, which must be this version's")
    tag = parser.parse_args().tag
    if tag not in (None, f"v{version()}"):
        parser.error(f"the tag is {tag}, and pyproject.toml names version {version()}: accepted is v{version()}")
    from tools import pdf  # here: pypdf comes with the group `release` only

    shutil.rmtree(RELEASE, ignore_errors=True)
    RELEASE.mkdir(parents=True)
    archive = pack_site(SITE, RELEASE)
    book = archive.with_suffix(".pdf")
    pdf.print_book(SITE, book)
    for path in (archive, book, *build_wheels(ROOT, RELEASE)):
        print(path.relative_to(ROOT), f"{path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
