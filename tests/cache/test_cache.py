"""One build for all who ask, what was used last stays, and what comes back is what was put."""

import asyncio
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.entry import CacheEntry, encoded, entry_as_bytes, entry_from_bytes
from autogen_context.cache.fingerprint import Fingerprint
from autogen_context.cache.tier import CacheLimits, Memory
from support.entries import ANY_TEXT, JSON, PLAIN_TEXT
from support.own_tier import OwnTier
from support.waiting import until


class Builder:
    """Builds text, and counts; it waits where it is told to, and says whether it was stopped."""

    def __init__(self, *, waits: bool = False) -> None:
        self.calls = self.stopped = 0
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        if not waits:
            self.go_on.set()

    async def __call__(self) -> str:
        self.calls += 1
        self.begun.set()
        try:
            await asyncio.sleep(0)
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return f"value {self.calls}"


VALUES = ANY_TEXT | st.binary() | JSON
FINGERPRINTS = st.builds(Fingerprint, name=PLAIN_TEXT, times=PLAIN_TEXT, content=PLAIN_TEXT)
ENTRIES = st.builds(
    CacheEntry,
    key=PLAIN_TEXT,
    data=VALUES.map(encoded),
    dependencies=st.lists(FINGERPRINTS, max_size=3).map(tuple),
    built_at=st.floats(allow_nan=False),
    expires_at=st.floats(allow_nan=False),
)


@settings(max_examples=20)
@given(ANY_TEXT, VALUES)
async def test_what_comes_back_is_what_was_built(key: str, value: object) -> None:
    """Text, bytes and JSON under any key, the first time and from then on, from a function in a thread, too."""
    threads: list[object] = []

    def build() -> object:
        threads.append(threading.current_thread())
        return value

    cache = ContextCache()
    for _ in range(2):
        assert await cache.get_or_build(key, build) == value
    assert cache.stats().builds == len(threads) == 1
    assert threads[0] is not threading.main_thread()


@given(ENTRIES)
def test_an_entry_is_read_as_it_was_written(entry: CacheEntry) -> None:
    """Whatever is in it."""
    assert entry_from_bytes(entry_as_bytes(entry)) == entry


@settings(max_examples=30)
@given(st.binary().filter(lambda data: b"\n" not in data), ENTRIES)
@example(
    b"bytes", CacheEntry(key="", data=b"text\n", dependencies=(), built_at=0.0, expires_at=0.0)
)
def test_whatever_is_no_entry_is_refused(data: bytes, entry: CacheEntry) -> None:
    """Whoever wrote it has reckoned the checksum, too; nor is an entry whose value cannot be read one."""
    head = entry_as_bytes(entry).partition(b"\n")[0]
    for wrong in (data, head + b"\n" + data, head + b"\njson\n{"):
        with pytest.raises(ValueError, match=r"entry|kind"):
            entry_from_bytes(wrong)


async def test_callers_at_the_same_time_share_one_build() -> None:
    """Fifty of them, and one builder that is called once."""
    cache, build = ContextCache(), Builder()
    found = await asyncio.gather(*(cache.get_or_build("key", build) for _ in range(50)))
    assert set(found) == {"value 1"}
    assert (cache.stats().misses, cache.stats().builds) == (50, 1)


async def test_a_failing_builder_keeps_nothing() -> None:
    """All who wait get its error; the next one builds."""
    cache, build, failing = ContextCache(), Builder(), True

    async def fail_first() -> str:
        value = await build()
        if failing:
            raise LookupError(value)
        return value

    waiting = (cache.get_or_build("key", fail_first) for _ in range(5))
    errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert [repr(error) for error in errors] == ["LookupError('value 1')"] * 5
    failing = False
    assert await cache.get_or_build("key", fail_first) == "value 2"


@pytest.mark.parametrize("cancelled", [1, 3])
async def test_who_is_cancelled_takes_nothing_from_the_others(cancelled: int) -> None:
    """Not even he who began the build; with the last of them the build has ended, and who comes next begins anew."""
    cache, slow = ContextCache(), Builder(waits=True)
    callers = [asyncio.create_task(cache.get_or_build("key", slow)) for _ in range(3)]
    await slow.begun.wait()
    for caller in callers[:cancelled]:
        caller.cancel()
    await asyncio.wait(callers[:cancelled])
    assert slow.stopped == (cancelled == 3)
    slow.go_on.set()
    assert [await caller for caller in callers[cancelled:]] == ["value 1"] * (3 - cancelled)
    assert await cache.get_or_build("key", slow) == f"value {1 + (cancelled == 3)}"


class Lingering(OwnTier):
    """A tier whose first deletion is done long before it says so."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.released = threading.Event(), threading.Event()

    @override
    def forget(self, names: Iterable[str], /) -> None:
        super().forget(names)
        self.begun.set()
        self.released.wait()


async def test_what_is_invalidated_during_a_deletion_is_deleted_again() -> None:
    """The value that was built in between is not served to anybody."""
    tier = Lingering()
    async with ContextCache(shared=tier) as cache:
        await cache.get_or_build("key", lambda: "old")
        first = asyncio.create_task(cache.invalidate("key"))
        await until(tier.begun.is_set)
        await cache.get_or_build("key", lambda: "between")
        again = asyncio.create_task(cache.invalidate("key"))
        await until(lambda: cache.stats().invalidations == 2)
        tier.released.set()
        await asyncio.gather(first, again)
        assert tier.values == {}


async def test_what_is_invalidated_while_it_is_built_is_not_kept(tmp_path: Path) -> None:
    """Those who wait have it; who asks afterwards has a new one, and it is the new one that stays."""

    async def new(cache: ContextCache) -> str:
        return await cache.get_or_build("key", lambda: "new")

    async with ContextCache(tmp_path) as cache:
        slow = Builder(waits=True)
        waiting = asyncio.create_task(cache.get_or_build("key", slow))
        await slow.begun.wait()
        await cache.invalidate("key")
        assert await new(cache) == "new"
        slow.go_on.set()
        assert await waiting == "value 1"
        assert await new(cache) == "new"
        assert cache.stats().builds == 2
    async with ContextCache(tmp_path) as cache:
        assert await new(cache) == "new"
        assert cache.stats().disk.hits == 1


async def test_time_passes() -> None:
    """A value is served for its seconds, and not at the end of them."""
    now = 1_000.0
    cache, build = ContextCache(clock=lambda: now), Builder()
    for now, expected in ((1_000.0, "value 1"), (1_059.9, "value 1"), (1_060.0, "value 2")):  # noqa: B007 - the clock
        assert await cache.get_or_build("key", build, ttl_s=60) == expected
    assert cache.stats().invalidations == 0


async def test_the_least_recently_used_goes_first() -> None:
    """However often it was used before: the frequently used goes if nobody asked for it of late."""
    cache = ContextCache(limits=CacheLimits(entries=3))
    for key in "aaaaaaaaaabcbcd":
        await cache.get_or_build(key, Builder())
    builders = {key: Builder() for key in "dcba"}
    for key, build in builders.items():
        await cache.get_or_build(key, build)
    assert [build.calls for build in builders.values()] == [0, 0, 0, 1]


STEPS = st.tuples(st.sampled_from("abcdef"), st.integers(0, 7_000), st.booleans())


@settings(max_examples=50)
@given(st.lists(STEPS, max_size=60))
def test_memory_is_a_list_by_last_use(steps: list[tuple[str, int, bool]]) -> None:
    """It holds what the last uses leave room for, in number and in bytes, and names what went."""
    memory = Memory[int](entries=4, limit_bytes=6_000)
    model: dict[str, int] = {}
    for key, size, writes in steps:
        if writes:
            model.pop(key, None)
            expected = [key] if size > 6_000 else []  # larger than all room: it pushes nothing out
            if not expected:
                model[key] = size
            while len(model) > 4 or sum(model.values()) > 6_000:
                expected.append(next(iter(model)))
                del model[expected[-1]]
            assert memory.put(key, size, size_bytes=size) == expected
        else:
            assert memory.use(key) == model.get(key)
            if key in model:
                model[key] = model.pop(key)
        assert memory.used_bytes == sum(model.values())
        assert memory.items() == list(model.items())
    assert memory.forget_where(lambda _: True) == list(model)
    assert len(memory) == memory.used_bytes == 0


async def test_statistics_add_up(tmp_path: Path) -> None:
    """K6: each request is a hit of one tier or a miss, and ``str()`` says so."""
    stats = ContextCache().stats()
    for keys in ("abab", "aaabc"):
        async with ContextCache(tmp_path) as cache:
            for key in keys:
                await cache.get_or_build(key, Builder())
            stats = cache.stats()
    assert (stats.memory.hits, stats.disk.hits, stats.misses, stats.builds) == (2, 2, 1, 1)
    assert (stats.hit_rate, stats.memory.entries) == (0.8, 3)
    assert stats.bytes == stats.memory.bytes + stats.disk.bytes > stats.disk.bytes > 0
    first, _, on_disk, *_ = str(stats).splitlines()
    assert first == "5 requests, 80.0% hits, 1 misses, 1 builds, 0 invalidations"
    assert on_disk.split()[:3] == ["disk", "2", "hits"]
