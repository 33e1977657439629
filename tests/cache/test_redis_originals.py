"""Originals on a real server: what one worker puts away, another has by its handle."""

from pathlib import Path

import pytest

from autogen_context.cache.originals import DiskOriginals, OriginalStore, RedisOriginals
from autogen_context.cache.redis.server import RedisLimits, RedisServer
from autogen_context.cache.tier import Scope
from autogen_context.messages.message import Message
from support.entries import said
from support.redis_server import LocalRedis
from support.waiting import wait_until

SCOPE = Scope(tenant="acme", agent="coder")


def put(stash: RedisOriginals, handle: str, messages: tuple[Message, ...]) -> None:
    """Keep an entry for ever, and wait until it is on the server."""
    assert stash.write([(handle, messages)]) == []
    stash.flush()


def test_clear_deletes_what_anybody_wrote(
    redis: LocalRedis, server: RedisServer, other: RedisServer
) -> None:
    """More than the server looks at in one step; also what was not written yet."""
    scope = Scope(tenant="acme", agent="much")
    one, two = RedisOriginals(server, scope=scope), RedisOriginals(other, scope=scope)
    before = len(redis.stored())
    one.write([(str(n), said("x")) for n in range(2_500)])
    one.flush()
    assert len(redis.stored()) == before + 2_500
    two.write([("more", said("x"))])
    two.clear()
    assert len(redis.stored()) == before


@pytest.mark.parametrize("spoilt", [b"", b"\xff" * 90], ids=repr)
def test_a_spoilt_value_is_a_miss(redis: LocalRedis, server: RedisServer, spoilt: bytes) -> None:
    """Cut, emptied or replaced; so is a value that stands under another handle or scope."""
    scope = Scope(agent=f"spoilt {spoilt!r}")
    stash, stranger = (
        RedisOriginals(server, scope=scope),
        RedisOriginals(server, scope=Scope(tenant=scope.agent)),
    )
    before = set(redis.stored())
    put(stash, "good", said("good"))
    (good,) = set(redis.stored()) - before
    put(stash, "bad", said("bad"))
    (bad,) = set(redis.stored()) - before - {good}
    put(stranger, "good", said("of another"))
    (foreign,) = set(redis.stored()) - before - {good, bad}
    hexed = b"".join(b"\\x%02x" % byte for byte in spoilt)
    redis.said(b'SET %b "%b"' % (bad, hexed))
    assert stash.read("bad") is None
    redis.said(b"COPY %b %b REPLACE" % (good, bad))
    assert stash.read("bad") is None
    redis.said(b"COPY %b %b REPLACE" % (foreign, good))
    assert stash.read("good") is None
    put(stash, "bad", said("bad"))
    assert stash.read("bad") == said("bad")


def test_what_finds_no_room_is_named(redis: LocalRedis, tmp_path: Path) -> None:
    """While the server is away so much waits, the oldest go; a stash counts what is nowhere any more."""
    limits = RedisLimits(timeout_s=10.0, retry_s=0.02, retry_max_s=0.1, waiting_bytes=10_000)
    with LocalRedis(tmp_path) as away, RedisServer(away.url, limits=limits) as server:
        tier = RedisOriginals(server, scope=SCOPE)
        stash = OriginalStore(0, tiers=[tier])
        stash.put_text("first", "x")
        tier.flush()
        away.kill()
        for number in range(10):
            stash.put_text(str(number), "x" * 2_000)
        assert stash.evicted == 6
        assert stash.handles[-4:] == ("6", "7", "8", "9")
        assert [stash.get(h)[0].text for h in "6789"] == ["x" * 2_000] * 4
        away.start()
        wait_until(lambda: len(away.stored()) == 4)
        assert OriginalStore(0, tiers=[tier]).get("9")[0].text == "x" * 2_000
    with RedisServer(redis.url, limits=RedisLimits(value_bytes=1_000)) as narrow:
        tier = RedisOriginals(narrow, scope=Scope(agent="narrow"))
        large = ("large", said("x" * 1_000))
        assert tier.write([large]) == ["large"]


def test_a_file_and_a_server_are_one_tier(server: RedisServer, tmp_path: Path) -> None:
    """What either has is had; what one gave up is no eviction; what is forgotten is gone from both."""
    scope = Scope(agent="both")
    near = DiskOriginals(tmp_path, scope=scope, limit_bytes=1_000)
    far = RedisOriginals(server, scope=scope)
    stash = OriginalStore(0, tiers=[near, far])
    for number in range(5):
        stash.put_text(str(number), "x" * 500)
    assert [h for h in "01234" if near.read(h)] == ["4"]
    assert stash.evicted == 0
    assert all(stash.get(handle)[0].text == "x" * 500 for handle in "01234")
    far.flush()
    stash.forget("4")
    assert "4" not in stash
    stash.clear()
    assert not [h for h in "01234" if h in stash]
