"""What a prioritizer is given: the units among which a compaction chooses, as values.

Promise: whoever reads a record cannot change the index that it was read from, and a record whose units were read stays as it is.
"""

from dataclasses import dataclass
from functools import cached_property

from autogen_context.messages.message import Message, content_digest, joined_text
from autogen_context.prioritizer.category import Category
from autogen_context.prioritizer.references import References


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRecord:
    """A unit that a compaction may keep, shorten or drop.

    Attributes:
        position: of the unit in the conversation; the key of its score.
        messages: its messages, as they may be sent.
        tokens: of the whole unit.
        category: one of seven.
        texts: its texts, each as blocks of a few lines; a ``BlockAt`` names one of them.
    """

    position: int
    messages: tuple[Message, ...]
    tokens: int
    category: Category
    texts: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        """All texts, calls and results of its messages."""
        return joined_text(self.messages)


class ConversationRecord:
    """A conversation in one compaction; its units are read when they are first asked for.

    Attributes:
        length: number of units of the whole conversation; positions are below it.
    """

    def __init__(self, index: References) -> None:
        self._index: References | None = index
        self.length = len(index.units)

    @property
    def index(self) -> References:
        """What ``ContextPrioritizer`` scores by; there for as long as the turn.

        Raises:
            ValueError: the turn is over.
        """
        if self._index is None:
            raise ValueError("conversation: what is awaited has its units alone; score by these")
        return self._index

    @cached_property
    def units(self) -> tuple[UnitRecord, ...]:
        """The units to choose among, oldest first; what is protected or left long ago may be missing, or have no say."""
        index = self.index
        return tuple(
            UnitRecord(
                position=at,
                messages=tuple(index.units[at].messages),
                tokens=index.units[at].candidate.tokens,
                category=index.units[at].category,
                texts=tuple(
                    tuple(block.text for block in text.blocks) for text in index.units[at].texts
                ),
            )
            for at in index.considered
        )

    @property
    def name(self) -> bytes:
        """A digest that tells conversations apart, by their length and their newest unit."""
        newest = joined_text(self.index.units[-1].messages) if self.length else ""
        return content_digest(str(self.length), newest)

    def detach(self) -> None:
        """Leave the index, which the next turn changes; the units stay."""
        self.units  # noqa: B018 - read before
        self._index = None
