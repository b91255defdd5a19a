"""The functions that chapters 05, 06 and 07 write, against `posenc.rotary.rope`, which later chapters use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from posenc.rotary import LAYOUTS, rope
from tools.execute import chapters
from tools.notebooks import joined, load

RNG = np.random.default_rng(5)


def defined_in(chapter: str, cell: str) -> Callable:
    [path] = [path for path in chapters() if path.name.startswith(chapter)]
    names = {"np": np}
    exec(next(joined(one["source"]) for one in load(path)["cells"] if one["id"] == cell), names)
    return names["rope"]


@pytest.mark.parametrize(("chapter", "cell"), [("05", "six-lines-code"), ("06", "rope-complex")])
def test_the_readers_function_is_the_interleaved_one_of_the_package(chapter, cell):
    x, positions = RNG.normal(size=(2, 3, 8, 6)), RNG.integers(-1000, 1000, 8)
    for base in ([], [500.0]):
        found = defined_in(chapter, cell)(x, positions, *base)
        np.testing.assert_allclose(found, rope(x, positions, "interleaved", *base), atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_function_of_chapter_07_is_the_one_of_the_package(layout, dtype):
    x, positions = RNG.normal(size=(2, 3, 8, 6)).astype(dtype), RNG.integers(-1000, 1000, 8)
    for base in ([], [500.0]):
        found, expected = (of(x, positions, layout, *base) for of in (defined_in("07", "rope"), rope))
        assert found.dtype == expected.dtype == dtype
        np.testing.assert_allclose(found, expected, atol=10 * np.finfo(dtype).eps)
