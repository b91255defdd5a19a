"""EncodingGallery beyond the battery: its table of scores, and a press on a small picture."""

from __future__ import annotations

import pytest

from posenc.widgets import EncodingGallery
from tests.book.site.hands import press
from tests.explorables import shown

pytestmark = pytest.mark.xdist_group("EncodingGallery")  # with the battery of tests of it: they share its page


def test_the_table_says_what_each_property_scores(open_live):
    live = open_live(EncodingGallery)
    live.set(scheme="binary")
    live.open()
    rows = live.figure.locator(".posenc-table tbody tr").all_inner_texts()
    assert [row.split("\t")[1] for row in rows] == [
        "✓ 1.00", "✓ 2.45", "✓ 0", "✓ 100 %", "✗ 14.6 %", "✗ 28.0 %", "✗ 0.31",
    ]  # fmt: skip
    assert rows[1].split("\t")[2] == "up to √d = 2.83"
    live.set(scheme="sinusoidal")
    rows = live.figure.locator(".posenc-table tbody tr").all_inner_texts()
    assert [row.split("\t")[1][0] for row in rows] == list("✓✓✓✓✓✗✓")


@pytest.mark.parametrize("width", [1280, 360])
def test_a_press_on_it_chooses_an_encoding(open_live, width):
    live = open_live(EncodingGallery, width=width, height=740)
    schemes = list(EncodingGallery.catalogue["controls"]["scheme"]["options"])
    wide = live.evaluate("figure.querySelector('canvas').clientWidth")
    each, top, row = (7, 340, 0) if width == 1280 else (4, 250, 46)
    for k, scheme in reversed(list(enumerate(schemes))):
        live.set(scheme="dyadic" if scheme == "integer" else "integer")
        press(live, (k % each + 0.5) * wide / each, top + k // each * row)
        assert live.get("scheme") == scheme
        assert live.finding == shown(EncodingGallery, scheme=scheme).finding
    press(live, 40, 392)
    assert live.get("scheme") == "integer", "the properties' names choose nothing"
