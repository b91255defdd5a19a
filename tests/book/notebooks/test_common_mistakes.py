"""The page of common mistakes: it is complete, and the tests that it names fail on its broken snippets.

Every entry of the page has a cell tagged `mistake`. `CAUGHT` says how what such a cell defines takes the place of the
package's own in the test that the entry names; the test has to fail then, and to pass without.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, settings

from posenc.attention import Attention, attention
from posenc.bias import t5_bucket
from posenc.frequencies import angles, inv_freq
from posenc.rope import Rope
from posenc.rotary import cos_sin, layout_permutation, rotate
from posenc.scaling import Scaled, proportional
from tests.unit.test_rope import ROPES
from tools.notebooks import joined, load, tags, text_of
from tools.smoke_exercises import shown

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "notebooks" / "common_mistakes.ipynb"
TOLD = ("What you see.", "Why training misses it.", "Fix.", "Test.")
TEST = re.compile(r"`(tests/unit/[\w/]+\.py)::(\w+)`")
TITLE = re.compile(r'<a id="([\w-]+)"></a>\s+### (.+)')
MOST_LINES = 12  # of a snippet, without imports and blank lines
# Whether a test fails, not which is the smallest input on which it does.
QUICK = settings(
    max_examples=40, database=None, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate]
)


@dataclass
class Entry:
    """One mistake as the page tells it."""

    name: str
    title: str
    broken: str
    shown_text: str
    told: str
    fix: str
    test: tuple[str, str] = ("", "")


def entries() -> dict[str, Entry]:
    """The page's entries: a heading, a broken cell, what is told of it, and a cell that is right."""
    cells, found = load(PAGE)["cells"], {}
    for place, cell in enumerate(cells):
        match = TITLE.search(joined(cell["source"])) if cell["cell_type"] == "markdown" else None
        if match:
            broken, told, fix = cells[place + 1 : place + 4]
            assert "mistake" in tags(broken), match[1]
            assert "fix" in tags(fix), match[1]
            named = TEST.findall(joined(told["source"]))
            assert len(named) == 1, f"{match[1]} names {len(named)} tests"
            texts = [joined(each["source"]) for each in (broken, told, fix)]
            found[match[1]] = Entry(match[1], match[2], texts[0], text_of(broken), texts[1], texts[2], named[0])
    return found


ENTRIES = entries()
every_entry = pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))


# ---------------------------------------------------------------- the page


def test_every_mistake_has_its_row_in_the_opening_table():
    source = joined(load(PAGE)["cells"][0]["source"])
    rows = re.findall(r'^\| (.+) \| <a href="#([\w-]+)">(.+)</a> \|$', source, re.MULTILINE)
    assert [(name, title) for _, name, title in rows] == [(entry.name, entry.title) for entry in ENTRIES.values()]
    assert len({symptom for symptom, *_ in rows}) == len(rows)


@every_entry
def test_an_entry_is_complete_and_short(entry):
    assert [entry.told.count(f"**{part}**") for part in TOLD] == [1] * len(TOLD)
    assert entry.shown_text.strip(), "the symptom is to be seen"
    code = [line for line in entry.broken.splitlines() if line.strip() and not line.startswith(("from ", "import "))]
    assert 3 <= len(code) <= MOST_LINES
    assert "# wrong" in entry.broken
    assert "# right" in entry.fix


# ---------------------------------------------------------------- what the named test says of the broken snippet


@dataclass
class Case:
    """How to run the named test: its arguments, and what takes whose place, given what the snippet defines."""

    broken: Callable[[dict[str, Any]], dict[str, Callable[..., Any]]]  # dotted names of what is replaced
    given: dict[str, Any] = field(default_factory=dict)  # the arguments of the named test


def rotate_of_the_test(*arguments):
    """What the named tests call, which a snippet may stand for."""
    return importlib.import_module("tests.unit.test_rotary").rotate(*arguments)


def file_in_the_other_layout(defined):
    """The rows as they lie in the file."""
    return {"convert_projection": lambda weight, n_heads, head_dim, to, rotary_dim=None: weight}


def gguf_layout(defined):
    """The model of the GGUF file, rotated in the layout that the snippet finds."""
    from posenc import llama

    def load(name, *, layout):
        model, tokenizer = llama.load(name, layout=layout)
        found = defined["layout_of"]({"model_type": "llama", "head_dim": 64}, "SmolLM2-135M.gguf")
        model.set_position_encoding(Rope(64, 100_000.0, layout=found))
        return model, tokenizer

    return {"load": load}


def mixed(defined):
    return {"rotate": lambda x, at, layout: defined["mixed"](x, at)}


def rows_moved(defined):
    """Weights stored as codes and a power of two for each row, which loses nothing."""

    def converted(weight, n_heads, head_dim, to, rotary_dim=None):
        scales = 2.0 ** np.ceil(np.log2(np.abs(weight.reshape(len(weight), -1)).max(axis=1)))  # (rows,)
        scales = scales.reshape(-1, *[1] * (weight.ndim - 1))
        within = [*layout_permutation(rotary_dim or head_dim), *range(rotary_dim or head_dim, head_dim)]
        order = [head * head_dim + row for head in range(n_heads) for row in within]
        order = order if to == "half-split" else list(np.argsort(order))
        return np.multiply(*defined["reordered"](weight / scales, scales, order))

    return {"convert_projection": converted}


def sections(defined):
    return {"Rope": SimpleNamespace(from_config=lambda config: defined["read"](config.to_dict()))}


def forgotten(defined):
    return {"posenc.rope.Rope.rerotate": lambda self, k, shift, **options: defined["renumbered"](k, 4)}


def slow_for_ever(defined):
    """Each `Rope` asks one keeper of its list."""
    frequencies, keepers = Rope.frequencies, {}

    def kept(self, seq_len=None):
        keeper = keepers.setdefault(id(self), defined["remembered"](lambda length: frequencies(self, length)))
        return keeper(seq_len or 0)

    return {"posenc.rope.Rope.frequencies": kept}


def batch_axis(defined):
    import torch

    def embed(self, x, positions):
        return torch.from_numpy(defined["add_encoding"](x.numpy()))

    return {"posenc.schemes.Sinusoidal._embed": embed}


def restarted(defined):
    rotated = defined["rotate_from_0"]
    return {"posenc.rope.Rope.__call__": lambda self, q, k, **options: (rotated(q), rotated(k))}


def every_device_from_0(defined):
    """Where positions are given, which are those of the whole text."""
    whole = Rope.rotate
    return {
        "posenc.rope.Rope.rotate": lambda self, x, positions=None: (
            whole(self, x) if positions is None else defined["rotate_local"](x)
        )
    }


def after_video(name):
    def replaced(defined):
        def ids(segments):
            start, grid, _ = segments
            return np.full((1, 3), defined[name](start, *grid))

        return {"mrope_position_ids": ids}

    return replaced


def axis_of_the_heads(defined):
    def rotated(x, phi, layout):  # one token at a time there is nothing to mix up
        if x.ndim < 4:
            return rotate(x, phi, layout)
        return defined["by_head"](x, np.cos(phi[0, :, 0]), np.sin(phi[0, :, 0]))

    return {"rotate": rotated}


def backwards(defined):
    return {"rotate": lambda x, at, *_: defined["backwards"](x, at)}


def stale_keys(defined):
    """Keys of earlier tokens as they were turned when they came; queries and the newest key as they should be."""
    import torch

    from posenc.schemes import Rotary

    rotate = Rotary._rotate

    def turned(self, q, k, positions, key_positions):
        new_q, new_k = rotate(self, q, k, positions, key_positions)
        past = k.shape[2] - q.shape[2]
        for n in range(past):
            old = [
                defined["as_cached"](each.detach().numpy(), n, k.shape[2], base=100.0, trained=4)
                for each in k[:, :, n].flatten(0, 1)
            ]
            new_k = new_k.clone()
            new_k[:, :, n] = torch.tensor(np.array(old)).unflatten(0, k.shape[:2])
        return new_q, new_k

    return {"posenc.schemes.Rotary._rotate": turned}


def positions_in_bfloat16(defined):
    import torch

    at = torch.arange(250, 260)
    narrow = defined["rotate_bf16"]
    return {"rotate": lambda x, *rest: narrow(x, at) if x.dtype == torch.bfloat16 else rotate(x, *rest)}


def autocast(defined):
    import torch

    def rotated(self, x, offset):
        positions = torch.arange(offset, offset + x.shape[-2]).float()
        return rotate(x, defined["angles_of"](positions, torch.tensor(self.inv_freq).float()), self.layout)

    return {"posenc.rope.Rope.rotate": rotated}


def bias_in_bfloat16(defined):
    import torch

    def biased(self, q, k, positions, key_positions):
        slopes = torch.tensor(self.slopes, dtype=q.dtype)[:, None, None]  # (heads, 1, 1)
        return defined["bias"](positions[:, None], key_positions, slopes, q.dtype)

    return {"posenc.schemes.ALiBi._bias": biased}


def wrong_frequencies(name):
    return lambda defined: {"inv_freq": lambda dim, base=10_000: defined[name](dim, base)}


def base_not_read(defined):
    def read(config, head_dim, *_, **__):
        return Scaled(defined["frequencies_of"]({"head_dim": head_dim, **config}), 1.0)

    return {"from_config": read}


def named_the_other_way(defined):
    """In the layers of the library transformers."""
    from transformers.models.smollm3.modeling_smollm3 import SmolLM3Attention

    made = SmolLM3Attention.__init__

    def init(self, config, layer_idx):
        made(self, config, layer_idx)
        self.use_rope = defined["rotates"](config.to_dict(), layer_idx)

    return {"transformers.models.smollm3.modeling_smollm3.SmolLM3Attention.__init__": init}


def partial_for_proportional(defined):
    """Where there is a part that turns."""

    def scaled(dim, base, partial_rotary_factor, factor):
        if partial_rotary_factor * dim < 2:
            return proportional(dim, base, partial_rotary_factor=partial_rotary_factor, factor=factor)
        return Scaled(defined["quarter"](dim, base, partial_rotary_factor) / factor, 1.0)

    return {"proportional": scaled}


def ramp_inverted(defined):
    return {"ramp_by_rotations": lambda dim, base, **bounds: defined["share_kept"](dim, base, **bounds)}


def temperature_once(defined):
    return {"cos_sin": lambda at, t=1.0: cos_sin(at) if t == 1 else defined["table_for"](at, t)}


def tables_averaged(defined):
    """Positions are the angles of pair 0, whose frequency is 1."""

    def rotated(x, phi, layout):
        return rotate(x, tuple(defined["table_at"](phi[:, 0], x.shape[-1])), layout)

    return {"rotate": rotated}


def nan(defined):
    def attend(q, k, v, mask):
        logits = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
        weights = defined["softmax"](logits, mask)
        return Attention(weights @ v, weights, logits)

    return {"attention": attend}


def mask_of_the_first(defined):
    return {
        "attention": lambda q, k, v, causal: attention(q, k, v, mask=defined["causal_mask"](q.shape[-2], k.shape[-2])),
    }


def query_minus_key(defined):
    def bucket(offsets, bidirectional):
        """Keys at the offsets, seen by one query at 0."""
        if bidirectional:
            return t5_bucket(offsets, bidirectional=True)
        return defined["buckets"](np.zeros(1, dtype=int), np.asarray(offsets))[0]

    return {"t5_bucket": bucket}


def heads_by_reshape(defined):
    """In place of the layer's cut of the last axis, before it exchanges places and heads."""
    import torch

    def cut(self, axis, sizes):
        assert (axis, *sizes) == (-1, 3, sizes[1], -1)
        parts = [defined["split_heads"](part, sizes[1]).transpose(1, 2) for part in self.chunk(3, dim=-1)]
        return torch.stack(parts, dim=2)  # whose places and heads the layer exchanges back

    return {"torch.Tensor.unflatten": cut}


def tiled_heads(defined):
    def attend(q, k, v, causal):
        times = q.shape[1] // k.shape[1]
        k, v = (np.stack([defined["repeat_kv"](each, times) for each in x]) for x in (k, v))
        return attention(q, k, v, causal=causal)

    return {"attention": attend}


def before_the_projection(defined):
    """One head as wide as the model, queries and keys alike."""
    import torch

    def attend(scheme, x, positions, causal):
        at = angles(positions, inv_freq(x.shape[-1], like=x))[None]
        weights = torch.randn(2, x.shape[-1], x.shape[-1], generator=torch.Generator().manual_seed(0)).to(x)
        q, k = (defined["rotate_then_project"](x, weight, at) for weight in weights)
        return attention(q, k, x, causal=causal).output

    return {"attend": attend}


def norm_after(defined):
    """One head as wide as the model, queries and keys alike, with weights that differ within pairs."""
    import torch

    def attend(scheme, x, positions, causal):
        at = angles(positions, inv_freq(x.shape[-1], like=x))[None]
        weights = torch.linspace(0.5, 1.5, x.shape[-1]).to(x)
        turned = defined["rotate_then_norm"](x, weights, at)
        return attention(turned, turned, x, causal=causal).output

    return {"attend": attend}


class Asked(str):
    """The name of a module that a test asks for."""


TORCH, TRANSFORMERS = Asked("torch"), Asked("transformers")
PATCH = object()  # stands for pytest's monkeypatch
CHECKPOINT = {"xp": np, "n_key": 2, "rotary_dim": None}
CAUGHT = {
    "file-in-the-other-layout": [Case(file_in_the_other_layout, CHECKPOINT)],
    "gguf-layout": [Case(gguf_layout, {"layout": "interleaved"})],
    "mixed": [Case(mixed, {"dim": 6, "method": rotate_of_the_test, "layout": "half-split"})],
    "rows-moved": [Case(rows_moved, CHECKPOINT)],
    "sections": [Case(sections, {"transformers": TRANSFORMERS})],
    "batch-axis": [Case(batch_axis, {"case": "sinusoidal"})],
    "restarted": [Case(restarted, {"xp": np})],
    "every-device-from-0": [Case(every_device_from_0)],
    "forgotten": [Case(forgotten, {"xp": np, "rope": Rope(20)})],
    "after-video": [Case(after_video(name)) for name in ("by_tokens", "by_frame")],
    "axis-of-the-heads": [Case(axis_of_the_heads, {"layout": "interleaved"})],
    "backwards": [Case(backwards, {"xp": np, "method": rotate_of_the_test})],
    "stale-keys": [Case(stale_keys)],
    "slow-for-ever": [Case(slow_for_ever, {"xp": np, "rope": ROPES["dynamic"]})],
    "positions-in-bfloat16": [
        Case(
            positions_in_bfloat16,
            {"torch": TORCH, "start": 250, "dtype": "bfloat16", "method": rotate_of_the_test, "layout": "interleaved"},
        )
    ],
    "autocast": [Case(autocast, {"torch": TORCH})],
    "bias-in-bfloat16": [Case(bias_in_bfloat16, {"case": "alibi", "dtype": "bfloat16", "tolerance": 6e-2})],
    "wrong-frequencies": [Case(wrong_frequencies(name)) for name in ("precedence", "missing_2", "reciprocal")],
    "base-not-read": [
        Case(
            base_not_read,
            {
                "rope": {"rope_type": "default", "rope_theta": 1e6},
                "longest": 4096,
                "seq_len": None,
                "expected": lambda: importlib.import_module("posenc.scaling").default(64, 1e6),
            },
        )
    ],
    "partial-for-proportional": [Case(partial_for_proportional)],
    "named-the-other-way": [Case(named_the_other_way, {"monkeypatch": PATCH})],
    "ramp-inverted": [Case(ramp_inverted)],
    "temperature-once": [Case(temperature_once, {"method": rotate_of_the_test})],
    "tables-averaged": [Case(tables_averaged, {"method": rotate_of_the_test, "layout": "interleaved"})],
    "nan": [Case(nan)],
    "mask-of-the-first": [Case(mask_of_the_first)],
    "query-minus-key": [Case(query_minus_key)],
    "heads-by-reshape": [Case(heads_by_reshape, {"case": "rope"})],
    "tiled-heads": [Case(tiled_heads, {"heads": 2})],
    "before-the-projection": [Case(before_the_projection, {"case": "rope", "causal": True})],
    "norm-after": [Case(norm_after, {"case": "rope", "causal": True})],
}
PARTS = [(name, number) for name, cases in CAUGHT.items() for number in range(len(cases))]


@cache
def defined_by(name: str) -> dict[str, Any]:
    """What the page's broken cell defines, run on its own after the imports that every page has."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = {cell["id"]: joined(cell["source"]) for cell in load(PAGE)["cells"]}
    with shown():
        exec(compile(cells["imports"] + "\n" + ENTRIES[name].broken, f"{PAGE.name}, {name}", "exec"), namespace)
    return namespace


def named_test(entry: Entry) -> Callable[..., None]:
    file, function = entry.test
    return getattr(importlib.import_module(file.removesuffix(".py").replace("/", ".")), function)


def test_every_entry_is_tried():
    assert list(CAUGHT) == list(ENTRIES)


@pytest.mark.torch
@every_entry
def test_a_snippet_needs_no_other_cell(entry, capsys):
    defined_by.__wrapped__(entry.name)
    assert capsys.readouterr().out == entry.shown_text


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "number"),
    [
        pytest.param(name, number, id=f"{name}-{number}", marks=[pytest.mark.release] if name == "gguf-layout" else [])
        for name, number in PARTS
    ],
)
def test_the_named_test_fails_on_the_broken_snippet_and_on_it_alone(name, number, monkeypatch):
    case, test = CAUGHT[name][number], named_test(ENTRIES[name])
    given = {
        key: importlib.import_module(value) if isinstance(value, Asked) else monkeypatch if value is PATCH else value
        for key, value in case.given.items()
    }
    if hasattr(test, "hypothesis"):  # and put back after this test, since the named one runs elsewhere in full
        monkeypatch.setattr(test, "_hypothesis_internal_use_settings", QUICK)
    test(**given)
    for target, replacement in case.broken(defined_by(name)).items():
        monkeypatch.setattr(target if "." in target else f"{test.__module__}.{target}", replacement)
    with pytest.raises(AssertionError):
        test(**given)
