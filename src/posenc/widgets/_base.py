"""The base of all explorables: controls and their limits, and the bundling of ES modules."""

from __future__ import annotations

import html
import json
import math
import os
import re
import threading
import weakref
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from numbers import Integral, Real
from typing import Any, ClassVar

import anywidget
import numpy as np
import traitlets

from posenc._sentences import catalogue, in_language

_JS = files("posenc") / "js"


# ---- numbers drawn at random, as js/arithmetic_random.js draws them -------------------------------------------------


def normal_draws(seed: int, count: int) -> np.ndarray:
    """Standard normal numbers, the same as in JavaScript: mulberry32, then the Box–Muller transform.

    Args:
        seed: an integer of at least 0, such as an `Action` has.
        count: how many.

    Returns:
        float64, shape (count,).
    """
    mask = 0xFFFF_FFFF
    state, uniform = seed & mask, []
    for _ in range(count + count % 2):
        state = (state + 0x6D2B_79F5) & mask
        mixed = ((state ^ (state >> 15)) * (state | 1)) & mask
        mixed ^= (mixed + (((mixed ^ (mixed >> 7)) * (mixed | 61)) & mask)) & mask
        uniform.append((((mixed ^ (mixed >> 14)) & mask) + 0.5) / 2**32)
    first, second = np.array(uniform[::2]), np.array(uniform[1::2])
    radius, angle = np.sqrt(-2 * np.log(first)), 2 * np.pi * second
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1)[:count]


# ---- controls -------------------------------------------------------------------------------------------------------

Needs = str | Mapping[str, Sequence[object]]
_INTEGER = ("tokens", "integer", "action", "even", "powers")  # scales of integers
SCALES = ("log", *_INTEGER, "tenths", "hundredths", "thousandths")
_SHELL = catalogue("shell")


def _needed(needs: Needs) -> dict[str, list[object]]:
    """The values of other controls with which a control has an effect, by name."""
    return {needs: [True]} if needs and isinstance(needs, str) else {n: list(v) for n, v in dict(needs or {}).items()}


class Control(traitlets.TraitType):
    """A synced number with limits: a slider.

    `scale` is the kind of slider and of number: "log" any number on a logarithmic track, "tokens" integers on one,
    "powers" powers of two on one, "integer" and "even" such integers on a linear track, "tenths", "hundredths" and
    "thousandths" any number on a linear track with such steps. `needs` names the switch without which the slider has no
    effect, or maps names of controls to the values with which it has one. `holds` maps other controls to the values
    with which the number is in use: else its least is shown. A `compact` slider leaves room for another beside it.
    """

    def __init__(
        self,
        default: float,
        least: float,
        greatest: float,
        scale: str,
        needs: Needs = "",
        compact: bool = False,
        holds: Needs = "",
    ) -> None:
        if scale not in SCALES:
            raise ValueError(f"scale must be one of {SCALES}, got {scale!r}")
        super().__init__(default)
        limits = {"least": least, "greatest": greatest, "scale": scale, "unit": ""}
        self.spec = {**limits, "needs": _needed(needs), "compact": compact, "holds": _needed(holds)}
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> float:
        least, greatest, scale = self.spec["least"], self.spec["greatest"], self.spec["scale"]
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if number and scale in _INTEGER:
            number = float(value).is_integer() and (scale != "even" or value % 2 == 0)
            number = number and (scale != "powers" or math.frexp(value)[0] == 0.5)
        if not number or not least <= value <= greatest:
            accepted = _SHELL["names"]["kinds"][scale]
            raise traitlets.TraitError(f"{self.name} takes {accepted} from {least:g} to {greatest:g}, got {value!r}")
        return int(value) if scale in _INTEGER or (isinstance(value, Integral) and scale != "log") else float(value)


class Action(Control):
    """A synced integer that a button increments, such as a seed; after `greatest` comes 0."""

    def __init__(self, default: int = 0, greatest: int = 999, needs: Needs = "") -> None:
        super().__init__(default, 0, greatest, "action", needs=needs)


class Switch(traitlets.Bool):
    """A synced boolean: a checkbox."""

    def __init__(self, default: bool, needs: Needs = "") -> None:
        super().__init__(default)
        self.spec = {"scale": "switch", "needs": _needed(needs)}
        self.tag(sync=True)


class Choice(traitlets.Unicode):
    """A synced choice among named options: a list, or `chips` side by side; the catalogue has their labels.

    `presets` maps some values to values of other controls, which choosing one sets; then exactly one option has none:
    it stands for the reader's own numbers, and is chosen when one of these controls leaves the preset. `options_need`
    maps some values to what they need, as a control does: a control of the explorable's own shows that they lack it.
    `holds` maps other controls to the values with which the choice says what is shown: else no option is pressed.
    """

    def __init__(
        self,
        default: str,
        presets: Mapping[str, Mapping[str, Any]] | None = None,
        needs: Needs = "",
        chips: bool = False,
        options_need: Mapping[str, Needs] | None = None,
        holds: Needs = "",
    ) -> None:
        super().__init__(default)
        self.options_need = {value: {"needs": _needed(needs)} for value, needs in (options_need or {}).items()}
        self.presets = {value: dict(sets) for value, sets in (presets or {}).items()}
        self.spec = {"scale": "choice", "needs": _needed(needs), "chips": chips, "holds": _needed(holds)}
        self.tag(sync=True)

    def offer(self, options: Mapping[str, str]) -> dict[str, Any]:
        """The options by value, as JavaScript gets them; `own` is the one without a preset."""
        without = [value for value in options if value not in self.presets]
        if self.presets and (len(without) != 1 or not set(self.presets) < set(options)):
            raise ValueError(f"all options but one must have a preset, got {list(self.presets)} for {list(options)}")
        self.own = without[0] if self.presets else None
        listed = [
            {"value": value, "label": words, "sets": self.presets.get(value, {}), **self.options_need.get(value, {})}
            for value, words in options.items()
        ]
        return {"options": listed, "own": self.own}

    def validate(self, obj: Any, value: Any) -> str:
        accepted = [option["value"] for option in self.spec["options"]]
        if not isinstance(value, str) or value not in accepted:
            raise traitlets.TraitError(f"{self.name} takes one of {', '.join(accepted)}, got {value!r}")
        return value


class Text(traitlets.Unicode):
    """A synced text that matches a pattern, also in JavaScript; `accepted` in the catalogue describes it.

    A text field, or with `own_control` a control of the explorable's module by this name.
    """

    def __init__(self, default: str, pattern: str, needs: Needs = "", own_control: bool = False) -> None:
        super().__init__(default)
        self.spec = {"scale": "text", "pattern": pattern, "own_control": own_control, "needs": _needed(needs)}
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> str:
        if not isinstance(value, str) or not re.fullmatch(self.spec["pattern"], value):
            raise traitlets.TraitError(f"{self.name} takes {self.spec['accepted']}, got {value!r}")
        return value


_KINDS = (Control, Switch, Choice, Text)


def _wordless(control: dict[str, Any], words: dict[str, Any]) -> dict[str, Any]:
    """A control without its words: JavaScript adds them, in the language of the page."""
    bare = {key: value for key, value in control.items() if key not in words}
    if "options" in words:
        bare["options"] = [{k: v for k, v in option.items() if k != "label"} for option in control["options"]]
    return bare


# ---- modules --------------------------------------------------------------------------------------------------------

_IMPORT = re.compile(r'^import (?P<names>[^;]*?) from "\./(?P<file>[\w./]+)";\n', re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export (?:function\*?|class|const) (?P<name>\w+)", re.MULTILINE)


@cache
def bundle(file: str) -> str:
    """The ES module `js/file` with all its imports in one text, since anywidget takes no module with imports."""
    parts, last = linked(file)
    return "\n".join([*parts.values(), last])


def linked(file: str) -> tuple[dict[str, str], str]:
    """All that the ES module `js/file` imports, by the names of constants, and the module, which uses these.

    Each imported file becomes a function that returns its exports, so that their other names cannot meet.
    """
    parts: dict[str, str] = {}

    def name(file: str) -> str:
        return "$" + re.sub(r"\W", "_", file)

    def with_constants(file: str) -> str:
        text = (_JS / file).read_text(encoding="utf-8")
        for match in _IMPORT.finditer(text):
            if name(match["file"]) not in parts:
                parts[name(match["file"])] = wrapped(match["file"])
        return _IMPORT.sub(lambda match: f"const {match['names']} = {name(match['file'])};\n", text)

    def wrapped(file: str) -> str:
        if file.endswith(".json"):
            words = json.loads(in_language(_JS / file, "js").read_text(encoding="utf-8"))
            return f"const {name(file)} = {json.dumps(words)};\n"
        text = with_constants(file)
        exports = ", ".join(match["name"] for match in _EXPORT.finditer(text))
        plain = re.sub(r"^export ", "", text, flags=re.MULTILINE)
        return f"const {name(file)} = (() => {{\n{plain}return {{ {exports} }};\n}})();\n"

    last = with_constants(file)
    return parts, last


# A page calls `load`, and a script that it fetches before others does so itself, when what it needs is there.
_SCRIPT = """{{
  let once;
  const load = () => once ??= import(URL.createObjectURL(new Blob([{source}], {{ type: "text/javascript" }})));
  (window.posencModules ??= {{}}).{name} = load;
  const first = document.currentScript.fetchPriority === "high";
  if (first && window.posencShared) load();
  else if (first) window.posencFirst = load;
}}
"""
_SHARED = """window.posencShared = (() => {{
{parts}return {names};
}})();
window.posencFirst?.();
"""


def classic_scripts(files: Collection[str]) -> dict[str, str]:
    """ES modules of `js/` for a page, by name: `shared` with what all of them import, and a script for each.

    A script sets `window.posencModules[name]`, a function that imports the module, once, when `window.posencShared` is
    there. What it imports is a blob: browsers refuse ES modules on pages opened from disk.
    """
    modules = {file.removesuffix(".js"): linked(file) for file in files}
    (first, _), *others = modules.values()
    shared = {name: text for name, text in first.items() if all(name in parts for parts, _ in others)}
    names = f"{{ {', '.join(shared)} }}"
    scripts = {"shared": _SHARED.format(parts="".join(shared.values()), names=names)}
    for name, (parts, last) in modules.items():
        own = [text for part, text in parts.items() if part not in shared]
        source = "\n".join([f"const {names} = window.posencShared;", *own, last])
        scripts[name] = _SCRIPT.format(name=name, source=json.dumps(source))
    return scripts


def stylesheet() -> str:
    """The style sheet of all explorables."""
    return (_JS / "explorable.css").read_text(encoding="utf-8")


# ---- hot reload ------------------------------------------------------------------------------------------------------

_SHOWN: weakref.WeakSet[Explorable] = weakref.WeakSet()


def _reload() -> None:
    """Give every explorable its module anew, which a notebook then shows in place of the old one."""
    bundle.cache_clear()
    for widget in list(_SHOWN):
        widget._esm = bundle(f"{widget.module}.js")


def _watch(stop: threading.Event, seconds: float = 0.5) -> None:
    """Reload whenever a file of js/ changes."""
    before = None
    while not stop.wait(seconds):
        now = {file.name: os.stat(str(file)).st_mtime_ns for file in _JS.iterdir()}
        if before not in (None, now):
            _reload()
        before = now


@cache
def _start_watching() -> None:
    threading.Thread(target=_watch, args=(threading.Event(),), daemon=True).start()


# ---- an explorable --------------------------------------------------------------------------------------------------


class Explorable(anywidget.AnyWidget):
    """An interactive figure. Its output carries the widget and, for a page without a kernel, its state as HTML.

    Args:
        hidden: names of controls that are not shown and that no link sets.
        hidden_steps: names of steps that its story leaves out here.
        setting: values of controls, by name.

    Raises:
        TypeError, ValueError: a control that this explorable does not have, set or hidden, or a step.
        traitlets.TraitError: a value that its control does not take.
    """

    module: ClassVar[str]
    main: ClassVar[tuple[str, ...]] = ()  # the one to three controls under the picture; the others wait in the drawer
    catalogue: ClassVar[dict[str, Any]]  # from the file js/`module`.json, which JavaScript reads too
    room: ClassVar[tuple[int, int]]  # pixels that a wide page, and a phone's, keep free: never less than it takes

    _css = stylesheet()
    _controls = traitlets.List().tag(sync=True)
    _data = traitlets.Dict().tag(sync=True)
    _hidden_steps = traitlets.List().tag(sync=True)
    _restore = traitlets.Dict().tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # anywidget makes another subclass at run time; only a class that names a module brings its own.
        if "module" in vars(cls):
            cls._esm = bundle(f"{cls.module}.js")
            cls.catalogue = catalogue(cls.module)
        words = vars(cls).get("catalogue", {}).get("controls", {})
        declared = {name for name, trait in vars(cls).items() if isinstance(trait, _KINDS)}
        if odd := sorted(declared ^ set(words)):
            raise ValueError(f"{cls.__name__} and its words name different controls: only one has {', '.join(odd)}")
        for name, label in words.items():  # and unit, accepted values, options
            control = vars(cls)[name]
            control.spec |= {**label, **control.offer(label["options"])} if "options" in label else label
        super().__init_subclass__(**kwargs)

    def __init__(self, hidden: Sequence[str] = (), hidden_steps: Sequence[str] = (), **setting: Any) -> None:
        names = [control["name"] for control in self.controls()]
        if unknown := [name for name in hidden if name not in names]:
            raise ValueError(f"hidden must name some of {', '.join(names)}, got {unknown[0]!r}")
        if unknown := [step for step in hidden_steps if step not in self.story()]:
            raise ValueError(f"hidden_steps must name some of {', '.join(self.story())}, got {unknown[0]!r}")
        if unknown := [name for name in setting if not self.has_trait(name)]:
            raise TypeError(f"{type(self).__name__} has {', '.join(names)}, got {unknown[0]!r}")
        for name, choice in self._preset_choices().items():
            setting = {**choice.presets.get(setting.get(name, choice.default_value), {}), **setting}
        self._hidden = tuple(hidden)  # before the widget makes its state of it
        super().__init__(_hidden_steps=list(hidden_steps), **setting)
        if os.environ.get("ANYWIDGET_HMR") == "1":  # anywidget's own hot reload takes no module made of several files
            _SHOWN.add(self)
            _start_watching()
        for name, choice in self._preset_choices().items():
            self._leave_preset(name, choice)
            self.observe(lambda change, choice=choice: self._take_preset(choice, change["new"]), name)
            moved = sorted({control for preset in choice.presets.values() for control in preset})
            self.observe(lambda change, name=name, choice=choice: self._leave_preset(name, choice), moved)

    @classmethod
    def _preset_choices(cls) -> dict[str, Choice]:
        traits = cls.class_traits().items()
        return {name: trait for name, trait in traits if isinstance(trait, Choice) and trait.presets}

    def _take_preset(self, choice: Choice, value: str) -> None:
        with self.hold_trait_notifications():
            for name, preset in choice.presets.get(value, {}).items():
                setattr(self, name, preset)

    def _leave_preset(self, name: str, choice: Choice) -> None:
        preset = choice.presets.get(getattr(self, name), {})
        if any(getattr(self, control) != value for control, value in preset.items()):
            setattr(self, name, choice.own)

    @classmethod
    def controls(cls) -> list[dict[str, Any]]:
        """Name, label, limits, scale, unit, opening value and place of each control, in the order of the class."""
        named = {name: trait for name, trait in cls.class_traits().items() if isinstance(trait, _KINDS)}
        order = [name for base in reversed(cls.__mro__) for name in vars(base) if name in named]
        return [
            {"name": name, **named[name].spec, "opening": named[name].default_value, "main": name in cls.main}
            for name in order
        ]

    @classmethod
    def data(cls) -> dict[str, Any]:
        """What JavaScript needs besides the controls and cannot compute, as JSON holds it: `compute` gets it last."""
        return {}

    @traitlets.default("_controls")
    def _default_controls(self) -> list[dict[str, Any]]:
        words = self.catalogue["controls"]
        return [
            {**_wordless(control, words[control["name"]]), "hidden": control["name"] in self._hidden}
            for control in self.controls()
        ]

    @traitlets.default("_data")
    def _default_data(self) -> dict[str, Any]:
        return self.data()

    @classmethod
    def story(cls) -> dict[str, dict[str, Any]]:
        """The steps of its story by name, each with all controls as they open, but for what the step sets."""
        opening = {control["name"]: control["opening"] for control in cls.controls()}

        def setting(step: dict[str, Any]) -> dict[str, Any]:
            chosen = (choice.presets.get(step.get(name), {}) for name, choice in cls._preset_choices().items())
            return {**opening, **{name: value for preset in chosen for name, value in preset.items()}, **step}

        return {step["name"]: setting(step["set"]) for step in cls.catalogue["story"]}

    def show_step(self, step: str) -> None:
        """Set the controls as in a step of its story; ValueError for a name that no step has."""
        if step not in self.story():
            raise ValueError(f"step must be one of {', '.join(self.story())}, got {step!r}")
        with self.hold_trait_notifications():
            for name, value in self.story()[step].items():
                setattr(self, name, value)

    def setting(self) -> dict[str, Any]:
        """The present value of every control."""
        return {control["name"]: getattr(self, control["name"]) for control in self.controls()}

    def __repr__(self) -> str:
        left_out = {"hidden": self._hidden, "hidden_steps": tuple(self._hidden_steps)}
        arguments = self.setting() | {name: left for name, left in left_out.items() if left}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"

    @classmethod
    def without_script(cls) -> str:
        """What a page says in place of the figure to a reader without JavaScript."""
        return f"<noscript><p>{html.escape(_SHELL['without_script'].format_map(cls.catalogue))}</p></noscript>"

    def to_html(self) -> str:
        """The figure for a page without a kernel: its state, and words for a reader without JavaScript."""
        state = json.dumps(
            {**self.setting(), "_controls": self._controls, "_data": self.data(), "_hidden_steps": self._hidden_steps}
        )
        state = state.replace("</", "<\\/")
        return (
            f'<figure class="posenc-explorable" data-module="{self.module}" '
            f'style="--posenc-room:{self.room[0]}px;--posenc-phone-room:{self.room[1]}px">'
            f'<script type="application/json">{state}</script>{self.without_script()}</figure>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:  # ipywidgets 7 displays by itself
            return None
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**data, "text/plain": repr(self), "text/html": self.to_html()}, metadata
