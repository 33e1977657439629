"""What a person at a terminal sees."""

import fcntl
import os
import resource
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pexpect
import pytest
from pexpect.fdpexpect import fdspawn

import autogen_context.chat.session  # which each process of a chat would import
from autogen_context.cli.main import main
from autogen_context.testing import Fault, LoopbackServer, Request, Say, ScriptedModel
from support.forks import ended, forked

assert autogen_context.chat.session
WAIT_S = 60
READY = r">\x1b\[0m"
CTRL_C, CTRL_D = "\x03", "\x04"


def begin(folder: Path, *arguments: str, most_bytes: int = -1, **variables: str) -> int:
    """Chat in a folder, in a process to which nobody said anything of models, but for these; the exit code."""
    for name in [each for each in os.environ if each.startswith(("OPENAI", "MAX_TOKENS", "DEBUG"))]:
        del os.environ[name]
    os.environ.update({"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **variables})
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, -1))
    return main(["chat", *arguments])


class Chat:
    """A chat in a terminal."""

    def __init__(
        self, folder: Path, *arguments: str, most_bytes: int = -1, **variables: str
    ) -> None:
        def run() -> int:
            resized(0, 40, 120)
            return begin(folder, *arguments, most_bytes=most_bytes, **variables)

        self.pid, self.terminal = forked(run, has_terminal=True)
        self.child: fdspawn[str] = fdspawn(self.terminal, encoding="utf-8", timeout=WAIT_S)

    def say(self, text: str, *expected: str) -> None:
        """Type a line, and wait for what it shows and for the next prompt."""
        self.child.send(text)
        time.sleep(0.1)
        self.child.send("\r")
        for each in (*expected, READY):
            self.child.expect(each)

    def end(self) -> int:
        """Wait for the end; the exit code."""
        self.child.expect(pexpect.EOF)
        return ended(self.pid)


def resized(terminal: int, lines: int, columns: int) -> None:
    """Give a terminal another size."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with one entry of knowledge."""
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "borin.md").write_text(
        "# The Borin pump\n\nThe Borin pump costs 1007 euros.\n"
    )
    return tmp_path


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A model at an endpoint."""
    with LoopbackServer(ScriptedModel(lambda _: Say("All is well."))) as running:
        yield running


def test_every_command(folder: Path) -> None:
    """Each does what /help says, and a wrong one is one line; the end saves."""
    chat = Chat(folder, "--knowledge", "kb")
    chat.child.expect("scripted")
    chat.child.expect(READY)
    chat.say("/help", "/branch", "Ctrl-C")
    chat.say("My name is Ann.", "Ann")
    chat.say("What does the Borin pump cost?", r"1007 euros\. \[borin\.md\]", "Sources: borin.md")
    chat.say("/context", "knowledge", "40 %", r"of 1,500 tokens", r"entry +\[borin\.md\]")
    chat.say("/why Borin", "keep", r"\[borin\.md\] is in the last request")
    chat.say("/pin Ann", "Pinned")
    chat.say("/facts", r"1\. My name is Ann")
    chat.say("/facts edit 1 My name is Anne", "Now: My name is Anne")
    chat.say("/facts delete 1", "Forgotten: My name is Anne")
    chat.say("/facts delete 7", "error: there is no fact '7'")
    chat.say("/save pumps", r"saved_conversations/pumps\.md")
    chat.say("/branch other", "pumps stays as it is")
    chat.say("/load pumps", r"What you leave is saved in .*other\.md", "Loaded pumps: 2 questions")
    chat.say("/load nothing", "error: there is no conversation 'nothing'")
    chat.say("/limit 900", "at most 900 tokens")
    chat.say("/limit few", "error: ")
    chat.say("/model", "scripted")
    chat.say("/nothing", "There is no command /nothing")
    (folder / "kb" / "borin.md").write_text(
        "# The Borin pump\n\nThe Borin pump costs 2222 euros.\n"
    )
    (folder / "kb" / "list.json").write_text("{broken")
    resized(chat.terminal, 20, 60)
    chat.say("And what does the Borin pump cost now?", "list.json' is no valid JSON", "2222")
    chat.child.send("exit\r")
    assert chat.end() == 0
    names = {path.name for path in (folder / "saved_conversations").glob("*.md")}
    assert names == {"chat.md", "other.md", "pumps.md"}


def test_ctrl_c_ends_an_answer_and_not_the_chat(folder: Path) -> None:
    """The question is kept, Enter asks again, and Ctrl-D ends it."""
    asked, go_on = Event(), Event()

    def answer(_: Request) -> Say:
        asked.set()
        go_on.wait(WAIT_S)
        return Say("All is well.")

    with LoopbackServer(ScriptedModel(answer)) as server:
        chat = Chat(folder, OPENAI_BASE_URL=server.base_url)
        chat.child.expect(READY)
        chat.child.send("How are you?\r")
        assert asked.wait(WAIT_S)
        chat.child.send(CTRL_C)
        chat.child.expect(r"Stopped\. Press Enter to ask again")
        go_on.set()
        chat.child.expect(READY)
        chat.say("", r"All is well\.")
        time.sleep(1)  # the prompt is drawn twice
        chat.child.send(CTRL_C)
        chat.child.expect("Ctrl-D or exit")
        chat.child.expect(READY)
        chat.child.send(CTRL_D)
        assert chat.end() == 0
        text = (folder / "saved_conversations" / "chat.md").read_text()
        assert text == "# chat\n\n> How are you?\n\nAll is well.\n"


def test_a_killed_process_damages_nothing(folder: Path, server: LoopbackServer) -> None:
    """What was answered is saved, and another process goes on from it."""
    chat = Chat(folder, OPENAI_BASE_URL=server.base_url)
    chat.child.expect(READY)
    chat.say("My name is Ann.", "All is well")
    server.inject(Fault.slow(30))
    chat.child.send("And I live in Graz.\r")
    time.sleep(1)
    os.kill(chat.pid, signal.SIGKILL)
    assert chat.end() == -signal.SIGKILL
    chat = Chat(folder, "--load", "chat", OPENAI_BASE_URL=server.base_url)
    chat.child.expect("Loaded chat: 1 questions")
    chat.child.expect(READY)
    chat.say("/facts", r"1\. My name is Ann")
    chat.child.send(CTRL_D)
    assert chat.end() == 0


def test_what_goes_wrong_is_said_in_words(folder: Path, server: LoopbackServer) -> None:
    """What was typed is kept, and Enter asks again."""
    chat = Chat(folder, OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="wrong")
    chat.child.expect(READY)
    for faults, reason in (
        ([Fault.error(401)], "refuses the key"),
        ([Fault.error(404)], "knows no model"),
        ([Fault.drop(before_headers=True)] * 2, "cannot be reached"),
    ):
        server.inject(*faults)
        chat.say("How are you?", reason, "press Enter to ask again")
        chat.say("", r"All is well\.")
    chat.child.send(CTRL_D)
    assert chat.end() == 0


def test_a_full_disk_is_said_and_damages_nothing(folder: Path, server: LoopbackServer) -> None:
    """What was saved before is there still, and who leaves is asked again."""
    saved = folder / "saved_conversations" / "chat.json"
    saved.parent.mkdir()
    saved.write_text("{}")
    chat = Chat(folder, "--knowledge", "kb", most_bytes=1_024, OPENAI_BASE_URL=server.base_url)
    chat.child.expect(READY)
    chat.say("What does the Borin pump cost?", "All is well", "error: not saved: File too large")
    chat.say("/save other", "error: File too large")
    chat.say("exit", "error: not saved", "exit once more leaves without saving")
    chat.child.send("exit\r")
    assert chat.end() == 2
    files = {path.name for path in saved.parent.glob("*.*") if path.is_file()}
    assert files == {".history", "chat.json"}
    assert saved.read_text() == "{}"


def test_lines_from_a_pipe_without_a_network(folder: Path) -> None:
    """Each line is a question, what goes wrong is said, nothing moves the cursor, and ``.env`` has been read."""
    (folder / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:9/v1\nMAX_TOKENS=900\n")
    (folder / "said").write_text("What does the Borin pump cost?\n/limit\n/nothing\n")

    def run() -> int:
        sys.stdin, sys.stdout = (folder / "said").open(), (folder / "shown").open("w")
        return begin(folder, "--knowledge", "kb")

    assert ended(forked(run)[0]) == 0
    shown = (folder / "shown").read_text()
    assert "http://127.0.0.1:9/v1 cannot be reached" in shown
    assert "There is no command /nothing" in shown
    assert "at most 900 tokens" in shown
    assert "\x1b" not in shown
