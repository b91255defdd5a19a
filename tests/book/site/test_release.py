"""The archive of a release: unpacked anywhere, it is the whole website."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tools import release


@pytest.mark.release
def test_unpacked_it_works_from_disk(built_site: Path, tmp_path: Path, new_page: Callable[..., Page]) -> None:
    with zipfile.ZipFile(release.pack_site(built_site, tmp_path)) as archive:
        archive.extractall(tmp_path / "a folder, elsewhere")
    (site,) = (tmp_path / "a folder, elsewhere").iterdir()
    assert site.name == f"turn-by-turn-{release.version()}"
    files = {path.relative_to(built_site) for path in built_site.rglob("*") if path.is_file()}
    assert {path.relative_to(site) for path in site.rglob("*") if path.is_file()} == files - {Path(".buildinfo")}
    page = new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.wait_for_url("**/book/intro.html")
    expect(page.locator(".posenc-explorable canvas").first).to_be_visible()
    assert {request for request in requests if not request.startswith((site.as_uri(), "data:", "blob:"))} == set()


@pytest.mark.release
def test_the_pdf_has_contents_bookmarks_and_links_within_itself(built_site: Path, tmp_path: Path) -> None:
    from pypdf import PdfReader

    from tools import pdf

    with ThreadPoolExecutor() as pool:  # another thread, for a browser of its own
        pool.submit(pdf.print_book, built_site, tmp_path / "book.pdf", ("09", "glossary")).result()
    book = PdfReader(tmp_path / "book.pdf")
    chapter, sections, glossary, _ = book.outline
    begins = [book.get_destination_page_number(one) for one in (chapter, glossary)]
    assert [chapter.title, glossary.title] == ["09 Why length extrapolation fails", "Glossary and notation"]
    assert "Attention dilution" in [one.title for one in sections if not isinstance(one, list)]
    contents = book.pages[0].extract_text().split()
    for page in begins:  # as it is numbered there
        assert str(page + 1) in contents
        assert str(page + 1) in book.pages[page].extract_text().split()
    links = [link.get_object() for page in book.pages for link in page.get("/Annots", [])]
    addresses = {link["/A"]["/URI"] for link in links if "/URI" in link.get("/A", {})}
    assert addresses
    assert not [address for address in addresses if not address.startswith("http")]
    assert sum("/Dest" in link for link in links) > 100
    assert (tmp_path / "book.pdf").stat().st_size < 3e6


def test_without_a_website_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="run `make book` first"):
        release.pack_site(tmp_path, tmp_path)


def test_another_tag_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["release", "v9.9.9"])
    with pytest.raises(SystemExit, match="2"):
        release.main()
    assert f"the tag is v9.9.9, and pyproject.toml names version {release.version()}" in capsys.readouterr().err
