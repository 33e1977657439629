"""Repeat each property with new examples, for its part of the time that there is: the plugin of ``make fuzz``."""

import os
import time
from collections.abc import Generator
from typing import cast

import pytest

SHARE_S = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The time for all of them together."""
    parser.addoption("--fuzz-seconds", type=float, default=600.0)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Each property has the same share."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    seconds = cast("float", session.config.getoption("--fuzz-seconds"))
    session.stash[SHARE_S] = seconds * workers / max(1, len(session.items))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run it again until its time is over, or it fails; each run draws what none before has drawn."""
    until_s = time.monotonic() + item.session.stash[SHARE_S]
    result = yield
    while time.monotonic() < until_s:
        item.runtest()
    return result
