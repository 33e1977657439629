"""The examples, run as a user would run them."""

import runpy
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
def test_an_example_runs_quietly_without_a_network(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It ends well, says something, and warns of nothing, wherever it is run."""
    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    said = capfd.readouterr()
    assert said.err == ""
    assert said.out.strip()
    assert not list(tmp_path.iterdir())


@each_example
def test_an_example_is_short(example: Path) -> None:
    """It is read in a minute."""
    assert len(example.read_text(encoding="utf-8").splitlines()) < SHORT
