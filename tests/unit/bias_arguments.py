"""Arguments that the tests of posenc.bias share."""

import numpy as np

from posenc.absolute import relative_positions


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def square(length):
    return relative_positions(np.arange(length), np.arange(length))


def xl_arguments(heads=2, queries=3, keys=5, dim=4, both=False, seed=0):
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, heads, queries, dim)), rng.standard_normal((2, heads, keys, dim))
    u, v = rng.standard_normal((2, heads, dim))
    return q, k, rng.standard_normal((heads, keys + queries - 1 if both else keys, dim)), u, v


def deberta_arguments(queries=5, keys=6, span=2, seed=0):
    rng = np.random.default_rng(seed)
    tables = rng.standard_normal((2, 3, 2 * span, 4))
    offsets = relative_positions(np.arange(queries) + keys - queries, np.arange(keys))
    return rng.standard_normal((2, 3, queries, 4)), rng.standard_normal((2, 3, keys, 4)), *tables, offsets
