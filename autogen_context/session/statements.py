"""What notices state, beside what messages state: which of the two holds.

Promise: pure. Of two statements about the same the later one holds; where it cannot be told whether they are about the
same, both do.
"""

from collections.abc import Iterable, Mapping

from autogen_context.ledger import Entry, Kind
from autogen_context.ledger.ledger import replaces
from autogen_context.ledger.rendering import entry_of
from autogen_context.session.notices import Name, Notice, Topic

STATED: Mapping[Topic, Kind] = {"requirement": "constraint", "decision": "decision"}


class Statements:
    """The statements of some notices, as entries of a ledger by a person.

    Args:
        notices: what is told beside the messages.
    """

    def __init__(self, notices: Iterable[Notice] = ()) -> None:
        self._entries = {
            notice.name: entry_of(STATED[notice.topic], notice.text, "person", notice.position)
            for notice in notices
            if notice.topic in STATED
        }

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
