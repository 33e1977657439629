"""One law for the agents of every host: forty turns with tools in a window of 8,000 tokens, each with its own client."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

MEASURE = Path(__file__).parents[2] / "benchmarks" / "hosts.py"
TURNS, TASKS, WINDOW = 40, 2, 8_000


@pytest.fixture(scope="module")
def figures() -> Mapping[str, Mapping[str, float]]:
    """What the benchmark measures of each host, this library alone."""
    command = [sys.executable, str(MEASURE), "--ours", "--json", "--turns", str(TURNS)]
    printed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    assert printed.returncode == 0, printed.stderr
    lines = [json.loads(line) for line in printed.stdout.splitlines()]
    return {line["host"]: line for line in lines}


@pytest.mark.parametrize("host", ["agentchat", "classic", "ag2", "agent-framework"])
def test_an_agent_works_on_for_as_long_as_it_likes(
    figures: Mapping[str, Mapping[str, float]], host: str
) -> None:
    """Nothing is refused, nothing that must stand is missing, between compactions requests only grow, and it resumes."""
    found = figures[host]
    assert found["requests"] == TURNS + TASKS
    assert (found["refused"], found["orphans"]) == (0, 0)
    assert (found["newest"], found["instruction"]) == (1, 1)
    assert 0.9 * WINDOW < found["largest_tokens"] <= WINDOW
    assert found["appending_between"] == 1
    assert found["appending"] >= 0.8
    assert found["resumes"]
