"""Arithmetic of sinusoid_explorer in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.absolute import shift_matrix, sinusoidal
from posenc.widgets.sinusoid_explorer import random_orthogonal

BASES = (1.0, 1.023, 500.0, 1e4, 1e8)


DIMS = (2, 4, 64, 128)


@pytest.mark.parametrize("dim", DIMS)
def test_matrices_equal_python(arithmetic, dim):
    rows = "%s.map((row) => Array.from(row))"
    for seed in (0, 1, 500, 999):
        drawn = arithmetic(rows % "A.randomOrthogonal(x.seed, x.dim)", {"seed": seed, "dim": dim})
        np.testing.assert_allclose(drawn, random_orthogonal(seed, dim), atol=1e-10, rtol=0)
    for base in BASES:
        for offset in (-64, -1, 0, 1, 64):
            x = {"dim": dim, "base": base, "offset": offset}
            drawn = arithmetic(rows % "A.shiftMatrix(x.offset, A.inverseFrequencies(x.dim, x.base))", x)
            np.testing.assert_allclose(drawn, shift_matrix(offset, dim, base), atol=1e-10, rtol=0)


@pytest.mark.parametrize("dim", DIMS)
def test_codes_equal_python_on_both_sides_of_the_text(arithmetic, dim):
    positions = list(range(-64, 192))
    for base in BASES:
        x = {"at": positions, "dim": dim, "base": base}
        drawn = arithmetic("A.sinusoidal(x.at, x.dim, x.base).map((row) => Array.from(row))", x)
        run = arithmetic("A.sinusoidalRun(-64, 256, x.dim, x.base).map((row) => Array.from(row))", x)
        for codes in (drawn, run):
            np.testing.assert_allclose(codes, sinusoidal(np.array(positions), dim, base), atol=1e-10, rtol=0)
