"""Say of a unit what became of it, what it matters for what is being done, and why.

Promise: nothing is decided here and nothing changes; what it takes is read when somebody asks.
"""

from dataclasses import dataclass, fields, replace

from autogen_context.messages.identifiers import NOTHING, is_telling
from autogen_context.prioritizer.category import category_of, is_decision, is_error
from autogen_context.prioritizer.prioritizer import ContextPrioritizer, Signals
from autogen_context.prioritizer.references import References
from autogen_context.view.decision import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Decision):
    """A decision, and what its unit matters now.

    Attributes:
        score: what it matters for what is being done, 0..1.
        reasons: where the score comes from, in words, what weighs most first.
    """

    score: float
    reasons: tuple[str, ...]


class Explainer:
    """Explains the units of one conversation.

    Args:
        references: the values of the conversation, up to date.
        task: what a person said last.
        relevance: of each message to the task, 0..1.
    """

    def __init__(self, references: References, task: str, relevance: list[float]) -> None:
        self._references = references
        self._task = task
        self._relevance = relevance

    def explain(self, decision: Decision, at: int) -> Explanation:
        """What became of the unit at a position, and what it matters; nothing, while a loaded state is all there is."""
        known = {field.name: getattr(decision, field.name) for field in fields(Decision)}
        if at >= len(self._references.units):
            return Explanation(**known, score=0.0, reasons=("its messages were not read yet",))
        signals = [self._signals(i, self._relevance) for i in self._concerned(at)]
        priority = ContextPrioritizer().rank(self._task, renumbered(signals)).priorities[0]
        return Explanation(**known, score=priority.score, reasons=priority.reasons)

    def _concerned(self, at: int) -> list[int]:
        """The unit, what supersedes it, what supersedes that, and so on."""
        concerned = [at]
        while (newer := self._references.superseded.by(concerned[-1])) is not None:
            concerned.append(newer)
        return concerned

    def _signals(self, at: int, scores: list[float]) -> Signals:
        superseded = self._references.superseded
        unit = self._references.units[at].candidate.unit
        return Signals(
            category=category_of(unit),
            relevance=max(scores[unit.start : unit.stop], default=0.0),
            recency=(at + 1) / len(self._references.units),
            references=self._used_later(at),
            error=is_error(unit),
            decision=any(is_decision(m.text) for m in unit.messages if m.role == "assistant"),
            stale=superseded.stale(at) is not None,
            superseded_by=superseded.by(at),
            remark=superseded.reason(at),
        )

    def _used_later(self, at: int) -> int:
        """How many later units use a value that this one introduced."""
        units = self._references.units
        before = NOTHING.union(*(unit.values for unit in units[:at]))
        introduced = {value for value in units[at].values - before if is_telling(value)}
        return len({i for value in introduced for i in self._references.uses(value) if i > at})


def renumbered(signals: list[Signals]) -> list[Signals]:
    """A chain of units of which each is superseded by the next, as a list of its own."""
    return [
        s if s.superseded_by is None else replace(s, superseded_by=i + 1)
        for i, s in enumerate(signals)
    ]
