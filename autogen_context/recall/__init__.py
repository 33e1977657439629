"""Bring back what left sight: whether a query asks for it, what is found, and what is always known.

Promise: nothing here calls a model or waits. A message comes back whole, or shortened and marked.

``RecallGate``
    whether a query needs anything from earlier.
``tiers``, ``select``
    which part of a conversation is in which tier of memory, and what of the working memory is worth its tokens.
``exchanges``, ``retrieve``, ``rendered``
    question and answer as one; the best of them for given scores; one text of them for the end of the list.
``Facts``
    what people said of themselves and of what must hold.
"""

from autogen_context.recall.exchange import Exchange, exchanges
from autogen_context.recall.facts import Fact, Facts
from autogen_context.recall.gate import RecallDecision, RecallGate
from autogen_context.recall.search import rendered, retrieve
from autogen_context.recall.selection import Selected, intensity_of, select
from autogen_context.recall.tiers import Tiers, tiers

__all__ = [
    "Exchange",
    "Fact",
    "Facts",
    "RecallDecision",
    "RecallGate",
    "Selected",
    "Tiers",
    "exchanges",
    "intensity_of",
    "rendered",
    "retrieve",
    "select",
    "tiers",
]
