"""The explorables: interactive figures, in a notebook with a kernel and on the book's pages without one.

Each is an `anywidget` class with one ES module in `js/`. Python declares the controls and their limits, JavaScript
computes and draws, and says what its figure shows; the words of each stand in `js/`, one JSON file for each.
"""

import base64

try:
    import anywidget  # noqa: F401
except ModuleNotFoundError as error:
    from posenc._extras import missing

    raise missing(error, "figures") from None

from posenc.widgets._base import Action, Choice, Control, Explorable, Switch, Text, bundle, classic_scripts, stylesheet
from posenc.widgets.angle_coverage import AngleCoverage
from posenc.widgets.attention_by_hand import AttentionByHand
from posenc.widgets.bias_explorer import BiasExplorer
from posenc.widgets.build_an_encoding import BuildAnEncoding
from posenc.widgets.context_extension import ContextExtension
from posenc.widgets.decay_explorer import DecayExplorer
from posenc.widgets.frequency_bank import FrequencyBank
from posenc.widgets.injection_points import InjectionPoints
from posenc.widgets.layer_stack import LayerStack
from posenc.widgets.learned_distance_bias import LearnedDistanceBias
from posenc.widgets.order_blindness import OrderBlindness
from posenc.widgets.patch_grid import PatchGrid
from posenc.widgets.playground import Playground
from posenc.widgets.rotation_2d import Rotation2D
from posenc.widgets.rotation_planes import RotationPlanes
from posenc.widgets.sinusoid_explorer import SinusoidExplorer

EXPLORABLES = (
    Playground,
    InjectionPoints,
    AttentionByHand,
    OrderBlindness,
    BuildAnEncoding,
    SinusoidExplorer,
    Rotation2D,
    RotationPlanes,
    FrequencyBank,
    DecayExplorer,
    AngleCoverage,
    LearnedDistanceBias,
    ContextExtension,
    BiasExplorer,
    PatchGrid,
    LayerStack,
)


def modules() -> dict[str, str]:
    """The complete ES module of each explorable, by module name, for a page without a kernel."""
    return {cls.module: bundle(f"{cls.module}.js") for cls in EXPLORABLES}


def scripts() -> dict[str, str]:
    """Classic scripts for a page with several explorables: one with the shared code, and one for each."""
    return classic_scripts([f"{cls.module}.js" for cls in EXPLORABLES])


def checkpoints() -> dict[str, str]:
    """Classic scripts that bring the checkpoints of the Playground, by name: a page opened from disk loads them too."""
    return {
        name: f"(window.posencFiles ??= {{}})[{name!r}] = {base64.b64encode(file).decode()!r};\n"
        for name, file in Playground.files().items()
    }


__all__ = [
    "Action", "AngleCoverage", "AttentionByHand", "BiasExplorer", "BuildAnEncoding", "Choice", "ContextExtension",
    "Control", "DecayExplorer", "EXPLORABLES", "Explorable",
    "FrequencyBank", "InjectionPoints", "LayerStack", "LearnedDistanceBias", "OrderBlindness", "PatchGrid",
    "Playground", "Rotation2D", "RotationPlanes", "SinusoidExplorer", "Switch", "Text", "bundle", "checkpoints",
    "modules", "scripts", "stylesheet",
]  # fmt: skip
