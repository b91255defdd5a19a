"""The explorables: interactive figures, in a notebook with a kernel and on the book's pages without one.

Each is an `anywidget` class with one ES module in `js/`. Python declares the controls and their limits, JavaScript
computes and draws. `values()` and `finding()` are the same in Python, and tests compare the two.
"""

try:
    import anywidget  # noqa: F401
except ModuleNotFoundError as error:
    from posenc._extras import missing

    raise missing(error, "figures") from None

from posenc.widgets._base import Action, Choice, Control, Explorable, Switch, Text, bundle, classic_scripts, stylesheet
from posenc.widgets.attention_by_hand import AttentionByHand
from posenc.widgets.bias_explorer import BiasExplorer
from posenc.widgets.blind_spot import BlindSpot
from posenc.widgets.build_a_code import BuildACode
from posenc.widgets.context_extension import ContextExtension
from posenc.widgets.coverage import Coverage
from posenc.widgets.decay_explorer import DecayExplorer
from posenc.widgets.encoding_gallery import EncodingGallery
from posenc.widgets.extrapolation import Extrapolation
from posenc.widgets.frequency_bank import FrequencyBank
from posenc.widgets.layer_stack import LayerStack
from posenc.widgets.look_back import LookBack
from posenc.widgets.mean_wave import MeanWave
from posenc.widgets.patch_grid import PatchGrid
from posenc.widgets.rotation_2d import Rotation2D
from posenc.widgets.sinusoid_explorer import SinusoidExplorer
from posenc.widgets.tangle import Tangle
from posenc.widgets.three_doors import ThreeDoors

EXPLORABLES = (
    ThreeDoors,
    AttentionByHand,
    BlindSpot,
    BuildACode,
    EncodingGallery,
    SinusoidExplorer,
    Rotation2D,
    Tangle,
    FrequencyBank,
    DecayExplorer,
    Coverage,
    MeanWave,
    ContextExtension,
    LookBack,
    BiasExplorer,
    Extrapolation,
    PatchGrid,
    LayerStack,
)


def modules() -> dict[str, str]:
    """The complete ES module of each explorable, by module name, for a page without a kernel."""
    return {cls.module: bundle(f"{cls.module}.js") for cls in EXPLORABLES}


def scripts() -> dict[str, str]:
    """Classic scripts for a page with several explorables: one with the shared code, and one for each."""
    return classic_scripts([f"{cls.module}.js" for cls in EXPLORABLES])


__all__ = [
    "Action", "AttentionByHand", "BiasExplorer", "BlindSpot", "BuildACode", "Choice", "ContextExtension", "Control",
    "Coverage", "DecayExplorer", "EXPLORABLES", "EncodingGallery", "Explorable", "Extrapolation", "FrequencyBank",
    "LayerStack", "LookBack", "MeanWave", "PatchGrid", "Rotation2D", "SinusoidExplorer", "Switch", "Tangle", "Text",
    "ThreeDoors", "bundle", "modules", "scripts", "stylesheet",
]  # fmt: skip
