"""OpenAI's chat format is read without loss, and what is no message is refused with its reason."""

import copy
import json
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.ledger import Ledger
from autogen_context.messages.message import Image, Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat, messages_in
from autogen_context.recall import select, tiers
from autogen_context.recall.facts import Facts
from autogen_context.session.history import digest_of
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import broken_transcripts, transcripts

HOST = OpenAIChat()
FEW = settings(max_examples=50)
PAYLOADS = (
    (transcripts(max_repeats=2) | broken_transcripts(max_repeats=2))
    .map(lambda messages: [message for message in messages if message.get("role")])
    .filter(bool)
)
PAYLOAD = PAYLOADS.flatmap(st.sampled_from)


class ClientObject:
    """An object as the client library has it: fields that are not set are None."""

    def __init__(self, **fields: object) -> None:
        self.fields = fields

    def model_dump(self, *, exclude_none: bool) -> dict[str, object]:
        kept = {k: v for k, v in self.fields.items() if v is not None or not exclude_none}
        return {
            k: v.model_dump(exclude_none=exclude_none) if isinstance(v, ClientObject) else v
            for k, v in kept.items()
        }


@FEW
@given(PAYLOAD)
def test_reading_changes_nothing_and_is_repeatable(payload: ChatMessage) -> None:
    """A deep copy, a read-only mapping and a client object of the same content read the same."""
    before = copy.deepcopy(payload)
    message = HOST.read(payload)
    assert payload == before
    assert HOST.read(copy.deepcopy(payload)) == message
    assert HOST.read(MappingProxyType(dict(reversed(payload.items())))) == message
    without_none = {k: v for k, v in payload.items() if v is not None}
    client = ClientObject(**payload, unset=None)
    assert HOST.read(client) == HOST.read(without_none)
    assert HOST.snapshot(client) == without_none


@FEW
@given(PAYLOADS)
def test_messages_and_payloads_are_read_alike(payloads: list[ChatMessage]) -> None:
    """Where messages are taken, dicts and what was read of them may stand side by side."""
    read = [HOST.read(payload) for payload in payloads]
    assert list(messages_in(payloads)) == list(messages_in(read)) == read
    assert list(messages_in([*payloads, *read])) == [*read, *read]
    assert tiers(payloads) == tiers(read)
    assert select(payloads) == select(read)
    for learner in (Facts, Ledger):
        told, known = learner(), learner()
        assert told.learn(payloads, start=3) == known.learn(read, start=3)
        assert told.to_json() == known.to_json()


@FEW
@given(PAYLOADS)
def test_a_digest_stands_for_the_content(payloads: list[ChatMessage]) -> None:
    """Two messages have the same digest exactly where they are the same JSON."""
    written = [json.dumps(payload, sort_keys=True) for payload in payloads]
    digests = [digest_of(HOST, payload) for payload in payloads]
    assert len(set(digests)) == len(set(written))
    for payload, text in zip(payloads, written, strict=True):
        other = {**payload, "role": payload["role"] + "_"}
        assert digest_of(HOST, other) not in digests
        assert digest_of(HOST, json.loads(text)) in digests


IMAGE_PART = {
    "type": "image_url",
    "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"},
}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param({"role": "user", "content": None}, Message(role="user"), id="null"),
        pytest.param({"role": "user"}, Message(role="user"), id="no content"),
        pytest.param(
            {"role": "user", "content": "hi", "name": "ada"},
            Message(role="user", text="hi", name="ada"),
            id="name",
        ),
        pytest.param(
            {"role": "user", "content": [{"type": "text", "text": "a"}, "b"]},
            Message(role="user", text="a\nb"),
            id="parts",
        ),
        pytest.param(
            {
                "role": "user",
                "content": [IMAGE_PART, {"type": "image", "source": {"data": "AAAA"}}],
            },
            Message(role="user", images=(Image(detail="low"), Image())),
            id="images",
        ),
        pytest.param(
            {
                "role": "user",
                "content": [{"type": "input_image", "image_url": "u", "detail": "high"}],
            },
            Message(role="user", images=(Image(detail="high"),)),
            id="image of the responses api",
        ),
        pytest.param(
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "x"}}]},
            Message(role="user", extra='{"content": [{"file": {"file_id": "x"}, "type": "file"}]}'),
            id="a part of another kind",
        ),
        pytest.param(
            {"role": "assistant", "content": "", "reasoning_content": "hm", "metadata": {"k": 1}},
            Message(role="assistant", extra='{"reasoning_content": "hm"}'),
            id="thinking is sent, metadata is not",
        ),
        pytest.param(
            {"role": "assistant", "tool_calls": [CALL]},
            Message(role="assistant", calls=(ToolCall(id="c1", name="f", arguments="{}"),)),
            id="call",
        ),
        pytest.param(
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "custom": {"name": "f", "input": "x"}}],
            },
            Message(role="assistant", calls=(ToolCall(id="c", name="f", arguments="x"),)),
            id="custom tool",
        ),
        pytest.param(
            {
                "role": "assistant",
                "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
            },
            Message(role="assistant", calls=(ToolCall(id="", name="f", arguments='{"a": 1}'),)),
            id="arguments as an object, no id",
        ),
        pytest.param(
            {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
            Message(role="assistant", calls=(ToolCall(id="", name="f", arguments="{}"),)),
            id="older call",
        ),
        pytest.param(
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "r"}]},
            Message(role="tool", results=(ToolResult(call_id="c1", text="r"),)),
            id="result",
        ),
        pytest.param(
            {"role": "function", "name": "f", "content": "r"},
            Message(role="function", results=(ToolResult(call_id="", text="r", name="f"),)),
            id="older result",
        ),
    ],
)
def test_what_is_read(payload: ChatMessage, expected: Message) -> None:
    """Every form in which text, images, calls and results come."""
    assert HOST.read(payload) == expected


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        pytest.param({}, "needs a 'role' that is a string, got None", id="empty"),
        pytest.param({"role": 1}, "got 1", id="role of another type"),
        pytest.param({"role": ""}, "got ''", id="empty role"),
        pytest.param("hi", "must be a dict or a client object, got str", id="no dict"),
        pytest.param({"role": "user", "content": 5}, "'content' must be a string", id="content"),
        pytest.param({"role": "user", "content": b"x"}, "got bytes", id="bytes"),
        pytest.param({"role": "a", "tool_calls": "x"}, "'tool_calls' must be a list", id="calls"),
        pytest.param({"role": "a", "tool_calls": [None]}, "a tool call must be a dict", id="call"),
        pytest.param(
            {"role": "a", "tool_calls": [{"id": "1"}]}, "needs a 'function'", id="no function"
        ),
        pytest.param({"role": "a", "function_call": "f"}, "function must be a dict", id="a name"),
        pytest.param({"role": "user", 1: 2}, "strings as keys", id="keys of two types"),
        pytest.param({"role": "user", 1: "2"}, "strings as keys", id="keys alone of two types"),
    ],
)
def test_what_is_no_message(payload: object, reason: str) -> None:
    """It is refused with what is wrong."""
    with pytest.raises(ValueError, match=reason.replace("(", r"\(")):
        HOST.read(payload)


def test_what_json_does_not_know_is_told_by_its_text() -> None:
    """Bytes, sets and client objects deep inside have a digest, too, and it is that of their content."""
    one, same, other = (
        {"role": "user", "a": ClientObject(x=x), "b": x, "c": MappingProxyType({"d": 1})}
        for x in (b"1", b"1", b"2")
    )
    assert HOST.read(one) == HOST.read(same)
    assert digest_of(HOST, one) == digest_of(HOST, same) != digest_of(HOST, other)


def test_client_objects_deep_inside_are_copied() -> None:
    """What they have becomes plain data, which nobody can change from outside."""
    inner: list[int] = []
    snapshot = HOST.snapshot({"role": "user", "a": [ClientObject(x=inner), ClientObject()]})
    inner.append(1)
    assert snapshot == {"role": "user", "a": [{"x": []}, {}]}


def test_keys_of_two_types_deep_inside_have_a_digest() -> None:
    """It is that of their content; at the top they are refused."""
    one, same, other = (
        {"role": "user", "content": "a", "metadata": {"a": x, 1: x}} for x in (1, 1, 2)
    )
    assert digest_of(HOST, one) == digest_of(HOST, same) != digest_of(HOST, other)
