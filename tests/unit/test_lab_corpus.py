"""posenc.lab.corpus: tasks that are the same everywhere, their answers by hand, and the library's text."""

import hashlib
import platform

import numpy as np
import pytest
import torch

from posenc.lab import corpus

pytestmark = pytest.mark.torch

# The first 16 digits of SHA-256: of the training batch of seed 0 and step 7, and of a probe.
SYNTHETIC = {
    "copy": ("a244bae35f4f46b8", "80ef2f2d77fbd41c"),
    "copy half": ("a244bae35f4f46b8", "148065340e79c1f9"),
    "offset": ("ec7a93fd04639207", "ab5f95a361af0522"),
    "order": ("b8b22bca1e433a07", "13f67d4d9f8b1852"),
    "said once": ("3ee8eb17e23a12f0", "5e4e61009fec8b82"),
    "recall": ("8417ffa2803cc50b", "d1bcdd2975aad5df"),
}
FROZEN = "c655d8c3048e38a7"
# Of the library's text: what these releases of Python have.
TRAIN = {
    "3.11.2": "9db7885962f691f1",
    "3.11.7": "5ec408ef9496f9f0",
    "3.12.1": "ae0452f469ac63b4",
    "3.12.10": "f1c890ea4e269dea",
    "3.13.0": "1c92ef3f38d23b3e",
}
HELD_OUT, HELD_OUT_BYTES = "70ba0160010fc75d", 186_722


def task(name):
    made = {
        "text": lambda: corpus.LibraryText(longest=1024),
        "copy": lambda: corpus.Copy(8, 32, period=16),
        "copy half": lambda: corpus.Copy(8, 32),
        "offset": corpus.ExactOffset,
        "order": corpus.WordOrder,
        "said once": lambda: corpus.SingleCopy(6, 16),
        "recall": corpus.Recall,
    }
    return made[name]()


def random(*seed):
    return np.random.RandomState(seed)


def hash_of(batch):
    found = hashlib.sha256()
    for part in batch:
        found.update(str((part.dtype, tuple(part.shape))).encode() + part.contiguous().numpy().tobytes())
    return found.hexdigest()[:16]


@pytest.mark.parametrize("name", SYNTHETIC)
def test_synthetic_tasks_are_the_same_everywhere(name):
    np.random.seed(3)  # the global stream is neither asked nor moved
    before = np.random.get_state()[1].copy()
    made = task(name)
    assert (hash_of(made.batch(random(0, 7), 32, 64)), hash_of(made.probe(128, 24))) == SYNTHETIC[name]
    assert (np.random.get_state()[1] == before).all()


def test_copying():
    """The next symbol is asked from the second block on, and stood one period ago."""
    for length in (5, 8, 21):
        probe = corpus.Copy(3, 6, period=4, n_scored=2).probe(length, 8)
        for said, asked in sequences_of(probe):
            assert asked == list(range(4, length + 1))
            assert all(said[at] == said[at - 4] for at in asked)


def sequences_of(batch):
    """Each sequence with the token after its last, and the places of those that are asked for."""
    for tokens, targets in zip(*(part.tolist() for part in batch), strict=True):
        yield [*tokens, targets[-1]], [place + 1 for place, target in enumerate(targets) if target != -100]


@pytest.mark.parametrize("distractors", ["random", "disjoint"])
@pytest.mark.parametrize(("distance", "block"), [(16, 16), (90, 32)])
def test_probes_of_blocks_single_copy(distance, block, distractors):
    made = corpus.SingleCopy(distance=distance, distractors=distractors)
    probe, longer = made.probe(128, 20), made.probe(512, 20)
    assert torch.equal(probe.tokens[:, -distance - made.n_scored :], longer.tokens[:, -distance - made.n_scored :])
    for said, asked in [*sequences_of(probe), *sequences_of(longer)]:
        assert asked == list(range(len(said) - 14, len(said)))
        assert said[-block:] == said[-block - distance :][:block]
        rest = said[: -block - distance] + said[-distance:-block]
        if distractors == "disjoint":
            assert set(said[-block:]) <= set(range(32))
            assert set(rest) <= set(range(32, 64))
    least = distance + block - 1
    with pytest.raises(ValueError, match=f"length must be at least {least}, got {least - 1}"):
        made.probe(least - 1, 2)


@pytest.mark.parametrize(("distance", "pairs", "length"), [(2, 1, 128), (480, 24, 512)])
def test_probes_of_recall(distance, pairs, length):
    for said, asked in sequences_of(corpus.Recall(pairs=pairs, distance=distance).probe(length, 50)):
        assert asked == [length]
        assert [place for place in range(length - 1) if said[place] == said[length - 1]] == [length - 1 - distance]
        assert said[length - distance] == said[length]
        keys = [symbol for symbol in said[:-2] if symbol < 24]
        assert len(keys) == len(set(keys)) == pairs


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: corpus.SingleCopy(12, 8), "max_block must be at least min_block, 12, got 8"),
        (lambda: corpus.SingleCopy().probe(2049, 2), "length must be at most 2048, the longest of the probes"),
        (lambda: corpus.Recall(pairs=25), "pairs must be at most 24, the number of keys, got 25"),
        (lambda: corpus.Recall().batch(random(0), 2, 47), "length must have room for 24 pairs, got 47"),
    ],
)
def test_what_has_no_room_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_the_frozen_windows():
    """A thousand windows, the same bytes on every machine, no byte asked for twice, none trained on."""
    made, files = task("text"), [bytes(one.tolist()) for one in corpus.frozen_files()]
    probe = made.windows(128, 1000)
    assert hash_of(probe) == FROZEN
    assert torch.equal(probe.targets[:, :-1], probe.tokens[:, 1:])
    ends: dict[int, list[int]] = {}
    for number, row in enumerate(probe.targets.tolist()):
        text, place = files[number % len(files)], 7 * (number // len(files)) % 25
        end = 2049 + place * (len(text) - 2049) // 24
        assert text[end - 128 : end] == bytes(row)
        ends.setdefault(number % len(files), []).append(end)
    assert min(min(np.diff(sorted(places))) for places in ends.values()) >= made.n_scored
    assert {len(places) for places in ends.values()} == {25}
    longer = made.windows(512, 40)
    assert torch.equal(longer.tokens[:, -128:], probe.tokens[:40])
    trained = bytes(corpus.library().train.tolist())
    assert not [row for row in probe.targets[:200].tolist() if bytes(row) in trained]
    with pytest.raises(ValueError, match="length must be at most 2048, the longest of the windows, got 2049"):
        made.windows(2049, 1)


def test_every_sentence_has_its_twin():
    """The same words and the other answer: a bag of words is right half of the time, exactly."""
    tokens, targets = corpus.WordOrder().probe(3, 512)
    assert torch.equal(tokens[1::2], tokens[::2].flip(1))
    assert torch.equal(targets[1::2], 1 - targets[::2])


# --- the library's text ----------------------------------------------------------------------------------------------


def test_windows_need_no_library(monkeypatch):
    """A web page has the files that ship, and not the sources of Python's library."""

    def missing():
        raise FileNotFoundError("no sources")

    wanted = task("text").windows(64, 3)
    monkeypatch.setattr(corpus, "library", missing)
    made = task("text")
    assert (made.windows(64, 3).tokens == wanted.tokens).all()
    with pytest.raises(FileNotFoundError, match="no sources"):
        made.probe(64, 3)


def test_the_library_of_this_python():
    """Of releases that were not tried beforehand, the text to measure on is at least much the same."""
    text, release = corpus.library(), platform.python_version()
    assert text is corpus.library()
    assert int(text.train.max()) < 128
    assert int(text.held_out.max()) < 128
    if release in TRAIN:
        assert (text.train_hash, text.held_out_hash, text.missing) == (TRAIN[release], HELD_OUT, ())
    assert len(text.held_out) == pytest.approx(HELD_OUT_BYTES, rel=0.1)
    assert len(text.train) == pytest.approx(3_200_000, rel=0.1)
    for part, said in ((text.train, text.train_hash), (text.held_out, text.held_out_hash)):
        assert hashlib.sha256(part.tobytes()).hexdigest()[:16] == said


@pytest.fixture
def small_library(tmp_path):
    """A library of one file to train on, and of all that are held out."""
    contents = dict.fromkeys(corpus._paths(corpus._HELD_OUT), b"held = 1\n") | {"heapq.py": b"# na\xc3\xafve\r\nx\r\n"}
    for name, content in (contents | {"json/decoder.py": b"a\r\nb\rc\n\xff"}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_line_ends_and_letters_beyond_ascii(small_library):
    text = corpus.library(small_library)
    assert text.train.tobytes() == b"a\nb\rc\n?"
    order = corpus._paths(corpus._HELD_OUT)
    parts = [b"# na??ve\nx\n" if name == "heapq.py" else b"held = 1\n" for name in order]
    assert text.held_out.tobytes() == b"\n".join(parts)
    assert "json/decoder.py" not in text.missing
    assert len(text.missing) == len(corpus._paths(corpus._TRAIN)) - 1


def test_a_library_without_sources_is_refused(small_library, tmp_path):
    (small_library / "json" / "decoder.py").unlink()
    with pytest.raises(FileNotFoundError, match="no file of the laboratory's text to train on is under"):
        corpus.library(small_library)
    (small_library / "heapq.py").unlink()
    (small_library / "json" / "__init__.py").unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks heapq.py, json/__init__.py under .*: use a Python that"):
        corpus.library(str(small_library))


@pytest.mark.parametrize(("name", "least"), [("text", 32), ("copy", 31), ("copy half", 32), ("offset", 22)])
def test_all_of_the_last_tokens_can_be_known(name, least):
    """A probe in which some of them are not asked would measure something else."""
    made = task(name)
    assert not bool((made.probe(least, 4).targets[:, -made.n_scored :] == corpus.IGNORED).any())
    with pytest.raises(ValueError, match=f"length must be at least {least}, got {least - 1}"):
        made.probe(least - 1, 4)
