"""Count the tokens of a text: exactly if a vocabulary is available, else as an upper bound.

Promise: any ``str`` is counted in linear time, every count carries its source, and an estimate is never below the count of
cl100k_base or o200k_base. Only ``fetch_ranks`` uses the network, with a time limit. For the proof of the bound and
measurements see docs/decisions/0003-counting.md.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha1, sha256
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from logging import getLogger
from operator import add
from os import environ
from pathlib import Path
from tempfile import gettempdir
from threading import Thread
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast

from autogen_context.argument import require_whole
from autogen_context.errors import MissingExtra
from autogen_context.text.memo import remembered

if TYPE_CHECKING:
    from tiktoken import Encoding

Source = Literal["provider", "tokenizer", "estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number of tokens and its source."""

    tokens: int
    source: Source


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str, /) -> Count:
        """Return the tokens of ``text``: exact for a tokenizer, an upper bound for an estimate."""
        ...


class CountsText(Protocol):
    """Any object that counts the tokens of a text."""

    def count(self, text: str, /) -> int | Count:
        """Return the token count: a ``Count``, or a plain number, which is treated as a tokenizer's."""
        ...


def as_count(found: int | Count) -> Count:
    """Return what a counter returned as a ``Count``; raise ``ValueError`` if it is neither that nor a number of tokens."""
    if isinstance(found, Count):
        return found
    require_whole("counter: count(text)", found, least=0, give="a number of tokens, or a Count")
    return Count(tokens=found, source="tokenizer")


SEAM_TOKENS = 8  # added per cut; measured need: 5 at most; docs/decisions/0003-counting.md
_LOG = getLogger(__name__)
# Encoding -> sha256 of the ranks file that tiktoken 0.14 accepts (tiktoken_ext.openai_public, checked 2026-11-21).
_RANKS_SHA256 = MappingProxyType(
    {
        "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    }
)
_RANKS_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_EXACT_SLICE_CHARS = 200_000  # tiktoken 0.14 panics on a piece of a million spaces
_SLICE_CHARS = 1_000_000
_MOST_BOUNDS = 20_000  # of pieces of one conversation
_CLOSE_LOOK_CHARS = 24  # the close bound takes time quadratic in the length of a piece

# Pre-tokenization: both encodings first split a text into pieces by these rules (tiktoken_ext.openai_public; here for ASCII).
_TAIL = r"(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))"
_LEAD = r"[\0-\t\v\f\x0e-/:-@\[-`{-\x7f]"  # may precede the letters of a word in its piece
_MARK = r"[\0-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]"
_FOREIGN = r"[^\0-\x7f]"
_CL100K = re.compile(
    rf"{_TAIL}|{_LEAD}?+[A-Za-z]++|[0-9]{{1,3}}+| ?{_MARK}++[\r\n]*+|\s++\Z|\s*[\r\n]|\s+(?!\S)|\s",
    re.ASCII,
)
_O200K = re.compile(
    rf"{_LEAD}?[A-Z]*[a-z]+{_TAIL}?|{_LEAD}?[A-Z]+[a-z]*{_TAIL}?|[0-9]{{1,3}}| ?{_MARK}+[\r\n/]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    re.ASCII,
)
# Piece borders shared by both encodings. o200k_base lets slashes follow a line break; the borders after that differ.
_WORD = rf"[A-Za-z]++{_TAIL}?"
_AFTER_SLASH = rf"(?=/)(?:{_MARK}++[\r\n]*+)++(?:{_WORD})?"
_SHARED = (
    rf"{_LEAD}?{_WORD}|[0-9]{{1,3}}| ?{_MARK}++(?:[\r\n]++(?:{_AFTER_SLASH})?)?"
    r"|\s++\Z|\s*[\r\n]+|\s+(?!\S)|\s"
)
_ASCII_PIECES = re.compile(_SHARED, re.ASCII)
# Text next to a non-ASCII character is kept in its piece: splitting there would need Unicode tables.
_GLUED = rf"{_FOREIGN}++(?>[\r\n]++{_AFTER_SLASH}|{_SHARED})?"
_MIXED_PIECES = re.compile(rf"(?>{_SHARED})(?:{_GLUED})*+|(?:{_GLUED})++", re.ASCII)
_RUN = re.compile(r"(.)\1{7,}", re.DOTALL)
# Where a token may end inside a character: a space merged with the first byte of the next character, and a few more.
_WIDE_AFTER_SPACE = re.compile(r" (?=[\u0800-\U0010ffff])")
_TEARABLE = re.compile(
    r"([^\0-\x7f])(?=([\u0540-\u057f\u0980-\u09bf\u0c00-\u0c3f\u0e00-\u0e3f\u10c0-\u10ff\u1780-\u17bf"
    r"\ud000-\ud7ff\uff40-\uff7f]))"
)
# Both encodings always end a piece here, whatever the context.
_BORDER = re.compile(r"(?<=\n)(?=[!-.0-~])|(?<=[A-Za-z0-9])(?= [A-Za-z])")


class _ExactCounter:
    """Counts with a vocabulary; special tokens count as plain text."""

    _tokens: Callable[[str], int]

    def count(self, text: str, /) -> Count:
        """Return the tokens of ``text``, with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if len(text) <= _EXACT_SLICE_CHARS:
            return Count(tokens=self._tokens(text), source="tokenizer")
        tokens = sum_slices(text, self._tokens, at_most=_EXACT_SLICE_CHARS)
        return Count(tokens=tokens, source="tokenizer")


class BpeOpenAICounter(_ExactCounter):
    """Counts with ``bpe-openai``: exact, offline, about twice as fast as tiktoken."""

    def __init__(self, encoding: str) -> None:
        """Load the vocabulary (60 ms the first time); raise ``MissingExtra`` if ``bpe-openai`` is not installed."""
        _require_known(encoding)
        tokenizer = _bindings().tokenizer_for_encoding(encoding)
        self._tokens = cast("Callable[[str], int]", tokenizer.count)


class TiktokenCounter(_ExactCounter):
    """Counts with tiktoken, from a ranks file on disk."""

    def __init__(self, encoding: str) -> None:
        """Load the vocabulary (0.5 s the first time); raise ``FileNotFoundError`` if its ranks are not on disk."""
        path = _ranks_path(encoding)
        # tiktoken downloads missing ranks without a time limit, so check its cache folder first.
        found = path.read_bytes() if path and path.is_file() else b""
        if sha256(found).hexdigest() != _RANKS_SHA256[encoding]:
            raise FileNotFoundError(
                f"the ranks of {encoding} are not in {path}; await fetch_ranks({encoding!r}, "
                'timeout_s=30), point TIKTOKEN_CACHE_DIR at them, or pip install "autogen-context[fast]"'
            )
        encode = _load_tiktoken(encoding).encode_ordinary
        self._tokens = lambda text: len(encode(text))


class EstimateCounter:
    """Computes an upper bound for any text, offline and without loading a vocabulary."""

    def count(self, text: str, /) -> Count:
        """Return an upper bound on the tokens of ``text`` in cl100k_base and o200k_base."""
        tokens = sum_slices(text, _slice_bound, at_most=_SLICE_CHARS)
        return Count(tokens=tokens, source="estimate")


def counter_for(encoding: str) -> TokenCounter:
    """Return the bpe-openai counter, else the tiktoken one (both cached), else an estimator until the ranks are on disk.

    Raises:
        ValueError: the encoding is unknown.
    """
    try:
        return _exact_counter(encoding)
    except OSError:  # ranks missing or unreadable
        return EstimateCounter()


async def fetch_ranks(encoding: str, *, timeout_s: float) -> bool:
    """Download the ranks of an encoding with tiktoken, once per process; return True if ``counter_for`` is exact now.

    Waits at most ``timeout_s``; the download continues in a daemon thread, and a later call uses its result.
    """
    if isinstance(counter_for(encoding), EstimateCounter):
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await asyncio.wrap_future(_download(encoding))
    return not isinstance(counter_for(encoding), EstimateCounter)


def sum_slices(text: str, tokens: Callable[[str], int], *, at_most: int) -> int:
    """Sum ``tokens`` over slices of at most ``at_most`` characters; the sum is never below the tokens of the whole text."""
    total = start = 0
    while len(text) - start > at_most:
        end = start + at_most
        near_end = _BORDER.finditer(text, max(start + 1, end - 2_000), end)
        borders = [border.start() for border in near_end]
        stop = borders[-1] if borders else end
        total += tokens(text[start:stop]) + (0 if borders else SEAM_TOKENS)
        start = stop
    return total + tokens(text[start:] if start else text)


@cache  # exceptions are not cached, so ranks that arrive later are used
def _exact_counter(encoding: str) -> TokenCounter:
    try:
        return BpeOpenAICounter(encoding)
    except ImportError:  # not installed, or no build for this platform
        return TiktokenCounter(encoding)


@cache
def _download(encoding: str) -> Future[None]:
    """Start the download in a daemon thread; the future completes when it has finished or failed."""
    done: Future[None] = Future()
    done.set_running_or_notify_cancel()  # a cancelled waiter does not cancel the download

    def run() -> None:
        try:
            _load_tiktoken(encoding)
        except Exception:  # noqa: BLE001 - nothing would receive it
            # Offline, refused, corrupted or not writable: the estimator stays in use.
            _LOG.info("tiktoken ranks did not arrive", exc_info=True, extra={"encoding": encoding})
        finally:
            done.set_result(None)

    Thread(target=run, name=f"ranks-{encoding}", daemon=True).start()
    return done


def _load_tiktoken(encoding: str) -> "Encoding":
    from tiktoken import get_encoding  # noqa: PLC0415 - takes 30 ms to import

    return get_encoding(encoding)


@cache
def _bindings() -> ModuleType:
    """Import the native module of bpe-openai without its package, which spends 0.8 s on tables that counting does not need."""
    name = "bpe_openai._bindings"
    package = find_spec("bpe_openai")
    spec = package and PathFinder.find_spec(name, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise MissingExtra("fast", needed_for="counting with bpe-openai")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _ranks_path(encoding: str) -> Path | None:
    """Return the path in tiktoken's cache, or ``None`` if the cache is disabled by an empty folder name."""
    _require_known(encoding)
    default = str(Path(gettempdir(), "data-gym-cache"))
    folder = environ.get("TIKTOKEN_CACHE_DIR", environ.get("DATA_GYM_CACHE_DIR", default))
    name = sha1(_RANKS_URL.format(encoding).encode(), usedforsecurity=False).hexdigest()
    return Path(folder, name) if folder else None


def _require_known(encoding: str) -> None:
    if encoding not in _RANKS_SHA256:
        raise ValueError(
            f"encoding {encoding!r} is not known; known are {', '.join(_RANKS_SHA256)}"
        )


class _Known(NamedTuple):
    """Known contents of both vocabularies."""

    tokens: frozenset[str]  # including all numbers of one to three digits
    # Tokens of two characters, without digits: those are split in threes, across pairs.
    pairs: frozenset[str]
    # Blocks of 64 code points whose characters, without their last byte, are one token.
    two_token_blocks: frozenset[int]
    # (last six bits of a character, block of the next) -> extra tokens where a token spans both.
    torn: Mapping[tuple[int, int], int]


@cache
def _known() -> _Known:
    data = json.loads(Path(__file__).with_name("known_tokens.json").read_text("utf-8"))
    digits = [f"{number:0{width}}" for width in (1, 2, 3) for number in range(10**width)]
    pairs = [each for each in data["tokens"] if len(each) == len("ab")]
    torn = {
        (low, block): lost for low, first, end, lost in data["torn"] for block in range(first, end)
    }
    return _Known(
        tokens=frozenset(data["tokens"]).union(digits),
        pairs=frozenset(pair for pair in pairs if not any(map(str.isnumeric, pair))),
        two_token_blocks=frozenset(data["two_token_blocks"]),
        torn=torn,
    )


def _slice_bound(text: str) -> int:
    """Return the bound for one slice; the number of close bounds is limited to keep the time linear."""
    known = _known().tokens
    close_looks = 64 + len(text) // 32
    total = 0 if text.isascii() else _foreign_tokens(text)
    pieces = _ASCII_PIECES if text.isascii() else _MIXED_PIECES
    for piece, times in Counter(pieces.findall(text)).items():
        if piece in known:
            total += times
        elif len(piece) <= _CLOSE_LOOK_CHARS and close_looks and piece.isascii():
            close_looks -= 1
            total += times * _close_bound(piece)
        else:
            total += times * _quick_bound(piece)
    return total


@remembered(_MOST_BOUNDS)
def _close_bound(piece: str) -> int:
    """Return the most tokens that either encoding can produce for a short ASCII piece."""
    cl100k, o200k = _CL100K.findall(piece), _O200K.findall(piece)
    bound = sum(map(_longest_division, cl100k))
    return bound if cl100k == o200k else max(bound, sum(map(_longest_division, o200k)))


def _longest_division(piece: str) -> int:
    """Return the most parts a piece can be split into with no two adjacent parts forming a known token."""
    known = _known().tokens
    if piece in known:
        return 1
    # For each end: (parts, length of the last part) of every division, encoded as parts * 32 + length.
    best_first = [[0]]
    for end in range(1, len(piece) + 1):
        found: list[int] = []
        for start in range(end):
            for division in best_first[start]:
                if not start or piece[start - division % 32 : end] not in known:
                    found.append((division // 32 + 1) * 32 + end - start)
                    break
        found.sort(reverse=True)
        best_first.append(found)
    return best_first[-1][0] // 32


@cache
def _longest_known_run(character: str) -> int:
    known = _known().tokens
    return next(n for n in range(1, len(known)) if character * (n + 1) not in known)


def _quick_bound(piece: str) -> int:
    """Bound the tokens of a piece in linear time: repeated characters by run length, the rest by known pairs."""
    total = start = 0
    for run in _RUN.finditer(piece):
        length = len(run[0])
        # Two adjacent tokens are longer than the longest known run; 3 more for tokens that overlap the ends.
        bound = min(length, 2 * length // (_longest_known_run(run[1]) + 1) + 3)
        total += bound + _pairs_bound(piece[start : run.start()])
        start = run.end()
    return total + _pairs_bound(piece[start:])


def _pairs_bound(piece: str) -> int:
    """Return at most n - k/3 tokens for n characters with k known pairs: two adjacent one-character tokens are no known pair."""
    return len(piece) - sum(map(_known().pairs.__contains__, map(add, piece, piece[1:]))) // 3


def _foreign_tokens(text: str) -> int:
    """Return the tokens that non-ASCII characters may cost beyond one each."""
    tokens, _, blocks, torn = _known()
    wide = 0
    for char, times in Counter(text).items():
        if not char.isascii() and char not in tokens:
            width = len(char.encode("utf-8", "surrogatepass"))
            wide += times * (1 if ord(char) >> 6 in blocks else width - 1)
    # Extra tokens where one token holds the end of a character and the start of the next.
    pairs = _TEARABLE.findall(text)
    lost = sum(torn.get((ord(char) % 64, ord(after) >> 6), 0) for char, after in pairs)
    return wide + len(_WIDE_AFTER_SPACE.findall(text)) + lost
