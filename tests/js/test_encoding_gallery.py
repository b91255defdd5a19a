"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.widgets import EncodingGallery
from posenc.widgets.encoding_gallery import ENCODINGS
from tests.explorables import shown

PROPERTIES = ("distinct", "bounded", "independent", "past the end", "invariant", "monotonic", "matrix")


def failed(name: str, **setting: object) -> set[str]:
    verdicts = shown(EncodingGallery, **setting).values["met"][name]
    return {name for name, fine in zip(PROPERTIES, verdicts, strict=True) if not fine}


def test_each_step_of_the_story_is_true():
    late = {"invariant", "monotonic", "matrix"}
    broken = {
        "sinusoidal": {"monotonic"},
        "count": {"bounded", "matrix"},
        "divide": {"independent", "past the end", "matrix"},
        "digits": late,
        "sines": late,
    }
    assert list(EncodingGallery.story()) == list(broken)
    for step, wanted in broken.items():
        widget = shown(EncodingGallery, **EncodingGallery.story()[step])
        assert failed(widget.setting["scheme"]) == wanted, step
    assert max(sum(verdicts) for verdicts in shown(EncodingGallery).values["met"].values()) == 6, (
        "no encoding has every property"
    )


def test_only_where_it_is_translation_invariant_do_the_distances_move_along_with_m():
    for name, met in shown(EncodingGallery).values["met"].items():
        here, there = (shown(EncodingGallery, scheme=name, m=m).values["distances"] for m in (24, 41))
        unchanged = np.allclose(here[:40], there[17:57])
        assert unchanged == met[PROPERTIES.index("invariant")], name


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
