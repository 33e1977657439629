"""The guides on the cache, on originals and on shared stores do what they say, and so does the example."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.redis_pair import PATIENT
from support.redis_server import LocalRedis

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"
EXAMPLE = ROOT / "examples" / "two_workers.py"


def program_in(page: str) -> str:
    """The Python of a guide as one program."""
    return "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))


def test_the_guide_on_the_cache_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what stands there; how large the file is may differ."""
    page = (GUIDES / "cache.md").read_text("utf-8")
    (shown,) = re.findall(r"```\n\n```\n(.*?)```\n\nThe file", page, re.DOTALL)
    exec(compile(program_in(page), "cache.md", "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert re.sub(r" +(\d\.\d MB)?", " ", printed) == re.sub(r" +(\d\.\d MB)?", " ", shown)


def test_the_guide_on_originals_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what stands there."""
    page = (GUIDES / "originals.md").read_text("utf-8")
    exec(compile(program_in(page), "originals.md", "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    (shown,) = re.findall(r"```\n(\[Original.*?)```", page, re.DOTALL)
    assert capsys.readouterr().out == "recall_context\n" + shown


def test_the_guide_on_shared_stores_runs(
    redis: LocalRedis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints what stands there; a busy machine is no fault."""
    page = (GUIDES / "shared.md").read_text("utf-8")
    given = 'os.environ["REDIS_URL"]'
    text = program_in(page).replace(given, f"{given}, limits=PATIENT", 1)
    monkeypatch.setenv("REDIS_URL", redis.url)
    exec(compile(text, "shared.md", "exec"), {"__name__": "guide", "PATIENT": PATIENT})  # noqa: S102 - our own text
    (shown,) = re.findall(r"```\n(what takes long.*?)```", page, re.DOTALL)
    assert capsys.readouterr().out == shown


def test_two_workers_share_what_they_built(redis: LocalRedis) -> None:
    """The second gets what the first built, and by its handle what left the first one's window; nothing is warned of."""
    redis.said(b"FLUSHALL")
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-W", "error", EXAMPLE],
        env=os.environ | {"REDIS_URL": redis.url},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert lines[0] == "worker 1: the plan, as worker 1 built it"
    assert lines[1] == "worker 1: what left my window is under its handle"
    assert lines[2] == "worker 2: the plan, as worker 1 built it"
    assert re.fullmatch(r"worker 2: 3\tstate \d+", lines[3])
