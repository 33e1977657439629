"""Have a model asked what an agent is at, while the agent's next answer is under way.

Promise: each turn is asked about once, in the background, as soon as its results are there; the turn in which triggers
see it takes what was answered by then. The work ends with its owner. Cancellation passes through. Each turn may have an
event loop of its own.
"""

from collections.abc import Sequence

from autogen_context.messages.tool_call import ToolKinds
from autogen_context.models.background import Background
from autogen_context.triggers.intent_model import AskIntent
from autogen_context.triggers.turn import Turn, turn_of
from autogen_context.view.decision import Candidate


class Intents:
    """The turns of one conversation that a model is asked about.

    Args:
        model: who is asked, and remembers.
        kinds: what tools do.
        background: where it is asked.
    """

    def __init__(self, model: AskIntent, kinds: ToolKinds, background: Background) -> None:
        self._background = background
        self._model = model
        self._kinds = kinds
        self._newest: Candidate | None = None

    def ask(self, candidates: Sequence[Candidate]) -> None:
        """Have the newest turn thought about, unless it was; needs a running event loop.

        Args:
            candidates: the units of the conversation.
        """
        newest = candidates[-1] if candidates else None
        if newest is None or newest is self._newest or not is_complete(newest):
            return
        self._newest = newest
        turn = turn_of(newest.unit, 0, kinds=self._kinds)  # its number is no part of the question
        self._background.start(self._ask(turn), name="intent")

    async def _ask(self, turn: Turn) -> None:
        await self._model.ask(turn)


def is_complete(candidate: Candidate) -> bool:
    """Whether a unit is a turn of the model that acted, and has all its results."""
    unit = candidate.unit
    return unit.messages[0].role == "assistant" and unit.has_calls and not unit.unanswered
