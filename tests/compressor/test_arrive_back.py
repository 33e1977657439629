"""Everything that was dropped, shortened, reduced or cut comes back byte for byte by the handle that stands there."""

import re
from collections.abc import Iterator, Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.tool_schema import recall_tool_schema
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import transcripts
from support.counting import Characters
from support.results import LONG, RESULTS, runs

MARKED = re.compile(
    r'^\[reduced from \d+ tokens; the whole: recall_context\(handle="(\w+)"\)\]\Z', re.MULTILINE
)
PAGE = re.compile(r"\[Original \w+, [^\n]*?(?:; more with lines=\"([^\"]+)\")?\]")
RUNS = transcripts(max_repeats=100) | runs(RESULTS | st.sampled_from([*LONG.values()]))
WINDOWS = st.integers(1_000, 12_000)


def manager(window_tokens: int) -> IncrementalContextManager:
    """Four characters are a token."""
    return IncrementalContextManager(window_tokens=window_tokens, counter=Characters())


def turn(one: IncrementalContextManager, messages: Sequence[ChatMessage]) -> Prepared[ChatMessage]:
    """A turn of an agent with the tool; a window that is too small for what must stay says nothing here."""
    try:
        return one.prepare_nowait(messages, [recall_tool_schema()])
    except ContextWindowExceeded:
        assume(False)  # noqa: FBT003 - as hypothesis has it
        raise


def ends_of(messages: Sequence[ChatMessage]) -> Iterator[int]:
    """Where a host would ask for an answer."""
    for n, message in enumerate(messages, 1):
        following = messages[n]["role"] if n < len(messages) else ""
        if not message.get("tool_calls") and following != "tool":
            yield n


def asked_back(one: IncrementalContextManager, handle: str) -> str:
    """An original as an agent reads it, page by page."""
    first, _, text = one.recall_context(handle=handle).partition("\n")
    rest = PAGE.fullmatch(first)
    while rest and rest[1]:
        at = rest[1]
        first, _, page = one.recall_context(handle=handle, lines=at).partition("\n")
        rest = PAGE.fullmatch(first)
        text += re.sub(r"^\d+\t", "", re.sub(r"\n\d+\+\t", "", f"\n{page}"), flags=re.MULTILINE)
    assert rest, first
    return text


@settings(max_examples=5)
@given(RUNS, WINDOWS)
def test_by_the_handle_of_a_decision(messages: list[ChatMessage], window: int) -> None:
    """The whole unit, as the host had it; also after a restart."""
    one, read = manager(window), OpenAIChat().read
    for stop in ends_of(messages):
        decisions = turn(one, messages[:stop]).decisions
        assert [d.start for d in decisions[1:]] == [d.stop for d in decisions[:-1]]
        for decision in decisions:
            unit = messages[decision.start : decision.stop]
            if decision.handle:
                assert one.recall(decision.handle) == tuple(map(read, unit))
        again = manager(window)
        again.load_state(one.save_state())
        for handle in {d.handle for d in decisions} - {""}:
            assert again.recall(handle) == one.recall(handle)


@settings(max_examples=6)
@given(RUNS, WINDOWS)
def test_by_the_handle_of_a_mark(messages: list[ChatMessage], window: int) -> None:
    """What the tool returned, read with the tool itself, as an agent would."""
    one = manager(window)
    texts = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    for stop in ends_of(messages):
        for message in turn(one, messages[:stop]).messages:
            original = texts.get(str(message.get("tool_call_id")))
            mark = MARKED.search(str(message["content"])) if original is not None else None
            if mark and message["content"] != original:
                assert asked_back(one, mark[1]) == original
