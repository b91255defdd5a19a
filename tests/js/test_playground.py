"""Playground beyond the battery: what is stored, what streams, what models write, and a model that is on its way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from traitlets import TraitError

from book._site.outputs.assets import SITE
from posenc.frequencies import inv_freq
from posenc.lab.benchmarks import PROBES
from posenc.lab.corpus import IGNORED
from posenc.lab.measured import results, shipped_folder
from posenc.widgets import Playground
from posenc.widgets.playground import LONGEST, checkpoint
from tests.explorables import shown
from tests.js.node import ThrownError, assert_same, figure_of
from tools import playground

pytestmark = pytest.mark.torch
ROOT = SITE.parents[1]
FILE = 'new Uint8Array(process.getBuiltinModule("fs").readFileSync(`${x.files}/${name}.safetensors`)).buffer'


@pytest.fixture
def session(module_of: Any) -> Any:
    """What js/playground_session.js exports."""
    return module_of("playground_session.js")


def asked(**setting: object) -> dict[str, Any]:
    """What a session is asked for, for Node."""
    widget = Playground(**setting)
    text = widget.own_text if widget.text == "own" else widget._data["texts"][widget.text]
    state, name = widget.setting(), checkpoint(widget.encoding, widget.task, widget.seed)
    return {"files": str(shipped_folder()), "state": state, "text": text, "name": name}


@pytest.mark.parametrize("length", [128, LONGEST])
def test_repeated_copy_is_the_first_probe_of_the_benchmark(session, length):
    block = Playground.data()["texts"]["copy"]
    assert len(block) == playground.COPY.period == playground.LOSS_BIN
    tokens = session("A.tokensOf(x.block, x.length, { task: 'copy' })", {"block": block, "length": length})
    probe = playground.COPY.probe(length, PROBES)
    np.testing.assert_array_equal(tokens, probe.tokens[0])
    assert (np.asarray(probe.targets[0]) == IGNORED).tolist() == [t + 1 < len(block) for t in range(length)]
    letters = session("x.map((token) => A.letterOf(token, { task: 'copy' })).join('')", list(range(64)))
    assert letters == playground.SYMBOLS


def test_models_that_learned_repeated_copy_are_those_on_offer():
    """Accuracy on repeated copy at the trained length, of each encoding's run."""
    for encoding in Playground.catalogue["controls"]["encoding"]["options"]:
        found = results().select(run=f"full-copy-{encoding}-0", kind="plain", probe="copy", length=128)
        accuracy = {one["accuracy"] for one in found}
        assert min(accuracy) > 0.8 or max(accuracy) < 0.1
        assert (checkpoint(encoding, "copy") is None) == (max(accuracy) < 0.1), encoding


def test_what_is_stored_is_what_the_page_computes():
    setting = Playground.story()["clamp"]
    stored = shown(Playground, **setting).values
    live = figure_of(Playground).at(setting, data={**Playground.data(), "stored": Playground.data()["stored"][:1]})
    trained = ("trained_losses", "trained_logits", "trained_written")
    names = [name for name in stored if name not in trained]
    assert_same({n: live["values"][n] for n in names}, {n: stored[n] for n in names}, "clamp", 2e-3)


@pytest.mark.parametrize(
    "setting",
    [
        {"length": 256, "query": 140, "preset": "yarn", "factor": 2.0},
        {"length": 128, "query": 127, "encoding": "alibi", "temperature": 0.7, "text": "random"},
        {"length": 128, "query": 60, "encoding": "learned", "past_end": "interpolate"},
        {"length": 256, "query": 130, "task": "copy", "preset": "pi"},
    ],
)
def test_it_writes_the_most_likely_bytes(setting):
    widget = Playground(**setting)
    values = shown(Playground, **setting).values
    trained, bent = playground.models(widget)
    for model, written in ((trained, values["trained_written"]), (bent, values["written"])):
        if written is None or (widget.encoding == "learned" and model is trained):
            assert written is None
            continue
        text = torch.tensor([*playground.tokens_of(widget)[: widget.query + 1].tolist(), *map(int, written)])
        assert len(written) == playground.WRITTEN
        with torch.inference_mode():
            powers = model(text[None])[0, widget.query : -1].log_softmax(dim=-1)
        chosen = powers.gather(1, text[widget.query + 1 :, None])[:, 0]
        np.testing.assert_allclose(chosen, powers.max(dim=-1).values, atol=1e-3, rtol=0)


def test_text_is_read_as_bytes_and_repeated(session):
    tokens = session("A.tokensOf(x, 8, { task: 'text' })", "a~\n")
    assert list(tokens) == [97, 126, 10, 97, 126, 10, 97, 126]
    with pytest.raises(TraitError, match="one to 2 048 ASCII characters, got 'λ'"):
        Playground(own_text="λ")


PYTHON = f"""(() => {{
  const file = (name) => {FILE}, {{ compute, blocks }} = A.definition;
  const result = compute(x.state, 702, null, x.data, () => file(x.name));
  while (result.complete && !result.complete(Infinity)) void 0;
  return blocks(result, x.state).at(-1).text;
}})()"""


@pytest.mark.parametrize(
    "setting",
    [
        {"preset": "yarn", "factor": 2.0},
        {"preset": "p_rope", "fraction": 0.25, "encoding": "rope_100"},
        {"encoding": "t5", "seed": "1", "text": "own", "own_text": "x = y + 1; "},
        {"encoding": "learned"},
        {"encoding": "learned", "past_end": "interpolate"},
        {"task": "copy", "encoding": "alibi"},
        {"task": "copy", "preset": "ntk_aware", "factor": 2.0},
    ],
)
def test_its_python_gives_what_it_shows(setting):
    """The last block's code, run as it is."""
    setting = {"length": 256, "query": 200} | setting
    asking = asked(**setting)
    code = figure_of(Playground)._exports(PYTHON, asking | {"data": Playground()._data})
    found: dict[str, Any] = {"text": (256 * asking["text"])[:256]}
    exec(code, found)
    assert len(code.splitlines()) <= 6
    losses = -found["log_probabilities"][0, :-1].gather(1, found["tokens"][1:, None])[:, 0].detach().numpy()
    losses = playground.binned(np.concatenate([[np.nan], losses]), playground.LOSS_BIN, 256)
    expected = shown(Playground, **setting).values["losses"]
    seen = np.isfinite(expected)
    assert seen.sum() >= 7
    np.testing.assert_allclose(expected[seen], losses[seen], atol=1e-3)


def test_the_model_is_asked_for_only_when_something_is_bent():
    figure = figure_of(Playground)
    assert figure.at({}, files=None)["finding"] == shown(Playground).finding
    with pytest.raises(ThrownError, match="bring is not a function"):
        figure.at({"temperature": 0.9}, files=None)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({}, 10),
        ({"length": 128}, 0),
        ({"window": "window"}, 0),
        ({"length": 512, "encoding": "rope_100", "preset": "yarn", "factor": 8.0}, None),
        ({"length": 512, "pairs": "- " * 6 + "off 0.0625 " + "- " * 7 + "2"}, 8),
    ],
)
def test_pairs_that_reach_unseen_angles_are_counted(setting, expected):
    widget, unseen = Playground(**setting), shown(Playground, **setting).facts["unseen"]
    base = float(widget.encoding.removeprefix("rope_"))
    trained, (bent, gains, _) = inv_freq(playground.HEAD_DIM, base), playground.bent_rotation(widget, base)
    reach = playground.TRAINED if widget.window == "window" else widget.length
    slow, farther = playground.TRAINED * trained < math.tau, reach * bent > playground.TRAINED * trained * (1 + 1e-6)
    assert unseen == (slow & farther & (gains > 0)).sum()
    assert expected in (None, unseen)


@pytest.mark.parametrize(
    ("setting", "pair"),
    [
        ({}, 6),
        ({"encoding": "rope_100"}, 11),
        ({"preset": "pi"}, 0),
        ({"pairs": "- " * 3 + "0.5 " * 12 + "0.5"}, 3),
        ({"pairs": "- " * 3 + "0.5 " * 5 + "off " + "0.5 " * 6 + "0.5"}, 3),
    ],
)
def test_the_grip_is_on_the_bar_that_was_dragged_or_is_to_be(setting, pair):
    asking = {"state": Playground(**setting).setting(), "data": Playground()._data}
    held = "A.definition.compute(x.state, 702, null, x.data, () => null).held"
    assert figure_of(Playground)._exports(held, asking) == pair


@pytest.mark.release  # seconds
def test_the_page_about_it_tells_what_it_shows():
    """The numbers of book/playground.md."""
    page = (ROOT / "book" / "playground.md").read_text(encoding="utf-8")

    def far(**setting: object) -> float:
        return float(shown(Playground, **setting).facts["far"])

    def pairs(word: str, of: range) -> str:
        return " ".join(word if pair in of else "-" for pair in range(16))

    opening = shown(Playground).facts
    without_first = shown(Playground, length=256, pairs=pairs("off", range(1))).facts["within"]
    assert f"from {opening['within']:.2f} to {without_first:.2f} nats per byte" in page
    slow = far(pairs=pairs("0.0625", range(6, 16)))
    assert f"falls from {opening['far']:.2f} to {slow:.2f}, which is about two thirds of what YaRN gains" in page
    assert abs((opening["far"] - slow) / (opening["far"] - far(preset="yarn")) - 2 / 3) < 0.03
    assert f"the loss at the end is {far(window='window'):.2f}, less than with YaRN" in page
    assert max(far(window="window", seed=seed) - far(preset="yarn", seed=seed) for seed in "01") < -1
    assert far(window="sinks") > far(window="window") + 0.2

    def copied(**setting: object) -> tuple[str, str]:
        facts = shown(Playground, task="copy", **setting).facts
        return f"{facts['right_within']:.0f} %", f"{facts['right_far']:.0f} %"

    assert "RoPE copies {} of the symbols within L, and {} of the last 512".format(*copied()) in page
    assert f"Clamping the learned bias changes little ({copied(clamp=True)[1]})" in page
    assert f"temperature of 0.8, which sharpens all attention, helps more ({copied(temperature=0.8)[1]})" in page
    assert f"With YaRN it is {copied(preset='yarn')[1]}" in page
    ends = [[far(seed=seed, clamp=clamp) for clamp in (False, True)] for seed in "01"]
    assert "falls from {:.2f} to {:.2f}, and with seed 1 from {:.2f} to {:.2f}".format(*ends[0], *ends[1]) in page


def test_the_kernel_sends_checkpoints_and_nothing_else(monkeypatch):
    widget, sent = Playground(), []
    monkeypatch.setattr(widget, "send", lambda content, buffers: sent.append((content, buffers)))
    widget._handle_custom_msg({"bring": "../../etc/passwd"}, [])
    widget._handle_custom_msg({"bring": checkpoint("t5")}, [])
    assert sent == [({"brought": checkpoint("t5")}, [Playground.files()[checkpoint("t5")]])]
