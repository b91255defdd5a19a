"""The page of the doctor, in a browser."""

from __future__ import annotations

import json

import pytest

from posenc.doctor import diagnose
from posenc.doctor._json import TABLE
from tests.book.site.accessibility import violations
from tests.book.site.browser import SITE
from tests.unit.configurations.cases import BROKEN, PLAIN, YARN, scaled

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("doctor page")]
CHAPTER = "book/doctor"


SERVES = "#doctor-form button:enabled"


@pytest.fixture
def doctor(kept):
    """The page, whose buttons serve: each test asks anew."""
    kept.wait_for_selector(SERVES)
    return kept


def look(page, text, length=""):
    """Have a configuration looked at."""
    page.fill("#doctor-text", text if isinstance(text, str) else json.dumps(text))
    page.fill("#doctor-length", length)
    page.click("#doctor-form button[type=submit]")


def told(page):
    """The findings and the keys as the page lists them: level and name of the key."""
    entries = "(lists) => lists.map((list) => [...list.children].map((one) => [...one.querySelectorAll('strong, code')]"
    listed = page.eval_on_selector_all("#doctor-answer ul", f"{entries}.slice(0, 2).map((part) => part.textContent)))")
    return [[tuple(one) for one in each] for each in listed]


@pytest.mark.parametrize("k", range(len(TABLE["examples"])))
def test_every_example_says_what_python_says(doctor, k):
    doctor.click(f"[data-example] >> nth={k}")
    example = TABLE["examples"][k]
    diagnosis = diagnose(example["config"], example.get("length"))
    assert told(doctor)[0] == [(one.level, one.key) for one in diagnosis.findings]
    drawn = [rotation for rotation in diagnosis.rotations if rotation.after is not None]
    assert doctor.locator("#doctor-answer canvas").count() == len(drawn)
    assert doctor.locator("#doctor-answer figure").count() == len(diagnosis.rotations)


def test_a_configuration_of_ones_own_and_a_length(doctor):
    look(doctor, PLAIN, "16 384")
    [findings, _] = told(doctor)
    assert findings == [("note", "max_position_embeddings")]
    answer = doctor.inner_text("#doctor-answer")
    assert "16\u202f384 tokens are more than the 4\u202f096 of training, and nothing scales: 18 of 64 pairs" in answer
    told_so = "This configuration: fine: transformers computes what the file says"
    assert f"{told_so}; 1 note on other programs." in doctor.inner_text("#doctor-form [role=status]")
    look(doctor, PLAIN)
    assert f"{told_so}." in doctor.inner_text("#doctor-answer")


def test_a_length_that_is_none_is_said_and_left_out(doctor):
    look(doctor, PLAIN, "long")
    status = doctor.inner_text("#doctor-form [role=status]")
    assert "“long” was ignored." in status
    assert "in 4\u202f096 tokens the fastest" in doctor.inner_text("#doctor-answer")


@pytest.mark.parametrize("name", ["Python", "a list"])
def test_a_broken_file_gets_its_word_and_no_picture(doctor, name):
    look(doctor, BROKEN[name][0].replace("\x00", ""))
    assert BROKEN[name][1] in doctor.inner_text("#doctor-answer").replace("\xa0", " ")
    assert doctor.locator("#doctor-answer canvas").count() == 0


def test_one_pair_is_read_with_the_keyboard(doctor):
    look(doctor, scaled(YARN))
    doctor.focus("#doctor-answer input[type=range]")
    assert doctor.inner_text("#doctor-answer output").startswith(
        "Pair 63: a wavelength of 54\u202f410 tokens as trained"
    )
    doctor.keyboard.press("Home")
    assert (
        doctor.inner_text("#doctor-answer output")
        == "Pair 0: a wavelength of 6.283 tokens; 651.9 rotations in 4\u202f096 tokens."
    )


def test_every_link_leads_to_a_section_that_is_there(built_site):
    for name, section in TABLE["sections"].items():
        chapter = (SITE / "notebooks" / f"{section['page']}.html").read_text(encoding="utf-8")
        assert f'id="{section["anchor"]}"' in chapter, name
    shown = {rule["see"] for name in ("rules", "file_rules", "key_rules", "length_rules") for rule in TABLE[name]}
    shown |= {key["see"] for key in TABLE["keys"].values()} | {TABLE["mistyped"]["see"]}
    assert shown == TABLE["sections"].keys()


@pytest.mark.release
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_accessible_with_findings_of_every_kind_and_on_a_phone(open_chapter, theme):
    page = open_chapter(theme=theme, width=360, height=740)
    page.wait_for_selector(SERVES)
    for k in range(len(TABLE["examples"])):
        page.click(f"[data-example] >> nth={k}")
        for fold in page.locator("#doctor-answer summary").all():
            fold.click()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_without_javascript_it_says_how_else(open_chapter):
    page = open_chapter(javascript=False)
    assert "python -m posenc.doctor config.json" in page.inner_text("#doctor-form + noscript")
    assert page.is_disabled("#doctor-form button[type=submit]")
