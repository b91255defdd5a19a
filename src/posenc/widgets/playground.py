"""Playground: a trained Transformer that runs in the page, with its positional encoding as the reader changes it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from posenc.lab.measured import read_json, shipped_folder, statistics
from posenc.widgets._base import Choice, Control, Explorable, Switch, Text

STORED = "playground.json"  # in `shipped_folder()`: texts, and what the story's steps show, by tools/playground.py
ROTARY = ("rope_10000", "rope_100")
SCALED = ("pi", "ntk_aware", "yarn")
UNLEARNED = ("none", "t5", "sinusoidal")  # encodings whose models have not learned repeated copy: these do not ship
SEEDED = ("rope_10000", "rope_100", "alibi")  # encodings of which two models of text ship
WORD = r"(-|off|\d*\.?\d+)"  # of a pair
LONGEST = 2048  # tokens
NOT_STORED = ("details",)  # controls on which what is stored does not depend


def checkpoint(encoding: str, task: str = "text", seed: str = "0") -> str | None:
    """The name of the model of these; of seed 0 where only that ships, None where none does."""
    names = (f"full-{task}-{encoding}-{one}" for one in (seed, "0"))
    return next((name for name in names if name in Playground.checkpoints()), None)


@cache
def _stored() -> dict[str, Any]:
    content: dict[str, Any] = read_json(shipped_folder() / STORED)
    return content


@cache
def _products(name: str) -> list[Any]:
    """E[q k̄] of every layer, head and pair of a model, as pairs of numbers."""
    content = statistics()[f"{name}/content"]
    parts: list[Any] = np.stack([content.real, content.imag], axis=-1).astype(float).round(4).tolist()
    return parts


class Playground(Explorable):
    """A trained Transformer reads a text, with its positional encoding as trained and as changed."""

    module = "playground"
    room = (728, 751)
    main = ("encoding", "preset")

    encoding = Choice("rope_10000", chips=True, options_need=dict.fromkeys(UNLEARNED, {"task": ["text"]}))
    preset = Choice("none", needs={"encoding": ROTARY}, chips=True, holds={"pairs": [""], "base": [1]})
    factor = Control(16.0, 1, 16, "log", needs={"encoding": ROTARY, "preset": SCALED})
    fraction = Control(0.5, 0, 1, "hundredths", needs={"encoding": ROTARY, "preset": ["p_rope"]})
    task = Choice("text", chips=True)
    base = Control(1.0, 0.01, 100, "log", needs={"encoding": ROTARY})
    pairs = Text("", rf"|({WORD} ){{15}}{WORD}", needs={"encoding": ROTARY}, own_control=True)
    seed = Choice("0", needs={"task": ["text"], "encoding": SEEDED}, chips=True)
    temperature = Control(1.0, 0.5, 2, "hundredths")
    clamp = Switch(False, needs={"encoding": ROTARY})
    window = Choice("all", chips=True)
    past_end = Choice("clamp", needs={"encoding": ["learned"]}, chips=True)
    details = Switch(False)
    head = Choice("2.1")
    query = Control(490, 0, LONGEST - 1, "integer")
    length = Control(LONGEST, 128, LONGEST, "powers")
    text = Choice("selectors", needs={"task": ["text"]}, chips=True)
    own_text = Text(
        "for i in range(10): print(i, i * i) ",
        rf"[\n -~]{{1,{LONGEST}}}",
        needs={"task": ["text"], "text": ["own"]},
    )

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.on_msg(self._bring)

    def _bring(self, _: Any, content: Any, buffers: Any) -> None:
        """Send the page a checkpoint that it asks for."""
        name = content.get("bring")
        if name in self.checkpoints():
            self.send({"brought": name}, [(shipped_folder() / f"{name}.safetensors").read_bytes()])

    @classmethod
    def checkpoints(cls) -> list[str]:
        """The names of the models that the page may ask for."""
        encodings = cls.catalogue["controls"]["encoding"]["options"]
        first, again = ([f"full-text-{each}-{seed}" for each in of] for seed, of in enumerate((encodings, SEEDED)))
        return [*first, *again, *(f"full-copy-{each}-0" for each in encodings if each not in UNLEARNED)]

    @classmethod
    def files(cls) -> dict[str, bytes]:
        """The checkpoints that the page may ask for, by name."""
        return {name: (shipped_folder() / f"{name}.safetensors").read_bytes() for name in cls.checkpoints()}

    @classmethod
    def data(cls) -> dict[str, Any]:
        """The models, E[q k̄] of the rotary ones, what they read, and what the steps of the story show."""
        stored, story, models = _stored(), cls.story(), cls.checkpoints()
        steps = [
            {
                "setting": {name: value for name, value in story[step].items() if name not in NOT_STORED},
                "values": values,
            }
            for step, values in stored["steps"].items()
        ]
        products = {name: _products(name) for name in models if "rope" in name}
        return {"models": models, "texts": stored["texts"], "products": products, "stored": steps}
