"""Runs of a manager on a made-up conversation, the event log that they leave, and runs written by hand."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.manager.event_log import EventLog
from autogen_context.manager.event_schema import TurnEvent, UnitEvent
from autogen_context.report.events import Run, read_events, runs_of
from autogen_context.testing import ChatMessage
from autogen_context.testing.conversation import conversation
from autogen_context.tokens.measure import Count

MODEL = "gpt-4o"
WINDOW = 3_000
LONG = conversation(turns=30, tokens_per_turn=300)
UNIT: UnitEvent = {
    "unit": 0,
    "stop": 1,
    "role": "user",
    "tool": "",
    "section": "people",
    "action": "keep",
    "reason": "new",
    "before": 100,
    "after": 100,
    "handle": "",
    "score": None,
    "place": None,
    "among": None,
}


def manager_of(log: EventLog | Path, window: int = WINDOW) -> IncrementalContextManager:
    """A manager that writes a log."""
    return IncrementalContextManager(MODEL, window_tokens=window, events=log)


def lived(
    manager: IncrementalContextManager, said: Sequence[ChatMessage] = LONG, *, first: int = 1
) -> Iterator[Prepared[ChatMessage]]:
    """The turns of a conversation, two messages each, from this turn on."""
    for stop in range(2 * first, len(said) + 1, 2):
        yield manager.prepare_nowait(list(said[:stop]))


def run_of(log: EventLog) -> Run:
    """The one run in a log, all of it."""
    assert log.flush(30)
    [run] = runs_of(read_events(log.path))
    return run


def unit(start: int, **told: object) -> UnitEvent:
    """A unit of one message and 100 tokens, as a log tells it, but for what is given."""
    section = "people" if start else "system"
    named: Any = {**UNIT, "unit": start, "stop": start + 1, "section": section, **told}
    event: UnitEvent = named
    return event


def turn(number: int, units: Sequence[UnitEvent], **told: object) -> TurnEvent:
    """A turn with a history of as many units as its number says, and nothing left out, but for what is given."""
    tokens = 100 * number
    named: Any = {
        "v": 1,
        "event": "turn",
        "run": "r",
        "agent": "",
        "turn": number,
        "at": float(number),
        "ms": 1.0,
        "model": MODEL,
        "limit": 400,
        "bound": Count(tokens=tokens, source="tokenizer"),
        "counted": tokens,
        "fixed": 0,
        "history": {"messages": number, "tokens": tokens},
        "sent": {"messages": number, "tokens": tokens, "new": 100, "prefix": tokens - 100},
        "compacted": False,
        "estimate": None,
        "price": {
            "cached_fraction": 0.5,
            "write_fraction": 1.0,
            "input_per_million": 2.5,
            "tokens_per_s": None,
        },
        "sections": {"system": 100, "people": tokens - 100},
        "since": number - 1,
        "units": list(units),
        "cut": None,
        "compaction_ms": 0.0,
        "quality": None,
        **told,
    }
    event: TurnEvent = named
    return event


def growing(turns: int, **told: object) -> Run:
    """A run in which each turn brings a message of 100 tokens, and everything is sent."""
    return Run(id="r", turns=[turn(n, [unit(n - 1)], **told) for n in range(1, turns + 1)])
