"""posenc.analysis, all parts alike: torch, gradients, floats of any width and order."""

import numpy as np
import pytest

from posenc.analysis import (
    decay,
    defined_fraction,
    expected_score,
    fingerprint_difference,
    fit_scores,
    four_terms,
    kernel_asymmetry,
    kernel_residual,
    left_right_difference,
    length_dependence,
    max_norm,
    min_distance,
    monotonicity_violations,
    needle_weight,
    offset_kernel,
    pairs_reaching,
    pairwise_weight,
    period,
    shift_residual,
    translation_residual,
    unseen_angles,
)
from posenc.frequencies import inv_freq


@pytest.mark.torch
def test_torch_gets_what_numpy_gets_from_tables_and_kernels():
    import torch

    rng = np.random.default_rng(3)
    codes, kernel = rng.standard_normal((40, 6)), rng.standard_normal((7, 9))
    x_t, x_s, p_t, p_s = rng.standard_normal((4, 5, 6))
    w_q, w_k = rng.standard_normal((2, 3, 6))
    a, b = rng.standard_normal((2, 3))
    theta, n = inv_freq(12, 1e3), np.array([1, 5, 900])
    calls = [
        (lambda theta: decay([0, 1, 5], theta), (theta,)),
        (lambda theta: expected_score(3, theta, 0.3), (theta,)),
        (lambda theta: fingerprint_difference(500, 501, theta), (theta,)),
        (lambda theta: unseen_angles(theta, 50, 90), (theta,)),
        (lambda y, theta: fit_scores(y, theta, min_rotations=1), (rng.standard_normal(50), theta)),
        *[(function, (codes,)) for function in (min_distance, max_norm, translation_residual, left_right_difference)],
        (lambda codes: shift_residual(codes, 2), (codes,)),
        (lambda codes: length_dependence(codes[:9], codes + 1), (codes,)),
        (four_terms, (x_t, x_s, p_t, p_s, w_q, w_k)),
        (lambda weight: offset_kernel([-1, 0, 1.5], [0, 7], 6, 1e3, weight), (codes[:6],)),
        (pairwise_weight, (a, b)),
        *[(function, (kernel,)) for function in (kernel_residual, kernel_asymmetry)],
        (lambda n: needle_weight(n, 4, 0.7), (n,)),
    ]
    for function, given_arrays in calls:
        from_numpy = function(*given_arrays)
        from_torch = function(*(torch.from_numpy(np.ascontiguousarray(array)) for array in given_arrays))
        several = isinstance(from_numpy, tuple)
        for one, other in zip(*((from_torch, from_numpy) if several else ([from_torch], [from_numpy])), strict=True):
            assert isinstance(one, torch.Tensor)
            assert one.dtype == torch.float64
            assert tuple(one.shape) == np.shape(other)
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)
    table = torch.from_numpy(codes)
    assert monotonicity_violations(table) == monotonicity_violations(codes)
    assert period(table.repeat(3, 1)) == 40
    assert pairs_reaching(torch.from_numpy(theta), 50, 1.0) == pairs_reaching(theta, 50, 1.0)
    assert defined_fraction(lambda at: table[torch.from_numpy(at)], 30, 50) == 0.5
    weight = torch.from_numpy(rng.standard_normal((4, 4))).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: offset_kernel([-1, 0, 2], [3, 4], 4, weight=w), (weight,))
