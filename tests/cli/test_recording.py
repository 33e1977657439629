"""What other programs recorded, read as one thing."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from autogen_core import FunctionCall, Image
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL.Image import new as new_image

from autogen_context.cli.recording import RecordedConversation, read_recording
from autogen_context.testing.conversation import conversation
from support.saying import says, step

Json = dict[str, object]

ASK = says("What is in a.txt?", "user")
CALL, RESULT = step("c1", "read", "ä\u2028ö")
SAID = says("An a and an o.")
MESSAGES = [ASK, CALL, RESULT, SAID]
NO_MESSAGES: Json = {"messages": []}
TOOL: Json = {"type": "function", "function": {"name": "read"}}

AGENTCHAT: list[Json] = [
    {"type": "UserMessage", "content": "What is in a.txt?", "source": "user"},
    {
        "type": "AssistantMessage",
        "content": [{"id": "c1", "name": "read", "arguments": "{}"}],
        "thought": "I look.",
        "source": "coder",
    },
    {
        "type": "FunctionExecutionResultMessage",
        "content": [{"content": "ä\u2028ö", "name": "read", "call_id": "c1", "is_error": False}],
    },
    {"type": "AssistantMessage", "content": "An a and an o.", "thought": None, "source": "coder"},
]
FROM_AGENTCHAT = [{**ASK, "name": "user"}, {**CALL, "content": "I look."}, RESULT, SAID]
STATE: Json = {
    "type": "AssistantAgentState",
    "version": "1.0.0",
    "llm_context": {"messages": AGENTCHAT},
}
CONTAINER: Json = {"type": "ChatAgentContainerState", "agent_state": STATE, "message_buffer": []}
MANAGER: Json = {
    "type": "RoundRobinManagerState",
    "message_thread": [{"type": "TextMessage", "source": "user", "content": "hi"}],
    "current_turn": 0,
}
TEAM: Json = {
    "type": "TeamState",
    "agent_states": {"a": CONTAINER, "b": CONTAINER, "manager": MANAGER},
}
SOCIETY: Json = {"type": "SocietyOfMindAgentState", "inner_team_state": TEAM}


Read = Callable[[str | bytes], list[RecordedConversation]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read a content as if it were a file of any name."""

    def written(content: str | bytes) -> list[RecordedConversation]:
        path = tmp_path / "recording"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_recording(str(path))

    return written


def lines(*values: object) -> str:
    """JSON Lines."""
    return "".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(json.dumps(MESSAGES), id="list"),
        pytest.param(json.dumps({"messages": MESSAGES}), id="object"),
        pytest.param(lines(*MESSAGES), id="message per line"),
        pytest.param(f"\n{lines(*MESSAGES)}\n\n".replace("\n", "\r\n"), id="blank lines, Windows"),
        pytest.param(json.dumps({"request": {"messages": MESSAGES}, "response": {}}), id="log"),
        pytest.param(
            json.dumps({"custom_id": "conversation", "body": {"messages": MESSAGES}}), id="batch"
        ),
        pytest.param(json.dumps({"chat_history": MESSAGES, "summary": ""}), id="chat result"),
        pytest.param(json.dumps([{"id": "conversation", "messages": MESSAGES}]), id="objects"),
    ],
)
def test_openai_messages_come_out_as_they_were_recorded(content: str, read: Read) -> None:
    """Whatever stands around them, and however it is packed: the content tells, not the name of the file."""
    for packed in (
        content.encode(),
        content.encode("utf-8-sig"),
        content.encode("utf-16"),
        gzip.compress(content.encode("utf-8-sig")),
    ):
        (found,) = read(packed)
        assert found.messages == MESSAGES
        assert found.id in ("conversation", "line 1")


def test_many_conversations_keep_their_order_names_models_and_tools(read: Read) -> None:
    """One per line, named by it where it has no name; what stands around a request holds for it unless it says otherwise."""
    first = {"id": 7, "model": "gpt-4.1", "tools": [TOOL], "messages": MESSAGES}
    older = {"messages": MESSAGES, "functions": [{"name": "read"}]}
    outer = {"id": "run", "model": "gpt-4.1", "tools": [TOOL]}
    inner = {**outer, "request": {"model": "gpt-4o", "messages": MESSAGES}}
    found = read(lines(first, older, NO_MESSAGES, {"custom_id": "x", "body": first}, inner))
    assert [(c.id, c.model, c.tools) for c in found] == [
        ("7", "gpt-4.1", [TOOL]),
        ("line 2", "", [TOOL]),
        ("7", "gpt-4.1", [TOOL]),
        ("run", "gpt-4o", [TOOL]),
    ]


def test_classic_agents_have_one_conversation_for_each_partner(read: Read) -> None:
    """``chat_messages``, with all results of a step in one message."""
    both = {
        "role": "tool",
        "content": "x\n\ny",
        "tool_responses": [
            {"tool_call_id": "c1", "role": "tool", "content": "x"},
            {"tool_call_id": "c2", "role": "tool", "content": "y"},
        ],
    }
    found = read(json.dumps({"critic": [ASK, CALL, both], "user": [ASK], "nobody": []}))
    assert [c.id for c in found] == ["critic", "user"]
    assert found[0].messages[2:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
        {"role": "tool", "tool_call_id": "c2", "content": "y"},
    ]


@pytest.mark.parametrize(
    ("state", "ids"),
    [
        (STATE, ["conversation"]),
        (AGENTCHAT, ["conversation"]),
        (TEAM, ["a", "b"]),
        (SOCIETY, ["a", "b"]),
    ],
)
def test_states_of_agentchat(state: object, ids: list[str], read: Read) -> None:
    """One conversation for each agent that was asked; what a manager keeps of the chat is none."""
    found = read(json.dumps(state))
    assert [c.id for c in found] == ids
    assert all(c.messages == FROM_AGENTCHAT for c in found)


async def test_a_state_that_autogen_really_saves_is_read(read: Read) -> None:
    """Each kind of message, an image among them."""
    call = FunctionCall(id="c1", name="read", arguments="{}")
    result = FunctionExecutionResult(content="x", name="read", call_id="c1")
    messages: list[LLMMessage] = [
        SystemMessage(content="Be brief."),
        UserMessage(content=["look", Image(new_image("RGB", (2, 2)))], source="user"),
        AssistantMessage(content=[call, call], source="coder"),
        FunctionExecutionResultMessage(content=[result, result]),
        AssistantMessage(content="done", source="coder"),
    ]
    context = UnboundedChatCompletionContext(initial_messages=messages)
    (found,) = read(json.dumps(await context.save_state()))
    roles = [message["role"] for message in found.messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert str(found.messages[1]["content"]).count("data:image/png;base64,") == 1


TEXT = json.dumps({"messages": conversation(turns=2, tokens_per_turn=30)}, indent=1)


@settings(max_examples=30)
@given(at=st.integers(1, len(TEXT) - 1))
def test_a_cut_off_file_is_an_error_that_says_so(
    at: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With line and column, wherever it ends."""
    path = tmp_path_factory.getbasetemp() / "cut.json"
    path.write_text(TEXT[:at])
    with pytest.raises(ValueError, match=r"cut\.json: line \d+, column \d+: ") as caught:
        read_recording(str(path))
    assert "cut off" in str(caught.value) or "no JSON" in str(caught.value)


GOOD = json.dumps(ASK)


BROKEN: list[tuple[str | bytes, str]] = [
    ("", "it is empty"),
    (f"{GOOD}\n{{oops}}\n{GOOD}\n", "line 2, column 2: this is no JSON"),
    (f'{{"role": "user"\n{GOOD}\n', "line 1, column 16: the text ends too early"),
    (f"{GOOD}\n\n{GOOD[:-5]}", "line 3, column 29: the text ends too early"),
    (f'{GOOD}\n{{"content": "x"}}', "line 2: a message needs a 'role'"),
    (f"{GOOD}\n3", "line 2: a message must be an object, got int"),
    (json.dumps({"messages": [{"content": "x"}]}), r"messages\[0\]: a message needs a 'role'"),
    (json.dumps({"messages": [ASK, 5]}), r"messages\[1\]: a message must be an object"),
    (json.dumps([{**ASK, "content": 5}]), r"\[0\]: content=5: give a string"),
    (lines({"messages": MESSAGES}, {"a": 1}), "line 2: no messages in it"),
    (lines({"messages": MESSAGES}, {"messages": [{"content": "x"}]}), r"line 2: messages\[0\]: "),
    (json.dumps({"messages": MANAGER["message_thread"]}), "'TextMessage' is nothing that a"),
    (json.dumps({"messages": [{**AGENTCHAT[2], "content": "x"}]}), "needs a list of results"),
    (json.dumps({"messages": [{**AGENTCHAT[1], "content": [1]}]}), "a call must be an object"),
    (json.dumps(NO_MESSAGES), "have no messages yet"),
    (json.dumps(["x", "y"]), "no messages in it; expected are"),
    ("3", "no messages in it"),
    ("[" * 200_000, "line 1: it is nested too deeply"),
    ("9" * 10_000, "line 1: .*digits"),
    (b'{"role": "user",\n "content": "\xff"}', "line 2: this is no text in utf-8; save it"),
    (gzip.compress(GOOD.encode())[:-9], "the gzip file is damaged"),
]


@pytest.mark.parametrize(("content", "complaint"), BROKEN, ids=[row[1] for row in BROKEN])
def test_a_file_that_cannot_be_read_is_an_error_with_the_place_and_the_way_out(
    content: str | bytes, complaint: str, read: Read
) -> None:
    """The file's name first."""
    with pytest.raises(ValueError, match=f"recording: .*{complaint}"):
        read(content)
