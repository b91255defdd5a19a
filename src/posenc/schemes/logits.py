"""Schemes in the logits that look at positions alone: a bias of each pair of a query and a key."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from posenc import bias as biases
from posenc._arrays import check_bool, check_choice, check_even_dim, check_int, check_positive, describe
from posenc.absolute import relative_positions
from posenc.schemes._shared import normal, seeded
from posenc.schemes.interface import PositionScheme


class Biasing(PositionScheme):
    """Adds a bias to the logits of a number of heads."""

    injection_point = "logits"

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.n_heads = check_int("n_heads", n_heads)

    def _check_heads(self, q: Tensor) -> None:
        if q.shape[1] != self.n_heads:
            wanted = f"(batch, {self.n_heads}, length, head_dim)"
            raise ValueError(f"q must have shape {wanted}, got shape {tuple(q.shape)}")


class _OffsetBiasing(Biasing, ABC):
    """Adds a bias that depends on relative positions alone."""

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        self._check_heads(q)
        return self.of_offsets(relative_positions(positions, key_positions))

    @abstractmethod
    def of_offsets(self, offsets: Tensor) -> Tensor:
        """The bias of relative positions, key − query: (..., queries, keys) in, (..., heads, queries, keys) out."""


class ALiBi(_OffsetBiasing):
    """ALiBi: a penalty of m_h logits for each token of distance (`posenc.bias.alibi`).

    Args:
        slopes: m_h, none negative, one for each head; None: the paper's for that number of heads.
        causal: whether queries look only back, as in the paper; −∞ for later keys. Otherwise the symmetric form.

    Source: Press et al. 2022, section 3.

    >>> q = torch.ones(1, 2, 3, 8)
    >>> ALiBi(2).bias(q, q, torch.arange(3))[0]  # of the first head
    tensor([[ 0.0000,    -inf,    -inf],
            [-0.0625,  0.0000,    -inf],
            [-0.1250, -0.0625,  0.0000]])
    """

    def __init__(self, n_heads: int, slopes: Sequence[float] | None = None, causal: bool = True) -> None:
        super().__init__(n_heads)
        self.causal = check_bool("causal", causal)
        if slopes is not None and (isinstance(slopes, str) or not isinstance(slopes, Sequence)):
            raise TypeError(f"slopes must be a list of numbers or None, got {describe(slopes)}")
        if slopes is not None and len(slopes) != self.n_heads:
            raise ValueError(f"slopes must be {self.n_heads} numbers, one for each head, got {describe(slopes)}")
        self.slopes = tuple(map(float, biases.alibi_slopes(self.n_heads))) if slopes is None else tuple(slopes)
        biases.alibi(torch.zeros(1, 1), self.slopes)  # refuses slopes that are no numbers, or negative

    def of_offsets(self, offsets: Tensor) -> Tensor:
        return biases.alibi(offsets, self.slopes, symmetric=not self.causal, dtype=offsets.dtype)  # type: ignore[no-any-return]


class T5(_OffsetBiasing):
    """T5's learned bias of bucketed relative positions (`posenc.bias.t5`); the products q·k are not scaled.

    One T5 serves all its layers with one table.

    Args:
        causal: True for a decoder, whose buckets are all for the past; False for an encoder: half for each side.
        num_buckets, max_distance: as for `posenc.bias.t5_bucket`.
        gain: what the table is multiplied by: with more than 1 the same steps of an optimiser move the bias further.
        std: of the normal distribution that the table is drawn from.

    Source: Raffel et al. 2020, section 2.1.

    >>> q = torch.ones(1, 2, 3, 8)
    >>> bias = T5(2).bias(q, q, torch.arange(3))
    >>> bias.shape, bool(bias[0, 1, 0] == bias[0, 2, 1])  # a distance of 1 has one number
    (torch.Size([2, 3, 3]), True)
    """

    def __init__(
        self,
        n_heads: int,
        causal: bool = True,
        num_buckets: int = 32,
        max_distance: int = 128,
        gain: float = 1.0,
        std: float = 0.02,
        seed: int | None = None,
    ) -> None:
        super().__init__(n_heads)
        self.causal, self.max_distance, self.gain = (
            check_bool("causal", causal),
            max_distance,
            check_positive("gain", gain),
        )
        # Refuses buckets and distances that do not fit.
        biases.t5_bucket(
            torch.zeros(0), bidirectional=not self.causal, num_buckets=num_buckets, max_distance=max_distance
        )
        with seeded(seed):
            self.table = normal(num_buckets, self.n_heads, std=check_positive("std", std))

    def of_offsets(self, offsets: Tensor) -> Tensor:
        looked_up = biases.t5(offsets, self.table, bidirectional=not self.causal, max_distance=self.max_distance)
        return self.gain * looked_up  # type: ignore[no-any-return]

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return 1.0


class Sandwich(_OffsetBiasing):
    """Sandwich: the product of two sinusoidal codes, weaker from head to head (`posenc.bias.sandwich`).

    Args:
        dim: width of the codes, even.

    Source: Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis".

    >>> q = torch.ones(1, 2, 3, 8)
    >>> Sandwich(2, dim=8).bias(q, q, torch.arange(3))[1].round(decimals=2)  # of the second head
    tensor([[0.5000, 0.4400, 0.3200],
            [0.4400, 0.5000, 0.4400],
            [0.3200, 0.4400, 0.5000]])
    """

    def __init__(self, n_heads: int, dim: int = 128, base: float = 10_000.0) -> None:
        super().__init__(n_heads)
        self.dim, self.base = check_even_dim(dim), check_positive("base", base)

    def of_offsets(self, offsets: Tensor) -> Tensor:
        return biases.sandwich(offsets, self.n_heads, self.dim, self.base, dtype=offsets.dtype)  # type: ignore[no-any-return]


class Kerple(_OffsetBiasing):
    """KERPLE: −r1·ln(1 + r2·distance) or −r1·distance^r2, with learned r1 and r2 for each head (`posenc.bias.kerple`).

    What is learned are their logarithms, log_r1 and log_r2, and for the power the number whose logistic function is
    half of r2, logit_r2: they stay positive, and r2 below 2. `kind` is "logarithmic" or "power". Initial values are
    drawn evenly from 0.1 to 1.

    Source: Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation"; the initial
    values are ours.

    >>> q = torch.ones(1, 2, 3, 8)
    >>> bias = Kerple(2).bias(q, q, torch.arange(3))
    >>> bool(bias[0, 2, 2] == 0), bool(bias[0, 2, 1] > bias[0, 2, 0])  # farther is less
    (True, True)
    """

    def __init__(self, n_heads: int, kind: str = "logarithmic", seed: int | None = None) -> None:
        super().__init__(n_heads)
        self.kind = check_choice("kind", kind, biases.KERPLE_KINDS)
        with seeded(seed):
            r1, r2 = torch.empty(2, self.n_heads).uniform_(0.1, 1.0)
        self.log_r1 = nn.Parameter(r1.log())
        if kind == "power":
            self.logit_r2 = nn.Parameter((r2 / 2).logit())
        else:
            self.log_r2 = nn.Parameter(r2.log())

    @property
    def r1(self) -> Tensor:
        """Shape (heads,), greater than 0."""
        return self.log_r1.exp()

    @property
    def r2(self) -> Tensor:
        """Shape (heads,), greater than 0; below 2 for the power."""
        return 2 * self.logit_r2.sigmoid() if self.kind == "power" else self.log_r2.exp()

    def of_offsets(self, offsets: Tensor) -> Tensor:
        return biases.kerple(offsets, self.r1, self.r2, kind=self.kind, dtype=offsets.dtype)  # type: ignore[no-any-return]


class Fire(Biasing):
    """FIRE: a small network's answer to the share of the text that a distance spans (`posenc.bias.fire`).

    The network is Linear(1, width), ReLU, Linear(width, heads), with torch's own initial values. What is learned of c
    and the threshold, in tokens, are their logarithms, log_c and log_threshold; at the beginning they are `c` and
    `threshold`, greater than 0. Positions count from the start of the text; −∞ for later keys.

    Source: Li et al. 2024, "Functional Interpolation for Relative Positions Improves Long Context Transformers".

    >>> q = torch.ones(1, 2, 3, 8)
    >>> bias = Fire(2).bias(q, q, torch.arange(3))
    >>> bias.shape, bool(bias[0, 0, 1].isneginf())  # later keys are hidden
    (torch.Size([2, 3, 3]), True)
    """

    causal = True

    def __init__(
        self, n_heads: int, width: int = 32, c: float = 0.1, threshold: float = 512.0, seed: int | None = None
    ) -> None:
        super().__init__(n_heads)
        with seeded(seed):
            self.mlp = nn.Sequential(nn.Linear(1, check_int("width", width)), nn.ReLU(), nn.Linear(width, self.n_heads))
        self.log_c = nn.Parameter(torch.tensor(math.log(check_positive("c", c))))
        self.log_threshold = nn.Parameter(torch.tensor(math.log(check_positive("threshold", threshold))))

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        self._check_heads(q)
        c, threshold = self.log_c.exp(), self.log_threshold.exp()
        return biases.fire(positions, key_positions, self.mlp, c, threshold)  # type: ignore[no-any-return]
