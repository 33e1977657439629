"""Read an event log: what was sent at any turn of any run, and the state of each unit.

Promise: replaying a run's events up to a turn gives the decisions of that turn. A damaged line loses only that line.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from autogen_context.manager.event_log import Event, numbered
from autogen_context.manager.event_schema import ImpossibleEvent, TurnEvent, UnitEvent

VERSION = 1
DAMAGED = "damaged"
SCHEMAS: Mapping[object, TypeAdapter[Any]] = {
    "turn": TypeAdapter(TurnEvent),
    "impossible": TypeAdapter(ImpossibleEvent),
}
OBJECT = TypeAdapter(dict[str, object])
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The events of one manager, oldest first."""

    id: str  # in its events
    turns: Sequence[TurnEvent] = ()  # log rotation may have removed the first ones
    others: Sequence[Event] = ()  # such as ``usage``

    @property
    def agent(self) -> str:
        """The name of the agent; empty if the settings give none."""
        return self.turns[-1]["agent"] if self.turns else ""

    @property
    def impossible(self) -> Sequence[ImpossibleEvent]:
        """The turns that could not be sent."""
        found = [event for event in self.others if event["event"] == "impossible"]
        return cast("list[ImpossibleEvent]", found)  # validated by read_events

    def states(self) -> Iterator[tuple[TurnEvent, Mapping[int, UnitEvent]]]:
        """Yield each turn with its units by first message; the mapping is reused, so it is valid until the next turn."""
        units: dict[int, UnitEvent] = {}
        for turn in self.turns:
            for start in taken_back(units, turn["since"]):
                del units[start]
            units |= {unit["unit"]: unit for unit in turn["units"]}
            yield turn, units

    def at(self, turn: int) -> tuple[TurnEvent, Mapping[int, UnitEvent]]:
        """Return a turn and its units.

        Raises:
            ValueError: the run has no such turn.
        """
        found = next((state for state in self.states() if state[0]["turn"] == turn), None)
        if found is None:
            for event in self.impossible:
                if event["turn"] == turn:
                    raise ValueError(f"turn={turn}: {in_words(event)}")
            numbers = [each["turn"] for each in self.turns]
            has = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
            hole = ", but not this one" if numbers and numbers[0] < turn < numbers[-1] else ""
            raise ValueError(f"turn={turn}: the run has {has}{hole}")
        return found


def taken_back(units: dict[int, T], since: int) -> list[int]:
    """Return the positions of the units from ``since`` on, last first; most turns only append and have none."""
    if not units or next(reversed(units)) < since:
        return []
    return [start for start in reversed(units) if start >= since]


def in_words(event: ImpossibleEvent) -> str:
    """Describe why a turn could not be sent: the tokens needed, the limit and the parts."""
    parts = ", ".join(f"{name} {tokens}" for name, tokens in event["parts"].items())
    needed, limit = event["needed"], event["limit"]
    return f"the protected messages needed {needed} tokens and the limit was {limit} ({parts})"


def runs_of(events: Iterable[Event]) -> list[Run]:
    """Return the runs of a log, in the order in which they began."""
    found: dict[str, tuple[list[TurnEvent], list[Event]]] = {}
    for event in events:
        if isinstance(run := event.get("run"), str):
            turns, others = found.setdefault(run, ([], []))
            if event["event"] == "turn":
                turns.append(cast("TurnEvent", event))  # validated by read_events
            else:
                others.append(event)
    return [Run(id=run, turns=turns, others=others) for run, (turns, others) in found.items()]


def read_events(path: str | os.PathLike[str]) -> Iterator[Event]:
    """Yield the events of a log, rotated files first; a damaged line yields ``{"event": "damaged", ...}``.

    Raises:
        FileNotFoundError: the log does not exist.
        ValueError: the log was written by a newer version of this package.
    """
    first = Path(path)
    older = 0
    while numbered(first, older + 1).exists():
        older += 1
    for number in range(older, -1, -1):
        file = numbered(first, number)
        with file.open("rb") as lines:
            for at, line in enumerate(lines, 1):
                yield read_event(line) or {"event": DAMAGED, "file": str(file), "line": at}


def read_event(line: bytes) -> Event | None:
    """Return the event in a line, or ``None`` if the line is damaged; a newer schema raises ``ValueError``."""
    try:
        event = OBJECT.validate_python(json.loads(line))
        version, kind = event.get("v"), event.get("event")
        if isinstance(version, int) and version > VERSION:
            raise ValueError(NEWER.format(version=version))
        if version != VERSION or not isinstance(kind, str):
            return None
        return SCHEMAS[kind].validate_python(event) if kind in SCHEMAS else event
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError, ValidationError):
        return None


NEWER = "the log has version {version} of its events; a newer autogen-context reads it"
