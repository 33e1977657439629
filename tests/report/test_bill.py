"""What the turns of a run cost, their sums, and how they are printed."""

import io
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import (
    ContextWindowExceeded,
    IncrementalContextManager,
    MissingExtra,
    Prepared,
)
from autogen_context.config.settings import When
from autogen_context.manager.event_log import EventLog
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.report.bill import (
    HOLD,
    READABLE_ROWS,
    BilledRequest,
    TurnRecord,
    bill_of,
    sampled,
    totals_of,
)
from autogen_context.report.events import Run
from autogen_context.report.table import print_conversations, print_turns
from autogen_context.testing import ChatMessage
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import price_of
from support.runs import LONG, MODEL, growing, lived, manager_of, run_of, turn, unit

COUNTER = MessageCounter.for_model(MODEL)


def billed(
    folder: Path, said: list[ChatMessage], window_tokens: int
) -> tuple[list[TurnRecord], list[Prepared[ChatMessage]]]:
    """The bill of a conversation, and what was prepared."""
    log = EventLog(folder / "run.jsonl")
    prepared = list(lived(manager_of(log, window_tokens), said))
    return bill_of(run_of(log)), prepared


def test_a_bill_has_what_was_sent_and_what_the_host_has(tmp_path: Path) -> None:
    """Counted anew from the messages; of the history all that stood in the turn before is cached."""
    records, prepared = billed(tmp_path, LONG, 3_000)

    def tokens(messages: list[ChatMessage]) -> int:
        counted = (COUNTER.message(OpenAIChat().read(message)) for message in messages)
        return COUNTER.overheads.per_request + sum(counted)

    before = 0
    for record, turned in zip(records, prepared, strict=True):
        assert record.sent
        assert record.sent.tokens == tokens(turned.messages) <= 3_000
        assert record.sent.messages == len(turned.messages)
        assert record.whole.tokens == tokens(LONG[: 2 * record.turn])
        assert record.whole.cached_tokens == price_of(MODEL).cached_tokens(before)
        before = record.whole.tokens
    cuts = [record for record in records if record.compacted]
    assert len(cuts) > 2
    assert all(cut.happened.startswith("compacted: ") for cut in cuts)
    gone = sum(int(cut.happened.split()[1]) for cut in cuts)
    assert gone == sum(decision.action == "drop" for decision in prepared[-1].decisions)
    totals = totals_of(records)
    assert (totals.compactions, totals.sent.above_limit) == (len(cuts), 0)
    assert totals.whole.above_limit == sum(record.whole.tokens > 3_000 for record in records) > 0
    assert (totals.price_ratio or 1) < 1


def test_a_sliding_window_sends_the_newest_that_fit() -> None:
    """Behind the system prompt; from the turn on in which it slides, only that is cached. Below the limit that is everything."""
    records = bill_of(growing(8, model="llama.cpp/m"))  # which caches every token
    requests = [record.sliding for record in records if record.sliding]
    assert all((r.happened, r.price_ratio) == (HOLD, 1.0) for r in records)
    assert all(r.sent == r.whole == r.sliding for r in records[:4])
    assert [each.tokens for each in requests] == [100, 200, 300, 400, 400, 400, 400, 400]
    assert [each.messages for each in requests] == [1, 2, 3, 4, 4, 4, 4, 4]
    assert [each.cached_tokens for each in requests] == [0, 100, 200, 300, 100, 100, 100, 100]
    back = turn(2, [unit(1, before=50)], since=1, limit=150)
    back["turn"] = 9  # the host took all but one message back
    last = bill_of(Run(id="r", turns=[*growing(8).turns, back]))[-1]
    assert (last.whole.tokens, last.sliding and last.sliding.tokens) == (200, 150)
    large = turn(9, [unit(8, before=900)], limit=400)
    newest = bill_of(Run(id="r", turns=[*growing(8).turns, large]))[-1].sliding
    assert newest
    assert (newest.messages, newest.tokens) == (2, 1_000)


def test_what_happened_is_said_in_words() -> None:
    """A rewrite that the host forced, and a compaction, which counts what was not cut before; with the reason."""
    broken = turn(4, [unit(3)], sent={"messages": 4, "tokens": 400, "new": 350, "prefix": 50})
    cut = turn(5, [unit(4), unit(1, action="drop")], compacted=True)
    more = turn(6, [unit(5), unit(2, action="shorten")], compacted=True)
    run = Run(id="r", turns=[*growing(3).turns, broken, cut, more])
    assert [(record.happened, record.detail) for record in bill_of(run)[2:]] == [
        (HOLD, ""),
        ("250 tokens no longer cached", "since earlier content changed"),
        ("compacted: 1 dropped", "0 tokens no longer cached"),
        ("compacted: 1 shortened", "0 tokens no longer cached"),
    ]


@pytest.mark.parametrize(
    ("compaction", "why"),
    [
        ("when_full", {"the window was full"}),
        ("when_cache_cold", {"the provider's cache had run out"}),
    ],
)
def test_why_it_compacted(tmp_path: Path, compaction: When, why: set[str]) -> None:
    """A full window is the reason even where the cache had run out as well, as it has in each turn here."""
    log, hours = EventLog(tmp_path / "run.jsonl"), count()
    keeper = IncrementalContextManager(
        MODEL,
        window_tokens=3_000,
        events=log,
        compaction=compaction,
        clock=lambda: 3_600.0 * next(hours),
    )
    list(lived(keeper, LONG))
    cuts = [record.detail for record in bill_of(run_of(log)) if record.compacted]
    assert {detail.removeprefix("since ").partition(",")[0] for detail in cuts} == why


def test_repairs_are_told_once(tmp_path: Path) -> None:
    """In the turn in which the orphan came in."""
    log = EventLog(tmp_path / "run.jsonl")
    manager = manager_of(log)
    messages: list[ChatMessage] = [
        {"role": "user", "content": "go"},
        {"role": "tool", "tool_call_id": "x", "content": "nobody asked"},
        {"role": "user", "content": "and now?"},
    ]
    for stop in (1, 2, 3):
        manager.prepare_nowait(messages[:stop])
    told = [record.happened for record in bill_of(run_of(log))]
    assert told == [HOLD, "repaired 1", HOLD]


def test_an_impossible_turn_is_in_no_sum(tmp_path: Path) -> None:
    """It is counted as a turn and, where the whole exceeds the limit, as rejected without a plan."""
    log = EventLog(tmp_path / "run.jsonl")
    manager = manager_of(log, 100)
    with pytest.raises(ContextWindowExceeded) as caught:
        manager.prepare_nowait([{"role": "system", "content": "rule " * 500}])
    [record] = bill_of(run_of(log))
    assert (record.sent, record.sliding, record.price_ratio) == (None, None, None)
    assert record.happened == f"impossible: needs {caught.value.least_tokens:,}"
    totals = totals_of([record])
    assert (totals.turns, totals.impossible, totals.whole.above_limit) == (1, 1, 1)
    assert (totals.whole.tokens, totals.sent.tokens, totals.price_ratio) == (0, 0, None)
    assert (totals.whole.dollars, totals.whole.most_tokens) == (None, record.whole.tokens)
    for text in ("Hello.", "rule " * 500, "Bye."):
        with suppress(ContextWindowExceeded):
            manager.prepare_nowait([{"role": "system", "content": text}])
    assert [(r.turn, r.sent is None) for r in bill_of(run_of(log))] == [
        *((1, True), (2, False)),
        *((3, True), (4, False)),
    ]


def quiet(number: int, **given: object) -> TurnRecord:
    """A turn in which nothing happened, but for what is given."""
    request = BilledRequest(
        messages=2, tokens=234_567, cached_tokens=0, cost_tokens=234_567.0, dollars=None
    )
    record = TurnRecord(
        turn=number,
        limit_tokens=2_000_000,
        room_tokens=2_000_000,
        whole=request,
        sent=request,
        sliding=request,
        compacted=False,
        happened=HOLD,
    )
    return replace(record, **given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # fields of a record


CUT = {"compacted": True, "happened": "compacted: 12 dropped, 1 shortened"}
RECORDS = st.lists(st.sampled_from([{}, CUT]), max_size=30).map(
    lambda given: [quiet(number, **each) for number, each in enumerate(given, 1)]
)


@given(records=RECORDS, every=st.none() | st.integers(1, 10))
def test_a_sample_holds_every_turn_in_which_something_happened(
    records: list[TurnRecord], every: int | None
) -> None:
    """And the last one, in order; everything with 1 or where it is short."""
    shown = sampled(records, every=every)
    turns = [record.turn for record in shown]
    assert turns == sorted(set(turns))
    assert all(record in shown for record in [*records[-1:], *records] if record.happened != HOLD)
    assert shown[-1:] == records[-1:]
    if every in (None, 1):
        assert shown == records


def test_a_long_sample_has_about_forty_rows() -> None:
    """As many as a person reads; where compactions alone are more, of the others the first and the last stay."""
    for turns in (41, 80, 1_000):
        records = [quiet(number) for number in range(1, turns + 1)]
        assert READABLE_ROWS // 2 < len(sampled(records)) <= READABLE_ROWS + 1
    cuts = [quiet(number, **CUT) for number in range(1, 101)]
    held = [quiet(number) for number in range(101, 201)]
    assert sampled([*cuts, *held]) == [*cuts, held[0], held[-1]]
    with pytest.raises(ValueError, match="every=0"):
        sampled([], every=0)


def test_a_request_that_fills_its_limit_is_not_rejected() -> None:
    """One token more is; by the limit in tokens as they are counted here."""
    above = [totals_of([quiet(1, room_tokens=n)]).sent.above_limit for n in (234_567, 234_566)]
    assert above == [0, 1]


def printed(records: list[TurnRecord], every: int | None = None) -> str:
    """What is printed where there is no terminal."""
    with redirect_stdout(io.StringIO()) as file:
        print_turns(records, every=every)
    return file.getvalue()


def test_the_table_is_plain_and_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colours in a pipe, no blanks at the ends, one line for each turn, thousands separated; what is left out is said."""
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = printed([quiet(1), quiet(2), quiet(3, **CUT), quiet(4, sent=None)]).splitlines()
    assert "\x1b" not in "".join(lines)
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith(" ") for line in lines)
    assert [line.split()[0] for line in lines[4:8]] == ["1", "2", "3", "4"]
    assert lines[6].split(maxsplit=6)[2:] == ["234,567", "234,567", "0", "1.00", CUT["happened"]]
    assert lines[7].split()[2:] == ["234,567", "-", "-", "-", HOLD]
    assert "not shown" not in "".join(lines)
    text = printed([quiet(number) for number in range(1, 101)], every=10)
    assert "89 turns in which it held are not shown." in text


def test_foreign_names_are_shown_as_they_are() -> None:
    """No markup, no escape sequences, no line breaks; too long a name is cut, not its numbers."""
    totals = totals_of([quiet(1)])
    with redirect_stdout(io.StringIO()) as file:
        print_conversations([("[b]x[/b]\x1b[2J\n", totals), ("n" * 200, totals)])
    lines = file.getvalue().splitlines()
    assert "[b]x[/b]?[2J?" in lines[4]
    assert lines[5].split()[-5:] == ["234,567", "0", "0", "0", "1.00"]
    assert (max(map(len, lines)) <= 80, len(lines)) == (True, 6)


@pytest.mark.parametrize(
    ("dollars", "shown"), [(2.34567, ["2.35"]), (0.5864, ["0.5864"]), (None, [])]
)
def test_dollars_are_shown_where_they_are_known(dollars: float | None, shown: list[str]) -> None:
    """Small amounts with four digits; with one request whose price is not known, no sum."""
    request = replace(quiet(1).whole, dollars=dollars)
    known = quiet(1, whole=request, sent=request)
    lines = printed([known]).splitlines()
    assert [line.split()[-1] for line in lines if "in dollars" in line] == shown
    assert "in dollars" not in printed([known, quiet(2)])


def test_without_rich_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra, by name."""
    monkeypatch.setitem(sys.modules, "rich.table", None)
    with pytest.raises(MissingExtra, match=r"autogen-context\[cli\]"):
        printed([quiet(1)])


def test_a_bill_is_the_providers_where_it_reported_one(tmp_path: Path) -> None:
    """All ways are in its tokens, so that they compare; a turn that was billed twice, for a retry, says nothing of our counts."""
    log = EventLog(tmp_path / "run.jsonl")
    manager = manager_of(log, 3_000)
    for number, prepared in enumerate(lived(manager, LONG)):
        counted = prepared.certificate.counted_tokens
        for times in range(1 + (number == 3)):
            manager.record_usage(prepared, prompt_tokens=round(1.2 * counted) + 500 * times)
    counts = [each["counted"] for each in run_of(log).turns]
    told = bill_of(run_of(log))
    alone = bill_of(replace(run_of(log), others=()))
    assert [each.sent.tokens for each in alone if each.sent] == counts
    for ours, own in zip(told, alone, strict=True):
        assert ours.sent
        assert own.sent
        assert ours.sent.tokens == pytest.approx(1.2 * own.sent.tokens, abs=2)
        assert ours.whole.tokens == pytest.approx(1.2 * own.whole.tokens, abs=4)
        assert ours.room_tokens == pytest.approx(1.2 * own.room_tokens, abs=2)
    assert totals_of(told).whole.above_limit == totals_of(alone).whole.above_limit
