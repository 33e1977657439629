"""The JSON shape of a ledger.

Promise: what is damaged or of another release is refused, and why is said.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from autogen_context.errors import StateError
from autogen_context.pipeline.ledger.entry import Entry

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedLedger:
    """The shape of a saved state."""

    schema: int
    entries: tuple[Entry, ...]


def validated(data: Mapping[str, object]) -> SavedLedger:
    """The saved state in JSON data.

    Raises:
        StateError: it is of a schema that this release does not know, or damaged.
    """
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - not needed to learn

    try:
        saved = TypeAdapter(SavedLedger).validate_python(dict(data))
    except ValidationError as error:
        raise StateError(f"the saved ledger is damaged: {error}") from error
    if saved.schema != SCHEMA:
        raise StateError(
            f"the saved ledger has schema {saved.schema} and this release reads {SCHEMA}; "
            "load it with the release that saved it, or start without it"
        )
    return saved
