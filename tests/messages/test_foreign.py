"""Lists of other providers' formats, given to the bare manager: what it cannot read it does not vouch for."""

from collections.abc import Mapping

import pytest

from autogen_context import IncrementalContextManager
from autogen_context.errors import InvalidTranscript
from support.saying import says

EMPTY: dict[str, object] = {}
Payload = Mapping[str, object]
ASKED = says("What is in a.txt?", "user")
FOREIGN: dict[str, tuple[list[Payload], int, str]] = {
    "anthropic call": (
        [
            ASKED,
            says([{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "1", "name": "read", "input": EMPTY}], "assistant"),
        ],
        1,
        "Anthropic's",
    ),
    "anthropic result": (
        [ASKED, says("I look.", "assistant"), says([{"type": "tool_result", "tool_use_id": "1", "content": "an a"}], "user")],
        2,
        "Anthropic's",
    ),
    "gemini text": ([{"role": "user", "parts": [{"text": "hi"}]}], 0, "Gemini's"),
    "gemini text without a list": ([{"role": "user", "parts": "hi"}], 0, "Gemini's"),
    "gemini call without a list": ([ASKED, {"role": "model", "parts": {"functionCall": {"name": "read"}}}], 1, "Gemini's"),
    "cohere result": ([ASKED, {"role": "TOOL", "tool_results": [{"call": {"name": "read"}, "outputs": []}]}], 1, "tool_results"),
    "gemini call": (
        [ASKED, {"role": "model", "parts": [{"functionCall": {"name": "read", "args": EMPTY}}]}],
        1,
        "Gemini's",
    ),
    "gemini call in a content": (
        [ASKED, says([{"text": "I look.", "functionCall": {"name": "read"}}], "assistant")],
        1,
        "Gemini's",
    ),
    "responses call": (
        [ASKED, {"type": "function_call", "call_id": "1", "name": "read", "arguments": "{}"}],
        1,
        "Responses API",
    ),
    "responses result": (
        [ASKED, {"type": "function_call_output", "call_id": "1", "output": "an a"}],
        1,
        "Responses API",
    ),
    "bedrock": (
        [ASKED, says([{"toolUse": {"toolUseId": "1", "name": "read", "input": EMPTY}}], "assistant")],
        1,
        "Amazon Bedrock's",
    ),
    "ai sdk": (
        [ASKED, says([{"type": "tool-call", "toolCallId": "1", "toolName": "read", "args": EMPTY}], "assistant")],
        1,
        "the AI SDK's",
    ),
    "calls in a field of their own": (
        [ASKED, says("", "assistant", toolInvocations=[{"toolCallId": "1", "toolName": "read"}])],
        1,
        "toolInvocations",
    ),
    "several results in one message": (
        [says("an a", "tool", tool_responses=[{"tool_call_id": "1", "content": "an a"}])],
        0,
        "tool_responses",
    ),
    "calls in camel case": (
        [ASKED, says("x", "assistant", toolCalls=[{"id": "1", "function": {"name": "read", "arguments": "{}"}}])],
        1,
        "toolCalls",
    ),
    "several older calls": (
        [ASKED, says("x", "assistant", function_calls=[{"name": "read", "arguments": "{}"}])],
        1,
        "function_calls",
    ),
    "a result in camel case": ([ASKED, says("an a", "user", toolCallId="c")], 1, "toolCallId"),
    "an older call in camel case": ([ASKED, says("x", "assistant", functionCall={"name": "read"})], 1, "functionCall"),
    "a part that nobody knows": (
        [ASKED, says([{"type": "deed", "of": "read", "no": 1}], "assistant")],
        1,
        "not known here",
    ),
    "a part without a type": ([says([{"deed": EMPTY}], "assistant")], 0, "not known here"),
    "a message that nobody knows": ([{"from": "human", "value": "hi"}], 0, "needs a 'role'"),
}  # fmt: skip
DATA: list[Mapping[str, object]] = [
    {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}},
    {"text": "hi", "cache_control": {"type": "ephemeral"}},
    {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}},
    {"type": "file", "file": {"file_id": "f"}},
    {"type": "refusal", "refusal": "no"},
    {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}},
    {"type": "thinking", "thinking": "hm", "signature": "x"},
]


@pytest.mark.parametrize("name", FOREIGN)
def test_a_list_of_another_format_is_refused_by_name_and_place(name: str) -> None:
    """No certificate is given for calls and results that nobody looked at; the error says what to do."""
    messages, index, said = FOREIGN[name]
    manager = IncrementalContextManager("gpt-4o", window_tokens=4_000)
    with pytest.raises(InvalidTranscript) as caught:
        manager.prepare_nowait(messages)
    assert caught.value.index == index
    assert said in str(caught.value)
    assert "give OpenAI's chat messages" in str(caught.value)
    assert "register(agent)" in str(caught.value)
    assert manager.prepare_nowait([ASKED]).messages == [ASKED]  # nothing of it stays


@pytest.mark.parametrize("part", DATA, ids=lambda part: str(part.get("type")))
def test_data_in_content_parts_is_counted_and_sent(part: Mapping[str, object]) -> None:
    """OpenAI's own parts, and those that compatible endpoints take."""
    role = "assistant" if part.get("type") in ("refusal", "thinking") else "user"
    messages = [ASKED, says([part], role), says("Go on.", "user")]
    prepared = IncrementalContextManager("gpt-4o", window_tokens=4_000).prepare_nowait(messages)
    assert prepared.messages == messages
    assert prepared.certificate.pairs_closed
