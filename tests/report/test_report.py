"""Turn records, their sums, and how they are printed."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.errors import ContextWindowExceeded, MissingExtra
from autogen_context.manager import IncrementalContextManager
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.report.recorder import Recorder
from autogen_context.report.table import print_conversations, print_turns
from autogen_context.report.turns import (
    HOLD,
    READABLE_ROWS,
    Request,
    TurnRecord,
    as_facts,
    merged,
    sampled,
    totals_of,
)
from autogen_context.testing.conversation import conversation
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import price_of

MODEL = "gpt-4o"
COUNTER = MessageCounter.for_model(MODEL)
FIXED = COUNTER.overheads.per_request


def count(message: object) -> int:
    """Tokens of an OpenAI message."""
    return COUNTER.message(OpenAIChat().read(message))


def recorder() -> Recorder:
    """A new recorder for the model of these tests."""
    return Recorder(count=count, tariff=price_of(MODEL), fixed_tokens=FIXED)


def recorded(*, turns: int, tokens_per_turn: int, window_tokens: int) -> list[TurnRecord]:
    """The records of a generated conversation, with an independent check of each request."""
    manager = IncrementalContextManager(model=MODEL, window_tokens=window_tokens)
    messages = conversation(turns=turns, tokens_per_turn=tokens_per_turn)
    records = recorder()
    for stop in range(2, len(messages) + 1, 2):
        prepared = manager.prepare_nowait(messages[:stop])
        record = records.record(messages[:stop], prepared)
        assert record.sent is not None
        assert record.sent.tokens == FIXED + sum(map(count, prepared.messages))
        assert record.sent.tokens == prepared.certificate.counted_tokens
        assert record.whole.tokens == FIXED + sum(map(count, messages[:stop]))
    return records.records


LISTS = st.lists(st.lists(st.integers(0, 3), max_size=8), min_size=1, max_size=6)


class Plain:
    """A provider that caches every shared token, for free."""

    def cached_tokens(self, shared_tokens: int, /) -> int:
        return shared_tokens

    def cost_tokens(self, tokens: int, cached_tokens: int, /) -> float:
        return tokens - cached_tokens


@given(lists=LISTS)
def test_the_cached_tokens_are_those_of_the_common_start(lists: list[list[int]]) -> None:
    """Request by request against the one before, whatever the lists do: grow, shrink, change."""
    records = Recorder(count=lambda m: 10 + int(str(m)), tariff=Plain(), fixed_tokens=5)
    certificate = IncrementalContextManager(model=MODEL).prepare_nowait([]).certificate
    before: list[int] = []
    for messages in lists:
        prepared = Prepared(
            messages=messages, certificate=certificate, decisions=(), compacted=False
        )
        record = records.record(messages, prepared)
        same = next(
            (i for i, (a, b) in enumerate(zip(before, messages, strict=False)) if a != b), None
        )
        common = messages[: min(len(before), len(messages)) if same is None else same]
        assert record.whole == record.sent
        assert record.whole.tokens == 5 + sum(10 + m for m in messages)
        assert record.whole.cached_tokens == (5 + sum(10 + m for m in common) if before else 0)
        before = messages


def test_a_message_is_counted_once_while_it_stays() -> None:
    """Otherwise a long conversation costs the square of its length."""
    counted: list[object] = []

    def counting(message: object) -> int:
        counted.append(message)
        return 1

    records = Recorder(count=counting, tariff=Plain())
    manager, messages = IncrementalContextManager(model=MODEL), conversation(turns=10)
    for stop in range(1, len(messages) + 1):
        records.record(messages[:stop], manager.prepare_nowait(messages[:stop]))
    assert len(counted) == 2 * len(messages)  # in the whole, and in what is sent


def test_turns_below_the_limit_cost_what_sending_everything_costs() -> None:
    """Nothing happened, and the ratio is 1."""
    for record in recorded(turns=10, tokens_per_turn=100, window_tokens=50_000):
        assert (record.happened, record.compacted, record.price_ratio) == (HOLD, False, 1.0)
        assert record.sent == record.whole


def test_compactions_are_told_and_never_exceed_the_limit() -> None:
    """What is missing at the end was told as dropped; some of it may have come back in between."""
    records = recorded(turns=40, tokens_per_turn=300, window_tokens=3_000)
    cuts = [record for record in records if record.compacted]
    assert len(cuts) > 2
    assert all(record.happened.startswith("compacted: ") for record in cuts)
    dropped = sum(int(record.happened.split()[1].replace(",", "")) for record in cuts)
    last = records[-1]
    assert last.sent is not None
    assert last.sent.messages >= last.whole.messages - dropped + 1  # the notice stands for them
    totals = totals_of(records, input_per_million=2.5)
    assert (totals.compactions, totals.sent.above_limit) == (len(cuts), 0)
    assert totals.whole.above_limit > 0
    assert (totals.price_ratio or 1) < 1
    messages = conversation(turns=1, tokens_per_turn=5_000)
    manager = IncrementalContextManager(model=MODEL, window_tokens=2_000)
    record = recorder().record(messages, manager.prepare_nowait(messages))
    assert record.happened == "compacted: 1 shortened"


def test_repairs_are_told_once() -> None:
    """In the turn in which the orphan came in."""
    manager, records = IncrementalContextManager(model=MODEL), recorder()
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "go"},
        {"role": "tool", "tool_call_id": "x", "content": "nobody asked"},
        {"role": "user", "content": "and now?"},
    ]
    told = [
        records.record(messages[:n], manager.prepare_nowait(messages[:n])).happened
        for n in range(1, 4)
    ]
    assert told == [HOLD, "repaired 1", HOLD]


def test_an_impossible_turn_is_in_neither_sum() -> None:
    """It is counted as a turn and, where the whole exceeds the limit, as rejected without a plan."""
    records = recorder()
    big: list[dict[str, object]] = [{"role": "system", "content": "rule " * 500}]
    manager = IncrementalContextManager(model=MODEL, window_tokens=100)
    with pytest.raises(ContextWindowExceeded) as caught:
        manager.prepare_nowait(big)
    record = records.record_impossible(big, caught.value)
    assert (record.sent, record.price_ratio) == (None, None)
    assert record.happened == f"impossible: needs {caught.value.floor_tokens:,}"
    totals = totals_of(records.records, input_per_million=1.0)
    assert (totals.turns, totals.impossible, totals.whole.above_limit) == (1, 1, 1)
    assert (totals.whole.tokens, totals.sent.tokens, totals.price_ratio) == (0, 0, None)


REQUESTS = st.builds(
    Request,
    messages=st.integers(0, 100),
    tokens=st.integers(1, 10_000),
    cached_tokens=st.just(0),
    cost_tokens=st.integers(1, 10_000).map(float),
)
RECORDS = st.lists(
    st.builds(
        TurnRecord,
        turn=st.just(1),
        limit_tokens=st.just(5_000),
        whole=REQUESTS,
        sent=st.none() | REQUESTS,
        compacted=st.booleans(),
        happened=st.sampled_from([HOLD, "compacted: 1 dropped"]),
    ),
    max_size=30,
).map(lambda records: [replace(record, turn=i) for i, record in enumerate(records, 1)])


@given(first=RECORDS, second=RECORDS)
def test_merging_totals_is_adding_up_all_turns(
    first: list[TurnRecord], second: list[TurnRecord]
) -> None:
    """Sums, maxima and counts; dollars as long as they are known."""
    apart = merged([totals_of(part, input_per_million=1_000_000) for part in (first, second)])
    whole = totals_of([*first, *second], input_per_million=1_000_000)
    assert apart == whole  # whole dollars, so that floats add up alike
    made = [r.sent for r in first if r.sent]
    assert totals_of(first).sent.tokens == sum(r.tokens for r in made)
    assert totals_of(first).whole.cost_tokens == sum(r.whole.cost_tokens for r in first if r.sent)
    if made:
        assert merged([totals_of(first), whole]).whole.dollars is None


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
        records = [quiet(turn) for turn in range(1, turns + 1)]
        assert READABLE_ROWS // 2 < len(sampled(records)) <= READABLE_ROWS + 1
    cuts = [replace(quiet(n), happened="compacted: 1 dropped") for n in range(1, 101)]
    held = [quiet(n) for n in range(101, 201)]
    assert sampled([*cuts, *held]) == [*cuts, held[0], held[-1]]
    with pytest.raises(ValueError, match="every=0"):
        sampled([], every=0)


def test_a_request_that_fills_its_limit_is_not_rejected() -> None:
    """One token more is."""
    full = replace(quiet(1), limit_tokens=234_567)
    assert totals_of([full]).sent.above_limit == 0
    assert totals_of([replace(full, limit_tokens=234_566)]).sent.above_limit == 1


def quiet(turn: int) -> TurnRecord:
    """A turn in which nothing happened."""
    request = Request(messages=2, tokens=234_567, cached_tokens=0, cost_tokens=234_567.0)
    return TurnRecord(
        turn=turn,
        limit_tokens=2_000_000,
        whole=request,
        sent=request,
        compacted=False,
        happened=HOLD,
    )


def printed(records: list[TurnRecord], **options: Any) -> str:
    """What is printed where there is no terminal."""
    file = io.StringIO()
    print_turns(records, file=file, **options)
    return file.getvalue()


def test_the_table_is_plain_and_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colours in a pipe, no blanks at the ends, one line for each turn, thousands separated."""
    monkeypatch.delenv("COLUMNS", raising=False)
    cut = replace(quiet(3), compacted=True, happened="compacted: 12 dropped, 1 shortened")
    lines = printed([quiet(1), quiet(2), cut, replace(quiet(4), sent=None)]).splitlines()
    assert "\x1b" not in "".join(lines)
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith(" ") for line in lines)
    assert [line.split()[0] for line in lines[4:8]] == ["1", "2", "3", "4"]
    assert lines[6].split(maxsplit=6)[2:] == ["234,567", "234,567", "0", "1.00", cut.happened]
    assert lines[7].split()[2:] == ["234,567", "-", "-", "-", HOLD]


def test_what_is_left_out_is_said() -> None:
    """A reader never takes a sample for the whole."""
    text = printed([quiet(turn) for turn in range(1, 101)], every=10)
    assert "89 turns in which it held are not shown." in text
    assert "not shown" not in printed([quiet(1)])


def test_foreign_names_are_shown_as_they_are() -> None:
    """No markup, no escape sequences, no line breaks; too long a name is cut, not its numbers."""
    totals = totals_of([quiet(1)])
    file = io.StringIO()
    print_conversations([("[b]x[/b]\x1b[2J\n", totals), ("n" * 200, totals)], file=file)
    lines = file.getvalue().splitlines()
    assert "[b]x[/b]?[2J?" in lines[4]
    assert lines[5].split()[-5:] == ["234,567", "0", "0", "0", "1.00"]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("input_per_million", "shown"), [(10, "2.35"), (2.5, "0.5864"), (None, None)]
)
def test_dollars_are_shown_where_they_are_known(
    input_per_million: float | None, shown: str | None
) -> None:
    """Small amounts with four digits."""
    lines = printed([quiet(1)], input_per_million=input_per_million).splitlines()
    dollars = [line.split()[-1] for line in lines if "in dollars" in line]
    assert dollars == ([shown] if shown else [])


def test_without_rich_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra, by name."""
    monkeypatch.setitem(sys.modules, "rich.table", None)
    with pytest.raises(MissingExtra, match=r"autogen-context\[cli\]"):
        printed([quiet(1)])


def test_facts_are_json_data_with_the_ratios() -> None:
    """For programs: each field, and what is computed from them."""
    facts = [as_facts(quiet(1)), as_facts(totals_of([quiet(1)]))]
    assert [each["price_ratio"] for each in json.loads(json.dumps(facts))] == [1.0, 1.0]
    assert facts[0]["happened"] == HOLD


def test_the_guides_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """As it is printed there."""
    guide = Path(__file__).parents[2] / "docs" / "guides" / "replay.md"
    program = guide.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(program, {})  # noqa: S102 - our own text
    assert "hold" in capsys.readouterr().out
