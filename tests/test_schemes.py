"""posenc.schemes: decoding with a cache, shifts, order, each scheme against its functions, dtypes, refusals."""

import copy
import math
from itertools import product

import pytest

pytestmark = pytest.mark.torch

BATCH, HEADS, HEAD_DIM, LENGTH = 2, 2, 8, 9
DIM = HEADS * HEAD_DIM
HEADED = {"n_heads": HEADS}
CONTENT = {"n_heads": HEADS, "head_dim": HEAD_DIM, "std": 0.5, "seed": 1}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "rope_theta": 100.0}
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 4, "rope_theta": 100.0}

# What is tried of each scheme, by a label that begins with the scheme's name.
CASES = {
    "none": {},
    "none_with_temperature": {"factor": 1.3, "trained_length": 64},
    "integer": {"dim": DIM},
    "normalised": {"dim": DIM, "length": 64},
    "binary": {"dim": DIM},
    "sinusoidal": {"dim": DIM, "base": 100.0},
    "sinusoidal half": {"dim": DIM, "layout": "half"},
    "learned": {"dim": DIM, "max_positions": 64, "std": 1.0, "seed": 1},
    "learned clamp": {"dim": DIM, "max_positions": 4, "std": 1.0, "seed": 1, "past_end": "clamp"},
    "learned interpolate": {"dim": DIM, "max_positions": 4, "std": 1.0, "past_end": "interpolate", "length": 64},
    "rope": {"head_dim": HEAD_DIM},
    "rope half": {"head_dim": HEAD_DIM, "base": 100.0, "layout": "half", "attention_factor": 1.2},
    "rope partial": {"head_dim": HEAD_DIM, "base": 100.0, "rotary_dim": 4},
    "rope linear": {"head_dim": HEAD_DIM, "scaling": "linear", "scaling_options": {"factor": 4.0}},
    "rope dictionary": {"head_dim": HEAD_DIM, "scaling": YARN},
    "rope dynamic": {"head_dim": HEAD_DIM, "scaling": DYNAMIC, "seq_len": LENGTH},
    "xpos": {"head_dim": HEAD_DIM, "base": 100.0, "scale_base": 16.0},
    "xpos half": {"head_dim": HEAD_DIM, "layout": "half"},
    "alibi": HEADED,
    "alibi slopes": {**HEADED, "slopes": [0.5, 0.0625]},
    "alibi symmetric": {**HEADED, "causal": False},
    "t5": {**HEADED, "num_buckets": 6, "max_distance": 8, "std": 1.0, "seed": 1},
    "t5 encoder": {**HEADED, "num_buckets": 8, "max_distance": 8, "std": 1.0, "causal": False, "gain": 2.0},
    "sandwich": {**HEADED, "dim": 16, "base": 100.0},
    "kerple": {**HEADED, "seed": 1},
    "kerple power": {**HEADED, "kind": "power", "seed": 1},
    "fire": {**HEADED, "threshold": 2.0, "seed": 1},
    "transformer_xl": CONTENT,
    "transformer_xl encoder": {**CONTENT, "causal": False, "dim": 10, "base": 100.0},
    "tener": CONTENT,
    "tener decoder": {**CONTENT, "causal": True},
    "deberta": {**CONTENT, "span": 3},
}
DOORS = {
    "none": ["none", "none_with_temperature"],
    "input": ["integer", "normalised", "binary", "sinusoidal", "learned"],
    "query and key": ["rope", "xpos"],
    "logits": ["alibi", "t5", "sandwich", "kerple", "fire", "transformer_xl", "tener", "deberta"],
}
ABSOLUTE = {*DOORS["input"], "fire"}
ANY_POSITION = ["none", "none_with_temperature", "rope", "xpos", "alibi", "sandwich", "kerple"]
every_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture
def torch():
    import torch

    return torch


def name_of(case):
    return case.split()[0]


def make(case, **more):
    import torch

    from posenc.schemes import make_scheme

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return make_scheme(name_of(case), **{**CASES[case], **more})


def normal(*shape, seed=0, dtype=None):
    import torch

    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype or torch.float64)


WEIGHTS = {}


def projected(x):
    """Queries, keys and values of all heads, (batch, heads, length, head_dim) each."""
    if x.dtype not in WEIGHTS:  # torch.compile makes no generators of its own
        WEIGHTS[x.dtype] = normal(3, DIM, DIM, seed=7, dtype=x.dtype) / 4
    return [(x @ weight).unflatten(-1, (HEADS, HEAD_DIM)).transpose(1, 2) for weight in WEIGHTS[x.dtype]]


def attend(scheme, x, positions, causal=True):
    """One layer of attention over a whole sequence: output (batch, heads, length, head_dim)."""
    from posenc.attention import attention

    q, k, v = projected(scheme.embed(x, positions))
    q, k = scheme.rotate(q, k, positions)
    bias, scale = scheme.bias(q, k, positions), scheme.logit_scale(HEAD_DIM, x.shape[1])
    return attention(q, k, v, causal=causal, bias=bias, scale=scale).output


def inputs():
    return normal(BATCH, LENGTH, DIM)


def shapes_of(positions):
    return positions, positions[None], positions.expand(BATCH, -1)


# --- the interface --------------------------------------------------------------------------------------------------


def test_every_scheme_is_tried_and_says_its_door():
    from posenc.schemes import DOORS as known
    from posenc.schemes import SCHEMES

    assert {name_of(case) for case in CASES} == set(SCHEMES)
    assert {name: kind.door for name, kind in SCHEMES.items()} == {
        name: door for door, names in DOORS.items() for name in names
    }
    assert set(known) == set(DOORS)


@every_case
def test_only_its_door_opens(case, torch):
    scheme, positions = make(case).double(), torch.arange(LENGTH)
    x, (q, k, _) = inputs(), projected(inputs())
    turned = scheme.rotate(q, k, positions)
    assert torch.equal(scheme.embed(x, positions), x) == (scheme.door != "input")
    assert (turned[0] is q and turned[1] is k) == (scheme.door != "query and key")
    assert (scheme.bias(q, k, positions) is None) == (scheme.door != "logits")
    expected = {"t5": 1.0, "tener": 1.0, "deberta": 1 / math.sqrt(24), "none_with_temperature": 1.3 / math.sqrt(8)}
    assert scheme.logit_scale(HEAD_DIM, LENGTH) == pytest.approx(expected.get(name_of(case), 1 / math.sqrt(8)))


def test_causal_is_said_where_it_counts():
    said = {case: make(case).causal for case in CASES}
    assert {case for case, causal in said.items() if causal} == {
        "alibi", "alibi slopes", "t5", "fire", "transformer_xl", "tener decoder",
    }  # fmt: skip
    assert {case for case, causal in said.items() if causal is False} == {
        "alibi symmetric", "t5 encoder", "transformer_xl encoder", "tener",
    }  # fmt: skip


def test_a_scheme_of_ones_own(torch):
    """A subclass overrides one method and gets checked arguments."""
    from posenc.schemes import PositionScheme

    class Nearest(PositionScheme):
        door = "logits"

        def _bias(self, q, k, positions, key_positions):
            return -(positions[:, None] - key_positions).abs().to(q.dtype)

    q = normal(1, 2, 3, 4)
    scheme, positions = Nearest(), torch.tensor([0, 5, 6])
    assert scheme.bias(q, q, positions).tolist() == [[0, -5, -6], [-5, 0, -1], [-6, -1, 0]]
    assert scheme.rotate(q, q, positions)[0] is q
    with pytest.raises(ValueError, match="positions"):
        scheme.bias(q, q, torch.arange(4))


@every_case
def test_positions_of_every_shape(case, torch):
    """For all sequences, in one row for all, or in a row for each; queries and keys need not have the same shape."""
    scheme, x, positions = make(case).double(), inputs(), torch.arange(LENGTH)
    for each in shapes_of(positions):
        torch.testing.assert_close(scheme.embed(x, each), scheme.embed(x, positions), atol=0, rtol=0)
        torch.testing.assert_close(attend(scheme, x, each), attend(scheme, x, positions), atol=1e-12, rtol=0)
    q, k, _ = projected(x)
    q, at = q[:, :, -3:], positions[-3:]
    turned, bias = scheme.rotate(q, k, at, positions), scheme.bias(q, k, at, positions)
    for each, of_keys in product(shapes_of(at), shapes_of(positions)):
        torch.testing.assert_close(scheme.rotate(q, k, each, of_keys), turned, atol=1e-12, rtol=0)
        got = scheme.bias(q, k, each, of_keys)
        assert (got is None) == (bias is None) == (scheme.door != "logits")
        if bias is not None:
            wanted = bias.expand(BATCH, HEADS, 3, LENGTH)
            torch.testing.assert_close(got.expand_as(wanted), wanted, atol=1e-12, rtol=0)
    with pytest.raises(
        ValueError, match=rf"positions must have shape \({LENGTH},\), \(1, {LENGTH}\) or \({BATCH}, {LENGTH}\)"
    ):
        attend(scheme, x, positions.expand(BATCH + 1, LENGTH))


# --- decoding, shifts, order ----------------------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("per_batch", [False, True])
@pytest.mark.parametrize("kept", ["rotated", "unrotated"])
def test_step_by_step_is_the_whole_sequence(case, per_batch, kept, torch):
    """Each query alone, over a cache of keys that are kept as they were rotated, or rotated all at every step."""
    from posenc.attention import attention

    scheme, x = make(case).double(), inputs()
    positions = torch.arange(LENGTH) + torch.tensor([[3], [11]]) if per_batch else torch.arange(LENGTH)
    whole = attend(scheme, x, positions)
    q, k, v = projected(scheme.embed(x, positions))
    cache = torch.zeros(BATCH, HEADS, 0, HEAD_DIM, dtype=torch.float64)
    for step in range(LENGTH):
        here, past = slice(step, step + 1), slice(0, step + 1)
        at, keys_at = positions[..., here], positions[..., past]
        _, _, v_step = projected(scheme.embed(x[:, here], at))
        torch.testing.assert_close(v_step, v[:, :, here], atol=1e-12, rtol=0)
        if kept == "rotated":
            q_step, new = scheme.rotate(q[:, :, here], k[:, :, here], at)
            cache = torch.cat([cache, new], dim=2)
        else:
            q_step, cache = scheme.rotate(q[:, :, here], k[:, :, past], at, keys_at)
        bias = scheme.bias(q_step, cache, at, keys_at)
        scale = scheme.logit_scale(HEAD_DIM, step + 1)
        got = attention(q_step, cache, v[:, :, past], causal=True, bias=bias, scale=scale).output
        torch.testing.assert_close(got, whole[:, :, here], atol=1e-10, rtol=0)


@every_case
@pytest.mark.parametrize("causal", [True, False])
def test_moved_positions(case, causal, torch):
    """Where the text begins is seen by codes of the input and by FIRE, and by no other scheme."""
    scheme, x = make(case).double(), inputs()
    there, moved = (attend(scheme, x, torch.arange(LENGTH) + start, causal) for start in (2, 9))
    change = float((there - moved).abs().max().detach())
    if name_of(case) in ABSOLUTE:
        assert change > 1e-4
    else:
        assert change < 1e-10


@every_case
def test_moved_words_are_noticed(case, torch):
    """Without a mask, words in another order get the same outputs from NoPE, and from no other scheme."""
    scheme, x, order = make(case).double(), inputs(), torch.tensor([4, 0, 7, 2, 8, 1, 6, 3, 5])
    positions = torch.arange(LENGTH)
    there, moved = (attend(scheme, y, positions, causal=False) for y in (x, x[:, order]))
    change = float((there[:, :, order] - moved).abs().max().detach())
    if scheme.door == "none":
        assert change < 1e-12
    else:
        assert change > 1e-3


@every_case
def test_each_sequence_has_its_own_positions(case, torch):
    scheme, x = make(case).double(), inputs()
    gap = 1 if name_of(case) in ("transformer_xl", "tener") else 2
    positions = torch.stack([torch.arange(LENGTH), gap * torch.arange(LENGTH) + 20])
    together = attend(scheme, x, positions)
    for row in range(BATCH):
        alone = attend(scheme, x[row : row + 1], positions[row])
        torch.testing.assert_close(together[row], alone[0], atol=1e-12, rtol=0)


@pytest.mark.parametrize("case", [case for case in CASES if name_of(case) in ANY_POSITION])
def test_positions_need_not_be_whole(case, torch):
    """Half a token is a distance like any other: it counts, and only differences do."""
    scheme, x = make(case).double(), inputs()
    at = torch.arange(LENGTH) / 2
    half, moved, full = (attend(scheme, x, places) for places in (at, at + 0.25, 2 * at))
    torch.testing.assert_close(half, moved, atol=1e-10, rtol=0)
    assert (float((half - full).abs().max().detach()) > 1e-3) == (scheme.door != "none")


@every_case
def test_empty_sequences(case, torch):
    scheme = make(case).double()
    for batch, length in ((BATCH, 0), (0, 3)):
        positions = torch.arange(length)
        x = torch.zeros(batch, length, DIM, dtype=torch.float64)
        assert attend(scheme, x, positions).shape == (batch, HEADS, length, HEAD_DIM)
        assert attend(scheme, x, positions.expand(batch, length)).shape == (batch, HEADS, length, HEAD_DIM)


# --- each scheme is its function ------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [case for case in CASES if name_of(case) in DOORS["input"]])
def test_codes_of_the_input(case, torch):
    from posenc import absolute

    scheme, x, at = make(case), inputs(), torch.tensor([[0, 5, 2], [9, 1, 33]])
    functions = {
        "integer": lambda: absolute.integer(at, DIM),
        "normalised": lambda: absolute.normalised(at, 64, DIM),
        "binary": lambda: absolute.binary(at, DIM),
        "sinusoidal": lambda: absolute.sinusoidal(at, DIM, 100.0),
        "sinusoidal half": lambda: absolute.sinusoidal(at, DIM, layout="half"),
        "learned": lambda: absolute.learned(at, scheme.table),
        "learned clamp": lambda: absolute.learned(at, scheme.table, past_end="clamp"),
        "learned interpolate": lambda: absolute.learned(at, scheme.table, past_end="interpolate", length=64),
    }
    x = x[:, :3]
    torch.testing.assert_close(scheme.embed(x, at), x + functions[case](), atol=0, rtol=0)
    assert torch.equal(scheme.code(at), functions[case]())


def test_rotation(torch):
    from posenc import scaling
    from posenc.frequencies import angles
    from posenc.rotary import rotary_table, rotate, xpos_tables

    q, k, _ = projected(inputs())
    at, keys_at = torch.arange(LENGTH) + 3, torch.arange(LENGTH) * 2
    wanted = {
        "rope": scaling.default(HEAD_DIM),
        "rope half": scaling.Scaled(scaling.default(HEAD_DIM, 100.0).inv_freq, 1.2),
        "rope partial": scaling.default(4, 100.0),
        "rope linear": scaling.linear(HEAD_DIM, factor=4.0),
        "rope dictionary": scaling.yarn(HEAD_DIM, 100.0, factor=4.0, original_max_position_embeddings=8),
        "rope dynamic": scaling.dynamic_ntk(
            HEAD_DIM, 100.0, factor=2.0, original_max_position_embeddings=4, seq_len=LENGTH
        ),
    }
    for case, (inv_freq, factor) in wanted.items():
        scheme, layout = make(case), "half" if case == "rope half" else "interleaved"
        got = scheme.frequencies()
        assert got.inv_freq == pytest.approx(inv_freq, rel=1e-15)
        assert got.attention_factor == factor
        rotary_dim = 4 if case == "rope partial" else None
        for x, turned, place in zip((q, k), scheme.rotate(q, k, at, keys_at), (at, keys_at), strict=True):
            table = rotary_table(angles(place, torch.tensor(inv_freq)), factor, length_axis=-2)
            torch.testing.assert_close(turned, rotate(x, table, layout, rotary_dim=rotary_dim), atol=1e-13, rtol=0)
    inv_freq = torch.tensor(scaling.default(HEAD_DIM, 100.0).inv_freq)
    for_q, for_k = (xpos_tables(place, inv_freq, scale_base=16.0, length_axis=-2) for place in (at, keys_at))
    got = make("xpos").rotate(q, k, at, keys_at)
    torch.testing.assert_close(got[0], rotate(q, for_q[0]), atol=1e-13, rtol=0)
    torch.testing.assert_close(got[1], rotate(k, for_k[1]), atol=1e-13, rtol=0)


def test_biases(torch):
    from posenc import absolute, bias

    q, k, _ = projected(inputs())
    q, at, keys_at = q[:, :, -4:], torch.arange(LENGTH)[-4:] + 5, torch.arange(LENGTH) + 5
    offsets = absolute.relative_positions(at, keys_at)
    schemes = {case: make(case).double() for case in CASES if name_of(case) in DOORS["logits"]}
    wanted = {
        "alibi": bias.alibi(offsets, [1 / 16, 1 / 256]),
        "alibi slopes": bias.alibi(offsets, [0.5, 0.0625]),
        "alibi symmetric": bias.alibi(offsets, [1 / 16, 1 / 256], symmetric=True),
        "t5": bias.t5(offsets, schemes["t5"].table, bidirectional=False, max_distance=8),
        "t5 encoder": 2 * bias.t5(offsets, schemes["t5 encoder"].table, bidirectional=True, max_distance=8),
        "sandwich": bias.sandwich(offsets, HEADS, 16, 100.0),
        "kerple": bias.kerple(offsets, schemes["kerple"].log_r1.exp(), schemes["kerple"].log_r2.exp()),
        "kerple power": bias.kerple(offsets, schemes["kerple power"].r1, schemes["kerple power"].r2, kind="power"),
        "fire": bias.fire(at, keys_at, schemes["fire"].mlp, torch.tensor(0.1, dtype=torch.float64), 2.0),
    }

    def in_heads(rows):
        return rows.unflatten(-1, (HEADS, HEAD_DIM)).transpose(0, 1)

    xl = schemes["transformer_xl"]
    r = in_heads(absolute.sinusoidal(torch.arange(8, -1, -1), DIM, layout="half") @ xl.w_kr)
    wanted["transformer_xl"] = bias.transformer_xl(q, k, r, xl.u, xl.v).bias / math.sqrt(HEAD_DIM)
    xl = schemes["transformer_xl encoder"]
    r = in_heads(absolute.sinusoidal(torch.arange(8, -4, -1), 10, 100.0, layout="half") @ xl.w_kr)
    wanted["transformer_xl encoder"] = bias.transformer_xl(q, k, r, xl.u, xl.v).bias / math.sqrt(HEAD_DIM)
    for case, nearest in (("tener", -3), ("tener decoder", 0)):
        r, tener = absolute.sinusoidal(torch.arange(8, nearest - 1, -1), HEAD_DIM), schemes[case]
        wanted[case] = bias.tener(q, k, r, tener.u, tener.v).bias
    it = schemes["deberta"]
    terms = bias.deberta(q, k, in_heads(it.p @ it.w_kr), in_heads(it.p @ it.w_qr), offsets)
    wanted["deberta"] = terms.bias / math.sqrt(3 * HEAD_DIM)
    assert set(wanted) == set(schemes)
    for case, scheme in schemes.items():
        # log_c was float32 before it was doubled.
        tolerance = 1e-6 if case == "fire" else 1e-12
        torch.testing.assert_close(scheme.bias(q, k, at, keys_at), wanted[case], atol=tolerance, rtol=0)


@pytest.mark.parametrize("case", ["alibi", "fire", "transformer_xl", "tener decoder"])
def test_a_causal_bias_hides_what_comes_later(case, torch):
    q, k, _ = projected(inputs())
    hidden = make(case).double().bias(q, k, torch.arange(LENGTH)).isneginf()
    assert torch.equal(hidden, torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1).expand_as(hidden))


@pytest.mark.parametrize("case", ["alibi symmetric", "t5 encoder", "sandwich", "kerple", "transformer_xl encoder",
                                  "tener", "deberta"])  # fmt: skip
def test_a_bias_for_encoders_reaches_both_ways(case, torch):
    q, k, _ = projected(inputs())
    added = make(case).double().bias(q, k, torch.arange(LENGTH))
    assert bool(added.isfinite().all())
    later = added[..., 0, 1:]
    assert float((later[..., :1] - later[..., 3:4]).abs().min().detach()) > 1e-6


def test_heads_of_a_group_share_keys(torch):
    """Grouped keys are rotated as they are, and repeated afterwards."""
    scheme, at = make("rope"), torch.arange(LENGTH)
    q, k, _ = projected(inputs())
    turned = scheme.rotate(q, k[:, :1], at)[1]
    assert turned.shape == (BATCH, 1, LENGTH, HEAD_DIM)
    torch.testing.assert_close(turned, scheme.rotate(q, k, at)[1][:, :1])


def test_temperature_of_nope(torch):
    from posenc.attention import attention
    from posenc.schemes import make_scheme

    assert make_scheme("none_with_temperature", factor=2.0).logit_scale(16, 10**6) == 2 / 4
    follows = make_scheme("none_with_temperature", trained_length=128)
    assert [follows.logit_scale(16, n) for n in (0, 1, 128)] == [0.25] * 3
    assert follows.logit_scale(16, 128**2) == pytest.approx(0.5)
    # C133: among n keys of logits that are normal, one of logit 6 keeps its weight.
    logits = normal(8192, seed=5)
    logits[0] = 6.0
    weights = {}
    for n in (128, 8192):
        q, k = torch.ones(1, 1, 1, 1, dtype=torch.float64), logits[:n].reshape(1, 1, n, 1)
        plain, kept = (attention(q, k, k, scale=s).weights[0, 0, 0, 0] for s in (1.0, follows.logit_scale(1, n)))
        weights[n] = float(plain), float(kept)
    assert weights[128][0] == weights[128][1]
    assert weights[8192][0] < 0.1 * weights[128][0]
    assert weights[8192][1] > 0.75 * weights[128][1]


# --- scaling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["name", "dictionary"])
def test_a_dynamic_scaling_follows_the_sequence(of, torch):
    from posenc import scaling
    from posenc.schemes import make_scheme

    options = {"original_max_position_embeddings": 4, "factor": 2.0}
    settings = {"base": 100.0, "scaling": "dynamic_ntk", "scaling_options": options} if of == "name" else {
        "scaling": DYNAMIC
    }  # fmt: skip
    scheme = make_scheme("rope", head_dim=HEAD_DIM, **settings)
    q, k, _ = projected(inputs())
    for last in (3, 8, 29):
        at = torch.arange(LENGTH) + last - LENGTH + 1 if last >= LENGTH - 1 else torch.zeros(LENGTH) + last
        frequencies = scaling.dynamic_ntk(HEAD_DIM, 100.0, seq_len=last + 1, **options).inv_freq
        plain = make_scheme("rope", head_dim=HEAD_DIM, base=float(frequencies[1] ** -4))  # θ_1 = base^(−1/4)
        got, expected = scheme.rotate(q, k, at), plain.rotate(q, k, at)
        torch.testing.assert_close(got[0], expected[0], atol=1e-9, rtol=0)
        torch.testing.assert_close(got[1], expected[1], atol=1e-9, rtol=0)
    # The sequence goes as far as its farthest key, wherever the queries are.
    far = scheme.rotate(q[:, :, :1], k, torch.tensor([0]), torch.arange(LENGTH) + 21)[1]
    torch.testing.assert_close(far, scheme.rotate(q, k, torch.arange(LENGTH) + 21)[1], atol=1e-12, rtol=0)
    # A key that was rotated in a shorter sequence no longer fits (C216).
    early, late = (scheme.rotate(q[:, :, :1], k[:, :, :1], torch.tensor([end]), torch.tensor([5])) for end in (5, 29))
    assert float((early[1] - late[1]).abs().max()) > 1e-3


def test_every_scaling_by_name(torch):
    from posenc import scaling
    from posenc.schemes import SCALINGS, Rotary

    length = {"original_max_position_embeddings": 16}
    options = {
        "default": {},
        "linear": {"factor": 4.0},
        "ntk_aware": {"factor": 4.0},
        "dynamic_ntk": length,
        "ntk_by_parts": {"factor": 4.0, **length, "beta_fast": 4.0},
        "yarn": {"factor": 4.0, **length, "ramp": "paper"},
        "llama3": {"factor": 4.0, **length},
        "longrope": {"factor": 4.0, **length, "short_factor": [1.0] * 4, "long_factor": [1.0, 2.0, 3.0, 4.0]},
        "proportional": {"partial_rotary_factor": 0.5},
    }
    assert set(options) == set(SCALINGS)
    for name, chosen in options.items():
        scheme = Rotary(HEAD_DIM, 1000.0, scaling=name, scaling_options=chosen, seq_len=100)
        more = {"seq_len": 100} if name in ("dynamic_ntk", "longrope") else {}
        expected = getattr(scaling, name)(HEAD_DIM, 1000.0, **chosen, **more)
        assert scheme.frequencies().inv_freq == pytest.approx(expected.inv_freq, rel=1e-15)
        assert scheme.frequencies().attention_factor == expected.attention_factor
        turned, _ = scheme.rotate(*projected(inputs())[:2], torch.arange(LENGTH))
        assert turned.shape == (BATCH, HEADS, LENGTH, HEAD_DIM)


def test_published_models(torch):
    """A published dictionary goes in as it is; Gemma 3 has one scheme for each layer type."""
    from posenc.configs import model, scaled
    from posenc.schemes import Rotary

    for name, layer_type in (("Llama-3.1-8B", None), ("gpt-neox-20b", None), ("gemma-3-4b-it", "sliding_attention")):
        config = model(name)
        scheme = Rotary(config.head_dim, scaling=config.rope, layer_type=layer_type)
        expected = scaled(config, layer_type=layer_type)
        assert scheme.frequencies().inv_freq == pytest.approx(expected.inv_freq, rel=1e-15)
        q = normal(1, 1, 3, config.head_dim)
        turned = scheme.rotate(q, q, torch.arange(3))[0]
        assert torch.equal(turned[..., config.rotary_dim :], q[..., config.rotary_dim :])
        assert not torch.equal(turned[..., : config.rotary_dim], q[..., : config.rotary_dim])


# --- tables, dtypes, gradients, modules -----------------------------------------------------------------------------


def test_layers_share_their_tables(torch, monkeypatch):
    """Made once for the same positions, again when these change, and never kept from a pass for inference."""
    from posenc.schemes import Rotary

    scheme, made = Rotary(HEAD_DIM), []
    real = Rotary.tables
    monkeypatch.setattr(Rotary, "tables", lambda *arguments: made.append(1) or real(*arguments))
    q, k, _ = projected(inputs())
    positions = torch.arange(LENGTH)
    for _ in range(3):
        first = scheme.rotate(q, k, positions)
    assert len(made) == 1
    positions += 1
    second = scheme.rotate(q, k, positions)
    assert len(made) == 2
    assert float((first[0] - second[0]).abs().max()) > 0.1
    torch.testing.assert_close(second[0], Rotary(HEAD_DIM).rotate(q, k, torch.arange(LENGTH) + 1)[0])
    scheme.rotate(q.float(), k.float(), positions)
    scheme.rotate(q.bfloat16(), k.bfloat16(), positions)
    assert len(made) == 4  # one beside the reference, one in float32, which bfloat16 shares
    with torch.inference_mode():
        scheme.rotate(q.float(), k.float(), torch.arange(LENGTH))
        scheme.rotate(q, k, positions)
    learned = q.clone().requires_grad_()
    scheme.rotate(learned, k, positions)[0].sum().backward()
    assert learned.grad is not None
    before = len(made)
    row = torch.arange(LENGTH)[None]
    for _ in range(3):
        scheme.rotate(q, k, row)
    assert len(made) == before + 1
    each = torch.vmap(lambda at: scheme.rotate(q, k, at)[0])(torch.stack([row[0], row[0] + 1]))
    torch.testing.assert_close(each[1], second[0])
    moving = torch.arange(LENGTH, dtype=torch.float64).requires_grad_()
    for _ in range(2):
        scheme.rotate(q, k, moving)[0].sum().backward()
    assert bool(moving.grad.abs().sum() > 0)


@every_case
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("bfloat16", 6e-2), ("float16", 1e-2)])
def test_narrow_dtypes(case, dtype, tolerance, torch):
    """Close to float64 and in the dtype given; a bias is in float32 at least, far from the start too."""
    narrow, wide = getattr(torch, dtype), make(case).double()
    scheme = copy.deepcopy(wide).to(narrow)
    wide = wide.to(narrow).double()  # the same parameters
    start = {"rope": 5000, "xpos": 300, "alibi": 1000}.get(name_of(case), 20)
    positions = torch.arange(LENGTH) + start
    x = inputs().to(narrow)
    assert scheme.embed(x, positions).dtype == narrow
    q, k, _ = projected(x)
    turned = scheme.rotate(q, k, positions)
    added = scheme.bias(*turned, positions)
    assert turned[0].dtype == turned[1].dtype == narrow
    assert added is None or added.dtype == torch.float32
    expected = wide.rotate(q.double(), k.double(), positions)
    scale = float(expected[0].abs().max())
    torch.testing.assert_close(turned[0].double(), expected[0], atol=tolerance * scale, rtol=0)
    if added is not None:
        sure = wide.bias(q.double(), k.double(), positions)
        bound = tolerance * max(1.0, float(sure[sure.isfinite()].abs().max().detach()))
        torch.testing.assert_close(added.double(), sure, atol=bound, rtol=0)


@every_case
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_the_kernel_of_torch_takes_it(case, dtype, torch):
    """scaled_dot_product_attention with the bias as attn_mask and the mask in it."""
    from posenc.attention import attention

    scheme, positions = make(case).to(getattr(torch, dtype)), torch.arange(LENGTH)
    x = inputs().to(getattr(torch, dtype))
    q, k, v = projected(scheme.embed(x, positions))
    q, k = scheme.rotate(q, k, positions)
    scale, bias = scheme.logit_scale(HEAD_DIM, LENGTH), scheme.bias(q, k, positions)
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    if bias is not None:
        mask = torch.where(mask, bias, -math.inf)
    got = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    expected = attention(q, k, v, causal=True, bias=bias, scale=scale).output
    tolerance = {"float64": 1e-12, "float32": 1e-5, "bfloat16": 5e-2}[dtype]
    torch.testing.assert_close(got, expected, atol=tolerance * max(1.0, float(v.detach().abs().max())), rtol=0)


@every_case
def test_gradients_reach_every_parameter_and_the_input(case, torch):
    scheme, x = make(case).double(), inputs().requires_grad_()
    (attend(scheme, x, torch.arange(LENGTH)) * normal(BATCH, HEADS, LENGTH, HEAD_DIM, seed=9)).sum().backward()
    assert bool(x.grad.isfinite().all())
    assert bool((x.grad != 0).any())
    for name, parameter in scheme.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.isfinite().all()), name
        assert bool((parameter.grad != 0).any()), name


LEARNED = {
    "learned": {"table": (64, DIM)},
    "t5": {"table": (6, HEADS)},
    "kerple": {"log_r1": (HEADS,), "log_r2": (HEADS,)},
    "kerple power": {"log_r1": (HEADS,), "logit_r2": (HEADS,)},
    "fire": {
        "log_c": (), "log_threshold": (), "mlp.0.weight": (32, 1), "mlp.0.bias": (32,),
        "mlp.2.weight": (HEADS, 32), "mlp.2.bias": (HEADS,),
    },
    "transformer_xl": {"w_kr": (DIM, DIM), "u": (HEADS, HEAD_DIM), "v": (HEADS, HEAD_DIM)},
    "transformer_xl encoder": {"w_kr": (10, DIM), "u": (HEADS, HEAD_DIM), "v": (HEADS, HEAD_DIM)},
    **dict.fromkeys(("tener", "tener decoder"), {"u": (HEADS, HEAD_DIM), "v": (HEADS, HEAD_DIM)}),
    "deberta": {"p": (6, DIM), "w_kr": (DIM, DIM), "w_qr": (DIM, DIM)},
}  # fmt: skip


@every_case
def test_parameters_and_state(case, torch):
    """Parameters as documented and nothing else, equal for equal seeds, and back from a state_dict."""
    scheme = make(case)
    shapes = {name: tuple(value.shape) for name, value in scheme.state_dict().items()}
    if case in LEARNED:
        assert shapes == LEARNED[case]
    assert set(shapes) == {name for name, _ in scheme.named_parameters()}
    assert bool(shapes) == (name_of(case) in {name_of(learned) for learned in LEARNED})
    if not shapes:
        return
    same, other = make(case, seed=5), make(case, seed=6)
    before = torch.get_rng_state()
    again = make(case, seed=5)
    assert torch.equal(before, torch.get_rng_state())
    for name, value in again.state_dict().items():
        assert torch.equal(value, same.state_dict()[name])
    assert any(not torch.equal(value, other.state_dict()[name]) for name, value in same.state_dict().items())
    other.load_state_dict(same.state_dict())
    x, positions = inputs(), torch.arange(LENGTH)
    first, second = (attend(copy.deepcopy(one).double(), x, positions) for one in (same, other))
    assert torch.equal(first, second)


def test_initial_values(torch):
    """As stated: normal with the given deviation; r1 and r2 from 0.1 to 1; c and threshold as given."""
    from posenc.schemes import make_scheme

    table = make_scheme("learned", dim=64, max_positions=512, seed=0).table.detach()
    assert float(table.mean()) == pytest.approx(0, abs=1e-3)
    assert float(table.std()) == pytest.approx(0.02, rel=0.03)
    for kind in ("logarithmic", "power"):
        scheme = make_scheme("kerple", n_heads=1000, kind=kind, seed=0)
        for numbers in (scheme.r1.detach(), scheme.r2.detach()):
            assert 0.099 < float(numbers.min()) < 0.12
            assert 0.98 < float(numbers.max()) < 1.001
    fire = make_scheme("fire", n_heads=2, c=0.3, threshold=64.0)
    assert fire.log_c.exp().item() == pytest.approx(0.3, rel=1e-6)
    assert fire.log_threshold.exp().item() == pytest.approx(64, rel=1e-6)
    spread = make_scheme("transformer_xl", n_heads=4, head_dim=32, seed=0).w_kr.detach()
    assert float(spread.std()) == pytest.approx(0.02, rel=0.03)


def test_kerple_stays_in_its_range_wherever_it_is_driven(torch):
    offsets = -torch.arange(5.0)[None]
    for kind in ("logarithmic", "power"):
        scheme = make("kerple", kind=kind)
        for step in (-20.0, 20.0):
            with torch.no_grad():
                for parameter in scheme.parameters():
                    parameter.fill_(step / 4)
            assert bool((scheme.of_offsets(offsets)[:, 0, 1:] < 0).all())
            assert kind == "logarithmic" or bool((scheme.r2 < 2).all())


# torch.compile makes an instance of any autograd function that it traces, and torch warns of that
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize("case", [case for case in CASES if case == name_of(case) or case == "rope dictionary"])
def test_it_compiles_into_one_graph(case, torch):
    scheme, x, positions = make(case).double(), inputs(), torch.arange(LENGTH)
    expected = attend(scheme, x, positions)
    torch.compiler.reset()
    compiled = torch.compile(lambda y: attend(scheme, y, positions), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), expected, atol=1e-12, rtol=0)


# --- what is refused ------------------------------------------------------------------------------------------------

BAD_NUMBERS = [0, -1, 2.5, "8", True, None]
BAD_POSITIVE = [0, -1.0, math.nan, math.inf, "1", True]
BAD_CONFIGS = [
    *[("none_with_temperature", {"factor": bad}, "factor") for bad in BAD_POSITIVE],
    *[("none_with_temperature", {"trained_length": bad}, "trained_length") for bad in (1, 0, -3, 2.5, "8", True)],
    *[(name, {"dim": bad}, "dim") for name in DOORS["input"] for bad in BAD_NUMBERS],
    *[("normalised", {"length": bad}, "length") for bad in BAD_NUMBERS],
    *[(name, {"base": bad}, "base") for name in ("sinusoidal", "rope", "xpos", "sandwich") for bad in BAD_POSITIVE],
    *[(name, {"base": bad}, "base") for name in ("transformer_xl", "tener") for bad in BAD_POSITIVE],
    *[(name, {"layout": bad}, "layout") for name in ("sinusoidal", "rope", "xpos") for bad in ("pairs", None, 1)],
    *[("learned", {"max_positions": bad}, "max_positions") for bad in BAD_NUMBERS],
    *[("learned", {"past_end": bad}, "past_end") for bad in ("wrap", None)],
    *[("learned", {"length": 8}, "length"), ("learned", {"past_end": "interpolate"}, "length")],
    *[("learned", {"past_end": "interpolate", "length": bad}, "length") for bad in (0, -1, 2.5, True)],
    *[
        (name, {"std": bad}, "std")
        for name in ("learned", "t5", "transformer_xl", "tener", "deberta")
        for bad in BAD_POSITIVE
    ],
    *[
        (name, {"seed": bad}, "seed")
        for name in ("learned", "t5", "kerple", "fire", "transformer_xl", "tener", "deberta")
        for bad in (-1, 2.5, "1", True)
    ],
    *[(name, {"head_dim": bad}, "head_dim") for name in ("rope", "xpos") for bad in BAD_NUMBERS],
    *[(name, {"head_dim": bad}, "head_dim") for name in ("transformer_xl", "tener", "deberta") for bad in BAD_NUMBERS],
    ("xpos", {"head_dim": 7}, "head_dim"),
    ("rope", {"head_dim": 7}, "dim"),
    *[("rope", {"rotary_dim": bad}, "rotary_dim") for bad in (0, -2, 3, 10, 2.5, "4", True)],
    *[("rope", {"scaling": bad}, "scaling") for bad in ("ntk", "", "attention", 3, ["linear"])],
    *[("rope", {"scaling_options": bad}, "scaling_options") for bad in ({"factor": 2.0}, {"like": None}, 3, [1])],
    ("rope", {"scaling": "linear"}, "factor"),
    ("rope", {"scaling": "linear", "scaling_options": {"factor": 0.5}}, "factor"),
    ("rope", {"scaling": "dynamic_ntk", "scaling_options": {"seq_len": 3}}, "seq_len"),
    *[("rope", {"scaling": YARN, **more}, next(iter(more))) for more in ({"base": 1e4}, {"rotary_dim": 4})],
    ("rope", {"scaling": YARN, "scaling_options": {"factor": 2.0}}, "scaling_options"),
    ("rope", {"scaling": YARN, "layer_type": "full_attention"}, "layer_type"),
    ("rope", {"layer_type": "full_attention"}, "layer_type"),
    ("rope", {"scaling": {**YARN, "factor": -1.0}}, "factor"),
    ("rope", {"scaling": {**YARN, "rope_type": "spiral"}}, "rope_type"),
    *[("rope", {"attention_factor": bad}, "attention_factor") for bad in BAD_POSITIVE],
    *[("rope", {"seq_len": bad}, "seq_len") for bad in (-1, 2.5, "8", True)],
    *[("xpos", {option: bad}, option) for option in ("gamma", "scale_base") for bad in BAD_POSITIVE],
    *[(name, {"n_heads": bad}, "n_heads") for name in DOORS["logits"] for bad in BAD_NUMBERS],
    *[(name, {"causal": bad}, "causal") for name in ("alibi", "t5", "transformer_xl") for bad in (0, 1, None, "no")],
    *[("alibi", {"slopes": bad}, "slopes") for bad in ([0.5], [0.5] * 3, [], "ab", 0.5, [0.5, -1.0], [0.5, math.nan])],
    *[("t5", {"num_buckets": bad}, "num_buckets") for bad in (*BAD_NUMBERS, 1)],
    ("t5", {"num_buckets": 7, "causal": False}, "num_buckets"),
    *[("t5", {"max_distance": bad}, "max_distance") for bad in (*BAD_NUMBERS, 3)],
    *[("t5", {"gain": bad}, "gain") for bad in BAD_POSITIVE],
    *[("sandwich", {"dim": bad}, "dim") for bad in (*BAD_NUMBERS, 7)],
    *[("kerple", {"kind": bad}, "kind") for bad in ("linear", None, 1)],
    *[("fire", {"width": bad}, "width") for bad in BAD_NUMBERS],
    *[("fire", {option: bad}, option) for option in ("c", "threshold") for bad in BAD_POSITIVE],
    *[("transformer_xl", {"dim": bad}, "dim") for bad in (0, -1, 2.5, "8", True)],
    *[("deberta", {"span": bad}, "span") for bad in BAD_NUMBERS],
]
BAD_IDS = [f"{name} {change}" for name, change, _ in BAD_CONFIGS]


@pytest.mark.parametrize(("name", "change", "said"), BAD_CONFIGS, ids=BAD_IDS)
def test_bad_settings(name, change, said):
    """Refused when the scheme is made, by the name of the argument and its value."""
    with pytest.raises((TypeError, ValueError)) as caught:
        make(name, **change)
    message, (*_, value) = str(caught.value), change.values()
    assert said in message
    if said == next(reversed(change)):
        assert repr(value) in message or str(value) in message or f"{value!r}"[1:-1] in message


def test_bad_names():
    from posenc.schemes import SCHEMES, make_scheme

    for bad in ("RoPE", "", "rotary"):
        with pytest.raises(ValueError, match="name must be one of") as caught:
            make_scheme(bad)
        assert all(name in str(caught.value) for name in SCHEMES)
        assert repr(bad) in str(caught.value)
    for bad in (None, 3, ["rope"]):
        with pytest.raises(TypeError, match="name must be a string"):
            make_scheme(bad)
    with pytest.raises(ValueError, match=r"'rope' does not take dim, theta; it takes head_dim, base, layout"):
        make_scheme("rope", head_dim=8, theta=1e4, dim=8)
    with pytest.raises(ValueError, match="'none' does not take base; it takes nothing"):
        make_scheme("none", base=1e4)
    with pytest.raises(ValueError, match="'deberta' lacks n_heads, head_dim; it takes n_heads, head_dim, span"):
        make_scheme("deberta")


def wrong_tensors():
    """Arguments of embed, of rotate and of bias that do not fit, with what the message names."""
    import torch

    x, q, at = normal(2, 3, DIM), normal(2, HEADS, 3, HEAD_DIM), torch.arange(3)
    embed = [((bad, at), "x") for bad in (None, x.tolist(), x[0], x.long(), x[None])]
    positions = [
        None,
        [0, 1, 2],
        torch.arange(4),
        at[None, None],
        at.expand(3, 3),
        at > 1,
        at * 1j,
        at[:, None],
        at / 0,
    ]
    embed += [((x, bad), "positions") for bad in positions]
    both = [((q, q, bad), "positions") for bad in positions]
    both += [((q, q, at, bad), "key_positions") for bad in positions if bad is not None]
    both += [((bad, q, at), "q") for bad in (None, q[0], q.long(), q[:, :0], q[..., :0])]
    both += [((q, bad, at), "k") for bad in (None, q[0], q.long(), q.float(), q[:1], q[..., :4], q[:, :0])]
    both += [((q, q[:, :, :2], at), "key_positions")]
    return {"embed": embed, "rotate": both, "bias": both}


@pytest.mark.parametrize("method", ["embed", "rotate", "bias"])
@pytest.mark.parametrize("case", ["none", "sinusoidal", "rope", "alibi", "deberta"])
def test_bad_tensors(case, method):
    """Every scheme checks them, also the doors that it leaves shut."""
    scheme = make(case).double()
    for arguments, said in wrong_tensors()[method]:
        with pytest.raises((TypeError, ValueError), match=rf"^{said} must"):
            getattr(scheme, method)(*arguments)


def test_bad_widths_and_heads(torch):
    at = torch.arange(3)
    for name in DOORS["input"]:
        with pytest.raises(ValueError, match=r"x must have shape \(batch, length, 16\), got shape \(2, 3, 8\)"):
            make(name).embed(normal(2, 3, 8), at)
    for name in DOORS["query and key"]:
        q = normal(2, HEADS, 3, 6)
        with pytest.raises(
            ValueError, match=r"q must have shape \(batch, heads, length, 8\), got shape \(2, 2, 3, 6\)"
        ):
            make(name).rotate(q, q, at)
        with pytest.raises(ValueError, match=r"k must have shape \(2, a divisor of 2, keys, 6\)"):
            make(name).rotate(q, normal(2, 3, 3, 6), at)
    for name in DOORS["logits"]:
        q = normal(2, 3, 3, HEAD_DIM)
        with pytest.raises(ValueError, match=r"q must have shape \(batch, 2, length, .*\), got shape \(2, 3, 3, 8\)"):
            make(name).double().bias(q, q, at)
        with pytest.raises(ValueError, match=r"k must have shape \(2, 3, keys, 8\)"):
            make(name).double().bias(q, q[:, :1], at)


def test_bad_positions_of_a_scheme(torch):
    """Positions that a scheme has no code for, or that its arithmetic cannot be used with."""
    x, q = normal(1, 3, DIM), normal(1, HEADS, 3, HEAD_DIM)
    beyond = {"learned": 64, "normalised": 64, "binary": 2**DIM}
    for name, first in beyond.items():
        make(name).double().embed(x, torch.tensor([0, 1, first - 1]))
        with pytest.raises(ValueError, match=f"positions must be at most {first - 1}"):
            make(name).double().embed(x, torch.tensor([0, 1, first]))
    for name in ("integer", "normalised", "binary", "learned"):
        for bad in ([-1, 0, 1], [0.5, 1.0, 2.0]):
            with pytest.raises(ValueError, match="positions must be"):
                make(name).double().embed(x, torch.tensor(bad))
    for name in ("transformer_xl", "tener"):
        for bad in ([0, 2, 3], [2, 1, 0], [0, 0, 1]):
            with pytest.raises(ValueError, match="key_positions must be consecutive"):
                make(name).double().bias(q, q, torch.tensor(bad))
        with pytest.raises(ValueError, match="positions the last of them"):
            make(name).double().bias(q[:, :, :2], q, torch.tensor([0, 1]), torch.arange(3))
        with pytest.raises(ValueError, match="key_positions must be as many as positions, 3, or more, got 2"):
            make(name).double().bias(q, q[:, :, :2], torch.arange(3), torch.arange(2))
    with pytest.raises(ValueError, match="positions must not be negative"):
        make("fire").double().bias(q, q, torch.tensor([-1, 0, 1]))
    with pytest.raises(ValueError, match="whole numbers"):
        make("t5").double().bias(q, q, torch.tensor([0.0, 0.5, 1.0]))
    with pytest.raises(ValueError, match="subtract a common origin"):
        make("xpos", scale_base=512.0).rotate(q, q, torch.tensor([0, 1, 40_000]))


@pytest.mark.parametrize("argument", ["head_dim", "n_keys"])
@pytest.mark.parametrize("bad", [-1, 2.5, "8", True, None])
def test_bad_numbers_of_the_scale(argument, bad):
    for case in ("none", "t5", "none_with_temperature"):
        with pytest.raises((TypeError, ValueError), match=f"{argument} must.*{bad}"):
            make(case).logit_scale(**{"head_dim": 8, "n_keys": 4, argument: bad})
