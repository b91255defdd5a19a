"""Arithmetic of sinusoid_explorer in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.absolute import shift_matrix, sinusoidal
from posenc.analysis import kernel_asymmetry, kernel_residual, offset_kernel
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
@pytest.mark.parametrize("base", BASES)
def test_kernels_equal_python(arithmetic, dim, base):
    distances, positions = np.arange(-64, 65), np.arange(128)
    matrices = {
        "A.shiftMatrix(0, A.inverseFrequencies(x.dim, x.base))": np.eye(dim),
        "A.shiftMatrix(-7, A.inverseFrequencies(x.dim, x.base))": shift_matrix(-7, dim, base),
        "A.randomOrthogonal(3, x.dim)": random_orthogonal(3, dim),
    }
    for expression, matrix in matrices.items():
        kernel, band, measures = arithmetic(
            f"""(() => {{
              const products = A.offsetProducts(A.sinusoidalRun(-64, 256, x.dim, x.base), 64, {expression});
              const kernel = Array.from({{ length: 128 }}, (_, m) => products(m)), band = A.kernelBand(kernel);
              return [kernel.map((row) => Array.from(row)), ['low', 'high', 'mean'].map((k) => Array.from(band[k])),
                [A.kernelResidual(kernel, band), A.kernelAsymmetry(kernel, band)]];
            }})()""",
            {"dim": dim, "base": base},
        )
        wanted = offset_kernel(-distances, positions, dim, base, matrix) / (dim / 2)
        np.testing.assert_allclose(kernel, wanted, atol=1e-10, rtol=0)
        np.testing.assert_allclose(band, [wanted.min(0), wanted.max(0), wanted.mean(0)], atol=1e-10, rtol=0)
        np.testing.assert_allclose(
            measures, [kernel_residual(wanted), kernel_asymmetry(wanted)], atol=1e-10, rtol=0, err_msg=expression
        )


@pytest.mark.parametrize("dim", DIMS)
def test_codes_equal_python_on_both_sides_of_the_text(arithmetic, dim):
    positions = list(range(-64, 192))
    for base in BASES:
        x = {"at": positions, "dim": dim, "base": base}
        drawn = arithmetic("A.sinusoidal(x.at, x.dim, x.base).map((row) => Array.from(row))", x)
        run = arithmetic("A.sinusoidalRun(-64, 256, x.dim, x.base).map((row) => Array.from(row))", x)
        for codes in (drawn, run):
            np.testing.assert_allclose(codes, sinusoidal(np.array(positions), dim, base), atol=1e-10, rtol=0)
