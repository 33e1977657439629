"""H6: a team over processes on AutoGen's own distributed runtime, with Redis for originals and states."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.redis_server import LocalRedis, running

TEAM = Path(__file__).parents[2] / "examples" / "distributed" / "team.py"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalRedis]:
    """A server of this test."""
    yield from running(tmp_path)


def test_a_worker_that_is_killed_and_started_again_has_lost_nothing(server: LocalRedis) -> None:
    """The example: no request is rejected, and each agent finds what left the window of one of them."""
    run = subprocess.run(  # noqa: S603  our own example
        [sys.executable, TEAM],
        env=os.environ | {"REDIS_URL": server.url},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert re.search(r"reader killed in task 5", run.stdout)
    for name in ("reader", "writer"):
        assert re.search(rf"{name}: I found: .*worker 2 wrote block 324681\n", run.stdout)
    assert re.search(r"\d\d requests, 0 rejected, the largest \d{4} of 4000 tokens", run.stdout)
