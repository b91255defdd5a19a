import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the tests and the claims page share evidence.py


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--flip", action="store_true", help="test the opposite of every verdict: each must fail")


@pytest.fixture
def flip(request: pytest.FixtureRequest) -> bool:
    return request.config.getoption("--flip")
