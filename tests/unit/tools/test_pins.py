"""The pins follow from the ranges."""

from __future__ import annotations

import re
from importlib.metadata import distributions

import pytest
from packaging.utils import canonicalize_name

from tools import pins


@pytest.mark.torch
def test_requirements_are_the_ranges_at_the_installed_versions():
    installed = {canonicalize_name(dist.name): dist for dist in distributions()}
    text = pins.pinned((pins.ROOT / "requirements.in").read_text(encoding="utf-8"), installed)
    names = re.compile(r"^(\S+)==", re.MULTILINE)
    written = (pins.ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert names.findall(written) == names.findall(text)
    assert written.startswith(pins.REQUIREMENTS)
    assert [line for line in written.splitlines() if line.startswith("#")][3:] == re.findall(r"^#.*", text, re.M)


@pytest.mark.parametrize("line", ["numpy<1", "no-such-distribution>=1"])
def test_a_range_that_the_environment_does_not_meet_is_told(line):
    installed = {canonicalize_name(dist.name): dist for dist in distributions()}
    with pytest.raises(SystemExit, match=line):
        pins.pinned(f"# Ranges\n\n{line}\n", installed)
