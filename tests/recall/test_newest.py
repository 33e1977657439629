"""What a person said last: no tool, no model and nobody of ours passes for one."""

import pytest
from hypothesis import given

from autogen_context.messages.message import Message, ToolResult
from autogen_context.recall.newest import newest_request, said_now
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from support.units import read_all

MESSAGES = (transcripts() | broken_transcripts()).map(read_all)
ASKED = Message(role="user", text=" What did I say? ")
RAN = Message(role="assistant", text="I run it.\n```bash\nls\n```")


@pytest.mark.parametrize(
    ("newest", "said"),
    [
        pytest.param(ASKED, "What did I say?", id="a person"),
        pytest.param(Message(role="user", text=""), "", id="nothing"),
        pytest.param(Message(role="assistant", text="What?"), "", id="the model"),
        pytest.param(Message(role="system", text="Be brief."), "", id="the system prompt"),
        pytest.param(Message(role="user", text="[3 earlier messages …]", own=True), "", id="our own"),
        pytest.param(
            Message(role="user", results=(ToolResult(call_id="1", text="What?"),)), "", id="a result"
        ),
        pytest.param(Message(role="user", text="<output>What?</output>"), "", id="output"),
        pytest.param(
            Message(role="user", text="<output>1</output>\nGo on."), "Go on.", id="output and words"
        ),
    ],
)  # fmt: skip  # a row a case
def test_who_speaks_now(newest: Message, said: str) -> None:
    """Behind a command of the model's; what was asked before still stands where nobody speaks now."""
    assert said_now([ASKED, RAN, newest]) == said
    assert newest_request([ASKED, RAN, newest]) == (said or "What did I say?")


def test_nobody_spoke() -> None:
    """Nothing is asked in an empty conversation."""
    assert said_now([]) == newest_request([]) == newest_request([RAN]) == ""


@given(MESSAGES)
def test_the_last_one_that_speaks_is_asked(messages: list[Message]) -> None:
    """It is what was said now, at the last time that somebody did."""
    spoken = [said_now(messages[: stop + 1]) for stop in range(len(messages))]
    assert newest_request(messages) == next((said for said in reversed(spoken) if said), "")
