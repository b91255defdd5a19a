"""The Transformer as a torch module: training, and decoding with a KV cache."""

from __future__ import annotations

from dataclasses import dataclass, field

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional as F
except ModuleNotFoundError as error:
    from posenc._extras import missing

    raise missing(error, "torch") from None

from posenc._arrays import check_int, describe
from posenc._rms_norm import RMSNorm
from posenc.schemes import PositionScheme
from posenc.transformer.config import TransformerConfig

KeysAndValues = tuple[Tensor, Tensor]  # (batch, heads, tokens, head_dim) each


@dataclass
class KeyValueCache:
    """The KV cache of decoding: unrotated keys and values of every layer, and the positions.

    All keys are rotated at every step, for scalings that depend on the length of the sequence.
    """

    positions: Tensor | None = None  # (tokens,) or (batch, tokens)
    layers: list[KeysAndValues] = field(default_factory=list)


class _Layer(nn.Module):
    """Attention and an MLP, each on the normalised residual stream, and added to it."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        dim, mlp_dim = config.dim, config.mlp_dim or 4 * config.dim
        self.n_heads, self.causal = config.n_heads, config.causal
        self.attention_norm = RMSNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        self.mlp_norm = RMSNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, mlp_dim, bias=False), nn.GELU(), nn.Linear(mlp_dim, dim, bias=False))

    def forward(
        self, x: Tensor, scheme: PositionScheme, positions: Tensor, key_positions: Tensor, past: KeysAndValues | None
    ) -> tuple[Tensor, KeysAndValues]:
        """The residual stream after the layer, and the keys and values of all tokens so far."""
        parts = self.qkv(self.attention_norm(x)).unflatten(-1, (3, self.n_heads, -1)).unbind(2)
        q, k, v = (part.transpose(1, 2) for part in parts)  # (batch, heads, length, head_dim) each
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        queries, keys = q.shape[2], k.shape[2]
        q, rotated_k = scheme.rotate(q, k, positions, key_positions)
        bias = scheme.bias(q, rotated_k, positions, key_positions)
        # torch aligns causal queries with the first keys; in decoding they are the last.
        is_causal = self.causal and bias is None and queries == keys
        if self.causal and not is_causal and queries > 1:
            allowed = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
            bias = allowed if bias is None else bias.masked_fill(~allowed, -torch.inf)
        if bias is not None and bias.ndim == 3:
            bias = bias[None]  # (1, heads, queries, keys): without the first axis torch is three to six times slower
        scale = scheme.logit_scale(q.shape[3], keys)
        mixed = F.scaled_dot_product_attention(q, rotated_k, v, attn_mask=bias, is_causal=is_causal, scale=scale)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.mlp_norm(x)), (k, v)


class Transformer(nn.Module):
    """A decoder or encoder with a position scheme: tokens to logits.

    Args:
        config: its shape.
        scheme: any of `posenc.schemes`, for heads of config.head_dim and the same `causal`; all layers share it.
        seed: of the initial weights, uniform within ±1/√in_features as torch's, for embeddings standard normal; None:
            torch's global generator.
    """

    def __init__(self, config: TransformerConfig, scheme: PositionScheme, seed: int | None = None) -> None:
        super().__init__()
        if not isinstance(config, TransformerConfig):
            raise TypeError(f"config must be a TransformerConfig, got {describe(config)}")
        config.check(scheme)
        self.config, self.scheme = config, scheme
        self.embedding = nn.Embedding(config.vocab_size, config.dim)
        layers = [_Layer(config) for _ in range(config.n_layers)]
        self.layers = nn.ModuleList(layers)
        self.norm = RMSNorm(config.dim)
        self.head = nn.Linear(config.dim, config.n_classes or config.vocab_size, bias=False)
        generator = None if seed is None else torch.Generator().manual_seed(check_int("seed", seed, 0))
        nn.init.normal_(self.embedding.weight, generator=generator)
        for module in self.layers.modules():
            if isinstance(module, nn.Linear):
                bound = module.in_features**-0.5
                nn.init.uniform_(module.weight, -bound, bound, generator=generator)
        nn.init.zeros_(self.head.weight)
        # Initial logits have the same size for every scheme: T5 does not scale them, so its queries begin smaller.
        start = config.head_dim**-0.5 / scheme.logit_scale(config.head_dim, 1)
        for layer in layers:
            layer.qkv.weight.detach()[: config.dim] *= start

    def forward(self, tokens: Tensor, positions: Tensor | None = None, cache: KeyValueCache | None = None) -> Tensor:
        """Logits, (batch, length, vocab_size), or (batch, n_classes) for a model of classes.

        Args:
            tokens: int64 or int32, from 0 to vocab_size − 1, shape (batch, length); with a cache only the new ones.
            positions: of these tokens, shape (length,), (1, length) or (batch, length); None: consecutive, from 0 or
                from the last position in the cache.
            cache: of the tokens before; the new ones are added, unless an error is raised.

        Raises:
            TypeError, ValueError: tokens or positions of another kind or shape, a token outside the vocabulary, a cache
                of other sequences, or one with a model that is not causal or has classes.
        """
        self._check(tokens, cache)
        cache = cache or KeyValueCache()
        if positions is None:
            start = 0 if cache.positions is None else cache.positions[..., -1:] + 1
            positions = start + torch.arange(tokens.shape[1], device=tokens.device)
        x = self.scheme.embed(self.embedding(tokens), positions)  # (batch, length, dim)
        key_positions = positions
        if cache.positions is not None:
            batch = torch.broadcast_shapes(cache.positions.shape[:-1], positions.shape[:-1])  # type: ignore[no-untyped-call]
            key_positions = torch.cat([at.expand(*batch, -1) for at in (cache.positions, positions)], dim=-1)
        kept: list[KeysAndValues] = []
        for index, layer in enumerate(self.layers):
            past = cache.layers[index] if cache.layers else None
            x, so_far = layer(x, self.scheme.for_layer(index), positions, key_positions, past)
            kept.append(so_far)
        cache.positions, cache.layers = key_positions, kept
        x = self.norm(x)
        return self.head(x if self.config.n_classes is None else x.mean(dim=1))  # type: ignore[no-any-return]

    def _check(self, tokens: Tensor, cache: KeyValueCache | None) -> None:
        config = self.config
        if not isinstance(tokens, Tensor):
            raise TypeError(
                f"tokens must be a tensor (posenc.transformer.forward takes arrays), got {describe(tokens)}"
            )
        config.check_tokens(tokens)
        if not isinstance(cache, KeyValueCache | None):
            raise TypeError(f"cache must be a KeyValueCache or None, got {describe(cache)}")
        if cache and (not config.causal or config.n_classes):
            raise ValueError("cache must be None for a model that is not causal or has classes, got a KeyValueCache")
        shapes = [tuple(k.shape[:2]) for k, _ in cache.layers] if cache else []
        if shapes and shapes != [(len(tokens), config.n_heads)] * config.n_layers:
            raise ValueError(f"cache must be of this model and {len(tokens)} sequences, got keys of shapes {shapes}")
