"""Schemes by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from posenc._arrays import describe
from posenc.schemes.content import Deberta, Tener, TransformerXL
from posenc.schemes.input import Binary, Integer, Learned, Normalised, Sinusoidal
from posenc.schemes.interface import PositionScheme
from posenc.schemes.logits import T5, ALiBi, Fire, Kerple, Sandwich
from posenc.schemes.no_position import NoPosition, NoPositionWithTemperature
from posenc.schemes.query_and_key import Rotary, XPos

SCHEMES: Mapping[str, type[PositionScheme]] = MappingProxyType(
    {
        "none": NoPosition,
        "none_with_temperature": NoPositionWithTemperature,
        "integer": Integer,
        "normalised": Normalised,
        "binary": Binary,
        "sinusoidal": Sinusoidal,
        "learned": Learned,
        "rope": Rotary,
        "xpos": XPos,
        "alibi": ALiBi,
        "t5": T5,
        "sandwich": Sandwich,
        "kerple": Kerple,
        "fire": Fire,
        "transformer_xl": TransformerXL,
        "tener": Tener,
        "deberta": Deberta,
    }
)


def make_scheme(name: str, **config: Any) -> PositionScheme:
    """A scheme by name, with the arguments of its class; `Mixed`, which differs between layers, has no name.

    Args:
        name: one of `SCHEMES`.
        config: arguments of that class.

    Raises:
        TypeError: `name` is no string, or an argument is of the wrong type.
        ValueError: an unknown name, an unknown or missing argument, or a value out of range.

    >>> make_scheme("alibi", n_heads=2).slopes
    (0.0625, 0.00390625)
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {describe(name)}")
    if name not in SCHEMES:
        raise ValueError(f"name must be one of {', '.join(SCHEMES)}, got {name!r}")
    kind = SCHEMES[name]
    # Without an __init__ of its own a class inherits that of torch's modules, which takes anything.
    accepted = {} if kind.__init__ is PositionScheme.__init__ else dict(inspect.signature(kind).parameters)
    unknown = sorted(set(config) - set(accepted))
    if unknown:
        raise ValueError(
            f"scheme {name!r} does not take {', '.join(unknown)}; it takes {', '.join(accepted) or 'nothing'}"
        )
    missing = [key for key, one in accepted.items() if one.default is one.empty and key not in config]
    if missing:
        raise ValueError(f"scheme {name!r} lacks {', '.join(missing)}; it takes {', '.join(accepted)}")
    return kind(**config)
