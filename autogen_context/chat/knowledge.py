"""Select passages of a knowledge base and user facts relevant to a question and place them, marked as data, before it.

Promise: the selection fits its share of the window and names its sources. What is quoted stands line by line in a block labelled
as data, which nothing in it can end, without secrets. Changed files are read before the next question; an unchanged folder is not read
again, even in a later process. A folder that cannot be read loses its entries, never the answer.
"""

import logging
import re
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from typing_extensions import override

from autogen_context.budget.manager import STRICT, STRICT_MARGIN, Shares
from autogen_context.cache.cache import ContextCache
from autogen_context.documents.index import DocumentIndex, FoundPassage, shown_ends
from autogen_context.documents.provider import (
    FRAME_TOKENS,
    QUESTIONS_BACK,
    fitting,
    notices_of,
    questions,
    withdrawn,
)
from autogen_context.errors import CompletionFailed
from autogen_context.models.completion import Complete
from autogen_context.models.embedder import Vectors
from autogen_context.prioritizer.attention import relevances
from autogen_context.recall.facts import Fact, Facts
from autogen_context.text.fit import fit
from autogen_context.view.notice import Notice, ProviderTurn, ProviderUpdate

logger = logging.getLogger(__name__)

SHARES = Shares(STRICT, STRICT_MARGIN)  # of the window, by the strict profile
WORDINGS = "wordings"  # in the cache
WORDINGS_PROMPT = (
    "Write three other wordings of the question below, as a text that answers it might put it, each on a line of its own. "
    "Answer with these lines alone.\n\n{question}"
)
CITED = re.compile(r"\[([^\[\]]+)\]")  # how an answer cites an entry
FACTS = "What the person stated, to be kept to:"
FACTS_FRACTION = 0.12  # of the window, taken from the share of knowledge
TAKEN_BACK_FACTS = 3  # deleted ones that the model is told of, the newest


class Knowledge(DocumentIndex):
    """The passages of a folder; optionally searched by embeddings and alternative wordings too."""

    def __init__(
        self,
        folder: Path | None,
        cache: ContextCache,
        vectors: Vectors | None = None,
        complete: Complete | None = None,
    ) -> None:
        super().__init__(folder, cache, vectors)
        self._remembered, self._complete = cache, complete

    async def look_into(self, question: str, fits: Callable[[str], bool]) -> None:
        """Fetch a question's alternative wordings, if the prompt ``fits``, and embeddings; on failure, search by words alone."""
        await self.prepare(question)
        question = shown_ends(question)
        prompt = WORDINGS_PROMPT.format(question=question)
        if self._complete is None or not fits(prompt):
            return
        try:
            await self._remembered.warm(WORDINGS, [question])
            if self._remembered.remembered(WORDINGS, question) is None:
                self._remembered.remember(WORDINGS, question, await self._complete(prompt))
        except CompletionFailed as error:
            logger.info("a question is searched by its words", extra={"reason": str(error)})

    @override
    def select(
        self, question: str, earlier: Sequence[str] = (), wordings: Sequence[str] = ()
    ) -> list[FoundPassage]:
        """Return the passages relevant to a question, in other wordings too that were fetched for it."""
        known = str(self._remembered.remembered(WORDINGS, shown_ends(question)) or "")
        return super().select(question, earlier, [*wordings, *known.splitlines()])


class KnowledgeProvider:
    """A ``ContextProvider`` that adds the entries and facts relevant to the newest question."""

    name = "knowledge"

    def __init__(self, knowledge: Knowledge, count: Callable[[str], int]) -> None:
        self.facts = Facts()
        self.taken_back: list[str] = []  # texts of facts that the user deleted
        self.selected: list[FoundPassage] = []  # for the newest question, best first
        self._knowledge, self._count = knowledge, count

    def take_back(self, fact: Fact) -> None:
        """Delete a fact, and tell the model that it no longer applies."""
        self.facts.delete(fact.id)
        self.taken_back.append(fact.text)

    async def before_turn(self, turn: ProviderTurn, /) -> None:
        """Update the entries from the folder and prepare the search for the newest question."""
        await self._knowledge.refresh()
        room = turn.window_tokens - FRAME_TOKENS
        question = next(questions(turn), "")
        await self._knowledge.look_into(question, lambda prompt: self._count(prompt) <= room)

    def turn(self, turn: ProviderTurn, /) -> ProviderUpdate:
        """Return notices for the newest question, and withdraw those of earlier questions."""
        question, *earlier = [*islice(questions(turn), 1 + QUESTIONS_BACK)] or [""]
        room = int(SHARES.of("knowledge") * turn.window_tokens) - FRAME_TOKENS
        facts = self._stated(question, int(FACTS_FRACTION * turn.window_tokens))
        notices = [Notice(key="facts", text=FACTS, detail=facts)] if facts else []
        room -= sum(self._count(notice.rendered) for notice in notices)
        found = self._knowledge.select(question, earlier)
        current = (each for each in found if self._knowledge.is_current(each.passage))
        self.selected = fitting(current, room, self._count, question)
        notices += notices_of(self.selected)
        return ProviderUpdate(notices=tuple(notices), withdrawn=withdrawn(turn, self.name, notices))

    def _stated(self, question: str, room_tokens: int) -> str:
        """Return the user's facts that fit, chosen by constraint first, then relevance to the question, then recency."""
        facts = list(self.facts)[::-1]
        near = relevances(shown_ends(question), [fact.text for fact in facts]) if facts else []
        back = [f"no longer so: {text}" for text in self.taken_back[-TAKEN_BACK_FACTS:]]
        kept = fit(
            range(len(facts)),
            room_tokens - self._count("\n> ".join([FACTS, *back])),
            cost=lambda at: self._count(f"\n> {facts[at].text}"),
            score=lambda at: (facts[at].kind == "constraint", near[at]),
        ).kept
        # In this order the same facts always give the same text.
        taken = sorted((facts[at] for at in kept), key=lambda fact: fact.position)
        return "\n".join([*(" ".join(fact.text.split()) for fact in taken), *back])
