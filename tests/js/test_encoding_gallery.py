"""Arithmetic of encoding_gallery in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import absolute, analysis
from posenc.widgets import EncodingGallery
from posenc.widgets.encoding_gallery import CODES
from tests.explorables import shown

LENGTHS = (16, 17, 33, 64, 95, 96)


IN_JAVASCRIPT = {
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


@pytest.mark.parametrize("expression", IN_JAVASCRIPT)
def test_codes_and_scores_equal_python(arithmetic, expression):
    for dim in (2, 4, 8, 16, 32):
        for length in LENGTHS:
            count = min(length, 4) if "2)" in expression and dim == 2 else length
            count = min(count, 16) if "2)" in expression and dim == 4 else count
            at = np.arange(count)
            drawn, scores = arithmetic(SCORES % expression, {"at": at.tolist(), "dim": dim})
            codes = IN_JAVASCRIPT[expression](at, dim)
            np.testing.assert_allclose(drawn, codes, atol=1e-10, rtol=0)
            wanted = [
                analysis.min_distance(codes),
                analysis.max_norm(codes),
                analysis.translation_residual(codes),
                analysis.monotonicity_violations(codes),
                analysis.length_dependence(codes[:9], 2 * codes),
            ]
            np.testing.assert_allclose(scores, wanted, atol=1e-10, rtol=0, err_msg=f"{expression} {dim} {length}")


WISHES = ("distinct", "small", "same", "goes on", "everywhere", "farther", "matrix")


def failed(name: str, **setting: object) -> set[str]:
    verdicts = shown(EncodingGallery, **setting).values["kept"][name]
    return {wish for wish, fine in zip(WISHES, verdicts, strict=True) if not fine}


def test_each_step_of_the_story_is_true():
    late = {"everywhere", "farther", "matrix"}
    broken = {"count": {"small", "matrix"}, "divide": {"same", "goes on", "matrix"}, "digits": late, "lone-sines": late}
    broken["with-cosines"] = {"farther"}
    assert list(EncodingGallery.story()) == list(broken)
    for step, wanted in broken.items():
        widget = shown(EncodingGallery, **EncodingGallery.story()[step])
        assert failed(widget.setting["scheme"]) == wanted, step
    assert max(sum(verdicts) for verdicts in shown(EncodingGallery).values["kept"].values()) == 6, (
        "no code keeps every wish"
    )


@pytest.mark.parametrize("length", [16, 96])
@pytest.mark.parametrize("dim", [2, 4, 6, 8])
def test_each_code_ends_where_the_package_refuses(length, dim):
    for name, code in CODES.items():
        end = code.end(length, dim)
        last = min(end, 10**6) - 1
        assert np.isfinite(code.rows(np.array([last]), length, dim)).all()
        if np.isfinite(end):
            with pytest.raises(ValueError, match="positions must be at most"):
                code.rows(np.array([end]), length, dim)
        else:
            assert name not in ("normalised", "binary", "radix")


@pytest.mark.parametrize("length", [16, 33, 96])
@pytest.mark.parametrize("dim", [2, 16, 32])
def test_only_sinusoids_step_by_a_matrix_and_look_alike_everywhere(length, dim):
    kept = shown(EncodingGallery, length=length, dim=dim).values["kept"]
    for name, (*_, everywhere, _farther, matrix) in kept.items():
        assert matrix == (name == "sinusoidal"), name
        assert everywhere == (name in ("integer", "normalised", "sinusoidal")), name
