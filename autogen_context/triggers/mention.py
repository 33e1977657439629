"""What turns name: which of them brought a name in, and which referred to it again.

Promise: time and memory are bounded: of a turn so many characters are read, and so many turns are remembered.

A name is a value that names one thing (a path, an identifier, a code), not a plain word nor a plain number.
"""

import re
from collections.abc import Iterable, Iterator, KeysView, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, takewhile

from autogen_context.messages.identifiers import CONNECTORS, LEAST, MOST, PART, TELLING
from autogen_context.triggers.turn import Step, Turn

NOTHING: frozenset[str] = frozenset()

SAID_CHARS = 300  # of what the model wrote, from its beginning and its end
SHOWN_CHARS = 450  # of what came back, from its beginning, middle and end
MOST_STEPS = 6  # of a turn
MOST_SUBJECTS = 20  # of a call
CONTEXT_TURNS = 5  # the newest turns: what the work is about now
REMEMBERED = 20_000  # runs of characters

RUN = re.compile(rf"\w[\w./@-]{{{LEAST - 1},{MOST - 1}}}+")  # of longer ones, pieces
ASCII_RUN = re.compile(RUN.pattern, re.ASCII)  # the same in such a text, in half the time


@dataclass(slots=True, kw_only=True)
class _Turn:
    """What a turn names; bit i of ``referred`` is set where the turn i after it names again what it brought in."""

    number: int
    names: frozenset[str]
    referred: int = 0


class Mentions:
    """The names of the newest turns.

    Args:
        turns: how many turns back are remembered.
    """

    def __init__(self, turns: int) -> None:
        self._remembered = turns
        self._turns: dict[int, _Turn] = {}
        self._newest: dict[str, int] = {}  # the newest turn that brought a name in, maybe forgotten
        self._tidied = 0  # how many of these there were when they were gone through last
        self._now = 0
        self._context = NOTHING  # what the newest turns name

    @property
    def numbers(self) -> KeysView[int]:
        """The turns that are remembered, oldest first."""
        return self._turns.keys()

    @property
    def oldest(self) -> int:
        """The oldest turn that is remembered."""
        return next(iter(self._turns))

    def add(self, turn: Turn) -> Sequence[int]:
        """Read one more turn; the numbers of those that are forgotten for it."""
        self._now = turn.number
        forgotten = self._forget()
        said, shown = names_in(said_in(turn)), names_in(shown_in(turn))
        self._refer(said)
        self._turns[turn.number] = _Turn(number=turn.number, names=said | shown)
        self._newest.update(dict.fromkeys(shown, turn.number))
        newest = islice(reversed(self._turns.values()), CONTEXT_TURNS)
        self._context = NOTHING.union(*[each.names for each in newest])
        return forgotten

    def references(self, number: int, *, turns: int) -> int:
        """How many of the newest so many turns named again what a turn brought in."""
        referred = self._turns[number].referred
        missed = max(0, self._now - number - turns + 1) if referred else 0
        return (referred >> missed).bit_count()

    def similarity(self, number: int) -> float:
        """How many of a turn's names the newest turns share, of those that could be; 0 where it has none."""
        names, now = self._turns[number].names, self._context
        shared = names & now
        return len(shared) / min(len(names), len(now)) if shared else 0.0

    def _refer(self, said: frozenset[str]) -> None:
        for number in {self._newest[name] for name in self._newest.keys() & said}:
            if number in self._turns:
                self._turns[number].referred |= 1 << (self._now - number)

    def _forget(self) -> Sequence[int]:
        least = self._now - self._remembered
        forgotten = list(takewhile(lambda number: number < least, self._turns))
        for number in forgotten:
            del self._turns[number]
        if len(self._newest) > 2 * self._tidied:
            self._newest = {name: turn for name, turn in self._newest.items() if turn >= least}
            self._tidied = len(self._newest)
        return forgotten


def said_in(turn: Turn) -> Iterator[str]:
    """What a turn named itself: the words of the model, and what its calls are about."""
    yield from parts_of(turn.reasoning, 2, SAID_CHARS // 2)
    for step in turn.steps[:MOST_STEPS]:
        yield from step.action.subjects[:MOST_SUBJECTS]


def shown_in(turn: Turn) -> Iterator[str]:
    """What a turn brought in: the files it viewed or wrote, and what came back."""
    steps = turn.steps[:MOST_STEPS]
    for step in steps:
        yield from files_of(step)
        yield from parts_of(step.observation or "", 3, SHOWN_CHARS // 3 // len(steps))


def files_of(step: Step) -> Iterator[str]:
    """The files that a step views or writes."""
    yield from (view.path for view in step.action.views[:MOST_SUBJECTS])
    yield from step.action.writes[:MOST_SUBJECTS]


def parts_of(text: str, parts: int, chars: int) -> Iterator[str]:
    """The text; so many parts of it where it is longer than all of them, the first and the last among them."""
    if len(text) <= parts * chars:
        yield text
        return
    step = (len(text) - chars) // (parts - 1)
    yield from (text[i * step : i * step + chars] for i in range(parts - 1))
    yield text[-chars:]


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """The names in some texts."""
    text = "\n".join(texts)  # no name has that within
    runs = (ASCII_RUN if text.isascii() else RUN).findall(text)
    return NOTHING.union(*map(known, set(runs)))


@lru_cache(REMEMBERED)
def known(run: str) -> tuple[str, ...]:
    """The names in a short text without spaces: the whole, the last part of a path, and the parts between signs."""
    whole = run.rstrip(CONNECTORS)
    parts = () if whole.isidentifier() else (whole.rpartition("/")[2], *PART.findall(whole))
    found = dict.fromkeys((whole, *parts))
    return tuple(
        name
        for name in found
        if len(name) >= LEAST and TELLING.search(name) and not name.isdecimal()
    )
