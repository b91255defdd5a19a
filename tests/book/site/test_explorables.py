"""The explorables on the built pages, in a real browser and without a kernel.

The battery is the same for each of them: tests/explorables.py lists them. What only some have follows after it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import expect

from posenc._numbers import grouped, integer
from posenc.figures import PALETTE
from posenc.widgets import (
    ContextExtension,
    DecayExplorer,
    OrderBlindness,
    SinusoidExplorer,
)
from tests.book.site.live import HURRY, SLOWLY, Live
from tests.explorables import CASES, EVERY_ONE, Case, plain, sentence, shown

# Together they have every kind of control but powers of two, the Playground's. What all explorables share is tried on
# these at every change.
REPRESENTATIVES = (OrderBlindness, ContextExtension, SinusoidExplorer)


def cases(chosen: Callable[[Case], bool]) -> pytest.MarkDecorator:
    """A test of each explorable, the others than the chosen ones before a release; one's tests share its page."""
    return pytest.mark.parametrize(
        "case",
        [
            pytest.param(
                case,
                id=case.name,
                marks=[pytest.mark.xdist_group(case.name), *([] if chosen(case) else [pytest.mark.release])],
            )
            for case in CASES
        ],
    )


EACH = cases(lambda case: True)
SHELL = cases(lambda case: case.cls in REPRESENTATIVES)
ONE = cases(lambda case: case.cls is OrderBlindness)
DECAY = pytest.mark.xdist_group("DecayExplorer")


# ---- the battery -------------------------------------------------------------------------------------------------


def meet(live: Live, control: dict) -> None:
    """Set the other controls so that this one has something to move."""
    live.open()
    for name, values in control["needs"].items():
        live.set(**{name: values[0]})
    assert live.control(control["name"]).is_visible()


def accepted(control: dict) -> str:
    """What a numeric control takes, in the words of its notice."""
    kind = dict.fromkeys(("tokens", "integer", "action"), "integers")
    kind |= {"even": "even numbers", "powers": "powers of two"}
    least, greatest = (limit_in_words(control[limit]) for limit in ("least", "greatest"))
    return f"{control['label']} takes {kind.get(control['scale'], 'numbers')} from {least} to {greatest}; "


def limit_in_words(value: float) -> str:
    """A limit of a control, every digit of a whole number."""
    return integer(int(value)) if float(value).is_integer() else grouped(value)


@SHELL
def test_every_control_answers_to_mouse_keys_and_typing(open_live, case):
    live, cls = open_live(case.cls), case.cls
    for control in cls.controls():
        name, scale = control["name"], control["scale"]
        opening = cls.class_traits()[name].default_value
        live.set(**cls(**({} if name in case.free else case.free)).setting())
        meet(live, control)
        if scale == "switch":
            box = live.input(name, "checkbox")
            box.click()
            assert live.get(name) is not opening, f"{name} by mouse"
            box.press("Space")
            assert live.get(name) is opening, f"{name} by keyboard"
            box.press("Space")
        elif scale == "choice":
            row = live.control(name)
            choices = row.get_by_role("radio").first if control["chips"] else row.get_by_role("combobox")
            for option in [*control["options"][1:], control["options"][0]]:
                if option in control["options"][control.get("first", len(control["options"])) :]:
                    row.locator("select").select_option(label=option["label"])
                elif control["chips"]:
                    row.get_by_text(option["label"], exact=True).click()
                else:
                    choices.select_option(label=option["label"])
                setting, finding, _ = live.state()
                assert setting[name] == option["value"]
                for moved, value in option["sets"].items():
                    assert setting[moved] == value, f"{moved} as {option['value']} has it"
                assert finding == shown(cls, **setting).finding
            choices.press("ArrowDown")
            assert live.get(name) == control["options"][1]["value"], f"{name} by keyboard"
        elif scale == "action":
            button = live.one(f"[data-control={name}] button")
            button.click()
            button.press("Enter")
            assert live.get(name) == opening + 2
            live.set(**{name: control["greatest"]})
            button.click()
            assert live.get(name) == 0
        elif scale == "text":
            if control["own_control"]:
                continue  # has tests of its own
            field = live.input(name, "text")
            field.fill("\u2603")
            field.press("Enter")
            assert f"{control['label']} takes {control['accepted']}; “\u2603” is not that" in live.notice
            assert live.get(name) == opening == field.input_value()
        else:
            slider, typed = live.input(name), live.input(name, "text")
            live.drag(name, 1.2)
            assert live.get(name) == control["greatest"], f"{name} by mouse"
            assert slider.get_attribute("aria-valuetext").startswith(limit_in_words(control["greatest"]))
            slider.press("Home")
            assert live.get(name) == control["least"], f"{name} by keyboard"
            slider.press("ArrowRight")
            assert control["least"] < live.get(name) < control["greatest"]
            typed.fill("many")
            typed.press("Enter")
            assert live.notice.startswith(f"{accepted(control)}“many” is not one, so it stays"), name
            typed.fill(str(control["greatest"] * 10 + 10))
            typed.press("Enter")
            setting, _, notice = live.state()
            assert setting[name] == control["greatest"]
            assert notice.startswith(accepted(control)), name
            typed.fill(str(opening))
            typed.press("Enter")
            setting, _, notice = live.state()
            assert setting[name] == opening, f"{name} typed"
            assert notice == ""
        setting, finding, _ = live.state()
        assert finding == shown(cls, **setting).finding, name


def all_moved(case: Case, opening: dict[str, object]) -> dict[str, object]:
    """A setting in which no control stands as it does in this one."""
    setting, brought = {}, {}
    for control in case.cls.controls():
        name, before = control["name"], opening[control["name"]]
        if control["scale"] == "switch":
            setting[name] = not before
        elif control["scale"] == "choice":
            others = [option for option in control["options"] if option["value"] != before]
            chosen = min(others, key=lambda option: len(option["sets"]))
            setting[name] = chosen["value"]
            brought |= chosen["sets"]
        elif control["scale"] == "text":
            setting[name] = next(one[name] for one in case.settings if one.get(name, before) != before)
        else:
            setting[name] = control["least"] if before != control["least"] else control["greatest"]
    setting |= brought
    assert [name for name in setting if setting[name] == opening[name]] == []
    return setting


# Follows a link within the page; the page's own listener hears of it before this one.
FOLLOW = """(link) => new Promise((done) => {
  addEventListener('hashchange', done, { once: true });
  location.href = link;
})"""


@SHELL
def test_a_link_restores_each_setting_and_reset_the_opening(open_live, new_page, case):
    live = open_live(case.cls)
    opening, finding = live.setting(), live.finding  # as its page has it, which need not be the class's
    live.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    live.open()
    again = None
    for setting in [*case.settings[:2], all_moved(case, opening)]:
        expected = shown(case.cls, **setting)
        live.set(**expected.setting)
        live.evaluate("void (figure.querySelector('.posenc-notice').textContent = '')")
        live.figure.get_by_role("button", name="Copy link").click()
        live.page.wait_for_function(
            "(figure) => figure.querySelector('.posenc-notice').textContent === 'Link copied.'", arg=live.handle
        )
        link = live.page.evaluate("navigator.clipboard.readText()")
        if again is None:  # the link that is opened, and those that are followed from there
            page = new_page(beside=live.page)
            page.goto(link)
            again = Live(page, case.cls.module)
        else:
            again.draw_anew()
            assert again.setting() == opening
            page.evaluate(FOLLOW, link)
        assert again.state() == (expected.setting, expected.finding, "")
    live.figure.get_by_role("button", name="Reset").click()
    assert live.setting() == opening
    assert live.finding == finding == shown(case.cls, **opening).finding


@ONE
def test_a_link_with_values_that_are_none_says_what_is_accepted(open_live, case):
    live = open_live(case.cls)
    opening = live.setting()
    live.evaluate("model.set('_restore', x)", {control["name"]: "\u2603" for control in case.cls.controls()})
    assert live.setting() == opening
    for control in case.cls.controls():
        assert f"{control['label']} takes " in live.notice
    assert live.notice.count("“\u2603” is") == len(case.cls.controls())


@SHELL
def test_every_part_has_a_name_and_the_keyboard_reaches_it(open_live, case):
    live, cls = open_live(case.cls), case.cls
    group = live.figure.get_by_role("group", name=cls.catalogue["title"], exact=True)
    roles = {"switch": "checkbox", "choice": "combobox", "action": "button", "text": "textbox"}
    live.open()
    for control in cls.controls():
        if control.get("own_control"):
            continue
        for name, values in control["needs"].items():
            live.set(**{name: values[0]})
        live.settle()
        role = "radiogroup" if control.get("chips") else roles.get(control["scale"], "slider")
        named = group.get_by_role(role, name=control["label"], exact=True)
        assert named.count() == 1, control["label"]
        if role == "slider":
            assert named.get_attribute("aria-valuetext")
    assert live.finding in plain(live.figure.locator("canvas").get_attribute("aria-label"))
    reached = live.evaluate(
        """(() => {
          const wanted = 'input, select, button, [tabindex="0"]';
          const shown = [...figure.querySelectorAll(wanted)].filter((node) => node.offsetParent && node.tabIndex === 0);
          return shown.length === [...figure.querySelectorAll(wanted)].filter((node) => node.offsetParent).length;
        })()"""
    )
    assert reached, "something can only be reached by a pointer"
    live.set(**case.cls(**case.settings[0]).setting())
    live.page.wait_for_function(  # told to a screen reader once the slider rests
        "(figure) => figure.querySelector('[aria-live]').textContent"
        ".endsWith(figure.querySelector('.posenc-finding').textContent)",
        arg=live.handle,
    )


@SHELL
def test_points_are_read_off_by_mouse_and_keys(open_live, case):
    live = open_live(case.cls)
    canvas, readout = live.figure.locator("canvas"), live.figure.locator(".posenc-readout")
    assert readout.is_hidden()
    readers = live.evaluate("explorable.readers")
    assert readers
    for reader in readers:
        canvas.hover(position={"x": reader["x"], "y": reader["y"]})
        assert readout.is_visible(), reader["name"]
        assert live.readout, reader["name"]
        live.page.mouse.move(-1, -1)
        assert readout.is_hidden(), reader["name"]
        field = live.figure.locator(f"[data-reader={reader['name']}]")
        assert field.bounding_box()["width"] <= 1, "a reader in sight looks like a control"
        field.press("Home")
        assert field.bounding_box()["width"] > 100
        assert readout.is_visible(), reader["name"]
        first = live.readout
        field.press("ArrowRight")
        assert live.readout != first, reader["name"]
        assert plain(field.get_attribute("aria-valuetext")) == live.readout
        field.press("End")
        assert live.readout != first, reader["name"]
        field.blur()


@EACH
def test_handles_are_dragged_by_mouse_and_finger(open_live, case):
    live = open_live(case.cls, has_touch=True, is_mobile=True)  # the page that the tests of a phone have
    assert tuple(handle["name"] for handle in live.evaluate("explorable.handles")) == case.handles
    canvas = live.figure.locator("canvas")
    canvas.scroll_into_view_if_needed()
    session = live.page.context.new_cdp_session(live.page)
    live.set(**case.cls(**case.free).setting())
    for finger in (False, True):
        for k in range(len(case.handles)):
            handles = live.evaluate("explorable.handles")
            handle, box = handles[k], canvas.bounding_box()
            from_x, from_y = box["x"] + handle["x"], box["y"] + handle["y"]
            across, up = (-handle["step"], handle["step"]) if handle["step"] else (-17, 11)
            if handle["around"]:  # a quarter of a rotation
                (x, y), (mid_x, mid_y) = (handle["x"], handle["y"]), handle["around"]
                across, up = (mid_x - y + mid_y) - x, (mid_y + x - mid_x) - y
            if handle["swaps"]:
                like = next(o for o in handles if o["swaps"] and o["along"] == handle["along"] and o is not handle)
                across, up = like["x"] - handle["x"], like["y"] - handle["y"]
            points = [(from_x, from_y), (from_x + across / 2, from_y + up / 2), (from_x + across, from_y + up)]
            before = live.setting()
            if finger:
                for kind, (x, y) in zip(("touchStart", "touchMove", "touchMove"), points, strict=True):
                    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
                session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            else:
                live.page.mouse.move(*points[0])
                live.page.mouse.down()
                live.page.mouse.move(*points[1])
                live.page.mouse.move(*points[2])
                live.settle()
                assert live.figure.locator(".posenc-readout").is_hidden(), "it reads off what was there before"
                live.page.mouse.up()
            assert live.setting() != before, handle["name"]
            moved = live.evaluate("explorable.handles")[k]
            missed_x = moved["x"] - handle["x"] - across if handle["along"] in {"x", "both"} else 0
            missed_y = moved["y"] - handle["y"] - up if handle["along"] in {"y", "both"} else 0
            assert np.hypot(missed_x, missed_y) < 4, "it did not follow"
            assert live.finding == shown(case.cls, **live.setting()).finding


@EACH
def test_it_fits_a_phone_and_answers_to_a_finger(open_live, case):
    live = open_live(case.cls, width=360, height=740, has_touch=True, is_mobile=True)
    assert live.evaluate("figure.scrollWidth <= figure.clientWidth")
    assert live.evaluate("document.documentElement.scrollWidth") <= 360
    for field in live.figure.locator("input:visible, select:visible, button:visible:not(.posenc-step)").all():
        box = field.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 360
    live.set(**case.quick)
    meet(live, case.slider)
    name = case.slider["name"]
    slider = live.input(name)
    slider.scroll_into_view_if_needed()
    box, before = slider.bounding_box(), live.get(name)
    live.page.touchscreen.tap(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    assert live.get(name) != before
    for setting in [*case.settings[:3], *([] if case.quick else [case.largest])]:
        live.set(**case.cls(**setting).setting())
        assert live.evaluate("document.documentElement.scrollWidth") <= 360, setting
    live.set(**case.cls().setting())  # no handle stands in the middle then
    reader = live.evaluate("explorable.readers")[0]
    canvas, readout = live.figure.locator("canvas"), live.figure.locator(".posenc-readout")
    canvas.tap(position={"x": reader["x"], "y": reader["y"]})
    expect(readout).to_be_visible()
    box, touched = readout.bounding_box(), canvas.bounding_box()["y"] + reader["y"]
    assert touched < box["y"] or touched > box["y"] + box["height"], "it covers what was touched"
    live.figure.locator(".posenc-told").tap()
    expect(readout).to_be_hidden()
    canvas.tap(position={"x": reader["x"], "y": reader["y"]})
    live.figure.locator(".posenc-step").last.press("Enter")
    expect(readout).to_be_hidden()


# Where picture and control stand when the control is scrolled to just below the picture, and to the screen's end. On a
# screen held sideways it is beside the picture, from which one goes on to it.
TOGETHER = """(() => {
  const places = innerHeight > 520 ? ['start', 'end'] : ['nearest'];
  const bar = document.querySelector('.bd-header-article').getBoundingClientRect().bottom, found = [];
  for (const row of figure.querySelectorAll('[data-control]')) {
    if (!row.offsetParent) continue;
    for (const block of places) {
      if (block === 'nearest') figure.querySelector('canvas').scrollIntoView({ block: 'center' });
      row.scrollIntoView({ block });
      const picture = figure.querySelector('canvas').getBoundingClientRect(), control = row.getBoundingClientRect();
      const apart = control.top >= picture.bottom - 1 || control.left >= picture.right - 1;
      const within = Math.max(picture.bottom, control.bottom) <= innerHeight + 1 && picture.top >= bar - 1;
      const seen = apart && within && row.contains(document.elementFromPoint(control.left + 1, control.bottom - 1));
      if (!seen) found.push([row.dataset.control, block, bar, picture, control].map((value) => JSON.stringify(value)));
    }
  }
  return found;
})()"""
TARGETS = "button, select, summary, .posenc-option, .posenc-switch, input[type=range], input[type=text]"
# Where the finding ends below the figure's beginning, and how large the letters of the picture are.
BESIDE = """(() => {
  const context = figure.querySelector('canvas').getContext('2d'), found = figure.querySelector('.posenc-finding');
  const zoom = context.getTransform().a / devicePixelRatio, [letters] = /[\\d.]+(?=px)/.exec(context.font);
  return [found.getBoundingClientRect().bottom - figure.getBoundingClientRect().top, zoom * letters];
})()"""
SMALL = f"""[...figure.querySelectorAll('{TARGETS}')]
  .filter((node) => node.offsetParent && !node.matches('.posenc-reader') && node.getBoundingClientRect().height < 43.5)
  .map((node) => [node.className, node.textContent.slice(0, 20)])"""
# What stands past the figure's edge, or is cut by its own.
CUT = f"""(() => {{
  const {{ left, right }} = figure.getBoundingClientRect();
  const cut = (node) => {{
    const box = node.getBoundingClientRect(), over = node.matches('button') && node.scrollWidth > node.clientWidth + 1;
    return over || box.left < left - 1 || box.right > right + 1;
  }};
  return [...figure.querySelectorAll('{TARGETS}')]
    .filter((node) => node.offsetParent && !node.matches('.posenc-reader') && cut(node))
    .map((node) => [node.className, node.textContent.slice(0, 20)]);
}})()"""


@SHELL
@pytest.mark.parametrize(
    ("width", "height", "touch"),
    [
        (360, 740, True),
        (740, 360, True),
        *(
            pytest.param(*size, marks=pytest.mark.release)
            for size in ((844, 390, True), (640, 400, False), (720, 450, False), (1280, 420, False), (1280, 800, False))
        ),
    ],
)
def test_no_control_moves_without_its_picture_in_view(open_live, case, width, height, touch):
    live = open_live(case.cls, width=width, height=height, has_touch=touch, is_mobile=touch)
    live.open()
    for control in case.cls.controls():
        meet(live, control)
        assert live.evaluate(TOGETHER) == [], control["name"]
    assert live.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert live.evaluate(CUT) == []
    if touch:
        assert live.evaluate(SMALL) == []


@EACH
def test_on_its_side_a_phone_shows_the_finding_and_letters_to_be_read(open_live, case):
    live = open_live(case.cls, width=740, height=360, has_touch=True, is_mobile=True)
    finding, letters = live.evaluate(BESIDE)
    assert finding <= 360
    assert letters >= 10.9


@ONE
def test_the_story_is_walked_step_by_step(open_live, new_page, case):
    live, steps = open_live(case.cls), case.cls.catalogue["story"]
    live.set(**case.cls().setting())
    assert live.evaluate("explorable.story.map(({ name }) => name)") == [step["name"] for step in steps]
    assert live.told == sentence(case.cls, steps[0]), "it opens with its first step"
    for step in [*steps[1:-1], steps[0], steps[-1]]:
        live.go(step["name"])
        assert live.setting() == case.cls.story()[step["name"]], step["name"]
        assert live.told == sentence(case.cls, step), step["name"]
        pressed = live.figure.locator(".posenc-step[aria-pressed=true]")
        assert pressed.evaluate_all("(buttons) => buttons.map((button) => button.dataset.step)") == [step["name"]]
    live.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    live.open()
    live.figure.get_by_role("button", name="Copy link").click()
    live.page.wait_for_function("(figure) => figure.querySelector('.posenc-notice').textContent", arg=live.handle)
    link = live.page.evaluate("navigator.clipboard.readText()")
    assert link.endswith(f"#{case.cls.module.replace('_', '-')}:story={steps[-1]['name']}")
    page = new_page(beside=live.page)
    page.goto(link)
    assert Live(page, case.cls.module).setting() == case.cls.story()[steps[-1]["name"]]
    live.evaluate("model.set('_restore', { story: 'nowhere', none: '1' })")
    assert "has no step nowhere here: it takes " in live.notice
    assert "has no control none here: it takes " in live.notice


@ONE
def test_a_step_is_reached_by_a_transition_unless_motion_is_unwanted(open_live, case):
    step = case.cls.catalogue["story"][-1]["name"]
    moved = [
        control["name"]
        for control in case.cls.controls()
        if "least" in control and control["scale"] != "powers"  # from 4 to 16 there is one power between
        if case.cls.story()[step][control["name"]] != control["opening"]
    ]
    for motion in ("no-preference", "reduce"):
        live = open_live(case.cls, reduced_motion=motion)
        live.set(**case.cls().setting())
        between = live.evaluate(
            """await (async () => {
              const seen = new Set(), note = () => seen.add(JSON.stringify(x.moved.map((name) => model.get(name))));
              const said = new Set(), words = () => said.add(figure.querySelector('.posenc-finding').textContent);
              model.on('change', note);
              figure.querySelector(`[data-step='${x.step}']`).click();
              for (; !explorable.done; words()) await new Promise(requestAnimationFrame);
              model.off('change', note);
              if (said.size > 2) throw new Error(`it says what is passed: ${[...said]}`);
              return seen.size;
            })()""",
            {"moved": moved, "step": step},
        )
        assert between > 3 if moved and motion == "no-preference" else between <= len(case.cls.controls())
        live.set(**case.cls().setting())


PRESSED = "([figure, step]) => figure.querySelector(`[data-step='${step}']`).getAttribute('aria-pressed') === 'true'"
MOVING = "document.getAnimations().map(({ animationName }) => animationName)"
PLAY_SAYS = "([figure, label]) => figure.querySelector('.posenc-play').ariaLabel === label"
# Plays the story to its end by a clock ten times as fast.
PLAYED = f"""await (async () => {{
  {HURRY}
  const wait = window.setTimeout, play = figure.querySelector('.posenc-play'), {{ ariaLabel }} = play;
  window.setTimeout = (after, wanted, ...rest) => wait(after, Math.min(wanted, 300), ...rest);
  play.click();
  do await new Promise(frame); while (play.ariaLabel !== ariaLabel);
  window.setTimeout = wait;
  {SLOWLY};
}})()"""


@ONE
def test_its_story_plays_and_pauses(open_live, case):
    live, steps = open_live(case.cls), list(case.cls.story())
    live.go(steps[0])
    play = live.figure.locator(".posenc-play")
    play.click()
    live.page.wait_for_function(PRESSED, arg=[live.handle, steps[1]])
    live.page.wait_for_function(PLAY_SAYS, arg=[live.handle, "Pause the story"])
    assert live.page.evaluate(MOVING) == ["posenc-plays"], "a reader sees that it plays"
    play.click()
    live.page.wait_for_function(PLAY_SAYS, arg=[live.handle, "Play the story"])
    stopped = live.setting()
    live.page.wait_for_timeout(120)
    assert live.setting() == stopped
    live.go(steps[0])
    live.evaluate(PLAYED)
    assert live.setting() == case.cls.story()[steps[-1]]
    still = open_live(case.cls, reduced_motion="reduce")
    still.go(steps[0])
    for step in [*steps[1:], steps[0]]:
        still.figure.locator(".posenc-play").click()
        still.settle()
        assert still.setting() == case.cls.story()[step]


@ONE
def test_full_screen_shows_it_larger(open_live, case):
    live = open_live(case.cls)
    live.open()
    wide = live.evaluate("figure.querySelector('canvas').clientWidth")
    button = live.figure.get_by_role("button", name="Full screen")
    button.click()
    live.page.wait_for_function("(figure) => figure.contains(document.fullscreenElement)", arg=live.handle)
    live.settle()
    assert live.evaluate("figure.querySelector('canvas').clientWidth") > wide
    for reader in live.evaluate("explorable.readers"):
        assert 0 <= reader["x"] <= live.evaluate("figure.querySelector('canvas').clientWidth")
    live.figure.get_by_role("button", name="Leave full screen").click()
    live.page.wait_for_function("() => document.fullscreenElement === null")
    live.settle()
    assert live.evaluate("figure.querySelector('canvas').clientWidth") == wide


PICTURE = "figure.querySelector('canvas').toDataURL()"


@ONE
def test_both_themes_and_nothing_moves_by_itself(open_live, case):
    live = open_live(case.cls, theme="light", reduced_motion="reduce")
    light = live.evaluate(PICTURE)
    assert live.evaluate("figure.getAnimations({ subtree: true }).length") == 0
    live.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    live.page.wait_for_function(
        "([figure, light]) => figure.querySelector('canvas').toDataURL() !== light",
        arg=[live.handle, light],
    )
    live.page.evaluate("document.documentElement.dataset.theme = 'light'")
    live.page.wait_for_function(
        "([figure, light]) => figure.querySelector('canvas').toDataURL() === light",
        arg=[live.handle, light],
    )


def test_all_on_one_page_are_independent(new_page, site_url):
    page = new_page()
    page.goto(f"{site_url}/{EVERY_ONE}")
    lives = [Live(page, case.cls.module) for case in CASES]
    for case, live in zip(CASES[::5], lives[::5], strict=True):
        live.set(**case.cls(**case.settings[0]).setting())
    said = [shown(case.cls, **({} if k % 5 else case.settings[0])).finding for k, case in enumerate(CASES)]
    assert [live.finding for live in lives] == said


# ---- the decay explorer ---------------------------------------------------------------------------------------------


# Colours of the nine pixels around each point; read from a copy, so that the page's own canvas stays as it is.
INK = """(() => {
  const canvas = figure.querySelector('canvas'), copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  return x.map(([m, value]) => {
    const [px, py] = explorable.pixel(m, value);
    return Array.from(context.getImageData(Math.round(px) - 1, Math.round(py) - 1, 3, 3).data);
  });
})()"""


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])


@DECAY
def test_the_curve_is_inked_where_the_values_are(open_live):
    live = open_live(DecayExplorer)
    live.set(distance=200, dim=32, log_distance=False)
    score = shown(DecayExplorer, distance=200, dim=32).values["score"]
    pixels = [
        *live.evaluate(INK, [[m, score[m]] for m in (1, 3, 17, 60, 111, 200)]),
        *live.evaluate(INK, [[100, -0.75]]),
    ]
    *inked, empty = np.reshape(pixels, (7, 9, 4))
    for square in inked:
        assert np.abs(square[:, :3] - rgb(PALETTE["score"])).max(axis=1).min() < 40
    assert not empty.any()  # nothing is drawn where no curve is


@DECAY
def test_numbers_are_typed_as_they_are_written(open_live):
    live = open_live(DecayExplorer)
    live.open()
    field = live.control("base").locator("input[type=text]")
    for typed, expected in (("5e5", 500_000), ("10 000 000", 1e7)):
        field.fill(typed)
        field.press("Enter")
        assert live.get("base") == expected
        assert live.notice == ""
