"""What only this explorable has; its numbers are compared in test_figures.py."""

from __future__ import annotations

import numpy as np

from posenc.configs import MODELS, model, unscaled
from posenc.frequencies import inv_freq
from posenc.widgets import AngleCoverage


def test_presets_are_the_models_own_frequencies():
    for name in MODELS:
        widget, config = AngleCoverage(model=name), model(name)
        layer_type = config.layer_types[0] if config.layer_types else None
        np.testing.assert_allclose(inv_freq(widget.dim, widget.base), unscaled(config, layer_type).inv_freq, rtol=1e-12)
        assert widget.trained == config.original_max_position_embeddings
