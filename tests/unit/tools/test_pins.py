"""The pins follow from the ranges."""

import tomllib
from importlib.metadata import distributions

import pytest
from packaging.utils import canonicalize_name

from tools import pins


@pytest.mark.torch
def test_requirements_are_the_ranges_at_the_installed_versions():
    installed = {canonicalize_name(dist.name): dist for dist in distributions()}
    groups = tomllib.loads((pins.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert (pins.ROOT / "requirements.txt").read_text(encoding="utf-8") == pins.REQUIREMENTS + pins.pinned(
        groups["book"], installed
    )
