"""Positional encodings for Transformers, exact enough to prove things with and fast enough to train with.

    from posenc import Rope

    rope = Rope(64)                 # or Rope.from_config(config)
    q, k = rope(q, k)               # (batch, heads, length, 64)

At the top stand the names that one wants first. The modules have the rest: `posenc.frequencies`, `absolute`, `rotary`,
`scaling`, `rope`, `attention`, `bias`, `schemes`, `analysis`, `configs`, `figures` and `transformer.forward` work on
NumPy arrays and torch tensors, and so does evaluation in `lab`; training needs torch. `check` has the public checks of
the assignments, `posenc.widgets` the explorables.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from posenc.absolute import sinusoidal
    from posenc.bias import alibi
    from posenc.frequencies import inv_freq
    from posenc.rope import Rope
    from posenc.rotary import rotate
    from posenc.scaling import from_config
    from posenc.schemes import make_scheme

__version__ = "0.3.0"
_HOMES = {
    "Rope": "rope",
    "alibi": "bias",
    "from_config": "scaling",
    "inv_freq": "frequencies",
    "make_scheme": "schemes",
    "rotate": "rotary",
    "sinusoidal": "absolute",
}
__all__ = [
    "Rope", "__version__", "alibi", "from_config", "inv_freq", "make_scheme", "rotate", "sinusoidal",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOMES:  # imported when it is used, so that importing posenc costs nothing
        return getattr(import_module(f"posenc.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
