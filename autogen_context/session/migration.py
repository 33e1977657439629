"""Bring a saved state of an earlier schema into the present form.

Promise: pure, one step a schema; what an earlier release did not save is as at the start. A schema that this release does
not know is refused.
"""

from collections.abc import Callable, Mapping
from typing import cast

from autogen_context.errors import StateError
from autogen_context.messages.record import Record

SCHEMA = 3

Data = Mapping[str, object]

START: Data = {
    "turns": 0,
    "waited_tokens": 0.0,
    "last_turn_s": None,
    "attempt": None,
    "changes": 0,
    "seen_units": 0,
    "finished_waited_tokens": 0.0,
    "finished_saving_tokens": 0.0,
}
"""What the price of a rewrite is judged by, where nothing is known of earlier turns."""

NO_FRONT: Data = {
    "text": "",
    "parts": [],
    "most_tokens": 0,
    "is_placed": False,
    "is_told": False,
    "since": [],
}


def present(data: Data) -> Data:
    """The state in the present schema.

    Raises:
        StateError: it is of a schema that this release does not know.
        KeyError: it has no schema.
        TypeError: its schema is no number, or it is no object.
    """
    schema = Record(data).whole("schema")
    if schema not in (*STEPS, SCHEMA):
        raise StateError(
            f"the state has schema {schema} and this release reads 1 to {SCHEMA}; "
            "load it with the release that saved it, or start without it"
        )
    for step in range(schema, SCHEMA):
        data = STEPS[step](data)
    return data


def from_1(data: Data) -> Data:
    """Schema 1 grew while it was in use: bills, sums of bills, summaries and what stands in front of a unit came later."""
    start: Data = {
        "must_replan": False,
        "rewrites": 1,  # one too many costs a little precision of the bound, one too few would cost its proof
        "usage": {"requests": 0, "prompt_tokens": 0, "cached_tokens": 0},
        "summaries": {},
        "notices": {"standing": [], "due": [], "in_sight": [], "waits": False},
        "pace": START,
        "sent": len(items_of(data.get("digests", []))),
        "versions": {"decisions": [], "versions": []},
        "context_id": "",
        "branches": 0,
    }
    given = {**start, **data, "schema": 2}
    given["decisions"] = [with_front(item) for item in items_of(given["decisions"])]
    given["stash"] = [as_record(item) for item in items_of(given.get("stash", []))]
    given["calibration"] = calibration_of(given["calibration"])
    return given


def from_2(data: Data) -> Data:
    """Schema 3 has a model's advice, a head in front, and what goes along with a conversation."""
    return {"advice": {}, "front": NO_FRONT, "companions": {}, **data, "schema": 3}


STEPS: Mapping[int, Callable[[Data], Data]] = {1: from_1, 2: from_2}


def with_front(decision: object) -> object:
    """A decision with nothing in front of its unit, where it does not say, and no index of its own messages that is null."""
    if not isinstance(decision, dict):
        return decision
    fields = cast("dict[str, object]", decision)  # JSON has no other keys
    pieces = [without_null(piece) for piece in items_of(fields.get("pieces", []))]
    return {"before": [], **fields, "pieces": pieces}


def without_null(piece: object) -> object:
    """A piece without an index that is null."""
    if not isinstance(piece, dict):
        return piece
    fields = cast("dict[str, object]", piece)  # JSON has no other keys
    return {key: value for key, value in fields.items() if value is not None}


def as_record(entry: object) -> object:
    """An entry of the originals as an object; it was a pair once."""
    if not isinstance(entry, list):
        return entry
    handle, messages = cast("list[object]", entry)
    return {"handle": handle, "messages": messages}


def calibration_of(saved: object) -> object:
    """What bills taught; bills of the form that did not say what was assumed prove nothing any more."""
    if not isinstance(saved, dict):
        return saved
    fields = cast("dict[str, object]", saved)  # JSON has no other keys
    bills = (fields.get("first"), fields.get("last"))
    if any("assumed" not in cast("Data", bill) for bill in bills if isinstance(bill, dict)):
        fields = {**fields, "first": None, "last": None, "steepest": 0.0}
    return {"before": None, **fields}


def items_of(listed: object) -> list[object]:
    """The items of a list; nothing of what is none is lost: it is refused where it is read."""
    return cast("list[object]", listed) if isinstance(listed, list) else [listed]
