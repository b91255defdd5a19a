"""What the far past of a text is worth: an n-gram cache beside a model that sees only the nearest tokens.

A model whose loss does not fall with a longer text may be unable to use what is far, or there may be nothing to use.
The cache tells the two apart. It looks up what followed the last few tokens when they stood somewhere farther back
than the model sees, and its guess is mixed with the model's. What that gains is there to be gained.
"""

from __future__ import annotations

import numpy as np

from posenc._arrays import check_int

LEAST, MOST = 3, 16  # tokens that must agree, and up to which longer agreements are told apart


def far_guesses(tokens: np.ndarray, targets: np.ndarray, near: int) -> tuple[np.ndarray, np.ndarray]:
    """How many of the last tokens stood together in the far past, and how often the target followed them there.

    Args:
        tokens: a text, whole numbers of shape (length,).
        targets: what follows each of its last tokens, shape (asked,); that of the last token comes last.
        near: how many tokens up to and with the present one do not count as past.

    Returns:
        the longest agreement, from `LEAST` to `MOST` tokens and 0 where there is none; and, of the places that agree so
        far, the share after which the target came. Shape (asked,) each.

    Raises:
        ValueError: more targets than tokens.

    Example:
        >>> lengths, shares = far_guesses(np.array([1, 2, 3, 4, 9, 1, 2, 3]), np.array([4]), near=4)
        >>> lengths.tolist(), shares.tolist()
        ([3], [1.0])
    """
    length, asked = len(tokens), len(targets)
    if asked > length:
        raise ValueError(f"targets must be at most the {length} tokens, got {asked}")
    lengths, shares = np.zeros(asked, int), np.zeros(asked)
    for number, target in enumerate(targets):
        here = length - asked + number
        # The token after a place in the past is known too, and must be farther back than what is near.
        places = np.arange(LEAST - 1, here - check_int("near", near))
        agree = np.zeros(len(places), int)
        going = np.ones(len(places), bool)
        for back in range(min(MOST, here + 1)):
            going &= (places >= back) & (tokens[places - back] == tokens[here - back])
            agree += going
        longest = int(agree.max(initial=0))
        if longest >= LEAST:
            lengths[number] = longest
            shares[number] = (tokens[places[agree == longest] + 1] == target).mean()
    return lengths, shares


def mixed_losses(losses: np.ndarray, lengths: np.ndarray, shares: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The losses of a model to whose guesses those of the cache are mixed, with a weight for each length of agreement.

    The weights are fitted on one half of the groups and used on the other, both ways.

    Args:
        losses: of the model, in nats, shape (texts, asked).
        lengths, shares: as `far_guesses` gives them for each text, shape (texts, asked).
        groups: of the texts, whole numbers of shape (texts,): those of one file belong together.

    Returns:
        nats, shape (texts, asked).
    """
    model, mixed = np.exp(-losses), losses.copy()
    half = np.broadcast_to(groups[:, None] % 2, losses.shape)
    for length in range(LEAST, MOST + 1):
        for fitted in (0, 1):
            use = (lengths == length) & (half != fitted)
            fit = (lengths == length) & (half == fitted)
            weight = _weight(model[fit], shares[fit])
            mixed[use] = -np.log((1 - weight) * model[use] + weight * shares[use])
    return mixed


def _weight(model: np.ndarray, cache: np.ndarray) -> float:
    """The weight of the second of two guesses that makes what came likeliest, by expectation and maximisation."""
    weight = 0.5
    for _ in range(50 if len(model) else 0):
        ours = weight * cache
        weight = float((ours / ((1 - weight) * model + ours)).mean())
    return min(weight, 0.999) if len(model) else 0.0
