"""What OrderBlindness draws, by the package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posenc.absolute import relative_positions, sinusoidal
from posenc.attention import Attention, attention
from posenc.bias import alibi, alibi_slopes
from posenc.frequencies import angles, inv_freq
from posenc.rotary import rotate
from posenc.widgets import OrderBlindness
from posenc.widgets._base import normal_draws
from posenc.widgets.order_blindness import WORDS

DIM = 4  # so narrow that every number of an output can be written out


def _eased(share: float) -> float:
    """A share of a way, slow at both ends: as js/motion.js has it."""
    return share * share * (3 - 2 * share)


def _order(widget: OrderBlindness) -> list[int]:
    """The word that stands at each place: `order` without places the sentence lacks, then those it leaves out."""
    given = [place for place in map(int, widget.order) if place < len(widget.sentence.split())]
    return [*given, *(place for place in range(len(widget.sentence.split())) if place not in given)]


def _attend(widget: OrderBlindness, order: Sequence[int]) -> Attention:
    """The last layer's attention over the words in this order."""
    words = widget.sentence.split()
    vocabulary = list(dict.fromkeys(words))
    draws = normal_draws(widget.seed, WORDS * DIM + 2 * 3 * DIM * DIM)
    embeddings = draws[: WORDS * DIM].reshape(WORDS, DIM)
    projections = draws[WORDS * DIM :].reshape(2, 3, DIM, DIM) / np.sqrt(DIM)  # (layer, q k v, in, out)
    positions = np.arange(len(words))
    turned = angles(positions, inv_freq(DIM))
    bias = None
    x = embeddings[[vocabulary.index(words[i]) for i in order]]  # (words, dim)
    if widget.scheme == "sinusoidal":
        x = x + sinusoidal(positions, DIM)
    elif widget.scheme == "alibi":
        bias = alibi(relative_positions(positions, positions), alibi_slopes(8)[:1], symmetric=not widget.causal)[0]
    for layer in projections[: int(widget.layers)]:
        q, k, v = (x @ projection for projection in layer)
        if widget.scheme == "rope":
            q, k = rotate(q, turned, "interleaved"), rotate(k, turned, "interleaved")
        attended = attention(q, k, v, causal=widget.causal, bias=bias)
        x = x + attended.output
    return attended


def values(widget: OrderBlindness) -> dict[str, Any]:
    """Words, weights and outputs by place, before and after; largest changes by word, by word pair and in all.

    `last_change` is None where the last token has become another word, `repeat_change` where no word is repeated.
    """
    words, order = widget.sentence.split(), _order(widget)
    moved_words = [words[i] for i in order]
    before, after = _attend(widget, range(len(words))), _attend(widget, order)
    place = np.argsort(order)  # where each word stands afterwards
    rows, columns = (_eased(share) for share in (min(widget.progress, 1), max(widget.progress - 1, 0)))
    here = np.arange(len(words))
    repeats = [[i for i, other in enumerate(moved_words) if other == word] for word in dict.fromkeys(words)]
    repeats = [places for places in repeats if len(places) > 1]
    same_last = moved_words[-1] == words[-1]
    return {
        "words": words,
        "moved_words": moved_words,
        "rows": here + (place - here) * rows,  # where each word's row is drawn
        "columns": here + (place - here) * columns,
        "weights": before.weights,
        "moved_weights": after.weights,
        "outputs": before.output,
        "moved_outputs": after.output,
        "output_change": np.abs(after.output[place] - before.output).max(axis=-1),
        "weight_change": np.abs(after.weights[np.ix_(place, place)] - before.weights),
        "mean_change": float(np.abs(after.output.mean(axis=0) - before.output.mean(axis=0)).max()),
        "last_change": float(np.abs(after.output[-1] - before.output[-1]).max()) if same_last else None,
        "repeat_change": max((float(np.ptp(after.output[p], axis=0).max()) for p in repeats), default=None),
    }
