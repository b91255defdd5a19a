"""A browser that does not answer: what pytest makes of its test, in a run of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.site.browser import ROOT

CONFTEST = """
import pytest
from tests import second_try
from tests.conftest import browser, playwright

second_try.PATIENCE = 8.0
tries = []

@pytest.fixture
def page(browser):
    tries.append(browser)
    context = browser.new_context()
    yield context.new_page()
    context.close()

@pytest.fixture
def first_try(page):
    return len(tries) % 2 == 1

def pytest_configure(config):
    config.pluginmanager.register(second_try)
"""
NEVER = "page.evaluate('new Promise(() => {})')"
OUT_OF_TIME = "page.wait_for_selector('#none', timeout=200)"


@pytest.mark.parametrize(
    ("body", "outcomes"),
    [
        (f"first_try and {NEVER}", {"passed": 2, "hung": 1}),
        (f"first_try and {OUT_OF_TIME}", {"passed": 2, "hung": 1}),
        (NEVER, {"failed": 1, "passed": 1, "hung": 1}),
        ("assert not first_try", {"failed": 1, "passed": 1}),
    ],
)
def test_a_second_try_where_the_browser_did_not_answer_and_nowhere_else(
    tmp_path: Path, body: str, outcomes: dict[str, int]
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    next_test = "def test_next(page):\n    assert page.evaluate('1 + 1') == 2\n"
    test = f"def test_it(page, first_try):\n    {body}\n\n{next_test}"
    (tmp_path / "test_it.py").write_text(test, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", tmp_path, tmp_path],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    counted = re.findall(r"(\d+) (passed|failed|hung)", run.stdout.splitlines()[-1])
    assert {outcome: int(count) for count, outcome in counted} == outcomes, run.stdout + run.stderr
