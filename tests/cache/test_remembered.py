"""What depends on content alone is worked out once: for every conversation, and for later processes."""

import asyncio
import json
from collections.abc import Collection, Iterable
from pathlib import Path
from threading import Event
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context import IncrementalContextManager
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.tier import CacheLimits, Scope
from autogen_context.cache.values import Cache
from autogen_context.config.config import ContextConfig
from autogen_context.prioritizer.category import Category
from support.counting import Characters
from support.entries import ANY_TEXT, JSON
from support.holding import LONGEST_S
from support.own_tier import OwnTier
from support.prompts import client, text_in
from support.saying import asks, call_of, says, tells
from support.waiting import until
from support.working import Summarising, step

KINDS = st.sampled_from(["summary", "advice", "a-b_9"])
MODELS = {"summary", "advice"}  # the tasks in which models are asked
HISTORY = [{"role": "user", "content": "Mend the router."}] + [
    message for n in range(28) for message in step(n)
]


@settings(max_examples=5)
@given(kept=st.dictionaries(st.tuples(KINDS, ANY_TEXT), JSON | st.binary()))
async def test_what_comes_back_equals_what_was_kept(
    kept: dict[tuple[str, str], object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In this process at once, in a later one when it was warmed; the same key of another kind is another."""
    folder = tmp_path_factory.mktemp("cache")
    async with ContextCache(folder) as cache:
        for (kind, key), value in kept.items():
            cache.remember(kind, key, value)
        for (kind, key), value in kept.items():
            assert cache.remembered(kind, key) == value
            assert cache.remembered(kind, key) is not value or not isinstance(value, list | dict)
    async with ContextCache(folder) as later:
        for (kind, key), value in kept.items():
            assert later.remembered(kind, key) is None
            await later.warm(kind, [key, "of nobody"])
            assert later.remembered(kind, key) == value
            assert later.remembered(kind, "of nobody") is None


async def test_a_kind_pushes_out_no_other(tmp_path: Path) -> None:
    """Each has its own room, in memory and on disk, from which what was used the longest ago goes."""
    limits = CacheLimits(kind_bytes=10_000, disk_bytes=10_000)
    async with ContextCache(tmp_path, limits=limits) as cache:
        cache.remember("summary", "one", "kept")
        for number in range(100):
            cache.remember("embedding", str(number), bytes(1_000))
        assert cache.remembered("summary", "one") == "kept"
        assert cache.remembered("embedding", "0") is None
        assert cache.remembered("embedding", "99") == bytes(1_000)
    async with ContextCache(tmp_path, limits=limits) as later:
        await later.warm("summary", ["one"])
        await later.warm("embedding", [str(number) for number in range(100)])
        found = [later.remembered("embedding", str(number)) for number in range(100)]
        assert later.remembered("summary", "one") == "kept"
        assert 0 < sum(value is not None for value in found) < 10


class Slow(OwnTier):
    """A tier while which reads the cache is given a newer value."""

    cache: ContextCache

    @override
    def read_all(self, names: Iterable[str], /) -> dict[str, bytes]:
        found = super().read_all(names)
        self.cache.remember("summary", "key", "new")
        return found


async def test_what_is_remembered_while_it_is_read_is_newer() -> None:
    """What was read does not replace it."""
    server = Slow()
    async with ContextCache(shared=server) as before:
        before.remember("summary", "key", "old")
    async with ContextCache(shared=server) as server.cache:
        await server.cache.warm("summary", ["key"])
        assert server.cache.remembered("summary", "key") == "new"


async def test_what_is_cleared_is_gone(tmp_path: Path) -> None:
    """From memory and from disk, of this process and of those before."""
    async with ContextCache(tmp_path) as before:
        before.remember("advice", "old", 1)
    async with ContextCache(tmp_path) as cache:
        cache.remember("summary", "new", 2)
        await cache.get_or_build("built", lambda: 3)
        await cache.clear()
        assert cache.remembered("summary", "new") is None
        assert await cache.get_or_build("built", lambda: 4) == 4
    async with ContextCache(tmp_path) as later:
        for kind, key in (("advice", "old"), ("summary", "new")):
            await later.warm(kind, [key])
            assert later.remembered(kind, key) is None


class OwnCache:
    """A user's cache: a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], object] = {}

    def remembered(self, kind: str, key: str, /) -> object:
        """What is there."""
        return self.kept.get((kind, key))

    def remember(self, kind: str, key: str, value: object, /) -> None:
        """Keep it."""
        self.kept[kind, key] = value

    async def warm(self, kind: str, keys: Collection[str], /) -> None:
        """All of it is at hand."""


class Both(Summarising):
    """Makes summaries, and says that everything matters a little more.

    Attributes:
        advised: how often it was asked for advice.
    """

    advised = 0

    async def complete(self, prompt: str, /) -> str:
        """A summary, or advice."""
        if text_in(prompt):
            return await client(self)(prompt)
        self.advised += 1
        return json.dumps({"multipliers": dict.fromkeys(get_args(Category), 1.25)})


async def run(cache: Cache | None) -> tuple[int, int, list[object]]:
    """A run of an agent with a manager of its own: summaries and advice that were asked for, and the last request."""
    model = Both()
    manager = IncrementalContextManager(
        config=ContextConfig(window_tokens=8_000, summary_timeout_s=30.0),
        counter=Characters(),
        model_client=model,
        cache=cache,
    )
    sent: list[object] = []
    async with manager:
        for stop in range(1, len(HISTORY), 6):
            sent = list((await manager.prepare(HISTORY[:stop])).messages)
            await until(lambda: not {task.get_name() for task in asyncio.all_tasks()} & MODELS)
    return len(model.asked), model.advised, sent


@pytest.mark.parametrize("where", ["disk", "own", "nowhere"])
async def test_a_run_that_is_repeated_asks_no_model(where: str, tmp_path: Path) -> None:
    """With a manager of its own, after a restart, what is sent is the same; without a cache in common dear work is done twice."""
    own, runs = OwnCache(), list[tuple[int, int, list[object]]]()
    for _ in range(2):
        if where == "disk":
            async with ContextCache(tmp_path) as cache:
                runs.append(await run(cache))
        else:
            runs.append(await run(own if where == "own" else None))
    first, again = runs
    assert (first[0] > 1, first[1]) == (True, 1)
    assert again[:2] == (first[:2] if where == "nowhere" else (0, 0))
    assert first[2] == again[2]


class Failing(OwnCache):
    """A cache that fails, or lies."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    @override
    def remembered(self, kind: str, key: str, /) -> object:
        """The answer, whatever is asked."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    @override
    async def warm(self, kind: str, keys: Collection[str], /) -> None:
        """Fail as well."""
        if isinstance(self.answer, Exception):
            raise self.answer


async def test_a_cache_that_fails_or_lies_costs_a_model_s_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """And no more: what is sent is what it would be without it; a failure is told once."""
    without = await run(None)
    for answer in (OSError("gone"), "x" * 100_000, 7):
        caplog.clear()
        assert await run(Failing(answer)) == without
        told = [record for record in caplog.records if "a cache failed" in record.getMessage()]
        assert len(told) == isinstance(answer, Exception)


ROWS = json.dumps([{"name": f"row_{n}", "size": n} for n in range(400)], indent=4)
SHOWN = [
    HISTORY[0],
    asks(call_of("c1", "list_rows", table="users"), text="I look."),
    tells("c1", ROWS),
]
ASKING: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "recall_context", "parameters": {}}}
]


def reduced(cache: Cache | None, tools: list[dict[str, Any]]) -> IncrementalContextManager:
    """A manager after the first turn of a conversation with a large result, which shows it in fewer tokens."""
    keeper = IncrementalContextManager(window_tokens=60_000, counter=Characters(), cache=cache)
    turn = keeper.prepare_nowait(SHOWN, tools)
    shown = str(turn.messages[-1]["content"])
    assert "row_7" in shown
    assert len(shown) < len(ROWS)
    return keeper


@pytest.mark.parametrize("tools", [[], ASKING], ids=["tightened", "cut"])
def test_a_result_that_is_reduced_goes_through_the_cache(tools: list[dict[str, Any]]) -> None:
    """Also without a model; what is shown again, by another agent as well, is not reduced again, and comes out the same."""
    cache = ContextCache(scope=Scope(agent="team"))
    one = reduced(cache, tools)
    before = cache.stats()
    other = reduced(cache, tools)
    after = cache.stats()
    assert before.not_remembered == after.not_remembered > 0
    assert after.remembered > before.remembered
    assert one.save_state()["view"] == other.save_state()["view"]


def test_a_cache_that_lies_reduces_nothing() -> None:
    """Not even by saying that there is nothing of a result, or with another one's reduction."""
    plain = reduced(None, []).save_state()["view"]
    answers: list[object] = ["x" * 2_000, ["x", None], ["y", "z"], OSError("gone"), [1, 2], {}]
    for answer in answers:
        assert reduced(Failing(answer), []).save_state()["view"] == plain
    swapped, own = OwnCache(), OwnCache()
    reduced(own, ASKING)
    rows = [*own.kept.items()]
    swapped.kept = {key: value for (key, _), (_, value) in zip(rows, reversed(rows), strict=True)}
    assert (
        reduced(swapped, ASKING).save_state()["view"] == reduced(None, ASKING).save_state()["view"]
    )


def test_the_reduction_of_what_is_forgotten_is_forgotten(tmp_path: Path) -> None:
    """In memory; it is nowhere else, since it is made sooner than it is read from a disk."""
    cache = ContextCache(tmp_path)
    keeper = reduced(cache, ASKING)
    keeper.prepare_nowait([*SHOWN, says("Go on.")], ASKING)
    missed = cache.stats().not_remembered
    keeper.forget(SHOWN[2])
    reduced(cache, ASKING)
    assert cache.stats().not_remembered > missed
    assert not [*tmp_path.rglob("reduction")]


class Gated(OwnTier):
    """What is read is underway until somebody lets it go."""

    def __init__(self) -> None:
        super().__init__()
        self.came, self.goes = Event(), Event()

    @override
    def read_all(self, names: Iterable[str], /) -> dict[str, bytes]:
        found = super().read_all(names)
        self.came.set()
        assert self.goes.wait(LONGEST_S)
        return found


async def test_what_is_forgotten_while_it_is_read_does_not_come_back() -> None:
    """Nor does the deletion take what is remembered under the same key from then on."""
    tier = Gated()
    tier.goes.set()
    async with ContextCache(shared=tier) as before:
        for key in ("old", "renewed"):
            before.remember("summary", key, "a secret")
    cache = ContextCache(shared=tier)
    tier.came.clear()
    tier.goes.clear()
    warming = asyncio.create_task(cache.warm("summary", ["old", "renewed"]))
    assert await asyncio.to_thread(tier.came.wait, LONGEST_S)
    cache.forget("summary", ["old", "renewed"])
    cache.remember("summary", "renewed", "new")
    tier.goes.set()
    await warming
    assert [cache.remembered("summary", key) for key in ("old", "renewed")] == [None, "new"]
    await cache.aclose()
    async with ContextCache(shared=tier) as later:
        await later.warm("summary", ["old", "renewed"])
        assert [later.remembered("summary", key) for key in ("old", "renewed")] == [None, "new"]
