"""The command itself: usage, errors and exit codes, what it loads, completion, and ``limits``."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import autogen_context
from autogen_context.cli import limits as command
from autogen_context.cli.main import main
from autogen_context.errors import StateError
from autogen_context.testing import LoopbackServer, ScriptedModel
from autogen_context.testing.conversation import conversation
from autogen_context.tokens.limits import known_rows

Run = Callable[..., str]
pytestmark = pytest.mark.usefixtures("alone")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("", "Missing command"),
        ("limit", "Did you mean 'limits'?"),
        ("limits a \x1b[2J", "unexpected extra argument(s) (\\x1b[2J)"),
        ("replay", "FILE"),
        ("cache look", "'stats', 'verify', 'clear'"),
        ("cache stats --directory none", "there is no cache in"),
        ("cache verify --directory none", "there is no cache in"),
        ("cache clear --directory none", "there is no cache in"),
        ("limits \t", "model='\\t'"),
        ("limits m --discover ftp://x", "ftp://x"),
        ("limits --discover http://x/v1", "--discover"),
        ("replay f --all --every 2", "--every 2"),
        ("replay none.json", "none.json: it cannot be read (No such file or directory); check"),
        ("replay .", "it cannot be read (Is a directory)"),
        ("replay run.json --window -5", "error: 'window_tokens' is -5"),
        (f"replay run.json --window {'9' * 20}", f"error: 'window_tokens' is {'9' * 20}: "),  # F21
        ("replay run.json --window 100 --reserve 200", "reserve_tokens"),
        ("replay run.json --config none.toml", "none.toml"),
        ("replay run.json --conversation x", "a number from 1 to 1, or an id such as"),
        ("replay run.json --conversation 0", "--conversation 0"),
        ("replay run.json --every 0", "'--every': Input should be greater than or equal to 1"),
        ("replay run.json --model ?", "model='?'"),
    ],
)
def test_a_mistake_is_one_line(line: str, named: str, refused: Run) -> None:
    """It names what was wrong, without a traceback, and makes nothing."""
    Path("run.json").write_text(json.dumps(conversation(turns=3)))
    assert named in refused(*line.split(" ") if line else [])
    assert not Path("none").exists()


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


LOADED = """
import sys
from autogen_context.cli.main import main
for argv in (["--version"], ["--help"], ["limits", "gpt-4o"]):
    assert main(argv) == 0
    print("loaded", *sys.modules)
"""


def ran(code: str) -> subprocess.CompletedProcess[str]:
    """A process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 - our own


def test_only_what_is_named_is_loaded() -> None:
    """The version is the package's, and a prompt is there at once."""
    lines = [line.split() for line in ran(LOADED).stdout.splitlines()]
    assert lines[0] == [autogen_context.__version__]
    version, usage, limits = (set(line) for line in lines if line[:1] == ["loaded"])
    heavy = {"autogen_context.manager", "autogen_context.chat", "autogen_core", "openai", "jinja2"}
    assert not (version | usage | limits) & heavy
    assert "autogen_context.tokens.limits" in limits - usage


def test_the_plain_install_says_what_the_command_lacks() -> None:
    """D4: in one line."""
    run = "import runpy; runpy.run_module('autogen_context', run_name='__main__', alter_sys=True)"
    done = ran(f"import sys; sys.modules['typer'] = None; {run}")
    assert (done.returncode, done.stdout) == (2, "")
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


# limits


def test_a_model_is_shown_with_its_source_and_the_chain(shown: Run) -> None:
    """Limit and source first, each source in order, an arrow at the one that answered; as JSON the same."""
    out = shown("limits", "gpt-4o")
    assert out.startswith("gpt-4o: 128,000 input tokens (known)\n")
    chain = [line[5:].split()[0] for line in out.splitlines()[8:]]
    names = ["environment", *["model_limits.json"] * 3, *("discovery", "known", "inference")]
    assert [Path(source).name for source in chain] == [*names, "default"]
    arrows = [line[5:].split()[0] for line in out.splitlines() if line.startswith("  ->")]
    assert arrows == ["known"]
    found = json.loads(shown("limits", "gpt-4o", "--json"))
    assert (found["input_tokens"], found["source"]) == (128_000, "known")
    assert [step["source"] for step in found["asked"]] == chain


def test_the_environment_wins_and_is_the_way_out(
    shown: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user sees that his variable works, and for an unknown model which one to set."""
    monkeypatch.setenv("MODEL_LIMIT_GPT_4O", "5000")
    out = shown("limits", "openai/gpt-4o")
    assert "5,000 input tokens (environment MODEL_LIMIT_GPT_4O)" in out
    assert "export MODEL_LIMIT_MY_MODEL=" in shown("limits", "acme/my-model")


def test_the_known_models_are_shown_by_provider_within_80_columns(shown: Run) -> None:
    """Each model once, under its provider, on a line that fits."""
    lines, rows = shown("limits").splitlines(), known_rows()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("  ") for line in lines) == len(rows)
    providers = {row.provider for row in rows.values()}
    assert {line.split()[0] for line in lines if line.endswith("window")} == providers
    assert len(json.loads(shown("limits", "--json"))) == len(rows)


def test_an_endpoint_can_be_asked(shown: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """L4: since the user named the address."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with LoopbackServer(ScriptedModel([]), window_tokens=4096, model_names=["m"]) as server:
        url = server.base_url
        out = shown("limits", "m", "--discover", url)
    assert f"4,096 input tokens (discovery {url.removesuffix('/v1')})" in out
