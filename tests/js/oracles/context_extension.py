"""What ContextExtension draws, by the package."""

from __future__ import annotations

from typing import Any

from posenc import configs, scaling
from posenc.frequencies import inv_freq, rotations, wavelengths
from posenc.widgets import ContextExtension


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


def _drawn(widget: ContextExtension, method: str) -> dict[str, Any] | None:
    scaled = scaled_by(widget, method)
    return scaled and {
        "wavelength": wavelengths(scaled.inv_freq),
        "divisor": inv_freq(widget.dim, widget.base) / scaled.inv_freq,
        "rotations": rotations(widget.used, scaled.inv_freq),
        "attention_factor": scaled.attention_factor,
    }


def _thresholds(widget: ContextExtension) -> list[float] | None:
    """The pair indices of a method's thresholds, of Llama 3's as its configuration has them; None for one without."""
    if widget.method == "llama3":
        published = configs.model("Llama-3.1-8B").rope["rope_scaling"]
        bounds = {"beta_fast": published["high_freq_factor"], "beta_slow": published["low_freq_factor"]}
    elif widget.method in {"ntk_by_parts", "yarn_paper", "yarn_code"}:
        bounds = {"beta_fast": widget.beta_fast, "beta_slow": widget.beta_slow}
    else:
        return None
    length = {"original_max_position_embeddings": widget.trained}
    return list(scaling.correction_range(widget.dim, widget.base, **length, **bounds, truncate=False))


def values(widget: ContextExtension) -> dict[str, Any]:
    """What is drawn, in pairs, tokens and rotations.

    Of the original list and of the method's: wavelengths, what its frequency is divided by, its rotations in the used
    length and the attention factor; None for a LongRoPE without lists.
    Of the original, also the rotations in the trained length.
    """
    original = inv_freq(widget.dim, widget.base)
    return {
        "trained_rotations": rotations(widget.trained, original),
        "thresholds": _thresholds(widget),
        "original": _drawn(widget, "none"),
        "method": _drawn(widget, widget.method),
    }
