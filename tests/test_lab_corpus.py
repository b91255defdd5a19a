"""posenc.lab.corpus: tasks that are the same everywhere, their answers by hand, and the library's text."""

import hashlib
import platform
import re
import sysconfig
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.torch

# The first 16 digits of SHA-256: of the training batch of seed 0 and step 7, and of a probe.
SYNTHETIC = {
    "copy": ("a244bae35f4f46b8", "80ef2f2d77fbd41c"),
    "copy half": ("a244bae35f4f46b8", "148065340e79c1f9"),
    "offset": ("ec7a93fd04639207", "ab5f95a361af0522"),
    "order": ("b8b22bca1e433a07", "13f67d4d9f8b1852"),
}
# Of the library's text: what these releases of Python have.
TRAIN = {
    "3.11.2": "9db7885962f691f1",
    "3.11.7": "5ec408ef9496f9f0",
    "3.12.1": "ae0452f469ac63b4",
    "3.12.10": "f1c890ea4e269dea",
    "3.13.0": "1c92ef3f38d23b3e",
}
HELD_OUT, HELD_OUT_BYTES = "70ba0160010fc75d", 186_722


@pytest.fixture
def torch():
    import torch

    return torch


@pytest.fixture
def corpus():
    import posenc.lab.corpus

    return posenc.lab.corpus


def task(name):
    from posenc.lab import corpus

    made = {
        "text": lambda: corpus.LibraryText(longest=1024),
        "copy": lambda: corpus.Copy(8, 32, period=16),
        "copy half": lambda: corpus.Copy(8, 32),
        "offset": corpus.ExactOffset,
        "order": corpus.WordOrder,
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


@pytest.mark.parametrize("name", ["text", *SYNTHETIC])
def test_a_task_makes_batches_and_probes(name, corpus, torch):
    made = task(name)
    assert isinstance(made, corpus.Task)
    assert corpus.TASKS[made.name] is type(made)
    probe, again = made.probe(64, 6), made.probe(64, 6)
    for batch in (made.batch(random(1), 6, 64), probe):
        assert batch.tokens.dtype == batch.targets.dtype == torch.int64
        assert len(batch.tokens) == len(batch.targets) == 6
        assert set(batch.tokens.unique().tolist()) <= set(range(made.vocab_size))
        answers = set(range(getattr(made, "n_classes", made.vocab_size)))
        assert set(batch.targets.unique().tolist()) <= answers | {corpus.IGNORED}
    assert torch.equal(probe.tokens, again.tokens)
    assert torch.equal(probe.targets, again.targets)
    one, other = (made.batch(random(*seed), 6, 64).tokens for seed in ((0, 1), (0, 2)))
    assert not torch.equal(one, other)


@pytest.mark.parametrize("name", ["text", "copy", "offset"])
def test_probes_end_alike_at_every_length(name, torch):
    """A longer probe is a shorter one with more before it."""
    made = task(name)
    short = made.probe(64, 5)
    for length in (65, 128, 1000):
        probe = made.probe(length, 5)
        assert probe.tokens.shape == (5, length)
        assert torch.equal(probe.tokens[:, -64:], short.tokens)
        assert torch.equal(probe.targets[:, -made.asked :], short.targets[:, -made.asked :])


def test_blocks_that_are_said_twice_end_alike(torch):
    made = task("copy half")
    short = made.probe(64, 5)
    for length in (65, 128, 1000):
        probe = made.probe(length, 5)
        half = length // 2
        assert torch.equal(probe.tokens[:, -made.asked :], short.tokens[:, -made.asked :])
        assert torch.equal(probe.targets[:, -made.asked :], short.targets[:, -made.asked :])
        assert torch.equal(probe.tokens[:, half:], probe.tokens[:, : length - half])


def check_copied(tokens, targets, period, ignored):
    """Loops over one sequence: the next symbol is asked from the second block on, and stood one period ago."""
    said = [*tokens, targets[-1]]
    for place, target in enumerate(targets):
        if place + 1 < period:
            assert target == ignored
        else:
            assert target == said[place + 1] == said[place + 1 - period]


def test_copying(corpus):
    made, periods = corpus.Copy(3, 6, period=4, asked=2), set()
    for tokens, targets in zip(*(part.tolist() for part in made.batch(random(0), 200, 20)), strict=True):
        period = next(place for place, target in enumerate(targets) if target != corpus.IGNORED) + 1
        check_copied(tokens, targets, period, corpus.IGNORED)
        periods.add(period)
    assert periods == {3, 4, 5, 6}
    for length in (5, 8, 21):
        for tokens, targets in zip(*(part.tolist() for part in made.probe(length, 8)), strict=True):
            check_copied(tokens, targets, 4, corpus.IGNORED)
    for length in (4, 9, 20):
        for tokens, targets in zip(*(part.tolist() for part in corpus.Copy(asked=2).probe(length, 8)), strict=True):
            check_copied(tokens, targets, length // 2, corpus.IGNORED)


def test_exact_offset(corpus):
    made = corpus.ExactOffset(offset=3, asked=2)
    for batch in (made.batch(random(0), 8, 9), made.probe(9, 8)):
        for tokens, targets in zip(*(part.tolist() for part in batch), strict=True):
            assert targets == [corpus.IGNORED] * 3 + tokens[:6]
    assert made.batch(random(0), 8, 2).targets.unique().tolist() == [corpus.IGNORED]


def test_word_order(corpus, torch):
    made = corpus.WordOrder()
    for batch in (made.batch(random(0), 4000, 3), made.probe()):
        agents, verbs, patients = batch.tokens.T
        assert batch.tokens.shape[1] == 3
        assert torch.equal(batch.targets, (agents < patients).long())
        assert not bool((agents == patients).any())
        assert set(agents.tolist()) == set(patients.tolist()) == set(range(20))
        assert set(verbs.tolist()) == set(range(20, 30))
    assert float(made.batch(random(0), 4000, 3).targets.double().mean()) == pytest.approx(0.5, abs=0.03)


def test_every_sentence_has_its_twin(corpus, torch):
    """The same words and the other answer: a bag of words is right half of the time, exactly."""
    tokens, targets = corpus.WordOrder().probe(3, 512)
    assert torch.equal(tokens[1::2], tokens[::2].flip(1))
    assert torch.equal(targets[1::2], 1 - targets[::2])


# --- the library's text ----------------------------------------------------------------------------------------------


def other_pythons():
    """The libraries of Pythons of known releases that are installed beside the one that runs."""
    own = Path(sysconfig.get_path("stdlib"))
    beside = own.parents[2].glob(f"*/{own.parent.name}/python3.*")
    return {path.parents[1].name: path for path in sorted(beside) if path.parents[1].name in TRAIN and path != own}


def test_the_library_of_this_python(corpus):
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
        assert hashlib.sha256(part.numpy().tobytes()).hexdigest()[:16] == said


def test_the_library_of_other_pythons(corpus):
    """What is measured on is the same to the last byte, in those of known releases that are installed here."""
    for release, folder in other_pythons().items():
        text = corpus.library(folder)
        assert (text.train_hash, text.held_out_hash, text.missing) == (TRAIN[release], HELD_OUT, ()), release


def test_no_file_is_read_twice(corpus):
    names = corpus._paths(corpus._TRAIN) + corpus._paths(corpus._HELD_OUT)
    assert len(names) == len(set(names))
    assert not [name for name in names if not re.fullmatch(r"([a-z]+/)*\w+\.py", name)]


@pytest.fixture
def small_library(corpus, tmp_path):
    """A library of one file to train on, and of all that are held out."""
    contents = dict.fromkeys(corpus._paths(corpus._HELD_OUT), b"held = 1\n") | {"heapq.py": b"# na\xc3\xafve\r\nx\r\n"}
    for name, content in (contents | {"json/decoder.py": b"a\r\nb\rc\n\xff"}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_line_ends_and_letters_beyond_ascii(corpus, small_library):
    text = corpus.library(small_library)
    assert text.train.numpy().tobytes() == b"a\nb\rc\n?"
    order = corpus._paths(corpus._HELD_OUT)
    parts = [b"# na??ve\nx\n" if name == "heapq.py" else b"held = 1\n" for name in order]
    assert text.held_out.numpy().tobytes() == b"\n".join(parts)
    assert "json/decoder.py" not in text.missing
    assert len(text.missing) == len(corpus._paths(corpus._TRAIN)) - 1
    assert text.train_hash == hashlib.sha256(b"a\nb\rc\n?").hexdigest()[:16]
    assert corpus.library(str(small_library)).held_out_hash == text.held_out_hash


def test_a_library_without_sources_is_refused(corpus, small_library, tmp_path):
    (small_library / "json" / "decoder.py").unlink()
    with pytest.raises(FileNotFoundError, match="no file of the laboratory's text to train on is under"):
        corpus.library(small_library)
    (small_library / "heapq.py").unlink()
    (small_library / "json" / "__init__.py").unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks heapq.py, json/__init__.py under .*: use a Python that"):
        corpus.library(str(small_library))


def test_windows_of_the_text(corpus, torch):
    made = task("text")
    train, held_out = (part.numpy().tobytes() for part in (made.text.train, made.text.held_out))
    tokens, targets = made.batch(random(0), 16, 40)
    assert torch.equal(targets[:, :-1], tokens[:, 1:])
    starts = [
        train.find(bytes([*row, last])) for row, last in zip(tokens.tolist(), targets[:, -1].tolist(), strict=True)
    ]
    assert min(starts) >= 0
    assert max(starts) - min(starts) > len(train) / 2
    tokens, targets = made.probe(200, 9)
    assert torch.equal(targets[:, :-1], tokens[:, 1:])
    ends = [held_out.find(bytes(row)) + 200 for row in targets.tolist()]
    expected = np.linspace(1025, len(held_out), 9).astype(int)
    assert ends == expected.tolist()


def test_the_ends_of_the_text_are_read(corpus, torch):
    """The last byte and the first can be in a window, and none is out of it."""
    every = torch.arange(12, dtype=torch.uint8)
    made = corpus.LibraryText(corpus.Text(every, every, "", "", ()), asked=2, longest=11)
    found = [made.batch(random(seed), 8, 9) for seed in range(20)]
    assert {row[0] for batch in found for row in batch.tokens.tolist()} == {0, 1, 2}
    assert {row[-1] for batch in found for row in batch.targets.tolist()} == {9, 10, 11}
    assert made.probe(11, 3).targets.tolist() == [list(range(1, 12))] * 3
    assert made.batch(random(0), 2, 11).tokens.tolist() == [list(range(11))] * 2
    with pytest.raises(ValueError, match="length must be below the 12 bytes to train on, got 12"):
        made.batch(random(0), 2, 12)
    with pytest.raises(ValueError, match="longest must be below the 12 bytes held out, got 12"):
        corpus.LibraryText(made.text, longest=12)
    with pytest.raises(ValueError, match="length must be at most 11, the longest of the probes, got 12"):
        made.probe(12, 3)


@pytest.mark.parametrize(("name", "least"), [("text", 32), ("copy", 31), ("copy half", 32), ("offset", 22)])
def test_all_of_the_last_tokens_can_be_known(name, least, corpus):
    """A probe in which some of them are not asked would measure something else."""
    made = task(name)
    assert not bool((made.probe(least, 4).targets[:, -made.asked :] == corpus.IGNORED).any())
    with pytest.raises(ValueError, match=f"length must be at least {least}, got {least - 1}"):
        made.probe(least - 1, 4)


def test_ranges_that_are_turned_round_are_refused(corpus):
    with pytest.raises(ValueError, match="most_period must be at least least_period, 9, got 8"):
        corpus.Copy(9, 8)
    with pytest.raises(ValueError, match="sequences must be even, every sentence comes with its twin, got 3"):
        corpus.WordOrder().probe(3, 3)
