"""Classic AutoGen's messages: read as they are sent, rewritten in their own shape."""

import copy
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings

from autogen_context.adapters.classic import ContextTransform
from autogen_context.adapters.classic_format import ClassicFormat
from autogen_context.messages.message import Message
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.segment import NO_CALL, as_user
from autogen_context.testing import ChatMessage, approximate_tokens
from autogen_context.testing.transcripts import transcripts
from autogen_context.tokens.measure import Count
from autogen_context.tokens.message_counter import MessageCounter

FORMAT = ClassicFormat()

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
CALL_2 = {**CALL, "id": "c2"}
RESULT = {"tool_call_id": "c1", "role": "tool", "content": "one"}
RESULT_2 = {"tool_call_id": "c2", "role": "tool", "content": "two"}
STEP = {
    "role": "tool",
    "content": "one\n\ntwo",
    "tool_responses": [RESULT, RESULT_2],
    "name": "user",
}
INTERRUPTED = {"role": "user", "content": "stop", "name": "user", "tool_responses": [RESULT]}
OLD_INTERRUPTED: ChatMessage = {
    "role": "user",
    "content": "stop",
    "tool_responses": [{"role": "function", "name": "read", "content": "USER INTERRUPTED"}],
}
SHAPES = [
    pytest.param({"content": "hi", "role": "user", "name": "user"}, id="0.2 text"),
    pytest.param({"content": "hi", "role": "assistant"}, id="0.2 text without name"),
    pytest.param(
        {
            "content": None,
            "role": "assistant",
            "function_call": {"name": "read", "arguments": '{"path": "a"}'},
        },
        id="0.2 function_call",
    ),
    pytest.param(
        {"content": "one", "name": "read", "role": "function"}, id="0.2 result of a function"
    ),
    pytest.param(OLD_INTERRUPTED, id="0.2 a person interrupts a function"),
    pytest.param({"content": None, "role": "assistant", "tool_calls": [CALL]}, id="0.2 tool_calls"),
    pytest.param(
        {"content": "", "role": "assistant", "tool_calls": [CALL, CALL_2]}, id="0.9 parallel calls"
    ),
    pytest.param({**STEP, "tool_responses": [RESULT]}, id="0.2 one result of a step"),
    pytest.param(STEP, id="0.9 two results of a step"),
    pytest.param(
        {"role": "tool", "content": "one", "tool_call_id": "c1", "name": "user"},
        id="one result alone",
    ),
    pytest.param(INTERRUPTED, id="0.9 a person interrupts a call"),
    pytest.param(
        {"role": "tool", "content": "", "tool_responses": [{"role": "tool", "content": "one"}]},
        id="0.7 Mistral's results have no id",
    ),
    pytest.param(
        {
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": "data:,"}},
            ],
            "role": "user",
            "name": "user",
        },
        id="0.2 multimodal",
    ),
    pytest.param(
        {"content": "hi", "role": "user", "context": {"a": 1}, "metadata": {"b": 2}}, id="beside"
    ),
]


class Approximate:
    """A tokenizer for tests."""

    def count(self, text: str, /) -> Count:
        return Count(tokens=approximate_tokens(text), source="tokenizer")


COUNTER = MessageCounter.for_model("gpt-4o", Approximate())


def sent(message: Mapping[str, object]) -> list[ChatMessage]:
    """What the host makes of a message when it sends it: ``_generate_oai_reply_from_client``, and no more than that."""
    fields = {k: v for k, v in message.items() if k not in ("context", "metadata")}
    responses = fields.pop("tool_responses", None)
    if not isinstance(responses, list) or not responses:
        return [fields]
    return [*responses, *([fields] if fields["role"] != "tool" else [])]


def as_classic(messages: list[ChatMessage]) -> list[ChatMessage]:
    """A conversation with all results of a step in one message."""
    grouped: list[ChatMessage] = []
    for message in messages:
        if message["role"] != "tool" or isinstance(message["content"], list):
            grouped.append(message)
        elif grouped and "tool_responses" in grouped[-1]:
            grouped[-1]["tool_responses"].append(message)
        else:
            grouped.append(
                {"role": "tool", "name": "user", "content": "", "tool_responses": [message]}
            )
    return grouped


@pytest.mark.parametrize("shape", SHAPES)
def test_a_message_counts_as_what_is_sent_for_it(shape: ChatMessage) -> None:
    """A message has the calls, results and tokens of the messages that the host sends for it."""
    plain = [OpenAIChat().read(message) for message in sent(shape)]
    read = FORMAT.read(shape)
    assert read.calls == sum((message.calls for message in plain), ())
    assert read.results == sum((message.results for message in plain), ())
    assert COUNTER.message(read) == sum(map(COUNTER.message, plain))


@settings(max_examples=30)
@given(transcripts())
def test_any_step_counts_as_its_results(messages: list[ChatMessage]) -> None:
    """Grouping the results of a step changes no count but that of fields that the host keeps to itself."""
    plain = sum(COUNTER.message(OpenAIChat().read(message)) for message in messages)
    grouped = as_classic(copy.deepcopy(messages))
    assert sum(COUNTER.message(FORMAT.read(message)) for message in grouped) == plain


@pytest.mark.parametrize("shape", SHAPES)
def test_a_rewritten_message_is_read_as_it_was_written(shape: ChatMessage) -> None:
    """What was rewritten is read back, the shape and all other fields stay, and the payload is untouched."""
    before = copy.deepcopy(shape)
    read = FORMAT.read(shape)
    short = replace(
        read,
        text=read.text[:1],
        results=tuple(replace(result, text="…") for result in read.results),
    )
    written = FORMAT.rewrite(shape, short)
    assert FORMAT.read(written) == short
    assert shape == before
    assert set(written) == set(shape)
    untouched = shape.keys() - {"content", "tool_responses"}
    assert {k: written[k] for k in untouched} == {k: shape[k] for k in untouched}
    if shape["role"] == "tool" and "tool_responses" in shape:  # who reads along reads the same
        assert written["content"] == "\n\n".join(result.text for result in short.results)


def test_a_rewritten_response_keeps_its_own_fields() -> None:
    """Ids and fields of a response that are not known stay with it, in the old form too."""
    (older,) = OLD_INTERRUPTED["tool_responses"]
    stopped: ChatMessage = {**OLD_INTERRUPTED, "tool_responses": [{**older, "cache_control": "x"}]}
    assert FORMAT.rewrite(stopped, FORMAT.read(stopped)) == stopped
    step = {**STEP, "tool_responses": [{**RESULT, "cache_control": "x"}, RESULT_2]}
    read = FORMAT.read(step)
    renamed = tuple(replace(result, call_id=f"{result.call_id}!") for result in read.results)
    written = FORMAT.rewrite(step, replace(read, results=renamed))
    assert written["tool_responses"] == [
        {**RESULT, "tool_call_id": "c1!", "cache_control": "x"},
        {**RESULT_2, "tool_call_id": "c2!"},
    ]


@pytest.mark.parametrize("count", [1, 3])
def test_responses_follow_the_results(count: int) -> None:
    """Results that were joined or added (a repair does so) leave as many responses."""
    read = FORMAT.read(STEP)
    results = (*read.results, replace(read.results[0], call_id="c3"))[:count]
    written = FORMAT.rewrite(STEP, replace(read, results=results))
    assert FORMAT.read(written).results == results


def test_results_without_a_call_become_what_a_person_said() -> None:
    """A repaired stray step is one plain message; what a person said beside it is not lost."""
    for stray in (STEP, INTERRUPTED):
        written = FORMAT.rewrite(stray, as_user(FORMAT.read(stray)))
        assert written["role"] == "user"
        assert "tool_responses" not in written
        assert str(written["content"]).startswith(NO_CALL)
    assert "stop" in str(FORMAT.rewrite(INTERRUPTED, as_user(FORMAT.read(INTERRUPTED)))["content"])


def test_a_message_is_known_by_what_is_sent_of_it() -> None:
    """The host takes ``context`` out of a message in place: that is no edit; another result is one."""
    message: ChatMessage = copy.deepcopy({**STEP, "context": {"a": 1}})
    known = FORMAT.snapshot(message)
    message.pop("context")
    assert FORMAT.snapshot(message) == known
    assert FORMAT.digest(FORMAT.snapshot(message)) == FORMAT.digest(known)
    message["tool_responses"][0]["content"] = "other"
    assert FORMAT.snapshot(message) != known
    assert FORMAT.digest(FORMAT.snapshot(message)) != FORMAT.digest(known)


def test_a_content_that_is_a_function_counts_as_its_text() -> None:
    """Classic agents may send a function of the context; the model gets what it returns."""

    def content(context: dict[str, int]) -> str:
        return "x" * context["n"]

    message: ChatMessage = {"role": "user", "context": {"n": 3}, "content": content}
    assert FORMAT.read(message) == FORMAT.read({"role": "user", "content": "xxx"})
    written = FORMAT.rewrite(message, Message(role="user", text="x"))
    assert written["content"] == "x"
    assert FORMAT.read({"role": "user", "content": str}).text == ""  # its context is gone


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ({"name": "ada"}, "'role'"),
        (
            {"role": "tool", "content": "", "tool_responses": "one"},
            "'tool_responses' must be a list",
        ),
        ({"role": "tool", "content": "", "tool_responses": ["one"]}, "a tool response must be"),
    ],
    ids=["no role and no content", "responses are text", "a response is text"],
)
def test_what_is_no_message_is_refused(message: ChatMessage, complaint: str) -> None:
    """The error names the field."""
    with pytest.raises(ValueError, match=complaint):
        FORMAT.read(message)


@pytest.mark.parametrize(
    ("message", "role"),
    [
        ({"content": "hi"}, "user"),
        ({"content": "", "tool_calls": [{"id": "1", "function": {"name": "f"}}]}, "assistant"),
        ({"content": "r", "tool_call_id": "1"}, "tool"),
        ({"content": "", "tool_responses": [{"content": "r"}]}, "tool"),
        ({"role": "assistant", "content": "hi", "function_call": "auto"}, "assistant"),
    ],
    ids=["text", "calls", "a result", "responses", "function_call is a text"],
)
def test_what_the_hosts_own_transforms_take_is_read(message: ChatMessage, role: str) -> None:
    """F34: without a role, too; what is below the limit comes back as it came."""
    assert FORMAT.read(message).role == role
    assert FORMAT.rewrite(message, FORMAT.read(message))["role"] == role
    talk = [{"role": "user", "content": "a"}, {"content": "hi"}, {"content": "b", "role": "user"}]
    assert ContextTransform(model="gpt-4o").apply_transform(talk) == talk
