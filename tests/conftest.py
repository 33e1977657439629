"""Settings of the whole suite."""

import gc
import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from support.waiting import LONGEST_S

# Shared machines are slow at times: an example may take as long as it likes, and generation too. New examples are drawn
# where somebody works on the code; with CI set the same ones each time, as Hypothesis' own profile has it.
settings.register_profile(
    "suite",
    max_examples=40,  # of each property, in a suite of some hundred; those that need more say so
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

pytest_plugins = (
    "support.coder",
    "support.command",
    "support.redis_pair",
    "support.shop",
)  # fixtures that several files have

# Files that take longest are begun first, so that at the end no worker waits for another one.
LONGEST = ("test_demo", "test_embedder", "test_distributed", "test_promises", "test_page")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays: the garbage collector looks at it neither now nor in its later rounds, which are fewer."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 10, 10)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The order of the files; within a file it is that in which its tests stand."""
    items.sort(key=lambda item: item.path.stem not in LONGEST)


WAITS = (
    "project.provider.FIRST_WAIT_S",
    "project.provider.LONGEST_WAIT_S",
    "project.file_changes.LONGEST_WAIT_S",
    "manager.providers.LONGEST_WAIT_S",
)
LOCKS = ("cache.store._LOCKED_S",)


@pytest.fixture(autouse=True, scope="session")
def patience() -> Iterator[None]:
    """A busy machine is no fault: turns wait for a disk, and processes for one another, as long as a test may take."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (*WAITS, *LOCKS):
            patch.setattr(f"autogen_context.{name}", LONGEST_S)
        yield
