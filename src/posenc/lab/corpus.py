"""What the laboratory's models read: three synthetic tasks that are the same everywhere, and Python's own library.

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
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from posenc._arrays import whole
from posenc.lab._checks import instance

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
    whole("sequences", sequences)
    whole("length", length)


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


def _bytes(path: Path) -> bytes:
    """The file's text with Unix line ends, and a question mark for every byte beyond ASCII."""
    return bytes(byte if byte < 128 else ord("?") for byte in path.read_bytes().replace(b"\r\n", b"\n"))


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
    parts = [b"\n".join(_bytes(root / path) for path in paths) for paths in (train, held_out)]
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
        self.asked, self.longest = whole("asked", asked), whole("longest", longest)
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
        if whole("length", length, self.asked) > self.longest:
            raise ValueError(f"length must be at most {self.longest}, the longest of the probes, got {length}")
        ends = np.linspace(self.longest + 1, len(self.text.held_out), whole("sequences", sequences)).astype(int)
        return _next_tokens(self._windows(self.text.held_out, ends - length - 1, length + 1))

    @staticmethod
    def _windows(text: Tensor, starts: np.ndarray, length: int) -> Tensor:
        return torch.stack([text[start : start + length] for start in starts.tolist()]).long()


def _next_tokens(sequences: Tensor) -> Batch:
    return Batch(sequences[:, :-1].contiguous(), sequences[:, 1:].contiguous())


# ---------------------------------------------------------------------------------------------------------------------
# Synthetic tasks


class Copy:
    """A block of random symbols, said again and again: the next symbol stood one period ago.

    The first block cannot be known and is not asked for.

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
        self.least_period, self.most_period = whole("least_period", least_period), whole("most_period", most_period)
        if most_period < least_period:
            raise ValueError(f"most_period must be at least least_period, {least_period}, got {most_period}")
        self.period = None if period is None else whole("period", period)
        self.asked = whole("asked", asked)

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
        whole("length", length, 2 * self.asked if self.period is None else self.period + self.asked - 1)
        period = length // 2 if self.period is None else self.period
        random = np.random.RandomState(20_260_101)
        # Drawn from the end backwards, so that a longer block only adds to its front.
        drawn = _draws(random, self.vocab_size, period, whole("sequences", sequences)).T[:, ::-1]
        place = np.arange(length + 1)[::-1] % period  # distance from the end, within the block
        found = _next_tokens(torch.from_numpy(np.ascontiguousarray(drawn[:, period - 1 - place])))
        known = torch.arange(1, length + 1) >= period
        return Batch(found.tokens, found.targets.masked_fill(~known, IGNORED))


class ExactOffset:
    """Random symbols, and the question which one stood so many tokens ago.

    Args:
        offset: in tokens, at least 1.
        asked: tokens at the end of a probe that are asked for.
    """

    name: ClassVar[str] = "offset"
    vocab_size: ClassVar[int] = 64

    def __init__(self, offset: int = 6, asked: int = 16) -> None:
        self.offset, self.asked = whole("offset", offset), whole("asked", asked)

    def batch(self, random: np.random.RandomState, sequences: int, length: int) -> Batch:
        """Sequences of random symbols."""
        _check(random, sequences, length)
        return self._asking(torch.from_numpy(_draws(random, self.vocab_size, sequences, length)))

    def probe(self, length: int, sequences: int) -> Batch:
        """Sequences that end with the same symbols at every length."""
        whole("length", length, self.offset + self.asked)
        random = np.random.RandomState(20_260_102)
        drawn = _draws(random, self.vocab_size, length, whole("sequences", sequences)).T[:, ::-1]
        return self._asking(torch.from_numpy(np.ascontiguousarray(drawn)))

    def _asking(self, tokens: Tensor) -> Batch:
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
        if whole("sequences", sequences, 2) % 2:
            raise ValueError(f"sequences must be even, every sentence comes with its twin, got {sequences}")
        tokens, answers = self.batch(np.random.RandomState(20_260_103), sequences // 2, length)
        twins = tokens.flip(1)
        return Batch(
            torch.stack((tokens, twins), dim=1).flatten(0, 1), torch.stack((answers, 1 - answers), dim=1).flatten()
        )


TASKS: Mapping[str, type[Task]] = MappingProxyType(
    {one.name: one for one in (LibraryText, Copy, ExactOffset, WordOrder)}
)
