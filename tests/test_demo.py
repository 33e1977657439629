"""The demo, run as ``make demo`` runs it: what it prints is true, and enough."""

import io
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree as ET

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


def project() -> dict[str, str]:
    """The files of the project that the demo ships, by their digests."""
    files = (path for path in DEMO.joinpath("project").rglob("*") if path.is_file())
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, Run]]:
    """Two runs, at 80 and at 120 columns; the project stays as it was shipped."""
    before, modules = project(), set(sys.modules)
    yield (
        finished(tmp_path_factory.mktemp("demo"), 80),
        finished(tmp_path_factory.mktemp("demo"), 120),
    )
    assert project() == before
    for name in (path.stem for path in DEMO.glob("*.py")):
        sys.modules.pop(name, None) if name not in modules else None


def finished(folder: Path, columns: int) -> Run:
    """What a run came to, with its output in a pipe."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            patch.setenv(name, UNREACHABLE)
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.setenv("COLUMNS", str(columns))
        patch.setattr(sys, "argv", ["run.py", "--table", "--svg", "picture.svg"])
        patch.setattr(sys, "path", [str(DEMO), *sys.path])
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            runpy.run_path(str(DEMO / "run.py"), run_name="__main__")
    code = ended.value.code
    return Run(code=code if isinstance(code, int) else 1, out=out.getvalue(), err=err.getvalue())


@pytest.fixture
def run(runs: tuple[Run, Run]) -> Run:
    """The run at 80 columns."""
    return runs[0]


def test_the_result_comes_first(run: Run) -> None:
    """In one sentence: none rejected, for a fraction of the price; quietly, without colours in a pipe."""
    assert (run.code, run.err) == (0, "")
    assert "\x1b" not in run.out
    assert re.match(
        rf"\d+ requests in a window of {WINDOW_TOKENS:,} tokens: 0 rejected, \$\d\.\d\d of input instead of \$\d\.\d\d; "
        "the project's tests pass.",
        run.text,
    )


def cells(run: Run, way: str) -> tuple[float, ...]:
    """What the picture says of a way: rejected, dollars, the largest request, percent of the values."""
    (line,) = [line for line in run.out.splitlines() if line.startswith(f"{way}  ")]
    found = re.findall(r"[\d.,]+", line.removeprefix(way))
    return tuple(float(number.replace(",", "")) for number in found)


def test_before_and_after(run: Run) -> None:
    """Everything is rejected early; what was sent fits, costs less than a sliding window, and keeps more."""
    everything, sliding, ours = (
        cells(run, way) for way in ("everything", "sliding window", "autogen_context")
    )
    requests = float(run.text.split()[0])
    assert requests > 50
    assert everything[0] > 0.9 * requests
    assert everything[2] > 60_000
    assert ours[0] == 0
    assert 0.8 * WINDOW_TOKENS < ours[2] <= WINDOW_TOKENS
    assert ours[1] < sliding[1] < everything[1] / 2
    assert everything[3] == 100 > ours[3] > sliding[3]


def test_the_page_has_the_prices_of_the_terminal(run: Run) -> None:
    """Of each way, to the cent."""
    page = Path(run.out.splitlines()[-1].partition("as a page: ")[2]).read_text("utf-8")
    table = re.sub(r"<[^>]+>|\s+", " ", page.partition("did it cost?")[2])
    for way, name in (("as sent", "autogen_context"), ("sliding window",) * 2, ("everything",) * 2):
        found = re.search(rf"\b{way} +[\d,]+ +(\d+\.\d{{4}}) ", table)
        assert found
        assert round(float(found[1]), 2) == cells(run, name)[1]


def test_the_picture_is_what_the_table_says(run: Run) -> None:
    """Sums, and the first request above the window."""
    everything, _, ours = (
        cells(run, way) for way in ("everything", "sliding window", "autogen_context")
    )
    assert f"above the limit of 8,000, rejected {everything[0]:.0f} 0" in run.text
    assert f"largest, tokens {everything[2]:,.0f} {ours[2]:,.0f}" in run.text
    first = run.number("rejected from request")
    assert 1 < first < 10
    for turn, _, history, *_ in run.rows:
        is_above = int(history.replace(",", "")) > WINDOW_TOKENS
        assert is_above == (int(turn) >= first)


def test_the_model_saw_its_newest_results(run: Run) -> None:
    """The answer quotes the test run that it was sent last; few results were shortened, and it says what is a script."""
    assert run.number("All tests pass \\(Ran", " tests") > 100
    assert run.number("each of its newest results,") <= float(run.text.split()[0]) / 5
    assert "the model is a script, so nothing is said about answers" in run.text


def test_there_is_a_page_and_a_picture(runs: tuple[Run, Run]) -> None:
    """The page's path ends what is printed; the picture is the same in both runs, and of the kind that the README shows."""
    drawn: set[str] = set()
    for run in runs:
        page = Path(run.out.splitlines()[-1].partition("as a page: ")[2])
        assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
        drawn.add(page.with_name("picture.svg").read_text("utf-8"))
    (picture,) = drawn
    assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 - our own text
    shown = DEMO.parents[1].joinpath("docs", "demo.svg").read_text("utf-8")
    style = slice(picture.index("<style>"), picture.index("</style>"))
    assert picture[style] in shown


def test_the_table_is_readable(run: Run) -> None:
    """Some forty rows, every compaction among them; no line is wider than 80 columns."""
    assert 20 <= len(run.rows) <= 45
    compactions = sum(row[-1].startswith("compacted") for row in run.rows)
    assert compactions == run.number("and was cut") >= 5
    lines = [line for line in run.out.splitlines() if not line.startswith("What was sent")]
    assert max(map(len, lines)) <= 80


def test_two_runs_say_the_same(runs: tuple[Run, Run]) -> None:
    """Times, temporary folders and the width of the terminal leave no trace in what is counted."""
    narrow, wide = (run.text.partition("as a page")[0] for run in runs)
    assert narrow == wide
    assert runs[0].out.splitlines()[:2] != runs[1].out.splitlines()[:2]


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
    assert len(DEMO.joinpath("run.py").read_text(encoding="utf-8").splitlines()) < 150
