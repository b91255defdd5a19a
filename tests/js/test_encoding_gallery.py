"""Arithmetic of encoding_gallery in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import absolute, analysis

LENGTHS = (16, 17, 33, 64, 95, 96)


CODES = {
    "A.integer(x.at, x.dim)": absolute.integer,
    "A.radixShares(x.at, x.dim, 2)": absolute.binary,
    "A.radixShares(x.at, x.dim, 10)": lambda at, dim: absolute.radix(at, dim, 10, normalise=True),
    "A.harmonic(x.at, x.dim)": absolute.harmonic,
    "A.dyadic(x.at, x.dim)": absolute.dyadic,
    "A.sinusoidal(x.at, x.dim, 1e4)": absolute.sinusoidal,
    "A.normalised(x.at, x.at.length, x.dim)": lambda at, dim: absolute.normalised(at, len(at), dim),
}


SCORES = """(() => {
  const codes = %s, apart = A.distances(codes), rows = codes.map((row) => Array.from(row));
  return [rows, [A.leastDistance(apart), A.greatestNorm(codes), A.translationResidual(apart),
    A.monotonicityViolations(apart), A.lengthDependence(codes.slice(0, 9), codes.map((row) => row.map((v) => 2 * v)))]];
})()"""


@pytest.mark.parametrize("expression", CODES)
def test_codes_and_scores_equal_python(arithmetic, expression):
    for dim in (2, 4, 8, 16, 32):
        for length in LENGTHS:
            count = min(length, 4) if "2)" in expression and dim == 2 else length
            count = min(count, 16) if "2)" in expression and dim == 4 else count
            at = np.arange(count)
            drawn, scores = arithmetic(SCORES % expression, {"at": at.tolist(), "dim": dim})
            codes = CODES[expression](at, dim)
            np.testing.assert_allclose(drawn, codes, atol=1e-10, rtol=0)
            wanted = [
                analysis.min_distance(codes),
                analysis.max_norm(codes),
                analysis.translation_residual(codes),
                analysis.monotonicity_violations(codes),
                analysis.length_dependence(codes[:9], 2 * codes),
            ]
            np.testing.assert_allclose(scores, wanted, atol=1e-10, rtol=0, err_msg=f"{expression} {dim} {length}")
