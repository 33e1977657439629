"""A cache that processes share, on a real server: what one writes, the others of its tenant read."""

import asyncio
import itertools
import math
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.redis.documents import RedisDocuments
from autogen_context.cache.redis.originals import RedisOriginals
from autogen_context.cache.redis.outbox import Deletion, Outbox, Write
from autogen_context.cache.redis.server import RedisLimits, RedisServer, checked_url, shown_url
from autogen_context.cache.redis.tier import RedisTier
from autogen_context.cache.scope import Scope
from autogen_context.cache.tiers import SharedTier
from support.entries import ANY_TEXT, said
from support.redis_server import LocalRedis, running
from support.waiting import until

PATIENT = RedisLimits(timeout_s=10.0, patience_s=20.0, retry_s=0.05)  # a busy machine is no fault
HOSTILE = ["", "a", "a:b", "*", "a*", "[a]", "a\nb", "a\0", "é", "\ud83d", "{a}", "x" * 2_000]
WORKER = """
import asyncio, sys
from autogen_context.cache.redis.server import RedisLimits
from autogen_context.cache.redis.server import RedisServer
from autogen_context.cache.redis.tier import RedisTier

async def main() -> None:
    with RedisServer(sys.argv[1], limits=RedisLimits(timeout_s=10.0, patience_s=20.0)) as server:
        tier = RedisTier(server, tenant="acme")
        await tier.write("from the other", b"hello", ttl_s=None)
        await tier.aclose()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRedis]:
    """A server for the file; each test has a tenant of its own."""
    yield from running(tmp_path_factory.mktemp("redis"))


@pytest.fixture
async def server(redis: LocalRedis) -> AsyncGenerator[RedisServer]:
    """The line of one process."""
    with RedisServer(redis.url, limits=PATIENT) as line:
        yield line


@pytest.fixture
async def other(redis: LocalRedis) -> AsyncGenerator[RedisServer]:
    """That of another."""
    with RedisServer(redis.url, limits=PATIENT) as line:
        yield line


async def is_shared(tier: RedisTier, key: str) -> bool:
    """Whether a key has a value."""
    return await tier.read(key) is not None


async def written(tier: RedisTier, key: str, value: bytes, *, ttl_s: float | None = None) -> None:
    """Write, and wait until it is on the server."""
    await tier.write(key, value, ttl_s=ttl_s)
    await tier.aclose()


async def test_what_one_writes_another_reads(server: RedisServer, other: RedisServer) -> None:
    """Any bytes under any key, the empty ones included; what nobody wrote is not there."""
    one: SharedTier = RedisTier(server, tenant="all")
    two: SharedTier = RedisTier(other, tenant="all")
    values = {key: bytes([n]) * n * 1_000 for n, key in enumerate(HOSTILE)}
    for key, value in values.items():
        await one.write(key, value, ttl_s=60)
    await one.aclose()
    assert {key: await two.read(key) for key in HOSTILE} == values
    assert await two.read("nobody's") is None


async def test_tenants_have_nothing_in_common(redis: LocalRedis, server: RedisServer) -> None:
    """Whatever their names and keys are, none reads or forgets what another has, and no name is to be seen."""
    tenants = ["", "a", "a:b", "b", "*", "a:*", "\ud83d"]
    keys = ["", "b", "b:c", "*", "c"]
    tiers = {tenant: RedisTier(server, tenant=tenant) for tenant in tenants}
    for tenant, key in itertools.product(tenants, keys):
        await tiers[tenant].write(key, repr((tenant, key)).encode(), ttl_s=60)
    for tier in tiers.values():
        await tier.aclose()
    await tiers["*"].forget("*")
    await tiers["a"].forget("b:c")
    for tenant, key in itertools.product(tenants, keys):
        gone = (tenant, key) in {("*", "*"), ("a", "b:c")}
        assert await tiers[tenant].read(key) == (None if gone else repr((tenant, key)).encode())
    await written(RedisTier(server, tenant="secret"), "name", b"")
    assert not [key for key in redis.stored() if b"secret" in key or b"name" in key]


async def test_the_others_hear_what_is_forgotten(server: RedisServer, other: RedisServer) -> None:
    """First that all may be invalid, then each key of theirs; who forgets, and other tenants, hear nothing."""
    one, two = RedisTier(server, tenant="news"), RedisTier(other, tenant="news")
    heard: dict[str, list[str]] = {"one": [], "two": [], "stranger": []}
    one.listen(heard["one"].append)
    ended = two.listen(heard["two"].append)
    RedisTier(other, tenant="new").listen(heard["stranger"].append)
    await until(lambda: all(heard.values()))
    for key in HOSTILE[1:]:
        await one.forget(key)
    await until(lambda: len(heard["two"]) == len(HOSTILE))
    assert sorted(heard["two"]) == sorted(HOSTILE)
    assert heard["one"] == heard["stranger"] == [""]
    ended()
    await one.forget("more")
    await two.aclose()
    assert len(heard["two"]) == len(HOSTILE)


@pytest.mark.parametrize(
    "news", [b"", b"[]", b"{}", b"[1,2", b"\xff", b'["x",1,null,"real"]', b"[" * 50_000]
)
async def test_strange_news_are_not_heard(
    redis: LocalRedis, server: RedisServer, news: bytes
) -> None:
    """Whatever is published on the channel, at most its keys are told, and the next news are heard."""
    tier = RedisTier(server, tenant=f"strange {news[:20]!r}")
    heard: list[str] = []
    tier.listen(heard.append)
    await until(lambda: heard == [""])
    channel = redis.said(b"PUBSUB CHANNELS *").split(b"\r\n")
    names = [part for part in channel if part.startswith(b"autogen-context")]
    quoted = b'"' + b"".join(b"\\x%02x" % byte for byte in news) + b'"'
    for name in names:
        redis.said(b"PUBLISH %b %b" % (name, quoted[:60_000]))
        redis.said(b'PUBLISH %b "[\\"else\\",\\"last\\"]"' % name)
    await until(lambda: "last" in heard)
    assert heard in (["", "last"], ["", "real", "last"])


async def test_what_is_past_its_time_is_gone(server: RedisServer, redis: LocalRedis) -> None:
    """After ``ttl_s``; and nothing is kept for ever."""
    tier = RedisTier(server, tenant="time")
    await written(tier, "short", b"1", ttl_s=0.05)
    await written(tier, "long", b"1")
    await written(tier, "endless", b"1", ttl_s=float("inf"))

    async def is_gone() -> bool:
        return await tier.read("short") is None

    await until(is_gone)
    assert await tier.read("long") == b"1"
    for key in redis.stored():
        assert b":-1\r\n" not in redis.said(b"TTL " + key)


async def test_a_value_has_a_limit(redis: LocalRedis, caplog: pytest.LogCaptureFixture) -> None:
    """A larger one is neither written, with a warning, nor read."""
    limits = RedisLimits(timeout_s=10.0, value_bytes=1_000)
    with RedisServer(redis.url, limits=PATIENT) as wide, RedisServer(redis.url, limits=limits) as s:
        tier, large = RedisTier(s, tenant="size"), RedisTier(wide, tenant="size")
        await written(tier, "just", b"x" * 1_000)
        await written(tier, "above", b"x" * 1_001)
        assert await large.read("above") is None
        assert "too large" in caplog.text
        await written(large, "above", b"x" * 1_001)
        assert await tier.read("just") == b"x" * 1_000
        assert await tier.read("above") is None
        assert await large.read("above") == b"x" * 1_001


@pytest.mark.parametrize(
    "planted", [b"SET %b junk", b"SET %b 2later", b"DEL %b", b"LPUSH %b 1", b"HSET %b 1 1"]
)
async def test_a_planted_value_is_a_miss(
    redis: LocalRedis, server: RedisServer, planted: bytes
) -> None:
    """What no tier wrote is not read; the key can be written anew unless it is of another kind."""
    tier = RedisTier(server, tenant=f"planted {planted!r}")
    before = set(redis.stored())
    await written(tier, "key", b"good")
    (key,) = set(redis.stored()) - before
    redis.said(b"DEL " + key, planted % key)
    assert await tier.read("key") is None
    await written(tier, "key", b"good")
    assert await tier.read("key") == b"good"


async def test_who_gives_up_waiting_disturbs_nobody(server: RedisServer) -> None:
    """Reads that are cancelled anywhere never make another read get their value."""
    tier = RedisTier(server, tenant="cancelled")
    for number in range(50):
        await tier.write(str(number), b"%d" % number, ttl_s=60)
    await tier.aclose()
    for number in range(50):
        task = asyncio.create_task(tier.read(str(49 - number)))
        await asyncio.sleep(number / 50_000)
        task.cancel()
        assert await tier.read(str(number)) == b"%d" % number


def test_it_is_used_from_one_loop_after_another(redis: LocalRedis) -> None:
    """A server belongs to no loop; nor does it have to be closed."""
    tier = RedisTier(RedisServer(redis.url, limits=PATIENT), tenant="loops")
    asyncio.run(tier.write("key", b"1", ttl_s=60))
    assert asyncio.run(tier.read("key")) == b"1"


async def test_two_processes_fraction(redis: LocalRedis, server: RedisServer) -> None:
    """What another process wrote is here, and it ends in peace."""
    command = [sys.executable, "-W", "error", "-c", WORKER, redis.url]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: ASYNC221, S603
    assert (run.returncode, run.stderr) == (0, "")
    assert await RedisTier(server, tenant="acme").read("from the other") == b"hello"


async def test_caches_build_once_for_all(
    server: RedisServer, other: RedisServer, redis: LocalRedis
) -> None:
    """What one built the other gets; what one invalidates both build anew; while the server is away each has its own."""
    built: list[str] = []

    def builder(name: str) -> Callable[[], str]:
        def build() -> str:
            built.append(name)
            return f"{name} {len(built)}"

        return build

    tiers = [RedisTier(line, tenant="caches") for line in (server, other)]
    async with ContextCache(redis=tiers[0]) as one, ContextCache(redis=tiers[1]) as two:
        assert await one.get_or_build("plan", builder("one")) == "one 1"
        await until(lambda: is_shared(tiers[1], "plan"))
        assert await two.get_or_build("plan", builder("two")) == "one 1"
        assert (one.stats().builds, two.stats().shared.hits) == (1, 1)
        await two.invalidate("plan")

        async def is_built_anew() -> bool:
            return await one.get_or_build("plan", builder("one")) == "one 2"

        await until(is_built_anew)
        assert built == ["one", "one"]
        redis.kill()
        assert await one.get_or_build("plan", builder("one")) == "one 2"
        assert await two.get_or_build("own", builder("two")) == "two 3"
        assert await two.get_or_build("own", builder("two")) == "two 3"
        redis.start()


@given(
    st.lists(st.tuples(st.sampled_from("wds"), st.sampled_from("abc"), st.binary(max_size=9))),
    st.integers(1, 20),
)
def test_an_outbox_holds_what_is_not_sent(
    steps: list[tuple[str, str, bytes]], limit_bytes: int
) -> None:
    """What it says of a key is the last thing done to it and not sent; it holds its limit, and names what goes."""
    outbox, last, deleted = Outbox(limit_bytes), dict[str, bytes](), set[str]()
    for step, key, value in steps:
        if step == "w":
            last[key] = value
            for gone in outbox.write(Write(key=key, value=value, ttl_ms=1)):
                del last[gone]
        elif step == "d":
            last.pop(key, None)
            deleted.add(key)
            outbox.delete(key)
        elif due := outbox.due():
            outbox.sent(due)
            deleted -= set(due.keys) if isinstance(due, Deletion) else set()
            last = {k: v for k, v in last.items() if not (isinstance(due, Write) and due.key == k)}
        assert sum(map(len, last.values())) <= limit_bytes
        for name in "abc":
            assert outbox.look(name) == last.get(name, "deleted" if name in deleted else None)
        assert len(outbox) == len(last) + len(deleted)


def test_a_newer_write_outlives_the_sending_of_an_older_one() -> None:
    """What took the place of a write while that was on its way is still to be sent."""
    outbox = Outbox(100)
    outbox.write(Write(key="a", value=b"old", ttl_ms=1))
    on_its_way = outbox.due()
    assert on_its_way is not None
    outbox.write(Write(key="a", value=b"new", ttl_ms=1))
    outbox.sent(on_its_way)
    assert outbox.look("a") == b"new"


@pytest.mark.parametrize("everything", [False, True])
def test_a_deletion_is_done_again_for_who_orders_it_meanwhile(*, everything: bool) -> None:
    """What others wrote after the first one came through is to go as well."""
    outbox = Outbox(100)

    def order() -> None:
        outbox.delete_everything() if everything else outbox.delete("a")

    order()
    on_its_way = outbox.due()
    assert on_its_way is not None
    order()
    outbox.sent(on_its_way)
    assert outbox.look("a") == "deleted"
    again = outbox.due()
    assert again is not None
    outbox.sent(again)
    assert outbox.look("a") is None
    assert len(outbox) == 0


async def test_everything_is_deleted_where_too_much_was_forgotten(
    redis: LocalRedis, other: RedisServer
) -> None:
    """The others hear so; what other tenants have stays."""
    limits = RedisLimits(timeout_s=1.0, retry_s=0.01, retry_max_s=0.05)
    with RedisServer(redis.url, limits=limits) as server:
        mine, theirs = RedisTier(server, tenant="much"), RedisTier(other, tenant="little")
        for tier in (mine, theirs):
            await written(tier, "key", b"1", ttl_s=60)
        heard: list[str] = []
        RedisTier(other, tenant="much").listen(heard.append)
        await until(lambda: heard == [""])
        redis.kill()
        await asyncio.gather(*(mine.forget(str(n)) for n in range(2_001)))
        assert await mine.read("key") is None
        redis.start()
        await written(theirs, "key", b"1", ttl_s=60)
        await until(lambda: len(heard) > 1)
        await mine.aclose()
        assert await mine.read("key") is None
        assert await theirs.read("key") == b"1"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:6379",
        "http://:pass@h",
        "redis://",
        "redis://:pass@h:port",
        "unix://",
        ":pass",
    ],
)
def test_a_url_of_something_else_is_an_error(url: str) -> None:
    """It says what to give instead, and no password."""
    with pytest.raises(ValueError, match="give redis://user:password@host") as raised:
        RedisServer(url)
    assert "pass@" not in str(raised.value).replace("user:password@", "")


@given(user=ANY_TEXT, password=st.text("Zz:@/?#[]% ", min_size=4).map(lambda s: f"Q{s}Q"))
@settings(max_examples=200)
def test_no_name_of_a_url_shows_its_password(user: str, password: str) -> None:
    """Quoted or not, before the host or among the options."""
    assert password not in shown_url(f"redis://{user}:{password}@host:1/0")
    assert password not in shown_url(f"unix:///a.sock?password={password}")
    assert "Q" not in shown_url(f"redis://host/0?password={password}")
    assert shown_url("rediss://u:p@host:1/2?protocol=3") == "rediss://host:1/2"
    assert checked_url("unix:///a.sock") == "unix:///a.sock"


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_a_limit_is_a_number_above_0(value: float) -> None:
    """Anything else is an error that names it."""
    with pytest.raises(ValueError, match=f"timeout_s={value}: give a number above 0"):
        RedisLimits(timeout_s=value)
    with pytest.raises(ValueError, match="waiting_bytes=0: give a number above 0"):
        RedisLimits(waiting_bytes=0)


async def test_a_url_is_enough(redis: LocalRedis, server: RedisServer) -> None:
    """What a cache builds that is given one, all others get."""
    tier = RedisTier(server)

    async def is_there() -> bool:
        return await tier.read("by url") is not None

    async with ContextCache(redis=redis.url) as cache:
        await cache.get_or_build("by url", lambda: "built here")
        await until(is_there)
    async with ContextCache(redis=tier) as other:
        assert await other.get_or_build("by url", lambda: "built there") == "built here"


@pytest.mark.parametrize("part", [RedisTier, RedisOriginals, RedisDocuments], ids=repr)
def test_a_url_stands_for_its_server(redis: LocalRedis, part: Callable[..., object]) -> None:
    """F35: wherever a server is asked for; what is neither is named, with what to give."""
    scope = {} if part is RedisTier else {"scope": Scope(agent="by url")}
    assert part(redis.url, **scope)
    with pytest.raises(ValueError, match=r"server=7: give a RedisServer, or the url of one"):
        part(7, **scope)
    with pytest.raises(ValueError, match="give redis://user:password@host"):
        part("127.0.0.1:6379", **scope)


async def test_a_turn_that_is_busy_does_not_make_the_server_look_slow(redis: LocalRedis) -> None:
    """What came while the loop did other things is taken, though the limit is over by then."""
    with RedisServer(redis.url, limits=RedisLimits(timeout_s=0.2, patience_s=20.0)) as server:
        tier = RedisTier(server, tenant="busy")
        await written(tier, "key", b"1")
        reading = asyncio.create_task(tier.read("key"))
        await asyncio.sleep(0)
        time.sleep(0.5)  # noqa: ASYNC251 - the turn
        assert await reading == b"1"
        assert not server.away


def test_a_child_process_has_a_line_of_its_own(server: RedisServer) -> None:
    """Threads are not forked: what they did is begun anew."""
    originals = RedisOriginals(server, scope=Scope(agent="forked"))
    originals.write([("before", said("before"))], expires_at=math.inf, now=0.0)
    originals.flush()
    child = os.fork()
    if not child:
        works = originals.read("before", now=0.0) == said("before")
        originals.write([("after", said("after"))], expires_at=math.inf, now=0.0)
        originals.flush()
        os._exit(0 if works else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert originals.read("after", now=0.0) == said("after")
