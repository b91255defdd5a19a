"""What the tests of the doctor's page share with those of the site."""

from tests.book.site.conftest import built_site, new_page, site_url

__all__ = ["built_site", "new_page", "site_url"]
