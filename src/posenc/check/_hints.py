"""Hints that unfold: for each question three, from a question back to nearly the answer, in the words of hints.json.

They are text and nothing else, and stand in no recording, so that they need neither torch nor a kernel.
"""

from __future__ import annotations

import textwrap

from posenc._sentences import catalogue
from posenc.check._wrong import say

HINTS = catalogue("hints", "check")
WIDTH = 88  # characters of a line


def hints_of(assignment: int, name: str) -> list[str]:
    """The hints to a question, the vaguest first; none where it has none.

    >>> len(hints_of(2, "q1"))
    3
    """
    found: list[str] = HINTS.get(f"assignment_{assignment}", {}).get(name, [])
    return found


class Hinted:
    """A question that may have hints."""

    assignment: int
    name: str

    def hint(self, step: int = 1, /) -> None:
        """Print the first hint to this question, or the first two, or all three.

        Args:
            step: how many.

        Raises:
            ValueError: a step that there is not.

        >>> from posenc.check import HandGraded
        >>> HandGraded(4, "q7", "an explanation", 3).hint()  # doctest: +ELLIPSIS
        q7, hint 1 of 3: ...
        The next one: check.q7.hint(2)
        """
        hints = hints_of(self.assignment, self.name)
        if not hints:
            raise ValueError(f"{self.name} of assignment {self.assignment} has no hints")
        if type(step) is not int or not 1 <= step <= len(hints):
            raise ValueError(f"hint {step!r}: the hints to {self.name} go from 1 to {len(hints)}")
        for number, text in enumerate(hints[:step], start=1):
            line = say("hint.step", name=self.name, number=number, of=len(hints), text=text)
            print(textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))
        if step < len(hints):
            print(say("hint.next", name=self.name, number=step + 1))
