"""NTK-aware scaling: a larger base, which interpolates the slowest pair by the factor and the fastest not at all."""

from __future__ import annotations

import math
import sys

from posenc._arrays import Array, check_even_dim, check_int, check_positive
from posenc.frequencies import inv_freq
from posenc.scaling._shared import Scaled, at_least_one, trained_length


def ntk_base(dim: int, base: float = 10_000.0, *, factor: float) -> float:
    """The base of NTK-aware scaling, base·factor^(dim/(dim − 2)): it divides the slowest frequency by `factor`.

    ValueError also for dim 2, whose only pair would be fastest and slowest, and for a base beyond the range of floats.
    Source: bloc97, 2023; Peng et al. 2023 (YaRN), section 3.1.

    >>> round(ntk_base(128, factor=4))
    40890
    """
    if check_even_dim(dim) == 2:
        raise ValueError(f"dim must be at least 4 for NTK scaling (its exponent is dim/(dim − 2)), got {dim}")
    base, factor = check_positive("base", base), at_least_one("factor", factor)
    exponent = dim / (dim - 2)
    if math.log(base) + exponent * math.log(factor) > math.log(sys.float_info.max):
        raise ValueError(f"factor must leave base·factor^(dim/(dim − 2)) finite, got {factor!r} with base {base!r}")
    return float(base * factor**exponent)


def ntk_aware(dim: int, base: float = 10_000.0, *, factor: float, like: Array = None) -> Scaled:
    """NTK-aware scaling: the frequencies of the base `ntk_base`; attention factor 1.

    Frequency i is divided by factor^(2i/(dim − 2)): the fastest by 1, the slowest by `factor`, those between by less
    than would keep their angles within the trained range. Raises as `ntk_base`.
    Source: bloc97, 2023; Peng et al. 2023 (YaRN), section 3.1.

    >>> ntk_aware(8, factor=4).inv_freq.round(6).tolist()
    [1.0, 0.062996, 0.003969, 0.00025]
    """
    return Scaled(inv_freq(dim, ntk_base(dim, base, factor=factor), like=like), 1.0)


def dynamic_ntk(
    dim: int,
    base: float = 10_000.0,
    *,
    seq_len: int,
    original_max_position_embeddings: int,
    factor: float | None = None,
    like: Array = None,
) -> Scaled:
    """NTK-aware scaling with the factor that the sequence needs, none up to L tokens; attention factor 1.

    Without `factor` s = max(seq_len, L)/L, as proposed. With `factor` f it is the released code's f·seq_len/L − (f −
    1), for seq_len > L. The frequencies change as the sequence grows: cache unrotated keys. Raises as `ntk_base`.
    Source: emozilla, 2023; Peng et al. 2023 (YaRN), section 3.3; the formula with f is that of the library
    transformers.

    >>> dynamic_ntk(8, seq_len=64, original_max_position_embeddings=16).inv_freq.round(6).tolist()
    [1.0, 0.062996, 0.003969, 0.00025]
    """
    seq_len, length = check_int("seq_len", seq_len, 0), trained_length(original_max_position_embeddings)
    slope = 1.0 if factor is None else at_least_one("factor", factor)
    scale = 1 + slope * (max(seq_len, length) / length - 1)
    return ntk_aware(dim, base, factor=scale, like=like)
