"""Settings of the whole suite."""

import gc
import logging
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.constants_ast import Constants

from autogen_context.manager.event_log import EventLog, Writer
from support.waiting import LONGEST_S

# Everywhere the same examples, each time; new ones are drawn by `make fuzz`, and what it finds becomes an @example. Shared
# machines are slow at times: an example may take as long as it likes, and generation too.
SUITE = settings(
    max_examples=40,  # of each property, in a suite of some hundred; those that need more say so
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("suite", SUITE)
settings.register_profile("fuzz", SUITE, derandomize=False, print_blob=True)
settings.load_profile("suite")

pytest_plugins = (
    "support.coder",
    "support.command",
    "support.redis_pair",
    "support.shop",
)  # fixtures that several files have

# Files that take longest are begun first, so that at the end no worker waits for another one.
LONGEST = (
    "test_linear", "test_attacks", "test_forgetting", "test_whose_words", "test_demo", "test_embedder", "test_distributed",
    "test_promises", "test_page", "test_prompt_changes", "test_faithful", "test_claude",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `make test` asks for with CI set."""
    parser.addoption("--nothing-skipped", action="store_true", help="a skipped test has failed")


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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The order of the files; within a file it is that in which its tests stand. What says the same on each Python is marked."""
    items.sort(key=lambda item: item.path.stem not in LONGEST)
    for item in items:
        if item.path.parent.name == "tasks":  # of the benchmark
            item.add_marker(pytest.mark.one_python)
    if not config.pluginmanager.has_plugin("support.older_hosts"):
        older = [item for item in items if item.get_closest_marker("older_hosts")]
        config.hook.pytest_deselected(items=older)
        items[:] = [item for item in items if item not in older]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, object]:
    """Where a server or a package is missing, tests are skipped; they fail where nothing may be missing."""
    report = yield
    if report.skipped and item.config.getoption("--nothing-skipped"):
        report.outcome = "failed"
    return report


WAITS = (
    "project.provider.FIRST_WAIT_S",
    "project.provider.LONGEST_WAIT_S",
    "project.file_changes.LONGEST_WAIT_S",
    "manager.providers.LONGEST_WAIT_S",
)
LOCKS = ("cache.store._LOCKED_S",)


@pytest.fixture(autouse=True, scope="session")
def same_examples() -> Iterator[None]:
    """Hypothesis draws constants of the modules loaded so far, too: what a test gets would depend on those before it."""
    with pytest.MonkeyPatch.context() as patch:
        if settings().derandomize:
            name = "hypothesis.internal.conjecture.providers._get_local_constants"
            patch.setattr(name, Constants)
        yield


@pytest.fixture(autouse=True)
def levels() -> Iterator[None]:
    """A command line that runs within a test says what is logged from then on; the next test hears everything again."""
    before = logging.root.level
    yield
    logging.root.setLevel(before)
    for name in [
        each for each in logging.root.manager.loggerDict if each.startswith("autogen_context")
    ]:
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.fixture(autouse=True, scope="session")
def patience() -> Iterator[None]:
    """A busy machine is no fault: turns wait for a disk, and processes for one another, as long as a test may take."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (*WAITS, *LOCKS):
            patch.setattr(f"autogen_context.{name}", LONGEST_S)
        for flush in (EventLog.flush, Writer.flush):
            patch.setattr(flush, "__defaults__", (LONGEST_S,))
        yield
