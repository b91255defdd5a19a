"""What was measured on a real model, SmolLM2-135M: read and tabulated; no torch is needed.

`posenc.lab.real` measures it and says on what. Functions return means with intervals of 95 % over texts
(`posenc.lab.intervals`); `tables` prints them all. The model is SmolLM2-135M-Instruct, quantised to 4 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from posenc._extras import lab_folder
from posenc.frequencies import inv_freq
from posenc.lab.distance_bias import distance_bias
from posenc.lab.intervals import Interval, interval

HEAD_DIM, BASE, CONTEXT = 64, 100_000.0, 8192  # of SmolLM2-135M
EDGES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2044)  # of the bins of distance, in tokens
STEP = 256  # tokens that a loss by position is averaged over
FILE = "real_model.npz"


@cache
def arrays() -> dict[str, np.ndarray]:
    """What ships, by name: measurement/part/array.

    Raises:
        ModuleNotFoundError: posenc-lab is not installed.
    """
    with np.load(lab_folder("data") / FILE) as file:
        return dict(file)


def parts(kind: str) -> dict[str, dict[str, np.ndarray]]:
    """The arrays of a measurement by part, and by name within it."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for key, array in arrays().items():
        measurement, _, rest = key.partition("/")
        if measurement == kind:
            part, _, name = rest.rpartition("/")
            found.setdefault(part, {})[name] = array
    return found


def over_texts(values: list[float] | np.ndarray) -> Interval:
    """The mean over texts, one value each, with its interval."""
    return interval(np.asarray(values, float)[None])


def encodings() -> dict[str, dict[str, Interval]]:
    """With the rotation changed: loss of 512 tokens, how much that is above the model as trained, and of shuffling.

    "shuffled" is what the loss of the last 64 tokens gains when the 448 before them are put in random order.
    """
    found = parts("change")
    texts = sorted({part.split("/")[0] for part in found} - {"greedy"})
    table = {}
    for kind in ("as trained", "no rotation", "wrong layout", "wrong sign"):
        loss, own = ([found[f"{text}/{which}"]["loss"].mean() for text in texts] for which in (kind, "as trained"))
        shuffled = [
            found[f"{text}/{kind}"]["shuffled"].mean() - found[f"{text}/{kind}"]["loss"][-63:].mean() for text in texts
        ]
        table[kind] = {
            "loss": over_texts(loss),
            "more than as trained": over_texts(np.subtract(loss, own)),
            "shuffled": over_texts(shuffled),
        }
    return table


def continuations() -> dict[str, dict[str, str]]:
    """What the model writes, greedily, after each prompt, by encoding."""
    found = parts("change")
    return {
        part.split("/")[1]: {prompt: str(text) for prompt, text in texts.items()}
        for part, texts in found.items()
        if part.startswith("greedy/")
    }


def products(kind: str = "prose") -> np.ndarray:
    """E[q k̄] in logits, averaged over the texts of a kind; complex, shape (layers, heads, pairs)."""
    real, imaginary = np.moveaxis(arrays()[f"qk/{kind}/product"].astype(np.float32), -1, 0)
    return np.asarray(real + 1j * imaginary)


def deviations() -> np.ndarray:
    """How much each pair's contribution to one query's logits varies over its keys; shape (layers, heads, pairs).

    The standard deviation over keys, in logits, as a root mean square over queries, averaged over three texts of prose
    (`posenc.lab.real.deviations`).
    """
    return np.asarray(np.mean([part["std"].astype(np.float32) for part in parts("deviation").values()], axis=0))


def sine_coefficients(kind: str) -> np.ndarray:
    """b = −Im E[q k̄] averaged over all heads, for each text of a kind; shape (texts, pairs)."""
    return arrays()[f"qk/{kind}/b"]


def learned_bias(distances: np.ndarray, kind: str = "prose") -> np.ndarray:
    """The sum of all pairs' mean contribution to the logit, averaged over all heads; shape (distances,)."""
    return np.asarray(distance_bias(products(kind), inv_freq(HEAD_DIM, BASE), distances).sum(axis=-2).mean(axis=(0, 1)))


def interventions(within: bool = False) -> list[dict[str, np.ndarray]]:
    """Of each text the losses by intervention, in blocks of `STEP` tokens.

    They act beyond 8192 tokens; `within`: beyond 4096, on texts of 8192, where nothing is new to the model.
    """
    return [one for part, one in parts("loss").items() if part.startswith("within/") == within]


def past_the_context(kind: str, within: bool = False) -> dict[str, Interval]:
    """Loss with an intervention, less that of the model as trained, by block of 1024 tokens; see `interventions`.

    Texts without this intervention do not count.
    """
    texts = [one for one in interventions(within) if kind in one]
    start = CONTEXT // 2 if within else CONTEXT
    table = {}
    for first in range(0, texts[0][kind].size, 1024 // STEP):
        block = slice(first, first + 1024 // STEP)
        name = f"{start + first * STEP}–{start + first * STEP + 1023}"
        table[name] = over_texts([one[kind][block].mean() - one["as trained"][block].mean() for one in texts])
    return table


def extended(method: str) -> dict[str, Interval]:
    """Loss with a method of context extension, factor 2, less that of the model as trained, by block of positions."""
    texts = [part.split("/")[0] for part in parts("extension") if part.endswith(f"/{method}")]
    edges = (0, 4096, 8192, 10_240, 12_288, 14_336, 16_384)
    table = {}
    for low, high in zip(edges, edges[1:], strict=False):
        differences = []
        for text in texts:
            trained = np.concatenate([parts("loss")[text][when] for when in ("before", "as trained")])
            loss = parts("extension")[f"{text}/{method}"]["loss"]
            differences.append((loss - trained)[low // STEP : high // STEP].mean())
        table[f"{low}–{high - 1}"] = over_texts(differences)
    return table


def needles() -> dict[str, dict[int, np.ndarray]]:
    """Needle retrieval by method and length: whether the right word of the eight is the most probable of them.

    Each array is boolean, shape (haystacks, depths), the first depth at the start. Chance is 1/8.
    """
    table: dict[str, dict[int, list[np.ndarray]]] = {}
    for part, one in sorted(parts("needle").items()):
        _, length, method = part.split("/")
        table.setdefault(method, {}).setdefault(int(length), []).append(one["rank"] == 0)
    return {method: {n: np.stack(rows) for n, rows in sorted(by.items())} for method, by in table.items()}


def proportion(count: int, n: int) -> Interval:
    """A proportion with Wilson's interval of 95 %, as if all n were drawn independently.

    >>> str(proportion(8, 16))
    '0.50 [0.28, 0.72]'
    """
    z, share = 1.96, count / n
    centre, half = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Interval(share, float((centre - half) / (1 + z**2 / n)), float((centre + half) / (1 + z**2 / n)))


def tables() -> Iterator[str]:
    """All tables as text, one after another."""
    about = "SmolLM2-135M-Instruct, 135 million parameters, quantised to 4 bits; means [intervals of 95 % over texts]"
    yield about
    if parts("change"):
        lines = [
            f"{kind:<14} " + "  ".join(f"{name} {value}" for name, value in row.items())
            for kind, row in encodings().items()
        ]
        lines += [f"{kind:<14} {texts}" for kind, texts in continuations().items()]
        yield "\n".join(["1. The rotation changed, 512 tokens, nats", *lines])
    lines = []
    for kind in ("prose", "code", "German", "random tokens", "prose in a chat"):
        b = sine_coefficients(kind)
        same = np.corrcoef(products(kind).ravel().view(np.float64), products().ravel().view(np.float64))[0, 1]
        shown = "  ".join(f"b{pair} {over_texts(b[:, pair])}" for pair in (21, 22, 23, 24, 25))
        lines.append(f"{kind:<16} {shown}  correlation with prose {same:.2f}")
    at = np.array([0, 16, 128, 1024, 4096, 8192, 16_384])
    lines.append("bias by distance " + "  ".join(f"{d}: {v:.1f}" for d, v in zip(at, learned_bias(at), strict=True)))
    yield "\n".join(["2. E[q k̄], sine coefficients in logits, averaged over 270 heads", *lines])
    for within, about in ((False, "beyond 8192"), (True, "beyond 4096, of 8192 tokens")):
        texts = interventions(within)
        lines = [
            f"{kind:<36} {sum(kind in one for one in texts):>2} texts  "
            + "  ".join(f"{at} {value}" for at, value in past_the_context(kind, within).items())
            for kind in max(texts, key=len, default={})
            if kind != "before"
        ]
        yield "\n".join([f"3. Interventions {about}: loss less that as trained, {len(texts)} texts, nats", *lines])
    lines = []
    for name, one in parts("tiny").items():
        excess = one["as trained"].mean() - one["truncated"].mean()
        shown = "  ".join(
            f"{kind} {over_texts((one['as trained'] - one[kind]) / excess)}" for kind in one if kind != "as trained"
        )
        lines.append(f"{name} excess loss {excess:.2f}: removed by {shown}")
    yield "\n".join(["3b. The same in models of 0.3 million parameters at twice their length of 128", *lines])
    methods = dict.fromkeys(part.split("/")[1] for part in parts("extension"))
    lines = [
        f"{method:<14} " + "  ".join(f"{block} {value}" for block, value in extended(method).items())
        for method in methods
    ]
    yield "\n".join(["4. Frequencies scaled by 2, not fine-tuned: loss less that as trained, nats", *lines])
    lines = []
    for method, by_length in needles().items():
        shown = "  ".join(
            f"{n}: {proportion(int(found.sum()), found.size)} of {found.size}" for n, found in by_length.items()
        )
        lines.append(f"{method:<14} {shown}")
    yield "\n".join(["4b. Needles found, chance 0.12", *lines])
    yield "\n".join(
        ["5. Heads with the clearest jobs", *(f"{job}: layer {at[0]}, head {at[1]}" for job, at in heads().items())]
    )


def clearest_heads(job: str, count: int = 8) -> list[tuple[int, int]]:
    """Layer and head of those with the largest mean attention weight for a job, the clearest first.

    The jobs are "previous" and "induction", on random tokens that are repeated, and "retrieval" (see `heads`).

    Raises:
        ValueError: no such job was measured.
    """
    found = [part[job] for name, part in parts("attention").items() if job in part and name != "by distance"]
    if not found:
        raise ValueError(f'job must be "previous", "induction" or "retrieval", got {job!r}')
    mean = np.mean(found, axis=0)  # (layers, heads)
    best = np.argsort(-mean, axis=None)[:count]
    return [(int(at) // mean.shape[1], int(at) % mean.shape[1]) for at in best]


def previous_token_heads(count: int = 8) -> list[tuple[int, int]]:
    """Layer and head of those with the largest mean weight on the token before, on repeated random tokens."""
    return clearest_heads("previous", count)


def ablated_heads() -> np.ndarray:
    """What `previous_token_heads` attend to, with a mean part of pairs 0 to 15 removed from their logits.

    Mean attention weights on the query's own token, the one before and the two before that, over five texts and three
    sequences of random tokens, 497 queries each; shape (heads, 3, 4): as trained, without the sine part of E[q k̄],
    without its cosine part.
    """
    found = [part["weights at distances"] for name, part in parts("attention").items() if name.startswith("ablated/")]
    return np.asarray(np.mean(found, axis=0))


def heads(scores: Mapping[str, np.ndarray] | None = None) -> dict[str, tuple[int, int]]:
    """Layer and head with the largest mean attention weight for each job; `scores`: arrays by name, else what ships.

    On random tokens that are repeated: previous, on the token before; sink, on token 0; induction, on the token after
    the previous occurrence. In text: local, on distances 0 to 15, without the weight on the token before. In a question
    about a needle: retrieval, on the right word.
    """
    if scores is None:
        scores = {f"{part}/{name}": array for part, one in parts("attention").items() for name, array in one.items()}

    def mean(name: str) -> np.ndarray:
        found = [array for key, array in scores.items() if key.endswith(f"/{name}") and "by distance" not in key]
        return np.asarray(np.mean(found, axis=0))

    jobs = {"previous": mean("previous"), "induction": mean("induction"), "retrieval": mean("retrieval")}
    jobs["sink"] = np.mean(
        [array for key, array in scores.items() if "repeated" in key and key.endswith("/sink")], axis=0
    )
    jobs["local"] = mean("near") - jobs["previous"]
    best = {job: np.unravel_index(score.argmax(), score.shape) for job, score in jobs.items()}
    return {job: (int(layer), int(head)) for job, (layer, head) in best.items()}
