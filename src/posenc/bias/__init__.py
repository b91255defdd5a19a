"""Position biases on the attention logits; embeddings, queries and keys stay as they are.

    logits_ij = q_i·k_j·scale + b_ij

Relative position is key − query, in tokens, as in `posenc.absolute.relative_positions`: negative for earlier keys;
`relative_positions` has shape (..., queries, keys). ALiBi, T5, Sandwich and KERPLE depend on it and on the head alone:
one value per diagonal (Toeplitz). FIRE also depends on the query's position, and the terms of Transformer-XL, TENER and
DeBERTa on the contents of query and key.

Pass a bias to `posenc.attention.attention` as `bias`, or with `score_mod` to torch's FlexAttention; it is added after
the scaling. It is −∞ for keys that a causal method excludes. An argument of the wrong kind, or arrays of two libraries
or dtypes, raise TypeError; a value that is not finite or out of range, or a shape that does not fit, raises ValueError.
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
    "DebertaTerms", "KERPLE_KINDS", "TransformerXLTerms", "alibi", "alibi_rank_two", "alibi_slopes", "deberta",
    "fire", "kerple", "relative_shift", "sandwich", "sandwich_features", "score_mod", "t5", "t5_bucket", "tener",
    "transformer_xl",
]  # fmt: skip
