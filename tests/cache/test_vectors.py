"""Vectors are computed once per content, outlive a process where they may, and are never waited for by a turn."""

import asyncio
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot, nan
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.tier import Scope
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
    fails: bool = False

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        if self.fails:
            raise OSError
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
    """An embedder that gives what it is told to, or fails."""

    answer: object
    name: str = "answering"
    gate: asyncio.Event | None = None
    asked: int = 0

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        self.asked += 1
        if self.gate is not None:
            await self.gate.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None:
            return [[1.0]] * len(texts)
        return cast("list[list[float]]", self.answer)  # a model may break its type


class Planted(ContextCache):
    """A cache that lies: it has this value under every key, whatever is kept."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.lies, self._value = True, value

    @override
    def remembered(self, kind: str, key: str, /) -> object:
        return self._value if self.lies else super().remembered(kind, key)


class Spoiling(ContextCache):
    """A cache that keeps a vector of another length than the first that it is given."""

    _is_spoilt = False

    @override
    def remember(self, kind: str, key: str, value: object, /) -> None:
        kept = value if self._is_spoilt else array("f", [1.0]).tobytes()
        self._is_spoilt = True
        super().remember(kind, key, kept)


def expected(text: str) -> list[float]:
    """The vector of a text as a store gives it."""
    return list(unit_vector(embed(text, dimensions=8)))


@given(st.lists(TEXTS, max_size=4), st.integers(1, 4))
def test_any_texts_any_order_any_memory(calls: list[list[str]], entries: int) -> None:
    """A vector per text, in order, each of length 1, repeated texts included, however little memory there is."""
    store = VectorStore(Hashed(), entries=entries)
    for texts in calls:
        vectors = asyncio.run(store.vectors(texts))
        assert [list(vector) for vector in vectors] == [expected(text) for text in texts]
        assert all(hypot(*vector) == pytest.approx(1, abs=1e-6) for vector in vectors)


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
        IncrementalContextManager(vectors=(store := VectorStore(embedder)), cache=cache)
        await store.vectors(["a"])
    assert [embedder.asked for embedder in others] == [[], [["a"]]]
    await VectorStore(last := Hashed(name="own"), cache=own).vectors(["a"])
    assert not last.asked


async def test_agents_share_what_is_remembered_by_name_alone(tmp_path: Path) -> None:
    """A cache that is given to two keeps theirs apart, on disk too, unless it has a scope that both were given."""
    for scope, shares in ((None, False), (Scope(tenant="acme", agent="team"), True)):
        asked: list[bool] = []
        for agent in ("one", "two", "one"):
            async with ContextCache(tmp_path / str(shares), scope=scope) as cache:
                vectors = VectorStore(embedder := Hashed())
                IncrementalContextManager(
                    config=ContextConfig(agent=agent), vectors=vectors, cache=cache
                )
                await vectors.vectors(["text"])
                asked.append(bool(embedder.asked))
        assert asked == [True, not shares, False]


async def test_a_caller_who_gives_up_lets_nobody_down() -> None:
    """Whoever waits for the same text then asks for it."""
    embedder = Hashed(gate=asyncio.Event())
    store = VectorStore(embedder)
    callers = [asyncio.create_task(store.vectors(["a"])) for _ in range(3)]
    await until(lambda: len(embedder.asked) == 1)
    for caller in (callers[0], callers[2]):
        caller.cancel()
    assert embedder.gate is not None
    embedder.gate.set()
    first, second, third = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(each) for each in (first, third)] == [asyncio.CancelledError] * 2
    assert [list(vector) for vector in cast("list[list[float]]", second)] == [expected("a")]


async def test_what_is_forgotten_while_it_is_computed_is_kept_nowhere(tmp_path: Path) -> None:
    """Who waits for it has it; it is not ready then, and no later process finds it. The rest of the batch is kept."""
    embedder = Hashed(gate=asyncio.Event())
    async with ContextCache(tmp_path) as cache:
        store = VectorStore(embedder, cache=cache)
        waiting = asyncio.create_task(store.vectors(["a secret", "a"]))
        await until(lambda: bool(embedder.asked))
        store.forget(["a secret", "never said"])
        assert embedder.gate is not None
        embedder.gate.set()
        assert [*map(list, await waiting)] == [expected("a secret"), expected("a")]
        assert (store.ready("a secret"), list(store.ready("a") or ())) == (None, expected("a"))
    async with ContextCache(tmp_path) as cache:
        later = Hashed()
        await VectorStore(later, cache=cache).vectors(["a secret", "a"])
    assert later.asked == [["a secret"]]


@pytest.mark.parametrize("first", [["planted"], ["planted", "right"], ["planted", "new"]], ids=repr)
async def test_the_model_alone_says_how_long_a_vector_is(first: list[str]) -> None:
    """A planted vector of another length, whenever it is read, costs a computation and fails nobody."""
    cache, texts = Spoiling(), ["new", "planted", "right"]
    await VectorStore(Hashed(), cache=cache).vectors(["planted", "right"])
    store = VectorStore(Hashed(), cache=cache)
    await store.vectors(first)
    for _ in range(2):
        assert [*map(list, await store.vectors(texts))] == [*map(expected, texts)]
    assert [list(store.ready(text) or ()) for text in texts] == [*map(expected, texts)]


async def test_a_failure_is_everybodys_and_leaves_nothing() -> None:
    """All who wait are told; the next one asks anew."""
    flaky = Answering(OSError("down: a secret"), name="flaky", gate=asyncio.Event())
    store = VectorStore(flaky)
    callers = [asyncio.create_task(store.vectors(["a"])) for _ in range(3)]
    await asyncio.sleep(0)
    assert flaky.gate is not None
    flaky.gate.set()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert [str(result) for result in results] == ["embedding model 'flaky': OSError"] * 3
    assert (flaky.asked, store.ready("a")) == (1, None)
    flaky.answer = None
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
    cache = ContextCache()
    store = VectorStore(Answering(answers), cache=cache)
    with pytest.raises(EmbeddingFailed, match=reason) as caught:
        await store.vectors(["a", "b"])
    assert caught.value.model == "answering"
    assert store.ready("a") is None
    later = VectorStore(Hashed(name="answering"), cache=cache)
    assert [*map(list, await later.vectors(["a"]))] == [expected("a")]


async def test_a_manager_makes_ready_what_was_said(caplog: pytest.LogCaptureFixture) -> None:
    """In the background, once; a failure is a warning without a word of the texts, and what comes later is tried again."""
    embedder = Hashed()
    store = VectorStore(embedder)
    said = [{"role": "user", "content": f"secret {number}"} for number in range(200)]
    async with IncrementalContextManager(window_tokens=50_000, vectors=store) as manager:
        await manager.prepare(said[:150])
        await until(lambda: all(store.ready(str(each["content"])) for each in said[:150]))
        embedder.fails = True
        await manager.prepare(said[:160])
        await until(lambda: len(caplog.records) == 2)  # the question alone, and all that is new
        embedder.fails = False
        await manager.prepare(said)
        await until(lambda: store.ready("secret 199") is not None)
    assert max(embedder.counted.values()) == 1
    assert {record.getMessage() for record in caplog.records} == {"texts were not embedded"}
    assert [vars(record)["texts"] for record in caplog.records] == [1, 10]


async def test_no_embedding_outlives_its_manager() -> None:
    """F17: whoever hangs; what was not done is not ready."""
    before = asyncio.all_tasks()
    embedder = Hashed(gate=asyncio.Event())
    store = VectorStore(embedder)
    config = ContextConfig(window_tokens=8_000, embedding_timeout_s=0.01)
    async with IncrementalContextManager(config=config, vectors=store) as manager:
        await manager.prepare([{"role": "user", "content": "a"}])
        assert asyncio.all_tasks() > before
    assert asyncio.all_tasks() == before
    assert store.ready("a") is None
