"""The gallery of explorables, without a browser."""

from posenc.widgets import DecayExplorer
from tools import gallery


def test_it_shows_an_explorable_at_each_width_in_both_themes(monkeypatch, tmp_path):
    monkeypatch.setattr(gallery, "FOLDER", tmp_path / "gallery")
    index = gallery.write([DecayExplorer])
    assert index.read_text(encoding="utf-8").count("<iframe") == 2 * len(gallery.WIDTHS)
    for name in ("decay_explorer_light.html", "decay_explorer_dark.html", "host.js", "modules/decay_explorer.js"):
        assert (index.parent / name).stat().st_size > 1000
