"""What is written in OpenAI's chat format is what came in, with nothing but the texts changed."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Image, Message, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import broken_transcripts, transcripts

HOST = OpenAIChat()
PAYLOADS = (
    (transcripts(max_repeats=2) | broken_transcripts(max_repeats=2))
    .map(lambda messages: [message for message in messages if message.get("role")])
    .filter(bool)
)
PAYLOAD = PAYLOADS.flatmap(st.sampled_from)


@settings(max_examples=50)
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
    assert HOST.read(written) == asked
    assert payload == before
    texts = ("content", "tool_calls")
    assert without(written, texts) == without(payload, texts)
    spoil(written)
    assert payload == before


def test_what_is_empty_is_not_shared_either() -> None:
    """Nor are empty lists and dicts."""
    payload: ChatMessage = {"role": "user", "content": [], "extra": {}, "more": [{}]}
    snapshot = HOST.snapshot(payload)
    spoil(payload["content"])
    spoil(payload["extra"])
    spoil(payload["more"])
    empty: ChatMessage = {"role": "user", "content": [], "extra": {}, "more": [{}]}
    assert snapshot == empty


def without(payload: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, object]:
    """All fields but these."""
    return {k: v for k, v in payload.items() if k not in keys}


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


@settings(max_examples=50)
@given(PAYLOAD, PAYLOAD)
def test_a_snapshot_recognises_content(payload: ChatMessage, other: ChatMessage) -> None:
    """It is equal to what it was taken of, and to nothing else, and nobody can change it from outside."""
    mine = copy.deepcopy(payload)
    snapshot = HOST.snapshot(mine)
    assert snapshot == copy.deepcopy(payload)
    assert (snapshot == other) == (payload == other)
    spoil(mine)
    assert snapshot == payload


IMAGE_PART = {
    "type": "image_url",
    "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"},
}


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
