"""Exact token counts where a vocabulary is at hand, and an upper bound where none is.

Promise: any ``str`` is counted, in linear time, never below what the tokenizer makes of it. Nothing here reaches for
the network but ``fetch_ranks``, which somebody has to call, and which has a time limit.

The vocabulary ("ranks") comes from ``bpe-openai``, which carries it, or from tiktoken's folder on disk. tiktoken itself
downloads what it does not find, without a time limit; so its folder is looked at before it is asked.
"""

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, lru_cache, partial
from hashlib import sha1, sha256
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from logging import getLogger
from os import environ
from pathlib import Path
from tempfile import gettempdir
from threading import Thread
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from autogen_context.errors import MissingExtra
from autogen_context.tokens.estimate import EstimateCounter, sum_slices
from autogen_context.tokens.measure import Count, TokenCounter

if TYPE_CHECKING:
    from tiktoken import Encoding

# Name -> sha256 of the ranks that tiktoken 0.14 accepts (tiktoken_ext.openai_public, checked 2026-11-21).
_RANKS_SHA256 = MappingProxyType(
    {
        "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    }
)
_RANKS_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_LOG = getLogger(__name__)
_SLICE_CHARS = 200_000  # tiktoken 0.14 panics (a BaseException) on a piece of a million spaces


class _Tokenizer(Protocol):
    def count(self, text: str, /) -> int: ...


class BpeOpenAICounter:
    """Counts with ``bpe-openai``: exact, offline, about twice as fast as tiktoken."""

    def __init__(self, encoding: str) -> None:
        """Loads the vocabulary, which takes some 60 ms the first time.

        Raises:
            ValueError: no known encoding.
            MissingExtra: ``bpe-openai`` is not installed.
        """
        _require_known(encoding)
        self._tokenizer = cast("_Tokenizer", _bindings().tokenizer_for_encoding(encoding))

    def count(self, text: str, /) -> Count:
        """The tokens of ``text``, special tokens read as plain text."""
        tokens = sum_slices(_encodable(text), self._tokenizer.count, at_most=_SLICE_CHARS)
        return Count(tokens=tokens, source="tokenizer")


class TiktokenCounter:
    """Counts with tiktoken, from ranks that are on disk."""

    def __init__(self, encoding: str) -> None:
        """Loads the vocabulary, which takes some 0.5 s the first time.

        Raises:
            ValueError: no known encoding.
            FileNotFoundError: the ranks are not on disk; ``fetch_ranks`` gets them.
        """
        if not _ranks_on_disk(encoding):
            raise FileNotFoundError(
                f"the ranks of {encoding} are not in {_ranks_path(encoding)}; await fetch_ranks({encoding!r}, "
                'timeout_s=30), point TIKTOKEN_CACHE_DIR at them, or pip install "autogen-context[fast]"'
            )
        self._encoding = _load_tiktoken(encoding)

    def count(self, text: str, /) -> Count:
        """The tokens of ``text``, special tokens read as plain text."""
        tokens = sum_slices(_encodable(text), self._slice_tokens, at_most=_SLICE_CHARS)
        return Count(tokens=tokens, source="tokenizer")

    def _slice_tokens(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))


def counter_for(encoding: str) -> TokenCounter:
    """The best counter for an encoding that is at hand now; never waits for a network.

    Args:
        encoding: ``o200k_base`` or ``cl100k_base``.

    Returns:
        bpe-openai's, else tiktoken's, each made once per process; else the estimator, until the ranks have arrived.

    Raises:
        ValueError: no known encoding.
    """
    _require_known(encoding)
    try:
        return _exact_counter(encoding)
    except OSError:  # no ranks on disk, or none that can be read
        return EstimateCounter()


async def fetch_ranks(encoding: str, *, timeout_s: float) -> bool:
    """Have tiktoken download the ranks of an encoding, once per process, in a daemon thread.

    Args:
        encoding: ``o200k_base`` or ``cl100k_base``.
        timeout_s: how long to wait, in seconds; the download goes on after that, and a later call finds it.

    Returns:
        Whether ``counter_for`` is exact now.

    Raises:
        ValueError: no known encoding.
    """
    if not _is_exact(encoding):
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.wrap_future(_download(encoding)), timeout_s)
    return _is_exact(encoding)


def _is_exact(encoding: str) -> bool:
    return not isinstance(counter_for(encoding), EstimateCounter)


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
    run = partial(_run_download, encoding, done)
    Thread(target=run, name=f"ranks-{encoding}", daemon=True).start()
    return done


def _run_download(encoding: str, done: Future[None]) -> None:
    try:
        _load_tiktoken(encoding)
    except Exception:  # noqa: BLE001 - nobody awaits this thread
        # Offline, refused, damaged, or no place to write: the estimator goes on counting.
        _LOG.info("tiktoken ranks did not arrive", exc_info=True, extra={"encoding": encoding})
    finally:
        done.set_result(None)


def _load_tiktoken(encoding: str) -> "Encoding":
    from tiktoken import get_encoding  # noqa: PLC0415 - 30 ms that only those pay who count with it

    return get_encoding(encoding)


@lru_cache(maxsize=1)
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


def _ranks_on_disk(encoding: str) -> bool:
    path = _ranks_path(encoding)
    if path is None or not path.is_file():
        return False
    return _ranks_intact(path, encoding, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _ranks_intact(path: Path, encoding: str, _changed_ns: int) -> bool:
    return sha256(path.read_bytes()).hexdigest() == _RANKS_SHA256[encoding]


def _ranks_path(encoding: str) -> Path | None:
    """Where tiktoken looks; ``None`` where its cache is switched off with an empty folder name."""
    _require_known(encoding)
    default = str(Path(gettempdir(), "data-gym-cache"))
    folder = environ.get("TIKTOKEN_CACHE_DIR", environ.get("DATA_GYM_CACHE_DIR", default))
    name = sha1(_RANKS_URL.format(encoding).encode(), usedforsecurity=False).hexdigest()
    return Path(folder, name) if folder else None


def _require_known(encoding: str) -> None:
    if encoding not in _RANKS_SHA256:
        known = ", ".join(_RANKS_SHA256)
        raise ValueError(f"encoding {encoding!r} is not known; known are {known}")


def _encodable(text: str) -> str:
    """The text as it can be sent: halves of a surrogate pair joined, lone ones replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
