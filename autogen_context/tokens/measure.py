"""Count the tokens of a text: exactly where a vocabulary is at hand, from above where none is.

Promise: any ``str`` is counted, in linear time, never below what cl100k_base or o200k_base make of it, and every number
travels with its source. Nothing here reaches for the network but ``fetch_ranks``, which has a time limit. Why the estimate
is a bound, and what was measured, stands in docs/decisions/0003-counting.md.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
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

from autogen_context.errors import MissingExtra

if TYPE_CHECKING:
    from tiktoken import Encoding

Source = Literal["provider", "tokenizer", "estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number of tokens and where it came from."""

    tokens: int
    source: Source


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str, /) -> Count:
        """Tokens of ``text``: exact from a tokenizer, an upper bound from an estimate."""
        ...


SEAM_TOKENS = 8  # a cut anywhere was seen to hide 5 at most; docs/decisions/0003-counting.md
_LOG = getLogger(__name__)
# Name -> sha256 of the ranks that tiktoken 0.14 accepts (tiktoken_ext.openai_public, checked 2026-11-21).
_RANKS_SHA256 = MappingProxyType(
    {
        "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    }
)
_RANKS_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_EXACT_SLICE_CHARS = 200_000  # tiktoken 0.14 panics on a piece of a million spaces
_SLICE_CHARS = 1_000_000
_CLOSE_LOOK_CHARS = 24  # a close look at a piece costs the square of its length

# Both encodings first cut a text into pieces, by these rules (tiktoken_ext.openai_public; here for ASCII).
_TAIL = r"(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))"
_LEAD = r"[\0-\t\v\f\x0e-/:-@\[-`{-\x7f]"  # what may stand before the letters of a word
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
# The borders that both have in common; o200k_base lets slashes follow a line break, then the next ones are not.
_WORD = rf"[A-Za-z]++{_TAIL}?"
_AFTER_SLASH = rf"(?=/)(?:{_MARK}++[\r\n]*+)++(?:{_WORD})?"
_SHARED = (
    rf"{_LEAD}?{_WORD}|[0-9]{{1,3}}| ?{_MARK}++(?:[\r\n]++(?:{_AFTER_SLASH})?)?"
    r"|\s++\Z|\s*[\r\n]+|\s+(?!\S)|\s"
)
_ASCII_PIECES = re.compile(_SHARED, re.ASCII)
# What touches a character beyond ASCII is glued to it: there the rules above would need the Unicode tables.
_GLUED = rf"{_FOREIGN}++(?>[\r\n]++{_AFTER_SLASH}|{_SHARED})?"
_MIXED_PIECES = re.compile(rf"(?>{_SHARED})(?:{_GLUED})*+|(?:{_GLUED})++", re.ASCII)
_RUN = re.compile(r"(.)\1{7,}", re.DOTALL)
# Where a token may end inside a character: the space that takes the first byte of what follows, and a few more.
_WIDE_AFTER_SPACE = re.compile(r" (?=[\u0800-\U0010ffff])")
_TEARABLE = re.compile(
    r"([^\0-\x7f])(?=([\u0540-\u057f\u0980-\u09bf\u0c00-\u0c3f\u0e00-\u0e3f\u10c0-\u10ff\u1780-\u17bf"
    r"\ud000-\ud7ff\uff40-\uff7f]))"
)
# Both encodings end a piece here, whatever stands before and after.
_BORDER = re.compile(r"(?<=\n)(?=[!-.0-~])|(?<=[A-Za-z0-9])(?= [A-Za-z])")


class _ExactCounter:
    """Counts with a vocabulary, special tokens read as plain text."""

    _tokens: Callable[[str], int]

    def count(self, text: str, /) -> Count:
        """The tokens of ``text``: halves of a surrogate pair joined, lone ones replaced by U+FFFD."""
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
        """Loads the vocabulary, 60 ms the first time; ``MissingExtra`` where ``bpe-openai`` is not installed."""
        _require_known(encoding)
        tokenizer = _bindings().tokenizer_for_encoding(encoding)
        self._tokens = cast("Callable[[str], int]", tokenizer.count)


class TiktokenCounter(_ExactCounter):
    """Counts with tiktoken, from ranks that are on disk."""

    def __init__(self, encoding: str) -> None:
        """Loads the vocabulary, 0.5 s the first time; ``FileNotFoundError`` where its ranks are not on disk."""
        path = _ranks_path(encoding)
        # tiktoken downloads what it does not find, without a time limit; so its folder is looked at before it is asked.
        found = path.read_bytes() if path and path.is_file() else b""
        if sha256(found).hexdigest() != _RANKS_SHA256[encoding]:
            raise FileNotFoundError(
                f"the ranks of {encoding} are not in {path}; await fetch_ranks({encoding!r}, "
                'timeout_s=30), point TIKTOKEN_CACHE_DIR at them, or pip install "autogen-context[fast]"'
            )
        encode = _load_tiktoken(encoding).encode_ordinary
        self._tokens = lambda text: len(encode(text))


class EstimateCounter:
    """Counts any text from above, offline and without loading a vocabulary."""

    def count(self, text: str, /) -> Count:
        """An upper bound on the tokens of ``text`` in cl100k_base and in o200k_base."""
        tokens = sum_slices(text, _slice_bound, at_most=_SLICE_CHARS)
        return Count(tokens=tokens, source="estimate")


def counter_for(encoding: str) -> TokenCounter:
    """bpe-openai's counter, else tiktoken's, each made once; else the estimator, until the ranks have arrived.

    Raises:
        ValueError: no known encoding.
    """
    try:
        return _exact_counter(encoding)
    except OSError:  # no ranks on disk, or none that can be read
        return EstimateCounter()


async def fetch_ranks(encoding: str, *, timeout_s: float) -> bool:
    """Have tiktoken download the ranks of an encoding, once per process; whether ``counter_for`` is exact now.

    It waits so long at most; the download goes on in a daemon thread, and a later call finds it.
    """
    if isinstance(counter_for(encoding), EstimateCounter):
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await asyncio.wrap_future(_download(encoding))
    return not isinstance(counter_for(encoding), EstimateCounter)


def sum_slices(text: str, tokens: Callable[[str], int], *, at_most: int) -> int:
    """The sum of ``tokens`` over slices of a text of so many characters, never below what it is for the whole."""
    total = start = 0
    while len(text) - start > at_most:
        end = start + at_most
        near_end = _BORDER.finditer(text, max(start + 1, end - 2_000), end)
        borders = [border.start() for border in near_end]
        stop = borders[-1] if borders else end
        total += tokens(text[start:stop]) + (0 if borders else SEAM_TOKENS)
        start = stop
    return total + tokens(text[start:] if start else text)


@cache  # an exception is not kept: ranks that arrive later are found
def _exact_counter(encoding: str) -> TokenCounter:
    try:
        return BpeOpenAICounter(encoding)
    except ImportError:  # not installed, or not for this machine
        return TiktokenCounter(encoding)


@cache
def _download(encoding: str) -> Future[None]:
    """A download under way, or done, or failed; the thread does not keep the process alive."""
    done: Future[None] = Future()
    done.set_running_or_notify_cancel()  # whoever stops waiting does not stop the download

    def run() -> None:
        try:
            _load_tiktoken(encoding)
        except Exception:  # noqa: BLE001 - nobody awaits this thread
            # Offline, refused, damaged, or no place to write: the estimator goes on counting.
            _LOG.info("tiktoken ranks did not arrive", exc_info=True, extra={"encoding": encoding})
        finally:
            done.set_result(None)

    Thread(target=run, name=f"ranks-{encoding}", daemon=True).start()
    return done


def _load_tiktoken(encoding: str) -> "Encoding":
    from tiktoken import get_encoding  # noqa: PLC0415 - 30 ms that only those pay who count with it

    return get_encoding(encoding)


@cache
def _bindings() -> ModuleType:
    """The native module of bpe-openai, without its package: that builds tables for 0.8 s which counting has no use for."""
    name = "bpe_openai._bindings"
    package = find_spec("bpe_openai")
    spec = package and PathFinder.find_spec(name, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise MissingExtra("fast", needed_for="counting with bpe-openai")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _ranks_path(encoding: str) -> Path | None:
    """Where tiktoken looks; ``None`` where its cache is switched off with an empty folder name."""
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
    """What both vocabularies are known to hold."""

    tokens: frozenset[str]  # all numbers of one to three digits are among them
    # Of two characters, but for digits, which are cut in threes across pairs.
    pairs: frozenset[str]
    # Of 64 code points, where a token holds a character but for its last byte.
    two_token_blocks: frozenset[int]
    # The last six bits of a character and the block of the next, with the tokens lost between them.
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
    """The bound for one slice; so many close looks that the time stays linear, the rest by their lengths."""
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


@lru_cache(maxsize=65_536)
def _close_bound(piece: str) -> int:
    """The most tokens that either encoding can make of a short ASCII piece."""
    cl100k, o200k = _CL100K.findall(piece), _O200K.findall(piece)
    bound = sum(map(_longest_division, cl100k))
    return bound if cl100k == o200k else max(bound, sum(map(_longest_division, o200k)))


def _longest_division(piece: str) -> int:
    """The most parts in which no two neighbours together are a known token."""
    known = _known().tokens
    if piece in known:
        return 1
    # For each end: (parts, length of the last part) of every division, as parts * 32 + length.
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
    """Runs of one character by their length; of the rest, three characters cost two tokens where both pairs are known."""
    total = start = 0
    for run in _RUN.finditer(piece):
        length = len(run[0])
        # Two neighbours are longer than every known run; 3 more for the ends, where others may reach in.
        bound = min(length, 2 * length // (_longest_known_run(run[1]) + 1) + 3)
        total += bound + _pairs_bound(piece[start : run.start()])
        start = run.end()
    return total + _pairs_bound(piece[start:])


def _pairs_bound(piece: str) -> int:
    """Characters that follow each other as tokens are no known pair: with k of these at most n - k/3 tokens."""
    return len(piece) - sum(map(_known().pairs.__contains__, map(add, piece, piece[1:]))) // 3


def _foreign_tokens(text: str) -> int:
    """What the characters of a text may cost beyond one token each."""
    tokens, _, blocks, torn = _known()
    wide = 0
    for char, times in Counter(text).items():
        if not char.isascii() and char not in tokens:
            width = len(char.encode("utf-8", "surrogatepass"))
            wide += times * (1 if ord(char) >> 6 in blocks else width - 1)
    # What is lost where one token holds the end of a character and the begin of the next.
    pairs = _TEARABLE.findall(text)
    lost = sum(torn.get((ord(char) % 64, ord(after) >> 6), 0) for char, after in pairs)
    return wide + len(_WIDE_AFTER_SPACE.findall(text)) + lost
