"""The n-gram cache: what it finds far back, and that it gains nothing where nothing is to be found."""

import numpy as np
import pytest

from posenc.lab.cache import MAX_MATCH, MIN_MATCH, cache_predictions, mixed_losses


def by_loops(tokens, targets, near):
    """The longest agreement and the share that followed it, place by place."""
    length, found = len(tokens), []
    for number, target in enumerate(targets):
        here = length - len(targets) + number
        agreed = {}
        for place in range(here - near):
            back = 0
            while back < MAX_MATCH and back <= place and tokens[place - back] == tokens[here - back]:
                back += 1
            agreed.setdefault(back, []).append(tokens[place + 1] == target)
        longest = max(agreed, default=0)
        found.append((longest, np.mean(agreed[longest])) if longest >= MIN_MATCH else (0, 0.0))
    return found


@pytest.mark.parametrize("near", [1, 8, 40])
def test_the_longest_agreement_is_found(near):
    random = np.random.RandomState(0)
    for _ in range(5):
        text = random.randint(2, size=65)
        lengths, probabilities = cache_predictions(text[:-1], text[-12:], near)
        assert list(zip(lengths.tolist(), probabilities.tolist(), strict=True)) == by_loops(text[:-1], text[-12:], near)


def test_what_is_mixed_in_is_weighed_by_what_it_is_worth():
    """A cache that is always right is believed, one that guesses at random is not, and nobody is judged by himself."""
    random = np.random.RandomState(0)
    losses, groups = np.full((400, 8), 1.5), np.arange(400) % 10
    lengths = random.randint(2, 6, size=losses.shape) * (random.random_sample(losses.shape) < 0.5)
    lengths[lengths < MIN_MATCH] = 0
    right = mixed_losses(losses, lengths, np.ones_like(losses), groups)
    np.testing.assert_allclose(right[lengths > 0], 0, atol=0.01)
    np.testing.assert_array_equal(right[lengths == 0], 1.5)
    useless = mixed_losses(losses, lengths, random.random_sample(losses.shape) < 0.05, groups)
    assert abs(useless.mean() - 1.5) < 0.01


def test_the_weight_comes_from_the_other_half_of_the_files():
    """Files of even number are always right, those of odd number never: each is mixed by what the other was worth."""
    losses, lengths = np.full((20, 4), 1.5), np.full((20, 4), MIN_MATCH)
    groups = np.arange(20) % 10
    probabilities = np.broadcast_to((groups % 2 == 0)[:, None], losses.shape).astype(float)
    mixed = mixed_losses(losses, lengths, probabilities, groups)
    np.testing.assert_allclose(mixed[groups % 2 == 0], 1.5, atol=1e-6)
    assert mixed[groups % 2 == 1].min() > 5
