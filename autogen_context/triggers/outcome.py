"""Which turns of a span say what came out of it, and stay.

These are the last change of each file, the newest verdict of tests, and the newest answer of each service that was read
from: a file can be read again as it is now, the account that was looked up stands nowhere else.

Promise: the same turns give the same outcomes; what is remembered is bounded, and a turn costs the same however many
there were.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile

from autogen_context.messages.tool_action import is_failure
from autogen_context.triggers.turn import Step, Turn
from autogen_context.triggers.verdict import Verdict, verdict_of

REMEMBERED = 1_000  # turns with an outcome; of older ones none is known
LOOKED_UP = 2  # turns
NAME_CHARS = 40  # of a tool's name, with which the key of its call begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came out of one turn.

    Attributes:
        turn: its number.
        written: the files that it changed.
        verdict: of the tests that it ran; ``None`` where they tell nothing, or none were run.
        answered: the tools by which it read what is no file.
    """

    turn: int
    written: tuple[str, ...] = ()
    verdict: Verdict | None = None
    answered: tuple[str, ...] = ()


class Outcomes:
    """What came out of the newest turns."""

    def __init__(self) -> None:
        self._known: deque[Outcome] = deque(maxlen=REMEMBERED)
        self._newest = -1

    def add(self, turn: Turn) -> Outcome:
        """What came out of one more turn.

        Raises:
            ValueError: it does not come behind those before.
        """
        if turn.number <= self._newest:
            raise ValueError(
                f"turn {turn.number} came after turn {self._newest}: give turns in order, each once"
            )
        self._newest = turn.number
        outcome = outcome_of(turn)
        if outcome.written or outcome.verdict or outcome.answered:
            self._known.append(outcome)
        return outcome

    def last_change(self, start: int) -> int | None:
        """The number of the newest turn since ``start`` that changed a file; ``None`` where none did."""
        known = (outcome for outcome in reversed(self._known) if outcome.written)
        newest = next(known, None)
        return newest.turn if newest and newest.turn >= start else None

    def within(self, start: int, stop: int, *, outdated: Collection[int] = ()) -> tuple[int, ...]:
        """The numbers of the turns from ``start`` to before ``stop`` that stay, in order.

        Args:
            start: the number of the first turn.
            stop: the number behind the last one.
            outdated: turns whose answers need not stay.
        """
        known = takewhile(lambda outcome: outcome.turn >= start, reversed(self._known))
        inside = (outcome for outcome in known if outcome.turn < stop)
        return tuple(sorted(staying(without_answers(inside, outdated))))


def without_answers(outcomes: Iterable[Outcome], turns: Collection[int]) -> Iterator[Outcome]:
    """Some outcomes, those of these turns without what answered."""
    for outcome in outcomes:
        yield replace(outcome, answered=()) if outcome.turn in turns else outcome


def staying(outcomes: Iterable[Outcome]) -> Iterator[int]:
    """The turns that stay of some, newest first."""
    files: set[str] = set()
    services: set[str] = set()
    tested = False
    for outcome in outcomes:
        verdict = outcome.verdict is not None and not tested
        changed = not files.issuperset(outcome.written)
        if verdict or changed or not services.issuperset(outcome.answered):
            yield outcome.turn
        files.update(outcome.written)
        services.update(outcome.answered)
        tested = tested or verdict


@lru_cache(LOOKED_UP)
def outcome_of(turn: Turn) -> Outcome:
    """What came out of a turn; each trigger asks for that of the same turn."""
    written = (path for step in turn.steps if has_changed(step) for path in step.action.writes)
    return Outcome(
        turn=turn.number,
        written=tuple(dict.fromkeys(written)),
        verdict=verdict_in(turn),
        answered=tuple(step.tool for step in turn.steps if is_answer(step)),
    )


def is_answer(step: Step) -> bool:
    """Whether a step read what is no file: then the tool itself is what is asked."""
    action = step.action
    return (
        action.kind == "read" and not action.views and action.key.startswith(step.tool[:NAME_CHARS])
    )


def has_changed(step: Step) -> bool:
    """Whether a step did what it was to write; a run that fails may have written before."""
    if not step.action.writes or step.observation is None:
        return False
    return step.action.kind != "write" or not is_failure(step.observation)


def verdict_in(turn: Turn) -> Verdict | None:
    """What the tests of a turn say together: one that failed is a failure."""
    tests = [step.observation for step in turn.steps if step.action.kind == "test"]
    verdicts = {verdict_of(text) for text in tests if text is not None} - {None}
    if not verdicts:
        return None
    return "failed" if "failed" in verdicts else "passed"
