"""What the Playground shows, by the package: its texts, and the steps of its story, which ship with posenc-lab.

    python -m tools.playground

writes the file anew: run it when a step of the story has changed.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from posenc import scaling
from posenc.frequencies import inv_freq
from posenc.lab.benchmarks import PROBES
from posenc.lab.corpus import LibraryText
from posenc.lab.distance_bias import clamped, distance_bias, most_negative_pairs
from posenc.lab.evaluate import BOUNDS, with_scheme
from posenc.lab.measured import shipped_folder
from posenc.lab.measurements import with_table
from posenc.lab.runs import Run
from posenc.lab.store import load, write_text
from posenc.rotary import rotate
from posenc.schemes import PositionScheme, make_scheme
from posenc.transformer import Transformer
from posenc.widgets import Playground
from posenc.widgets.playground import LONGEST, ROTARY, STORED, checkpoint

TRAINED, HEAD_DIM, SINKS, WRITTEN = 128, 32, 4, 64
LOSS_BIN, LOGIT_BIN, SHOWN, QUERIES = 32, 8, 6, 128
WINDOWS = {"selectors": 26, "random": 25, "unittest": 36}  # of `LibraryText.windows`
COPY = Run("full", "copy", "rope_10000", 0).make_task()  # the same for every scheme
SYMBOLS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"  # its tokens, as the page writes them
SCALINGS: Mapping[str, tuple[Any, dict[str, Any]]] = {
    "none": (scaling.default, {}),
    "pi": (scaling.linear, {}),
    "ntk_aware": (scaling.ntk_aware, {}),
    "yarn": (scaling.yarn, {"original_max_position_embeddings": TRAINED, **BOUNDS}),
}


class Wrapped(PositionScheme):
    """A scheme that does in one layer what another does, until a subclass overrides a step."""

    def __init__(self, scheme: PositionScheme, layer: int = 0) -> None:
        super().__init__()
        self.within, self.layer = scheme, layer
        self.injection_point, self.causal = scheme.injection_point, scheme.causal  # type: ignore[misc]

    def _embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.within.embed(x, positions)

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        rotated: tuple[Tensor, Tensor] = self.within.rotate(q, k, positions, key_positions)
        return rotated

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor | None:
        return self.within.bias(q, k, positions, key_positions)

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return self.within.logit_scale(head_dim, n_keys)


class Bent(Wrapped):
    """A scheme with other rotations, a bias by distance, an attention temperature and a window."""

    def __init__(self, scheme: PositionScheme, change: Mapping[str, Any], layer: int = 0) -> None:
        super().__init__(scheme, layer)
        self.causal, self.change = True, change

    def for_layer(self, index: int) -> PositionScheme:
        return Bent(self.within.for_layer(index), self.change, index)

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        if self.change["frequencies"] is None:
            return super()._rotate(q, k, positions, key_positions)
        rotated = []
        for x, at in ((q, positions), (k, key_positions)):
            angles = at.double()[:, None] * torch.as_tensor(self.change["frequencies"])
            rotated.append(rotate(x.double(), angles, "interleaved").to(x) * self.change["attention_factor"])
        gains = torch.as_tensor(np.repeat(self.change["gains"], 2), dtype=q.dtype)
        return rotated[0] * gains, rotated[1]

    def open_bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        """The bias without the window."""
        distances = positions[:, None] - key_positions
        bias = super()._bias(q, k, positions, key_positions)
        bias = torch.zeros(1, *distances.shape) if bias is None else bias
        if self.change["bias"] is not None:
            bias = bias + torch.as_tensor(self.change["bias"][self.layer], dtype=q.dtype)[:, distances.clamp(min=0)]
        return bias

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor | None:
        distances = positions[:, None] - key_positions
        hidden = (distances >= self.change["window"]) & (key_positions >= self.change["sinks"])
        return self.open_bias(q, k, positions, key_positions).masked_fill(hidden, -torch.inf)

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return super()._logit_scale(head_dim, n_keys) / self.change["temperature"]


def bent_rotation(widget: Playground, base: float) -> tuple[np.ndarray, np.ndarray, float]:
    """The bent frequencies of a rotary model, the gain of each pair, and the attention factor."""
    trained, bent_base = inv_freq(HEAD_DIM, base), base * widget.base
    if widget.preset == "p_rope":
        scaled = scaling.proportional(HEAD_DIM, base=bent_base, partial_rotary_factor=widget.fraction)
    else:
        function, options = SCALINGS[widget.preset]
        factor = {} if widget.preset == "none" else {"factor": widget.factor}
        scaled = function(HEAD_DIM, base=bent_base, **factor, **options)
    words = widget.pairs.split() or ["-"] * len(trained)
    own = [word in ("-", "off") for word in words]
    given = [scaled.inv_freq[i] if own[i] else float(words[i]) * trained[i] for i in range(len(trained))]
    return np.array(given), np.array([float(word != "off") for word in words]), scaled.attention_factor


def clamp_change(widget: Playground, trained: np.ndarray, rotation: tuple[np.ndarray, np.ndarray, float]) -> np.ndarray:
    """What clamping three pairs of each layer past the trained length adds, shape (layers, heads, distances)."""
    bent, gains, factor = rotation
    products = np.array(widget._data["products"][checkpoint(widget.encoding, widget.task, widget.seed)])
    products = products[..., 0] + 1j * products[..., 1]
    changes = []
    for layer in products:
        pairs = most_negative_pairs(layer, trained, TRAINED)
        weighted = (layer * gains * factor**2 / widget.temperature)[:, pairs]
        bias = distance_bias(weighted, bent[pairs], np.arange(widget.length + WRITTEN)).sum(axis=1)
        changes.append(clamped(bias, TRAINED) - bias)
    return np.array(changes)


def models(widget: Playground) -> tuple[Transformer, Transformer]:
    """The model as trained, and as bent."""
    name = checkpoint(widget.encoding, widget.task, widget.seed)
    assert name is not None
    model, run = load(name)
    model.requires_grad_(False)
    windows = {"all": (LONGEST + WRITTEN, 0), "window": (TRAINED, 0), "sinks": (TRAINED, SINKS)}
    window, sinks = windows[widget.window]
    change = {"window": window, "sinks": sinks, "temperature": widget.temperature, "bias": None, "frequencies": None}
    scheme = model.scheme
    if widget.encoding == "learned":
        length = widget.length + WRITTEN if widget.past_end == "interpolate" else None
        scheme = with_table(model, run, widget.past_end, length).scheme
    if widget.encoding in ROTARY:
        base = run.scheme_options[1]["base"]
        rotation = bent_rotation(widget, base)
        change |= dict(zip(("frequencies", "gains", "attention_factor"), rotation, strict=True))
        if widget.clamp:
            change["bias"] = clamp_change(widget, inv_freq(HEAD_DIM, base), rotation)
    bent = with_scheme(model, make_scheme("none"))
    bent.scheme = Bent(scheme, change)
    return model, bent


def tokens_of(widget: Playground) -> Tensor:
    """What is read: a probe of repeated copy, or a text repeated to its length, shape (length,)."""
    if widget.task == "copy":
        return COPY.probe(widget.length, PROBES).tokens[0]
    text = widget.own_text if widget.text == "own" else widget._data["texts"][widget.text]
    return torch.tensor([ord(text[t % len(text)]) for t in range(widget.length)])


def binned(values: np.ndarray, size: int, length: int) -> np.ndarray:
    """Means over bins of what is there."""
    padded = np.full(length, np.nan)
    padded[: len(values)] = values
    return np.array([np.nan if np.isnan(part).all() else np.nanmean(part) for part in padded.reshape(-1, size)])


class Pass:
    """A model's pass over a text: log-probabilities, and logits and attention weights of each layer."""

    @torch.inference_mode()
    def __init__(self, model: Transformer, tokens: Tensor) -> None:
        self.tokens, self.logits, self.weights = tokens, [], []
        watched = with_scheme(model, make_scheme("none"))
        watched.scheme = Watched(model.scheme, self)
        self.log_probabilities = watched(tokens[None])[0].log_softmax(dim=-1)

    def losses(self) -> np.ndarray:
        """Nats of each token, the first NaN."""
        losses = -self.log_probabilities[:-1].gather(1, self.tokens[1:, None])[:, 0]
        return np.concatenate([[np.nan], losses.numpy()])

    def hits(self) -> np.ndarray:
        """1.0 where a token was the most likely one, else 0.0; the first NaN."""
        right = self.log_probabilities[:-1].argmax(dim=-1) == self.tokens[1:]
        return np.concatenate([[np.nan], right.numpy()])

    def mean_logits(self, layer: int, head: int) -> np.ndarray:
        """By distance, over the last queries, before any window."""
        logits, length = self.logits[layer][head].numpy(), len(self.tokens)
        start = max(length - QUERIES, 0)
        rows = [logits[t, t::-1] for t in range(start, length)]  # by distance
        padded = np.full((len(rows), length), np.nan)
        for row, values in zip(padded, rows, strict=True):
            row[: len(values)] = values
        return np.nanmean(padded, axis=0)


class Watched(Wrapped):
    """Keeps the logits and attention weights of every layer."""

    def __init__(self, scheme: PositionScheme, seen: Pass, layer: int = 0) -> None:
        super().__init__(scheme, layer)
        self.causal, self._seen = True, seen

    def for_layer(self, index: int) -> PositionScheme:
        return Watched(self.within.for_layer(index), self._seen, index)

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        rotated_q, rotated_k = super()._rotate(q, k, positions, key_positions)
        products = (rotated_q @ rotated_k.mT)[0] * self._logit_scale(q.shape[-1], k.shape[2])
        later = positions[:, None] < key_positions
        bias = self._bias(rotated_q, rotated_k, positions, key_positions)
        logits = products if bias is None else products + bias.reshape(-1, *later.shape)
        self._seen.weights.append(logits.masked_fill(later, -torch.inf).softmax(dim=-1))
        if isinstance(self.within, Bent):
            logits = products + self.within.open_bias(rotated_q, rotated_k, positions, key_positions)
        self._seen.logits.append(logits)
        return rotated_q, rotated_k


@torch.inference_mode()
def written(model: Transformer, tokens: Tensor, query: int) -> list[int]:
    """The most likely bytes, one after the other, after a position."""
    text = tokens[: query + 1]
    for _ in range(WRITTEN):
        text = torch.cat([text, model(text[None])[0, -1].argmax()[None]])
    return text[query + 1 :].tolist()


def strip(widget: Playground) -> dict[str, Any]:
    """The factor on each pair's trained frequency, and whether it is on."""
    if widget.encoding not in ROTARY:
        return {"scales": [], "gains": []}
    base = float(widget.encoding.removeprefix("rope_"))
    frequencies, gains, _ = bent_rotation(widget, base)
    return {"scales": (frequencies / inv_freq(HEAD_DIM, base)).tolist(), "gains": gains.tolist()}


def values(widget: Playground) -> dict[str, Any]:
    """What the Playground draws at a setting, but for what the models write."""
    if checkpoint(widget.encoding, widget.task) is None:
        nothing: dict[str, Any] = dict.fromkeys(
            ("losses", "trained_losses", "attention", "logits", "trained_logits"), ()
        )
        return {**strip(widget), **nothing, "next": dict.fromkeys(("bytes", "bent", "trained"), ())}
    tokens, (trained_model, bent_model) = tokens_of(widget), models(widget)
    limit = TRAINED if widget.encoding == "learned" else LONGEST
    trained, bent = Pass(trained_model, tokens[:limit]), Pass(bent_model, tokens)
    layer, head = (int(number) - 1 for number in widget.head.split("."))
    query, length = min(widget.query, widget.length - 1), widget.length
    powers = bent.log_probabilities[query].exp().numpy()
    shown = np.argsort(-powers, kind="stable")[:SHOWN]
    as_trained = trained.log_probabilities[query].exp().numpy() if query < limit else np.full(128, np.nan)
    curves = {"losses": bent.losses(), "trained_losses": trained.losses()}
    if widget.task == "copy":
        curves |= {"accuracies": bent.hits(), "trained_accuracies": trained.hits()}
        for curve in curves.values():
            curve[: COPY.period] = np.nan  # the first block has no answers
    return {
        **strip(widget),
        **{name: binned(curve, LOSS_BIN, length) for name, curve in curves.items()},
        "attention": bent.weights[layer][head, query, : query + 1].numpy(),
        "next": {"bytes": shown, "bent": powers[shown], "trained": as_trained[shown]},
        "logits": binned(bent.mean_logits(layer, head), LOGIT_BIN, length),
        "trained_logits": binned(trained.mean_logits(layer, head), LOGIT_BIN, length),
    }


def rounded(value: Any) -> Any:
    """Numbers with four decimals, for JSON."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    return np.round(np.asarray(value, float), 4).tolist()


def step_values(step: str) -> dict[str, Any]:
    """What a step of the story shows."""
    widget = Playground(**Playground.story()[step])
    found = rounded({name: value for name, value in values(widget).items() if name not in ("scales", "gains")})
    found["next"]["bytes"] = [int(byte) for byte in found["next"]["bytes"]]
    trained, bent = models(widget)
    tokens, query = tokens_of(widget), widget.query
    return found | {"trained_written": written(trained, tokens, query), "written": written(bent, tokens, query)}


def texts() -> dict[str, str]:
    """The texts by name."""
    windows = LibraryText.windows(LibraryText(), LONGEST, 40).tokens
    block = COPY.probe(LONGEST, PROBES).tokens[0, : COPY.period]
    found = {name: bytes(windows[number].tolist()).decode("ascii") for name, number in WINDOWS.items()}
    return found | {"copy": "".join(SYMBOLS[symbol] for symbol in block)}


def main() -> None:
    """Write the file."""

    def write(steps: dict[str, Any]) -> None:
        content = {"texts": texts(), "steps": steps}
        write_text(shipped_folder() / STORED, json.dumps(content, separators=(",", ":")) + "\n")

    if not (shipped_folder() / STORED).exists():
        write({})  # the steps are computed on these texts
    write({step: step_values(step) for step in Playground.story()})


if __name__ == "__main__":
    main()
