"""The laboratory's data: five synthetic tasks, and the text of Python's standard library.

A task makes batches to train on and probes to evaluate on. At every length a probe scores the same last tokens, and
only the context before them grows: a model that ignored all but its trained length would score the same at each.

Random draws come from `numpy.random.RandomState`, whose streams are frozen. The library's text depends on the running
Python, so every result on it carries a hash of the text.
"""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

try:
    import torch
except ModuleNotFoundError:
    torch = None  # type: ignore[assignment]

from posenc._arrays import Array, check_choice, check_int
from posenc.lab._checks import instance
from posenc.lab.measured import read_json, shipped_folder

IGNORED = -100  # as in torch: a target that does not count


class Batch(NamedTuple):
    """Input tokens and targets, as tensors where torch is installed; targets are `IGNORED` where nothing is scored."""

    tokens: Array  # (sequences, length), int64
    targets: Array  # (sequences, length), or (sequences,) where there is one answer for each sequence


@runtime_checkable
class Task(Protocol):
    """The interface of a task."""

    name: ClassVar[str]
    vocab_size: ClassVar[int]
    n_scored: int  # last tokens of a probe that are scored

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences to train on.

        Raises:
            TypeError, ValueError: numbers that are no integers or too small, or a length that the task does not have.
        """

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences to evaluate on: the same at every call, with the same last tokens at every length.

        Raises:
            TypeError, ValueError: numbers that are no integers or too small, or a length that the task does not have.
        """


def _check_batch(random: np.random.RandomState, sequences: int, length: int) -> None:
    instance("random", random, np.random.RandomState)
    check_int("sequences", sequences)
    check_int("length", length)


def _draws(random: np.random.RandomState, high: int, *shape: int, low: int = 0) -> np.ndarray:
    """Integers from low to high − 1, in int64 on every platform."""
    return random.randint(low, high, size=shape, dtype=np.int64)


# ---------------------------------------------------------------------------------------------------------------------
# Text that every machine has

# Modules that all Pythons since 3.11 have, nearly alike: nine lines of ten are the same in 3.11, 3.12 and 3.13.
_TRAIN = {
    "": "_collections_abc _markupbase _pydecimal _pyio bdb bz2 cmd codecs compileall contextlib doctest fileinput "
    "ftplib gettext imaplib ipaddress lzma mailbox mimetypes modulefinder operator optparse pickle pickletools "
    "plistlib poplib pprint profile pstats pyclbr runpy shlex smtplib socketserver subprocess tabnanny tarfile "
    "textwrap timeit trace tracemalloc wave",
    "asyncio": "events futures sslproto transports unix_events",
    "collections": "__init__",
    "email": "_header_value_parser _parseaddr _policybase charset contentmanager feedparser generator message policy "
    "quoprimime",
    "html": "parser",
    "http": "client cookiejar cookies server",
    "json": "decoder encoder",
    "multiprocessing": "context forkserver heap managers pool process queues reduction shared_memory spawn synchronize "
    "util",
    "re": "_compiler _parser",
    "urllib": "request robotparser",
    "wsgiref": "handlers validate",
    "xml/dom": "expatbuilder minidom pulldom xmlbuilder",
    "xml/etree": "ElementTree",
    "xml/sax": "expatreader handler saxutils xmlreader",
    "xmlrpc": "client server",
}
# These are the same to the last byte in five releases of 3.11, 3.12 and 3.13, so that others will measure on them too.
_HELD_OUT = {
    "": "_py_abc _threading_local _weakrefset heapq weakref",
    "asyncio": "protocols",
    "concurrent/futures": "_base",
    "email": "_encoded_words headerregistry",
    "json": "__init__",
    "multiprocessing": "sharedctypes",
    "tomllib": "_parser",
    "wsgiref": "headers",
    "xml/etree": "ElementPath",
}


FROZEN = "frozen_text.json.xz"  # ships: other files than those above, as tools/frozen_text.py wrote them
WINDOWS_PER_FILE = 25
LONGEST = 2048  # tokens of a probe, 16 times the length that the full profile trains on


@dataclass(frozen=True)
class Text:
    """Bytes of Python's standard library, ASCII.

    Attributes:
        train, held_out: uint8, shape (bytes,).
        train_hash, held_out_hash: the first 16 digits of their SHA-256.
        missing: files to train on that this Python does not have.
    """

    train: np.ndarray
    held_out: np.ndarray
    train_hash: str
    held_out_hash: str
    missing: tuple[str, ...]


def _paths(groups: dict[str, str]) -> list[str]:
    return [f"{folder}/{name}.py".lstrip("/") for folder, names in groups.items() for name in names.split()]


def as_ascii(path: Path) -> bytes:
    """A file's bytes with Unix line ends and a question mark for every byte beyond ASCII."""
    return bytes(byte if byte < 128 else ord("?") for byte in path.read_bytes().replace(b"\r\n", b"\n"))


@cache
def frozen_files() -> tuple[np.ndarray, ...]:
    """The files to evaluate on that ship with posenc-lab: uint8, longer than `LONGEST` each."""
    frozen = read_json(shipped_folder() / FROZEN)
    return tuple(np.frombuffer(text.encode("ascii"), np.uint8) for text in frozen["files"].values())


@lru_cache(maxsize=4)
def library(folder: str | Path | None = None) -> Text:
    """The text of the standard library.

    Args:
        folder: of the library; None: that of the running Python.

    Raises:
        TypeError: `folder` is no path.
        FileNotFoundError: a held-out file is missing (some systems leave the sources out), or all files to train on.
    """
    instance("folder", folder, str, Path, NoneType)
    root = Path(sysconfig.get_path("stdlib") if folder is None else folder)
    held_out = _paths(_HELD_OUT)
    absent = [path for path in held_out if not (root / path).is_file()]
    if absent:
        raise FileNotFoundError(
            f"the laboratory measures on the text of Python's standard library, which lacks {', '.join(absent)} "
            f"under {root}: use a Python that was installed with its sources"
        )
    train = [path for path in _paths(_TRAIN) if (root / path).is_file()]
    if not train:
        raise FileNotFoundError(f"no file of the laboratory's text to train on is under {root}")
    parts = [b"\n".join(as_ascii(root / path) for path in paths) for paths in (train, held_out)]
    of_train, of_held_out = (np.frombuffer(part, np.uint8) for part in parts)
    train_hash, held_out_hash = (hashlib.sha256(part).hexdigest()[:16] for part in parts)
    missing = tuple(path for path in _paths(_TRAIN) if path not in train)
    return Text(of_train, of_held_out, train_hash, held_out_hash, missing)


class LibraryText:
    """Next-byte prediction on the text of Python's standard library.

    Args:
        text: None: `library()`.
        n_scored: last tokens of a probe that are scored.
        longest: maximum length of probes, in tokens; shorter than the held-out text.
    """

    name: ClassVar[str] = "text"
    vocab_size: ClassVar[int] = 128

    def __init__(self, text: Text | None = None, n_scored: int = 32, longest: int = 2048) -> None:
        instance("text", text, Text, NoneType)
        self.n_scored, self.longest = check_int("n_scored", n_scored), check_int("longest", longest)
        self._text = None if text is None else self._checked(text)

    @property
    def text(self) -> Text:
        """What is trained on. The library is read when it is asked for: a web page lacks it, and has the windows."""
        return self._checked(library()) if self._text is None else self._text

    def _checked(self, text: Text) -> Text:
        if self.longest >= len(text.held_out):
            raise ValueError(f"longest must be below the {len(text.held_out)} bytes held out, got {self.longest}")
        return text

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Windows of the training text at random positions."""
        _check_batch(random, sequences, length)
        if length >= len(self.text.train):
            raise ValueError(f"length must be below the {len(self.text.train)} bytes to train on, got {length}")
        starts = _draws(random, len(self.text.train) - length, sequences)
        return _next_tokens(self._windows(self.text.train, starts, length + 1))

    def probe(self, length: int, sequences: int) -> Batch:
        """Evenly spaced windows of the held-out text, with the same ends at every length."""
        if check_int("length", length, self.n_scored) > self.longest:
            raise ValueError(f"length must be at most {self.longest}, the longest of the probes, got {length}")
        ends = np.linspace(self.longest + 1, len(self.text.held_out), check_int("sequences", sequences)).astype(int)
        return _next_tokens(self._windows(self.text.held_out, ends - length - 1, length + 1))

    def windows(self, length: int, sequences: int) -> Batch:
        """Windows of the frozen files that ship, one file after the other: the same on every machine.

        They have the same ends at every length, and no byte is scored twice.
        """
        files = frozen_files()
        if check_int("length", length, self.n_scored) > LONGEST:
            raise ValueError(f"length must be at most {LONGEST}, the longest of the windows, got {length}")
        if check_int("sequences", sequences) > WINDOWS_PER_FILE * len(files):
            raise ValueError(f"sequences must be at most {WINDOWS_PER_FILE * len(files)}, got {sequences}")
        found = []
        for number in range(sequences):
            text = files[number % len(files)]
            # Steps of 7 among 25 positions spread the first few windows over the whole file.
            slot = 7 * (number // len(files)) % WINDOWS_PER_FILE
            end = LONGEST + 1 + slot * (len(text) - LONGEST - 1) // (WINDOWS_PER_FILE - 1)
            found.append(text[end - length - 1 : end])
        return _next_tokens(np.stack(found))

    @staticmethod
    def _windows(text: np.ndarray, starts: np.ndarray, length: int) -> np.ndarray:
        return np.stack([text[start : start + length] for start in starts.tolist()])


def _batch(tokens: np.ndarray, targets: np.ndarray) -> Batch:
    parts = (np.ascontiguousarray(part, dtype=np.int64) for part in (tokens, targets))
    return Batch(*(parts if torch is None else map(torch.from_numpy, parts)))


def _next_tokens(sequences: np.ndarray) -> Batch:
    return _batch(sequences[:, :-1], sequences[:, 1:])


# ---------------------------------------------------------------------------------------------------------------------
# Synthetic tasks


class Copy:
    """Repeated copy (induction): a block of random symbols repeats, so the next symbol is the one a period ago.

    The first block is not scored. Any earlier copy has the answer: a model may attend two blocks back as well as one.

    Args:
        min_period, max_period: range of the periods in training, in tokens, both included.
        period: of the probes, in tokens; None: half of the probe's length, so that it holds two copies.
        n_scored: last tokens of a probe that are scored.
    """

    name: ClassVar[str] = "copy"
    vocab_size: ClassVar[int] = 64

    def __init__(
        self,
        min_period: int = 8,
        max_period: int = 32,
        period: int | None = None,
        n_scored: int = 16,
    ) -> None:
        self.min_period, self.max_period = check_int("min_period", min_period), check_int("max_period", max_period)
        if max_period < min_period:
            raise ValueError(f"max_period must be at least min_period, {min_period}, got {max_period}")
        self.period = None if period is None else check_int("period", period)
        self.n_scored = check_int("n_scored", n_scored)

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences of random symbols, each of a random period."""
        _check_batch(random, sequences, length)
        periods = _draws(random, self.max_period + 1, sequences, low=self.min_period)
        blocks = _draws(random, self.vocab_size, sequences, self.max_period)
        in_block = np.arange(length + 1)[None, :] % periods[:, None]  # (sequences, length + 1)
        return _scored(np.take_along_axis(blocks, in_block, axis=1), np.arange(length + 1) >= periods[:, None])

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences of one period, which end with the same symbols at every length."""
        check_int("length", length, 2 * self.n_scored if self.period is None else self.period + self.n_scored - 1)
        period = length // 2 if self.period is None else self.period
        random = np.random.RandomState(20_260_101)
        # Drawn from the end backwards, so that a longer block only adds to its front.
        drawn = _draws(random, self.vocab_size, period, check_int("sequences", sequences)).T[:, ::-1]
        from_end = np.arange(length + 1)[::-1] % period  # within the block
        return _scored(drawn[:, period - 1 - from_end], np.arange(length + 1)[None] >= period)


class SingleCopy:
    """Single-occurrence copy: a block among random symbols occurs a second time, and is to be continued.

    Nothing else repeats except by chance, so attending too far back or too near does not find the answer.

    Args:
        min_block, max_block: length of a block in training, in symbols, both included. Its second occurrence begins
            anywhere from a block's length after the first on.
        distance: in a probe, from a symbol back to its first occurrence, in tokens.
        distractors: symbols of a probe outside the block: "random", or "disjoint" from the block's.
        n_scored: last tokens of a probe that are scored. The block of a probe has two more symbols as a cue, or
            max_block symbols if the distance leaves room for them.
    """

    name: ClassVar[str] = "single_copy"
    vocab_size: ClassVar[int] = 64
    cue: ClassVar[int] = 2  # first symbols of the second occurrence, which are not scored

    def __init__(
        self,
        min_block: int = 12,
        max_block: int = 32,
        distance: int = 32,
        distractors: str = "random",
        n_scored: int = 14,
    ) -> None:
        self.min_block = check_int("min_block", min_block, self.cue + 1)
        self.max_block = check_int("max_block", max_block)
        if max_block < min_block:
            raise ValueError(f"max_block must be at least min_block, {min_block}, got {max_block}")
        self.n_scored = check_int("n_scored", n_scored)
        self.distance = check_int("distance", distance, n_scored + self.cue)
        self.distractors = check_choice("distractors", distractors, ("random", "disjoint"))

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences of random symbols with one block that occurs twice, at a random position and distance."""
        _check_batch(random, sequences, length)
        if length + 1 < 2 * self.max_block:
            raise ValueError(f"length must have room for two blocks of {self.max_block}, got {length}")
        symbols = _draws(random, self.vocab_size, sequences, length + 1)
        block = _draws(random, self.max_block + 1, sequences, low=self.min_block)[:, None]
        last = length + 1 - block  # last possible start of the second occurrence
        distance = block + _below(random, last - block + 1)
        begin = distance + _below(random, last - distance + 1)
        at = np.arange(length + 1)[None, :]
        repeated = (begin <= at) & (at < begin + block)
        symbols = np.where(repeated, np.take_along_axis(symbols, np.maximum(at - distance, 0), axis=1), symbols)
        return _scored(symbols, repeated & (at >= begin + self.cue))

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences that end with the second occurrence; the same end at every length."""
        block = min(self.distance, max(self.max_block, self.n_scored + self.cue))
        if check_int("length", length, self.distance + block - 1) > LONGEST:
            raise ValueError(f"length must be at most {LONGEST}, the longest of the probes, got {length}")
        random = np.random.RandomState([20_260_104, self.distance])
        disjoint = self.distractors == "disjoint"
        of_block = self.vocab_size // 2 if disjoint else self.vocab_size  # symbols from 0 on
        content = _draws(random, of_block, check_int("sequences", sequences), block)
        # Drawn from the end backwards, so that a longer probe only adds to its front.
        low = of_block if disjoint else 0
        drawn = _draws(random, self.vocab_size, LONGEST + 1, sequences, low=low).T[:, ::-1]
        symbols = drawn[:, LONGEST - length :].copy()
        first = length + 1 - block - self.distance
        symbols[:, first : first + block] = symbols[:, -block:] = content
        return _scored(symbols, np.arange(length + 1)[None] > length - self.n_scored)


class Recall:
    """Associative recall: pairs of a key and a value among other symbols; when a key recurs, its value is scored.

    Args:
        max_pairs: maximum number of pairs in a training sequence; each is queried once.
        pairs: in a probe, one of which is queried.
        distance: in a probe, from the queried key back to its first occurrence, in tokens; even.
    """

    name: ClassVar[str] = "recall"
    vocab_size: ClassVar[int] = 64
    keys: ClassVar[int] = 24  # symbols 0 to 23 are keys, 24 to 47 values, the others neither
    values: ClassVar[int] = 24
    n_scored = 1

    def __init__(self, max_pairs: int = 12, pairs: int = 6, distance: int = 32) -> None:
        self.max_pairs, self.pairs = check_int("max_pairs", max_pairs), check_int("pairs", pairs)
        for name in ("max_pairs", "pairs"):
            if getattr(self, name) > self.keys:
                raise ValueError(f"{name} must be at most {self.keys}, the number of keys, got {getattr(self, name)}")
        self.distance = check_int("distance", distance, 2)
        if distance % 2:
            raise ValueError(f"distance must be even, since a pair takes two tokens, got {distance}")

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences of up to max_pairs pairs at random positions, each queried at a later one."""
        _check_batch(random, sequences, length)
        slots = length // 2  # a pair takes one
        if slots < 2 * self.max_pairs:
            raise ValueError(f"length must have room for {2 * self.max_pairs} pairs, got {length}")
        symbols = _draws(random, self.vocab_size, sequences, length + 1, low=self.keys + self.values)
        scored = np.zeros(symbols.shape, bool)
        for row, scored_row in zip(symbols, scored, strict=True):
            pairs, shift = 1 + int(_draws(random, self.max_pairs)), int(_draws(random, 2))
            keys, values = random.permutation(self.keys)[:pairs], self.keys + _draws(random, self.values, pairs)
            chosen = np.sort(random.permutation(slots)[: 2 * pairs].reshape(pairs, 2), axis=1)  # pair, query
            for at in (shift + 2 * chosen).T:
                row[at], row[at + 1] = keys, values
            scored_row[shift + 2 * chosen[:, 1] + 1] = True
        return _scored(symbols, scored)

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences that end with a query, with its pair at the distance and other pairs elsewhere."""
        check_int("length", length, self.distance + 1)
        slots = (length + 1) // 2
        if self.pairs > slots - 1:
            raise ValueError(f"length must have room for {self.pairs} pairs and a query, got {length}")
        random = np.random.RandomState([20_260_105, self.distance, self.pairs, length])
        low = self.keys + self.values
        symbols = _draws(random, self.vocab_size, check_int("sequences", sequences), length + 1, low=low)
        queried = slots - 1 - self.distance // 2  # slot of the queried pair; the query has the last one
        free = np.delete(np.arange(slots - 1), queried)
        for row in symbols:
            keys = random.permutation(self.keys)[: self.pairs]
            values = self.keys + _draws(random, self.values, self.pairs)
            chosen = np.append(queried, random.permutation(free)[: self.pairs - 1])
            at = length + 1 - 2 * (slots - chosen)
            row[at], row[at + 1] = keys, values
            row[-2:] = keys[0], values[0]
        return _scored(symbols, np.arange(length + 1)[None] == length)


def _below(random: np.random.RandomState, limits: np.ndarray) -> np.ndarray:
    """Integers from 0 to each limit − 1."""
    return np.asarray(random.random_sample(limits.shape) * limits).astype(np.int64)


def _scored(symbols: np.ndarray, scored: np.ndarray) -> Batch:
    """Next-token prediction of the symbols that are marked as scored, both of shape (sequences, length + 1)."""
    return _batch(symbols[:, :-1], np.where(scored[:, 1:], symbols[:, 1:], IGNORED))


class ExactOffset:
    """Random symbols: which one was `offset` tokens ago?

    Args:
        offset: in tokens, at least 1.
        n_scored: last tokens of a probe that are scored.
    """

    name: ClassVar[str] = "offset"
    vocab_size: ClassVar[int] = 64

    def __init__(self, offset: int = 6, n_scored: int = 16) -> None:
        self.offset, self.n_scored = check_int("offset", offset), check_int("n_scored", n_scored)

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences of random symbols."""
        _check_batch(random, sequences, length)
        return self._with_targets(_draws(random, self.vocab_size, sequences, length))

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences that end with the same symbols at every length."""
        check_int("length", length, self.offset + self.n_scored)
        random = np.random.RandomState(20_260_102)
        return self._with_targets(_draws(random, self.vocab_size, length, check_int("sequences", sequences)).T[:, ::-1])

    def _with_targets(self, symbols: np.ndarray) -> Batch:
        targets = np.full_like(symbols, IGNORED)
        targets[:, self.offset :] = symbols[:, : -self.offset]
        return _batch(symbols, targets)


class WordOrder:
    """Sentences of an agent, a verb and a patient; which of the two nouns comes first in the vocabulary?

    Only word order tells: the answer is 1 where the first noun has the smaller index, else 0, and every sentence has a
    twin with the same words and the other answer.
    """

    name: ClassVar[str] = "order"
    nouns: ClassVar[int] = 20
    verbs: ClassVar[int] = 10
    vocab_size: ClassVar[int] = nouns + verbs
    n_classes: ClassVar[int] = 2
    n_scored = 1

    def batch(self, random: np.random.RandomState, sequences: int, length: int = 3) -> Batch:
        """Sentences of three words whatever the length; both answers are equally frequent on average."""
        _check_batch(random, sequences, length)
        return _batch(*self._sentences(random, sequences))

    def _sentences(self, random: np.random.RandomState, sequences: int) -> tuple[np.ndarray, np.ndarray]:
        agents = _draws(random, self.nouns, sequences)
        patients = (agents + _draws(random, self.nouns, sequences, low=1)) % self.nouns
        verbs = _draws(random, self.vocab_size, sequences, low=self.nouns)
        return np.stack((agents, verbs, patients), axis=1), agents < patients

    def probe(self, length: int = 3, sequences: int = 512) -> Batch:
        """The same sentences at every call, each followed by its twin, so `sequences` must be even."""
        if check_int("sequences", sequences, 2) % 2:
            raise ValueError(f"sequences must be even, every sentence comes with its twin, got {sequences}")
        check_int("length", length)
        tokens, answers = self._sentences(np.random.RandomState(20_260_103), sequences // 2)
        pairs = np.stack((tokens, tokens[:, ::-1]), axis=1)  # (sentences, 2, words)
        return _batch(pairs.reshape(-1, 3), np.stack((answers, ~answers), axis=1).ravel())


TASKS: Mapping[str, type[Task]] = MappingProxyType(
    {one.name: one for one in (LibraryText, SingleCopy, Copy, Recall, ExactOffset, WordOrder)}
)
