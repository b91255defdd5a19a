"""Search in English, with the Chinese terms of the glossary found by their parts as well."""

from __future__ import annotations

import re

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

CHINESE = re.compile(r"[\u4e00-\u9fff]{2,}")
LONGEST = 8  # characters of a run that anyone would type


def parts(run: str) -> set[str]:
    """A run of Chinese characters has no spaces: all that one may look for in it, of two characters or more."""
    starts = range(len(run) - 1)
    return {run[i:j] for i in starts for j in range(i + 2, min(len(run), i + LONGEST) + 1)}


class SearchEnglishAndChinese(SearchEnglish):
    """English words, and the parts of Chinese ones."""

    def split(self, input: str) -> list[str]:
        """The words of a text."""
        return super().split(input) + [part for run in CHINESE.findall(input) for part in sorted(parts(run))]


def setup(app: Sphinx) -> None:
    """Take the place of Sphinx's own English."""
    app.add_search_language(SearchEnglishAndChinese)
