"""Arithmetic of blind_spot in JavaScript, compared with the package."""

from __future__ import annotations

from itertools import product

from posenc.widgets import BlindSpot
from posenc.widgets.blind_spot import DIM, WORDS
from tests.js.node import assert_same
from tests.unit.test_widgets_blind_spot import SENTENCES

SCHEMES = ("none", "sinusoidal", "rope", "alibi")


def test_attention_equals_python(arithmetic):
    tried = [
        BlindSpot(sentence=sentence, scheme=scheme, causal=causal, layers=layers, seed=seed)
        for sentence, scheme, causal, layers, seed in product(
            SENTENCES, SCHEMES, (False, True), ("1", "2"), (0, 1, 500, 999)
        )
    ]
    drawn = arithmetic(
        """x.settings.map(({ sentence, scheme, causal, layers, seed }) => {
          const { embeddings, projections } = A.drawnWeights(seed, x.words, x.dim, 2);
          const list = sentence.split(" "), vocabulary = [...new Set(list)];
          const rows = list.map((word) => embeddings[vocabulary.indexOf(word)]);
          const { weights, output } = A.attentionLayers(rows, projections.slice(0, Number(layers)), { scheme, causal });
          return { weights, output };
        })""",
        {"settings": [widget.setting() for widget in tried], "words": WORDS, "dim": DIM},
    )
    for widget, got in zip(tried, drawn, strict=True):
        values = widget.values()
        assert_same(got, {"weights": values["weights"], "output": values["outputs"]}, repr(widget))
