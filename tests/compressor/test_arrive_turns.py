"""Results are reduced as they arrive, as the settings and the agent's tools say, and never again."""

from collections.abc import Sequence
from typing import Literal

import pytest
from autogen_core import FunctionCall
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    UserMessage,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.adapters.agentchat import AgentChatFormat
from autogen_context.cache.originals import OriginalStore
from autogen_context.compressor.arrival.arrival import Arrival
from autogen_context.compressor.arrival.arrive import MOST_TOKENS
from autogen_context.messages.message import Message
from autogen_context.messages.tool_call import BY_NAME
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME, recall_tool_schema
from autogen_context.testing import ChatMessage
from autogen_context.tokens.measure import Count, TokenCounter
from support.counting import COUNTER, Characters
from support.results import LONG, NEEDLE, RESULTS, call_of, run, runs, step
from support.units import candidates_of, read_all

TOOLS = [recall_tool_schema()]
Mode = Literal["off", "lossless", "lossy", "auto"]
MARK = "[reduced from "
WINDOWS = [3_000, 8_000, 100_000]


class Alike:
    """Takes all texts for equally long."""

    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        return Count(tokens=9_000 if text else 0, source="tokenizer")


def manager(
    window_tokens: int = 10**6, reduce: Mode = "auto", counter: TokenCounter | None = None
) -> IncrementalContextManager:
    """With a window that holds it all, if not said otherwise."""
    config = ContextConfig(window_tokens=window_tokens, reduce=reduce)
    return IncrementalContextManager(config=config, counter=counter or Characters())


def contents(messages: Sequence[ChatMessage]) -> list[str]:
    """What the results say."""
    return [str(message["content"]) for message in messages if message["role"] == "tool"]


@pytest.mark.parametrize(
    ("reduce", "recalls", "tidied", "is_cut"),
    [
        ("off", True, False, False),
        ("lossless", True, True, False),
        ("lossy", False, True, True),
        ("auto", False, True, False),
        ("auto", True, True, True),
    ],
)
def test_the_setting_decides(reduce: Mode, recalls: bool, tidied: bool, is_cut: bool) -> None:  # noqa: FBT001 - a row
    """Whether results are tidied, and whether they are cut; by default only an agent that can ask back gets less."""
    messages = run([([LONG["json, indented"]], "curl orders"), ([LONG["log"]], "make test")])
    sent = manager(reduce=reduce).prepare_nowait(messages, TOOLS if recalls else ()).messages
    json_text, log = contents(sent)
    assert (len(json_text) < len(LONG["json, indented"]), len(log) < len(LONG["log"])) == (
        tidied,
        tidied,
    )
    assert (MARK in json_text, MARK in log) == (is_cut, is_cut)
    assert sent[:2] == messages[:2]


@settings(max_examples=30)
@given(runs(RESULTS | st.sampled_from([*LONG.values()])), st.sampled_from(WINDOWS))
def test_turn_by_turn_at_once_or_after_a_restart(messages: list[ChatMessage], window: int) -> None:
    """The same bytes are sent; and nothing that was sent is sent otherwise until a compaction."""
    first, before = manager(window), list[ChatMessage]()
    ends = [n for n in range(1, len(messages) + 1) if messages[n - 1]["role"] == "tool"]
    for stop in ends:
        turn = first.prepare_nowait(messages[:stop], TOOLS)
        second = manager(window)
        second.load_state(first.save_state())
        assert second.prepare_nowait(messages[:stop], TOOLS).messages == turn.messages
        assert turn.compacted or turn.messages[: len(before)] == before
        first, before = (second if stop % 2 else first), turn.messages
    if window == WINDOWS[-1]:
        assert manager(window).prepare_nowait(messages, TOOLS).messages == before


@settings(max_examples=20)
@given(runs(RESULTS, most=4), st.sampled_from(WINDOWS))
def test_without_the_tool_nothing_is_cut(messages: list[ChatMessage], window: int) -> None:
    """On arrival; what a compaction shortens says so in other words."""
    one = manager(window)
    for stop in range(1, len(messages) + 1):
        sent = one.prepare_nowait(messages[:stop]).messages
        assert sum(text.count(MARK) for text in contents(sent)) <= sum(
            text.count(MARK) for text in contents(messages)
        )


@pytest.mark.parametrize("kind", ["log", "json", "page"])
def test_no_result_grows_by_any_count(kind: str) -> None:
    """Where a counter sees no gain there is none."""
    messages = run([([LONG[kind]], "make test")])
    prepared = manager(counter=Alike()).prepare_nowait(messages, TOOLS)
    assert prepared.messages == messages
    assert not any(decision.handle for decision in prepared.decisions)


def test_what_is_pinned_is_sent_whole() -> None:
    """From the next turn on, or the first."""
    messages = run([([LONG["log"], LONG["json"]], "make test")])
    one = manager()
    one.prepare_nowait(messages, TOOLS)
    one.pin(messages[2])
    assert contents(one.prepare_nowait(messages, TOOLS).messages)[0] == LONG["log"]


def test_what_was_asked_back_is_sent_whole() -> None:
    """However large; also where the same stands above."""
    call: ChatMessage = {"role": "assistant", "content": None}
    call["tool_calls"] = [call_of("r", RECALL_TOOL_NAME, handle="abc")]
    answer: ChatMessage = {"role": "tool", "tool_call_id": "r", "content": LONG["log"]}
    messages = [*run([([LONG["log"][:4_000]], "make")]), call, answer]
    assert contents(manager().prepare_nowait(messages, TOOLS).messages)[-1] == LONG["log"]


def test_each_of_several_calls_has_its_own_result() -> None:
    """What a call names stays in its result, in whatever order and turn the results come."""
    names = {"a": "invoice_123", "b": "invoice_456"}
    call: ChatMessage = {"role": "assistant", "content": None}
    call["tool_calls"] = [call_of(key, "search", pattern=name) for key, name in names.items()]
    results: list[ChatMessage] = [
        {"role": "tool", "tool_call_id": key, "content": LONG["listing"]} for key in ("b", "a")
    ]
    messages: list[ChatMessage] = [{"role": "user", "content": "Look."}, call, *results]
    one = manager()
    for stop in (2, 3):
        one.prepare_nowait(messages[:stop], TOOLS)
    of_b, of_a = contents(one.prepare_nowait(messages, TOOLS).messages)
    assert (names["b"] in of_b, names["a"] in of_b) == (True, False)
    assert names["a"] in of_a or "lines as above" in of_a


def test_results_without_ids_answer_their_calls_in_order() -> None:
    """What the second call names stays in the second result."""
    names = ("invoice_123", "invoice_456")
    call: ChatMessage = {"role": "assistant", "content": None}
    call["tool_calls"] = [call_of("", "search", pattern=name) for name in names]
    listing = LONG["listing"]
    results: list[ChatMessage] = [
        {"role": "tool", "tool_call_id": "", "content": f"{n}\n{listing}"} for n in range(2)
    ]
    messages: list[ChatMessage] = [{"role": "user", "content": "Look."}, call, *results]
    first, second = contents(manager().prepare_nowait(messages, TOOLS).messages)
    assert (names[0] in first, names[1] in first) == (True, False)
    assert names[1] in second


@pytest.mark.parametrize("own", [True, False])
def test_what_comes_and_goes_stands_for_nothing(*, own: bool) -> None:
    """What is said in our name is not there after a compaction, or was not there before it."""
    said = Message(role="user", text=LONG["hits"], own=own)
    arrival = Arrival(COUNTER, kinds=BY_NAME, keep=OriginalStore(0).put_text)
    arrival.restart([said])
    decided = arrival.decide(candidates_of(read_all(step(0, LONG["hits"])))[0])
    assert decided.action == ("keep" if own else "reduce")


def test_of_several_results_in_one_message_each_is_looked_at() -> None:
    """As autogen-agentchat has them: a large one is cut, a small one beside it stays."""
    calls = [FunctionCall(id=n, name="bash", arguments='{"command": "make"}') for n in "ab"]
    texts = {"a": LONG["log"], "b": "It is done."}
    results = [
        FunctionExecutionResult(call_id=key, name="bash", content=text)
        for key, text in texts.items()
    ]
    messages: list[LLMMessage] = [
        UserMessage(content=f"Find {NEEDLE}.", source="user"),
        AssistantMessage(content=calls, source="coder"),
        FunctionExecutionResultMessage(content=results),
    ]
    one = IncrementalContextManager(
        window_tokens=10**6, counter=Characters(), host=AgentChatFormat()
    )
    prepared = one.prepare_nowait(messages, TOOLS)
    last = prepared.messages[-1]
    assert isinstance(last, FunctionExecutionResultMessage)
    large, small = (result.content for result in last.content)
    assert (NEEDLE in large, MARK in large, small) == (True, True, texts["b"])
    assert Characters().count(large).tokens <= MOST_TOKENS
    recalled = one.recall(prepared.decisions[-1].handle)
    assert [r.text for m in recalled for r in m.results] == [LONG["log"], texts["b"]]
