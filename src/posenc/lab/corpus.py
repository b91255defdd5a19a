"""What the laboratory's models read: five synthetic tasks that are the same everywhere, and Python's own library.

A task makes batches to train on, and probes to measure with. A probe asks for the same last tokens at every length, and
only what stands before them grows: a model that ignores all but its trained length would answer alike at each.

Random draws come from `numpy.random.RandomState`, whose streams are frozen. The library's text is read where it lies
and belongs to the Python at hand, so every result on it carries the hash of what was read.
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
import torch
from torch import Tensor

from posenc._arrays import check_choice, check_int
from posenc.lab._checks import instance
from posenc.lab.measured import SHIPPED, read_json

IGNORED = -100  # torch's own mark of a token whose loss is not counted


class Batch(NamedTuple):
    """What a model reads, and what it should say: `IGNORED` where nothing is asked of it."""

    tokens: Tensor  # (sequences, length), int64
    targets: Tensor  # (sequences, length), or (sequences,) where there is one answer for each sequence


@runtime_checkable
class Task(Protocol):
    """What the laboratory needs of a task."""

    name: ClassVar[str]
    vocab_size: ClassVar[int]
    asked: int

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences to train on.

        Raises:
            TypeError, ValueError: numbers that are not whole or too small, or a longer length than the task has.
        """

    def probe(self, length: int, sequences: int) -> Batch:
        """The same sequences at every call, of which the last tokens are the same at every length.

        Raises:
            TypeError, ValueError: numbers that are not whole or too small for all of the last tokens to be asked for,
                or a longer length than the task has.
        """


def _check(random: np.random.RandomState, sequences: int, length: int) -> None:
    """Refuses what no batch can be made of."""
    instance("random", random, np.random.RandomState)
    check_int("sequences", sequences)
    check_int("length", length)


def _draws(random: np.random.RandomState, below: int, *shape: int, least: int = 0) -> np.ndarray:
    """Whole numbers from `least` to below − 1. With a width of its own: NumPy's default is that of the platform."""
    return random.randint(least, below, size=shape, dtype=np.int64)


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
    """Bytes of Python's standard library, ASCII, as whole numbers below 128.

    Attributes:
        train, held_out: uint8, shape (bytes,).
        train_hash, held_out_hash: the first 16 digits of their SHA-256.
        missing: files to train on that this Python does not have.
    """

    train: Tensor
    held_out: Tensor
    train_hash: str
    held_out_hash: str
    missing: tuple[str, ...]


def _paths(groups: dict[str, str]) -> list[str]:
    return [f"{folder}/{name}.py".lstrip("/") for folder, names in groups.items() for name in names.split()]


def as_ascii(path: Path) -> bytes:
    """The file's text with Unix line ends, and a question mark for every byte beyond ASCII."""
    return bytes(byte if byte < 128 else ord("?") for byte in path.read_bytes().replace(b"\r\n", b"\n"))


@cache
def frozen_files() -> tuple[Tensor, ...]:
    """The files that models are measured on, which ship with the package: uint8 each, longer than `LONGEST`."""
    frozen = read_json(SHIPPED / FROZEN)
    return tuple(torch.frombuffer(bytearray(text, "ascii"), dtype=torch.uint8) for text in frozen["files"].values())


@lru_cache(maxsize=4)
def library(folder: str | Path | None = None) -> Text:
    """The text of the standard library, read where it lies.

    Args:
        folder: where the library is; None: that of the running Python.

    Raises:
        TypeError: `folder` is no path.
        FileNotFoundError: a held-out file is not there (some systems leave the sources out), or no file to train on.
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
    of_train, of_held_out = (torch.frombuffer(bytearray(part), dtype=torch.uint8) for part in parts)
    train_hash, held_out_hash = (hashlib.sha256(part).hexdigest()[:16] for part in parts)
    missing = tuple(path for path in _paths(_TRAIN) if path not in train)
    return Text(of_train, of_held_out, train_hash, held_out_hash, missing)


class LibraryText:
    """The next byte of Python's standard library: language, of a kind.

    Args:
        text: what to read; None: `library()`.
        asked: tokens at the end of a probe that are asked for.
        longest: the greatest length that probes will have, in tokens; less than the held-out text has.
    """

    name: ClassVar[str] = "text"
    vocab_size: ClassVar[int] = 128

    def __init__(self, text: Text | None = None, asked: int = 32, longest: int = 2048) -> None:
        self.text = library() if text is None else text
        instance("text", self.text, Text)
        self.asked, self.longest = check_int("asked", asked), check_int("longest", longest)
        if longest >= len(self.text.held_out):
            raise ValueError(f"longest must be below the {len(self.text.held_out)} bytes held out, got {longest}")

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Windows of the text to train on, from random places."""
        _check(random, sequences, length)
        if length >= len(self.text.train):
            raise ValueError(f"length must be below the {len(self.text.train)} bytes to train on, got {length}")
        starts = _draws(random, len(self.text.train) - length, sequences)
        return _next_tokens(self._windows(self.text.train, starts, length + 1))

    def probe(self, length: int, sequences: int) -> Batch:
        """Windows of the held-out text; those of every length end at the same places, evenly spread."""
        if check_int("length", length, self.asked) > self.longest:
            raise ValueError(f"length must be at most {self.longest}, the longest of the probes, got {length}")
        ends = np.linspace(self.longest + 1, len(self.text.held_out), check_int("sequences", sequences)).astype(int)
        return _next_tokens(self._windows(self.text.held_out, ends - length - 1, length + 1))

    def windows(self, length: int, sequences: int) -> Batch:
        """The first windows of files that ship frozen, so that they are the same on every machine, one of each in turn.

        Those of every length end at the same places, and no byte is asked for twice.
        """
        files = frozen_files()
        if check_int("length", length, self.asked) > LONGEST:
            raise ValueError(f"length must be at most {LONGEST}, the longest of the windows, got {length}")
        if check_int("sequences", sequences) > WINDOWS_PER_FILE * len(files):
            there = WINDOWS_PER_FILE * len(files)
            raise ValueError(f"sequences must be at most {there}, the windows there are, got {sequences}")
        found = []
        for number in range(sequences):
            text = files[number % len(files)]
            # Rounds go through a file by steps of 7 of its 25 places, so that the first few are spread over all of it.
            place = 7 * (number // len(files)) % WINDOWS_PER_FILE
            end = LONGEST + 1 + place * (len(text) - LONGEST - 1) // (WINDOWS_PER_FILE - 1)
            found.append(text[end - length - 1 : end])
        return _next_tokens(torch.stack(found).long())

    @staticmethod
    def _windows(text: Tensor, starts: np.ndarray, length: int) -> Tensor:
        return torch.stack([text[start : start + length] for start in starts.tolist()]).long()


def _next_tokens(sequences: Tensor) -> Batch:
    return Batch(sequences[:, :-1].contiguous(), sequences[:, 1:].contiguous())


# ---------------------------------------------------------------------------------------------------------------------
# Synthetic tasks


class Copy:
    """A block of random symbols, said again and again: the next symbol stood one period ago.

    The first block cannot be known and is not asked for. Any copy of it will do, so that this is no question of where:
    a model that looks two blocks back instead of one answers as well.

    Args:
        least_period, most_period: the range of periods in training, in tokens, both included.
        period: that of the probes, in tokens; None: half of the probe's length, so that the block is said twice.
        asked: tokens at the end of a probe that are asked for.
    """

    name: ClassVar[str] = "copy"
    vocab_size: ClassVar[int] = 64

    def __init__(
        self,
        least_period: int = 8,
        most_period: int = 32,
        period: int | None = None,
        asked: int = 16,
    ) -> None:
        self.least_period, self.most_period = (
            check_int("least_period", least_period),
            check_int("most_period", most_period),
        )
        if most_period < least_period:
            raise ValueError(f"most_period must be at least least_period, {least_period}, got {most_period}")
        self.period = None if period is None else check_int("period", period)
        self.asked = check_int("asked", asked)

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences of random symbols, each of a random period."""
        _check(random, sequences, length)
        periods = _draws(random, self.most_period + 1, sequences, least=self.least_period)
        blocks = _draws(random, self.vocab_size, sequences, self.most_period)
        place = np.arange(length + 1)[None, :] % periods[:, None]  # (sequences, length + 1)
        found = _next_tokens(torch.from_numpy(np.take_along_axis(blocks, place, axis=1)))
        known = torch.arange(1, length + 1) >= torch.from_numpy(periods)[:, None]
        return Batch(found.tokens, found.targets.masked_fill(~known, IGNORED))

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences of one period, which end with the same symbols at every length."""
        check_int("length", length, 2 * self.asked if self.period is None else self.period + self.asked - 1)
        period = length // 2 if self.period is None else self.period
        random = np.random.RandomState(20_260_101)
        # Drawn from the end backwards, so that a longer block only adds to its front.
        drawn = _draws(random, self.vocab_size, period, check_int("sequences", sequences)).T[:, ::-1]
        place = np.arange(length + 1)[::-1] % period  # distance from the end, within the block
        found = _next_tokens(torch.from_numpy(np.ascontiguousarray(drawn[:, period - 1 - place])))
        known = torch.arange(1, length + 1) >= period
        return Batch(found.tokens, found.targets.masked_fill(~known, IGNORED))


class SaidOnce:
    """One block among random symbols, said once more further on: which symbol followed these, the one time before?

    Nothing else is repeated but by chance, so that a model that looks too far or too near finds no right answer.

    Args:
        least_block, most_block: symbols of a block in training, both included. Its second saying begins anywhere, at
            least a block's length after the first.
        distance: in a probe, from a symbol to the same one before, in tokens.
        distractors: of a probe, all that is not the block: "random" symbols, or "disjoint" ones that the block has not.
        asked: tokens at the end of a probe that are asked for; a block of it has two more, by which it is known, or
            as many as the greatest in training if the distance has room for them.
    """

    name: ClassVar[str] = "said_once"
    vocab_size: ClassVar[int] = 64
    cue: ClassVar[int] = 2  # symbols by which a block is known, and which are not asked for

    def __init__(
        self,
        least_block: int = 12,
        most_block: int = 32,
        distance: int = 32,
        distractors: str = "random",
        asked: int = 14,
    ) -> None:
        self.least_block = check_int("least_block", least_block, self.cue + 1)
        self.most_block = check_int("most_block", most_block)
        if most_block < least_block:
            raise ValueError(f"most_block must be at least least_block, {least_block}, got {most_block}")
        self.asked = check_int("asked", asked)
        self.distance = check_int("distance", distance, asked + self.cue)
        self.distractors = check_choice("distractors", distractors, ("random", "disjoint"))

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences of random symbols with one block in each that is said twice, at a random place and distance."""
        _check(random, sequences, length)
        if length + 1 < 2 * self.most_block:
            raise ValueError(f"length must have room for two blocks of {self.most_block}, got {length}")
        symbols = _draws(random, self.vocab_size, sequences, length + 1)
        block = _draws(random, self.most_block + 1, sequences, least=self.least_block)[:, None]
        last = length + 1 - block  # where the second saying begins at the latest
        distance = block + _below(random, last - block + 1)
        begin = distance + _below(random, last - distance + 1)
        place = np.arange(length + 1)[None, :]
        said_again = (begin <= place) & (place < begin + block)
        symbols = np.where(said_again, np.take_along_axis(symbols, np.maximum(place - distance, 0), axis=1), symbols)
        return _asking(symbols, said_again & (place >= begin + self.cue))

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences that end with the block, and have it once before; the same end at every length."""
        block = min(self.distance, max(self.most_block, self.asked + self.cue))
        if check_int("length", length, self.distance + block - 1) > LONGEST:
            raise ValueError(f"length must be at most {LONGEST}, the longest of the probes, got {length}")
        random = np.random.RandomState([20_260_104, self.distance])
        own = self.vocab_size // 2 if self.distractors == "disjoint" else self.vocab_size
        others = 0 if own == self.vocab_size else own
        said = _draws(random, own, check_int("sequences", sequences), block)
        # From the end backwards, so that a longer probe only has more before it.
        drawn = _draws(random, self.vocab_size, LONGEST + 1, sequences, least=others).T[:, ::-1]
        symbols = drawn[:, LONGEST - length :].copy()
        first = length + 1 - block - self.distance
        symbols[:, first : first + block] = symbols[:, -block:] = said
        asked = np.zeros((1, length + 1), bool)
        asked[:, -self.asked :] = True
        return _asking(symbols, asked)


class Recall:
    """Pairs of a key and its value among other symbols, and keys that come again: which was the value?

    Args:
        most_pairs: in a sequence to train on; each is asked for once, somewhere after it was said.
        pairs: in a probe, of which one is asked for.
        distance: in a probe, from the key that is asked for to where it stood before, in tokens; even.
    """

    name: ClassVar[str] = "recall"
    vocab_size: ClassVar[int] = 64
    keys: ClassVar[int] = 24  # symbols 0 to 23 are keys, 24 to 47 values, the others neither
    values: ClassVar[int] = 24
    asked = 1

    def __init__(self, most_pairs: int = 12, pairs: int = 6, distance: int = 32) -> None:
        self.most_pairs, self.pairs = check_int("most_pairs", most_pairs), check_int("pairs", pairs)
        for name in ("most_pairs", "pairs"):
            if getattr(self, name) > self.keys:
                raise ValueError(f"{name} must be at most {self.keys}, the keys there are, got {getattr(self, name)}")
        self.distance = check_int("distance", distance, 2)
        if distance % 2:
            raise ValueError(f"distance must be even, since a pair takes two tokens, got {distance}")

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences with up to so many pairs, each said at a random place and asked for at a later one."""
        _check(random, sequences, length)
        places = length // 2
        if places < 2 * self.most_pairs:
            raise ValueError(f"length must have room for {2 * self.most_pairs} pairs, got {length}")
        symbols = _draws(random, self.vocab_size, sequences, length + 1, least=self.keys + self.values)
        asked = np.zeros(symbols.shape, bool)
        for row, asked_of in zip(symbols, asked, strict=True):
            pairs, shift = 1 + int(_draws(random, self.most_pairs)), int(_draws(random, 2))
            keys, values = random.permutation(self.keys)[:pairs], self.keys + _draws(random, self.values, pairs)
            slots = np.sort(random.permutation(places)[: 2 * pairs].reshape(pairs, 2), axis=1)  # said, asked for
            for at in (shift + 2 * slots).T:
                row[at], row[at + 1] = keys, values
            asked_of[shift + 2 * slots[:, 1] + 1] = True
        return _asking(symbols, asked)

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences that end with a key, whose pair stood so far back, between other pairs."""
        check_int("length", length, self.distance + 1)
        places = (length + 1) // 2
        if self.pairs > places - 1:
            raise ValueError(f"length must have room for {self.pairs} pairs and a question, got {length}")
        random = np.random.RandomState([20_260_105, self.distance, self.pairs, length])
        others = self.keys + self.values
        symbols = _draws(random, self.vocab_size, check_int("sequences", sequences), length + 1, least=others)
        said = places - 1 - self.distance // 2  # the place of the pair that is asked for; the question has the last one
        free = np.delete(np.arange(places - 1), said)
        for row in symbols:
            keys = random.permutation(self.keys)[: self.pairs]
            values = self.keys + _draws(random, self.values, self.pairs)
            slots = np.append(said, random.permutation(free)[: self.pairs - 1])
            at = length + 1 - 2 * (places - slots)
            row[at], row[at + 1] = keys, values
            row[-2:] = keys[0], values[0]
        asked = np.zeros((1, length + 1), bool)
        asked[:, -1] = True
        return _asking(symbols, asked)


def _below(random: np.random.RandomState, limits: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 to each limit − 1."""
    return np.asarray(random.random_sample(limits.shape) * limits).astype(np.int64)


def _asking(symbols: np.ndarray, asked: np.ndarray) -> Batch:
    """What follows each symbol, to be told where `asked` says so of the symbol that follows."""
    found = _next_tokens(torch.from_numpy(np.ascontiguousarray(symbols)))
    unasked = ~torch.from_numpy(asked[:, 1:])
    return Batch(found.tokens, found.targets.masked_fill(unasked, IGNORED))


class ExactOffset:
    """Random symbols, and the question which one stood so many tokens ago.

    Args:
        offset: in tokens, at least 1.
        asked: tokens at the end of a probe that are asked for.
    """

    name: ClassVar[str] = "offset"
    vocab_size: ClassVar[int] = 64

    def __init__(self, offset: int = 6, asked: int = 16) -> None:
        self.offset, self.asked = check_int("offset", offset), check_int("asked", asked)

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences of random symbols."""
        _check(random, sequences, length)
        return self._answers(torch.from_numpy(_draws(random, self.vocab_size, sequences, length)))

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences that end with the same symbols at every length."""
        check_int("length", length, self.offset + self.asked)
        random = np.random.RandomState(20_260_102)
        drawn = _draws(random, self.vocab_size, length, check_int("sequences", sequences)).T[:, ::-1]
        return self._answers(torch.from_numpy(np.ascontiguousarray(drawn)))

    def _answers(self, tokens: Tensor) -> Batch:
        targets = torch.full_like(tokens, IGNORED)
        targets[:, self.offset :] = tokens[:, : -self.offset]
        return Batch(tokens, targets)


class WordOrder:
    """Three words, agent, verb and patient, and the question who does it: told by their order alone.

    The first and the third word are drawn from the same nouns. The answer is 1 where the first noun comes before the
    third in the list of nouns, 0 otherwise, so every sentence has a twin of the same words and the other answer.
    """

    name: ClassVar[str] = "order"
    nouns: ClassVar[int] = 20
    verbs: ClassVar[int] = 10
    vocab_size: ClassVar[int] = nouns + verbs
    n_classes: ClassVar[int] = 2
    asked = 1

    def batch(self, random: np.random.RandomState, sequences: int, length: int = 3) -> Batch:
        """Sentences of three words whatever the length, with both answers equally often on average."""
        _check(random, sequences, length)
        agents = _draws(random, self.nouns, sequences)
        patients = (agents + _draws(random, self.nouns, sequences, least=1)) % self.nouns
        verbs = _draws(random, self.vocab_size, sequences, least=self.nouns)
        tokens = torch.from_numpy(np.stack((agents, verbs, patients), axis=1))
        return Batch(tokens, torch.from_numpy(agents < patients).long())

    def probe(self, length: int = 3, sequences: int = 512) -> Batch:
        """The same sentences at every call, each followed by its twin, so that their number is even."""
        if check_int("sequences", sequences, 2) % 2:
            raise ValueError(f"sequences must be even, every sentence comes with its twin, got {sequences}")
        tokens, answers = self.batch(np.random.RandomState(20_260_103), sequences // 2, length)
        twins = tokens.flip(1)
        return Batch(
            torch.stack((tokens, twins), dim=1).flatten(0, 1), torch.stack((answers, 1 - answers), dim=1).flatten()
        )


TASKS: Mapping[str, type[Task]] = MappingProxyType(
    {one.name: one for one in (LibraryText, SaidOnce, Copy, Recall, ExactOffset, WordOrder)}
)
