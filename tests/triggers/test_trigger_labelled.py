"""Intents and completed subtasks, measured on sessions that were labelled by hand before the rules were tuned.

``python tests/triggers/test_trigger_labelled.py`` prints the numbers that stand in the guide.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from autogen_context.triggers.intent import AT_FIRST, Intent, intent_of
from autogen_context.triggers.subtask import SubtaskTrigger
from autogen_context.triggers.turn import Turn
from support.turns import called, turn

SESSIONS = Path(__file__).with_name("trigger_turns.json")
NEAR = 1  # turns between where a subtask ends by the label and by the trigger


class Labelled(BaseModel):
    """A turn, and what a developer would say of it."""

    model_config = ConfigDict(extra="forbid")

    says: str
    calls: list[tuple[str, dict[str, object], str]]
    intent: Intent | None
    ends: bool = False


class Session(BaseModel):
    """What an agent did, turn by turn."""

    model_config = ConfigDict(extra="forbid")

    id: str
    agent: str
    untouched: bool
    labelled: list[Labelled] = Field(alias="turns")

    @property
    def turns(self) -> list[Turn]:
        """Its turns as triggers see them."""
        return [
            turn(number, each.says, *(called(*call) for call in each.calls))
            for number, each in enumerate(self.labelled)
        ]

    @property
    def ends(self) -> list[int]:
        """Numbers of the turns with which a subtask is complete."""
        return [number for number, each in enumerate(self.labelled) if each.ends]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How much of what is told is right, and how much of what is right is told, each 0..1."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Both in one number."""
        return 2 * self.precision * self.recall / (self.precision + self.recall or 1)


def share(*, right: int, told: int, labelled: int) -> Share:
    """Of counts."""
    return Share(
        precision=right / told if told else 1.0, recall=right / labelled if labelled else 1.0
    )


@lru_cache(2)
def sessions(*, untouched: bool) -> tuple[Session, ...]:
    """The sessions that were looked at while the rules were tuned, or the others."""
    read = [Session.model_validate(each) for each in json.loads(SESSIONS.read_text())["sessions"]]
    return tuple(each for each in read if each.untouched is untouched)


def intents(session: Session) -> list[Intent | None]:
    """What the rules say of each turn, with what went before."""
    standing, told = AT_FIRST, list[Intent | None]()
    for each in session.turns:
        told.append(intent_of(each, standing))
        standing = standing.after(each)
    return told


def intent_shares(chosen: Sequence[Session]) -> tuple[float, float]:
    """Accuracy, and F1 averaged over the intents and none."""
    pairs = Counter[tuple[Intent | None, Intent | None]]()
    for each in chosen:
        pairs.update(zip((row.intent for row in each.labelled), intents(each), strict=True))
    names: set[Intent | None] = {name for pair in pairs for name in pair}
    accuracy = sum(n for (label, told), n in pairs.items() if label == told) / pairs.total()
    f1 = [
        share(
            right=pairs[name, name],
            told=sum(n for (_, told), n in pairs.items() if told == name),
            labelled=sum(n for (label, _), n in pairs.items() if label == name),
        ).f1
        for name in names
    ]
    return accuracy, sum(f1) / len(f1)


def completion_fraction(chosen: Sequence[Session]) -> Share:
    """Of ends of subtasks, each label counted once."""
    right = told = labelled = 0
    for each in chosen:
        ends, left = ends_told(each), list(each.ends)
        told, labelled = told + len(ends), labelled + len(left)
        for end in ends:
            near = sorted((abs(label - end), label) for label in left)
            if near and near[0][0] <= NEAR:
                left.remove(near[0][1])
                right += 1
    return share(right=right, told=told, labelled=labelled)


def ends_told(session: Session) -> list[int]:
    """Numbers of the last turns of the subtasks that are proposed."""
    trigger = SubtaskTrigger()
    scopes = [trigger.observe(each).scope for each in session.turns]
    return [scope.stop - 1 for scope in scopes if scope]


@pytest.mark.parametrize("untouched", [False, True], ids=["tuned on", "untouched"])
def test_there_are_enough_turns(untouched: bool) -> None:  # noqa: FBT001 - a column
    """Of both halves, with every intent, and ids that are unique."""
    chosen = sessions(untouched=untouched)
    rows = [row for each in chosen for row in each.labelled]
    assert len(rows) >= 75
    assert len({row.intent for row in rows}) == 7
    assert len({each.id for each in chosen}) == len(chosen)


@pytest.mark.parametrize(
    ("untouched", "accuracy", "f1"),
    [
        pytest.param(False, 0.90, 0.78, id="tuned on"),
        pytest.param(True, 0.85, 0.80, id="untouched"),
    ],
)
def test_intents_are_told(untouched: bool, accuracy: float, f1: float) -> None:  # noqa: FBT001 - a column
    """At least as often as this."""
    reached = intent_shares(sessions(untouched=untouched))
    assert reached[0] >= accuracy
    assert reached[1] >= f1


@pytest.mark.parametrize(
    ("untouched", "precision", "recall"),
    [
        pytest.param(False, 0.95, 0.85, id="tuned on"),
        pytest.param(True, 0.95, 0.80, id="untouched"),
    ],
)
def test_completions_are_told(untouched: bool, precision: float, recall: float) -> None:  # noqa: FBT001 - a column
    """At least as surely, and at least so many."""
    reached = completion_fraction(sessions(untouched=untouched))
    assert reached.precision >= precision
    assert reached.recall >= recall


if __name__ == "__main__":
    for untouched in (False, True):
        chosen = sessions(untouched=untouched)
        accuracy, f1 = intent_shares(chosen)
        ends = completion_fraction(chosen)
        turns = sum(len(each.labelled) for each in chosen)
        print(f"untouched={untouched}: {len(chosen)} sessions, {turns} turns")  # noqa: T201 - what this is for
        print(f"  intents: accuracy {accuracy:.3f}, macro F1 {f1:.3f}")  # noqa: T201
        print(f"  completions: precision {ends.precision:.3f}, recall {ends.recall:.3f}")  # noqa: T201
