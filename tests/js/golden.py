"""The sentences that explorables say, kept to be read: `python -m tests.js.golden` writes them anew.

Of each explorable: what each step of its story says, and the finding there and at the settings of its case.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.explorables import CASES, Case
from tests.js.node import figure_of

FOLDER = Path(__file__).with_name("golden")


def sentences(case: Case) -> list[dict[str, Any]]:
    """What an explorable says, setting by setting."""
    figure, said = figure_of(case.cls), []
    for step in case.cls.catalogue["story"]:
        shown = figure.at(case.cls.story()[step["name"]], steps=[step])
        said.append({"step": step["name"], "say": shown["steps"][0], "finding": shown["finding"]})
    for setting in [{}, *case.settings, case.largest]:
        said.append({"setting": setting, "finding": figure.at(setting)["finding"]})
    return said


def path(case: Case) -> Path:
    """Where the sentences of an explorable are kept."""
    return FOLDER / f"{case.cls.module}.json"


def kept(case: Case) -> Any:
    """What an explorable said when its sentences were last written."""
    return json.loads(path(case).read_text(encoding="utf-8"))


def main() -> None:
    """Write the sentences of all explorables."""
    FOLDER.mkdir(exist_ok=True)
    for case in CASES:
        text = json.dumps(sentences(case), ensure_ascii=False, indent=1)
        path(case).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
