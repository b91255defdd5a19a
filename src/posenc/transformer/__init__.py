"""A small Transformer that takes any position scheme: the model of the laboratory.

    x = scheme.embed(embedding(tokens), positions)             injection point 1: input embeddings, once
    x = x + attention(norm(x)); x = x + mlp(norm(x))           points 2 and 3: queries and keys, logits
    logits = head(norm(x))

Pre-norm with RMSNorm, GELU, no biases in linear layers, input and output embeddings not tied, the output initialised
with zeros. All layers share the scheme, including its learned weights.

`Transformer` is a torch module, which trains and decodes. `forward` computes the same from a dictionary of weights,
NumPy arrays or tensors, and shows what happens inside; it needs no torch.

Source: Vaswani et al. 2017; pre-norm: Xiong et al. 2020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# The package's page shows the names in this order.
# isort: off
from posenc.transformer.config import TransformerConfig
from posenc.transformer.arrays import Forward, LayerForward, forward

if TYPE_CHECKING:
    from posenc.transformer.model import KeyValueCache, Transformer

__all__ = ["Forward", "KeyValueCache", "LayerForward", "Transformer", "TransformerConfig", "forward"]


def __getattr__(name: str) -> Any:
    if name in ("KeyValueCache", "Transformer"):  # they need torch
        from posenc.transformer import model

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
