"""What answers ``recall_context`` in the name of a manager."""

from collections.abc import Callable, Sequence

from autogen_context.manager import IncrementalContextManager
from autogen_context.messages.message import Message
from autogen_context.recall.asked_back import AskedBack
from autogen_context.view.decision import Decision
from support.counting import Characters

ROOM_TOKENS = 1_500


class LeftOut:
    """The originals that are not sent as they came, as the last turn tells of them."""

    def __init__(
        self,
        manager: IncrementalContextManager,
        decisions: Callable[[], Sequence[Decision]],
    ) -> None:
        self._manager = manager
        self._decisions = decisions

    @property
    def handles(self) -> Sequence[str]:
        """Of units that were shortened or dropped, oldest first."""
        return [decision.handle for decision in self._decisions() if decision.handle]

    def get(self, handle: str, /) -> tuple[Message, ...]:
        """The messages under a handle."""
        return self._manager.recall(handle)


def asked_back(originals: LeftOut) -> AskedBack:
    """Answers of a room."""
    return AskedBack(
        originals, count=lambda text: Characters().count(text).tokens, room_tokens=ROOM_TOKENS
    )
