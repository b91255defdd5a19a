"""Arithmetic of encoding_gallery in JavaScript, compared with the package."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import absolute, analysis
from posenc.widgets import EncodingGallery
from posenc.widgets.encoding_gallery import ENCODINGS
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
  return [rows, [A.minDistance(apart), A.maxNorm(codes), A.translationResidual(apart),
    A.monotonicityViolations(apart), A.lengthDependence(codes.slice(0, 9), codes.map((row) => row.map((v) => 2 * v)))]];
})()"""


@pytest.mark.parametrize("expression", IN_JAVASCRIPT)
def test_encodings_and_scores_equal_python(arithmetic, expression):
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


PROPERTIES = ("distinct", "bounded", "independent", "past the end", "invariant", "monotonic", "matrix")


def failed(name: str, **setting: object) -> set[str]:
    verdicts = shown(EncodingGallery, **setting).values["met"][name]
    return {name for name, fine in zip(PROPERTIES, verdicts, strict=True) if not fine}


def test_each_step_of_the_story_is_true():
    late = {"invariant", "monotonic", "matrix"}
    broken = {
        "count": {"bounded", "matrix"},
        "divide": {"independent", "past the end", "matrix"},
        "digits": late,
        "sines": late,
    }
    broken["with-cosines"] = {"monotonic"}
    assert list(EncodingGallery.story()) == list(broken)
    for step, wanted in broken.items():
        widget = shown(EncodingGallery, **EncodingGallery.story()[step])
        assert failed(widget.setting["scheme"]) == wanted, step
    assert max(sum(verdicts) for verdicts in shown(EncodingGallery).values["met"].values()) == 6, (
        "no encoding has every property"
    )


@pytest.mark.parametrize("length", [16, 96])
@pytest.mark.parametrize("dim", [2, 4, 6, 8])
def test_each_encoding_ends_where_the_package_refuses(length, dim):
    for name, encoding in ENCODINGS.items():
        end = encoding.end(length, dim)
        last = min(end, 10**6) - 1
        assert np.isfinite(encoding.rows(np.array([last]), length, dim)).all()
        if np.isfinite(end):
            with pytest.raises(ValueError, match="positions must be at most"):
                encoding.rows(np.array([end]), length, dim)
        else:
            assert name not in ("normalised", "binary", "radix")


@pytest.mark.parametrize("length", [16, 33, 96])
@pytest.mark.parametrize("dim", [2, 16, 32])
def test_only_sinusoids_have_a_shift_operator_and_are_translation_invariant(length, dim):
    met = shown(EncodingGallery, length=length, dim=dim).values["met"]
    for name, (*_, invariant, _monotonic, matrix) in met.items():
        assert matrix == (name == "sinusoidal"), name
        assert invariant == (name in ("integer", "normalised", "sinusoidal")), name
