"""posenc.absolute: listings by hand, waves and shifts, learned tables, two libraries, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import (
    binary,
    dyadic,
    harmonic,
    integer,
    learned,
    normalised,
    radix,
    relative_positions,
    shift_matrix,
    sinusoidal,
    timestep_embedding,
)

pairs = st.integers(1, 64)
bases = st.floats(1.0, 1e8)
layouts = st.sampled_from(["interleaved", "half-split"])
offsets = st.floats(-1000, 1000).map(lambda offset: round(offset, 3))
whole_positions = st.integers(0, 2**53 - 1)
TABLE = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 1.0]])


# Counting and digits


def test_counting_listings():
    assert integer(range(5), 4).tolist() == [[t] * 4 for t in range(5)]
    np.testing.assert_array_equal(normalised(range(5), 5, 4)[:, 0], [0, 0.2, 0.4, 0.6, 0.8])
    assert normalised([0], 1, 2).tolist() == [[0, 0]]
    with pytest.raises(ValueError, match=r"positions must be at most 4 \(the last of length = 5\), got 9 in \[0, 9\]"):
        normalised([0, 9], 5, 4)


@given(st.lists(whole_positions, max_size=5), st.integers(2, 1000))
def test_digits_are_those_of_whole_number_arithmetic(at, k):
    dim = math.ceil(53 / math.log2(k))
    digits = radix(at, dim, k)
    assert digits.shape == (len(at), dim)
    assert digits.tolist() == [[t // k**i % k for i in range(dim)] for t in at]
    assert binary(at, 53).tolist() == [[t >> i & 1 for i in range(53)] for t in at]


def test_digits_by_hand():
    assert radix(83, 3, 6).tolist() == [5, 1, 2]  # 5 + 1·6 + 2·36
    assert radix([255, 16], 2, 16).tolist() == [[15, 15], [0, 1]]
    assert radix(15, 2, 16, normalise=True).tolist() == [1, 0]
    assert radix(3, 2000, 2)[:3].tolist() == [1, 1, 0]  # a power too large for a float is no matter
    with pytest.raises(ValueError, match=r"at most 4095 \(the last that dim = 12 digits to radix 2.*got 4999"):
        binary(np.arange(5000), 12)


# Waves


def test_sines_of_the_early_codes():
    t = np.array([0.0, 1.0, -2.5, 1000.0])
    np.testing.assert_allclose(harmonic(t, 3), np.sin(np.stack([t, t / 2, t / 3], axis=-1)), atol=1e-15)
    np.testing.assert_allclose(dyadic(t, 4), np.sin(np.stack([t, t / 2, t / 4, t / 8], axis=-1)), atol=1e-15)


@given(offsets, st.integers(1, 33), bases)
def test_sinusoidal_is_the_papers_formula(t, dim, base):
    """A plain loop from Vaswani et al. 2017, section 3.5; an odd width stops after its last sine."""
    expected = [
        math.sin(t / base ** (i / dim)) if i % 2 == 0 else math.cos(t / base ** ((i - 1) / dim)) for i in range(dim)
    ]
    np.testing.assert_allclose(sinusoidal(t, dim, base), expected, atol=2e-12)
    np.testing.assert_allclose(
        sinusoidal(t, dim, base, "half-split"), [*expected[0::2], *expected[1::2]], atol=2e-12
    )  # ceil(dim/2) sines, then floor(dim/2) cosines


@given(st.integers(2, 300), bases)
def test_denominators_of_tensor2tensor(pairs, base):
    dim = 2 * pairs
    code = sinusoidal(1, dim, base, "half-split", denominators="tensor2tensor")
    expected = [math.sin(base ** (-i / (dim / 2 - 1))) for i in range(dim // 2)]
    np.testing.assert_allclose(code[: dim // 2], expected, rtol=1e-12)
    assert code[dim // 2 - 1] == np.sin(1 / base)  # exactly the base, which the paper's list does not reach


def test_tensor2tensor_at_width_two_has_one_time_scale():
    np.testing.assert_array_equal(sinusoidal([3, 4], 2, 50.0, denominators="tensor2tensor"), sinusoidal([3, 4], 2))


@given(offsets, offsets, pairs, bases, layouts)
def test_a_shift_is_one_matrix_wherever_it_starts(t, k, pairs, base, layout):
    moved = shift_matrix(k, 2 * pairs, base, layout) @ sinusoidal(t, 2 * pairs, base, layout)
    np.testing.assert_allclose(moved, sinusoidal(t + k, 2 * pairs, base, layout), atol=2e-12)


# Relative positions


def test_relative_positions_are_key_minus_query():
    assert relative_positions([2], np.arange(5)).tolist() == [[-2, -1, 0, 1, 2]]
    assert relative_positions([0, 1, 2], [0, 1]).tolist() == [[0, 1], [-1, 0], [-2, -1]]
    batched = relative_positions([[0, 10], [5, 6]], [[0.5], [7.0]])
    assert batched.tolist() == [[[0.5], [-9.5]], [[2.0], [1.0]]]


# Learned tables


def test_a_learned_table_is_looked_up():
    assert learned([2, 0, 2], TABLE).tolist() == [[4, 1], [0, 1], [4, 1]]
    assert learned(1, TABLE).tolist() == [2, 5]
    assert learned([[0], [1]], TABLE).shape == (2, 1, 2)
    assert learned([0], TABLE.astype(np.float32)).dtype == np.float32


def test_positions_past_the_end():
    with pytest.raises(ValueError, match=r"at most 2 \(the table has 3 rows\), got 7 in \[0, 7, 3\]"):
        learned([0, 7, 3], TABLE)
    assert learned([1, 2, 3, 1000], TABLE, past_end="clamp").tolist() == [[2, 5], [4, 1], [4, 1], [4, 1]]


def test_a_stretched_table():
    stretched = learned(np.arange(5), TABLE, past_end="interpolate", length=5)
    assert stretched.tolist() == [[0, 1], [1, 3], [2, 5], [3, 3], [4, 1]]
    assert learned([0], TABLE, past_end="interpolate", length=1).tolist() == [[0, 1]]
    assert learned([0, 3], TABLE[:1], past_end="interpolate", length=4).tolist() == [[0, 1], [0, 1]]
    with pytest.raises(ValueError, match=r"at most 4 \(the last of length = 5\), got 5"):
        learned([5], TABLE, past_end="interpolate", length=5)


def test_a_stretched_table_is_computed_in_float64_and_keeps_its_dtype():
    table = np.array([[1.0], [0.001]], dtype=np.float16)
    stretched = learned(np.arange(50), table, past_end="interpolate", length=50)
    assert stretched.dtype == np.float16
    expected = np.interp(np.arange(50) / 49, [0, 1], table[:, 0].astype(np.float64))
    np.testing.assert_array_equal(stretched[:, 0], expected.astype(np.float16))


# Shapes, and arrays of every kind

CODES = {
    "integer": lambda at: integer(at, 6),
    "normalised": lambda at: normalised(at, 40, 6),
    "binary": lambda at: binary(at, 6),
    "radix": lambda at: radix(at, 6, 3, normalise=True),
    "harmonic": lambda at: harmonic(at, 6),
    "dyadic": lambda at: dyadic(at, 6),
    "sinusoidal": lambda at: sinusoidal(at, 6, layout="half-split"),
    "sinusoidal, odd": lambda at: sinusoidal(at, 7)[..., :6],
    "sinusoidal, tensor2tensor": lambda at: sinusoidal(at, 6, denominators="tensor2tensor"),
    "a row of the shift matrix": lambda at: shift_matrix(at, 6)[..., 0, :],
}


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_positions_of_any_shape(code):
    at = np.arange(24).reshape(2, 3, 4)
    whole = code(at)
    assert whole.shape == (2, 3, 4, 6)
    assert whole.dtype == np.float64
    np.testing.assert_array_equal(code(at.transpose(2, 0, 1)[::2]), whole.transpose(2, 0, 1, 3)[::2])
    np.testing.assert_array_equal(code(5), whole[0, 1, 1])
    np.testing.assert_array_equal(code(at.tolist()), whole)
    np.testing.assert_array_equal(code(at.astype(np.int16)), whole)
    assert code(np.empty((2, 0))).shape == (2, 0, 6)


@pytest.mark.torch
@pytest.mark.parametrize("name", CODES)
def test_torch_gets_what_numpy_gets(torch, name):
    code = CODES[name]
    for at in (torch.arange(24).reshape(2, 3, 4), torch.arange(12.0)[::3], torch.tensor(7), torch.empty(0)):
        answer = code(at)
        assert answer.dtype == (torch.float64 if "shift" in name else torch.float32)  # float32 as embeddings have it
        np.testing.assert_allclose(answer, code(at.numpy()), rtol=1e-6, atol=1e-7)


@pytest.mark.torch
@pytest.mark.parametrize("encoding", [integer, binary, harmonic, dyadic, sinusoidal])
def test_dtype_is_that_of_the_answer_and_rounded_once(torch, encoding):
    t = torch.arange(12)
    exact = encoding(t, 6, dtype=torch.float64)
    np.testing.assert_allclose(exact, encoding(t.numpy(), 6), rtol=1e-12, atol=1e-15)
    assert torch.equal(encoding(t, 6, dtype=torch.bfloat16), exact.bfloat16())
    assert encoding(t.numpy(), 6, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError, match="dtype must be None or a floating dtype"):
        encoding(t, 6, dtype=torch.int64)


# diffusers 0.42.1, get_timestep_embedding(17.5, 7) with torch 2.13, float32: with flip_sin_to_cos=False and
# downscale_freq_shift=1, and with True and 0
DIFFUSERS = {
    "ddpm": [-0.975626, 0.1741081, 0.001749999, 0.21944, 0.9847265, 0.9999985, 0.0],
    "adm": [0.21944, 0.6878467, 0.9992893, -0.975626, 0.725856, 0.03769368, 0.0],
}


@pytest.mark.parametrize("convention", DIFFUSERS)
def test_timestep_embedding_is_that_of_diffusers(convention):
    np.testing.assert_allclose(timestep_embedding(17.5, 7, convention=convention), DIFFUSERS[convention], atol=2e-6)


@pytest.mark.torch
def test_like_picks_the_library(torch):
    like = torch.zeros(1, dtype=torch.bfloat16)
    assert sinusoidal([0, 1], 4, like=like).dtype == torch.float32  # library and device of like, not its dtype
    assert shift_matrix(3, 4, like=like).dtype == torch.float64
    np.testing.assert_allclose(shift_matrix(3, 4, like=like), shift_matrix(3, 4), atol=1e-15)
    with pytest.raises(TypeError, match="cannot mix Tensor and ndarray"):
        learned(np.arange(3), torch.from_numpy(TABLE))


# Other people's code


@pytest.mark.torch
@pytest.mark.parametrize("dim", [2, 7, 64])
def test_sinusoidal_equals_transformers(torch, dim):
    """Marian's table is half-split, XLM's interleaved; both are rounded to float32, of which 6e-8 is half a step."""
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
    from transformers.models.xlm.modeling_xlm import create_sinusoidal_embeddings

    at = torch.arange(300)
    marian = MarianSinusoidalPositionalEmbedding(300, dim).create_weight()
    np.testing.assert_allclose(sinusoidal(at, dim, layout="half-split"), marian, atol=6e-8)
    xlm = create_sinusoidal_embeddings(300, dim, torch.empty(300, dim))
    np.testing.assert_allclose(sinusoidal(at, dim), xlm, atol=6e-8)


@pytest.mark.torch
@pytest.mark.parametrize("dim", [4, 64])
def test_tensor2tensor_equals_transformers(torch, dim):
    """FSMT and Whisper write tensor2tensor's table in float32: their angles carry 1e-6 relative."""
    from transformers.models.fsmt.modeling_fsmt import SinusoidalPositionalEmbedding
    from transformers.models.whisper.modeling_whisper import sinusoids

    at = torch.arange(50)
    ours = sinusoidal(at, dim, layout="half-split", denominators="tensor2tensor")
    for theirs in (SinusoidalPositionalEmbedding.get_embedding(50, dim, None), sinusoids(50, dim)):
        assert (torch.abs(ours - theirs) <= 1e-6 * torch.clamp(at, min=1)[:, None]).all()


# Refusals that are about two arguments at once


def test_whole_numbers_that_a_float_cannot_tell_apart():
    assert integer(2**53 - 1, 1) == 2**53 - 1
    for code in (lambda t: integer(t, 1), lambda t: radix(t, 99, 2), lambda t: learned(t, TABLE, past_end="clamp")):
        with pytest.raises(ValueError, match=rf"positions must be below {2**53}, .* got {2**53 + 1}"):
            code(2**53 + 1)


def test_odd_widths_that_have_no_answer():
    with pytest.raises(ValueError, match="dim must be even with denominators='tensor2tensor', got 7"):
        sinusoidal([1], 7, denominators="tensor2tensor")
    with pytest.raises(ValueError, match="dim must be even and positive.*got 7"):
        shift_matrix(1, 7)


def test_length_goes_with_interpolation():
    for past_end in ("refuse", "clamp"):
        with pytest.raises(ValueError, match=f"only there, got length=5 with '{past_end}'"):
            learned([0], TABLE, past_end=past_end, length=5)
    with pytest.raises(ValueError, match="length must be given.*got length=None with 'interpolate'"):
        learned([0], TABLE, past_end="interpolate")
