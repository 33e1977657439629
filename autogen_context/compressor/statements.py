"""What is stated beside the messages, and what messages state: which of the two holds.

Promise: pure. Of two statements about the same the later one holds; where it cannot be told whether they are about the
same, both do.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, TypeVar

from autogen_context.ledger import Entry
from autogen_context.ledger.ledger import replaces

Name = TypeVar("Name", bound=Hashable)


class Statements(Generic[Name]):
    """What is told beside the messages, as entries of a ledger.

    Args:
        entries: a statement for each name under which it is told.
    """

    def __init__(self, entries: Mapping[Name, Entry]) -> None:
        self._entries = dict(entries)

    def since(self, position: int) -> list[Entry]:
        """Those that came when so many messages were known, or more."""
        return [entry for entry in self._entries.values() if entry.position >= position]

    def replace(self, entry: Entry) -> bool:
        """Whether one of them says what a message said, or came later and is about the same."""
        return any(
            own.text == entry.text or replaces(own, entry, changes=True)
            for own in self.since(entry.position + 1)
        )

    def overruled(self, entries: Iterable[Entry]) -> frozenset[Name]:
        """The names of those about which somebody with as much say said something else later."""
        said = list(entries)
        return frozenset(
            name
            for name, own in self._entries.items()
            if any(e.position >= own.position and replaces(e, own, changes=False) for e in said)
        )
