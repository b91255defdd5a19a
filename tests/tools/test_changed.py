"""The tests of what changed: each kind of file finds its own, and what has none is told."""

from __future__ import annotations

import pytest

from tools.changed import ROOT, commands, found_by_name


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("src/posenc/rotary.py", ["tests/test_rotary.py"]),
        ("src/posenc/widgets/blind_spot.py", ["tests/test_widgets.py", "tests/test_widgets_blind_spot.py"]),
        ("src/posenc/scaling/ntk.py", ["tests/test_scaling.py", "tests/test_scaling_ntk.py"]),
        ("src/posenc/lab/store.py", ["tests/test_lab_store.py"]),
        (
            "src/posenc/check/_plain.py",
            ["tests/check/test_libraries.py", "tests/check/test_plain.py", "tests/check/test_question.py"],
        ),
        ("tools/pins.py", ["tests/tools/test_pins.py"]),
        ("tests/test_rotary.py", ["tests/test_rotary.py"]),
        ("tests/explorables.py", []),
        ("book/intro.md", []),
    ],
)
def test_a_file_finds_its_tests_by_name(name, tests):
    assert (ROOT / name).is_file()
    assert found_by_name([name]) == (tests, [] if tests else [name])


def test_a_notebook_finds_those_that_name_it():
    words, without = found_by_name(
        ["notebooks/04_sinusoids.ipynb", "src/posenc/attention.py", "notebooks/05_rope_by_matrices.ipynb"]
    )
    assert without == []
    assert commands(words) == [
        ["tests/test_attention.py"],
        [
            "tests/notebooks/test_chapters.py", "tests/nbval/test_stored_outputs.py",
            "-k", "04_sinusoids or 05_rope_by_matrices",
        ],
    ]  # fmt: skip
    assert commands([]) == []
