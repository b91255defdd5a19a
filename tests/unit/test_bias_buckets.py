"""posenc.bias.buckets: published buckets, where each starts, and the formula."""

import numpy as np

from posenc.absolute import relative_positions
from posenc.bias import t5, t5_bucket
from tests.unit.bias_arguments import normal

CAUSAL_STARTS = [*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]


def test_published_buckets():
    offsets = [-200, -128, -127, -64, -32, -17, -16, -15, -9, -8, -1, 0, 1, 7, 8, 9, 15, 16, 17, 32, 64, 127, 128, 200]
    both = [15, 15, 15, 14, 12, 10, 10, 9, 8, 8, 1, 0, 17, 23, 24, 24, 25, 26, 26, 28, 30, 31, 31, 31]
    causal = [31, 31, 31, 26, 21, 16, 16, 15, 9, 8, 1] + 13 * [0]
    got = t5_bucket(offsets, bidirectional=True)
    assert got.dtype == np.int64
    assert got.tolist() == both
    assert t5_bucket(offsets, bidirectional=False).tolist() == causal
    assert t5_bucket(-3, bidirectional=False) == 3


def test_where_causal_buckets_start():
    distance = np.arange(1000)
    buckets = t5_bucket(-distance, bidirectional=False)
    assert [int(np.argmax(buckets == bucket)) for bucket in range(32)] == CAUSAL_STARTS
    assert (np.diff(buckets) > 0).sum() == 31  # C155
    assert (buckets[113:] == 31).all()  # C154


def test_where_buckets_in_both_directions_start():
    distance = np.arange(1, 1000)
    before, after = (t5_bucket(sign * distance, bidirectional=True) for sign in (-1, 1))
    np.testing.assert_array_equal(after, before + 16)
    assert distance[np.argmax(before == 15)] == 91  # C154
    assert (before[90:] == 15).all()


def test_t5_looks_up_one_number_for_each_head():
    table = normal(32, 3)
    offsets = relative_positions(np.arange(5), np.arange(-195, 5))
    for bidirectional in (False, True):
        bias = t5(offsets, table, bidirectional=bidirectional)
        assert bias.shape == (3, 5, 200)
        np.testing.assert_array_equal(bias[..., 1:, 1:], bias[..., :-1, :-1])
        for head, i, j in ((0, 0, 0), (1, 4, 195), (2, 0, 199), (1, 2, 198)):
            bucket = t5_bucket(j - 195 - i, bidirectional=bidirectional)
            assert bias[head, i, j] == table[bucket, head]
    farthest = t5(offsets, table, bidirectional=False)[:, -1, :86]  # 113 tokens away and more
    np.testing.assert_array_equal(farthest, np.broadcast_to(table[31][:, None], (3, 86)))
    assert t5(offsets, table.astype("float32"), bidirectional=True).dtype == np.float32
    near, far = (t5([[-50]], table, bidirectional=True, max_distance=limit)[:, 0, 0] for limit in (128, 20))
    np.testing.assert_array_equal(near, table[13])
    np.testing.assert_array_equal(far, table[15])
