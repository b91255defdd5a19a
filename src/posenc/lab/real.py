"""What a real model does with its positional encoding: SmolLM2-135M, measured part by part.

    python -m posenc.lab real measure qk loss      these measurements, part by part; what is there is not measured again
    python -m posenc.lab real collect              writes what is there into posenc-lab
    python -m posenc.lab real tables               prints what was found, with intervals

The model is SmolLM2-135M-Instruct: 135 million parameters, instruction-tuned, its weights quantised to 4 bits (Q4_1),
30 layers, 9 query heads of width 64, base 100 000, context length 8192. Texts come with Python and with Debian's
packages (`TEXTS`); each is cut to the tokens needed. `posenc.lab.real_results` reads and tabulates what was found.
"""

from __future__ import annotations

import argparse
import html
import re
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from posenc._extras import lab_folder
from posenc._gguf import Tokenizer
from posenc.frequencies import inv_freq
from posenc.lab import store
from posenc.lab.corpus import LibraryText
from posenc.lab.distance_bias import most_negative_pairs
from posenc.lab.evaluate import answers, with_scheme
from posenc.lab.measured import statistics
from posenc.lab.real_results import (
    BASE,
    CONTEXT,
    EDGES,
    FILE,
    HEAD_DIM,
    STEP,
    heads,
    previous_token_heads,
    products,
    tables,
)
from posenc.llama import Attention, Llama, load
from posenc.rope import Rope
from posenc.scaling import linear, ntk_aware, yarn
from posenc.schemes import PositionScheme
from posenc.transformer import KeyValueCache

HANDBOOK = "/usr/share/doc/debian-handbook/html/{}/{}.html"
CHAPTERS = ("basic-configuration", "unix-services", "network-infrastructure", "network-services")
# Where each text is: files are joined in this order. Of Debian: debian-handbook, debian-policy, developers-reference,
# git-doc, bash-doc, perl-doc and
# dict-jargon; "python:" is a file of Python's own library.
TEXTS: dict[str, tuple[str, ...]] = {
    "handbook": tuple(HANDBOOK.format("en-US", chapter) for chapter in CHAPTERS),
    "jargon file": ("/usr/share/dictd/jargon.dict.dz",),
    "Debian policy": ("/usr/share/doc/debian-policy/policy.txt.gz",),
    "developers' reference": ("/usr/share/developers-reference/developers-reference.html",),
    "git's user manual": ("/usr/share/doc/git-doc/user-manual.html",),
    "bash manual": ("/usr/share/doc/bash/bashref.html",),
    "perlfunc": ("/usr/share/perl/5.36.0/pod/perlfunc.pod",),
    "perlop": ("/usr/share/perl/5.36.0/pod/perlop.pod", "/usr/share/perl/5.36.0/pod/perlsyn.pod"),
    "perlretut": ("/usr/share/perl/5.36.0/pod/perlretut.pod",),
    "argparse": ("python:argparse.py",),
    "decimal": ("python:_pydecimal.py",),
    "tarfile": ("python:tarfile.py",),
}
SECTIONS = ("sect.installation-steps", "sect.virtualization", "sect.debian-internals")
# For the means of queries and keys: other files, so that an intervention is not fitted to the text that it is tried on.
KINDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "prose": tuple((HANDBOOK.format("en-US", chapter),) for chapter in SECTIONS),
    "code": (("python:typing.py",), ("python:inspect.py",), ("python:turtle.py",)),
    "German": tuple((HANDBOOK.format("de-DE", chapter),) for chapter in SECTIONS),
    "random tokens": ((), (), ()),
}
QK_TOKENS, FIRST = 2048, 4  # of each text; the first tokens are left out, since attention sinks are unlike the others
LONG, BLOCK = 16_384, 1024
SLOW, FIRST_SLOW, N_FAST = (22, 23, 24), 20, 16  # pairs of SmolLM2
SINKS = 4
# Interventions that are tried on every text; the others on the first four.
CORE = ("as trained", "clamped", "zeroed", "zeroed, other slow pairs, as large", "window", "window and four sinks")
Arrays = Mapping[str, np.ndarray]


class _Attention(Attention):
    """Attention that writes out no mask for an `Intervention` that acts alike on all keys.

    What depends on the distance alone is one row of numbers: with the queries in reverse order, the mask is a strided
    view of it.
    """

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, scheme: PositionScheme, positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        if not isinstance(scheme, Intervention):
            return super().attend(q, k, v, scheme, positions, key_positions)
        queries, keys = q.shape[2], k.shape[2]
        row = scheme.at(int(positions[-1]) - torch.arange(queries + keys - 1))  # (heads or 1, queries + keys − 1)
        mask = row.as_strided((len(row), queries, keys), (row.shape[1], 1, 1))
        mask = scheme.with_exceptions(mask, positions.flip(0), key_positions)
        return F.scaled_dot_product_attention(q.flip(2), k, v, attn_mask=mask[None]).flip(2)


@cache
def model(dtype: torch.dtype = torch.float32) -> tuple[Llama, Tokenizer]:
    """SmolLM2-135M and its tokenizer, loaded once; in bfloat16, a long text takes a third of the time."""
    network, tokenizer = load("SmolLM2-135M")
    for layer in network.layers:
        layer.self_attn.__class__ = _Attention
    return network.to(dtype), tokenizer


def plain_text(path: str) -> str:
    """A file as text; of HTML what stands between the tags."""
    if path.startswith("python:"):
        path = str(Path(sysconfig.get_paths()["stdlib"]) / path.removeprefix("python:"))
    content = Path(path).read_bytes()
    if path.endswith((".gz", ".dz")):
        content = import_module("gzip").decompress(content)
    text = content.decode("utf8", errors="replace")
    if path.endswith(".html"):
        text = re.sub(r"(?s)<(script|style|head).*?</\1>", "", text)
        text = html.unescape(re.sub(r"<[^>]*>", "", text))
        text = re.sub(r"[ \t]*\n\s*\n+", "\n\n", text)
    return text.strip()


@cache
def tokens(paths: tuple[str, ...], length: int) -> Tensor:
    """The first tokens of some files, shape (1, length)."""
    ids = model()[1].encode("\n\n".join(plain_text(path) for path in paths))
    if ids.shape[1] < length:
        raise ValueError(f"{paths} must have {length} tokens, got {ids.shape[1]}")
    return ids[:, :length]


def random_tokens(seed: int, length: int) -> Tensor:
    """Tokens drawn uniformly from the vocabulary without its first hundred, shape (1, length)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(100, model()[0].config.vocab_size, (1, length), generator=generator)


def own_rope() -> Rope:
    """The model's own rotation, in the layout of its file."""
    return Rope(HEAD_DIM, BASE, layout="interleaved")


class Intervention(PositionScheme):
    """A rotation, and what depends on the distance alone: a bias on the logits of each layer and head.

    Args:
        rope: the rotation; None: none.
        change: what is added to the logits at distance 0, 1, 2, …, shape (layers, heads or 1, distances); −∞ hides the
            keys there. None: nothing.
        only: "sinks": `change` acts on the first four tokens alone; "others": on all but these; None: on all.
        sign: −1: positions run backwards, so that rotations have the wrong sign.
    """

    injection_point = "query and key"

    def __init__(
        self, rope: Rope | None, change: np.ndarray | None = None, only: str | None = None, sign: int = 1
    ) -> None:
        super().__init__()
        self.rope, self.only, self.sign, self.layer = rope, only, sign, 0
        self.change = None if change is None else torch.tensor(change, dtype=torch.float32)

    def for_layer(self, index: int) -> PositionScheme:
        self.layer = index
        return self

    def at(self, distance: Tensor) -> Tensor:
        """`change` at these distances, −∞ at negative ones, which are later keys; (heads or 1, …)."""
        if self.change is None:
            row = torch.zeros(1, *distance.shape)
        else:
            row = self.change[self.layer][:, distance.clamp(min=0)]
        return row.masked_fill(distance < 0, -torch.inf)

    def with_exceptions(self, mask: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor:
        """A mask, shape (heads or 1, queries, keys), without the change where `only` spares it."""
        if self.only is None:
            return mask
        unchanged = torch.zeros(()).expand(mask.shape[1:]).masked_fill(positions[:, None] < key_positions, -torch.inf)
        spared = (key_positions < SINKS) == (self.only == "others")  # (keys,)
        return torch.where(spared, unchanged, mask)

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        if self.rope is None:
            return q, k
        return self.rope(q, k, self.sign * positions, key_positions=self.sign * key_positions)

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor | None:
        return self.with_exceptions(self.at(positions[:, None] - key_positions), positions, key_positions)


@torch.inference_mode()
def losses(
    ids: Tensor,
    encoding: Rope | PositionScheme | None,
    cache: KeyValueCache | None = None,
    dtype: torch.dtype = torch.float32,
) -> np.ndarray:
    """Nats of each token given those before it, block by block with a KV cache; shape (tokens,), the first one NaN.

    With a `cache` of the first tokens, which grows, only those that follow are computed; their first one is NaN too.
    """
    network = model(dtype)[0]
    network.set_position_encoding(encoding)
    cache = KeyValueCache() if cache is None else cache
    start = 0 if cache.positions is None else len(cache.positions)
    found = [torch.full((1,), torch.nan)]
    for first in range(start, ids.shape[1], BLOCK):
        logits = network(ids[:, first : first + BLOCK], cache)[0].float()
        targets = ids[0, first + 1 : first + len(logits) + 1]
        found.append(F.cross_entropy(logits[: len(targets)], targets, reduction="none"))
    return torch.cat(found).numpy()


def long_losses(ids: Tensor, encoding: PositionScheme, cache: KeyValueCache | None = None) -> np.ndarray:
    """`losses` in bfloat16, as float32 to ship."""
    return losses(ids, encoding, cache, torch.bfloat16).astype(np.float32)


def copy(cache: KeyValueCache) -> KeyValueCache:
    """A cache that grows apart from the one given."""
    return KeyValueCache(cache.positions, list(cache.layers))


class _Watched(PositionScheme):
    """The model's own rotation, which shows each layer's queries and keys, before it, to a function."""

    injection_point = "query and key"

    def __init__(self, see: Callable[[int, Tensor, Tensor], None]) -> None:
        super().__init__()
        self.see, self.layer, self.rope = see, 0, own_rope()

    def for_layer(self, index: int) -> PositionScheme:
        self.layer = index
        return self

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        self.see(self.layer, q, k)
        return self.rope(q, k, positions, key_positions=key_positions)


@torch.inference_mode()
def mean_products(ids: Tensor, first: int = FIRST) -> Arrays:
    """E[q k̄] and E[q]·E[k̄] of each layer, head and pair, in logits, and their course over distance.

    `product` is the mean over all pairs of tokens, the key before the query; `of_means` the product of the means;
    `by_distance` the mean product in bins of distance (`EDGES`), averaged over layers and heads, shape (pairs, bins).
    """
    found: dict[str, list[np.ndarray]] = {"product": [], "of_means": [], "by_distance": []}

    def see(layer: int, q: Tensor, k: Tensor) -> None:
        n = ids.shape[1] - first
        pairs = [torch.view_as_complex(x[0, :, first:].reshape(len(x[0]), n, -1, 2).contiguous()) for x in (q, k)]
        q_pairs, k_pairs = pairs[0].to(torch.complex128), pairs[1].to(torch.complex128)  # (heads, n, pairs)
        k_pairs = k_pairs.repeat_interleave(q.shape[1] // k.shape[1], dim=0)
        spectrum = torch.fft.fft(q_pairs, 2 * n, dim=1) * torch.fft.fft(k_pairs, 2 * n, dim=1).conj()
        sums = torch.fft.ifft(spectrum, dim=1)[:, 1:n] / HEAD_DIM**0.5  # over all queries, at distance 1, 2, …, n − 1
        counts = torch.arange(n - 1, 0, -1)
        found["product"].append((sums.sum(1) / counts.sum()).numpy())
        found["of_means"].append((q_pairs.mean(1) * k_pairs.mean(1).conj() / HEAD_DIM**0.5).numpy())
        bins = [
            (sums[:, low - 1 : high - 1].sum((0, 1)) / counts[low - 1 : high - 1].sum() / len(sums)).numpy()
            for low, high in zip(EDGES, EDGES[1:], strict=False)
        ]
        found["by_distance"].append(np.stack(bins, axis=-1))

    network = model()[0]
    network.set_position_encoding(_Watched(see))
    network(ids)
    arrays = {name: np.stack(values) for name, values in found.items()}
    arrays["by_distance"] = arrays["by_distance"].mean(0)
    return {name: array.astype(np.complex64) for name, array in arrays.items()}


@torch.inference_mode()
def deviations(ids: Tensor, first: int = FIRST, enough: int = 64) -> Arrays:
    """How much each pair's contribution to the logits of one query varies over its keys.

    `std`: for each layer, head and pair the standard deviation of Re[q k̄ e^(i(m − n)θ)]/√d over the keys n ≤ m of a
    query m, as a root mean square over the queries with at least `enough` keys before them. What is the same at every
    key, which the softmax ignores, adds nothing to it.
    """
    found: list[np.ndarray] = []

    def see(layer: int, q: Tensor, k: Tensor) -> None:
        n = ids.shape[1] - first
        count = torch.arange(1, n + 1)[:, None]
        phase = torch.arange(n)[:, None] * torch.from_numpy(inv_freq(HEAD_DIM, BASE))
        pairs = [torch.view_as_complex(x[0, :, first:].reshape(len(x[0]), n, -1, 2).contiguous()) for x in (q, k)]
        q_pairs, k_pairs = (x * torch.exp(1j * phase) for x in pairs)  # (heads, n, pairs)
        k_pairs = k_pairs.repeat_interleave(q.shape[1] // k.shape[1], dim=0)

        def over_keys(values: Tensor) -> Tensor:
            return values.cumsum(1) / count

        x, y = k_pairs.real, k_pairs.imag
        variance = (  # of q_x k_x + q_y k_y over keys, by the covariance of the keys so far
            q_pairs.real**2 * (over_keys(x**2) - over_keys(x) ** 2)
            + 2 * q_pairs.real * q_pairs.imag * (over_keys(x * y) - over_keys(x) * over_keys(y))
            + q_pairs.imag**2 * (over_keys(y**2) - over_keys(y) ** 2)
        ) / HEAD_DIM
        found.append(variance[:, enough:].mean(1).sqrt().numpy())

    network = model()[0]
    network.set_position_encoding(_Watched(see))
    network(ids)
    return {"std": np.stack(found).astype(np.float16)}


def deviation_parts() -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """The `deviations` in the three texts of prose of which E[q k̄] is shown."""
    for number, paths in enumerate(KINDS["prose"]):
        yield f"prose/{number}", lambda paths=paths: deviations(tokens(paths, QK_TOKENS))  # type: ignore[misc]


def qk_parts() -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """E[q k̄] of four kinds of text, and of the same prose within a chat's turns."""
    for kind, sources in KINDS.items():
        for number, paths in enumerate(sources):
            yield f"{kind}/{number}", partial(_products_of, paths, number)
    for number, paths in enumerate(KINDS["prose"]):
        yield f"prose in a chat/{number}", partial(_in_a_chat, paths)


def _products_of(paths: tuple[str, ...], seed: int) -> Arrays:
    return mean_products(tokens(paths, QK_TOKENS) if paths else random_tokens(seed, QK_TOKENS))


def _in_a_chat(paths: tuple[str, ...]) -> Arrays:
    """The products among a text's tokens where an instruction comes before it, as its answer."""
    before = model()[1].chat("Write a chapter of a handbook.")
    ids = torch.cat((before, tokens(paths, QK_TOKENS)), dim=1)
    return mean_products(ids, first=before.shape[1] + FIRST)


def measured_products(folder: Path) -> np.ndarray:
    """E[q k̄] averaged over prose and code, which the interventions take; shape (layers, heads, pairs)."""
    found = [
        np.load(folder / "qk" / kind / f"{number}.npz")["product"] for kind in ("prose", "code") for number in range(3)
    ]
    return np.asarray(np.mean(found, axis=0))


class Groups(NamedTuple):
    """Pairs of each layer, boolean, shape (layers, pairs)."""

    chosen: np.ndarray  # low-frequency pairs with the largest bias
    other_slow: np.ndarray  # the other low-frequency pairs
    fast: np.ndarray  # high-frequency pairs


def groups_of_smollm2() -> Groups:
    """By the number of rotations in the context length: 0.33 and 0.23 in pairs 23 and 24, less than 1.4 from 20 on."""
    pairs = np.arange(HEAD_DIM // 2)
    masks = (np.isin(pairs, SLOW), (pairs >= FIRST_SLOW) & ~np.isin(pairs, SLOW), pairs < N_FAST)
    return Groups(*(np.tile(mask, (model()[0].config.num_hidden_layers, 1)) for mask in masks))


def interventions(
    products: np.ndarray, frequencies: np.ndarray, rope: Rope, groups: Groups, context: int, length: int
) -> dict[str, Intervention]:
    """What is done at distances of `context` and beyond, by name.

    A bias that stands in for another is brought to the same root mean square, over all layers, heads and distances, as
    that of "zeroed".

    Args:
        products: E[q k̄], complex, shape (layers, heads, pairs).
        frequencies: in radians per token, shape (pairs,).
        rope: the model's own rotation.
        groups: the pairs whose bias is changed.
        context: the context length in tokens.
        length: of the texts.
    """
    distances = np.arange(length)
    far = distances >= context
    angles = np.outer(frequencies, distances)  # (pairs, distances)

    def changed(pairs: np.ndarray, level: Callable[[np.ndarray], np.ndarray | float]) -> np.ndarray:
        chosen = products * pairs[:, None]
        now = chosen.real @ np.cos(angles) - chosen.imag @ np.sin(angles)  # (layers, heads, distances)
        return np.asarray(np.where(far, level(now) - now, 0.0))

    def zero(now: np.ndarray) -> float:
        return 0.0

    def clamp(now: np.ndarray) -> np.ndarray:
        return np.asarray(now[..., context // 2 : context].mean(-1, keepdims=True))

    def flat(now: np.ndarray) -> np.ndarray:
        return np.asarray(now[..., far].mean(-1, keepdims=True))

    zeroed = changed(groups.chosen, zero)

    def as_large(change: np.ndarray) -> np.ndarray:
        return np.asarray(change * np.sqrt(np.mean(zeroed[..., far] ** 2) / np.mean(change[..., far] ** 2)))

    make, held = partial(Intervention, rope), changed(groups.chosen, clamp)
    hidden = np.broadcast_to(np.where(far, -np.inf, 0.0), (len(products), 1, length))
    return {
        "as trained": make(),
        "clamped": make(held),
        "clamped, four sinks alone": make(held, only="sinks"),
        "clamped, all but four sinks": make(held, only="others"),
        "zeroed": make(zeroed),
        "flat, same mean": make(changed(groups.chosen, flat)),
        "zeroed, other slow pairs, as large": make(as_large(changed(groups.other_slow, zero))),
        "zeroed, fast pairs, as large": make(as_large(changed(groups.fast, zero))),
        "clamped, all slow pairs": make(changed(groups.chosen | groups.other_slow, clamp)),
        "window": make(hidden),
        "window and four sinks": make(hidden, only="others"),
    }


def of_smollm2(folder: Path, context: int, length: int) -> dict[str, Intervention]:
    """The `interventions` on SmolLM2, by the products in the folder."""
    products = measured_products(folder)
    return interventions(products, inv_freq(HEAD_DIM, BASE), own_rope(), groups_of_smollm2(), context, length)


def loss_parts(folder: Path) -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """Loss by position to 16 384 tokens with each intervention past 8192, and the same past 4096 of 8192 tokens.

    There, nothing is new to the model: these are the controls.
    """
    for number, (name, paths) in enumerate(TEXTS.items()):
        kinds = CORE if number >= 4 else None
        yield name, partial(_beyond, folder, paths, CONTEXT, LONG, kinds)
        yield f"within/{name}", partial(_beyond, folder, paths, CONTEXT // 2, CONTEXT, kinds)


def _beyond(
    folder: Path, paths: tuple[str, ...], context: int, length: int, kinds: tuple[str, ...] | None = None
) -> Arrays:
    """Losses of interventions, of all or of some; the tokens before, which none reaches, are computed once."""
    ids, start = tokens(paths, length), KeyValueCache()
    found = {"before": long_losses(ids[:, :context], Intervention(own_rope()), start)}
    named = of_smollm2(folder, context, length)
    return found | {name: long_losses(ids, named[name], copy(start)) for name in kinds or named}


def scalings(factor: float, length: int) -> dict[str, Rope]:
    """Rotations for `factor` times the context length; none is fine-tuned here, as PI and YaRN are meant to be."""
    from_frequencies = partial(Rope.from_frequencies, layout="interleaved")
    scaled = yarn(HEAD_DIM, BASE, factor=factor, original_max_position_embeddings=CONTEXT)
    return {
        "as trained": own_rope(),
        "PI": from_frequencies(*linear(HEAD_DIM, BASE, factor=factor)),
        "NTK-aware": from_frequencies(*ntk_aware(HEAD_DIM, BASE, factor=factor)),
        "YaRN": from_frequencies(*scaled),
        "YaRN without temperature": from_frequencies(scaled.inv_freq),  # NTK-by-parts
        "dynamic NTK": from_frequencies(
            *ntk_aware(HEAD_DIM, BASE, factor=max(1.0, length * factor / CONTEXT - factor + 1))
        ),
    }


TINY = tuple(f"two_layers-text-rope_{base}-{seed}" for base in (100, 10_000) for seed in (0, 1))


def tiny_parts() -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """The interventions on the laboratory's models of 0.3 million parameters, at twice their context length."""
    for name in TINY:
        yield name, partial(_tiny, name)


def _tiny(name: str) -> Arrays:
    """Losses of 80 windows over their last 32 tokens; "truncated" are windows of the context length alone."""
    network, run = store.load(name)
    context, head_dim = run.settings.length, run.settings.head_dim
    products = statistics()[f"{name}/content"].astype(complex)
    frequencies = inv_freq(head_dim, run.scheme_options[1]["base"])
    slow = np.tile(frequencies * context < 2 * np.pi, (len(products), 1))
    chosen = np.zeros_like(slow)
    for layer, of_layer in enumerate(products):
        chosen[layer, most_negative_pairs(of_layer, frequencies, context)] = True
    groups = Groups(chosen, slow & ~chosen, ~slow)
    task = LibraryText()
    texts = task.windows(2 * context, 80)
    found = {"truncated": answers(network, task.windows(context, 80), task.n_scored).losses}
    rope = network.scheme.rope
    if not isinstance(rope, Rope):
        raise TypeError(f"{name} must rotate, got {network.scheme}")
    for kind, scheme in interventions(products, frequencies, rope, groups, context, 2 * context).items():
        found[kind] = answers(with_scheme(network, scheme), texts, task.n_scored).losses
    return {kind: values.astype(np.float32) for kind, values in found.items()}


def extension_parts() -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """Loss by position to 16 384 tokens with the frequencies scaled for it; `loss_parts` has it as trained."""
    for name, paths in TEXTS.items():
        for method, rope in scalings(2.0, LONG).items():
            if method != "as trained":
                yield f"{name}/{method}", partial(_extended, paths, rope)


def _extended(paths: tuple[str, ...], rope: Rope) -> Arrays:
    return {"loss": long_losses(tokens(paths, LONG), Intervention(rope))}


NEEDLES = 8
NAMES = ("Alice", "Robert", "Maria", "Thomas", "Sarah", "Daniel", "Emma", "Peter")
WORDS = (
    "orange",
    "tiger",
    "guitar",
    "river",
    "silver",
    "pepper",
    "castle",
    "rocket",
    "window",
    "lemon",
    "garden",
    "doctor",
)
LENGTHS = (2048, 4096, 8192, 12_288, 16_384)


def needle_parts(folder: Path) -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """Eight needles in a haystack, at eight depths: is the right word the most probable of the eight?

    With the frequencies scaled, and with the learned distance bias clamped past 8192.
    """
    for trial, source in enumerate(("jargon file", "git's user manual", "developers' reference", "handbook")):
        for length in LENGTHS:
            methods = {name: Intervention(rope) for name, rope in scalings(2.0, length).items()}
            if length > CONTEXT:
                methods["bias clamped"] = of_smollm2(folder, CONTEXT, length)["clamped"]
            for method, scheme in methods.items():
                yield f"{trial}/{length}/{method}", partial(_needles, source, length, scheme, trial)


class Haystack(NamedTuple):
    """A text with eight needles, "The password of Alice is orange.", one in the middle of each eighth."""

    context: Tensor  # (1, length)
    questions: list[Tensor]  # (1, tokens) each: "The password of Alice is"
    words: Tensor  # (8,): the token that is right, for each question
    at: list[int]  # its position in the context


def haystack(source: str, length: int, seed: int) -> Haystack:
    """A haystack of `length` tokens together with the longest question; names and words are drawn by `seed`."""
    tokenizer = model()[1]
    random = np.random.RandomState(seed)
    words = [WORDS[index] for index in random.permutation(len(WORDS))[:NEEDLES]]
    names = [NAMES[index] for index in random.permutation(NEEDLES)]
    ids = [tokenizer.encode(f" {word}")[0] for word in words]
    if any(len(one) != 1 for one in ids):
        raise ValueError(f"every word must be one token, got {words}")
    questions = [tokenizer.encode(f"\n\nThe password of {name} is") for name in names]
    end = tokenizer.encode(".\n\n")
    needles = [torch.cat((question, word[None], end), dim=1) for question, word in zip(questions, ids, strict=True)]
    room = length - sum(one.shape[1] for one in needles) - max(one.shape[1] for one in questions)
    hay = tokens(TEXTS[source], LONG)[:, :room]
    pieces: list[Tensor] = []
    at: list[int] = []
    for depth, needle in enumerate(needles):
        first, middle, last = (round(room * part / NEEDLES) for part in (depth, depth + 0.5, depth + 1))
        pieces += [hay[:, first:middle], needle]
        at.append(sum(one.shape[1] for one in pieces) - end.shape[1] - 1)
        pieces.append(hay[:, middle:last])
    return Haystack(torch.cat(pieces, dim=1), questions, torch.cat(ids), at)


@torch.inference_mode()
def _needles(source: str, length: int, scheme: PositionScheme, seed: int) -> Arrays:
    """Of each depth, the rank of the right word among the eight, and whether it is the most probable token of all."""
    network, cache = model(torch.bfloat16)[0], KeyValueCache()
    network.set_position_encoding(scheme)
    context, questions, words, _ = haystack(source, length, seed)
    for first in range(0, context.shape[1], BLOCK):
        network(context[:, first : first + BLOCK], cache)
    answers = torch.stack([network(question, copy(cache))[0, -1].float() for question in questions])  # (8, vocab_size)
    right = answers[torch.arange(NEEDLES), words][:, None]
    rank = (answers[:, words] > right).sum(1)
    return {"rank": rank.numpy().astype(np.int8), "exact": (answers.argmax(1) == words).numpy()}


def change_parts() -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """The rotation removed, in the wrong layout, with the wrong sign; and the context shuffled."""
    encodings: dict[str, Rope | PositionScheme | None] = {
        "as trained": own_rope(),
        "no rotation": None,
        "wrong layout": Rope(HEAD_DIM, BASE, layout="half-split"),
        "wrong sign": Intervention(own_rope(), sign=-1),
    }
    for name, paths in TEXTS.items():
        for kind, encoding in encodings.items():
            yield f"{name}/{kind}", partial(_changed, paths, encoding)
    for kind, encoding in encodings.items():
        yield f"greedy/{kind}", partial(_continued, encoding)


def _changed(paths: tuple[str, ...], encoding: Rope | PositionScheme | None) -> Arrays:
    """Losses of 512 tokens, and of their last 64 after the 448 before them are shuffled."""
    ids = tokens(paths, 512)
    order = np.concatenate([np.random.RandomState(0).permutation(448), np.arange(448, 512)])
    shuffled = losses(ids[:, order], encoding)[449:]
    return {"loss": losses(ids, encoding)[1:].astype(np.float32), "shuffled": shuffled.astype(np.float32)}


def _continued(encoding: Rope | PositionScheme | None) -> Arrays:
    network, tokenizer = model()
    network.set_position_encoding(encoding)
    found = {}
    for prompt in ("The capital of France is", "Water boils at a temperature of", "def factorial(n):"):
        ids = tokenizer.encode(prompt)
        found[prompt] = np.array(tokenizer.decode(network.generate(ids, 24)[:, ids.shape[1] :]))
    return found


def attention_parts() -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """Attention weights by distance of every head, and how clearly each does a job, on a repeated random sequence."""
    for seed in range(4):
        yield f"repeated/{seed}", partial(_jobs, seed)
    for number, name in enumerate(("handbook", "bash manual", "perlop", "tarfile")):
        yield f"text/{number}", partial(_by_distance, TEXTS[name])
    for seed, name in enumerate(("jargon file", "git's user manual")):
        yield f"needles/{seed}", partial(_on_needles, name, seed)
    for name in ("jargon file", "bash manual", "Debian policy", "perlop", "tarfile"):
        yield f"ablated/{name}", partial(_ablated, TEXTS[name], 0)
    for seed in range(3):
        yield f"ablated/random tokens {seed}", partial(_ablated, (), seed)


def _see_weights(ids: Tensor, use: Callable[[int, Tensor], None]) -> None:
    """Shows each layer's attention weights, shape (heads, queries, keys), to a function."""
    rope = own_rope()

    def see(layer: int, q: Tensor, k: Tensor) -> None:
        q, k = rope(q, k, torch.arange(q.shape[2]))
        k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
        logits = (q @ k.mT / HEAD_DIM**0.5)[0]
        later = torch.ones(logits.shape[1:], dtype=torch.bool).triu(1)
        use(layer, logits.masked_fill(later, -torch.inf).softmax(-1))

    with torch.inference_mode():
        network = model()[0]
        network.set_position_encoding(_Watched(see))
        network(ids)


def _jobs(seed: int) -> Arrays:
    """Mean weight on: the token before, token 0, and the token after the previous occurrence (induction).

    The sequence is <|im_start|>, then 256 random tokens, twice.
    """
    block = random_tokens(seed, 256)
    ids = torch.cat((torch.tensor([[1]]), block, block), dim=1)
    found: dict[str, list[np.ndarray]] = {"previous": [], "sink": [], "induction": []}
    queries = torch.arange(257 + 1, 513)  # in the second copy

    def use(layer: int, weights: Tensor) -> None:
        found["previous"].append(weights[:, queries, queries - 1].mean(1).numpy())
        found["sink"].append(weights[:, queries, 0].mean(1).numpy())
        found["induction"].append(weights[:, queries, queries - 255].mean(1).numpy())

    _see_weights(ids, use)
    return {name: np.stack(values).astype(np.float32) for name, values in found.items()}


def _on_needles(source: str, seed: int) -> Arrays:
    """Mean weight of each head on the right word, from the last token of a question about one of eight needles."""
    context, questions, _, at = haystack(source, BLOCK, seed)
    found: list[list[np.ndarray]] = []
    for question, position in zip(questions, at, strict=True):
        found.append([])
        ids = torch.cat((context, question), dim=1)
        _see_weights(ids, lambda layer, weights, to=position: found[-1].append(weights[:, -1, to].numpy()))  # type: ignore[misc]
    return {"retrieval": np.asarray(np.mean(found, axis=0), np.float32)}


def _by_distance(paths: tuple[str, ...]) -> Arrays:
    """Mean weight of each head at each distance below 1024, over queries from 1024 to 2047, token 0 apart."""
    found: list[np.ndarray] = []
    sink: list[np.ndarray] = []

    def use(layer: int, weights: Tensor) -> None:
        last = weights[:, 1024:]
        at = torch.arange(1024, 2048)[:, None] - torch.arange(1024)  # (queries, distances)
        found.append(last.gather(2, at.expand(len(last), -1, -1)).mean(1).numpy())
        sink.append(last[:, :, 0].mean(1).numpy())

    _see_weights(tokens(paths, 2048), use)
    return {"weights": np.stack(found).astype(np.float16), "sink": np.stack(sink).astype(np.float32)}


def _ablated(paths: tuple[str, ...], seed: int) -> Arrays:
    """What the eight clearest previous-token heads attend to, as trained and without parts of E[q k̄].

    Mean weights at distances 0 to 3, shape (heads, 3, 4): as trained, without the mean sine part of the logits, without
    the mean cosine part, both of the fast pairs alone: those of the slow pairs are a bias over thousands of tokens.
    The means are those of prose (`KINDS`), so of other texts.
    """
    ids = tokens(paths, 513) if paths else random_tokens(seed, 513)
    chosen = previous_token_heads()
    found = np.zeros((len(chosen), 3, 4), np.float32)
    distance = torch.arange(ids.shape[1])[:, None] - torch.arange(ids.shape[1])
    phase = distance[..., None] * torch.from_numpy(inv_freq(HEAD_DIM, BASE)[:N_FAST])
    rope, means = own_rope(), torch.from_numpy(products()[..., :N_FAST])

    def see(layer: int, q: Tensor, k: Tensor) -> None:
        q, k = rope(q, k, torch.arange(q.shape[2]))
        for row, (of_layer, head) in enumerate(chosen):
            if of_layer != layer:
                continue
            logits = q[0, head] @ k[0, head * k.shape[1] // q.shape[1]].T / HEAD_DIM**0.5
            sine = phase.sin() @ -means[layer, head].imag.double()
            cosine = phase.cos() @ means[layer, head].real.double()
            for column, removed in enumerate((torch.zeros_like(sine), sine, cosine)):
                weights = (logits - removed).masked_fill(distance < 0, -torch.inf).softmax(-1)
                for back in range(4):
                    found[row, column, back] = weights.diagonal(-back)[16 - back :].mean()

    with torch.inference_mode():
        network = model()[0]
        network.set_position_encoding(_Watched(see))
        network(ids)
    return {"weights at distances": found}


def parts(kind: str, folder: Path) -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """The parts of a measurement by name, each a function that measures it."""
    measurements: dict[str, Callable[[], Iterator[tuple[str, Callable[[], Arrays]]]]] = {
        "qk": qk_parts,
        "change": change_parts,
        "attention": attention_parts,
        "loss": partial(loss_parts, folder),
        "tiny": tiny_parts,
        "extension": extension_parts,
        "needle": partial(needle_parts, folder),
        "deviation": deviation_parts,
    }
    return measurements[kind]()


MEASUREMENTS = ("qk", "change", "attention", "loss", "tiny", "extension", "needle", "deviation")


def measure(kinds: list[str], folder: Path) -> Iterator[str]:
    """Measures what is not there yet, a file each under `folder`, and says so line by line."""
    for kind in kinds:
        for name, compute in parts(kind, folder):
            path = folder / kind / f"{name}.npz"
            if path.is_file():
                continue
            began = time.monotonic()
            arrays = compute()
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            with unfinished.open("wb") as opened:
                np.savez_compressed(opened, **arrays)  # type: ignore[arg-type]
            unfinished.replace(path)
            yield f"{kind}/{name}: {time.monotonic() - began:.0f} s"


def collect(folder: Path, into: Path) -> str:
    """Writes what was measured as `posenc.lab.real_results` reads it, losses as means over blocks.

    Of queries and keys the mean over a kind of text is kept, of attention the heads with the clearest jobs. What ships
    already and was not measured anew stays.
    """
    path = into / FILE
    found: dict[str, np.ndarray] = {}
    if path.is_file():
        with np.load(path) as shipped:
            found |= dict(shipped)
    for kind in ("change", "loss", "tiny", "extension", "needle", "deviation"):
        for name, part in _measured(folder, kind):
            for key, array in part.items():
                blocks = kind == "loss" or (kind == "extension" and key == "loss")
                found[f"{kind}/{name}/{key}"] = _in_blocks(array) if blocks else array
    for kind in (*KINDS, "prose in a chat"):
        texts = [part for name, part in _measured(folder, "qk") if name.rpartition("/")[0] == kind]
        if not texts:
            continue
        product = np.mean([part["product"] for part in texts], axis=0)
        found[f"qk/{kind}/product"] = np.stack([product.real, product.imag], axis=-1).astype(np.float16)
        found[f"qk/{kind}/b"] = np.stack([-part["product"].imag.mean((0, 1)) for part in texts])
        found[f"qk/{kind}/of_means"] = np.stack([-part["of_means"].imag.mean((0, 1)) for part in texts])
        found[f"qk/{kind}/by_distance"] = np.mean([part["by_distance"] for part in texts], axis=0)
    weights = []
    for name, part in _measured(folder, "attention"):
        found |= {f"attention/{name}/{key}": array for key, array in part.items() if key != "weights"}
        if "weights" in part:
            weights.append(part["weights"].astype(np.float32))
            found[f"attention/{name}/near"] = weights[-1][..., :16].sum(-1)
    jobs = heads(
        {key.removeprefix("attention/"): array for key, array in found.items() if key.startswith("attention/")}
    )
    for job, (layer, head) in jobs.items() if weights else ():
        found[f"attention/by distance/{job}"] = np.mean(weights, axis=0)[layer, head].astype(np.float16)
    with path.open("wb") as opened:
        np.savez_compressed(opened, **found)  # type: ignore[arg-type]
    return f"{len(found)} arrays are in {path}, {path.stat().st_size / 1000:.0f} kB"


def _measured(folder: Path, kind: str) -> Iterator[tuple[str, Arrays]]:
    for path in sorted((folder / kind).rglob("*.npz")):
        with np.load(path) as file:
            yield str(path.relative_to(folder / kind).with_suffix("")), dict(file)


def _in_blocks(losses: np.ndarray) -> np.ndarray:
    """Means over blocks of 256 tokens; a first token that has no loss is left out."""
    return np.asarray(np.nanmean(losses.reshape(-1, STEP), axis=1), np.float32)


def main(arguments: list[str] | None = None) -> None:
    """The command line: `python -m posenc.lab real`."""
    parser = argparse.ArgumentParser(prog="python -m posenc.lab real", description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("_build/lab/real"), help="where measurements are kept")
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="measure what is not there yet")
    measuring.add_argument("kinds", nargs="+", choices=MEASUREMENTS)
    commands.add_parser("collect", help="write what is there into posenc-lab")
    commands.add_parser("tables", help="print what ships, with intervals")
    options = parser.parse_args(arguments)
    if options.command == "measure":
        for line in measure(options.kinds, options.folder):
            print(line, flush=True)
    elif options.command == "collect":
        print(collect(options.folder, lab_folder("data")))
    else:
        print(*tables(), sep="\n\n")
