"""One contract for wherever bytes are kept: a folder, a server, and anybody's own."""

import asyncio
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autogen_context.cache.cache import ContextCache, row_of
from autogen_context.cache.originals import OriginalStore, OriginalTier, RedisOriginals
from autogen_context.cache.redis_server import RedisLimits, RedisServer, shown_url
from autogen_context.cache.redis_tier import RedisTier
from autogen_context.cache.store import DiskStore
from autogen_context.cache.tier import Scope, Tier
from autogen_context.errors import StoreUnavailable
from support.entries import ANY_TEXT, said
from support.forks import ended, forked
from support.own_tier import OwnTier
from support.redis_pair import KEY, PATIENT
from support.redis_server import LocalRedis
from support.waiting import until, wait_until


@pytest.fixture(params=["folder", "server", "own"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Tier, Tier]:
    """Two that share what they keep; the folder by two stores, the server by two lines."""
    if request.param == "own":
        own = OwnTier()
        return own, own
    if request.param == "folder":
        return DiskStore(tmp_path), DiskStore(tmp_path)
    one, two = (
        RedisTier(request.getfixturevalue(line), tenant=str(tmp_path))
        for line in ("server", "other")
    )
    return one, two


@given(kept=st.dictionaries(ANY_TEXT, st.binary(max_size=2_000), max_size=5), strange=ANY_TEXT)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_one_writes_the_other_reads(
    pair: tuple[Tier, Tier], kept: dict[str, bytes], strange: str
) -> None:
    """Whatever names and values are; what is forgotten by one is gone for both, and the rest stays until all is cleared."""
    one, two = pair
    names = {name.encode("utf-8", "surrogatepass").hex(): value for name, value in kept.items()}
    absent = strange.encode("utf-8", "surrogatepass").hex() + "?"
    assert one.write(names) == []
    one.close()
    assert two.read_all([*names, absent]) == one.read_all(names) == names
    for name in list(names)[:1]:
        two.forget([name, absent])
        del names[name]
        assert one.read_all([name]) == two.read_all([name]) == {}
    assert one.read_all(names) == names
    one.close()
    if isinstance(two, RedisTier):
        with pytest.raises(StoreUnavailable, match="cannot be listed"):
            two.names()
    else:
        assert set(two.names()) == set(names)
    one.clear()
    assert two.read_all(names) == {}


def test_what_is_past_its_time_is_gone(pair: tuple[Tier, Tier]) -> None:
    """The next value under the name is the one that counts."""
    one, two = pair
    one.write({"key": b"1"}, ttl_s=0.001)
    one.close()
    wait_until(lambda: not two.read_all(["key"]))
    one.write({"key": b"2"})
    one.close()
    assert two.read_all(["key"]) == {"key": b"2"}


async def test_a_cache_shares_what_it_remembers(redis: LocalRedis) -> None:
    """Through a server, by its url alone, or through anybody's own; another kind is another value."""
    own = OwnTier()
    for shared in (own, redis.url):
        async with (
            ContextCache(shared=shared, key=KEY) as cache,
            ContextCache(shared=shared, key=KEY) as elsewhere,
        ):
            cache.remember("summary", "key", "done")
            assert elsewhere.remembered("summary", "key") is None

            async def has_it(elsewhere: ContextCache = elsewhere) -> bool:
                await elsewhere.warm("summary", ["key"])
                return elsewhere.remembered("summary", "key") == "done"

            await until(has_it)  # on a busy machine the server is slow
            await elsewhere.warm("advice", ["key"])
            assert elsewhere.remembered("advice", "key") is None


async def test_caches_build_once_for_all(
    server: RedisServer, other: RedisServer, redis: LocalRedis
) -> None:
    """K5: what one built the other gets; what one invalidates both build anew; while the server is away each has its own."""
    built: list[str] = []

    def builder(name: str) -> Callable[[], str]:
        def build() -> str:
            built.append(name)
            return f"{name} {len(built)}"

        return build

    tiers = [RedisTier(line, tenant="caches") for line in (server, other)]
    async with ContextCache(shared=tiers[0]) as one, ContextCache(shared=tiers[1]) as two:
        assert await one.get_or_build("plan", builder("one")) == "one 1"
        await until(lambda: bool(tiers[1].read_all([row_of("plan")])))
        assert await two.get_or_build("plan", builder("two")) == "one 1"
        assert (one.stats().builds, two.stats().shared.hits) == (1, 1)
        await two.invalidate("plan")

        async def is_built_anew() -> bool:
            return await one.get_or_build("plan", builder("one")) == "one 2"

        await until(is_built_anew)
        assert built == ["one", "one"]
        redis.kill()
        assert await one.get_or_build("plan", builder("one")) == "one 2"
        for _ in range(2):
            assert await two.get_or_build("own", builder("two")) == "two 3"
        redis.start()
        await until(lambda: not server.away and not other.away)


def test_clear_deletes_what_anybody_wrote(
    redis: LocalRedis, server: RedisServer, other: RedisServer
) -> None:
    """More than the server looks at in one step; also what was not written yet."""
    scope = Scope(tenant="acme", agent="much")
    one, two = RedisOriginals(server, scope=scope), RedisOriginals(other, scope=scope)
    before = len(redis.stored())
    one.write([(str(n), said("x")) for n in range(1_100)])
    one.flush()
    assert len(redis.stored()) == before + 1_100
    assert len(two.handles()) == 1_100
    two.write([("more", said("x"))])
    two.clear()
    assert (len(redis.stored()), two.handles()) == (before, [])


def test_a_server_that_cannot_list_clears_no_scope_in_silence(
    redis: LocalRedis, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever keeps originals in a tier of its own is told that they may be there; what can be listed is cleared, also what waits."""
    scope = Scope(tenant="acme", agent="listed")
    plain = RedisTier(server, tenant="unlisted")
    unlisted = OriginalTier(plain, scope=scope)
    unlisted.write([("handle", said("x"))])
    plain.flush()
    with pytest.raises(StoreUnavailable, match="cannot be listed"):
        unlisted.clear()
    assert (unlisted.handles(), unlisted.read("handle")) == ([], said("x"))
    tier = RedisTier(server, tenant="listed", kind="original")
    listed = OriginalTier(tier, scope=scope)
    monkeypatch.setattr("autogen_context.cache.redis_tier._MOST_NAMES", 3)
    before = redis.stored()
    for number in range(7):
        listed.write([(str(number), said("x"))])
        tier.flush()
    listed.write([("more", said("x"))])
    listed.clear()
    assert (redis.stored(), listed.read("more")) == (before, None)


def test_a_server_that_is_away_clears_no_scope_in_silence(tmp_path: Path) -> None:
    """Who clears is told that originals may still be there."""
    with LocalRedis(tmp_path) as away, RedisServer(away.url, limits=PATIENT, key=KEY) as server:
        tier = RedisTier(server, tenant="acme", kind="original")
        listed = OriginalTier(tier, scope=Scope(tenant="acme", agent="coder"))
        listed.write([("handle", said("x"))])
        tier.flush()
        away.kill()
        with pytest.raises(StoreUnavailable):
            listed.clear()
        assert listed.handles() == []


def test_what_finds_no_room_is_named(redis: LocalRedis, tmp_path: Path) -> None:
    """While the server is away so much waits, the oldest go; a stash counts what is nowhere any more."""
    limits = replace(PATIENT, waiting_bytes=10_000)
    with LocalRedis(tmp_path) as away, RedisServer(away.url, limits=limits, key=KEY) as server:
        tier = RedisOriginals(server, scope=Scope(tenant="acme", agent="coder"))
        stash = OriginalStore(0, tiers=[tier])
        stash.put_text("first", "x")
        tier.flush()
        away.kill()
        for number in range(10):
            stash.put_text(str(number), "x" * 2_000)
        assert (stash.evicted, stash.handles[-4:]) == (6, ("6", "7", "8", "9"))
        assert [stash.get(h)[0].text for h in "6789"] == ["x" * 2_000] * 4
        away.start()
        wait_until(lambda: len(away.stored()) == 4)
        assert OriginalStore(0, tiers=[tier]).get("9")[0].text == "x" * 2_000
    with RedisServer(redis.url, limits=RedisLimits(value_bytes=1_000), key=KEY) as narrow:
        tier = RedisOriginals(narrow, scope=Scope(agent="narrow"))
        assert tier.write([("large", said("x" * 1_000))]) == ["large"]


def test_tenants_have_nothing_in_common(server: RedisServer) -> None:
    """None reads or deletes what another has, whatever their names and keys are."""
    names = ["", "a", "a:b", "b", "*"]
    tiers = {(t, a): RedisTier(server, tenant=t, agent=a) for t in names for a in names}
    for whose, tier in tiers.items():
        tier.write({"*": repr(whose).encode()})
        tier.flush()
    tiers["*", "*"].clear()
    tiers["a", "b"].forget(["*"])
    for whose, tier in tiers.items():
        gone = whose in {("*", "*"), ("a", "b")}
        assert tier.read_all(["*"]) == ({} if gone else {"*": repr(whose).encode()})


async def test_the_others_hear_what_is_forgotten(server: RedisServer, other: RedisServer) -> None:
    """Not who forgets it, not another tenant, and nobody who has left; that all may be invalid comes first."""
    one, two = RedisTier(server, tenant="news"), RedisTier(other, tenant="news")
    tiers = {"one": one, "two": two, "stranger": RedisTier(other, tenant="strange")}
    heard: dict[str, list[str]] = {name: [] for name in tiers}
    leave = {name: tier.listen(heard[name].append) for name, tier in tiers.items()}
    await until(lambda: all("" in told for told in heard.values()))
    one.forget(["a", "\ud83d"])
    await until(lambda: len(heard["two"]) >= 3)
    two.forget(["c"])
    await until(lambda: "c" in heard["one"])
    assert heard["one"] == ["", "c"]
    assert (set(heard["two"]), heard["stranger"]) == ({"", "a", "\ud83d"}, [""])
    leave["two"]()
    two.listen(heard["stranger"].append)
    one.forget(["b"])
    await until(lambda: "b" in heard["stranger"])
    assert heard["two"][-1] != "b"
    for tier in tiers.values():
        tier.close()


@pytest.mark.parametrize("spoilt", [b"", b"0", b"x" * 2_000], ids=["empty", "mark", "large"])
def test_a_planted_value_is_a_miss(redis: LocalRedis, spoilt: bytes) -> None:
    """Whatever somebody wrote there; and nothing larger than a value may be is read."""
    with RedisServer(redis.url, limits=replace(PATIENT, value_bytes=1_000), key=KEY) as server:
        tier = RedisTier(server, tenant=f"planted {len(spoilt)}")
        before = set(redis.stored())
        tier.write({"key": b"good"})
        tier.flush()
        (key,) = set(redis.stored()) - before
        redis.said(b'SET %b "%b"' % (key, b"1" + spoilt if len(spoilt) > 1 else spoilt))
        assert tier.read_all(["key"]) == {}
        tier.write({"large": b"1"})
        assert tier.write({"large": bytes(1_001)}) == ["large"]  # what stood there is stale
        assert tier.read_all(["large"]) == {}


def test_who_closes_leaves_no_thread(redis: LocalRedis, other: RedisServer) -> None:
    """F17: a tier none that listens, a server none at all; what was due is sent."""
    before = set(threading.enumerate())

    def left() -> set[str]:
        return {each.name for each in set(threading.enumerate()) - before}

    with RedisServer(redis.url, limits=replace(PATIENT, pulse_s=0.05), key=KEY) as server:
        tier = RedisTier(server, tenant="closing")
        tier.listen(lambda _: None)
        tier.write({"key": b"1"})
        assert len(left()) == 2
        tier.close()
        wait_until(lambda: left() == {"context-redis_0"})
    assert not left()
    assert RedisTier(other, tenant="closing").read_all(["key"]) == {"key": b"1"}


def test_a_child_process_has_a_line_of_its_own(server: RedisServer) -> None:
    """Threads are not forked: what they did is begun anew."""
    tier = RedisTier(server, tenant="forked")
    tier.write({"before": b"1"})
    tier.flush()
    child = os.fork()
    if not child:
        works = tier.read_all(["before"]) == {"before": b"1"}
        tier.write({"after": b"2"})
        tier.flush()
        os._exit(0 if works else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert tier.read_all(["after"]) == {"after": b"2"}


def test_a_child_process_sends_nothing_of_its_parents(tmp_path: Path) -> None:
    """What was pending at the fork, and is older than what the parent has written since then."""
    with LocalRedis(tmp_path) as away, RedisServer(away.url, limits=PATIENT, key=KEY) as server:
        tier = RedisTier(server)
        away.kill()
        tier.write({"key": b"old"})
        go_on, go = os.pipe()

        def write() -> None:
            os.read(go_on, 1)
            tier.write({"other": b"1"})
            tier.flush()

        pid, _ = forked(write)
        away.start()
        wait_until(lambda: not tier.waiting)
        tier.write({"key": b"new"})
        tier.flush()
        os.write(go, b"1")
        assert ended(pid) == 0
        assert tier.read_all(["key", "other"]) == {"key": b"new", "other": b"1"}


def test_a_child_process_serves_nothing_that_is_stale(redis: LocalRedis) -> None:
    """Neither what others invalidated before its first request, nor what they do after it."""
    lines = [RedisServer(redis.url, limits=PATIENT, key=KEY) for _ in range(2)]
    tiers = [RedisTier(line, tenant="deaf") for line in lines]
    ours, others = (ContextCache(shared=tier) for tier in tiers)
    asyncio.run(built(ours, "old"))
    tiers[0].flush()
    (go_on, go), (told, tell) = os.pipe(), os.pipe()

    async def is_fresh() -> bool:
        values = [await built(ours, "new")]
        tiers[0].flush()
        os.write(tell, b"1")
        os.read(go_on, 1)
        await until(lambda: ours.stats().memory.entries == 0)
        values.append(await built(ours, "newer"))
        return values == ["new", "newer"]

    def child() -> int:
        os.read(go_on, 1)
        return int(not asyncio.run(is_fresh()))

    pid, _ = forked(child)
    asyncio.run(others.invalidate("key"))
    os.write(go, b"1")
    os.close(tell)
    os.read(told, 1)
    asyncio.run(others.invalidate("key"))
    os.write(go, b"1")
    assert ended(pid) == 0
    for cache in (ours, others):
        asyncio.run(cache.aclose())
    for line in lines:
        line.close()


async def built(cache: ContextCache, value: str) -> str:
    """What a cache has under ``key``, or this value."""
    return await cache.get_or_build("key", lambda: value)


@given(user=ANY_TEXT, password=st.text("Zz:@/?#[]% ", min_size=4).map(lambda s: f"Q{s}Q"))
@settings(max_examples=20)
def test_no_name_of_a_url_shows_its_password(user: str, password: str) -> None:
    """Quoted or not, before the host or among the options."""
    assert password not in shown_url(f"redis://{user}:{password}@host:1/0")
    assert password not in shown_url(f"unix:///a.sock?password={password}")
    assert "Q" not in shown_url(f"redis://host/0?password={password}")
    assert shown_url("rediss://u:p@host:1/2?protocol=3") == "rediss://host:1/2"
