"""The examples, run as a user would run them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(Path(__file__).parents[1].joinpath("examples").glob("*.py"))
SHORT = 60  # lines; a longer example is not read
UNREACHABLE = "http://127.0.0.1:9"  # nobody listens there, so who leaves this machine fails
OFFLINE = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), UNREACHABLE),
    **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), UNREACHABLE),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
}

each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)


def test_there_are_examples() -> None:
    """Without any the tests below would hold, too."""
    assert EXAMPLES


@each_example
def test_an_example_runs_quietly_without_a_network(example: Path, tmp_path: Path) -> None:
    """It ends well, says something, and warns of nothing, wherever it is run."""
    run = subprocess.run(  # noqa: S603  our own examples
        [sys.executable, example],
        cwd=tmp_path,
        env=os.environ | OFFLINE,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.strip()
    assert not list(tmp_path.iterdir())


@each_example
def test_an_example_is_short(example: Path) -> None:
    """It is read in a minute."""
    assert len(example.read_text(encoding="utf-8").splitlines()) < SHORT
