"""BlindSpot: what attention notices when words are permuted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from posenc.absolute import relative_positions, sinusoidal
from posenc.attention import Attention, attention
from posenc.bias import alibi, alibi_slopes
from posenc.frequencies import angles, inv_freq
from posenc.rotary import rotate
from posenc.widgets._base import Choice, Control, Explorable, Switch, Text, normal_draws

DIM = 4  # so narrow that every number of an output can be written out
WORDS = 6  # in the longest sentence
EQUAL = 1e-12  # rounding errors in float64 stay below


def _eased(share: float) -> float:
    """A share of a way, slow at both ends: as js/motion.js has it."""
    return share * share * (3 - 2 * share)


class BlindSpot(Explorable):
    """A sentence before and after its words change places: attention weights, outputs, and which of them are the same.

    Embeddings and projections are random draws, 4 wide; a second layer reads the embeddings plus the first one's
    outputs. Weights and outputs shown are those of the last layer. Words are matched by identity, not by place. On the
    `way` to the new order the matrix as it was moves: from 0 to 1 its rows, from 1 to 2 its columns.
    """

    module = "blind_spot"
    room = (759, 1046)
    main = ("order", "scheme")

    sentence = Choice("dog bites man")
    order = Text("210", rf"(?!.*(.).*\1)[0-{WORDS - 1}]{{0,{WORDS}}}", own_control=True)
    scheme = Choice("none", chips=True)
    layers = Choice("1")
    causal = Switch(False)
    seed = Control(0, 0, 999, "integer")
    way = Control(2, 0, 2, "hundredths")

    def _order(self) -> list[int]:
        """The word that stands at each place: `order` without places the sentence lacks, then those it leaves out."""
        given = [place for place in map(int, self.order) if place < len(self.sentence.split())]
        return [*given, *(place for place in range(len(self.sentence.split())) if place not in given)]

    def _attend(self, order: Sequence[int]) -> Attention:
        """The last layer's attention over the words in this order."""
        words = self.sentence.split()
        vocabulary = list(dict.fromkeys(words))
        draws = normal_draws(self.seed, WORDS * DIM + 2 * 3 * DIM * DIM)
        embeddings = draws[: WORDS * DIM].reshape(WORDS, DIM)
        projections = draws[WORDS * DIM :].reshape(2, 3, DIM, DIM) / np.sqrt(DIM)  # (layer, q k v, in, out)
        positions = np.arange(len(words))
        turned = angles(positions, inv_freq(DIM))
        bias = None
        x = embeddings[[vocabulary.index(words[i]) for i in order]]  # (words, dim)
        if self.scheme == "sinusoidal":
            x = x + sinusoidal(positions, DIM)
        elif self.scheme == "alibi":
            bias = alibi(relative_positions(positions, positions), alibi_slopes(8)[:1], symmetric=not self.causal)[0]
        for layer in projections[: int(self.layers)]:
            q, k, v = (x @ projection for projection in layer)
            if self.scheme == "rope":
                q, k = rotate(q, turned, "interleaved"), rotate(k, turned, "interleaved")
            attended = attention(q, k, v, causal=self.causal, bias=bias)
            x = x + attended.output
        return attended

    def values(self) -> dict[str, Any]:
        """Words, weights and outputs by place, before and after; largest changes by word, by word pair and in all.

        `last_change` is None where the last token has become another word, `repeat_change` where no word is repeated.
        """
        words, order = self.sentence.split(), self._order()
        moved_words = [words[i] for i in order]
        before, after = self._attend(range(len(words))), self._attend(order)
        place = np.argsort(order)  # where each word stands afterwards
        rows, columns = (_eased(share) for share in (min(self.way, 1), max(self.way - 1, 0)))
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

    def facts(self) -> dict[str, Any]:
        values, order = self.values(), self._order()
        words, moved_words, count = values["words"], values["moved_words"], len(order)
        between = " " if self.sentence.isascii() else ""
        changed, weights = int(np.sum(values["output_change"] > EQUAL)), float(np.max(values["weight_change"]))
        repeated, times = Counter(words).most_common(1)[0]
        backwards = order == sorted(order, reverse=True)
        last, repeats = values["last_change"], values["repeat_change"]
        return {
            "as_written": between.join(words),
            "as_moved": between.join(moved_words),
            "count": count,
            "changed": changed,
            "weights": weights,
            "weights_same": weights <= EQUAL,
            "outputs": float(np.max(values["output_change"])),
            "written": order == sorted(order),
            "same_words": words == moved_words,
            "keeps_distances": self.scheme == "alibi" and not self.causal and changed == 0 and backwards,
            "mean": values["mean_change"],
            "mean_same": values["mean_change"] <= EQUAL,
            "last_word": words[-1],
            "last": last,
            "last_kept": last is not None,
            "last_same": last is not None and last <= EQUAL,
            "repeated": repeated if times > 1 else None,
            "times": times,
            "repeats": repeats,
            "repeats_same": repeats is not None and repeats <= EQUAL,
        }
