"""A trained model of the laboratory: what an answer is given of it, and what it says itself."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _loaded(name: str) -> Any:
    from posenc.lab import load_weights  # brings the schemes, which most checks do without

    return load_weights(name)


def given(name: str) -> tuple[Any, ...]:
    """Its weights by name, number of heads, base, and trained length in tokens; nothing where no model is named."""
    if not name:
        return ()
    weights, _, run = _loaded(name)
    return weights, run.config().n_heads, run.scheme_options[1]["base"], run.settings.length


def frequencies(name: str) -> Any:
    """The speeds that it was trained with, in radians a token, shape (pairs,)."""
    return _loaded(name).scheme.frequencies().inv_freq


def logits(name: str, tokens: Any, inv_freq: Any, attention_factor: float) -> Any:
    """Its logits, (texts, length, vocabulary), with other speeds in radians a token, and an attention factor.

    tokens: (texts, length). inv_freq: (pairs,), all greater than 0.
    """
    from posenc.lab.evaluate import with_scheme

    model = _loaded(name)
    slower = [float(times) for times in frequencies(name) / inv_freq]
    options = {"short_factor": slower, "long_factor": slower, "attention_factor": float(attention_factor)}
    options["original_max_position_embeddings"] = model.run.settings.length
    return with_scheme(model, model.run.make_scheme(scaling="longrope", scaling_options=options))(tokens)
