"""An n-gram cache of the distant past, to see whether a longer context holds anything useful.

If a model's loss doesn't fall with a longer text, it may be unable to use the distant past, or there may be nothing to
use. The cache tells the two apart: it looks up what followed the last few tokens where they occurred before the model's
context, and its prediction is mixed with the model's.
"""

from __future__ import annotations

import numpy as np

from posenc._arrays import check_int

MIN_MATCH, MAX_MATCH = 3, 16  # tokens that must match, and from which longer matches count alike


def cache_predictions(tokens: np.ndarray, targets: np.ndarray, context: int) -> tuple[np.ndarray, np.ndarray]:
    """The longest earlier match of the last tokens, and the frequency of the target after matches of that length.

    Args:
        tokens: a text, integers, shape (length,).
        targets: the tokens after each of the last n, shape (n,).
        context: how many tokens, up to and with the present one, do not count as past.

    Returns:
        lengths of the longest matches, from `MIN_MATCH` to `MAX_MATCH` tokens, 0 where there is none, and the
        probabilities of the targets, shape (n,) each.

    Raises:
        ValueError: more targets than tokens.

    Example:
        >>> lengths, probabilities = cache_predictions(np.array([1, 2, 3, 4, 9, 1, 2, 3]), np.array([4]), context=4)
        >>> lengths.tolist(), probabilities.tolist()
        ([3], [1.0])
    """
    length, count = len(tokens), len(targets)
    if count > length:
        raise ValueError(f"targets must be at most the {length} tokens, got {count}")
    lengths, probabilities = np.zeros(count, int), np.zeros(count)
    for number, target in enumerate(targets):
        here = length - count + number
        # The token after a match must be farther back than the context, too.
        ends = np.arange(MIN_MATCH - 1, here - check_int("context", context))
        matched = np.zeros(len(ends), int)
        matching = np.ones(len(ends), bool)
        for back in range(min(MAX_MATCH, here + 1)):
            matching &= (ends >= back) & (tokens[ends - back] == tokens[here - back])
            matched += matching
        longest = int(matched.max(initial=0))
        if longest >= MIN_MATCH:
            lengths[number] = longest
            probabilities[number] = (tokens[ends[matched == longest] + 1] == target).mean()
    return lengths, probabilities


def mixed_losses(losses: np.ndarray, lengths: np.ndarray, probabilities: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The losses of a model mixed with the cache, with one weight per length of the match.

    The weights are fitted on one half of the groups and used on the other, both ways.

    Args:
        losses: of the model, in nats, shape (texts, n).
        lengths, probabilities: of `cache_predictions` for each text, shape (texts, n).
        groups: of the texts, integers, shape (texts,); windows of one file share a group.

    Returns:
        nats, shape (texts, n).
    """
    model, mixed = np.exp(-losses), losses.copy()
    half = np.broadcast_to(groups[:, None] % 2, losses.shape)
    for length in range(MIN_MATCH, MAX_MATCH + 1):
        for fitted in (0, 1):
            use = (lengths == length) & (half != fitted)
            fit = (lengths == length) & (half == fitted)
            weight = _weight(model[fit], probabilities[fit])
            mixed[use] = -np.log((1 - weight) * model[use] + weight * probabilities[use])
    return mixed


def _weight(model: np.ndarray, cache: np.ndarray) -> float:
    """The maximum-likelihood weight of the cache, by expectation–maximisation."""
    weight = 0.5
    for _ in range(50 if len(model) else 0):
        of_cache = weight * cache
        weight = float((of_cache / ((1 - weight) * model + of_cache)).mean())
    return min(weight, 0.999) if len(model) else 0.0
