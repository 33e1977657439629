"""Read an event log: what was sent at any turn of any run, and what had become of each unit.

Promise: the events of a run, folded up to a turn, are the decisions of that turn. A line that is damaged costs that line.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from autogen_context.manager.event_log import Event, numbered
from autogen_context.manager.events import TurnEvent, UnitEvent

VERSION = 1
DAMAGED = "damaged"
TURN = TypeAdapter(TurnEvent)
OBJECT = TypeAdapter(dict[str, object])
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one manager told, oldest first.

    Attributes:
        id: that of its events.
        turns: the turns that are in the log; of the first ones a rotation may have left nothing.
        others: the other events, such as ``usage``.
    """

    id: str
    turns: Sequence[TurnEvent]
    others: Sequence[Event]

    @property
    def agent(self) -> str:
        """The name of the agent; empty where the settings give none."""
        return self.turns[-1]["agent"] if self.turns else ""

    def states(self) -> Iterator[tuple[TurnEvent, Mapping[int, UnitEvent]]]:
        """Each turn, and the units at it by the position of their first message; both are there until the next turn only."""
        units: dict[int, UnitEvent] = {}
        for turn in self.turns:
            for start in taken_back(units, turn["since"]):
                del units[start]
            units |= {unit["unit"]: unit for unit in turn["units"]}
            yield turn, units

    def at(self, turn: int) -> tuple[TurnEvent, Mapping[int, UnitEvent]]:
        """A turn, and the units at it.

        Raises:
            ValueError: the run has no such turn.
        """
        found = next((state for state in self.states() if state[0]["turn"] == turn), None)
        if found is None:
            for event in self.others:
                if (event.get("event"), event.get("turn")) == ("impossible", turn):
                    raise ValueError(f"turn={turn}: {in_words(event)}")
            numbers = [each["turn"] for each in self.turns]
            has = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
            hole = ", but not this one" if numbers and numbers[0] < turn < numbers[-1] else ""
            raise ValueError(f"turn={turn}: the run has {has}{hole}")
        return found


def taken_back(units: dict[int, T], since: int) -> list[int]:
    """Positions of the units from ``since`` on, the last first; most turns only append, and have none."""
    if not units or next(reversed(units)) < since:
        return []
    return [start for start in reversed(units) if start >= since]


def in_words(impossible: Event) -> str:
    """What a turn lacked that could not be sent."""
    parts = OBJECT.validate_python(impossible.get("parts", {}))
    listed = ", ".join(f"{name} {tokens}" for name, tokens in parts.items())
    needed, limit = impossible.get("needed"), impossible.get("limit")
    return f"what must stay needed {needed} tokens and the limit was {limit} ({listed})"


def runs_of(events: Iterable[Event]) -> list[Run]:
    """The runs of a log, in the order in which they began."""
    turns: dict[str, list[TurnEvent]] = {}
    others: dict[str, list[Event]] = {}
    for event in events:
        run = event.get("run")
        if isinstance(run, str):
            told = turns.setdefault(run, [])
            rest = others.setdefault(run, [])
            if event["event"] == "turn":
                told.append(cast("TurnEvent", event))  # read_events has looked at it
            else:
                rest.append(event)
    return [Run(id=run, turns=turns[run], others=others[run]) for run in turns]


def read_events(path: str | os.PathLike[str]) -> Iterator[Event]:
    """The events in a log, rotated files first; for each damaged line one that says so: ``{"event": "damaged", ...}``.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a newer version of this package wrote it.
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
    """The event in a line; ``None`` where there is none."""
    try:
        event = OBJECT.validate_python(json.loads(line))
        version, kind = event.get("v"), event.get("event")
        if isinstance(version, int) and version > VERSION:
            raise ValueError(NEWER.format(version=version))
        if version != VERSION or not isinstance(kind, str):
            return None
        return cast("Event", TURN.validate_python(event)) if kind == "turn" else event
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError, ValidationError):
        return None


NEWER = "the log has version {version} of its events; a newer autogen-context reads it"
