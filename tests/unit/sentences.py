"""Texts of a catalogue with what they say, for Python and for JavaScript."""

from typing import Any

FACTS = {
    "count": 1, "many": 65_536, "score": -0.00049, "share": 0.125, "yes": True, "no": False, "none": None,
    "method": "linear", "methods": [{"method": "linear", "by": 2}, {"method": "yarn", "by": 0.5}], "nothing_of": [],
}  # fmt: skip
NAMES = {"names": {"linear": "position interpolation", "yarn": "YaRN"}}
SAID: list[tuple[Any, str]] = [
    ("plain words, {braces apart} and all", "plain words, {braces apart} and all"),
    ("{count} of {many:integer}", "1 of 65\u202f536"),
    ("{score:3} {score:4} {share:2} {share:grouped}", "0.000 −0.0005 0.13 0.125"),
    ("{method:names} {method:names|capital} {method}", "position interpolation Position interpolation linear"),
    (["a", "b", {"if": "yes", "then": "c"}, {"if": "no", "then": "d"}], "abc"),
    ({"if": "no", "then": "a", "else": {"if": "not none", "then": ["b", "c"]}}, "bc"),
    ({"if": "count = 1", "then": "pair", "else": "pairs"}, "pair"),
    ({"if": "many ≠ 65536", "then": "a", "else": "b"}, "b"),
    ({"if": "share < 1e-1 and yes", "then": "a", "else": "b"}, "b"),
    ({"if": "share ≤ 0.125 and yes and score > -1", "then": "a", "else": "b"}, "a"),
    ({"if": "many ≥ count and method = 'linear'", "then": "a", "else": "b"}, "a"),
    ({"if": "method = 'lin ear'", "then": "a", "else": "b"}, "b"),
    ({"each": "methods", "say": "{method:names} {by:1} of {count}", "between": "; "},
     "position interpolation 2.0 of 1; YaRN 0.5 of 1"),
    (["none: ", {"each": "nothing_of", "say": "x"}, "."], "none: ."),
]  # fmt: skip
