"""The words that the site adds to its pages: the file words.json of each folder, or the same in another language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from posenc._sentences import in_language

SITE = Path(__file__).parent


def file(name: str) -> Path:
    """Where a file of words stands, by its name in this folder, in the language of the pages."""
    path = SITE / name
    return Path(str(in_language(path, f"site/{Path(name).parent}")))


def words(folder: str) -> dict[str, Any]:
    """The words of one of the folders."""
    found: dict[str, Any] = json.loads(file(f"{folder}/words.json").read_text(encoding="utf-8"))
    return found


def script(name: str) -> str:
    """A script of the site; it finds the words that go by its name as `words`."""
    path = SITE / name
    text = path.read_text(encoding="utf-8")
    own = words(path.parent.name).get(path.stem) if (path.parent / "words.json").exists() else None
    return f"(() => {{\nconst words = {json.dumps(own, ensure_ascii=False)};\n{text}}})();\n" if own else text
