"""The guide on shared stores does what it says, and so does its example."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.redis_server import LocalRedis, running

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "shared.md"
EXAMPLE = ROOT / "examples" / "two_workers.py"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[LocalRedis]:
    """A server for each."""
    yield from running(tmp_path)


def printed(redis: LocalRedis, *command: str | Path) -> str:
    """What a program says, which must end well and warn of nothing."""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-W", "error", *command],
        env=os.environ | {"REDIS_URL": redis.url},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


def test_the_guide_runs(redis: LocalRedis, tmp_path: Path) -> None:
    """Its Python runs as one program, and prints what stands there."""
    page = GUIDE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 4
    patient = "RedisLimits(timeout_s=10.0, patience_s=20.0)"  # a busy machine is no fault
    given = 'os.environ["REDIS_URL"]'
    text = "\n".join(blocks).replace(given, f"{given}, limits={patient}", 1)
    program = tmp_path / "guide.py"
    program.write_text(
        f"from autogen_context.cache.redis.server import RedisLimits\n{text}", "utf-8"
    )
    (shown,) = re.findall(r"```\n(what takes long.*?)```", page, re.DOTALL)
    assert printed(redis, program) == shown


def test_two_workers_fraction(redis: LocalRedis) -> None:
    """The second gets what the first built, and by its handle what left the first one's window."""
    lines = printed(redis, EXAMPLE).splitlines()
    assert lines[0] == "worker 1: the plan, as worker 1 built it"
    assert lines[1] == "worker 1: what left my window is under its handle"
    assert lines[2] == "worker 2: the plan, as worker 1 built it"
    assert re.fullmatch(r"worker 2: 3\tstate \d+", lines[3])
