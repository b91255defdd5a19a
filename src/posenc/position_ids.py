"""Position ids of packed sequences, images, videos and mixed inputs. NumPy, int64 by default."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posenc._arrays import check_int, check_positive, describe


def packed_position_ids(lengths: Sequence[int]) -> np.ndarray:
    """Position ids of several sequences that are packed into one row: each counts from 0.

    `lengths` are integers of at least 0, tokens in each. Returns int64, shape (sum of lengths,).

    >>> packed_position_ids([3, 2]).tolist()
    [0, 1, 2, 0, 1]
    """
    if isinstance(lengths, str) or not hasattr(lengths, "__len__"):
        raise TypeError(f"lengths must be a list of integers, got {describe(lengths)}")
    return np.concatenate([np.arange(0), *(np.arange(check_int("lengths", n, 0)) for n in lengths)])


def grid_position_ids(*sizes: int) -> np.ndarray:
    """Position ids of the patches of an image (rows, columns) or a video (frames, rows, columns), for axial RoPE.

    `sizes`, integers of at least 1, are patches along each axis; the last axis runs fastest, as when a grid is
    flattened. Returns int64, shape (product of sizes, axes).

    >>> grid_position_ids(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    if not sizes:
        raise ValueError("sizes must name at least one axis, got none")
    grid = np.indices([check_int("sizes", size) for size in sizes])  # (axes, *sizes)
    return grid.reshape(len(sizes), -1).T


def mrope_position_ids(
    segments: Sequence[int | tuple[int, int, int]], *, temporal_step: float = 1, start: int = 0
) -> np.ndarray:
    """Position ids (time, height, width) of text, images and videos in one sequence, for M-RoPE.

    A text token has one position on all three axes. The patches of an image or video begin at the next free position
    on every axis and count along their own; text goes on after the largest position used.

    Args:
        segments: an integer for so many text tokens, or (frames, rows, columns) for an image (one frame) or a video:
            patches after the model's spatial merge.
        temporal_step: positions from one frame to the next, greater than 0: 1 in Qwen2-VL; tokens_per_second times
            seconds per frame in Qwen2.5-VL, whose code cuts fractions off, as is done here.
        start: the first position.

    Returns int64, shape (length, 3), for `Rope(axes=sections(mrope_section))`; transformers has (3, batch, length).
    Source: Wang et al. 2024, "Qwen2-VL", section 2.1; Bai et al. 2025, "Qwen2.5-VL Technical Report", section 2.1.

    >>> mrope_position_ids([2, (1, 2, 2), 1]).tolist()
    [[0, 0, 0], [1, 1, 1], [2, 2, 2], [2, 2, 3], [2, 3, 2], [2, 3, 3], [4, 4, 4]]
    """
    step, position = check_positive("temporal_step", temporal_step), check_int("start", start, 0)
    parts = [np.empty((0, 3), dtype=np.int64)]
    for segment in segments:
        if isinstance(segment, tuple):
            if len(segment) != 3:
                raise ValueError(f"segments must be integers or (frames, rows, columns), got {segment!r}")
            ids = grid_position_ids(*segment)
            ids[:, 0] = np.floor(ids[:, 0] * step)
        else:
            ids = np.repeat(np.arange(check_int("segments", segment, 0))[:, None], 3, axis=1)
        parts.append(position + ids)
        position = int(parts[-1].max()) + 1 if len(ids) else position
    return np.concatenate(parts)
