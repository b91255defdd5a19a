import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--flip", action="store_true", help="test the opposite of every verdict: each must fail")


@pytest.fixture
def flip(request: pytest.FixtureRequest) -> bool:
    return request.config.getoption("--flip")
