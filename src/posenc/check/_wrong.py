"""What a check says of an answer that is not right, or not there."""

from __future__ import annotations


class Wrong(Exception):
    """An answer is not right. `sentence` holds nothing of the inputs; `detail` may, and is for public checks only.

    `kind` is "shape", "values" or "dtype" where that differs, and "infinite" where values are no finite numbers.
    """

    def __init__(self, sentence: str, detail: str = "", kind: str = "") -> None:
        super().__init__(f"{sentence} {detail}".strip())
        self.sentence = sentence
        self.detail = detail
        self.kind = kind


class Unanswered(Exception):
    """The answer is still the empty one of the handout."""
