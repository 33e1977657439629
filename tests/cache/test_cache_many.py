"""One cache and one store of vectors in several event loops, and in a process that is forked."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.vectors import VectorStore
from support.forks import ended, forked
from support.holding import LONGEST_S


class Gate:
    """The first who comes waits here until somebody else has been through."""

    def __init__(self) -> None:
        self.came, self._through = Event(), Event()

    async def passed(self) -> None:
        """Wait, or let the first one go."""
        if self.came.is_set():
            self._through.set()
            return
        self.came.set()
        assert await asyncio.to_thread(self._through.wait, LONGEST_S)


def in_two_loops(gate: Gate, asks: Callable[[], Any]) -> tuple[object, object]:
    """What each of two event loops gets, the second while the first one's work is under way."""
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(lambda: asyncio.run(asks()))
        assert gate.came.wait(LONGEST_S)
        second = asyncio.run(asks())
        return first.result(), second


def test_event_loops_share_a_cache(tmp_path: Path) -> None:
    """What one of them builds, the other one does not wait for."""
    gate, cache = Gate(), ContextCache(tmp_path)

    async def build() -> str:
        await gate.passed()
        return "built"

    assert in_two_loops(gate, lambda: cache.get_or_build("key", build)) == ("built", "built")
    asyncio.run(cache.aclose())


def test_a_cache_is_closed_when_builds_of_other_loops_have_ended() -> None:
    """Then it has what they built."""
    gate, cache = Gate(), ContextCache()

    async def build() -> str:
        await gate.passed()
        return "built"

    async def close() -> None:
        closing = asyncio.create_task(cache.aclose())
        await asyncio.sleep(0)
        assert not closing.done()
        await gate.passed()
        async with asyncio.timeout(LONGEST_S):
            await closing

    with ThreadPoolExecutor(1) as pool:
        built = pool.submit(lambda: asyncio.run(cache.get_or_build("key", build)))
        assert gate.came.wait(LONGEST_S)
        asyncio.run(close())
        assert built.result() == "built"
    assert cache.stats().builds == 1


class Gated:
    """An embedder whose first call waits for the second."""

    name = "gated"

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """The same vector for each."""
        await self._gate.passed()
        return [[3.0, 4.0] for _ in texts]


def test_event_loops_share_a_store_of_vectors() -> None:
    """The same text at the same time; then it is there for both."""
    gate = Gate()
    store = VectorStore(Gated(gate))
    first, second = in_two_loops(gate, lambda: store.vectors(["a text"]))
    assert first == second
    assert store.ready("a text")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
def test_a_forked_process_uses_the_cache_of_its_parent(tmp_path: Path) -> None:
    """The parent's thread for the disk is not there: the child has one of its own."""
    cache = ContextCache(tmp_path)
    assert asyncio.run(cache.get_or_build("parent", lambda: "p")) == "p"

    def goes_on() -> int:
        signal.alarm(int(LONGEST_S))  # ends it if it waits for a thread that is not there
        found = [asyncio.run(cache.get_or_build(key, lambda: "c")) for key in ("parent", "child")]
        return 0 if found == ["p", "c"] else 3

    child, _ = forked(goes_on)
    assert ended(child) == 0
    assert asyncio.run(cache.get_or_build("child", lambda: "p")) == "c"
    asyncio.run(cache.aclose())
