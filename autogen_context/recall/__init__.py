"""Bring back what left sight: whether a query asks for it, what is found, and what is always known.

Promise: nothing here calls a model or waits. A message comes back whole, or shortened and marked. What reads
facts is loaded for those who ask for it.

``RecallGate``
    whether a query needs anything from earlier.
``tiers``, ``select``
    which part of a conversation is in which tier of memory, and what of the working memory is worth its tokens.
``exchanges``, ``retrieve``, ``rendered``
    question and answer as one; the best of them for given scores; one text of them for the end of the list.
``Facts``
    what people said of themselves and of what must hold.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from autogen_context.recall.exchanges import Exchange, Tiers, exchanges, tiers
from autogen_context.recall.gate import RecallDecision, RecallGate
from autogen_context.recall.search import rendered, retrieve
from autogen_context.recall.selection import Selected, select

if TYPE_CHECKING:
    from autogen_context.recall.facts import Fact, Facts

__all__ = [
    "Exchange",
    "Fact",
    "Facts",
    "RecallDecision",
    "RecallGate",
    "Selected",
    "Tiers",
    "exchanges",
    "rendered",
    "retrieve",
    "select",
    "tiers",
]

_OF_FACTS = ("Fact", "Facts")


def __getattr__(name: str) -> object:
    """A public name that is not loaded yet."""
    if name not in _OF_FACTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.facts"), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return [*globals(), *__all__]
