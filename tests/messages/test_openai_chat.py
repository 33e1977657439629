"""OpenAI's chat format is read and written without loss, and what is no message is refused with its reason."""

import copy
import json
from dataclasses import replace
from types import MappingProxyType
from typing import cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Image, Message, ToolCall, ToolResult, without_images
from autogen_context.messages.openai_chat import OpenAIChat, messages_in
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.view.conversation import digest_of

HOST = OpenAIChat()
PAYLOADS = (
    (transcripts(max_repeats=2) | broken_transcripts(max_repeats=2))
    .map(lambda messages: [message for message in messages if message.get("role")])
    .filter(bool)
)
PAYLOAD = PAYLOADS.flatmap(st.sampled_from)
PIC = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


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


def spoil(value: object) -> None:
    """Change everything that can be changed in place."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)  # JSON
        for inner in list(fields.values()):
            spoil(inner)
        fields["spoiled"] = True
    if isinstance(value, list):
        items = cast("list[object]", value)  # JSON
        for inner in items:
            spoil(inner)
        items.append("spoiled")


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


@settings(max_examples=15)
@given(PAYLOADS)
def test_messages_and_payloads_are_read_alike(payloads: list[ChatMessage]) -> None:
    """Where messages are taken, dicts and what was read of them may stand side by side."""
    read = [HOST.read(payload) for payload in payloads]
    assert list(messages_in([*payloads, *read])) == [*read, *read]


@given(PAYLOADS)
def test_a_digest_stands_for_the_content(payloads: list[ChatMessage]) -> None:
    """Two messages have the same digest exactly where they are the same JSON."""
    written = [json.dumps(payload, sort_keys=True) for payload in payloads]
    digests = [digest_of(HOST, payload) for payload in payloads]
    assert len(set(digests)) == len(set(written))
    for payload, text in zip(payloads, written, strict=True):
        assert digest_of(HOST, {**payload, "role": payload["role"] + "_"}) not in digests
        assert digest_of(HOST, json.loads(text)) in digests


@given(PAYLOAD, PAYLOAD)
def test_a_snapshot_recognises_content(payload: ChatMessage, other: ChatMessage) -> None:
    """It is equal to what it was taken of, and to nothing else, and nobody can change it from outside."""
    mine: ChatMessage = {**copy.deepcopy(payload), "more": [{}, ClientObject(x=[])], "empty": []}
    snapshot = HOST.snapshot(mine)
    plain: ChatMessage = {**payload, "more": [{}, {"x": []}], "empty": []}
    assert snapshot == plain
    assert (HOST.snapshot(payload) == other) == (payload == other)
    spoil(mine)
    assert snapshot == plain


@given(PAYLOAD, st.text(max_size=9))
@example({"role": "reviewer", "content": "", "tool_call_id": "c1"}, "")
@example({"role": "function", "content": "", "name": "f", "tool_call_id": ""}, "")
def test_rewriting_changes_texts_alone(payload: ChatMessage, text: str) -> None:
    """Read again, what was rewritten is the message that was asked for; fields apart from texts stay."""
    before = copy.deepcopy(payload)
    message = HOST.read(payload)
    asked = replace(
        message,
        text="" if message.results else text,
        calls=tuple(replace(call, arguments=text) for call in message.calls),
        results=tuple(replace(result, text=text) for result in message.results),
        text_parts=1,
    )
    written = HOST.rewrite(payload, asked)
    assert HOST.read(written) == asked
    for key in payload.keys() - {"content", "tool_calls"}:
        assert written[key] == payload[key]
    spoil(written)
    assert payload == before


READ = ToolCall(id="c1", name="f", arguments="{}")
OLDER = {"name": "f", "arguments": "{}"}
TOOL = {"role": "tool", "tool_call_id": "c1"}
READS: dict[str, tuple[ChatMessage, Message]] = {
    "null": ({"content": None}, Message(role="user")),
    "no content": ({}, Message(role="user")),
    "name": ({"content": "hi", "name": "ada"}, Message(role="user", text="hi", name="ada")),
    "parts": ({"content": [{"type": "text", "text": "a"}, "b"]}, Message(role="user", text="a\nb", text_parts=2)),
    "images": ({"content": [PIC, {"type": "image", "source": {"data": "AAAA"}}]}, Message(role="user", images=(Image(detail="low"), Image()))),
    "image of the responses api": ({"content": [{"type": "input_image", "image_url": "u", "detail": "high"}]}, Message(role="user", images=(Image(detail="high"),))),
    "a part of another kind": ({"content": [{"type": "file", "file": {"file_id": "x"}}]}, Message(role="user", extra='{"content": [{"file": {"file_id": "x"}, "type": "file"}]}')),
    "thinking is sent, metadata is not": ({"role": "assistant", "content": "", "reasoning_content": "hm", "metadata": {"k": 1}}, Message(role="assistant", extra='{"reasoning_content": "hm"}')),
    "F11: a name that is no string": ({"name": {"first": "ada"}}, Message(role="user", extra='{"name": {"first": "ada"}}')),
    "call": ({"role": "assistant", "tool_calls": [CALL]}, Message(role="assistant", calls=(READ,))),
    "custom tool": ({"role": "assistant", "tool_calls": [{"id": "c", "custom": {"name": "f", "input": "x"}}]}, Message(role="assistant", calls=(ToolCall(id="c", name="f", arguments="x"),))),
    "arguments as an object, no id": ({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}, Message(role="assistant", calls=(ToolCall(id="", name="f", arguments='{"a": 1}'),))),
    "older call": ({"role": "assistant", "function_call": OLDER}, Message(role="assistant", calls=(replace(READ, id="", older=True),))),
    "F11: a signature": ({"role": "assistant", "tool_calls": [{**CALL, "extra_content": {"sig": "AA"}}]}, Message(role="assistant", calls=(READ,), extra='{"tool_calls": [{"extra_content": {"sig": "AA"}}]}')),
    "F34: a text": ({"role": "assistant", "function_call": "auto"}, Message(role="assistant", extra='{"function_call": "auto"}')),
    "result": ({**TOOL, "content": [{"type": "text", "text": "r"}]}, Message(role="tool", results=(ToolResult(call_id="c1", text="r"),))),
    "older result": ({"role": "function", "name": "f", "content": "r"}, Message(role="function", results=(ToolResult(call_id="", text="r", name="f"),))),
    "F11: calls on a result": ({**TOOL, "content": "r", "tool_calls": [{"x": 1}]}, Message(role="tool", results=(ToolResult(call_id="c1", text="r"),), extra='{"tool_calls": [{"x": 1}]}')),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "expected"), READS.values(), ids=READS)
def test_what_is_read(fields: ChatMessage, expected: Message) -> None:
    """Every form of texts, images, calls and results; what is sent beside them is counted."""
    assert HOST.read({"role": "user", **fields}) == expected


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({}, "needs a 'role' that is a string, got None"),
        ({"role": 1}, "got 1"),
        ({"role": ""}, "got ''"),
        ("hi", "must be a dict or a client object, got str"),
        ({"role": "user", "content": 5}, "give a string, a list of parts"),
        ({"role": "user", "content": b"x"}, r"content=b.x.: give"),
        ({"role": "a", "tool_calls": "x"}, "tool_calls=.*: give a list"),
        ({"role": "a", "tool_calls": [None]}, "a tool call must be a dict"),
        ({"role": "a", "tool_calls": [{"id": "1"}]}, "needs a 'function'"),
        ({"role": "a", "function_call": ["f"]}, "function must be a dict"),
        ({"role": "user", 1: 2}, "strings as keys"),
    ],
)
def test_what_is_no_message(payload: object, reason: str) -> None:
    """It is refused with what is wrong."""
    with pytest.raises(ValueError, match=reason):
        HOST.read(payload)


def test_what_json_does_not_know_has_a_digest() -> None:
    """Bytes, client objects and keys of two types deep inside; it is that of their content."""
    one, same, other = (
        {"role": "user", "a": ClientObject(x=x), "b": x, "c": MappingProxyType({"d": 1})}
        for x in (b"1", b"1", b"2")
    )
    assert HOST.read(one) == HOST.read(same)
    assert digest_of(HOST, one) == digest_of(HOST, same) != digest_of(HOST, other)
    two, too, differs = ({"role": "user", "metadata": {"a": x, 1: x}} for x in (1, 1, 2))
    assert digest_of(HOST, two) == digest_of(HOST, too) != digest_of(HOST, differs)


@pytest.mark.parametrize(
    ("content", "text", "images", "expected"),
    [
        ("old", "new", (), "new"),
        (None, "", (), None),
        (None, "new", (), "new"),
        ("old", "", (), ""),
        (["a", PIC, "b"], "new", (Image(),), [{"type": "text", "text": "new"}, PIC]),
        ([PIC], "[1 image]", (), [{"type": "text", "text": "[1 image]"}]),
        ([PIC], "", (Image(),), [PIC]),
        (["a"], "", (), [{"type": "text", "text": ""}]),
    ],
)
def test_how_content_is_written(
    content: object, text: str, images: tuple[Image, ...], expected: object
) -> None:
    """In the form in which it came; one text in the place of the first, no empty list."""
    message = Message(role="user", text=text, images=images)
    assert HOST.rewrite({"role": "user", "content": content}, message)["content"] == expected


def test_what_is_rewritten_of_results_and_calls() -> None:
    """F12: an image that leaves leaves a mark; a result can get another id, and older forms stay."""
    payload: ChatMessage = {"role": "tool", "tool_call_id": "wrong", "content": [PIC]}
    written = HOST.rewrite(payload, without_images(HOST.read(payload)))
    assert written["content"] == [{"type": "text", "text": "[image left out]"}]
    payload = {**payload, "content": "r"}
    message = Message(role="tool", results=(ToolResult(call_id="right", text="r"),))
    assert HOST.rewrite(payload, message) == {**payload, "tool_call_id": "right"}
    older: ChatMessage = {"role": "function", "name": "f", "content": "r"}
    assert HOST.rewrite(older, HOST.read(older)) == older
    called: ChatMessage = {"role": "assistant", "function_call": {"name": "f", "arguments": "long"}}
    [call] = HOST.read(called).calls
    short = replace(HOST.read(called), calls=(replace(call, arguments="{}"),))
    assert HOST.rewrite(called, short)["function_call"] == {"name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("role", "call_id", "expected"),
    [
        ("tool", "c", {"role": "tool", "tool_call_id": "c"}),
        ("tool", "", {"role": "tool", "tool_call_id": ""}),
        ("function", "", {"role": "function", "name": "f"}),
    ],
)
def test_how_a_message_of_our_own_is_written(
    role: str, call_id: str, expected: ChatMessage
) -> None:
    """In the form of its call, whose id may be empty; what changes its role is written like that, too."""
    message = Message(role=role, results=(ToolResult(call_id=call_id, text="t", name="f"),))
    expected = expected | {"content": "t"}
    assert HOST.compose(message) == expected
    assert HOST.rewrite({"role": "other", "content": "x", "name": "n"}, message) == expected
