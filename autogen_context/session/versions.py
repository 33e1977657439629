"""What a conversation's context was after each change and each compaction, to look at, to compare and to go back to.

Promise: a version costs what it has alone: decisions are shared with those before and behind it. As many as are set are
kept, the oldest go first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from autogen_context.errors import NoSuchVersion
from autogen_context.messages.message import Text
from autogen_context.session.notices import Notices
from autogen_context.view.decision import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What is known of a version.

    Attributes:
        number: counts up from 0, the start.
        kind: ``start``, ``compaction``, ``roll back``, or the type of the change; ``changes`` where several came at once.
        summary: what made it, in words.
        tokens: what the messages that are sent cost, as we count.
        timestamp: when, in seconds since 1970, by the manager's clock.
    """

    number: int
    kind: Text
    summary: Text
    tokens: int
    timestamp: float


class Past:
    """The decisions in force at one time; it shares the list that goes on growing.

    Args:
        decisions: of which all but the last stay as they are while the list lives.
    """

    def __init__(self, decisions: Sequence[Decision]) -> None:
        self._list = decisions
        self._units = len(decisions)
        self._last = tuple(decisions[-1:])

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """They, one for each unit."""
        return (*self._list[: max(0, self._units - 1)], *self._last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a version holds.

    Attributes:
        past: what was decided.
        pins: digests of pinned messages.
        notices: what was told, and what was due.
        must_replan: whether a pin or a change of the past asked for another choice.
        same: how many of the host's first messages are those of that time, as far as it had them; ``None``: all.
    """

    past: Past
    pins: frozenset[bytes]
    notices: Notices
    must_replan: bool
    same: int | None = None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided on messages that the host still has."""
        decisions = self.past.decisions
        if self.same is None:
            return decisions
        return tuple(decision for decision in decisions if decision.stop <= self.same)

    def cut_back(self, messages: int) -> "Moment":
        """It, where the host has another past from a message on."""
        known = self.past.decisions[-1].stop if self.past.decisions else 0
        if messages >= (known if self.same is None else self.same):
            return self
        return replace(
            self, same=messages, must_replan=True, notices=self.notices.cut_back(messages)
        )


Kept = tuple[Version, Moment]


class Versions:
    """The versions of one conversation.

    Args:
        kept: how many are kept.
        clock: the time, in seconds since 1970; it decides nothing.
        records: those of a saved state, oldest first.
    """

    def __init__(
        self, kept: int, *, clock: Callable[[], float], records: Iterable[Kept] = ()
    ) -> None:
        self._kept = kept
        self._clock = clock
        self._records = {version.number: (version, moment) for version, moment in records}
        self._trim()

    def __iter__(self) -> Iterator[Version]:
        """Those that are kept, oldest first."""
        return (version for version, _ in self._records.values())

    @property
    def records(self) -> tuple[Kept, ...]:
        """Those that are kept with what they hold, oldest first."""
        return tuple(self._records.values())

    def record(self, kind: str, summary: str, moment: Moment, *, tokens: int) -> Version:
        """Make a version of how it is now."""
        number = max(self._records, default=-1) + 1
        version = Version(
            number=number, kind=kind, summary=summary, tokens=tokens, timestamp=self._clock()
        )
        self._records[number] = (version, moment)
        self._trim()
        return version

    def moment(self, number: int) -> Moment:
        """What a version holds.

        Raises:
            NoSuchVersion: there is none, or it is not kept any more.
        """
        if number not in self._records:
            raise NoSuchVersion(number, known=tuple(self._records))
        return self._records[number][1]

    def cut_back(self, messages: int) -> None:
        """The host has another past from a message on."""
        for number, (version, moment) in self._records.items():
            self._records[number] = (version, moment.cut_back(messages))

    def _trim(self) -> None:
        while len(self._records) > max(1, self._kept):
            del self._records[next(iter(self._records))]
