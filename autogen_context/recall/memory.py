"""What a session asks of the memory of its conversation.

Promise: a seam. Who answers it (``recall.recaller``) is handed in, so that a session knows no index and no gate.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from autogen_context.compressor.shorten import CountText
from autogen_context.language.query import QueryKind
from autogen_context.messages.message import Message


class Verdict(Protocol):
    """Whether a message asks for what is out of sight."""

    @property
    def retrieve(self) -> bool:
        """Whether it does."""
        ...

    @property
    def reason(self) -> str:
        """Why, in words."""
        ...

    @property
    def kind(self) -> QueryKind:
        """What the message asks for."""
        ...


class Memory(Protocol):
    """Looks back in one conversation."""

    def follow(self, messages: Sequence[Message], /) -> None:
        """Read what is new in the conversation."""
        ...

    def decide(self, query: str, in_sight: Iterable[Message], /) -> Verdict:
        """Whether what a person says asks for what is out of sight; what is in sight is looked at only where it matters."""
        ...

    def judge(self, query: str, spoken: Iterable[Message], /) -> Verdict:
        """The same by wording and by who spoke, whatever was read and is in sight."""
        ...

    def scores(self, query: str, /) -> list[float]:
        """What each message has to do with a query, in 0..1."""
        ...

    def text(
        self, query: str, hidden: Collection[int], *, room_tokens: int, count: CountText
    ) -> str:
        """What a query asks for among the messages at these positions, as one text; empty where there is nothing."""
        ...
