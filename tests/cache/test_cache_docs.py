"""The guides on the cache, on originals and on shared stores do what they say, and so does the example."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from support.redis_pair import KEY, PATIENT
from support.redis_server import LocalRedis

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "two_workers.py"
SIZES = re.compile(r" +(\d\.\d MB)?")  # how large a file is may differ
GIVEN = 'os.environ["REDIS_URL"]'
GUIDES = {  # where what is printed stands, and what is printed before
    "cache": (r"```\n\n```\n(.*?)```\n\nThe file", ""),
    "originals": (r"```\n(\[Original.*?)```", "recall_context\n"),
    "shared": (r"```\n(what takes long.*?)```", ""),
}


@pytest.mark.parametrize("name", GUIDES)
def test_the_guides_run(
    name: str,
    redis: LocalRedis,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They print what stands there; a busy machine is no fault."""
    page, (where, before) = (
        (ROOT / "docs" / "guides" / f"{name}.md").read_text("utf-8"),
        GUIDES[name],
    )
    program = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    monkeypatch.setenv("REDIS_URL", redis.url)
    monkeypatch.setenv("AUTOGEN_CONTEXT_STORE_KEY", KEY)
    text = program.replace(GIVEN, f"{GIVEN}, limits=PATIENT", 1)
    exec(compile(text, name, "exec"), {"__name__": "guide", "PATIENT": PATIENT})  # noqa: S102 - our own text
    (shown,) = re.findall(where, page, re.DOTALL)
    assert SIZES.sub(" ", capsys.readouterr().out) == SIZES.sub(" ", before + shown)


def test_two_workers_share_what_they_built(
    redis: LocalRedis, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second gets what the first built, and by its handle what left the first one's window.

    Nothing is warned of; what a process wrote is there when it has ended, though it took no leave.
    """
    redis.said(b"FLUSHALL")
    monkeypatch.setenv("REDIS_URL", redis.url)
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    said = capfd.readouterr()
    *lines, last = said.out.splitlines()
    assert said.err == ""
    assert lines == [
        "worker 1: the plan, as worker 1 built it",
        "worker 1: what left my window is under its handle",
        "worker 2: the plan, as worker 1 built it",
    ]
    assert re.fullmatch(r"worker 2: 3\tstate \d+", last)
