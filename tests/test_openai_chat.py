"""OpenAI's chat format is read without loss, and written with nothing but the texts changed."""

import copy
import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.pipeline.message import Image, Message, ToolCall, ToolResult
from autogen_context.pipeline.openai_chat import OpenAIChat
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
    assert HOST.read(ClientObject(**payload, unset=None)) == HOST.read(without_none)


@FEW
@given(PAYLOADS)
def test_a_digest_stands_for_the_content(payloads: list[ChatMessage]) -> None:
    """Two messages have the same digest exactly where they are the same JSON."""
    written = [json.dumps(payload, sort_keys=True) for payload in payloads]
    digests = [HOST.read(payload).digest for payload in payloads]
    assert len(set(digests)) == len(set(written))
    for payload, text in zip(payloads, written, strict=True):
        other = {**payload, "role": payload["role"] + "_"}
        assert HOST.read(other).digest not in digests
        assert HOST.read(json.loads(text)).digest in digests


@FEW
@given(PAYLOAD, PAYLOAD)
def test_a_snapshot_recognises_content(payload: ChatMessage, other: ChatMessage) -> None:
    """It is equal to what it was taken of, and to nothing else, and nobody can change it from outside."""
    mine = copy.deepcopy(payload)
    snapshot = HOST.snapshot(mine)
    assert HOST.unchanged(snapshot, copy.deepcopy(payload))
    assert HOST.unchanged(HOST.snapshot(ClientObject(**payload)), ClientObject(**payload))
    assert HOST.unchanged(snapshot, other) == (payload == other)
    spoil(mine)
    assert HOST.unchanged(snapshot, payload)


def spoil(value: object) -> None:
    """Change everything that can be changed in place."""
    if isinstance(value, dict):
        for inner in list(value.values()):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # JSON
            spoil(inner)
        value["spoiled"] = True
    if isinstance(value, list):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]  # JSON
            spoil(inner)
        value.append("spoiled")


@FEW
@given(PAYLOAD, st.text(max_size=9))
def test_rewriting_changes_texts_alone(payload: ChatMessage, text: str) -> None:
    """Read again, what was rewritten is the message that was asked for; fields apart from texts stay."""
    before = copy.deepcopy(payload)
    message = HOST.read(payload)
    asked = replace(
        message,
        text="" if message.results else text,
        calls=tuple(replace(call, arguments=text) for call in message.calls),
        results=tuple(replace(result, text=text) for result in message.results),
    )
    written = HOST.rewrite(payload, asked)
    assert replace(HOST.read(written), digest=b"") == replace(asked, digest=b"")
    assert payload == before
    texts = ("content", "tool_calls")
    assert without(written, texts) == without(payload, texts)
    spoil(written)
    assert payload == before


def without(payload: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, object]:
    return {k: v for k, v in payload.items() if k not in keys}


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
    assert replace(HOST.read(payload), digest=b"") == expected


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
        pytest.param({"role": "a", "tool_calls": [{}]}, "needs a 'function'", id="no function"),
        pytest.param({"role": "a", "function_call": "f"}, "function must be a dict", id="a name"),
        pytest.param({"role": "user", 1: 2}, "strings as keys", id="keys of two types"),
    ],
)
def test_what_is_no_message(payload: object, reason: str) -> None:
    """It is refused with what is wrong."""
    with pytest.raises(ValueError, match=reason.replace("(", r"\(")):
        HOST.read(payload)


def test_what_json_does_not_know_is_told_by_its_text() -> None:
    """Bytes, sets and client objects deep inside have a digest, too, and it is that of their content."""
    one, same, other = (
        HOST.read({"role": "user", "a": ClientObject(x=x), "b": x, "c": MappingProxyType({"d": 1})})
        for x in (b"1", b"1", b"2")
    )
    assert one == same
    assert one.digest != other.digest


@pytest.mark.parametrize(
    ("content", "text", "images", "expected"),
    [
        pytest.param("old", "new", (), "new", id="a string stays a string"),
        pytest.param(None, "", (), None, id="null stays null"),
        pytest.param(None, "new", (), "new", id="null gets a text"),
        pytest.param("old", "", (), "", id="emptied"),
        pytest.param(
            [{"type": "text", "text": "a"}, IMAGE_PART, {"type": "text", "text": "b"}],
            "new",
            (Image(),),
            [{"type": "text", "text": "new"}, IMAGE_PART],
            id="one text in the place of the first",
        ),
        pytest.param(
            [IMAGE_PART],
            "[1 image(s) left out]",
            (),
            [{"type": "text", "text": "[1 image(s) left out]"}],
            id="no images",
        ),
        pytest.param([IMAGE_PART], "", (Image(),), [IMAGE_PART], id="images alone"),
        pytest.param(["a"], "", (), [{"type": "text", "text": ""}], id="no empty list"),
    ],
)
def test_how_content_is_written(
    content: object, text: str, images: tuple[Image, ...], expected: object
) -> None:
    """In the form in which it came."""
    message = Message(role="user", text=text, images=images)
    assert HOST.rewrite({"role": "user", "content": content}, message)["content"] == expected


def test_a_rewritten_result_can_get_another_id() -> None:
    """That is how a repair names the call; an older result has none and gets none."""
    payload = {"role": "tool", "tool_call_id": "wrong", "content": "r"}
    message = Message(role="tool", results=(ToolResult(call_id="right", text="r"),))
    assert HOST.rewrite(payload, message) == {**payload, "tool_call_id": "right"}
    older = {"role": "function", "name": "f", "content": "r"}
    assert HOST.rewrite(older, HOST.read(older)) == older


def test_an_older_call_is_rewritten_in_its_form() -> None:
    """Its name stays, its arguments change."""
    payload = {"role": "assistant", "function_call": {"name": "f", "arguments": "long"}}
    [call] = HOST.read(payload).calls
    short = replace(HOST.read(payload), calls=(replace(call, arguments="{}"),))
    expected = {"name": "f", "arguments": "{}"}
    assert HOST.rewrite(payload, short)["function_call"] == expected
    assert payload["function_call"] == {"name": "f", "arguments": "long"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Message(role="user", text="t"), {"role": "user", "content": "t"}),
        (
            Message(role="tool", results=(ToolResult(call_id="c", text="t", name="f"),)),
            {"role": "tool", "tool_call_id": "c", "content": "t"},
        ),
        (
            Message(role="tool", results=(ToolResult(call_id="", text="t", name="f"),)),
            {"role": "function", "name": "f", "content": "t"},
        ),
    ],
    ids=["text", "result", "older result"],
)
def test_how_a_message_of_our_own_is_written(message: Message, expected: object) -> None:
    """As OpenAI takes it; what changes its role is written like that, too."""
    assert HOST.compose(message) == expected
    assert HOST.rewrite({"role": "other", "content": "x", "name": "n"}, message) == expected
