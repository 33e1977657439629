"""What was stated and holds: found in plain language, updated where it speaks of the same, written in few words."""

from autogen_context.ledger.ledger import Ledger
from autogen_context.ledger.reader import Author, Entry, Kind
from autogen_context.ledger.rendering import Rendering

__all__ = ["Author", "Entry", "Kind", "Ledger", "Rendering"]
