"""RoPE as a torch module, whose frequencies move with the model and can be trained."""

from __future__ import annotations

from typing import Any

from posenc._extras import missing

try:
    import torch
    from torch import Tensor, nn
except ModuleNotFoundError as error:
    raise missing(error, "torch") from None

from posenc.rope import Rope


class RotaryEmbedding(nn.Module):
    """A `Rope` as a module: its frequencies are in `state_dict` and follow `.to(device)`; in training they may learn.

    Args:
        rope: the rotation, whose frequencies do not follow the length of the sequence.
        learnable: whether `inv_freq` is a parameter; else it is a buffer. It stays float32 or wider: `.to` and `.half`
            of the model do not narrow it, since in bfloat16 distant positions would have the same angle.

    Attributes:
        inv_freq: radians per token, shape (rotary_dim/2,), float32.

    >>> rotary = RotaryEmbedding(Rope(8), learnable=True)
    >>> q, k = rotary(torch.ones(1, 2, 3, 8), torch.ones(1, 2, 3, 8))
    >>> (q * k.detach()).sum().backward()
    >>> rotary.inv_freq.grad.shape
    torch.Size([4])
    """

    inv_freq: Tensor

    def __init__(self, rope: Rope, *, learnable: bool = False) -> None:
        super().__init__()
        if rope.follows_length:
            raise ValueError(f"rope must have fixed frequencies, got one that follows the length, {rope!r}")
        frequencies = torch.as_tensor(rope.inv_freq.tolist(), dtype=torch.float32)
        if learnable:
            self.inv_freq = nn.Parameter(frequencies)
        else:
            self.register_buffer("inv_freq", frequencies)
        self._rope = rope

    def _apply(self, fn: Any, recurse: bool = True) -> RotaryEmbedding:
        before = self.inv_freq.detach()
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if self.inv_freq.dtype in (torch.bfloat16, torch.float16):
            self.inv_freq.data = before.to(self.inv_freq.device)
        return self

    @property
    def rope(self) -> Rope:
        """The rotation with the frequencies as they are now."""
        rope = self._rope
        return Rope.from_frequencies(
            self.inv_freq, rope.attention_factor, dim=rope.dim, layout=rope.layout, axes=rope.axes
        )

    def forward(self, q: Tensor, k: Tensor, positions: Tensor | None = None, **options: Any) -> tuple[Tensor, Tensor]:
        """Queries and keys, rotated; arguments as for a call of `posenc.Rope`."""
        return self.rope(q, k, positions, **options)
