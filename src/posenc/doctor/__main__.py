"""`python -m posenc.doctor config.json`: what the configuration does with positions, and what is wrong with it."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from posenc._numbers import grouped
from posenc._sentences import say
from posenc.doctor import GREATEST, LEVELS, Diagnosis, Rotation, diagnose
from posenc.doctor._json import TABLE

_REPORT, _COMMAND = TABLE["report"], TABLE["command"]
_WIDTH, _INDENT = 100, 16  # of a line, and of what stands under a level
_SOME = 9  # pairs


def summary(diagnosis: Diagnosis) -> str:
    """The verdict: how many errors and likely mistakes there are, or that the file is fine, and what that means."""
    counts = {level: sum(one.level == level for one in diagnosis.findings) for level in LEVELS[:3]}
    counted = [
        say(_REPORT["counted"], {"level": level, "number": count}, TABLE["names"])
        for level, count in counts.items()
        if count
    ]
    facts = {
        "fault": diagnosis.fault,
        "sound": diagnosis.worst() == LEVELS[-1],
        "notes": counted[-1] if counts[LEVELS[2]] else "",
    }
    facts |= (
        {"without": "", "model_type": "", "known_type": False}
        | diagnosis.facts
        | {"counts": [{"count": one} for one in counted]}
    )
    return say(_REPORT["summary"], facts, TABLE["names"])


def rotation_summary(rotation: Rotation) -> str:
    """A rotation in a sentence."""
    return say(_REPORT["rotation"], rotation_facts(rotation), TABLE["names"])


def rotation_facts(rotation: Rotation) -> dict[str, Any]:
    """What the sentence about a rotation stands on."""
    facts = rotation.facts | {"most": 0.0, "fewest": 0.0, "attention": rotation.attention_factor}
    if rotation.after is not None:
        made = rotation.after * rotation.length / (2 * np.pi)
        facts |= {"most": float(made[0]), "fewest": float(made[made > 0][-1])}
    return facts | {"spoilt": rotation.after is None and rotation.facts["kind"] not in ("", "axial")}


def see(section: str) -> str:
    """Where the book explains something."""
    page = TABLE["sections"][section]
    return say(_REPORT["see"], {"number": page["page"][:2], "title": page["title"]})


def _wrapped(first: str, text: str) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=f"{first:{_INDENT}}", subsequent_indent=" " * _INDENT, break_long_words=False
    )


def _table(rotation: Rotation, every: bool) -> Iterator[str]:
    """Pairs with the tokens that a turn takes and the turns that they make."""
    before, after, trained = rotation.before, rotation.after, rotation.trained or rotation.length
    if before is None or after is None:
        return
    facts = {"trained": trained, "length": rotation.length}
    names = ("pair", "before", "after", "trained_turns", "turns")
    yield "  ".join(f"{say(_REPORT[name], facts):>{6 if name == 'pair' else 25}}" for name in names)
    count = len(after)
    for i in range(count) if every or count <= _SOME else np.linspace(0, count - 1, _SOME).round().astype(int):
        wavelengths = [2 * np.pi / one if one else None for one in (before[i], after[i])]
        made = [before[i] * trained / (2 * np.pi), after[i] * rotation.length / (2 * np.pi)]
        cells = [_REPORT["still"] if one is None else grouped(one) for one in (*wavelengths, *made)]
        yield "  ".join([f"{i:>6}", *(f"{cell:>25}" for cell in cells)])


def report(diagnosis: Diagnosis, every_pair: bool = False) -> Iterator[str]:
    """The diagnosis in lines."""
    if diagnosis.fault:
        yield _wrapped(LEVELS[0], diagnosis.fault)
        return
    if diagnosis.nested:
        yield say(_REPORT["nested"], {"nested": diagnosis.nested})
    for finding in diagnosis.findings:
        yield ""
        layer = f" ({finding.layer})" if finding.layer else ""
        yield _wrapped(finding.level, f"{finding.key}{layer}. {finding.text}")
        yield " " * _INDENT + see(finding.see)
    for rotation in diagnosis.rotations:
        yield ""
        yield textwrap.fill(rotation_summary(rotation), _WIDTH)
        yield from _table(rotation, every_pair)
    yield ""
    yield _REPORT["keys"]
    for key in diagnosis.keys:
        yield _wrapped(key.level, f"{key.path} = {key.value}. {key.text}")
    if diagnosis.others:
        yield say(_REPORT["others"], {"others": diagnosis.others})


def _length(text: str) -> int:
    plain = text.replace("_", "").replace(",", "")
    if not plain.isascii() or not plain.isdigit() or not 0 < int(plain) < GREATEST:
        raise argparse.ArgumentTypeError(say(_COMMAND["bad_length"], {"text": text}))
    return int(plain)


def main(arguments: list[str] | None = None) -> int:
    """Print the diagnosis of a file; 1 where something is wrong, 2 where the file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m posenc.doctor", description=_COMMAND["description"])
    parser.add_argument("file", help=_COMMAND["file"])
    parser.add_argument("--length", type=_length, help=_COMMAND["length"])
    parser.add_argument("--pairs", action="store_true", help=_COMMAND["pairs"])
    options = parser.parse_args(arguments)
    try:
        text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error.reason
        print(say(_COMMAND["unreadable"], {"file": options.file, "error": reason}), file=sys.stderr)
        return 2
    diagnosis = diagnose(text, options.length)
    try:
        print(f"{options.file}: {summary(diagnosis)}")
        for line in report(diagnosis, options.pairs):
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:  # what reads them has enough, as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if diagnosis.worst() == LEVELS[0] else 0


if __name__ == "__main__":
    sys.exit(main())
