"""Messages of autogen-agentchat, read and written: nothing is lost, nothing is changed in place, all that is sent counts."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import cast

import pytest
from autogen_core import FunctionCall
from autogen_core import Image as HostImage
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.models.openai._openai_client import to_oai_type
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as PILImage

from autogen_context.adapters.agentchat import AgentChatFormat
from autogen_context.manager.compaction import notice_of
from autogen_context.messages.message import Image, Message, ToolCall, ToolResult
from autogen_context.messages.piece import RoleRules, Verbatim, messages_of
from autogen_context.messages.segment import as_user
from autogen_context.testing import ChatMessage
from autogen_context.testing.usage import message_tokens
from autogen_context.tokens.measure import Count
from autogen_context.tokens.message_counter import MessageCounter

HOST = AgentChatFormat()

TEXTS = st.text(max_size=20)
NAMES = st.sampled_from(["user", "coder", "autogen_context"])


def image(width: int, height: int, colour: int = 0) -> HostImage:
    """An image of one colour."""
    return HostImage(PILImage.new("RGB", (width, height), (colour, 0, 0)))


IMAGES = st.builds(image, st.integers(1, 3), st.integers(1, 3), st.integers(0, 2))
SYSTEMS = st.builds(SystemMessage, content=TEXTS)
USERS = st.builds(UserMessage, content=TEXTS | st.lists(TEXTS | IMAGES, max_size=3), source=NAMES)
ONE_TEXT = st.lists(IMAGES, min_size=1, max_size=2).flatmap(
    lambda images: st.sampled_from([images, ["text", *images], [*images, "text"]])
)
PLAIN_USERS = st.builds(UserMessage, content=TEXTS | ONE_TEXT, source=NAMES)
CALLS = st.builds(FunctionCall, id=TEXTS, name=NAMES, arguments=TEXTS)
ANSWERS = st.builds(AssistantMessage, content=TEXTS, thought=st.none() | TEXTS, source=NAMES)
STEPS = st.builds(
    AssistantMessage,
    content=st.lists(CALLS, min_size=1, max_size=3),
    thought=st.none() | TEXTS.filter(bool),
    source=NAMES,
)
RESULTS = st.builds(
    FunctionExecutionResult,
    content=TEXTS,
    name=NAMES,
    call_id=TEXTS,
    is_error=st.none() | st.booleans(),
)
RESULT_MESSAGES = st.builds(
    FunctionExecutionResultMessage, content=st.lists(RESULTS, min_size=1, max_size=3)
)
MESSAGES: st.SearchStrategy[LLMMessage] = SYSTEMS | USERS | ANSWERS | STEPS | RESULT_MESSAGES


def characters(text: str) -> int:
    """A token for each character, and one for a role, as in every known vocabulary."""
    return 1 if text in {"system", "user", "assistant", "tool"} else len(text)


class Characters:
    """Counts characters."""

    def count(self, text: str, /) -> Count:
        return Count(tokens=characters(text), source="tokenizer")


def shortened(message: Message) -> Message:
    """The message with each of its texts cut in half."""
    half = slice(0, 3)
    return replace(
        message,
        text=message.text[half],
        calls=tuple(replace(c, arguments=c.arguments[half]) for c in message.calls),
        results=tuple(replace(r, text=r.text[half]) for r in message.results),
    )


@given(MESSAGES, MESSAGES)
def test_digests_are_equal_for_equal_content_alone(one: LLMMessage, other: LLMMessage) -> None:
    """Two messages have one digest exactly where all their fields are equal, those that are not sent too."""
    assert HOST.snapshot(deepcopy(one)) == HOST.snapshot(one)
    snapshots = HOST.snapshot(one), HOST.snapshot(other)
    digests = map(HOST.digest, snapshots)
    assert len(set(digests)) == len(set(snapshots))


RESULT = FunctionExecutionResult(content="a", name="f", call_id="1")
FIELDS: list[tuple[LLMMessage, dict[str, object]]] = [
    (AssistantMessage(content="a", source="c"), {"thought": "t"}),
    (AssistantMessage(content="a", source="c"), {"source": "d"}),
    (UserMessage(content="a", source="u"), {"source": "v"}),
    (UserMessage(content=[image(1, 1)], source="u"), {"content": [image(1, 1, 9)]}),
    (UserMessage(content=[image(1, 4)], source="u"), {"content": [image(2, 2)]}),
    (
        FunctionExecutionResultMessage(content=[RESULT]),
        {"content": [RESULT.model_copy(update={"is_error": True})]},
    ),
]


@pytest.mark.parametrize(("message", "changes"), FIELDS)
def test_a_change_in_any_field_is_noticed(message: LLMMessage, changes: dict[str, object]) -> None:
    """Of those that are not sent, too."""
    before = HOST.snapshot(message)
    assert HOST.snapshot(message.model_copy(update=changes)) != before


@given(MESSAGES)
def test_a_rewritten_message_says_what_it_was_told(message: LLMMessage) -> None:
    """What was written reads as what was to be written; the given message is as it was."""
    before, wanted = deepcopy(message), shortened(HOST.read(message))
    written = HOST.rewrite(message, wanted)
    assert HOST.read(written) == wanted
    assert HOST.snapshot(message) == HOST.snapshot(before)
    assert type(written) is type(message)


@given(SYSTEMS | PLAIN_USERS | ANSWERS | STEPS | RESULT_MESSAGES)
def test_fields_that_are_not_rewritten_come_back(message: LLMMessage) -> None:
    """Written with the texts that it has, a message is what it was: sources, errors, unsent thoughts, images."""
    written = HOST.rewrite(message, HOST.read(message))
    assert HOST.snapshot(written) == HOST.snapshot(message)


def test_images_go_where_the_message_has_none() -> None:
    """A message that is to be without images has its text alone; otherwise the images keep their side of it."""
    small = image(1, 1)
    message = UserMessage(content=[small, "a", small, "b"], source="user")
    read = HOST.read(message)
    assert read.images == (Image(width=1, height=1),) * 2
    without = HOST.rewrite(message, replace(read, images=(), text="[2 images left out]"))
    assert without.content == ["[2 images left out]"]
    assert HOST.rewrite(message, read).content == [small, small, "a\nb"]
    assert HOST.rewrite(message, replace(read, text="")).content == [small, small]
    assert HOST.rewrite(message, replace(read, images=(), text="")).content == ""


def test_what_changes_its_role_is_written_anew() -> None:
    """A system message as the user's, and a result without its call as a text, are the user's messages under our name."""
    system = SystemMessage(content="Remember: tea.")
    result = FunctionExecutionResult(content="42", name="f", call_id="1")
    stray = FunctionExecutionResultMessage(content=[result])
    as_user = replace(HOST.read(system), role="user")
    assert HOST.rewrite(system, as_user) == UserMessage(
        content="Remember: tea.", source="autogen_context"
    )
    text = Message(role="user", text="[result] 42")
    assert HOST.rewrite(stray, text) == UserMessage(content="[result] 42", source="autogen_context")


def test_a_result_too_many_is_in_the_text_of_the_one_before_it() -> None:
    """Where the message has fewer results, the first ones are written, each with its id and its other fields."""
    results = [
        FunctionExecutionResult(content=text, name="f", call_id="", is_error=text == "a")
        for text in ("a", "b")
    ]
    stray = FunctionExecutionResultMessage(content=results)
    message = Message(role="tool", results=(ToolResult(call_id="7", text="a, b"),))
    assert HOST.rewrite(stray, message).content == [
        FunctionExecutionResult(content="a, b", name="f", call_id="7", is_error=True)
    ]


@pytest.mark.parametrize(
    ("message", "composed"),
    [
        pytest.param(
            Message(role="user", text="left out"),
            UserMessage(content="left out", source="autogen_context"),
            id="notice",
        ),
        pytest.param(
            Message(role="assistant", text="…"),
            AssistantMessage(content="…", source="autogen_context"),
            id="filler",
        ),
        pytest.param(Message(role="system", text="s"), SystemMessage(content="s"), id="system"),
        pytest.param(
            Message(role="tool", results=(ToolResult(call_id="1", text="none", name="f"),)),
            FunctionExecutionResultMessage(
                content=[FunctionExecutionResult(content="none", name="f", call_id="1")]
            ),
            id="result",
        ),
    ],
)
def test_our_own_messages_have_autogens_types(message: Message, composed: LLMMessage) -> None:
    """A message that no agent sent becomes the type that its role has."""
    assert HOST.compose(message) == composed


def test_a_thought_counts_where_it_is_sent() -> None:
    """The thought of calls is their text; that of an answer is none, and both come back."""
    call = FunctionCall(id="1", name="f", arguments="{}")
    step = AssistantMessage(content=[call], thought="First, look.", source="coder")
    answer = AssistantMessage(content="Done.", thought="So it was.", source="coder")
    assert HOST.read(step).text == "First, look."
    assert HOST.read(step).calls == (ToolCall(id="1", name="f", arguments="{}"),)
    assert HOST.read(answer).text == "Done."
    assert HOST.rewrite(answer, Message(role="assistant", text="D")) == AssistantMessage(
        content="D", thought="So it was.", source="coder"
    )


@given(MESSAGES)
def test_all_that_the_client_sends_is_counted(message: LLMMessage) -> None:
    """OpenAI's rules over what AutoGen's client sends give no more than our count of the message."""
    counter = MessageCounter.for_model("gpt-4o", Characters())
    oai = to_oai_type(message, model="gpt-4o", model_family="gpt-4o")
    sent = sum(message_tokens(part, characters) for part in cast("Sequence[ChatMessage]", oai))
    read = HOST.read(message)
    if not read.images:  # counted by the model's rule, which is another test's
        assert sent <= counter.message(read)


ANSWER = Message(role="assistant", text="hi")
[FIRST, *_] = RoleRules(alternate=True).apply([Verbatim(start=0, stop=1)], [ANSWER])


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(notice_of(3, 70), id="notice"),
        pytest.param(as_user(Message(role="tool", text="beside")), id="a result without its call"),
        pytest.param(messages_of([FIRST], [])[0], id="filler"),
    ],
)
def test_what_is_our_own_is_counted_with_our_name(message: Message) -> None:
    """The client sends the name under which the host puts it."""
    counter = MessageCounter.for_model("gpt-4o", Characters(), own_name=HOST.own_name)
    oai = to_oai_type(HOST.compose(message), model="gpt-4o", model_family="gpt-4o")
    [sent] = cast("Sequence[ChatMessage]", oai)
    assert sent["name"] == HOST.own_name
    assert message_tokens(sent, characters) <= counter.message(message)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"role": "user", "content": "hi"}, id="dict"),
        pytest.param("hi", id="text"),
        pytest.param(None, id="none"),
        pytest.param(OpenAIChatCompletionClient, id="class"),
    ],
)
def test_what_is_no_message_is_refused(payload: object) -> None:
    """The error names what is wanted and what came."""
    for refuse in (HOST.read, HOST.snapshot):
        with pytest.raises(
            ValueError, match=r"SystemMessage, UserMessage, .*got (dict|str|NoneType|\w+)"
        ):
            refuse(payload)
