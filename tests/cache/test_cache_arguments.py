"""F35: what cannot be meant is refused at once, with the argument, its value and what to give."""

import asyncio
from collections.abc import Callable
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import cast

import pytest

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.fingerprint import absolute_names
from autogen_context.cache.originals import DiskOriginals, OriginalStore
from autogen_context.cache.redis_server import RedisLimits, RedisServer
from autogen_context.cache.redis_tier import RedisTier
from autogen_context.cache.store import DiskStore
from autogen_context.cache.tier import CacheLimits, Scope
from autogen_context.cache.vectors import VectorStore
from autogen_context.cache.watch import FileWatch
from autogen_context.models.embedder import Embedder

Make = Callable[[], object]


def asked_for(seconds: float) -> object:
    """A value that is kept for a time."""
    return asyncio.run(ContextCache().get_or_build("key", str, ttl_s=seconds))


def remembered(kind: str, value: object) -> None:
    """A value that is kept by content."""
    ContextCache().remember(kind, "key", value)


rows: list[tuple[str, Make]] = [
    ("entries=-1: give a number, 0 or more", lambda: CacheLimits(entries=-1)),
    ("disk_bytes=-5: give a number", lambda: CacheLimits(disk_bytes=-5)),
    ("limit_bytes=-1: give a number of bytes", lambda: DiskStore("x", limit_bytes=-1)),
    ("directory='/dev/null': give a folder", lambda: ContextCache("/dev/null")),
    ("directory='.*HOME/x': give a path without", lambda: ContextCache("/$HOME/x")),
    ("directory='/dev/null': give", lambda: DiskOriginals("/dev/null", scope=Scope())),
    ("root='/dev/null': give a folder", lambda: FileWatch().follow("/dev/null")),
    (
        "cache='x': give a ContextCache",
        lambda: VectorStore(cast("Embedder", None), cache=cast("ContextCache", "x")),
    ),
    ("depends_on='a.py': give a list", lambda: absolute_names("a.py")),
    ("depends_on has '': give paths", lambda: absolute_names([""])),
    (r"depends_on has 'a\\x00b': give paths", lambda: absolute_names(["a\0b"])),
    ("depends_on has 5: give paths", lambda: absolute_names([5])),
    ("waiting_bytes=0: give a number above 0", lambda: RedisLimits(waiting_bytes=0)),
    ("timeout_s=inf: give a number above 0", lambda: RedisLimits(timeout_s=inf)),
]
for wrong in (0.0, -1.0, nan):
    rows += [
        (f"ttl_s={wrong}: give seconds above 0", partial(asked_for, wrong)),
        (f"ttl_s={wrong}: give seconds", partial(OriginalStore, 0, ttl_s=wrong)),
        (f"debounce_s={wrong}: give seconds", partial(FileWatch, debounce_s=wrong)),
        (f"timeout_s={wrong}: give a number above 0", partial(RedisLimits, timeout_s=wrong)),
    ]
for url in ("", "127.0.0.1:6379", "http://:pass@h", "redis://", "redis://:pass@h:port", ":pass"):
    makes = (partial(RedisServer, url), partial(RedisTier, url), partial(ContextCache, shared=url))
    rows += [("give redis://user:password@host", make) for make in makes]
rows += [
    *(
        ("kind=.*: give a short", partial(remembered, kind, 1))
        for kind in ("", "../x", "A", "x" * 99)
    ),
    *(
        ("give str, bytes, JSON", partial(remembered, "a", no))
        for no in (Path, {1}, nan, {"a": {1}})
    ),
]


@pytest.mark.parametrize(("named", "make"), rows, ids=[named for named, _ in rows])
def test_what_means_nothing_is_refused(named: str, make: Make) -> None:
    """And no password is shown."""
    with pytest.raises(ValueError, match=named) as raised:
        make()
    assert "pass@" not in str(raised.value).replace("user:password@", "")
