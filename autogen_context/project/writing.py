"""Write a head for a task.

Promise: what changes from when it is written on is counted, and nothing before. Nobody waits for it but who asked.
"""

import asyncio
from collections.abc import Callable

from autogen_context.budget.allocate import TokenBudget, TokenBudgetManager
from autogen_context.budget.task import TaskDefinition
from autogen_context.project.changes import digest_of
from autogen_context.project.head import Head, Material, Papers, built
from autogen_context.project.index import Index
from autogen_context.project.rank import Focus, ranked
from autogen_context.project.since import Since


class Writing:
    """Writes the heads of one project.

    Args:
        name: of the project.
        index: its files.
        budget_tokens: what head and tail may have together.
        count: tokens of a text.
    """

    def __init__(
        self, name: str, *, index: Index, budget_tokens: int, count: Callable[[str], int]
    ) -> None:
        self._name = name
        self._index = index
        self._budget_tokens = budget_tokens
        self._count = count

    def budget(self, task: str) -> TokenBudget:
        """What each section may have for a task."""
        manager = TokenBudgetManager(total_tokens=self._budget_tokens)
        return manager.allocate(TaskDefinition.from_text(task))

    async def written(self, task: str, focus: Focus, papers: Papers) -> Since:
        """A new head, in a thread; the index counts changes from it on.

        Args:
            task: what is to be done.
            focus: what matters for it.
            papers: the documents as they are.
        """
        budget, files = self.budget(task), tuple(sorted(self._index.files))
        symbols = dict(self._index.symbols)

        def write() -> Head:
            material = Material(
                name=self._name,
                files=files,
                symbols=symbols,
                ranking=ranked(symbols, focus),
                papers=papers,
                words=focus.topics,
            )
            return built(material, budget, count=self._count)

        head = await asyncio.to_thread(write)
        shown = {name: digest_of(symbols.get(name)) for name in head.map.shown}
        self._index.mark()
        return Since(head, focus.topics, shown=shown, papers=papers, count=self._count)
