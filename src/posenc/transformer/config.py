"""The shape of a Transformer, and what it takes."""

from __future__ import annotations

from dataclasses import dataclass

from posenc._arrays import (
    Array,
    check_bool,
    check_int,
    describe,
    describe_values,
    is_array,
    is_compiling,
    namespace,
)
from posenc.schemes import PositionScheme


@dataclass(frozen=True)
class TransformerConfig:
    """The shape of a `Transformer`.

    Attributes:
        vocab_size, n_layers, n_heads: at least 1.
        dim: width of the residual stream, a multiple of n_heads.
        mlp_dim: width of the hidden layer of each MLP; None: 4·dim.
        causal: True for a decoder, False for an encoder.
        n_classes: None: logits at every token; else mean pooling and logits of that many classes per sequence.
    """

    vocab_size: int
    dim: int = 64
    n_layers: int = 2
    n_heads: int = 2
    mlp_dim: int | None = None
    causal: bool = True
    n_classes: int | None = None

    def __post_init__(self) -> None:
        optional = [name for name in ("mlp_dim", "n_classes") if getattr(self, name) is not None]
        for name in ("vocab_size", "dim", "n_layers", "n_heads", *optional):
            check_int(name, getattr(self, name))
        check_bool("causal", self.causal)
        if self.dim % self.n_heads:
            raise ValueError(f"dim must be a multiple of n_heads, {self.n_heads}, got {self.dim}")

    @property
    def head_dim(self) -> int:
        return self.dim // self.n_heads

    def check(self, scheme: PositionScheme) -> None:
        """Checks that it is a scheme, and none for decoders in an encoder or the reverse."""
        if not isinstance(scheme, PositionScheme):
            raise TypeError(f"scheme must be a PositionScheme, as make_scheme makes them, got {describe(scheme)}")
        if scheme.causal not in (None, self.causal):
            raise ValueError(f"scheme must have causal={self.causal} or None as the model has, got {scheme.causal}")

    def check_tokens(self, tokens: Array) -> None:
        """Checks that they are integers of the vocabulary, shape (batch, length), not empty."""
        if not is_array(tokens):
            raise TypeError(f"tokens must be an array of int64 or int32, got {describe(tokens)}")
        xp = namespace(tokens)
        if tokens.dtype not in (xp.int64, xp.int32):
            raise TypeError(f"tokens must be an array of int64 or int32, got dtype {tokens.dtype}")
        if tokens.ndim != 2 or tokens.shape[1] == 0:
            raise ValueError(f"tokens must have shape (batch, length), not empty, got shape {tuple(tokens.shape)}")
        refused = (tokens < 0) | (tokens >= self.vocab_size)
        if not is_compiling() and bool(xp.any(refused)):
            raise ValueError(f"tokens must be from 0 to {self.vocab_size - 1}, got {describe_values(tokens, refused)}")
