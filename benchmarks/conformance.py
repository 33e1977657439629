"""What survives repeated compression, by an independent measure.

Usage: python benchmarks/conformance.py [sessions]

Needs ``compaction-conformance-kit``. It plants statements in sessions, has each of them compacted five times in a row
within a budget in characters, and looks for their values. Some are updated in other words in between, some are alike and
must stay two. The best of its own compactors runs beside ours. What figures do not show stands below: a session that was
compressed to a tenth, to be read.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

from pydantic import BaseModel
from side_by_side import table

from autogen_context.compressor.compressor import SemanticCompressor

KIT = "compaction_kit"
BUDGETS = (0.10, 0.20, 0.30)
SESSIONS = 4
HEAD = ("budget", "compactor", "within", "survival", "resolved", "stale", "pairs", "output")


class Letters:
    """Counts characters, which is what the budgets are in."""

    def count(self, text: str, /) -> int:
        """Characters of a text."""
        return len(text)


class Turn(Protocol):
    """What the kit calls a turn."""

    role: str
    text: str


class Ours:
    """Takes turns as one text, and gives one text."""

    name = "autogen_context"

    def __init__(self) -> None:
        self._compressor = SemanticCompressor(counter=Letters())

    def compact(
        self, turns: Sequence[Turn], round_num: int = 1, budget_chars: int | None = None
    ) -> object:
        """The turns within the budget."""
        text = "\n".join(f"[{turn.role}] {turn.text}" for turn in turns)
        target = len(text) if budget_chars is None else budget_chars
        result = self._compressor.compress_nowait(text, target_tokens=target)
        context = import_module(f"{KIT}.compacted").CompactedContext
        return context(text=result.compressed, compactor_name=self.name, round_num=round_num)


class Preserved(BaseModel):
    """What is left of planted statements, as a share."""

    overall_final_survival: float


class Conflicts(BaseModel):
    """Statements that were updated in other words, and how many of them still show the old value."""

    n: int
    stale: int


class Updated(BaseModel):
    """What became of updates, and of pairs that are alike."""

    resolved_rate: float
    distinct_pair_rate: float
    conflicts: Conflicts


class Figures(BaseModel):
    """One compactor at one budget."""

    compactor: str
    budget_fraction: float
    budget_compliant: bool
    mean_final_output_ratio: float
    randomized: Preserved
    semantic: Updated

    def row(self) -> tuple[str, ...]:
        """The figures as cells."""
        conflicts = self.semantic.conflicts
        return (
            f"{self.budget_fraction:.0%}",
            self.compactor,
            "yes" if self.budget_compliant else "NO",
            f"{self.randomized.overall_final_survival:.1%}",
            f"{self.semantic.resolved_rate:.1%}",
            f"{conflicts.stale}/{conflicts.n}",
            f"{self.semantic.distinct_pair_rate:.1%}",
            f"{self.mean_final_output_ratio:.1%}",
        )


class Payload(BaseModel):
    """What the kit answers."""

    entries: list[Figures]


def main() -> None:
    """Print the table, and what became of one session."""
    if find_spec(KIT) is None:
        print('not installed: pip install "compaction-conformance-kit>=0.8"')
        return
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS
    theirs = import_module(f"{KIT}.semantic").SemanticChecklistCompactor
    payload = import_module(f"{KIT}.benchmark").run_budget_benchmark(
        {Ours.name: Ours, theirs.name: theirs}, budgets=BUDGETS, seeds=tuple(range(1, sessions + 1))
    )
    print(table(HEAD, *(figures.row() for figures in Payload.model_validate(payload).entries)))
    print(f"\nOne session in a tenth of its size:\n\n{sample()}")


def sample() -> str:
    """One session, compressed to a tenth."""
    session, _ = import_module(f"{KIT}.corpus").build_random_session(1)
    text: str = session.full_text()
    compressor = SemanticCompressor(counter=Letters())
    return compressor.compress_nowait(text, target_tokens=len(text) // 10).compressed


if __name__ == "__main__":
    main()
