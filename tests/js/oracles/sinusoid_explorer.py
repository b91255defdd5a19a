"""What SinusoidExplorer draws, by the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.absolute import sinusoidal
from posenc.analysis import decay, kernel_asymmetry, kernel_residual, offset_kernel
from posenc.frequencies import inv_freq
from posenc.widgets import SinusoidExplorer
from posenc.widgets.sinusoid_explorer import POSITIONS, REACH


def values(widget: SinusoidExplorer) -> dict[str, Any]:
    """Both encodings, that of n times W, and the kernel: at m, without W, and least, greatest and mean of all."""
    offsets, positions = np.arange(-REACH, REACH + 1), np.arange(POSITIONS)
    kernel = offset_kernel(-offsets, positions, widget.dim, widget.base, widget.between()) / (widget.dim / 2)
    mean = kernel.mean(axis=0)  # (offsets,)
    return {
        "code": sinusoidal(widget.position, widget.dim, widget.base),
        "other": widget.between() @ sinusoidal(widget.position - widget.offset, widget.dim, widget.base),
        "kernel": kernel[widget.position],
        "plain": decay(np.abs(offsets), inv_freq(widget.dim, widget.base)),
        "low": kernel.min(axis=0),
        "high": kernel.max(axis=0),
        "mean": mean,
        "residual": float(kernel_residual(kernel)),
        "asymmetry": float(kernel_asymmetry(kernel)),
        "peak": int(offsets[np.argmax(mean)]),
    }
