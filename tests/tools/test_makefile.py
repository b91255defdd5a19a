"""What `make test` asks of pytest: tests that share something share a process, and only a browser is asked again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import pytest
from playwright.sync_api import TimeoutError

tries = []

@pytest.fixture
def page():
    tries.append(1)
    if len(tries) == 1:
        raise TimeoutError("the browser drew no frame within 20 s")

def test_drawn(page):
    pass

def test_clicked():
    tries.append(1)
    if len(tries) == 3:
        raise TimeoutError('Locator.click: Timeout 20000ms exceeded. Call log:')

def test_never():
    raise TimeoutError("Page.goto: Timeout 20000ms exceeded.")

def test_wrong():
    assert not tries

def test_other_timeout():
    raise OSError("timed out: a socket")
"""


def test_only_a_browser_out_of_time_is_asked_again(tmp_path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    words = re.search(r"^AGAIN = (.*)$", makefile, re.MULTILINE)[1]
    path = tmp_path / "test_it.py"
    path.write_text(TESTS, encoding="utf-8")
    command = f"'{sys.executable}' -m pytest -p no:cacheprovider -p no:xdist -p no:nbval --rootdir . {words} test_it.py"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    counted = dict(map(reversed, re.findall(r"(\d+) (passed|failed|rerun)", done.stdout.splitlines()[-1])))
    assert counted == {"passed": "2", "failed": "3", "rerun": "3"}, done.stdout


@pytest.mark.parametrize("word", ["AGAIN", "--cov", "loadgroup"])
def test_make_test_uses_them(word):
    assert word in (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ntest:")[2].partition("\n\n")[0]


GROUPED = """
import os
import pytest

@pytest.mark.parametrize("number", [pytest.param(n, marks=pytest.mark.xdist_group(str(n % 3))) for n in range(24)])
def test_where(number):
    with open("where.txt", "a") as file:
        file.write(f"{number % 3} {os.environ['PYTEST_XDIST_WORKER']}\\n")
"""


def test_tests_of_one_group_share_a_process(tmp_path):
    """Together, pytest 9.2 and pytest-xdist 3.8 forget the groups without a word: what is shared is made twice."""
    (tmp_path / "test_it.py").write_text(GROUPED, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "--rootdir", "."]
    subprocess.run(
        [*command, "-p", "no:cacheprovider", "-p", "no:nbval", "test_it.py"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    told = (tmp_path / "where.txt").read_text(encoding="utf-8").splitlines()
    assert len(told) == 24
    assert len(set(told)) == 3
