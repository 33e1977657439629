"""What was stated and holds: found in plain language, updated by identity, written in few words, read again without loss."""

from autogen_context.ledger.entry import Author, Entry, Kind
from autogen_context.ledger.ledger import Ledger
from autogen_context.ledger.rendering import Rendering

__all__ = ["Author", "Entry", "Kind", "Ledger", "Rendering"]
