"""What people want of an agent, which is not what they said last: one goal, followed from message to message.

Promise: it depends on the messages of who instructs the agent, and on what was wanted before the first of them. Consent, thanks, talk,
questions and orders for the step at hand leave it as it is; another job replaces it, and what comes on top, or may be either, extends it.
"""

from bisect import bisect_left
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from autogen_context.language.goal import job_in
from autogen_context.messages.message import Text
from autogen_context.text.work import ends_of
from autogen_context.view.decision import Candidate
from autogen_context.view.index import Overview

# In log-odds that a message gives a job.
SURE = -1.0  # from here on it is one for sure
ANOTHER = 0.5  # and from here on another one than a sure goal
LEAST = -3.25  # from here on it replaces a goal that was as unsure
NO_GOAL = -6.0  # as sure as there being none
CLEARER = 1.0  # more than the goal was: what came first may have been a greeting
ADDS_FROM = 0.0  # log-odds that it comes on top
LONG_CHARS = 500  # of a message that states a goal
MOST_PARTS = 4  # messages that state a goal: the first and the newest
BETWEEN = "\n\n"  # parts
KEPT_CHARS = 4_000  # of a goal whose messages the host no longer has


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What people want of the agent; empty if they did not say yet.

    Attributes:
        text: the words of the messages that state it, as they were said, or what a program set.
        positions: of these messages in the host's list, from 0; of those that the host cut from its front there are none.
        is_set: whether a program set it.
    """

    text: Text = ""
    positions: tuple[int, ...] = ()
    is_set: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedBefore:
    """What people wanted in messages that the host no longer has; empty if there are none or they want nothing.

    Attributes:
        text: the goal then.
        messages: how many of the host's list were said before that, since a host may keep what came first.
    """

    text: Text = ""
    messages: int = 0


WANTED_NOTHING = WantedBefore()


class Wish(NamedTuple):
    """A goal while it is followed: its parts, each with its position, and how surely they are a job, in log-odds."""

    parts: tuple[tuple[int | None, str], ...] = ()
    job: float = NO_GOAL

    @classmethod
    def of(cls, position: int | None, text: str) -> "Wish":
        """Return the goal that a message states; at length it is one for sure, whatever its wording."""
        job = job_in(text).job
        return cls(((position, text),), max(job, SURE) if len(text) >= LONG_CHARS else job)

    def after(self, position: int, text: str) -> "Wish":
        """Return the goal after a message."""
        read = job_in(text)
        if any(text in part for _, part in self.parts):
            return self
        if self.parts and read.job >= LEAST and read.adds >= ADDS_FROM:
            return self._with(position, text)
        as_unsure = min(max(LEAST, self.job), self.job + CLEARER)
        if read.job >= (ANOTHER if self.job >= SURE else as_unsure):
            return Wish.of(position, text)
        return self._with(position, text) if read.job >= SURE else self

    def _with(self, position: int, text: str) -> "Wish":
        """Return the goal with one more part."""
        first, *others = *self.parts, (position, text)
        return Wish((first, *others[1 - MOST_PARTS :]), max(self.job, job_in(text).job))

    def without(self, positions: Container[int]) -> str:
        """Return the goal in short, without what messages at these positions state of it."""
        text = BETWEEN.join(
            text for position, text in self.parts if position is None or position not in positions
        )
        return ends_of(text, KEPT_CHARS * 3 // 4, KEPT_CHARS // 4)

    @property
    def goal(self) -> Goal:
        """The goal as it is now."""
        return Goal(
            text=BETWEEN.join(text for _, text in self.parts),
            positions=tuple(position for position, _ in self.parts if position is not None),
        )


class Goals:
    """The part of a conversation's index that follows its goal; ``units`` are those of its list, ``overview`` says who instructs."""

    def __init__(self, units: Sequence[Candidate], overview: Overview) -> None:
        self._units, self._overview = units, overview
        self._begin(WANTED_NOTHING)

    def _begin(self, before: WantedBefore) -> None:
        self._before = before
        self._heard: list[int] = []  # units that instruct
        self._wishes = [
            Wish.of(None, before.text) if before.text else Wish()
        ]  # before the first of them, and after each

    def add(self, at: int, candidate: Candidate) -> None:
        """Do nothing: messages are read when the goal is asked for."""

    def truncate(self, units: int) -> int:
        """Forget all units after the first ones."""
        del self._heard[bisect_left(self._heard, units) :]
        del self._wishes[len(self._heard) + 1 :]
        return units

    def wish(self, before: WantedBefore, messages: int | None = None) -> Wish:
        """Return what is wanted after the first ``messages``, by default all; ``before`` is what was wanted in those that are cut."""
        units, all_heard = self._units, self._overview.instructions
        heard = all_heard[self._until(all_heard, before.messages) :]
        if self._before != before or self._heard != heard[: len(self._heard)]:
            self._begin(before)
        for unit in heard[len(self._heard) :]:
            said = units[unit].unit
            self._heard.append(unit)
            self._wishes.append(self._wishes[-1].after(said.start, said.messages[0].text.strip()))
        stop = None if messages is None else self._until(self._heard, messages)
        return self._wishes[-1 if stop is None else stop]

    def _until(self, heard: Sequence[int], messages: int) -> int:
        """Return how many of these units stand among the first messages."""
        return bisect_left(heard, messages, key=lambda unit: self._units[unit].unit.start)
