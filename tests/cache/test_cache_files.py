"""14: a changed file is never served, whatever is done to it, and whenever."""

# ruff: noqa: ASYNC240 - a test may block its own loop

import asyncio
import os
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from typing_extensions import override

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.fingerprint import TICK_NS
from autogen_context.cache.watch import FileWatch
from support.changing import change, state
from support.own_tier import OwnTier
from support.waiting import LONGEST_S, until

CHANGES = 200
PAUSE_AFTER = 10


class Reading:
    """A builder that reads a file, and counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.calls = 0

    def __call__(self) -> str | None:
        self.calls += 1
        try:
            return self.path.read_text()
        except FileNotFoundError:
            return None


async def settle() -> None:
    """Wait until times prove something, as they have nearly always by the time that somebody asks."""
    await asyncio.sleep(2 * TICK_NS / 1e9)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file in a folder of its own."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "file.txt").write_text("one")
    return tmp_path / "tree" / "file.txt"


def has_served(cache: ContextCache, before: int) -> bool:
    """Whether a cache has had more hits in memory."""
    return cache.stats().memory.hits > before


class Changing:
    """A file that is changed in a thread, with a pause now and then in which a cache can keep something."""

    def __init__(self, path: Path) -> None:
        self.path, self.done = path, 0
        change(path, 0)

    async def run(self, *caches: ContextCache) -> None:
        """Change it; each pause ends when every cache has served from memory what is there meanwhile."""
        for number in range(1, CHANGES + 1):
            await asyncio.to_thread(change, self.path, number)
            self.done = number
            for cache in caches if number % PAUSE_AFTER == 0 and number < CHANGES else ():
                await until(partial(has_served, cache, cache.stats().memory.hits))

    async def read_on(self, cache: ContextCache, name: Path | str) -> list[object]:
        """Ask until all is changed; what was served and was nowhere at the time."""
        stale: list[object] = []
        before = 0
        while before < CHANGES:
            before = self.done
            found = await cache.get_or_build(str(name), Reading(self.path), depends_on=[name])
            after = self.done + 1  # one may be complete that is not told yet
            if found not in {state(number) for number in range(before, after + 1)}:
                stale.append((before, after, found))
            await asyncio.sleep(0)
        return stale


async def test_no_reader_ever_gets_what_was_there_before(tmp_path: Path) -> None:
    """Hundreds of changes while four readers ask two caches on one folder, and nobody watches."""
    path, folder = tmp_path / "tree" / "file.txt", tmp_path / "cache"
    path.parent.mkdir()
    changing = Changing(path)
    async with ContextCache(folder) as one, ContextCache(folder) as other:
        names = ((one, path), (one, f"{path.parent}/**/f*.txt"), (other, path), (other, path))
        reading = (changing.read_on(cache, name) for cache, name in names)
        stale = await asyncio.gather(changing.run(one, other), *reading)
        assert not any(stale)
        for stats in (one.stats(), other.stats()):
            assert stats.memory.hits >= CHANGES // PAUSE_AFTER - 1  # one in each pause
            assert stats.invalidations > 5
    async with ContextCache(folder) as later:
        found = await later.get_or_build(str(path), Reading(path), depends_on=[path])
        assert (found, later.stats().disk.hits) == (state(CHANGES), 1)


async def test_a_build_that_a_change_overtakes_is_not_kept(file: Path) -> None:
    """Who asked before has what was built; who asks after the change has what is there now."""
    begun, go_on = asyncio.Event(), asyncio.Event()
    reading = Reading(file)

    async def slow() -> str | None:
        found = reading()
        begun.set()
        await go_on.wait()
        return found

    cache = ContextCache()
    await settle()
    early = asyncio.create_task(cache.get_or_build("key", slow, depends_on=[file]))
    await begun.wait()
    file.write_text("two")
    late = asyncio.create_task(cache.get_or_build("key", slow, depends_on=[file]))
    await asyncio.sleep(0)
    go_on.set()
    assert [await early, await late] == ["one", "two"]
    assert await cache.get_or_build("key", slow, depends_on=[file]) == "two"
    assert reading.calls == 2


async def test_there_and_back_while_it_is_built_is_not_kept(file: Path) -> None:
    """What was built from a file that was there in between is not what is there now."""
    new, cache, found = file.with_name("new.txt"), ContextCache(), list[list[str]]()

    def names() -> list[str]:
        if not found:
            new.touch()
        there = sorted(path.name for path in file.parent.iterdir())
        new.unlink(missing_ok=True)
        return there

    await settle()
    for _ in range(2):
        found.append(await cache.get_or_build("key", names, depends_on=[f"{file.parent}/*"]))
    assert found == [["file.txt", "new.txt"], ["file.txt"]]


async def test_a_file_that_was_just_written_is_kept_a_tick_later(file: Path) -> None:
    """The first build waits for it, so that the second request is a hit."""
    cache, reading = ContextCache(), Reading(file)
    for text in ("two", "six", "ten"):
        file.write_text(text)
        for _ in range(2):
            assert await cache.get_or_build("key", reading, depends_on=[file]) == text
    assert reading.calls == 3


async def test_what_times_do_not_prove_yet_is_served_and_not_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what was built nor what a server has: the next change may have the same time."""
    server, reading = OwnTier(), Reading(file)
    await ContextCache(shared=server).get_or_build("key", reading, depends_on=[file])
    monkeypatch.setattr("autogen_context.cache.fingerprint.TICK_NS", 10**18)
    for cache, calls in ((ContextCache(shared=server), 1), (ContextCache(), 2)):
        assert await cache.get_or_build("key", reading, depends_on=[file]) == "one"
        assert (reading.calls, cache.stats().memory.entries) == (calls, 0)


async def test_what_was_touched_or_put_back_is_a_hit(file: Path, tmp_path: Path) -> None:
    """The content decides, in memory and on disk, and the times of now are kept."""
    reading = Reading(file)
    async with ContextCache(tmp_path / "cache") as cache:
        await cache.get_or_build("key", reading, depends_on=[file])
        file.write_text("two")
        file.write_text("one")
        await settle()
        await cache.get_or_build("key", reading, depends_on=[file])
    async with ContextCache(tmp_path / "cache") as cache:
        os.utime(file)
        await settle()
        await cache.get_or_build("key", reading, depends_on=[file])
    assert reading.calls == 1


async def test_what_changed_between_two_processes_is_not_served(file: Path, tmp_path: Path) -> None:
    """What is on disk is compared as well, by all that it depends on; one that comes is counted as invalidating it."""
    other = file.with_name("other.txt")

    async def asked(text: str) -> tuple[int, int]:
        async with ContextCache(tmp_path / "cache") as cache:
            found = await cache.get_or_build("key", Reading(file), depends_on=[other, file])
            assert found == text
            return cache.stats().builds, cache.stats().invalidations

    assert await asked("one") == (1, 0)
    assert await asked("one") == (0, 0)
    file.write_text("two")
    assert await asked("two") == (1, 1)
    other.touch()
    assert await asked("two") == (1, 1)


async def test_a_value_of_other_files_is_not_what_is_wanted(file: Path) -> None:
    """A key that comes with other dependencies is built anew: the old ones tell nothing of the new; that invalidates none."""
    cache, reading = ContextCache(), Reading(file)
    for text, names, invalidations in (
        ("one", [], 0),
        ("two", [file], 0),
        ("six", [file], 1),
        ("ten", [], 1),
    ):
        file.write_text(text)
        assert await cache.get_or_build("key", reading, depends_on=names) == text
        assert cache.stats().invalidations == invalidations


async def test_what_depends_on_a_pipe_is_built_each_time(tmp_path: Path) -> None:
    """It is not waited for, and what it says next is anybody's guess."""
    os.mkfifo(tmp_path / "pipe")
    cache, reading = ContextCache(), Reading(tmp_path / "none")
    for _ in range(2):
        await cache.get_or_build("key", reading, depends_on=[tmp_path / "pipe"])
    assert reading.calls == 2


async def test_a_watch_of_a_folder_drops_what_changed(file: Path) -> None:
    """K3: with nobody asking; also where a file comes under a pattern. It is counted when it is built anew."""
    with FileWatch() as watch:
        watch.follow(file.parent)
        async with ContextCache(watch=watch) as cache:
            for name in (file, f"{file.parent}/*.txt"):
                await cache.get_or_build(str(name), Reading(file), depends_on=[name])
            (file.parent / "new.txt").touch()
            await until(lambda: cache.stats().memory.entries == 1)
            file.write_text("two")
            await until(lambda: not cache.stats().memory.entries)
            assert await cache.get_or_build(str(file), Reading(file), depends_on=[file]) == "two"
            assert cache.stats().invalidations == 1


@pytest.mark.parametrize("pattern", ["file.txt", "**/*.txt"])
async def test_another_machine_has_it_if_the_contents_are_the_same(
    tmp_path: Path, pattern: str
) -> None:
    """K5: its folders have other names and its files other times; what one invalidates is gone on the other's disk, too."""
    server, files = OwnTier(), [tmp_path / name / "file.txt" for name in "ab"]
    caches = [ContextCache(tmp_path / f"{name}-cache", shared=server) for name in "ab"]
    readings = [Reading(file) for file in files]

    async def ask(machine: int) -> str | None:
        name = f"{files[machine].parent}/{pattern}"
        return await caches[machine].get_or_build("key", readings[machine], depends_on=[name])

    for file in files:
        file.parent.mkdir()
        file.write_text("one")
        await settle()
    assert [await ask(0), await ask(1), await ask(1)] == ["one"] * 3
    assert (caches[1].stats().shared.hits, caches[1].stats().memory.hits) == (1, 1)
    files[1].write_text("two")
    assert [await ask(1), await ask(0)] == ["two", "one"]
    assert [reading.calls for reading in readings] == [1, 1]
    await caches[0].invalidate("key")
    await ask(1)
    assert readings[1].calls == 2
    for cache in caches:
        await cache.aclose()
    assert server.heard == []


class Waiting(OwnTier):
    """A tier that is told when to write."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    @override
    def write(self, values: Mapping[str, bytes], /, *, ttl_s: float | None = None) -> list[str]:
        self.begun.set()
        self.go_on.wait(LONGEST_S)
        return super().write(values, ttl_s=ttl_s)


async def test_what_is_invalidated_while_it_is_shared_is_deleted_again(tmp_path: Path) -> None:
    """Nobody gets it after that, here or elsewhere."""
    server, reading = Waiting(), Reading(tmp_path / "none")
    async with ContextCache(tmp_path / "cache", shared=server) as cache:
        building = asyncio.create_task(cache.get_or_build("key", reading))
        await until(server.begun.is_set)
        await cache.invalidate("key")
        server.go_on.set()
        await building
        assert not server.values
        await cache.get_or_build("key", reading)
        assert reading.calls == 2


async def test_news_that_may_be_missed_are_taken_for_bad(file: Path, tmp_path: Path) -> None:
    """What depends on no file is not served from here any more: from the server, or not at all. Files are compared anyway."""
    server, now = OwnTier(), 1_000.0
    plain, of_file = Reading(tmp_path / "none"), Reading(file)
    async with ContextCache(tmp_path / "cache", shared=server, clock=lambda: now) as cache:

        async def ask() -> None:
            await cache.get_or_build("plain", plain)
            await cache.get_or_build("of a file", of_file, depends_on=[file])

        await ask()
        now = 1_001.0
        server.heard[0]("")
        await ask()
        assert (cache.stats().shared.hits, cache.stats().memory.hits) == (1, 1)
        server.values.clear()
        await ask()
        now = 1_002.0
        server.heard[0]("")
        await ask()
        assert (plain.calls, of_file.calls) == (2, 1)
