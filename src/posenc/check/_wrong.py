"""What a check says of an answer that is not right, or not there, in the words of messages.json."""

from __future__ import annotations

from typing import Any

from posenc._sentences import catalogue, say_key

MESSAGES = catalogue("messages", "check")


def say(key: str, /, **facts: object) -> str:
    """What the catalogue has for a key, `group.what`, said with its facts."""
    return say_key(MESSAGES, key, facts)


class Wrong(Exception):
    """An answer is not right. `sentence` holds nothing of the inputs; `detail` may, and is for public checks only.

    `kind` is "shape", "values" or "dtype" where that differs, "infinite" where values are no finite numbers, and
    "timeout" where the answer took too long; `args_given` are the arguments of the call that went wrong;
    `raised` is the kind of an exception, where the sentence says no more than that there was one.
    """

    def __init__(self, sentence: str, detail: str = "", kind: str = "", raised: str = "") -> None:
        super().__init__(" ".join(filter(None, (sentence, detail))))
        self.sentence = sentence
        self.detail = detail
        self.kind = kind
        self.raised = raised
        self.args_given: tuple[Any, ...] | None = None


class Unanswered(Exception):
    """The answer is still the empty one of the handout."""
