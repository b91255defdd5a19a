"""The gallery of explorables and their pages of one file, without a browser."""

import re

from posenc.widgets import DecayExplorer, Playground
from tools import embed, gallery


def test_it_shows_an_explorable_at_each_width_in_both_themes(monkeypatch, tmp_path):
    monkeypatch.setattr(gallery, "FOLDER", tmp_path / "gallery")
    index = gallery.write([DecayExplorer])
    assert index.read_text(encoding="utf-8").count("<iframe") == 2 * len(gallery.WIDTHS)
    for theme in ("light", "dark"):
        shown = (index.parent / f"decay_explorer_{theme}.html").read_text(encoding="utf-8")
        assert f'data-theme="{theme}"' in shown


def test_a_page_of_one_file_holds_all_that_it_needs():
    for cls in (DecayExplorer, Playground):
        page = embed.page(cls)
        assert not re.findall(r'<(?:script|link|img)[^>]*\b(?:src|href)="[^"]*"', page)
        assert page.count("<script") == page.count("</script>")
        assert "CC BY 4.0" in page
        assert all(f"['{name}']" in page for name in getattr(cls, "checkpoints", list)())
    assert 'src="playground.html"' in embed.iframe(Playground)
