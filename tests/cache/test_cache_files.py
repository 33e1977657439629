"""A changed file is never served: whatever is done to it, and whenever."""

# ruff: noqa: ASYNC220, ASYNC240 - a test may block its own loop

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.fingerprint import TICK_NS
from autogen_context.cache.watch import FileWatch
from support import changing
from support.own_tier import OwnTier
from support.waiting import until

CHANGES = 250
Heard = Callable[[Collection[Path]], None]


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


class Told:
    """What a process that changes a file said so far, and what lets it go on."""

    def __init__(self, pipe: int, go_on: int) -> None:
        os.set_blocking(pipe, False)
        self._pipe = pipe
        self._go_on = go_on
        self._rest = b""
        self._latest = 0

    def latest(self) -> int:
        """The number of the last change that is known to be complete."""
        try:
            *lines, self._rest = (self._rest + os.read(self._pipe, 1 << 16)).split(b"\n")
        except BlockingIOError:
            lines = []
        self._latest = int(lines[-1]) if lines else self._latest
        return self._latest

    def go_on(self) -> None:
        """End a pause."""
        os.write(self._go_on, b"\n")


@asynccontextmanager
async def changed(path: Path) -> AsyncGenerator[Told]:
    """A file that another process changes meanwhile."""
    changing.change(path, 0)
    command = [sys.executable, changing.__file__, str(path), "1", str(CHANGES + 1)]
    with subprocess.Popen(  # noqa: S603 - our own code
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Told(process.stdout.fileno(), process.stdin.fileno())
        finally:
            process.kill()


async def let_go_on(told: Told, *caches: ContextCache) -> None:
    """End each pause when every cache has served from memory what is there meanwhile."""
    for number in range(changing.PAUSE_AFTER, CHANGES, changing.PAUSE_AFTER):
        await paused(told, number)
        await asyncio.gather(*map(serving, caches))
        told.go_on()


async def paused(told: Told, number: int) -> None:
    """Wait until so many changes are complete."""
    await until(lambda: told.latest() >= number)


async def serving(cache: ContextCache) -> None:
    """Wait until a cache has served once more from memory."""
    before = cache.stats().memory.hits
    await until(lambda: cache.stats().memory.hits > before)


async def read_on(cache: ContextCache, path: Path, name: Path | str, told: Told) -> list[object]:
    """Ask until all is changed; what was served and was nowhere at the time."""
    stale: list[object] = []
    before = 0
    while before < CHANGES:
        before = told.latest()
        found = await cache.get_or_build(str(name), Reading(path), depends_on=[name])
        after = told.latest() + 1  # one may be complete that is not told yet
        if found not in {changing.state(number) for number in range(before, after + 1)}:
            stale.append((before, after, found))
        await asyncio.sleep(0)
    return stale


async def test_no_reader_ever_gets_what_was_there_before(tmp_path: Path) -> None:
    """Hundreds of changes by another process while four readers ask two caches on one folder, and nobody watches."""
    path, folder = tmp_path / "tree" / "file.txt", tmp_path / "cache"
    path.parent.mkdir()
    async with ContextCache(folder) as one, ContextCache(folder) as other, changed(path) as told:
        stale = await asyncio.gather(
            read_on(one, path, path, told),
            read_on(one, path, f"{path.parent}/**/f*.txt", told),
            read_on(other, path, path, told),
            read_on(other, path, path, told),
            let_go_on(told, one, other),
        )
        assert not any(stale)
        for stats in (one.stats(), other.stats()):
            assert stats.memory.hits > 50
            assert stats.invalidations > 10
        assert one.stats().disk.hits + other.stats().disk.hits > 0


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
    assert await early == "one"
    assert await late == "two"
    assert await cache.get_or_build("key", slow, depends_on=[file]) == "two"
    assert reading.calls == 2


async def test_there_and_back_while_it_is_built_is_not_kept(file: Path) -> None:
    """What was built from a file that was there in between is not what is there now."""
    new = file.with_name("new.txt")
    cache = ContextCache()

    def names() -> list[str]:
        new.touch()
        found = sorted(path.name for path in file.parent.iterdir())
        new.unlink()
        return found

    def names_now() -> list[str]:
        return sorted(path.name for path in file.parent.iterdir())

    await settle()
    pattern = [f"{file.parent}/*"]
    assert await cache.get_or_build("key", names, depends_on=pattern) == ["file.txt", "new.txt"]
    assert await cache.get_or_build("key", names_now, depends_on=pattern) == ["file.txt"]


async def test_a_file_that_was_just_written_is_kept_a_tick_later(file: Path) -> None:
    """The first build waits for it, so that the second request is a hit."""
    cache, reading = ContextCache(), Reading(file)
    for text in ("two", "six", "ten"):
        file.write_text(text)
        for _ in range(2):
            assert await cache.get_or_build("key", reading, depends_on=[file]) == text
    assert reading.calls == 3


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
    """What is on disk is compared as well, by all that it depends on."""
    other = file.with_name("other.txt")
    for text in ("one", "two"):
        file.write_text(text)
        async with ContextCache(tmp_path / "cache") as cache:
            found = await cache.get_or_build("key", Reading(file), depends_on=[other, file])
            assert found == text
            assert cache.stats().builds == 1
    async with ContextCache(tmp_path / "cache") as cache:
        other.touch()
        await cache.get_or_build("key", Reading(file), depends_on=[other, file])
        assert (cache.stats().builds, cache.stats().invalidations) == (1, 1)


async def test_a_value_of_other_files_is_not_what_is_wanted(file: Path) -> None:
    """A key that comes with other dependencies is built anew: the old ones tell nothing of the new."""
    cache, reading = ContextCache(), Reading(file)
    await cache.get_or_build("key", reading)
    file.write_text("two")
    assert await cache.get_or_build("key", reading, depends_on=[file]) == "two"


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
    """Its folders have other names and its files other times; only what is in them counts."""
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
    assert caches[1].stats().shared.hits == 1
    assert caches[1].stats().memory.hits == 1
    files[1].write_text("two")
    assert [await ask(1), await ask(0)] == ["two", "one"]
    assert [reading.calls for reading in readings] == [1, 1]
    for cache in caches:
        await cache.aclose()
    assert server.heard == []


async def test_what_another_machine_invalidates_is_gone_here(tmp_path: Path) -> None:
    """In memory and on disk."""
    server = OwnTier()
    one, other = (ContextCache(tmp_path / name, shared=server) for name in "ab")
    reading = Reading(tmp_path / "none")
    for cache in (one, other):
        await cache.get_or_build("key", reading)
    assert reading.calls == 1
    await one.invalidate("key")
    await other.get_or_build("key", reading)
    assert reading.calls == 2
    for cache in (one, other):
        await cache.aclose()


async def test_news_that_may_be_missed_are_taken_for_bad(file: Path, tmp_path: Path) -> None:
    """What depends on no file is not served from here any more: from the server, or not at all. Files are compared anyway."""
    server, now = OwnTier(), 1_000.0
    cache = ContextCache(tmp_path / "cache", shared=server, clock=lambda: now)
    plain, of_file = Reading(tmp_path / "none"), Reading(file)

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
    await cache.aclose()
