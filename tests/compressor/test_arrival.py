"""A tool's result is made smaller before it is first sent, and cut with a mark where the rest can be asked back; all else stays."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Literal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager, Prepared
from autogen_context.compressor.arrival import (
    LEAST_ABOVE,
    LEAST_LEFT,
    MOST_CODE_TOKENS,
    MOST_TOKENS,
    WANTED,
    LinesAbove,
    cut,
    mark_of,
    tightened,
    wanted_of,
)
from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.message import ToolCall
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME, recall_tool_schema
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import transcripts
from autogen_context.tokens.measure import Count, TokenCounter
from support.counting import Characters
from support.reducing import bound, exact
from support.results import ERROR, LONG, NEEDLE, RESULTS, run, runs, step
from support.saying import call_of

PADDING = re.compile(r"^ +(?=\d+\t)", re.MULTILINE)
COUNTERS: dict[str, Callable[[str], int]] = {
    "exact": exact,
    "bound": bound,
    "characters": len,
    "nothing": lambda _: 0,
    "too much": lambda _: 10**9,
    "the shorter the more": lambda text: 10**6 // (1 + len(text)),
    "by chance": lambda text: int(hashlib.sha256(repr(text).encode()).hexdigest()[:5], 16),
}


def called(name: str, **arguments: str) -> ToolCall:
    """A call of a tool."""
    return ToolCall(id="c", name=name, arguments=json.dumps(arguments))


def above(*texts: str) -> LinesAbove:
    """What was sent before."""
    lines = LinesAbove()
    for text in texts:
        lines.add(text)
    return lines


def arrived(text: str, task: str = "", call: ToolCall | None = None) -> str:
    """A result as it is sent where the rest can be asked back."""
    return cut(tightened(text), text, task=task, call=call, count=exact)[0]


@settings(max_examples=30)
@given(RESULTS | st.sampled_from([*LONG.values()]))
def test_of_a_file_every_line_stays(text: str) -> None:
    """To the character, whatever is in the file; only the blanks go that align line numbers."""
    assert tightened(text, shows_file=True) in (text, PADDING.sub("", text))


@settings(max_examples=30)
@given(RESULTS, RESULTS, st.booleans(), st.sampled_from(sorted(COUNTERS)))
def test_never_longer_and_the_same_each_time(
    text: str,
    before: str,
    shows_file: bool,  # noqa: FBT001 - drawn
    counter: str,
) -> None:
    """With any counter, the lying ones too, and whatever is broken in the call; what is cut ends with the mark of its original."""
    count = COUNTERS[counter]
    call = ToolCall(id="", name=before[:9_000], arguments=before[:9_000])

    def sent() -> tuple[str, str, str]:
        tidy = above(before).without(tightened(text, shows_file=shows_file))
        return (tidy, *cut(tidy, text, shows_file=shows_file, call=call, task=NEEDLE, count=count))

    tidy, short, handle = sent()
    assert (tidy, short, handle) == sent()
    assert len(short) <= len(tidy) <= len(text)
    assert short == tidy or short.endswith(mark_of(count(text), handle))
    assert (short == tidy) == (not handle)


@pytest.mark.parametrize("kind", LONG)
def test_what_is_cut_has_its_room_and_what_matters(kind: str) -> None:
    """No more than a result may have, a little more for code, most of it in use; in it what the call or the task names.

    F30: and errors unasked, where lines of that kind tell of such.
    """
    for shows_file in (False, True):
        most = MOST_CODE_TOKENS if shows_file or kind in ("code", "file") else MOST_TOKENS
        short, handle = cut(LONG[kind], LONG[kind], shows_file=shows_file, count=exact)
        assert handle
        assert 0.4 * most <= exact(short) <= most
    assert NEEDLE in arrived(LONG[kind], call=called("search", query=NEEDLE))
    assert NEEDLE in arrived(LONG[kind], task=f"And {NEEDLE}?")
    if kind in ("log", "output", "tests", "json", "json, indented", "table"):
        assert ERROR in arrived(LONG[kind])
    if kind == "hits":  # else this law would say nothing
        assert NEEDLE not in arrived(LONG[kind])


def test_the_call_is_heard_before_the_task() -> None:
    """However much the task names, in the order in which it names it; a long argument is content and names nothing."""
    task = " ".join(f"name_{i:03d}" for i in range(3 * WANTED))
    wanted = wanted_of(called("search", query=NEEDLE), task)
    assert NEEDLE in wanted
    assert len(wanted) == WANTED
    assert wanted > {f"name_{i:03d}" for i in range(WANTED - 2)}
    assert not wanted_of(called("write", text="some_name " * 90), "")


def test_every_process_cuts_alike() -> None:
    """Whatever order its sets have."""
    program = (
        "from support.results import LONG; from autogen_context.compressor.arrival import cut;"
        "task = ' '.join(f'invoice_{i} src/part_{i}.py' for i in range(200));"
        "print(ascii([cut(LONG[k], LONG[k], task=task, count=len)[0] for k in ('log', 'code', 'json')]))"
    )
    there = subprocess.run(  # noqa: S603 - this Python, our own program
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
    )
    task = " ".join(f"invoice_{i} src/part_{i}.py" for i in range(200))
    texts = [LONG[kind] for kind in ("log", "code", "json")]
    here = ascii([cut(text, text, task=task, count=len)[0] for text in texts])
    assert there.stdout.decode().strip() == here


# Lines that stand above

MARK = re.compile(r"\[… (\d+) lines as above …\]")
LINES = st.sampled_from(["", "}", "    return None", "x" * 90, "y" * 90, "z = 1", "\r", "\x00"])
LISTINGS = st.lists(LINES, max_size=60).map("\n".join)


def restored(text: str, texts: list[str]) -> str:
    """The text again, each mark looked up at the nearest place above where the lines around it stand so far apart."""
    lines, found = text.split("\n"), list[str]()
    for at, line in enumerate(lines):
        mark = MARK.fullmatch(line)
        if not mark:
            found.append(line)
            continue
        first, last, far = lines[at - 1], lines[at + 1], int(mark[1]) + 1
        found += next(
            place[i + 1 : i + far]
            for place in (other.split("\n") for other in reversed(texts))
            for i in range(len(place) - far - 1, -1, -1)
            if place[i] == first and place[i + far] == last
        )
    return "\n".join(found)


@given(st.lists(LISTINGS, max_size=5), LISTINGS)
def test_whoever_has_what_stands_above_has_it_all(texts: list[str], text: str) -> None:
    """Line by line. It is shorter or it is the text, and enough of it stays to say what it is."""
    short = above(*texts).without(text)
    assert restored(short, [other for other in texts if len(other) >= LEAST_ABOVE]) == text
    assert short == text or len(short) < len(text)
    assert len(short) >= min(len(text), LEAST_LEFT)


# In turns

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


# Asked back

MARKED = re.compile(
    r'^\[reduced from \d+ tokens; the whole: recall_context\(handle="(\w+)"\)\]\Z', re.MULTILINE
)
PAGE = re.compile(r"\[Original \w+, [^\n]*?(?:; more with lines=\"([^\"]+)\")?\]")
RUNS = transcripts(max_repeats=100) | runs(RESULTS | st.sampled_from([*LONG.values()]))


def turn_of(
    one: IncrementalContextManager, messages: Sequence[ChatMessage]
) -> Prepared[ChatMessage]:
    """A turn of an agent with the tool; a window that is too small for what must stay says nothing here."""
    try:
        return one.prepare_nowait(messages, TOOLS)
    except ContextWindowExceeded:
        assume(False)  # noqa: FBT003 - as hypothesis has it
        raise


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


@settings(max_examples=6)
@given(RUNS, st.integers(1_000, 12_000))
def test_everything_comes_back(messages: list[ChatMessage], window: int) -> None:
    """Byte for byte: a unit by the handle of its decision, also after a restart; a result by that of its mark, as an agent reads it."""
    one, read = manager(window), OpenAIChat().read
    texts = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    following = [*(m["role"] for m in messages[1:]), ""]
    waits = [
        bool(m.get("tool_calls")) or role == "tool"
        for m, role in zip(messages, following, strict=True)
    ]
    for stop in (n for n, waiting in enumerate(waits, 1) if not waiting):
        turn = turn_of(one, messages[:stop])
        decisions = turn.decisions
        assert [d.start for d in decisions[1:]] == [d.stop for d in decisions[:-1]]
        again = manager(window)
        again.load_state(one.save_state())
        for decision in decisions:
            if decision.handle:
                unit = tuple(map(read, messages[decision.start : decision.stop]))
                assert one.recall(decision.handle) == again.recall(decision.handle) == unit
        for message in turn.messages:
            original = texts.get(str(message.get("tool_call_id")))
            mark = MARKED.search(str(message["content"])) if original is not None else None
            if mark and message["content"] != original:
                assert asked_back(one, mark[1]) == original
