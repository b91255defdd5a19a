"""The third door: codes that change the logits, and leave embeddings, queries and keys alone.

    logits_ij = q_i·k_j·scale + b_ij

Relative position is key − query, in tokens, as in `posenc.absolute.relative_positions`: negative for what stands
before; `relative_positions` has the shape (..., queries, keys). ALiBi, T5, Sandwich and KERPLE add a number that
depends on it and on the head alone: one value along each diagonal (Toeplitz). FIRE's also depends on where the query
stands, and the terms of Transformer-XL, TENER and DeBERTa on what it and the key say.

Give a bias to `posenc.attention.attention` as `bias`, or by `score_mod` to torch's FlexAttention; it is added after the
scaling. It is −∞ for the keys that a causal method says nothing about. What is of the wrong kind, or of two libraries
or dtypes, raises TypeError; what is not finite, out of its range or of a shape that does not fit, ValueError.
"""

# The package's page shows the names in this order.
# isort: off
from posenc.bias.linear import alibi_slopes, alibi, alibi_rank_two
from posenc.bias.buckets import t5_bucket, t5
from posenc.bias.sinusoids import sandwich, sandwich_features
from posenc.bias.learned import KERPLE_KINDS, kerple, fire
from posenc.bias.content import TransformerXLTerms, transformer_xl, tener, relative_shift, DebertaTerms, deberta
from posenc.bias.flex import score_mod

__all__ = [
    "DebertaTerms",
    "KERPLE_KINDS",
    "TransformerXLTerms",
    "alibi",
    "alibi_rank_two",
    "alibi_slopes",
    "deberta",
    "fire",
    "kerple",
    "relative_shift",
    "sandwich",
    "sandwich_features",
    "score_mod",
    "t5",
    "t5_bucket",
    "tener",
    "transformer_xl",
]
