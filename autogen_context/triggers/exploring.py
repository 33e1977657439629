"""When looking around ends: what was looked up in many ways is used.

Promise: a look-up made again counts once. What is remembered is bounded, and a turn costs the same however many there
were.

Calls belong to families: those of one file, and those of tools that name one thing (``get_reservation`` and
``cancel_reservation``). Looking around, before anything is done, is a family of its own: its use is the first change of code
that was not looked up, which is made with what was.
"""

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from posixpath import basename

from autogen_context.language.stems import stem
from autogen_context.language.terms import PART, STOP_WORDS
from autogen_context.messages.tool_action import ToolAction, ToolKind
from autogen_context.messages.tool_call import NAME_CHARS, NAME_WORDS
from autogen_context.triggers.file_sort import sort_of
from autogen_context.triggers.turn import Step, Turn

LEAST_LOOKUPS = 3  # different ones, of what is then used
KEPT_LOOKUPS = 3  # the newest of these stay: the use comes from them
KEPT_READS = 4  # of files, the newest: the same
LEAST_LETTERS = 3  # of a word that names a thing
MOST_FAMILIES = 500  # of a span; of more the newest are known
MOST_LOOKUPS = 100  # of a family
REMEMBERED = 1_000

LOOKING: frozenset[ToolKind] = frozenset({"read", "search"})
USING: frozenset[ToolKind] = frozenset({"write", "run"})
NO_THING = STOP_WORDS | NAME_WORDS.keys()  # what a tool does, not with what


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The first use of what was looked up.

    Attributes:
        used: the file that is changed, or the tool that is called where it names none.
        lookups: in how many ways its family was looked up.
        turns: the newest turns that did, and the newest that read files.
        older: the other turns that did.
    """

    used: str
    lookups: int
    turns: tuple[int, ...]
    older: frozenset[int]


class Exploring:
    """What was looked up in the span that is open, and not used yet."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, int]] = {}  # by family: each look-up, and its newest turn
        self._around: dict[str, int] | None = {}  # look-ups of anything, until something is done
        self._used = -1  # number of the newest turn that did something
        self._read: deque[int] = deque(maxlen=KEPT_READS)

    def observe(self, turn: Turn) -> Use | None:
        """The use that a turn makes of what was looked up before it."""
        using = [step for step in turn.steps if step.action.kind in USING]
        uses = [use for step in using for use in self._use(step)]
        self._used = turn.number if using else self._used
        for step in turn.steps:
            if step.action.kind in LOOKING:
                self._look(step, turn.number)
        return max(uses, key=lambda use: use.lookups, default=None)

    def restart(self, start: int) -> None:
        """Begin a span at a turn that was seen already, or is the next."""
        self._found.clear()
        self._around = {} if self._used < start else None
        self._read.clear()

    def _use(self, step: Step) -> list[Use]:
        used = (*step.action.writes, step.tool)[0]
        around = self._around_of(step)
        found = [self._found.pop(family, {}) for family in families_of(step)]
        uses = [use_of(used, each) for each in found if len(each) >= LEAST_LOOKUPS]
        if not uses and len(around) >= LEAST_LOOKUPS:
            return [use_of(used, around, self._read)]
        return [replace(use, turns=(*use.turns, *self._read)) for use in uses]

    def _around_of(self, step: Step) -> dict[str, int]:
        """What was looked up before anything was done, where code is changed now that was not looked up."""
        around, self._around = self._around, None
        names = {basename(path) for path in step.action.writes if sort_of(path) == "code"}
        if not around or not names:
            return {}
        return around if names.isdisjoint(map(basename, self._found)) else {}

    def _look(self, step: Step, number: int) -> None:
        asked = f"{step.tool} {asked_of(step.action)}"
        around = [] if self._around is None else [self._around]
        for lookups in (*map(self._lookups_of, families_of(step)), *around):
            if asked in lookups or len(lookups) < MOST_LOOKUPS:
                lookups[asked] = number
        if step.action.kind == "read" and step.action.views:
            self._read.append(number)
        while len(self._found) > MOST_FAMILIES:
            del self._found[next(iter(self._found))]

    def _lookups_of(self, family: str) -> dict[str, int]:
        return self._found.setdefault(family, {})


def use_of(used: str, lookups: Mapping[str, int], needed: Collection[int] = ()) -> Use:
    """The use of some look-ups; the newest stay, or of those that are needed the newest."""
    turns = sorted(set(lookups.values()))
    kept = tuple(sorted(needed) or turns)[-KEPT_LOOKUPS:]
    older = frozenset(turns).difference(kept)
    return Use(used=used, lookups=len(lookups), turns=kept, older=older)


def asked_of(action: ToolAction) -> str:
    """What stands for a look-up: equal where the same is asked."""
    return action.key or " ".join(view.told() for view in action.views)


def families_of(step: Step) -> tuple[str, ...]:
    """What a step is about: its files where it names some, else what its tool's name says beside a kind."""
    action = step.action
    files = [*action.writes, *(view.path for view in action.views)]
    if action.kind == "search":
        files += action.subjects[1:]  # the pattern is first
    return tuple(dict.fromkeys(files)) or families_of_name(step.tool[:NAME_CHARS])


@lru_cache(REMEMBERED)
def families_of_name(name: str) -> tuple[str, ...]:
    """The things that a tool's name names."""
    words = (part.lower() for part in PART.findall(name))
    things = (word for word in words if word not in NO_THING and len(word) >= LEAST_LETTERS)
    return tuple(dict.fromkeys(stem(word) for word in things))
