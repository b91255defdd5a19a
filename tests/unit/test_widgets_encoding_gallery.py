"""The encoding gallery in Python: each code keeps and fails what chapter 03 tells of it."""

import numpy as np
import pytest

from posenc.widgets import EncodingGallery
from posenc.widgets.encoding_gallery import CODES

WISHES = ("distinct", "small", "same", "goes on", "everywhere", "farther", "matrix")


def failed(name: str, **setting: object) -> set[str]:
    verdicts = EncodingGallery(**setting).values()["kept"][name]
    return {wish for wish, fine in zip(WISHES, verdicts, strict=True) if not fine}


def test_each_step_of_the_story_is_true():
    late = {"everywhere", "farther", "matrix"}
    broken = {"count": {"small", "matrix"}, "divide": {"same", "goes on", "matrix"}, "digits": late, "lone-sines": late}
    broken["with-cosines"] = {"farther"}
    assert list(EncodingGallery.story()) == list(broken)
    for step, wanted in broken.items():
        widget = EncodingGallery()
        widget.tell(step)
        assert failed(widget.scheme) == wanted, step
    assert max(sum(verdicts) for verdicts in EncodingGallery().values()["kept"].values()) == 6, (
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
    kept = EncodingGallery(length=length, dim=dim).values()["kept"]
    for name, (*_, everywhere, _farther, matrix) in kept.items():
        assert matrix == (name == "sinusoidal"), name
        assert everywhere == (name in ("integer", "normalised", "sinusoidal")), name
