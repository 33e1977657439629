"""The command as a user sees it: fixtures that run it in a folder and a home without settings."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autogen_context.cli.main import main


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a home without any limits or settings of a user."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("AUTOGEN_CONTEXT_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the command: what it prints, ending with a code and complaining of nothing."""

    def run(*argv: object, code: int = 0) -> str:
        assert main([*map(str, argv)]) == code
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the command in vain: exit code 2, nothing printed, and one line that says what was wrong."""

    def run(*argv: object) -> str:
        assert main([*map(str, argv)]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n")) == ("", 1)
        assert captured.err.startswith("autogen-context: error: ")
        return captured.err

    return run
