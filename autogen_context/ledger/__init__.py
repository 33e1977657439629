"""Ledger of a conversation's statements: extracts them from text, replaces outdated ones, renders them within a token budget."""

from autogen_context.ledger.ledger import Ledger
from autogen_context.ledger.reader import Entry, StatementKind
from autogen_context.ledger.rendering import Rendering
from autogen_context.text.passage import Author

__all__ = ["Author", "Entry", "Ledger", "Rendering", "StatementKind"]
