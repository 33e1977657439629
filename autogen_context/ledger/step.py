"""What one statement did to a ledger."""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.ledger.entry import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one statement did to a ledger.

    Attributes:
        start: where it begins in the text.
        end: where it ends there.
        text: what it states.
        takes: whether the ledger says it now, or takes something back because of it.
        entries: those that are new or changed.
        given_up: entries that had no room any more.
    """

    start: int = 0
    end: int = 0
    text: str = ""
    takes: bool = False
    entries: Sequence[Entry] = ()
    given_up: Sequence[Entry] = ()
