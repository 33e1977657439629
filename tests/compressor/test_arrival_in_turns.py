"""What a tool returned is made smaller before it is first sent; everything else stays as it came."""

import json
from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME, recall_tool_schema
from autogen_context.testing import ChatMessage
from autogen_context.tokens.measure import Count, TokenCounter
from support.counting import Characters
from support.results import LONG, RESULTS, call_of, run, runs, step

Mode = Literal["off", "lossless", "lossy", "auto"]
TOOLS = [recall_tool_schema()]
FILE = "\n".join(f"{n}\tline number {n} of a file" for n in range(90))
TASK: ChatMessage = {"role": "user", "content": "Read the files."}
TWICE = [TASK, *step(0, FILE), *step(1, FILE)]


def manager(
    window_tokens: int = 10**6, reduce: Mode = "auto", counter: TokenCounter | None = None
) -> IncrementalContextManager:
    """With a window that holds it all, if not said otherwise."""
    config = ContextConfig(window_tokens=window_tokens, reduce=reduce)
    return IncrementalContextManager(config=config, counter=counter or Characters())


def contents(messages: Sequence[ChatMessage]) -> list[str]:
    """What the results say."""
    return [str(message["content"]) for message in messages if message["role"] == "tool"]


@pytest.mark.parametrize("names", [("fetch", "read_file"), ("read_file", "fetch")])
def test_the_call_decides_what_becomes_of_a_text(names: Sequence[str]) -> None:
    """Of a file each character stays, of other JSON no blank, though ids and texts are the same."""
    text = json.dumps([{"id": n, "name": f"row {n}"} for n in range(40)], indent=4)
    messages: list[ChatMessage] = []
    for name in names:
        call = call_of("same", name, **({"path": "rows.json"} if name == "read_file" else {}))
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "same", "content": text},
        ]
    sent = contents(manager().prepare_nowait(messages).messages)
    assert [content == text for content in sent] == [name == "read_file" for name in names]


def test_a_second_reading_costs_a_mark() -> None:
    """Of what stands above the beginning is sent again, and a mark; the original can be had by its handle."""
    one = manager()
    prepared = one.prepare_nowait(TWICE)
    assert prepared.messages[:4] == TWICE[:4]
    assert "lines as above …]" in str(prepared.messages[4]["content"])
    decision = prepared.decisions[-1]
    assert (decision.action, decision.tokens_after < decision.tokens_before) == ("reduce", True)
    assert [result.text for m in one.recall(decision.handle) for result in m.results] == [FILE]


def test_a_compaction_sends_nothing_twice() -> None:
    """Of two readings that a compaction keeps, the second is the mark again, now behind what is still there."""
    messages = [TASK, *step(2, "x " * 8_000), *TWICE[1:]]
    small = manager(6_000)
    small.prepare_nowait(messages[:3])
    prepared = small.prepare_nowait(messages)
    texts = [str(message.get("content")) for message in prepared.messages]
    assert prepared.certificate.fits
    assert sum("line number 50 of a file" in text for text in texts) == 1


@pytest.mark.parametrize("first", ["kept", "edited"])
def test_where_the_host_edits_its_past_nothing_points_at_it(first: str) -> None:
    """A result is sent whole again once what it stood for is gone."""
    messages, one = list(TWICE), manager()
    one.prepare_nowait(messages)
    if first == "edited":
        messages[2] = {**messages[2], "content": "gone"}
    sent = one.prepare_nowait(messages).messages
    assert (str(sent[4]["content"]) == FILE) == (first == "edited")


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
    assert (len(json_text) < len(LONG["json, indented"])) == tidied
    assert ["[reduced from " in text for text in (json_text, log)] == [is_cut, is_cut]
    assert sent[:2] == messages[:2]


@settings(max_examples=12)
@given(runs(RESULTS | st.sampled_from([*LONG.values()])), st.sampled_from([3_000, 8_000, 10**6]))
def test_turn_by_turn_at_once_or_after_a_restart(messages: list[ChatMessage], window: int) -> None:
    """The same bytes are sent; and nothing that was sent is sent otherwise until a compaction."""
    first, before, decisions = manager(window), list[ChatMessage](), list[object]()
    ends = [n for n in range(1, len(messages) + 1) if messages[n - 1]["role"] == "tool"]
    for stop in ends:
        turn = first.prepare_nowait(messages[:stop], TOOLS)
        second = manager(window)
        second.load_state(first.save_state())
        assert second.prepare_nowait(messages[:stop], TOOLS).messages == turn.messages
        assert turn.compacted or turn.messages[: len(before)] == before
        first, before = (second if stop % 2 else first), turn.messages
        decisions = list[object](turn.decisions)
    if window == 10**6:
        assert manager(window).prepare_nowait(messages, TOOLS).messages == before
        again = first.prepare_nowait(messages[: ends[-1]], TOOLS).decisions
        assert list(again) == decisions


def test_no_result_grows_by_any_count() -> None:
    """Where a counter sees no gain there is none."""

    class Alike:
        def count(self, text: str, /) -> Count:
            return Count(tokens=9_000 if text else 0, source="tokenizer")

    messages = run([([LONG["log"], LONG["json"]], "make test")])
    prepared = manager(counter=Alike()).prepare_nowait(messages, TOOLS)
    assert prepared.messages == messages
    assert not any(decision.handle for decision in prepared.decisions)


def test_what_is_pinned_or_was_asked_back_is_sent_whole() -> None:
    """However large; also where the same stands above."""
    call: ChatMessage = {"role": "assistant", "content": None}
    call["tool_calls"] = [call_of("r", RECALL_TOOL_NAME, handle="abc")]
    answer: ChatMessage = {"role": "tool", "tool_call_id": "r", "content": LONG["log"]}
    messages = [*run([([LONG["log"]], "make")]), call, answer]
    one = manager()
    first, last = contents(one.prepare_nowait(messages, TOOLS).messages)
    assert (first == LONG["log"], last == LONG["log"]) == (False, True)
    one.pin(messages[2])
    assert contents(one.prepare_nowait(messages, TOOLS).messages)[0] == LONG["log"]


@pytest.mark.parametrize("ids", ["ba", ["", ""]], ids=["by id", "in order"])
def test_each_of_several_calls_has_its_own_result(ids: Sequence[str]) -> None:
    """What a call names stays in its result, in whatever turn the results come."""
    names = ("invoice_456", "invoice_123")
    call: ChatMessage = {"role": "assistant", "content": None}
    calls = [call_of(key, "search", pattern=n) for key, n in zip(ids, names, strict=True)]
    call["tool_calls"] = calls if ids[0] == "" else calls[::-1]
    results: list[ChatMessage] = [
        {"role": "tool", "tool_call_id": key, "content": f"{n}\n{LONG['listing']}"}
        for n, key in enumerate(ids)
    ]
    messages: list[ChatMessage] = [{"role": "user", "content": "Look."}, call, *results]
    one = manager()
    for stop in (2, 3):
        one.prepare_nowait(messages[:stop], TOOLS)
    first, second = contents(one.prepare_nowait(messages, TOOLS).messages)
    assert (names[0] in first, names[1] in first) == (True, False)
    assert names[1] in second or "lines as above" in second
