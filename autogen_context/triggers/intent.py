"""What an agent is at in a turn: it explores, debugs, implements, verifies, documents or refactors.

Promise: rules alone decide, from what is said and done; the same turn after the same turns has the same intent. Time in
proportion to the turn, of which a bounded part is read.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from autogen_context.triggers.deeds import RUNNING, Deeds, deeds_of, run_in
from autogen_context.triggers.file_sort import FileSort, sort_of
from autogen_context.triggers.intent_words import CLEARING, PROBING, SAID, Intent
from autogen_context.triggers.spoken import clauses_of
from autogen_context.triggers.turn import Step, Turn
from autogen_context.triggers.verdict import Verdict

OF_CHANGES: frozenset[Intent] = frozenset({"REFACTOR", "DOCUMENT"})  # where they are said
OF_RUNS: frozenset[Intent] = frozenset({"DEBUG", "VERIFY", "IMPLEMENT"})  # the same
REMEMBERED = 2  # turns
PROVING: frozenset[FileSort] = frozenset({"try", "test"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the work stands before a turn.

    Attributes:
        changed: whether something that is no try was changed, and nothing ran since that went well.
        failing: whether what ran last went ill.
        broken: whether it did so after a change.
    """

    changed: bool = False
    failing: bool = False
    broken: bool = False

    def after(self, turn: Turn, deeds: Deeds) -> "Standing":
        """How it stands after a turn."""
        if deeds.ran and not deeds.failed:
            return Standing()
        changed = self.changed or has_changed(turn, deeds)
        failing = deeds.ran or self.failing
        return Standing(
            changed=changed, failing=failing, broken=self.broken or (deeds.ran and changed)
        )


AT_FIRST = Standing()


def intent_of(turn: Turn, standing: Standing = AT_FIRST) -> Intent | None:
    """What an agent is at; ``None`` where it only speaks, or hands its work in.

    Args:
        turn: the turn.
        standing: how the work stands before it.
    """
    return intent_by_rules(turn, deeds_of(turn), standing)


def intent_by_rules(turn: Turn, deeds: Deeds, standing: Standing) -> Intent | None:
    """The same, where it is known what the turn came to."""
    kinds = {step.action.kind for step in turn.steps}
    if deeds.finished or kinds <= {"other"}:
        return None
    clauses = clauses_of(turn.reasoning)
    if "write" in kinds and any(map(CLEARING.search, clauses)):
        return None
    if "write" in kinds and any(map(PROBING.search, clauses)):
        return "DEBUG"
    sorts = sorts_of_changes(turn)
    by_script = bool(kinds & RUNNING) and not deeds.ran
    if "write" in kinds or by_script or sorts - {"try"}:
        return of_change(sorts, clauses, standing)
    if kinds & RUNNING or sorts:
        return of_run(clauses, standing, deeds.verdict, tests="test" in kinds and not sorts)
    return of_look({sort_of(path) for path in looked_at(turn)}, clauses, standing)


def of_change(sorts: AbstractSet[FileSort], clauses: Sequence[str], standing: Standing) -> Intent:
    """What a change is for, by the files and by what is said."""
    if sorts == {"document"}:
        return "DOCUMENT"
    if sorts and sorts <= PROVING and "try" in sorts:
        return "VERIFY" if standing.changed else "DEBUG"
    if standing.broken:
        return "DEBUG"
    if sorts == {"test"}:
        return "VERIFY"
    return first_of(islice(said_in(clauses), 1), OF_CHANGES, "IMPLEMENT")


def of_run(
    clauses: Sequence[str], standing: Standing, verdict: Verdict | None, *, tests: bool
) -> Intent:
    """What a run is for: what was changed or failed is tried out, what fails is looked into."""
    if standing.changed or (standing.failing and verdict == "passed"):
        return "VERIFY"
    if standing.failing:
        return "DEBUG"
    tested: Intent = "DEBUG" if verdict == "failed" else "VERIFY"
    return first_of(said_in(clauses), OF_RUNS, tested if tests else "EXPLORE")


def of_look(sorts: set[FileSort], clauses: Sequence[str], standing: Standing) -> Intent:
    """What a look is for: to see a change, to find a fault, to get to know."""
    if sorts == {"document"} and is_said("DOCUMENT", clauses):
        return "DOCUMENT"
    if standing.changed and is_said("VERIFY", clauses):
        return "VERIFY"
    return "DEBUG" if standing.failing or is_said("DEBUG", clauses) else "EXPLORE"


def first_of(said: Iterable[Intent], these: frozenset[Intent], otherwise: Intent) -> Intent:
    """The first of what is said that is one of these."""
    for intent in said:
        if intent in these:
            return intent
    return otherwise


@lru_cache(REMEMBERED)
def sorts_of_changes(turn: Turn) -> AbstractSet[FileSort]:
    """What the files are for that a turn means to change; a script that it runs as well is a try."""
    changed = {path for step in turn.steps for path in changed_by(step)}
    ran = run_in(turn) if changed else changed
    return frozenset("try" if path in ran else sort_of(path) for path in changed)


def has_changed(turn: Turn, deeds: Deeds) -> bool:
    """Whether a turn changed something that is no try."""
    sorts = sorts_of_changes(turn)
    return deeds.changed and (not sorts or sorts != {"try"})


def changed_by(step: Step) -> tuple[str, ...]:
    """What a step means to change: files, or the folders that it makes or removes."""
    action = step.action
    is_folder = action.kind == "write" and action.subjects != (step.tool,)
    return action.writes or (action.subjects if is_folder else ())


def looked_at(turn: Turn) -> set[str]:
    """The files that a turn reads."""
    return {view.path for step in turn.steps for view in step.action.views}


def is_said(intent: Intent, clauses: Sequence[str]) -> bool:
    """Whether an intent is said."""
    return any(map(SAID[intent].search, clauses))


def said_in(clauses: Sequence[str]) -> Iterator[Intent]:
    """The intents that are said, the last said first: what comes next is said last. Looked for one by one."""
    for clause in reversed(clauses):
        for intent, phrases in SAID.items():
            if phrases.search(clause):
                yield intent
