"""What ContextExtension draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc import scaling
from posenc.analysis import decay
from posenc.frequencies import inv_freq, rotations, wavelengths
from posenc.widgets import ContextExtension

CHUNK = 16_384  # distances at a time: a long text would need gigabytes at once


def scaled_by(widget: ContextExtension, method: str) -> scaling.Scaled | None:
    """The frequencies of a method; None for LongRoPE where the lists have another number of pairs."""
    factor, length = {"factor": widget.factor}, {"original_max_position_embeddings": widget.trained}
    bounds = {"beta_fast": widget.beta_fast, "beta_slow": widget.beta_slow}
    match method:
        case "none":
            return scaling.default(widget.dim, widget.base)
        case "linear":
            return scaling.linear(widget.dim, widget.base, **factor)
        case "ntk_aware":
            return scaling.ntk_aware(widget.dim, widget.base, **factor)
        case "dynamic_ntk":
            return scaling.dynamic_ntk(widget.dim, widget.base, seq_len=widget.used, **length)
        case "ntk_by_parts":
            return scaling.ntk_by_parts(widget.dim, widget.base, **factor, **length, **bounds)
        case "yarn_paper" | "yarn_code":
            ramp = "paper" if method == "yarn_paper" else "released"
            return scaling.yarn(widget.dim, widget.base, **factor, **length, **bounds, ramp=ramp)
        case "llama3":
            return scaling.llama3(widget.dim, widget.base, **factor, **length)
    published = widget.data()
    if len(published["long"]) != widget.dim // 2:
        return None
    lists = {"short_factor": published["short"], "long_factor": published["long"]}
    return scaling.longrope(widget.dim, widget.base, **lists, seq_len=widget.used, **length, **factor)


def _pairs(widget: ContextExtension, scaled: scaling.Scaled) -> dict[str, Any]:
    return {
        "wavelength": wavelengths(scaled.inv_freq),
        "divisor": inv_freq(widget.dim, widget.base) / scaled.inv_freq,
        "rotations": rotations(widget.used, scaled.inv_freq),
        "attention_factor": scaled.attention_factor,
    }


def _drawn(widget: ContextExtension, method: str) -> dict[str, Any] | None:
    scaled, distances = scaled_by(widget, method), np.arange(widget.used + 1)
    if scaled is None:
        return None
    parts = [decay(distances[k : k + CHUNK], scaled.inv_freq) for k in range(0, widget.used + 1, CHUNK)]
    return {**_pairs(widget, scaled), "score": np.concatenate(parts)}


def values(widget: ContextExtension) -> dict[str, Any]:
    """What is drawn, in pairs, tokens and rotations.

    Of the original list and of both methods: wavelengths, what its frequency is divided by, its rotations in the used
    length, the attention factor, and the score at every distance; None for a LongRoPE without lists. Of the
    original the rotations in the trained length, and the pair indices at which they are β fast and β slow.
    """
    bounds = {"beta_fast": widget.beta_fast, "beta_slow": widget.beta_slow, "truncate": False}
    ramp = scaling.correction_range(widget.dim, widget.base, original_max_position_embeddings=widget.trained, **bounds)
    return {
        "trained_rotations": rotations(widget.trained, inv_freq(widget.dim, widget.base)),
        "ramp": list(ramp),
        "original": _drawn(widget, "none"),
        "method": _drawn(widget, widget.method),
        "other": _drawn(widget, widget.other),
    }
