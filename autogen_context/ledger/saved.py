"""The JSON shape of a ledger."""

from dataclasses import dataclass

from autogen_context.ledger.entry import Entry

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedLedger:
    """The shape of a saved state."""

    schema: int
    entries: tuple[Entry, ...]
