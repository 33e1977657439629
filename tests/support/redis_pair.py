"""A Redis server for a file of tests, and two lines to it."""

from collections.abc import Iterator

import pytest

from autogen_context.cache.redis_server import RedisLimits, RedisServer
from support.redis_server import LocalRedis, running

KEY = "a key of all tests, which nobody guesses"
# A busy machine is no fault.
PATIENT = RedisLimits(timeout_s=10.0, patience_s=20.0, retry_s=0.02, retry_max_s=0.1)


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRedis]:
    """A server for all; each test has a tenant of its own."""
    yield from running(tmp_path_factory.mktemp("redis"))


@pytest.fixture(scope="session")
def server(redis: LocalRedis) -> Iterator[RedisServer]:
    """The line of one process."""
    with RedisServer(redis.url, limits=PATIENT, key=KEY) as line:
        yield line


@pytest.fixture(scope="session")
def other(redis: LocalRedis) -> Iterator[RedisServer]:
    """That of another."""
    with RedisServer(redis.url, limits=PATIENT, key=KEY) as line:
        yield line
