"""``autogen-context replay FILE``: replay a recorded conversation with any configuration, turn by turn.

Promise: before each recorded answer the manager sees the messages up to it and nothing later; no model is called and only
the page is written; the same file and configuration give the same table. All numbers come from the event log of the replay.
"""

import asyncio
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from autogen_context.cli import one_of, print_json, print_lines, remark
from autogen_context.cli.recording import STANDARD_INPUT, RecordedConversation, read_recording
from autogen_context.cli.report import write_page
from autogen_context.config.config import ContextConfig
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.event_log import EventLog
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.report.bill import TurnRecord, as_facts, bill_of, price_in, sampled, totals_of
from autogen_context.report.events import Run, read_events, runs_of
from autogen_context.report.table import print_conversations, print_totals, print_turns
from autogen_context.tokens.message_counter import MessageCounter, load_tokenizer
from autogen_context.tokens.prices import OTHER

DEFAULT_MODEL = "gpt-4o"
MOST_BYTES = 1 << 40  # of a replay's event log, so that it is never rotated
EACH_TURNS = 500  # the log is written, before its queue is full
LONGEST_S = 60.0  # that writing the log may take
LONG_REPLAY = 200  # turns; shorter replays need no progress bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A conversation after its replay; ``counted_by`` is the source of the token counts."""

    id: str
    model: str
    counted_by: str
    run: Run
    records: Sequence[TurnRecord]


def show_replay(
    file: str,
    settings: Mapping[str, object],
    *,
    config: Path | None,
    conversation: str | None,
    every: int | None,
    as_json: bool,
    page: Path | None,
) -> None:
    """Replay a file and print the results."""
    named = {key: value for key, value in settings.items() if value is not None}
    loaded = ContextConfig.load(config, environ=None, **named)
    conversations = chosen(read_recording(file), conversation)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = replay_all(conversations, loaded, record_text=page is not None)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        remark("warning", text)
    title = "standard input" if file == STANDARD_INPUT else Path(file).name
    if as_json:
        print_json(facts(done))
    elif len(done) == 1:
        print_one(done[0], title, every)
    else:
        print_many(done, title)
    if page is not None:
        write_page([one.run for one in done], title=title, page=page)
        if not as_json:
            print_lines(f"The page is in {page}")


def print_many(done: Sequence[Replayed], title: str) -> None:
    """Print a row for each conversation, and the totals."""
    records = [record for one in done for record in one.records]
    models = ", ".join(sorted({one.model for one in done}))
    print_lines(f"{title}: {len(done):,} conversations, {len(records):,} turns for {models}")
    print_conversations([(one.id, totals_of(one.records)) for one in done])
    print_totals(totals_of(records))
    print_lines("", "Show the turns of one with --conversation and its number or id.")


def chosen(
    conversations: Sequence[RecordedConversation], wanted: str | None
) -> Sequence[RecordedConversation]:
    """Return all conversations, or the one with the wanted id or number from 1; ``ValueError`` if there is none."""
    if wanted is None:
        return conversations
    found = one_of(conversations, wanted, lambda conversation: {conversation.id})
    if found is None:
        raise ValueError(
            f"--conversation {wanted}: there is none of that name; give a number from 1 to "
            f"{len(conversations)}, or an id such as {conversations[0].id!r}"
        )
    return [found]


def replay_all(
    conversations: Sequence[RecordedConversation], config: ContextConfig, *, record_text: bool
) -> list[Replayed]:
    """Replay conversations in order, with a progress bar at a terminal if it takes long."""
    from rich.console import Console  # noqa: PLC0415 - slow to import
    from rich.progress import Progress  # noqa: PLC0415 - as above

    for model in {model_of(conversation, config) for conversation in conversations}:
        asyncio.run(load_tokenizer(model, timeout_s=config.tokenizer_timeout_s))
    turns = sum(1 for c in conversations for _ in turn_stops(c.messages))
    is_shown = turns >= LONG_REPLAY and sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=not is_shown) as progress:
        task = progress.add_task("replaying", total=turns)
        return [
            replayed(c, config, on_turn=partial(progress.advance, task), record_text=record_text)
            for c in conversations
        ]


def replayed(
    conversation: RecordedConversation,
    config: ContextConfig,
    *,
    on_turn: Callable[[], None],
    record_text: bool,
) -> Replayed:
    """Replay a conversation; ``on_turn`` is called after each turn."""
    model = model_of(conversation, config)
    with TemporaryDirectory() as folder:
        log = EventLog(Path(folder, "run.jsonl"), record_text=record_text, max_bytes=MOST_BYTES)
        manager = IncrementalContextManager(model=model, config=config, events=log)
        for number, stop in enumerate(turn_stops(conversation.messages), 1):
            with suppress(ContextWindowExceeded):  # which is in the log
                manager.prepare_nowait(conversation.messages[:stop], conversation.tools)
            if number % EACH_TURNS == 0:
                log.flush(LONGEST_S)
            on_turn()
        log.flush(LONGEST_S)
        runs = runs_of(read_events(log.path)) if log.path.exists() else []
    run = replace(runs[0], id=conversation.id) if runs else Run(id=conversation.id)
    source = MessageCounter.for_model(model).source
    return Replayed(id=run.id, model=model, counted_by=source, run=run, records=bill_of(run))


def model_of(conversation: RecordedConversation, config: ContextConfig) -> str:
    """Return the model to replay a conversation for: configured, recorded or default."""
    return config.model or conversation.model or DEFAULT_MODEL


def turn_stops(messages: Sequence[Mapping[str, object]]) -> Iterator[int]:
    """Yield the history length of each request: before each answer, and at the end if the last one is unanswered."""
    for i, message in enumerate(messages):
        if i and message["role"] == "assistant":
            yield i
    if messages and messages[-1]["role"] != "assistant":
        yield len(messages)


def facts(done: Sequence[Replayed]) -> dict[str, object]:
    """Return all results as JSON data."""
    conversations = [
        {
            "id": one.id,
            "model": one.model,
            "counted_by": one.counted_by,
            "input_per_million": price_in(one.run).input_per_million,
            "turns": [as_facts(record) for record in one.records],
            "totals": as_facts(totals_of(one.records)),
        }
        for one in done
    ]
    totals = totals_of([record for one in done for record in one.records])
    return {"conversations": conversations, "totals": as_facts(totals)}


def print_one(one: Replayed, title: str, every: int | None) -> None:
    """Print the table of one conversation."""
    print_lines(f"{title}: {len(one.records):,} turns for {one.model}", *count_note(one))
    print_turns(one.records, every=every)
    print_lines("", *price_note(one))
    if len(sampled(one.records, every=every)) < len(one.records):
        print_lines("Show every turn with --all.")


def count_note(one: Replayed) -> Iterator[str]:
    """Yield notes on how tokens were counted and the effect on the limit."""
    if one.counted_by == "estimate":
        yield "There is no tokenizer for it on this machine, so tokens are estimated, from above."
    rooms = {(record.room_tokens, record.limit_tokens) for record in one.records}
    room, limit = max(rooms, default=(0, 0))
    if room < limit:
        yield f"{room:,} tokens counted here may be {limit:,} for the provider: no request has more."


def price_note(one: Replayed) -> Iterator[str]:
    """Yield notes on how to read the prices."""
    price, totals = price_in(one.run), totals_of(one.records)
    note = f"Prices are of the input: a cached token costs {price.cached_fraction:g}"
    if price.write_fraction != 1:
        note += f", one that is written {price.write_fraction:g}"
    yield f"{note}."
    sent, whole = price.seconds(totals.sent.cost_tokens), price.seconds(totals.whole.cost_tokens)
    if sent is not None and whole is not None:
        speed = f"{price.tokens_per_s:,.0f} tokens a second"
        yield f"At {speed} the engine reads for {sent:,.0f} s, and for {whole:,.0f} s where everything is sent."
    elif price.input_per_million is None:
        rule = "assumed" if price.provider == OTHER else f"as for {price.provider}"
        yield f"What {one.model} costs in dollars is not known; caching is {rule}."
    else:
        yield f"{one.model}: ${price.input_per_million:,.2f} per million uncached, as of {price.checked}."
