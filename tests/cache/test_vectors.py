"""Vectors are computed once per content, outlive a process where they may, and are never waited for by a turn."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from math import hypot, nan
from pathlib import Path
from threading import Thread
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.vectors import VectorStore
from autogen_context.errors import EmbeddingFailed
from autogen_context.models.similarity import unit_vector
from autogen_context.testing.embeddings import embed
from support.waiting import until

TEXTS = st.lists(
    st.text(alphabet=st.characters() | st.sampled_from("\ud800\udfff"), max_size=6), max_size=8
)


@dataclass
class Hashed:
    """An embedder that records what it was asked; it waits where it is told to."""

    name: str = "hashed"
    asked: list[list[str]] = field(default_factory=list[list[str]])
    gate: asyncio.Event | None = None

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        self.asked.append(list(texts))
        if self.gate is not None:
            await self.gate.wait()
        return [[3 * number for number in embed(text, dimensions=8)] for text in texts]

    @property
    def counted(self) -> Counter[str]:
        """How often each text was asked for."""
        return Counter(text for batch in self.asked for text in batch)


@dataclass
class Answering:
    """An embedder that gives what it is told to."""

    answer: Callable[[Sequence[str]], Sequence[Sequence[float]]]
    name: str = "answering"

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        return self.answer(texts)


class Planted:
    """A cache of which others write the values, while it lies.

    Args:
        value: what it has under every key.
    """

    def __init__(self, value: object) -> None:
        self.lies = True
        self._value = value
        self._kept: dict[str, object] = {}

    def remembered(self, _kind: str, key: str, /) -> object:
        """What was planted, or what was kept."""
        return self._value if self.lies else self._kept.get(key)

    def remember(self, _kind: str, key: str, value: object, /) -> None:
        """Keep it."""
        self._kept[key] = value

    async def warm(self, kind: str, keys: Collection[str], /) -> None:
        """All is at hand."""


def expected(text: str) -> list[float]:
    """The vector of a text as a store gives it."""
    return list(unit_vector(embed(text, dimensions=8)))


@settings(max_examples=40)
@given(st.lists(TEXTS, max_size=4), st.integers(1, 4))
def test_any_texts_any_order_any_memory(calls: list[list[str]], entries: int) -> None:
    """A vector per text, in order, each of length 1, repeated texts included, however little memory there is."""
    store = VectorStore(Hashed(), entries=entries)
    for texts in calls:
        vectors = asyncio.run(store.vectors(texts))
        assert [list(vector) for vector in vectors] == [expected(text) for text in texts]
        assert all(hypot(*vector) == pytest.approx(1, abs=1e-6) for vector in vectors)


@settings(max_examples=40)
@given(st.lists(TEXTS, max_size=5))
def test_once_per_content(calls: list[list[str]]) -> None:
    """With room for all, no text is ever asked for twice."""
    embedder = Hashed()
    store = VectorStore(embedder)

    async def together() -> None:
        await asyncio.gather(*(store.vectors(texts) for texts in calls))

    asyncio.run(together())
    asyncio.run(together())
    assert set(embedder.counted.values()) <= {1}
    assert set(embedder.counted) == {text for texts in calls for text in texts}


async def test_ready_asks_nobody(tmp_path: Path) -> None:
    """What is on disk only is not ready, and asking computes nothing."""
    async with ContextCache(tmp_path) as before:
        await VectorStore(Hashed(), cache=before).vectors(["a"])
    embedder = Hashed()
    async with ContextCache(tmp_path) as cache:
        again = VectorStore(embedder, cache=cache)
        assert again.ready("a") is None
        await again.vectors(["a"])
        assert again.ready("a") is not None
    assert not embedder.asked


async def test_models_do_not_mix() -> None:
    """Vectors of another model are not there, whatever the names and texts run together to."""
    cache = ContextCache()
    await VectorStore(Hashed(name="m"), cache=cache).vectors(["1 a"])
    other = Hashed(name="m 1")
    await VectorStore(other, cache=cache).vectors(["a"])
    assert other.asked == [["a"]]


@pytest.mark.parametrize(
    "value", [b"", b"123", b"12345678", bytes(32), b"\xff" * 32, "text", 7], ids=repr
)
async def test_what_was_planted_is_a_miss(value: object) -> None:
    """What is no block of as many floats, or of another length than 1, is computed again and kept again."""
    texts, planted = [str(number) for number in range(4)], Planted(value)
    store = VectorStore(Hashed(), cache=planted)
    await store.vectors(["of another text"])
    assert [list(vector) for vector in await store.vectors(texts)] == [*map(expected, texts)]
    planted.lies = False
    last = Hashed()
    await VectorStore(last, cache=planted).vectors(texts)
    assert not last.asked


async def test_a_store_without_a_cache_gets_that_of_the_manager() -> None:
    """One that has its own keeps it."""
    own, cache = ContextCache(), ContextCache()
    for store in (VectorStore(Hashed()), VectorStore(Hashed(name="own"), cache=own)):
        IncrementalContextManager(vectors=store, cache=cache)
        await store.vectors(["a"])
    others = Hashed(), Hashed(name="own")
    for embedder in others:
        await VectorStore(embedder, cache=cache).vectors(["a"])
    assert [embedder.asked for embedder in others] == [[], [["a"]]]
    await VectorStore(last := Hashed(name="own"), cache=own).vectors(["a"])
    assert not last.asked


def test_what_is_no_cache_is_refused() -> None:
    """F35: with what to give."""
    with pytest.raises(ValueError, match="cache='folder': give a ContextCache"):
        VectorStore(Hashed(), cache=cast("ContextCache", "folder"))


async def test_a_caller_who_gives_up_lets_nobody_down() -> None:
    """Whoever waits for the same text then asks for it."""
    embedder = Hashed(gate=asyncio.Event())
    store = VectorStore(embedder)
    first = asyncio.create_task(store.vectors(["a"]))
    await until(lambda: len(embedder.asked) == 1)
    second = asyncio.create_task(store.vectors(["a"]))
    third = asyncio.create_task(store.vectors(["a"]))
    await asyncio.sleep(0)
    third.cancel()
    first.cancel()
    assert embedder.gate is not None
    embedder.gate.set()
    assert [list(vector) for vector in await second] == [expected("a")]
    assert first.cancelled() or await asyncio.wait({first})
    assert third.cancelled() or await asyncio.wait({third})
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_failure_is_everybodys_and_leaves_nothing() -> None:
    """All who wait are told; the next one asks anew."""
    gate, failing, tries = asyncio.Event(), [True], list[int]()

    class Flaky:
        name = "flaky"

        async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
            tries.append(len(texts))
            await gate.wait()
            if failing:
                raise OSError("down: a secret")
            return [[1.0] for _ in texts]

    store = VectorStore(Flaky())
    callers = [asyncio.create_task(store.vectors(["a"])) for _ in range(3)]
    await asyncio.sleep(0)
    gate.set()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert [str(result) for result in results] == ["embedding model 'flaky': OSError"] * 3
    assert tries == [1]
    assert store.ready("a") is None
    failing.clear()
    assert len(await store.vectors(["a"])) == 1


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        pytest.param([[1.0]], "1 vectors for 2 texts", id="few"),
        pytest.param([[1.0], [1.0, 2.0]], "2 numbers after one of 1", id="lengths"),
        pytest.param([[1.0], [nan]], "ValueError", id="nan"),
        pytest.param([(), ()], "ValueError", id="empty"),
        pytest.param(["ab", "cd"], "TypeError", id="text"),
    ],
)
async def test_lies_are_refused(answers: object, reason: str) -> None:
    """What is not one vector of finite numbers per text is an error that says so, and is kept nowhere."""
    answer = cast("list[list[float]]", answers)  # a model may break its type
    cache = ContextCache()
    store = VectorStore(Answering(lambda _: answer), cache=cache)
    with pytest.raises(EmbeddingFailed, match=reason) as caught:
        await store.vectors(["a", "b"])
    assert caught.value.model == "answering"
    assert store.ready("a") is None
    assert cache.stats().memory.bytes == 0


async def test_warming_makes_ready() -> None:
    """What was named is ready some time later, from any thread, and computed once."""
    asyncio.get_running_loop().set_debug(True)  # then it refuses what is not safe between threads
    embedder = Hashed()
    async with VectorStore(embedder) as store:
        store.warm(["a", "b", "a"])
        await until(lambda: all(store.ready(text) for text in "ab"))
        await asyncio.sleep(0.01)  # the queue is empty, and its task waits
        thread = Thread(target=store.warm, args=(["c"],))
        thread.start()
        await until(lambda: store.ready("c") is not None)
        thread.join()
        store.warm(["a", "c"])
        await asyncio.sleep(0.01)
    assert set(embedder.counted.values()) == {1}


async def test_nothing_outlives_the_owner() -> None:
    """At the end of the block no task is left, whatever hangs; what was not done is not ready."""
    before = asyncio.all_tasks()
    embedder = Hashed(gate=asyncio.Event())
    async with VectorStore(embedder) as store:
        store.warm(["a"])
        await until(lambda: bool(embedder.asked))
    assert asyncio.all_tasks() == before
    assert store.ready("a") is None
    store.warm(["b"])
    await asyncio.sleep(0.01)
    assert embedder.asked == [["a"]]
    assert asyncio.all_tasks() == before


async def test_a_failure_empties_the_queue(caplog: pytest.LogCaptureFixture) -> None:
    """One warning with the number of texts and no word of them; what is named later is tried again."""
    failing = [True]

    def answer(texts: Sequence[str]) -> list[list[float]]:
        if failing:
            raise OSError
        return [[1.0]] * len(texts)

    async with VectorStore(Answering(answer)) as store:
        store.warm(f"secret {number}" for number in range(300))
        await until(lambda: bool(caplog.records))
        failing.clear()
        await asyncio.sleep(0.01)
        assert store.ready("secret 299") is None
        store.warm(["secret 299"])
        await until(lambda: store.ready("secret 299") is not None)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.__dict__["left_out"] == 300
    assert "secret" not in caplog.text
