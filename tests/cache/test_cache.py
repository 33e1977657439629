"""One build for all who ask, what was used last stays, and what comes back is what was put."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.entry import CacheEntry, entry_as_bytes, entry_from_bytes
from autogen_context.cache.fingerprint import Fingerprint
from autogen_context.cache.tier import CacheLimits, Memory


class Outline(BaseModel):
    """A value of a class."""

    title: str
    lines: list[int]


class Builder:
    """Builds text, and counts."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        await asyncio.sleep(0)
        return f"value {self.calls}"

    def blocking(self) -> str:
        """The same for a thread."""
        self.calls += 1
        return f"{threading.current_thread() is threading.main_thread()} {self.calls}"


TEXTS = st.text(st.characters())  # lone surrogates as well
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FINGERPRINTS = st.builds(Fingerprint, name=TEXTS, times=TEXTS, content=TEXTS)
ENTRIES = st.builds(
    CacheEntry,
    key=TEXTS,
    data=st.binary(),
    dependencies=st.lists(FINGERPRINTS, max_size=3).map(tuple),
    built_at=st.floats(allow_nan=False),
    expires_at=st.floats(allow_nan=False),
)


@settings(max_examples=20)
@given(TEXTS, TEXTS | st.binary() | JSON)
async def test_what_comes_back_is_what_was_built(key: str, value: object) -> None:
    """Text, bytes and JSON under any key, the first time and from then on."""

    async def build() -> object:
        return value

    cache = ContextCache()
    assert await cache.get_or_build(key, build) == value
    assert await cache.get_or_build(key, build) == value
    assert cache.stats().builds == 1


@settings(max_examples=40)
@given(ENTRIES)
def test_an_entry_is_read_as_it_was_written(entry: CacheEntry) -> None:
    """Whatever is in it."""
    assert entry_from_bytes(entry_as_bytes(entry)) == entry


@settings(max_examples=30)
@given(st.binary())
def test_whatever_is_no_entry_is_refused(data: bytes) -> None:
    """Whoever wrote it has reckoned the checksum, too."""
    with pytest.raises(ValueError, match="entry"):
        entry_from_bytes(data)


async def test_a_class_that_has_changed_is_built_anew(tmp_path: Path) -> None:
    """What was kept of the old one does not read as the new one."""

    class Newer(BaseModel):
        name: str

    async def build() -> Newer:
        return Newer(name="main")

    async def build_old() -> Outline:
        return Outline(title="main", lines=[])

    async with ContextCache(tmp_path) as cache:
        await cache.get_or_build("outline", build_old, model=Outline)
        assert await cache.get_or_build("outline", build, model=Newer) == Newer(name="main")
        await cache.get_or_build("text", lambda: "a text")
        assert await cache.get_or_build("text", build, model=Newer) == Newer(name="main")
    async with ContextCache(tmp_path) as cache:
        assert await cache.get_or_build("outline", build, model=Newer) == Newer(name="main")
        assert cache.stats().disk.hits == 1


async def test_callers_at_the_same_time_share_one_build() -> None:
    """Fifty of them, and one builder that is called once."""
    cache, build = ContextCache(), Builder()
    found = await asyncio.gather(*(cache.get_or_build("key", build) for _ in range(50)))
    assert set(found) == {"value 1"}
    assert cache.stats().misses == 50
    assert cache.stats().builds == 1


async def test_a_blocking_builder_has_a_thread() -> None:
    """The event loop goes on meanwhile."""
    assert await ContextCache().get_or_build("key", Builder().blocking) == "False 1"


async def test_a_failing_builder_keeps_nothing() -> None:
    """All who wait get its error; the next one builds."""
    cache, failing = ContextCache(), True
    build = Builder()

    async def fail_first() -> str:
        value = await build()
        if failing:
            raise LookupError(value)
        return value

    waiting = (cache.get_or_build("key", fail_first) for _ in range(5))
    errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert [str(error) for error in errors] == ["value 1"] * 5
    assert all(isinstance(error, LookupError) for error in errors)
    failing = False
    assert await cache.get_or_build("key", fail_first) == "value 2"


class Slow:
    """A builder that waits, and says whether it was stopped."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.stopped = 0

    async def __call__(self) -> str:
        self.begun.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return "done"


async def test_who_is_cancelled_takes_nothing_from_the_others() -> None:
    """Not even he who began the build."""
    cache, slow = ContextCache(), Slow()
    first, second = (asyncio.create_task(cache.get_or_build("key", slow)) for _ in range(2))
    await slow.begun.wait()
    first.cancel()
    await asyncio.wait({first})
    assert first.cancelled()
    slow.go_on.set()
    assert await second == "done"
    assert not slow.stopped


async def test_with_the_last_of_them_the_build_is_cancelled() -> None:
    """It has ended when he has, and who comes next begins anew."""
    cache, slow = ContextCache(), Slow()
    callers = [asyncio.create_task(cache.get_or_build("key", slow)) for _ in range(3)]
    await slow.begun.wait()
    for caller in callers:
        caller.cancel()
    await asyncio.wait(callers)
    assert slow.stopped == 1
    assert await cache.get_or_build("key", Builder()) == "value 1"


async def test_what_is_invalidated_while_it_is_built_is_not_kept(tmp_path: Path) -> None:
    """Those who wait have it; who asks afterwards has a new one, and it is the new one that stays."""
    async with ContextCache(tmp_path) as cache:
        slow = Slow()
        waiting = asyncio.create_task(cache.get_or_build("key", slow))
        await slow.begun.wait()
        await cache.invalidate("key")
        assert await cache.get_or_build("key", Builder()) == "value 1"
        slow.go_on.set()
        assert await waiting == "done"
        assert await cache.get_or_build("key", Builder()) == "value 1"
    async with ContextCache(tmp_path) as cache:
        assert await cache.get_or_build("key", Builder()) == "value 1"
        assert cache.stats().disk.hits == 1


async def test_time_passes() -> None:
    """A value is served for its seconds, and not at the end of them."""
    now = 1_000.0
    cache, build = ContextCache(clock=lambda: now), Builder()
    assert await cache.get_or_build("key", build, ttl_s=60) == "value 1"
    now = 1_059.9
    assert await cache.get_or_build("key", build, ttl_s=60) == "value 1"
    now = 1_060.0
    assert await cache.get_or_build("key", build, ttl_s=60) == "value 2"
    assert cache.stats().invalidations == 0


async def kept(cache: ContextCache, keys: str) -> str:
    """Which of these keys are answered without building."""
    found: list[str] = []
    for key in keys:
        build = Builder()
        await cache.get_or_build(key, build)
        found += [key] * (not build.calls)
    return "".join(found)


async def test_the_least_recently_used_goes_first() -> None:
    """However often it was used before: the frequently used goes if nobody asked for it of late."""
    cache = ContextCache(limits=CacheLimits(entries=3))
    for key in "aaaaaaaaaabcbc":
        await cache.get_or_build(key, Builder())
    await cache.get_or_build("d", Builder())
    assert await kept(cache, "dcb") == "dcb"
    assert await kept(cache, "a") == ""


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.integers(0, 7_000), st.booleans()), max_size=60
    )
)
def test_memory_is_a_list_by_last_use(steps: list[tuple[str, int, bool]]) -> None:
    """It holds what the last uses leave room for, in number and in bytes, and names what went."""
    memory = Memory[int](entries=4, limit_bytes=6_000)
    model: dict[str, int] = {}
    for key, size, writes in steps:
        if writes:
            model.pop(key, None)
            gone = memory.put(key, size, size_bytes=size)
            if size > 6_000:  # larger than all room: it pushes nothing out
                assert gone == [key]
                continue
            model[key] = size
            expected: list[str] = []
            while len(model) > 4 or sum(model.values()) > 6_000:
                expected.append(next(iter(model)))
                del model[expected[-1]]
            assert gone == expected
        else:
            assert memory.use(key) == model.get(key)
            if key in model:
                model[key] = model.pop(key)
        assert memory.held_bytes == sum(model.values())
        assert memory.items() == list(model.items())
    assert memory.forget_where(lambda _: True) == list(model)
    assert len(memory) == memory.held_bytes == 0


async def test_statistics_add_up(tmp_path: Path) -> None:
    """Each request is a hit of one tier or a miss, and ``str()`` says so."""
    async with ContextCache(tmp_path) as cache:
        for key in "abab":
            await cache.get_or_build(key, Builder())
    async with ContextCache(tmp_path) as cache:
        for key in "aaabc":
            await cache.get_or_build(key, Builder())
        stats = cache.stats()
    assert (stats.memory.hits, stats.disk.hits, stats.misses, stats.builds) == (2, 2, 1, 1)
    assert stats.hit_rate == 0.8
    assert stats.bytes == stats.memory.bytes + stats.disk.bytes > 0
    assert stats.memory.entries == 3
    assert stats.disk.bytes > 0
    assert str(stats).splitlines()[0] == (
        "5 requests, 80.0% hits, 1 misses, 1 builds, 0 invalidations"
    )
    assert str(stats).splitlines()[2].split()[:3] == ["disk", "2", "hits"]


BAD_ARGUMENTS: dict[str, Callable[[], object]] = {
    "entries=-1: give a number": lambda: CacheLimits(entries=-1),
    "disk_bytes=-5: give a number": lambda: CacheLimits(disk_bytes=-5),
    "directory='/dev/null': give a folder": lambda: ContextCache("/dev/null"),
    "directory='.*HOME/x': give a path without": lambda: ContextCache("/$HOME/x"),
}


@pytest.mark.parametrize(("named", "make"), BAD_ARGUMENTS.items(), ids=BAD_ARGUMENTS)
def test_arguments_that_mean_nothing_are_refused(named: str, make: Callable[[], object]) -> None:
    """With name, value and way out."""
    with pytest.raises(ValueError, match=named):
        make()


async def test_a_time_that_means_nothing_is_refused() -> None:
    """With its value."""
    with pytest.raises(ValueError, match=r"ttl_s=0: give seconds above 0"):
        await ContextCache().get_or_build("key", Builder(), ttl_s=0)
