"""Each agent has its own, wherever it is kept, and believes of a store what was sealed there for it with its key."""

import asyncio
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
from autogen_core.models import UserMessage
from redis import Redis

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.adapters.agentchat_context import ManagedChatCompletionContext
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.originals import (
    DiskOriginals,
    OriginalStore,
    OriginalTier,
    RedisOriginals,
)
from autogen_context.cache.redis_server import RedisServer
from autogen_context.cache.redis_tier import RedisTier
from autogen_context.cache.store import FILE, DiskStore
from autogen_context.cache.tier import Scope
from autogen_context.errors import OriginalNotFound
from support.entries import said
from support.redis_pair import KEY, PATIENT
from support.redis_server import LocalRedis, keys_of

OTHER_KEY = "another key, which nobody guesses either"
FOLDER = "AUTOGEN_CONTEXT_ORIGINALS_DIRECTORY"


def messages(word: str) -> list[dict[str, object]]:
    """More than fits, with a word that nobody else says."""
    return [{"role": "user", "content": f"the {word} is number {n} " * 80} for n in range(30)]


def lost(manager: IncrementalContextManager, word: str) -> str:
    """The handle of something that left the window."""
    prepared = manager.prepare_nowait(messages(word))
    return next(each.handle for each in prepared.decisions if each.handle)


Made = Callable[[], IncrementalContextManager]


@pytest.fixture(params=["folder", "folder given", "server"])
def made(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Managers of one program that say nothing of tenants and agents, and keep their originals in one place."""

    def make() -> IncrementalContextManager:
        store: OriginalTier | None = None
        if request.param == "server":
            store = RedisOriginals(request.getfixturevalue("server"))
        elif request.param == "folder given":
            store = DiskOriginals(tmp_path)
        return IncrementalContextManager(
            window_tokens=4_000, config=ContextConfig(originals_bytes=0), original_store=store
        )

    if request.param == "folder":
        monkeypatch.setenv(FOLDER, str(tmp_path))
    return make


def settle(server: RedisServer) -> None:
    """Wait until what was written is there: no turn waits for that."""
    sending = server.submit()
    assert sending
    sending.result()


def test_no_agent_has_what_another_lost(made: Made, server: RedisServer) -> None:
    """Not by its handle, not by a query; what one clears is gone for it, and the other's stays."""
    one, two = made(), made()
    zebra, lion = lost(one, "zebra"), lost(two, "lion")
    settle(server)
    assert "zebra" in str(one.recall(zebra))
    with pytest.raises(OriginalNotFound):
        two.recall(zebra)
    assert "zebra" not in two.recall_context(handle=zebra)
    assert "zebra is" not in two.recall_context(query="zebra number")
    one.clear_originals()
    with pytest.raises(OriginalNotFound):
        one.recall(zebra)
    assert "lion" in str(two.recall(lion))


def test_a_conversation_that_goes_on_elsewhere_has_its_own(made: Made, server: RedisServer) -> None:
    """By its state; a branch has what was lost before it, and what it clears stays for the one that it began as."""
    one, later = made(), made()
    zebra = lost(one, "zebra")
    settle(server)
    later.load_state(one.save_state())
    assert "zebra" in str(later.recall(zebra))
    branch = one.branch()
    assert "zebra" in str(branch.recall(zebra))
    branch.clear_originals()
    with pytest.raises(OriginalNotFound):
        branch.recall(zebra)
    assert "zebra" in str(one.recall(zebra))


async def test_a_context_that_is_cleared_answers_no_old_handle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its own it leaves nothing in the folder, of the other agent all."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    one, two = (
        ManagedChatCompletionContext(
            window_tokens=4_000,
            initial_messages=[
                UserMessage(content=str(each["content"]), source="user") for each in messages(word)
            ],
        )
        for word in ("zebra", "lion")
    )
    handles: list[str] = []
    for context in (one, two):
        await context.get_messages()
        assert context.last_prepared is not None
        decisions = context.last_prepared.decisions
        handles.append(next(each.handle for each in decisions if each.handle))
    zebra, lion = handles
    assert "zebra" in str(one.manager.recall(zebra))
    await one.clear()
    with pytest.raises(OriginalNotFound):
        one.manager.recall(zebra)
    held = b"".join(file.read_bytes() for file in (tmp_path / "originals").iterdir())
    assert (b"zebra" in held, b"lion" in held) == (False, True)
    assert "lion" in str(two.manager.recall(lion))


def test_a_team_shares_what_it_names(server: RedisServer) -> None:
    """A scope with a team's name: its members find by query and handle what each of them lost, a member of another does not."""
    one, two, stranger = (
        IncrementalContextManager(
            window_tokens=4_000,
            original_store=RedisOriginals(server, scope=Scope(tenant="acme", agent=team)),
        )
        for team in ("readers", "readers", "writers")
    )
    zebra = lost(one, "zebra")
    settle(server)
    assert "zebra" in str(two.recall(zebra))
    assert "zebra is" in two.recall_context(query="zebra number")
    assert "zebra is" not in stranger.recall_context(query="zebra number")
    two.clear_originals()
    assert "zebra" in str(one.recall(zebra))


async def test_scopes_of_one_folder_are_apart(tmp_path: Path) -> None:
    """What is built, what is remembered, and what is cleared."""
    scopes = [Scope(tenant=tenant, agent="a") for tenant in ("acme", "other")]
    for scope in scopes:
        async with ContextCache(tmp_path, scope=scope) as cache:
            assert await cache.get_or_build("key", partial(str, scope.tenant)) == scope.tenant
            cache.remember("summary", "key", scope.tenant)
    async with ContextCache(tmp_path, scope=scopes[0]) as cache:
        await cache.clear()
    for scope, builds in zip(scopes, (1, 0), strict=True):
        async with ContextCache(tmp_path, scope=scope) as cache:
            assert await cache.get_or_build("key", lambda: "new") in ("new", scope.tenant)
            await cache.warm("summary", ["key"])
            kept = cache.remembered("summary", "key")
            assert (cache.stats().builds, kept) == (builds, None if builds else scope.tenant)


@pytest.fixture
def raw(redis: LocalRedis) -> Iterator[Redis]:
    """What somebody has who may write to the server, and has no key."""
    client: Redis = Redis.from_url(redis.url)  # pyright: ignore[reportUnknownMemberType] - its options have no types
    redis.said(b"FLUSHALL")
    yield client
    client.close()


def keys_in(raw: Redis) -> list[bytes]:
    """The keys of values."""
    keys = keys_of(raw)
    return [key for key in keys if raw.type(key) == b"string"]


def test_another_key_opens_nothing(redis: LocalRedis, raw: Redis) -> None:
    """Neither originals nor cached values, nor their names; who has the key goes on."""
    with (
        RedisServer(redis.url, limits=PATIENT, key=KEY) as ours,
        RedisServer(redis.url, limits=PATIENT, key=OTHER_KEY) as theirs,
    ):
        scope = Scope(tenant="acme", agent="team")
        one, two = RedisOriginals(ours, scope=scope), RedisOriginals(theirs, scope=scope)
        one.write([("handle", said("x"))])
        one.flush()
        assert (one.read("handle"), one.handles()) == (said("x"), ["handle"])
        assert (two.read("handle"), two.handles()) == (None, [])
        near, far = RedisTier(ours, tenant="acme"), RedisTier(theirs, tenant="acme")
        near.write({"row": b"1"})
        near.flush()
        assert (near.read_all(["row"]), far.read_all(["row"])) == ({"row": b"1"}, {})
    assert len(keys_in(raw)) == 2


def test_a_value_that_was_moved_is_a_miss(server: RedisServer, raw: Redis) -> None:
    """To another handle, agent, tenant, conversation or kind, with its name in the list; and after its time."""
    scopes = [
        Scope(tenant="acme", agent="team"),
        Scope(tenant="acme", agent="others"),
        Scope(tenant="other", agent="team"),
        Scope(tenant="acme", agent="team", conversation="7"),
    ]
    places = [(RedisOriginals(server, scope=scope), handle) for scope in scopes for handle in "ab"]
    where: list[bytes] = []
    for tier, handle in places:
        tier.write([(handle, said(f"{tier.scope} {handle}"))])
        tier.flush()
        where += set(keys_in(raw)) - set(where)
    values = [raw.get(key) for key in where]
    for key, value in zip(where, [*values[1:], values[0]], strict=True):
        raw.set(key, value)  # type: ignore[arg-type]  # bytes
    assert [tier.read(handle) for tier, handle in places] == [None] * len(places)
    brief, _ = places[0]
    brief.write([("brief", said("x"))], ttl_s=0.001)
    brief.flush()
    for key, value in zip(where, values, strict=True):
        raw.set(key, value)  # type: ignore[arg-type]  # bytes
    assert all(tier.read(handle) for tier, handle in places)


async def test_without_a_key_nothing_of_people_is_believed(
    redis: LocalRedis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No original, no summary, no state; said once, with the way out. What is built from a file that both have is shared."""
    (tmp_path / "file").write_text("content")
    redis.said(b"FLUSHALL")
    with (
        RedisServer(redis.url, limits=PATIENT) as one,
        RedisServer(redis.url, limits=PATIENT) as two,
    ):
        scope = Scope(tenant="acme", agent="team")
        here, there = RedisOriginals(one, scope=scope), RedisOriginals(two, scope=scope)
        assert here.write([("handle", said("you must pay"))]) == ["handle"]
        assert (there.read("handle"), there.handles()) == (None, [])
        store = OriginalStore(0, tiers=[here])
        store.put("handle", said("x"))
        assert store.evicted == 1
        tiers = [RedisTier(line, tenant="acme") for line in (one, two)]
        caches = [ContextCache(shared=tier) for tier in tiers]
        caches[0].remember("summary", "text", "The user raised the limit.")
        built: list[str] = []
        for name, depends_on in (("state", []), ("outline", [tmp_path / "file"])):
            await caches[0].get_or_build(name, lambda: "first", depends_on=depends_on)
            await asyncio.to_thread(tiers[0].flush)
            built.append(
                await caches[1].get_or_build(name, lambda: "second", depends_on=depends_on)
            )
        assert built == ["second", "first"]
        await caches[1].warm("summary", ["text"])
        assert caches[1].remembered("summary", "text") is None
        for cache in caches:
            await cache.aclose()
    told = [each.getMessage() for each in caplog.records if "without a key" in each.getMessage()]
    assert len(told) == 2  # one for each line
    assert all("AUTOGEN_CONTEXT_STORE_KEY" in text for text in told)


def test_a_key_must_not_be_guessed_and_is_never_shown() -> None:
    """Too short is an error that does not show it; nor does anything that is written of settings."""
    with pytest.raises(ValueError, match="at least 16") as told:
        RedisServer("redis://localhost", key="short-one")
    assert "short-one" not in str(told.value)
    config = ContextConfig(store_key=KEY)
    manager = IncrementalContextManager(config=config)
    assert manager.config.store_key == KEY
    assert KEY not in repr(config) + config.model_dump_json() + repr(manager.save_state())
    context = ManagedChatCompletionContext(config=config, window_tokens=8_000)
    assert KEY not in context.dump_component().model_dump_json()


def test_handles_are_of_the_key(tmp_path: Path) -> None:
    """26 letters and digits that only who has the key can foresee, the same in each process that has it."""
    handles = [
        lost(
            IncrementalContextManager(
                window_tokens=4_000,
                config=ContextConfig(store_key=key, originals_directory=tmp_path),
            ),
            "zebra",
        )
        for key in (KEY, KEY, OTHER_KEY, "")
    ]
    assert handles[0] == handles[1]
    assert len(set(handles)) == 3
    assert {len(handle) for handle in handles} == {26}


# Folders


def mode_of(path: Path) -> int:
    """The rights on something."""
    return stat.S_IMODE(path.lstat().st_mode)


def test_rights_of_others_are_taken_away(tmp_path: Path) -> None:
    """From a folder, a database and what is beside it that were made beforehand; a folder with other things stays readable."""
    for folder in (tmp_path / "own", tmp_path / "shared"):
        folder.mkdir()
        (folder / FILE).touch()
        (folder / FILE).chmod(0o666)
        folder.chmod(0o777)
    (tmp_path / "shared" / "notes.txt").touch()
    for name, mode in (("own", 0o700), ("shared", 0o755)):
        disk = DiskStore(tmp_path / name)
        assert disk.write({"key": b"value"}) == []
        assert disk.read("key") == b"value"
        files = [mode_of(each) for each in (tmp_path / name).iterdir() if each.name != "notes.txt"]
        assert (mode_of(tmp_path / name), set(files)) == (mode, {0o600})


@pytest.mark.parametrize("loose", ["cache.key", FILE])
def test_a_key_that_others_could_use_is_made_anew(tmp_path: Path, loose: str) -> None:
    """To write one of their own, or values: what it sealed is put aside; the next value is kept under the new one."""
    DiskStore(tmp_path).write({"key": b"planted"})
    key = tmp_path / "cache.key"
    before = key.read_bytes()
    key.chmod(0o644)
    (tmp_path / loose).chmod(0o666)
    disk = DiskStore(tmp_path)
    assert disk.read("key") is None
    assert disk.write({"new": b"value"}) == []
    assert (disk.read_all(["key", "new"]), mode_of(key)) == ({"new": b"value"}, 0o600)
    assert key.read_bytes() != before


@pytest.mark.parametrize(("given", "mode"), [(None, 0o640), (None, 0o644), (KEY, 0o666)])
def test_a_key_that_is_loosened_costs_no_value(
    tmp_path: Path, given: str | None, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    """By a restore or a change of rights of all: with a warning if it is the secret itself; one that was given is not there."""
    DiskStore(tmp_path, key=given).write({"key": b"value"})
    for file in tmp_path.iterdir():
        file.chmod(0o640)
    (tmp_path / "cache.key").chmod(mode)
    for _ in range(2):
        assert DiskStore(tmp_path, key=given).read("key") == b"value"
    assert {mode_of(each) for each in tmp_path.iterdir()} == {0o600}
    assert [record.levelname for record in caplog.records] == ([] if given else ["WARNING"])


@pytest.mark.parametrize("name", ["first", "longer " * 200])
def test_what_was_put_aside_stays_unless_what_is_forgotten_is_in_it(
    tmp_path: Path, name: str
) -> None:
    """By its name, by the beginning of its name, or with everything; of a long name nobody can say it."""
    aside = tmp_path / "cache.db.damaged"
    for whole in (False, True):
        DiskStore(tmp_path).write({name: b"value"})
        (tmp_path / "cache.key").unlink()
        disk = DiskStore(tmp_path)
        disk.write({"second": b"value"})
        disk.forget(["second"])
        disk.clear("third")
        assert aside.exists()
        if whole:
            disk.clear("fir" if name == "first" else "")
        else:
            disk.forget([name])
        assert not aside.exists()


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 10_000], ids=len)
def test_a_damaged_key_is_made_anew(tmp_path: Path, content: bytes) -> None:
    """As a process leaves it that was killed when it made it."""
    DiskStore(tmp_path).write({"key": b"value"})
    (tmp_path / "cache.key").write_bytes(content)
    os.utime(tmp_path / "cache.key", (0, 0))
    disk = DiskStore(tmp_path)
    disk.write({"new": b"value"})
    assert disk.read_all(["key", "new"]) == {"new": b"value"}


def test_a_folder_that_somebody_made_is_not_believed(tmp_path: Path) -> None:
    """A copy with file and key, as from an archive, is another one; with a key that was given it is the same."""
    for key in (None, KEY):
        home, copied = tmp_path / f"home {key}", tmp_path / f"copied {key}"
        DiskStore(home, key=key).write({"key": b"value"})
        shutil.copytree(home, copied)
        assert DiskStore(home, key=key).read("key") == b"value"
        assert DiskStore(copied, key=key).read("key") == (b"value" if key else None)
    assert DiskStore(tmp_path / f"home {KEY}", key=OTHER_KEY).read("key") is None


def test_a_row_of_another_folder_is_a_miss(tmp_path: Path) -> None:
    """Also where both have the same key."""
    for name in ("one", "two"):
        DiskStore(tmp_path / name, key=KEY).write({"key": name.encode()})
    with closing(sqlite3.connect(tmp_path / "two" / FILE)) as connection, connection:
        connection.execute("ATTACH ? AS one", (str(tmp_path / "one" / FILE),))
        connection.execute("UPDATE Cache SET value = (SELECT value FROM one.Cache)")
    assert DiskStore(tmp_path / "two", key=KEY).read("key") is None
    assert DiskStore(tmp_path / "one", key=KEY).read("key") == b"one"


def linked_folder(path: Path) -> None:
    """The folder is a link."""
    (path.parent / "elsewhere").mkdir()
    path.symlink_to(path.parent / "elsewhere")


def linked_file(path: Path) -> None:
    """The database is a link."""
    path.mkdir()
    (path.parent / "victim").write_bytes(b"mine")
    (path / FILE).symlink_to(path.parent / "victim")


def hard_link(path: Path) -> None:
    """The database has a second name."""
    path.mkdir()
    (path.parent / "victim").write_bytes(b"mine")
    os.link(path.parent / "victim", path / FILE)


def linked_key(path: Path) -> None:
    """The key is a link."""
    path.mkdir()
    (path.parent / "victim").write_bytes(b"mine")
    (path / "cache.key").symlink_to(path.parent / "victim")


def pipe(path: Path) -> None:
    """The database is a pipe, which nobody writes to."""
    path.mkdir()
    os.mkfifo(path / FILE)


def folder_for_file(path: Path) -> None:
    """The database is a folder."""
    (path / FILE).mkdir(parents=True)


def file_for_folder(path: Path) -> None:
    """The folder is a file."""
    path.touch()


def of_another_user(path: Path) -> None:
    """The folder is another user's."""
    if os.geteuid():
        pytest.skip("needs root to make one")
    path.mkdir()
    os.chown(path, 12_345, 12_345)


PLACES = [
    linked_folder,
    linked_file,
    hard_link,
    linked_key,
    pipe,
    folder_for_file,
    file_for_folder,
    of_another_user,
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_what_is_not_ours_alone_is_not_used(
    tmp_path: Path, place: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """Memory serves; one warning has the way out, and nothing is written where the link leads."""
    place(tmp_path / "originals")
    config = ContextConfig(originals_directory=tmp_path)
    manager = IncrementalContextManager(window_tokens=4_000, config=config)
    for _ in range(3):
        assert "zebra" in str(manager.recall(lost(manager, "zebra")))
    warnings = [
        each.getMessage() for each in caplog.records if "cannot be used" in each.getMessage()
    ]
    assert len(warnings) == 1
    assert "name" in warnings[0]
    assert [file.read_bytes() for file in tmp_path.glob("victim")] in ([], [b"mine"])
    with suppress(FileNotFoundError):
        assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("subfolder", ["", "originals"])
def test_a_folder_may_be_a_link_if_the_store_is_in_one_below(
    tmp_path: Path, subfolder: str
) -> None:
    """To another disk, for example; what is below is ours alone, and no link."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    disk = DiskStore(tmp_path / "link", subfolder=subfolder)
    assert disk.write({"key": b"value"}) == ([] if subfolder else ["key"])
    assert disk.read("key") == (b"value" if subfolder else None)
    if subfolder:
        assert mode_of(tmp_path / "elsewhere" / subfolder) == 0o700
