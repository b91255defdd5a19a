"""Questions for tests of the grader, so that no answer to a real one stands outside course/private."""

from typing import Any

import numpy as np
import torch

from course.question import Case, Part, Question

PACKAGES = ("numpy", "torch")
IMPORTS = "import math\nimport numpy as np\nimport torch"


def _cases(random: np.random.Generator) -> list[Case]:
    return [Case(torch.from_numpy(random.standard_normal(4)), float(random.uniform(2, 3))) for _ in range(2)]


def toy(reference: Any = lambda x, by: x * by, parts: int = 2, **options: Any) -> Question:
    """A question that asks for `scaled(x, by)`, a tensor times a number."""
    of = tuple(Part(f"part {number}", 1, cases=_cases) for number in range(1, parts + 1))
    return Question(2, "q1", "a toy", ("scaled",), of, reference=reference, imports=IMPORTS, **options)


SCALED = toy()
RIGHT = "def scaled(x, by):\n    return x * by\n"
