"""The demo, run as ``make demo`` runs it: what it prints is true, and enough."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "examples" / "demo"
WINDOW_TOKENS = 8_000
UNREACHABLE = "http://127.0.0.1:9"  # nobody listens there, so who leaves this machine fails
ROW = re.compile(r" *(\d+) +([\d,]+) +([\d,]+) +([\d,]+) +(\d+) +(\d+\.\d\d)  (hold|compacted: .+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run of the demo left behind."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """What it printed, in one line."""
        return " ".join(self.out.split())

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The rows of the table of turns."""
        return [found.groups() for line in self.out.splitlines() if (found := ROW.fullmatch(line))]

    def number(self, before: str, after: str = "") -> float:
        """The number that stands between two texts."""
        found = re.search(rf"{before} ([\d,]*\d(?:\.\d+)?){after}", self.text)
        assert found, f"no number after {before!r}"
        return float(found[1].replace(",", ""))


def start(columns: int) -> "subprocess.Popen[str]":
    """Run the demo with its output in a pipe."""
    offline = {"HTTP_PROXY": UNREACHABLE, "HTTPS_PROXY": UNREACHABLE, "NO_PROXY": "127.0.0.1"}
    return subprocess.Popen(  # noqa: S603  our own demo
        [sys.executable, DEMO / "run.py"],
        env=os.environ | offline | {"COLUMNS": str(columns)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def project() -> dict[str, str]:
    """The files of the project that the demo ships, by their digests."""
    files = (path for path in DEMO.joinpath("project").rglob("*") if path.is_file())
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def runs() -> Iterator[tuple[Run, Run]]:
    """Two runs at the same time, at 80 and at 120 columns; the project stays as it was shipped."""
    before = project()
    both = start(80), start(120)
    try:
        yield finished(both[0]), finished(both[1])
    finally:
        for process in both:
            process.kill()  # what has ended is left alone
    assert project() == before


def finished(process: "subprocess.Popen[str]") -> Run:
    """What a run came to."""
    out, err = process.communicate(timeout=180)
    return Run(code=process.returncode, out=out, err=err)


@pytest.fixture
def run(runs: tuple[Run, Run]) -> Run:
    """The run at 80 columns."""
    return runs[0]


def test_what_it_prints_is_true_and_enough(run: Run) -> None:
    """Quietly, many requests of a conversation far larger than the window, none above it, counted as the server counts."""
    assert (run.code, run.err) == (0, "")
    assert "\x1b" not in run.out
    assert run.number("whole conversation has") > 60_000
    assert run.number("in a window of") == WINDOW_TOKENS
    assert run.number("The agent made") > 50
    assert 0.8 * WINDOW_TOKENS < run.number("The largest has") <= WINDOW_TOKENS
    assert run.number("the server rejected") == 0
    assert "What is counted here is, in each request, at least what the server counted." in run.text
    assert "the model is a script, so nothing is claimed about the quality of answers" in run.text


def test_sending_everything_would_have_been_rejected_early(run: Run) -> None:
    """What the paragraph says is what the table says: from the first row above the window on."""
    rejected_from = run.number("rejected from request")
    assert 1 < rejected_from < 10
    for turn, _, history, *_ in run.rows:
        is_above = int(history.replace(",", "")) > WINDOW_TOKENS
        assert is_above == (int(turn) >= rejected_from)


def test_the_model_found_what_it_needs_in_every_request(run: Run) -> None:
    """The task and its rule to the letter, each newest result; the answer quotes the test run that it was sent last."""
    requests = run.number("The agent made")
    assert f"to the letter, in {requests:.0f} of {requests:.0f} requests" in run.text
    assert run.number("results of its newest calls") == 0
    assert run.number("were missing, and", " had given way") <= requests / 5
    assert run.number("All tests pass \\(Ran", " tests") > 100
    assert "the tests of the project pass" in run.text


def test_it_costs_less_than_everything_and_less_than_a_sliding_window(run: Run) -> None:
    """Both shares are below 1, and the paragraph has the share of the table."""
    share = run.number("the input cost", " of sending everything")
    assert 0 < share < 0.5
    assert run.number("and", " of a sliding window") < 1
    assert f"ratio 1.00 {share:.2f}" in run.text


def test_the_table_is_readable(run: Run) -> None:
    """Some forty rows, every compaction among them; no line is wider than 80 columns."""
    assert 20 <= len(run.rows) <= 45
    compactions = sum(row[-1].startswith("compacted") for row in run.rows)
    assert compactions == run.number("The history was cut") >= 5
    assert max(map(len, run.out.splitlines())) <= 80


def test_two_runs_say_the_same(runs: tuple[Run, Run]) -> None:
    """Times, temporary folders and the width of the terminal leave no trace in what is counted."""
    narrow, wide = runs
    assert narrow.text == wide.text
    assert narrow.out != wide.out


def test_the_project_is_broken_as_shipped() -> None:
    """There is something to repair."""
    tests = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "discover", "-t", ".", "-s", "roombook/tests"],
        cwd=DEMO / "project",
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 1
    assert re.search(r"FAILED \(failures=\d+, errors=\d+\)", tests.stderr)


def test_the_story_is_told_in_a_short_program() -> None:
    """What is run is read in a few minutes."""
    assert len(DEMO.joinpath("run.py").read_text(encoding="utf-8").splitlines()) < 120
