"""NoPE: no positional encoding but the causal mask."""

from __future__ import annotations

import math

from posenc._arrays import check_int, check_positive
from posenc.schemes.interface import PositionScheme


class NoPosition(PositionScheme):
    """NoPE: only the causal mask carries positional information.

    Source: Haviv et al. 2022; Kazemnejad et al. 2023.

    >>> NoPosition().logit_scale(head_dim=16, n_keys=9)
    0.25
    """


class NoPositionWithTemperature(PositionScheme):
    """NoPE with an attention temperature against dilution: the logits are scaled by λ/√head_dim.

    λ = factor, or factor · max(1, ln n_keys / ln trained_length) if a trained length, at least 2, is given. The second
    grows with n_keys: in decoding it follows each step, in one pass all queries have the λ of the last. `factor` is
    greater than 0 and sharpens above 1.

    Source: Wang et al. 2024, "Length Generalization of Causal Transformers without Position Encoding", for the factor;
    Su 2021 (kexue.fm/archives/8823) for the logarithm: with it, a key whose logit is ln trained_length above equal
    others keeps half of the attention weight at any n_keys.

    >>> scheme = NoPositionWithTemperature(trained_length=128)
    >>> [scheme.logit_scale(head_dim=16, n_keys=keys) for keys in (128, 128**2)]
    [0.25, 0.5]
    """

    def __init__(self, factor: float = 1.0, trained_length: int | None = None) -> None:
        super().__init__()
        self.factor = check_positive("factor", factor)
        self.trained_length = None if trained_length is None else check_int("trained_length", trained_length, 2)

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        factor = self.factor
        if self.trained_length is not None:
            factor *= math.log(max(n_keys, self.trained_length)) / math.log(self.trained_length)
        return factor * super()._logit_scale(head_dim, n_keys)
