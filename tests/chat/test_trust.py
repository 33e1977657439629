"""What a working folder that somebody else wrote can do to a chat: name an endpoint, a model, files; nothing more."""

import http.server
import os
import sys
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typing_extensions import override

from autogen_context.chat.settings import ChatSettings
from autogen_context.chat.terminal import Terminal
from autogen_context.cli.main import main

OWN_KEY = "sk-the-users-own"
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"


class Listener(http.server.ThreadingHTTPServer):
    """Anybody's endpoint: it refuses, and remembers the headers of each request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Refuses)
        self.seen: list[str] = []
        self.base_url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class Refuses(http.server.BaseHTTPRequestHandler):
    """Remembers what came."""

    def do_POST(self) -> None:
        """Refuse a request."""
        assert isinstance(self.server, Listener)
        self.server.seen.append(str(self.headers))
        self.send_error(401)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    """Anybody's endpoint, running."""
    with Listener() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> "Chatting":
    """A chat in a folder, of which nobody said anything."""
    for name in os.environ:
        if name.startswith("OPENAI_") or name in ("MAX_TOKENS", "DEBUG"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return Chatting(monkeypatch, capsys)


class Chatting:
    """Asks one question, and says what was shown."""

    def __init__(self, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._patch, self._capsys = patch, capsys

    def __call__(self, *arguments: str, said: str = "Hello?\n", **variables: str) -> str:
        """Run it; what stood in the terminal, without line ends."""
        for name, value in variables.items():
            self._patch.setenv(name, value)
        self._patch.setattr(sys, "stdin", StringIO(said))
        code = main(["chat", *arguments])
        shown = "".join(self._capsys.readouterr())
        assert code in (0, 2)
        return shown if "\x1b" in shown else " ".join(shown.split())


def test_a_key_never_goes_where_a_file_says(chat: Chatting, listener: Listener) -> None:
    """The key of the environment is for the endpoint of the environment: a URL in ``.env`` is not used beside it, and that is said."""
    Path(".env").write_text(f"OPENAI_BASE_URL={listener.base_url}\n")
    shown = chat("--limit", "900", said="exit\n", OPENAI_API_KEY=OWN_KEY)
    assert listener.seen == []
    assert "OPENAI_BASE_URL in .env is not used" in shown
    assert "gpt-4o-mini answers." in shown


@pytest.mark.parametrize(
    "name", ["OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"]
)
def test_nothing_that_a_client_sends_along_goes_where_a_file_says(
    name: str, chat: Chatting, listener: Listener
) -> None:
    """The client reads more of the environment than a key: while that is set the URL of a file is not used."""
    Path(".env").write_text(f"OPENAI_BASE_URL={listener.base_url}\nOPENAI_API_KEY=key-of-file\n")
    shown = chat("--limit", "900", **{name: f"Authorization: Bearer {OWN_KEY}"})
    assert listener.seen == []
    assert f"since {name} is set elsewhere" in shown
    assert "scripted model answers" in shown
    assert OWN_KEY not in shown


def test_a_file_is_believed_with_its_own_key_alone(chat: Chatting, listener: Listener) -> None:
    """It is named where the chat says who answers; nothing of the environment goes there, not by its name either."""
    Path(".env").write_text(
        f"OPENAI_BASE_URL={listener.base_url}\nOPENAI_API_KEY=key-of-file\nOPENAI_MODEL=m-${{HOME_SECRET}}\n"
    )
    shown = chat(HOME_SECRET=OWN_KEY)
    assert f"at {listener.base_url} (named in .env)" in shown
    assert listener.seen
    assert all("key-of-file" in headers for headers in listener.seen)
    assert OWN_KEY not in "".join(listener.seen) + shown


def test_a_key_of_a_file_is_named(chat: Chatting) -> None:
    """Whoever has the account behind it may read what is asked; of a key of the environment nothing is said."""
    Path(".env").write_text("OPENAI_API_KEY=key-of-file\n")
    assert "gpt-4o-mini answers (with the key in .env)." in chat(said="exit\n")
    assert "gpt-4o-mini answers." in chat(said="exit\n", OPENAI_API_KEY=OWN_KEY)


def test_a_url_that_a_person_names_has_the_key(chat: Chatting, listener: Listener) -> None:
    """On the command line, as ever."""
    Path(".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:9/v1\n")
    chat("--base-url", listener.base_url, OPENAI_API_KEY=OWN_KEY)
    assert listener.seen
    assert all(OWN_KEY in headers for headers in listener.seen)


@pytest.mark.parametrize("kind", ["link", "for all to write"])
def test_settings_that_others_may_write_are_not_used(chat: Chatting, kind: str) -> None:
    """Neither through a link; a warning says so."""
    Path("elsewhere").write_text("OPENAI_BASE_URL=http://127.0.0.1:9/v1\n")
    if kind == "link":
        Path(".env").symlink_to("elsewhere")
    else:
        Path("elsewhere").rename(".env").chmod(0o666)
    shown = chat(said="exit\n")
    assert "warning: .env is not used" in shown
    assert "scripted model answers" in shown


@pytest.mark.parametrize(
    "url", ["http://a\nb", "http://\x1b[2J/", "ftp://a/", "http://a:99999/", "a b"]
)
def test_a_url_that_is_none_is_an_error_in_one_line(chat: Chatting, url: str) -> None:
    """Whether it is typed or stands in the environment; nothing of it acts on the terminal."""
    for shown in (chat("--base-url", url), chat(OPENAI_BASE_URL=url)):
        assert "give an address like http" in shown
        assert "\x1b" not in shown
        assert "Traceback" not in shown


def test_a_log_is_never_written_through_a_link(chat: Chatting, tmp_path: Path) -> None:
    """What was linked stays as it was; the error names the file."""
    other = tmp_path / "other"
    other.write_text("mine")
    Path("chat_debug.log").symlink_to(other)
    assert "chat_debug.log" in chat(said="exit\n", DEBUG="1")
    assert other.read_text() == "mine"


async def test_nothing_foreign_acts_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and texts of entries, a saved conversation, what is asked: in each command that shows them."""
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / f"pump{ESCAPES}[red].md").write_text(
        f"# Pump {ESCAPES}\n\nThe pump costs 7 {ESCAPES} euros."
    )
    lines = f"What does the pump cost {ESCAPES}?\n/context\n/why pump\n/facts\nMy name is {ESCAPES}Ann.\n/facts\n/save one\n/load one\n"
    lines += f"/nothing{ESCAPES}\n/load {ESCAPES}\n/pin {ESCAPES}\n/limit {ESCAPES}\nexit\n"
    monkeypatch.setattr(sys, "stdin", StringIO(lines))
    shown = StringIO()
    settings = ChatSettings(knowledge=tmp_path / "kb", folder=tmp_path / "saved")
    terminal = Terminal(settings, Console(file=shown, force_terminal=False, width=200))
    assert await terminal.run() == 0
    text = shown.getvalue()
    assert "Loaded one: 2 questions" in text
    assert "(red).md" in text  # as it is cited: in brackets of its own
    assert all(char.isprintable() or char == "\n" for char in text)
