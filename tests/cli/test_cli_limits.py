"""The ``limits`` command, as a user sees it."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import autogen_context
from autogen_context.cli import limits as command
from autogen_context.cli.main import main
from autogen_context.errors import StateError
from autogen_context.testing import LoopbackServer, ScriptedModel
from autogen_context.tokens.limits import known_rows


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a home without any limits of a user."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


def shown(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """What the command prints, having done well and complained of nothing."""
    assert main(argv) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_a_model_is_shown_with_its_source_and_the_chain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Limit and source first, each source in order, an arrow at the one that answered."""
    out = shown(capsys, "limits", "gpt-4o")
    assert out.startswith("gpt-4o: 128,000 input tokens (known)\n")
    chain = [line[5:].split()[0] for line in out.splitlines()[8:]]
    assert [Path(source).name for source in chain] == [
        "environment",
        *["model_limits.json"] * 3,
        "discovery",
        "known",
        "inference",
        "default",
    ]
    assert [line[5:].split()[0] for line in out.splitlines() if line.startswith("  ->")] == [
        "known"
    ]


def test_the_environment_wins_and_is_the_way_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user sees that his variable works, and for an unknown model which one to set."""
    monkeypatch.setenv("MODEL_LIMIT_GPT_4O", "5000")
    out = shown(capsys, "limits", "openai/gpt-4o")
    assert "5,000 input tokens (environment MODEL_LIMIT_GPT_4O)" in out
    assert "export MODEL_LIMIT_MY_MODEL=" in shown(capsys, "limits", "acme/my-model")


def test_the_known_models_are_shown_by_provider_within_80_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each model once, under its provider, on a line that fits."""
    lines = shown(capsys, "limits").splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("  ") for line in lines) == len(known_rows())
    providers = {row.provider for row in known_rows().values()}
    assert {line.split()[0] for line in lines if line.endswith("window")} == providers


def test_an_endpoint_can_be_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Since the user named the address."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with LoopbackServer(ScriptedModel([]), window_tokens=4096, model_names=["m"]) as server:
        url = server.base_url
        out = shown(capsys, "limits", "m", "--discover", url)
    assert f"4,096 input tokens (discovery {url.removesuffix('/v1')})" in out


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["limits", " "], "model=' '"),
        (["limits", "m", "--discover", "ftp://x"], "ftp://x"),
        (["limits", "--discover", "http://x/v1"], "--discover"),
    ],
)
def test_a_mistake_is_one_line(
    argv: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, what was wrong, no traceback."""
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("autogen-context: error: ")
    assert named in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [(StateError("m"), 2), (OSError("two\nlines"), 2), (KeyboardInterrupt(), 130)],
    ids=["ours", "system", "ctrl-c"],
)
def test_errors_become_exit_codes(
    error: BaseException,
    code: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Any subcommand's errors, in one line at most."""

    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(command, "ModelLimits", fail)
    assert main(["limits", "m"]) == code
    assert capsys.readouterr().err.count("\n") <= 1


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        ([], "Missing command"),
        (["limit"], "Did you mean 'limits'?"),
        (["limits", "a", "\x1b[2J"], "unexpected extra argument(s) (\\x1b[2J)"),
        (["replay"], "FILE"),
        (["cache", "look"], "'stats', 'verify', 'clear'"),
        (["replay", "f", "--all", "--every", "2"], "--every 2"),
    ],
)
def test_wrong_usage_is_exit_code_2(
    argv: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line that names it."""
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("autogen-context: error: ")
    assert named in captured.err
    assert captured.err.count("\n") == 1


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    """A number, alone."""
    assert shown(capsys, "--version") == f"{autogen_context.__version__}\n"


def test_the_limits_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """What the tables say."""
    found = json.loads(shown(capsys, "limits", "gpt-4o", "--json"))
    assert (found["input_tokens"], found["source"]) == (128_000, "known")
    assert [step["source"] for step in found["asked"]][-3:] == ["known", "inference", "default"]
    assert len(json.loads(shown(capsys, "limits", "--json"))) == len(known_rows())


LOADED = """
import sys
from autogen_context.cli.main import main
for argv in (["--version"], ["--help"], ["limits", "gpt-4o"]):
    assert main(argv) == 0
    print("loaded", *sys.modules)
"""


def ran(code: str) -> subprocess.CompletedProcess[str]:
    """A process of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own


def test_only_what_is_named_is_loaded() -> None:
    """A prompt is there at once."""
    lines = [line.split() for line in ran(LOADED).stdout.splitlines()]
    version, usage, limits = (set(line) for line in lines if line[:1] == ["loaded"])
    heavy = {"autogen_context.manager", "autogen_context.chat", "autogen_core", "openai", "jinja2"}
    assert not (version | usage | limits) & heavy
    assert "autogen_context.tokens.limits" in limits - usage


def test_the_plain_install_says_what_the_command_lacks() -> None:
    """D4: in one line."""
    run = "import runpy; runpy.run_module('autogen_context', run_name='__main__', alter_sys=True)"
    done = ran(f"import sys; sys.modules['typer'] = None; {run}")
    assert done.returncode == 2
    assert done.stdout == ""
    assert 'pip install "autogen-context[cli]"' in done.stderr.splitlines()[0]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_the_commands(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what typer writes for it."""
    monkeypatch.setenv("COMP_WORDS", "autogen-context li")
    monkeypatch.setenv("COMP_CWORD", "1")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "autogen-context li")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_AUTOGEN_CONTEXT_COMPLETE", f"complete_{shell}")
    with suppress(SystemExit):
        main([])
    shown = capsys.readouterr().out
    assert "limits" in shown
    assert "replay" not in shown


def test_a_reader_that_leaves_is_no_error() -> None:
    """As in ``autogen-context limits | head -1``."""
    code = "from autogen_context.cli.main import run; run()"
    # With a buffer, as users run it: what is left in it shows at exit.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", code, "limits"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
