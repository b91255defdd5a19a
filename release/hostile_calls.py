"""Print what becomes of calls that a user may type in a hurry: refused by name, right, obscure or wrong.

python -m release.hostile_calls
"""

from __future__ import annotations

from collections import Counter

from tests.unit.hostile_calls import REFUSED, RIGHT, rows, verdict


def main() -> None:
    """Print the table, and how many calls there are of each kind."""
    counts: Counter[str] = Counter()
    for table in (REFUSED, RIGHT):
        for call, expected in rows(table):
            kind, message = verdict(call, expected, table is REFUSED)
            counts[kind] += 1
            print(f"{kind:15}  {call}" + (f"\n{'':17}{' '.join(message.split())[:160]}" if kind != "right" else ""))
    print(", ".join(f"{counts[kind]} {kind}" for kind in ("refused by name", "right", "obscure", "wrong")))


if __name__ == "__main__":
    main()
