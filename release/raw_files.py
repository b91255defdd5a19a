"""Print how the published config.json of the tests are read, beside what transformers computes from them.

    python -m release.raw_files

For each file, from the reader and its oracle (`python -m tests.unit.configurations.oracles` computes these): "agree"
where every kind of layers has the same frequencies, factor and layout, "no rotation" where neither side rotates,
"nothing to compare" where transformers has no class for the file, else "disagree" and what differs; then the doctor's
verdict.
"""

from __future__ import annotations

import warnings
from collections import Counter

from posenc.configuration import read_configuration
from posenc.doctor import diagnose
from tests.unit.configurations.oracles import names, raw, stored
from tests.unit.configurations.test_published import assert_agrees


def main() -> None:
    """Print the table, and how many files there are of each kind."""
    warnings.filterwarnings("ignore", message="config has keys that nothing reads")
    oracles, kinds, levels = stored(), Counter[str](), Counter[str]()
    for name in names():
        oracle, difference = oracles[name], ""
        if "refused" in oracle:
            kind = "nothing to compare"
        else:
            kind = "agree" if oracle["layers"] else "no rotation"
            try:
                assert_agrees(read_configuration(raw(name)), oracle)
            except (AssertionError, ValueError, TypeError) as error:
                kind, difference = "disagree", " ".join(str(error).split())[:100]
        level = diagnose(raw(name)).worst()
        kinds[kind] += 1
        levels[level] += 1
        print(f"{kind:18}  {level:14}  {name}  {difference}".rstrip())
    print(f"{kinds.total()} files: {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}")
    print(f"the doctor: {', '.join(f'{count} {level}' for level, count in levels.most_common())}")


if __name__ == "__main__":
    main()
