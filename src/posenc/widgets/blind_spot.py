"""BlindSpot: what attention notices when words change places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from posenc._numbers import fixed
from posenc.absolute import relative_positions, sinusoidal
from posenc.attention import Attention, attention
from posenc.bias import alibi, alibi_slopes
from posenc.frequencies import angles, inv_freq
from posenc.rotary import rotate
from posenc.widgets._base import Choice, Control, Explorable, Switch, Text, normal_draws

DIM = 4  # so narrow that every number of an output can be written out
WORDS = 6  # in the longest sentence
EQUAL = 1e-12  # rounding errors in float64 stay below
SENTENCES = {
    "dog bites man": "dog bites man",
    "我 爱 你": "我爱你 (I love you)",
    "the cat sat on the mat": "the cat sat on the mat",
    "from Beijing to Shanghai": "from Beijing to Shanghai",
    "屡 败 屡 战": "屡败屡战 (beaten again and again, fighting on)",
    "the the the the the": "the the the the the (equal words only)",
    "BOS the the the the": "BOS the the the the (a first token of its own)",
}


def _amount(change: float) -> str:
    """A change in words, which rounding errors do not reach."""
    return "less than 0.001" if change < 0.001 else f"up to {fixed(change, 3)}"


class BlindSpot(Explorable):
    """A sentence before and after its words change places: attention weights, outputs, and which of them are equal.

    Embeddings and projections are random draws, 4 wide; a second layer reads the embeddings plus the first one's
    outputs. Weights and outputs shown are those of the last layer. Words are matched by identity, not by place.
    """

    module = "blind_spot"
    height = 690
    main = ("order",)

    sentence = Choice("dog bites man")
    order = Text("210", rf"(?!.*(.).*\1)[0-{WORDS - 1}]{{0,{WORDS}}}", own_control=True)
    scheme = Choice("none")
    layers = Choice("1")
    causal = Switch(False)
    seed = Control(0, 0, 999, "whole")

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
                q, k = rotate(q, turned), rotate(k, turned)
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
        repeats = [[i for i, other in enumerate(moved_words) if other == word] for word in dict.fromkeys(words)]
        repeats = [places for places in repeats if len(places) > 1]
        same_last = moved_words[-1] == words[-1]
        return {
            "words": words,
            "moved_words": moved_words,
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

    def finding(self) -> str:
        values = self.values()
        words, moved_words, order = values["words"], values["moved_words"], self._order()
        between = " " if self.sentence.isascii() else ""
        sentences = f"“{between.join(words)}” from “{between.join(moved_words)}”"
        changed, count = int(np.sum(values["output_change"] > EQUAL)), len(words)
        output_change, weight_change = values["output_change"].max(), values["weight_change"].max()
        parts = []
        if order == sorted(order):
            parts.append("The words stand as they were written. Move one, and see what moves with it.")
        elif changed == 0 and weight_change <= EQUAL:
            parts.append(
                "Each output moved with its word and each attention weight with its word pair, equal to 10⁻¹²."
            )
        elif changed == 0:
            parts.append(
                "Each output moved with its word, equal to 10⁻¹², though attention weights of word pairs changed "
                f"by {_amount(weight_change)}."
            )
        else:
            parts.append(
                f"{changed} of {count} outputs changed as the words moved, by {_amount(output_change)}, "
                f"and attention weights of word pairs by {_amount(weight_change)}."
            )
        if self.scheme == "alibi" and not self.causal and changed == 0 and order == sorted(order, reverse=True):
            parts.append("ALiBi sees distances, and a sentence read backwards keeps them all.")
        if words == moved_words:
            if order != sorted(order):
                parts.append("Only equal words changed places: the sentence is the same.")
        elif not self.causal and values["mean_change"] <= EQUAL:
            parts.append(f"The mean of the outputs is equal to 10⁻¹²: it cannot tell {sentences}.")
        elif not self.causal:
            parts.append(f"The mean of the outputs changed by {_amount(values['mean_change'])}: it tells {sentences}.")
        elif values["last_change"] is None:
            parts.append(
                "The last token is another word now: leave it in place to see what it knows of the others' order."
            )
        elif values["last_change"] <= EQUAL:
            parts.append(
                f"The last token, “{words[-1]}”, got the same output to 10⁻¹²: it cannot tell the order of the words "
                "before it."
            )
        else:
            parts.append(
                f"The last token, “{words[-1]}”, got another output, by {_amount(values['last_change'])}: it can "
                "tell the order of the words before it."
            )
        repeated, times = Counter(words).most_common(1)[0]
        if times > 1:
            equal = values["repeat_change"] <= EQUAL
            how = "equal to 10⁻¹²" if equal else f"{_amount(values['repeat_change'])} apart"
            parts.append(f"The {times} outputs of “{repeated}” are {how}.")
        return " ".join(parts)
