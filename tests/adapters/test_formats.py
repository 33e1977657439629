"""Messages of every host, read and written: nothing is lost, nothing is changed in place, all that is sent is counted."""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, cast

import pytest
from ag2.compact import CompactionSummary
from ag2.events import (
    BaseEvent,
    BuiltinToolCallEvent,
    DataInput,
    ImageInput,
    ModelMessage,
    ModelReasoning,
    ModelRequest,
    ModelResponse,
    ProviderReplay,
    TextInput,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResultEvent,
    ToolResultsEvent,
    UsageEvent,
)
from ag2.events import ToolResult as Ag2Result
from agent_framework import Content
from agent_framework import Message as Framework
from autogen_core import FunctionCall, Image
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_ext.models.openai._openai_client import to_oai_type
from hypothesis import given, settings
from PIL import Image as Pixels
from pydantic import BaseModel

from autogen_context.adapters.ag2_format import Response, events_of, payloads_of
from autogen_context.adapters.agent_framework import named, with_reasoning
from autogen_context.adapters.agent_framework_format import ANOTHER_MESSAGE
from autogen_context.adapters.classic import ContextTransform
from autogen_context.manager.cut import notice_message
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.piece import RoleRules, Verbatim, messages_of
from autogen_context.messages.segment import NO_CALL, as_user
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import transcripts
from autogen_context.testing.usage import message_tokens
from autogen_context.tokens.measure import Count
from autogen_context.tokens.message_counter import MessageCounter
from support.agentchat import MESSAGES
from support.classic import grouped
from support.counting import Approximate
from support.words import WORDS, Words, in_the_words_of_each_host

AGENTCHAT, CLASSIC, AG2, FRAMEWORK = (words.host for words in WORDS.values())


class Thinking(ModelReasoning, ProviderReplay):
    """What a provider wants back for its response."""

    __transient__ = False
    __replay_role__ = "anchor"


class Order(BaseModel):
    """Data in a request."""

    item: str


def picture(width: int = 1, height: int = 1, colour: int = 0) -> Image:
    """An image of one colour."""
    return Image(Pixels.new("RGB", (width, height), (colour, 0, 0)))


# What hosts have beside what all of them have

FUNCTION = {"name": "read", "arguments": '{"path": "a"}'}
CALL = {"id": "c1", "type": "function", "function": FUNCTION}
RESULT = {"tool_call_id": "c1", "role": "tool", "content": "one"}
RESULT_2 = {"tool_call_id": "c2", "role": "tool", "content": "two"}
STEP: ChatMessage = {"role": "tool", "content": "one\n\ntwo", "tool_responses": [RESULT, RESULT_2], "name": "user"}  # fmt: skip
INTERRUPTED = {"role": "user", "content": "stop", "name": "user", "tool_responses": [RESULT]}
OLDER = {"role": "function", "name": "read", "content": "USER INTERRUPTED"}
SHAPES: Mapping[str, ChatMessage] = {
    "0.2 function_call": {"content": None, "role": "assistant", "function_call": FUNCTION},
    "0.2 result of a function": {"content": "one", "name": "read", "role": "function"},
    "0.2 a person interrupts a function": {"role": "user", "content": "stop", "tool_responses": [OLDER]},
    "0.2 tool_calls": {"content": None, "role": "assistant", "tool_calls": [CALL]},
    "0.9 parallel calls": {"content": "", "role": "assistant", "tool_calls": [CALL, {**CALL, "id": "c2"}]},
    "one result alone": {"role": "tool", "content": "one", "tool_call_id": "c1", "name": "user"},
    "0.9 a person interrupts a call": INTERRUPTED,
    "0.7 Mistral's results have no id": {
        "role": "tool", "content": "one", "tool_responses": [{"role": "tool", "content": "one"}]
    },
    "beside": {"content": "hi", "role": "user", "context": {"a": 1}, "metadata": {"b": 2}},
}  # fmt: skip
THOUGHT = AssistantMessage(
    content=[FunctionCall("1", "{}", "f")], thought="First, look.", source="c"
)
CALLING = ModelResponse(
    ModelMessage("I look."),
    tool_calls=ToolCallsEvent([ToolCallEvent("find", id="c1", arguments='{"q": "a"}')]),
)
REASONING = Content.from_text_reasoning(text="Hm.", protected_data='{"signature": "xyz"}')
FRAMEWORK_CALL = Content.from_function_call("c1", "find", arguments='{"q": "a long question"}')
REASONED = Framework("assistant", [REASONING, "I look.", FRAMEWORK_CALL])
MORE: Mapping[str, Mapping[str, Any]] = {
    "agentchat": {
        "thought of a call": THOUGHT,
        "failed": FunctionExecutionResultMessage(
            content=[FunctionExecutionResult(content="r", name="find", call_id="c1", is_error=True)]
        ),
        "another image": UserMessage(content=["a", picture(colour=9)], source="user"),
        "higher": UserMessage(content=["a", picture(1, 4)], source="user"),
        "wider": UserMessage(content=["a", picture(2, 2)], source="user"),
    },
    "classic": SHAPES,
    "ag2": {
        "data": ModelRequest([TextInput("a"), DataInput(Order(item="b"))]),
        "another image": ModelRequest([TextInput("a"), ImageInput("https://a.b/other.png")]),
        "summary": CompactionSummary(summary="s", event_count=3),
        "text and call": CALLING,
        "reasoning": Response((Thinking("Hm."), CALLING)),
        "result with an image": ToolResultsEvent(
            [
                ToolResultEvent(
                    parent_id="c1",
                    name="f",
                    result=Ag2Result("a long text", ImageInput("https://a.b/c.png")),
                )
            ]
        ),
    },
    "agent-framework": {
        "two texts": Framework("user", ["a", "b"]),
        "another image": Framework(
            "user", ["a", Content.from_uri("https://a.b/other.png", media_type="image/png")]
        ),
        "reasoning": REASONED,
        "of another": Framework("assistant", ["b"], author_name="other"),
    },
}


def samples() -> Iterator[Any]:
    """A message of each kind that a host has, with an id."""
    for host, words in WORDS.items():
        common = {
            "system": words.system("s"),
            "user": words.user("a"),
            "picture": words.picture("a"),
            "answer": words.said("b"),
            "call": words.call("c1"),
            "result": words.result("c1", "a long result"),
            "two results": words.results(("c1", "one"), ("c2", "two")),
        }
        for kind, payload in (common | dict(MORE[host])).items():
            yield pytest.param(words, payload, id=f"{host}: {kind}")


of_each_kind = pytest.mark.parametrize(("words", "payload"), [*samples()])


def telling(message: Message) -> object:
    """What a message says; several contents, which a provider may count apart, may become one."""
    extra = [line for line in message.extra.splitlines() if line != ANOTHER_MESSAGE]
    return replace(message, text_parts=1, extra="\n".join(extra))


@of_each_kind
def test_what_is_not_rewritten_comes_back(words: Words, payload: Any) -> None:
    """Written with the texts that it has, a message is what it was, with its shape and all other fields."""
    before = copy.deepcopy(payload)
    message = words.host.read(payload)
    written = words.host.rewrite(payload, message)
    assert telling(words.host.read(written)) == telling(message)
    assert type(written) is (
        ModelRequest if isinstance(payload, CompactionSummary) else type(payload)
    )
    assert words.host.snapshot(payload) == words.host.snapshot(before)
    if isinstance(payload, dict):
        assert written == {**payload, "content": cast("ChatMessage", written)["content"]}


@of_each_kind
def test_a_rewritten_message_says_what_it_was_told(words: Words, payload: Any) -> None:
    """Shorter texts, arguments and results, without its images (F12); the given message is as it was."""
    host, before = words.host, copy.deepcopy(payload)
    message = host.read(payload)
    wanted = replace(
        message,
        text=message.text and "s",
        calls=tuple(replace(call, arguments="{}") for call in message.calls),
        results=tuple(replace(each, text="r", call_id=each.call_id and "new") for each in message.results),
        images=(),
    )  # fmt: skip
    assert telling(host.read(host.rewrite(payload, wanted))) == telling(wanted)
    assert host.snapshot(payload) == host.snapshot(before)


@in_the_words_of_each_host
def test_digests_are_equal_for_equal_content_alone(words: Words) -> None:
    """Of any two kinds of message; a copy has the same."""
    payloads = [each.values[1] for each in samples() if each.values[0] is words]
    snapshots = [words.host.snapshot(payload) for payload in payloads]
    for payload, snapshot in zip(payloads, snapshots, strict=True):
        again = words.host.snapshot(copy.deepcopy(payload))
        assert again == snapshot
        assert words.host.digest(again) == words.host.digest(snapshot)
    for one, other in combinations(snapshots, 2):
        assert one != other
        assert words.host.digest(one) != words.host.digest(other)


@in_the_words_of_each_host
def test_a_result_too_many_is_in_the_text_of_the_one_before_it(words: Words) -> None:
    """Where a message has fewer results, or more, those are written, each with its id."""
    step = words.results(("c1", "one"), ("c2", "two"))
    first, second = words.host.read(step).results
    for results in (
        (replace(first, text="one, two", call_id="7"),),
        (first, second, replace(first, call_id="c3")),
    ):
        written = words.host.rewrite(step, Message(role="tool", results=results))
        # Only classic AutoGen's messages are repaired by adding results to them.
        kept = results if words.host is CLASSIC else results[:2]
        assert words.host.read(written).results == kept


@in_the_words_of_each_host
def test_what_changes_its_role_is_written_anew(words: Words) -> None:
    """A system message as the user's, and a result without its call as a text, are the user's messages."""
    system, stray = words.system("Remember: tea."), words.result("c1", "42")
    changed = [(stray, as_user(words.host.read(stray)))]
    if words.host is not AG2:  # whose only system message is the prompt
        changed.append((system, replace(words.host.read(system), role="user", name="")))
    for payload, message in changed:
        written = words.host.read(words.host.rewrite(payload, message))
        assert (written.role, written.text) == ("user", message.text)
        assert written.results == ()


[FIRST, *_] = RoleRules(alternate=True).apply(
    [Verbatim(start=0, stop=1)], [Message(role="assistant", text="hi")]
)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(notice_message(3, 70), id="notice"),
        pytest.param(messages_of([FIRST], [])[0], id="filler"),
        pytest.param(Message(role="assistant", text="…"), id="answer"),
        pytest.param(
            Message(role="tool", results=(ToolResult(call_id="1", text="none"),)), id="result"
        ),
    ],
)
@in_the_words_of_each_host
def test_our_own_messages_have_the_hosts_types(words: Words, message: Message) -> None:
    """A message that no agent sent becomes the type that its role has, under the host's name for us."""
    read = words.host.read(words.host.compose(message))
    assert (read.role, read.text, read.results) == (message.role, message.text, message.results)
    assert read.name == (words.host.own_name if read.role == "user" else "")


@pytest.mark.parametrize("payload", ["hi", None, 5, Thinking, UsageEvent()], ids=repr)
@in_the_words_of_each_host
def test_what_is_no_message_is_refused(words: Words, payload: object) -> None:
    """The error names what is wanted and what came."""
    for refuse in (words.host.read, words.host.snapshot):
        with pytest.raises(ValueError, match=rf"must be .*, got (type|{type(payload).__name__})"):
            refuse(payload)


# What is counted is what is sent


class Characters:
    """Counts characters; a role is one token, as in every known vocabulary."""

    def count(self, text: str, /) -> Count:
        return Count(tokens=characters(text), source="tokenizer")


def characters(text: str) -> int:
    """A token for each character."""
    return 1 if text in {"system", "user", "assistant", "tool"} else len(text)


@given(MESSAGES)
def test_all_that_agentchats_client_sends_is_counted(message: LLMMessage) -> None:
    """OpenAI's rules over what AutoGen's client sends give no more than our count of the message."""
    counter = MessageCounter.for_model("gpt-4o", Characters(), own_name=AGENTCHAT.own_name)
    read = AGENTCHAT.read(message)
    for each, tokens in (
        (message, counter.message(read)),
        (AGENTCHAT.compose(notice_message(3, 70)), counter.message(notice_message(3, 70))),
    ):
        sent = to_oai_type(cast("LLMMessage", each), model="gpt-4o", model_family="gpt-4o")
        parts = cast("Sequence[ChatMessage]", sent)
        if not read.images:  # counted by the model's rule, which is another test's
            assert sum(message_tokens(part, characters) for part in parts) <= tokens


COUNTER = MessageCounter.for_model("gpt-4o", Approximate())


def sent(message: Mapping[str, object]) -> list[ChatMessage]:
    """What classic AutoGen makes of a message when it sends it: ``_generate_oai_reply_from_client``, and no more."""
    fields = {k: v for k, v in message.items() if k not in ("context", "metadata")}
    responses = fields.pop("tool_responses", None)
    if not isinstance(responses, list) or not responses:
        return [fields]
    return [*responses, *([fields] if fields["role"] != "tool" else [])]


@pytest.mark.parametrize("shape", [STEP, *SHAPES.values()], ids=["a step", *SHAPES])
def test_a_classic_message_counts_as_what_is_sent_for_it(shape: ChatMessage) -> None:
    """A message has the calls, results and tokens of the messages that the host sends for it."""
    plain = [OpenAIChat().read(message) for message in sent(shape)]
    read = CLASSIC.read(shape)
    assert read.calls == sum((message.calls for message in plain), ())
    assert read.results == sum((message.results for message in plain), ())
    assert COUNTER.message(read) == sum(map(COUNTER.message, plain))


@settings(max_examples=30)
@given(transcripts())
def test_any_classic_step_counts_as_its_results(messages: list[ChatMessage]) -> None:
    """Grouping the results of a step changes no count but that of fields that the host keeps to itself."""
    plain = sum(COUNTER.message(OpenAIChat().read(message)) for message in messages)
    assert (
        sum(COUNTER.message(CLASSIC.read(message)) for message in grouped(copy.deepcopy(messages)))
        == plain
    )


# autogen-agentchat


def test_a_thought_counts_where_it_is_sent() -> None:
    """The thought of calls is their text; that of an answer is none, and both come back."""
    answer = AssistantMessage(content="Done.", thought="So it was.", source="coder")
    assert AGENTCHAT.read(THOUGHT).text == "First, look."
    assert AGENTCHAT.read(THOUGHT).calls == (ToolCall(id="1", name="f", arguments="{}"),)
    assert AGENTCHAT.read(answer) == AGENTCHAT.read(AssistantMessage(content="Done.", source="a"))
    assert AGENTCHAT.rewrite(answer, Message(role="assistant", text="D")) == AssistantMessage(
        content="D", thought="So it was.", source="coder"
    )


def test_images_keep_their_side_of_the_text() -> None:
    """And a message that is to be without images is its text alone."""
    small = picture()
    message = UserMessage(content=[small, "a", small, "b"], source="user")
    read = AGENTCHAT.read(message)
    for changed, content in (
        (read, [small, "a\nb", small]),
        (replace(read, text=""), [small, small]),
        (replace(read, images=(), text="[2 images left out]"), "[2 images left out]"),
    ):
        assert cast("UserMessage", AGENTCHAT.rewrite(message, changed)).content == content
    system = SystemMessage(content="s")
    assert AGENTCHAT.compose(AGENTCHAT.read(system)) == system


# Classic AutoGen


def test_a_rewritten_response_keeps_its_own_fields() -> None:
    """Ids and fields of a response that are not known stay with it, in the old form too; who reads along reads the same."""
    stopped: ChatMessage = {"role": "user", "content": "stop", "tool_responses": [{**OLDER, "x": "y"}]}  # fmt: skip
    assert CLASSIC.rewrite(stopped, CLASSIC.read(stopped)) == stopped
    step = {**STEP, "tool_responses": [{**RESULT, "cache_control": "x"}, RESULT_2]}
    read = CLASSIC.read(step)
    renamed = tuple(
        replace(result, call_id=f"{result.call_id}!", text="…") for result in read.results
    )
    written = cast("ChatMessage", CLASSIC.rewrite(step, replace(read, results=renamed)))
    assert written["tool_responses"] == [
        {**RESULT, "tool_call_id": "c1!", "cache_control": "x", "content": "…"},
        {**RESULT_2, "tool_call_id": "c2!", "content": "…"},
    ]
    assert written["content"] == "…\n\n…"


def test_what_a_person_said_beside_a_result_is_not_lost() -> None:
    """A repaired stray step is one plain message."""
    for stray in (STEP, INTERRUPTED):
        written = cast("ChatMessage", CLASSIC.rewrite(stray, as_user(CLASSIC.read(stray))))
        assert written["role"] == "user"
        assert "tool_responses" not in written
        assert str(written["content"]).startswith(NO_CALL)
        assert ("stop" in written["content"]) is (stray is INTERRUPTED)


def test_a_classic_message_is_known_by_what_is_sent_of_it() -> None:
    """The host takes ``context`` out of a message in place: that is no edit; another result is one."""
    message: ChatMessage = copy.deepcopy({**STEP, "context": {"a": 1}})
    known = CLASSIC.snapshot(message)
    message.pop("context")
    assert CLASSIC.snapshot(message) == known
    message["tool_responses"][0]["content"] = "other"
    assert CLASSIC.snapshot(message) != known


def test_a_content_that_is_a_function_counts_as_its_text() -> None:
    """Classic agents may send a function of the context; the model gets what it returns."""

    def content(context: dict[str, int]) -> str:
        return "x" * context["n"]

    message: ChatMessage = {"role": "user", "context": {"n": 3}, "content": content}
    assert CLASSIC.read(message) == CLASSIC.read({"role": "user", "content": "xxx"})
    written = cast("ChatMessage", CLASSIC.rewrite(message, Message(role="user", text="x")))
    assert written["content"] == "x"
    assert CLASSIC.read({"role": "user", "content": str}).text == ""  # its context is gone


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ({"name": "ada"}, "'role'"),
        ({"role": "tool", "content": "", "tool_responses": "one"}, "must be a list"),
        ({"role": "tool", "content": "", "tool_responses": ["one"]}, "a tool response must be"),
    ],
    ids=["no role and no content", "responses are text", "a response is text"],
)
def test_a_field_of_the_wrong_type_is_named(message: ChatMessage, complaint: str) -> None:
    """Where the dict is no message."""
    with pytest.raises(ValueError, match=complaint):
        CLASSIC.read(message)


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
    assert CLASSIC.read(message).role == role
    assert cast("ChatMessage", CLASSIC.rewrite(message, CLASSIC.read(message)))["role"] == role
    talk = [{"role": "user", "content": "a"}, {"content": "hi"}, {"content": "b", "role": "user"}]
    assert ContextTransform(model="gpt-4o").apply_transform(talk) == talk


# AG2


def test_arguments_are_rewritten_for_the_clients_that_parse_them() -> None:
    """AG2 sends the arguments as parsed, whatever their text."""
    [call] = AG2.read(CALLING).calls
    for arguments in ('{"q": "short"}', "no JSON"):
        short = replace(call, arguments=arguments)
        written = AG2.rewrite(CALLING, Message(role="assistant", calls=(short,)))
        [event] = cast("ModelResponse", written).tool_calls.calls
        assert json.loads(event.arguments) == event.serialized_arguments


def test_which_events_are_sent() -> None:
    """Telemetry is not, a response has its provider's items, and a final result that no step took is a step."""
    loose = ToolResultEvent(parent_id="c1", name="find", result=Ag2Result("final"))
    builtin = BuiltinToolCallEvent("web_search", id="b1")
    request, thinking = ModelRequest([TextInput("Go.")]), Thinking("Hm.")
    answer, taken = ModelResponse(ModelMessage("Found.")), WORDS["ag2"].result("c1", "one")
    events: list[BaseEvent] = [
        request, UsageEvent(), thinking, builtin, CALLING, CALLING.tool_calls, loose, request, answer,
    ]  # fmt: skip
    payloads = payloads_of(events)
    assert events_of(payloads)[:4] == [request, thinking, builtin, CALLING]
    assert isinstance(payloads[2], ToolResultsEvent)
    assert payloads[2].results == [loose]
    assert payloads[3:] == [request, answer]
    assert payloads_of(events) == payloads  # so that no known one is read again
    assert payloads_of([*events[:7], taken])[2] is taken


# Microsoft Agent Framework


def test_what_a_provider_wants_back_stays_with_its_message() -> None:
    """D3: reasoning is counted and comes back untouched; the call keeps its id with other arguments."""
    read = FRAMEWORK.read(REASONED)
    assert "signature" in read.extra
    [call] = read.calls
    short = replace(call, arguments="{}")
    wanted = Message(role="assistant", text="short", calls=(short,))
    written = cast("Framework", FRAMEWORK.rewrite(REASONED, wanted))
    assert written.contents[0] is REASONING
    kinds = [content.type for content in written.contents]
    assert kinds == ["text_reasoning", "text", "function_call"]
    assert FRAMEWORK.read(written).calls == (short,)


def test_reasoning_in_messages_of_its_own_goes_with_the_next() -> None:
    """As Agent Framework groups them; what nobody answers stays where it is."""
    thought, call = Framework("assistant", [REASONING]), Framework("assistant", [FRAMEWORK_CALL])
    asked = Framework("user", ["Go."])
    first, joined, then, last = with_reasoning([asked, thought, thought, call, asked, thought])
    assert (first, then, last) == (asked, asked, thought)
    assert joined.contents == [REASONING, REASONING, FRAMEWORK_CALL]
    assert (thought.contents, call.contents) == ([REASONING], [FRAMEWORK_CALL])


def test_approvals_are_not_sent_and_not_counted() -> None:
    """They stay at home, as the framework's clients leave them."""
    request = Content.from_function_approval_request(id="a", function_call=FRAMEWORK_CALL)
    with_request, plain = Framework("assistant", ["x", request]), Framework("assistant", ["x"])
    assert FRAMEWORK.read(with_request) == FRAMEWORK.read(plain)


def test_an_answer_has_its_agents_name_from_the_first_request_on() -> None:
    """The framework writes it at the end of a run: the same content, and the same tokens; our own has none."""
    answer = WORDS["agent-framework"].said("Yes.")
    later = copy.deepcopy(answer)
    later.author_name = "a"
    assert FRAMEWORK.snapshot(answer) == FRAMEWORK.snapshot(later)
    assert FRAMEWORK.read(answer).name == "a"
    assert named(answer, "a").author_name == "a"
    assert answer.author_name is None
    ours = cast("Framework", FRAMEWORK.compose(Message(role="assistant", text="…")))
    assert not named(ours, "a").author_name
