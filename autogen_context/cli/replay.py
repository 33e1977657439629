"""``autogen-context replay FILE``: a recorded conversation through any configuration, turn by turn.

Promise: no model is called and nothing is written; the same file and configuration give the same table.
"""

import argparse
import asyncio
import json
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autogen_context.cli.recording.conversations import RecordedConversation
from autogen_context.cli.recording.source import STANDARD_INPUT, read_recording
from autogen_context.cli.replayed import Replayed, model_of, replayed, turn_stops
from autogen_context.config.config import ContextConfig
from autogen_context.report.sample import sampled
from autogen_context.report.table import print_conversations, print_totals, print_turns
from autogen_context.report.turns import merged, record_facts, totals_facts
from autogen_context.tokens.message_counter import load_tokenizer
from autogen_context.tokens.prices import OTHER

if TYPE_CHECKING:
    from autogen_context.cli.main import Subparsers

LONG_REPLAY = 200  # turns; what has fewer is done before a bar could be read


class _Arguments(argparse.Namespace):
    file: str
    model: str | None
    window: int | None
    reserve: int | None
    config: Path | None
    conversation: str | None
    json: bool
    every: int | None


def add_parser(subparsers: "Subparsers") -> None:
    """Add ``replay`` to the command."""
    parser = subparsers.add_parser(
        "replay",
        help="what a recorded conversation would have cost, turn by turn",
        description="Takes a recorded conversation through a configuration: what each turn would have sent, what of "
        "it the provider had cached, and the price against sending everything. FILE holds OpenAI messages, requests "
        "or fine-tuning examples (JSON or JSONL), or a state that AutoGen saved; it may be gzipped. "
        "AUTOGEN_CONTEXT_* variables count as well.",
    )
    parser.add_argument("file", metavar="FILE", help="the recording; - reads standard input")
    parser.add_argument("--model", help="such as gpt-4o; left out, the recorded one")
    parser.add_argument("--window", type=int, metavar="N", help="input tokens a request may have")
    parser.add_argument("--reserve", type=int, metavar="N", help="of these, kept free for the host")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings (.toml, .json, .yaml)"
    )
    parser.add_argument(
        "--conversation", metavar="ID", help="only this one of many: its id or number"
    )
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument(
        "--every", type=int, metavar="N", help="show each N-th turn without a change, not about 40"
    )
    rows.add_argument("--all", dest="every", action="store_const", const=1, help="show each turn")
    parser.add_argument("--json", action="store_true", help="every turn as JSON, for programs")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Replay a file and print what came of it; the exit code."""
    given = _Arguments(**vars(arguments))
    config = config_of(given)
    conversations = chosen(read_recording(given.file), given.conversation)
    with warnings_as_lines():
        done = replay_all(conversations, config)
    if given.json:
        sys.stdout.write(f"{json.dumps(facts(done), indent=2)}\n")
    elif len(done) == 1:
        print_one(done[0], given)
    else:
        print_many(done, given)
    return 0


def config_of(given: _Arguments) -> ContextConfig:
    """The configuration that the arguments, the environment and a file give."""
    settings = {
        "model": given.model,
        "window_tokens": given.window,
        "reserve_tokens": given.reserve,
    }
    named = {key: value for key, value in settings.items() if value is not None}
    return ContextConfig.load(given.config, environ=None, **named)


def chosen(
    conversations: Sequence[RecordedConversation], wanted: str | None
) -> Sequence[RecordedConversation]:
    """All conversations, or the one with this id, or of this number from 1.

    Raises:
        ValueError: there is no such conversation.
    """
    if wanted is None:
        return conversations
    named = [conversation for conversation in conversations if conversation.id == wanted]
    if named:
        return named[:1]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(conversations):
        return [conversations[int(wanted) - 1]]
    raise ValueError(
        f"--conversation {wanted}: there is none of that name; give a number from 1 to "
        f"{len(conversations)}, or an id such as {conversations[0].id!r}"
    )


def replay_all(
    conversations: Sequence[RecordedConversation], config: ContextConfig
) -> list[Replayed]:
    """Replay conversations one after the other, with a progress bar where that takes long."""
    for model in {model_of(conversation, config) for conversation in conversations}:
        asyncio.run(load_tokenizer(model, timeout_s=config.tokenizer_timeout_s))
    turns = sum(1 for c in conversations for _ in turn_stops(c.messages))
    with progress_bar(turns) as on_turn:
        return [replayed(c, config, on_turn=on_turn) for c in conversations]


@contextmanager
def progress_bar(turns: int) -> Generator[Callable[[], None]]:
    """A bar on standard error, if that is a terminal and there is something to wait for; yields how to advance it."""
    if turns < LONG_REPLAY or not sys.stderr.isatty():
        yield lambda: None
        return
    try:
        from rich.console import Console  # noqa: PLC0415 - optional
        from rich.progress import Progress  # noqa: PLC0415 - optional
    except ImportError:
        yield lambda: None
        return
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("replaying", total=turns)
        yield lambda: progress.advance(task)


@contextmanager
def warnings_as_lines() -> Generator[None]:
    """Print each warning once, in one line, as errors are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        sys.stderr.write(f"autogen-context: warning: {text}\n")


def facts(done: Sequence[Replayed]) -> dict[str, object]:
    """All that was found, as JSON data."""
    return {
        "conversations": [
            {
                "id": one.id,
                "model": one.model,
                "counted_by": one.source,
                "input_per_million": one.price.input_per_million,
                "turns": [record_facts(record) for record in one.records],
                "totals": totals_facts(one.totals),
            }
            for one in done
        ],
        "totals": totals_facts(merged([one.totals for one in done])),
    }


def print_one(one: Replayed, given: _Arguments) -> None:
    """The table of one conversation."""
    lines = [
        f"{title_of(given.file)}: {len(one.records):,} turns for {one.model}",
        *count_note(one),
    ]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    print_turns(one.records, every=given.every, input_per_million=one.price.input_per_million)
    notes = ["", *price_note(one)]
    if len(sampled(one.records, every=given.every)) < len(one.records):
        notes.append("Show every turn with --all.")
    sys.stdout.writelines(f"{line}\n" for line in notes)


def print_many(done: Sequence[Replayed], given: _Arguments) -> None:
    """A row for each conversation, and the totals."""
    turns = sum(len(one.records) for one in done)
    models = sorted({one.model for one in done})
    sys.stdout.write(f"{title_of(given.file)}: {len(done):,} conversations, {turns:,} turns for ")
    sys.stdout.write(f"{', '.join(models)}\n")
    print_conversations([(one.id, one.totals) for one in done])
    print_totals(merged([one.totals for one in done]))
    sys.stdout.write("\nShow the turns of one with --conversation and its number or id.\n")


def title_of(file: str) -> str:
    """The name of what was read."""
    return "standard input" if file == STANDARD_INPUT else Path(file).name


def count_note(one: Replayed) -> Iterator[str]:
    """Where the counts are from, and what that means for the limit."""
    if one.source == "estimate":
        yield "There is no tokenizer for it on this machine, so tokens are estimated, from above."
    limit, room = one.totals.limit_tokens, one.room_tokens
    if limit is not None and room is not None and room < limit:
        yield f"{room:,} tokens counted here may be {limit:,} for the provider: no request has more."


def price_note(one: Replayed) -> Iterator[str]:
    """What the prices mean."""
    price = one.price
    written = f", one that is written {price.write_fraction:g}" * (price.write_fraction != 1)
    yield f"Prices are of the input: a cached token costs {price.cached_fraction:g}{written}."
    if price.input_per_million is None:
        rule = "assumed" if price.provider == OTHER else f"as for {price.provider}"
        yield f"What {one.model} costs in dollars is not known; caching is {rule}."
    else:
        yield f"{one.model}: ${price.input_per_million:,.2f} per million uncached, as of {price.checked}."
