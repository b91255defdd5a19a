"""Root mean square normalisation in one pass over a row: torch's own, on a CPU, is put together from several.

Weight normalisation is the same arithmetic, forward and backward, only without ε. It brings each row to a given length,
and a row whose mean square is 1 has the length √dim. A training step spends about as long in it as in LayerNorm.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arrays import is_compiling

EPSILON_IS_LOST = 0.25  # in rounding: the least mean square of which that can be said


class RMSNorm(nn.RMSNorm):
    """x / √(mean of x² + ε) times a learned weight, over the last axis (Zhang and Sennrich 2019, equation 4)."""

    def forward(self, x: Tensor) -> Tensor:
        """The same as torch's, of the same shape as x, (..., dim)."""
        # A compiler fuses the passes itself.
        if not is_compiling() and x.is_cpu and x.dtype in (torch.float32, torch.float64) and x.numel():
            dim = x.shape[-1]
            target = x.new_full((x.numel() // dim, 1), dim**0.5)
            scaled, length = torch._weight_norm_interface(x.reshape(-1, dim), target)
            if length.min().item() ** 2 >= EPSILON_IS_LOST * dim:  # not so for a row of zeros, nor where there is a NaN
                return scaled.view(x.shape) * self.weight
        return super().forward(x)
