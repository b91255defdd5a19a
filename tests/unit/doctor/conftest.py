"""What the tests of the doctor's page share with those of the site."""

import pytest

from posenc.widgets import bundle
from tests.book.site.conftest import built_site, new_page, open_page, site_url
from tests.book.site.live import Arithmetic

__all__ = ["built_site", "new_page", "site_url"]


@pytest.fixture(scope="module")
def in_javascript(browser):
    """Evaluates an expression of `A`, what js/diagnose.js exports, and of a value `x`."""
    page, _ = open_page(browser)
    yield Arithmetic(page, [bundle("diagnose.js")])
    page.context.close()
