"""Save what a manager holds as JSON, and load it in another process.

Promise: a loaded state equals the saved one. A state that is damaged, or of a newer schema, is refused with its reason
before anything is changed.

The host's messages are not in it, the host has them; there is a digest for each, by which they are recognised.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeVar, cast, get_args

from autogen_context.errors import StateError
from autogen_context.pipeline.calibrate import Bill, Calibration
from autogen_context.pipeline.message import Image, Message, ToolCall, ToolResult
from autogen_context.pipeline.piece import Piece, Verbatim, Written
from autogen_context.pipeline.decision import Action, Decision

SCHEMA = 1

Json = Mapping[str, object]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a conversation needs to go on elsewhere.

    Attributes:
        digests: one for each of the host's messages.
        decisions: what is held.
        pins: digests of pinned messages.
        calibration: what the bills taught.
        stash: originals by handle.
    """

    digests: tuple[bytes, ...] = ()
    decisions: tuple[Decision, ...] = ()
    pins: frozenset[bytes] = frozenset()
    calibration: Calibration = field(default_factory=Calibration)
    stash: tuple[tuple[str, tuple[Message, ...]], ...] = ()


def dump(state: State) -> dict[str, object]:
    """The state as JSON data."""
    return {
        "schema": SCHEMA,
        "digests": [digest.hex() for digest in state.digests],
        "decisions": [dump_decision(decision) for decision in state.decisions],
        "pins": sorted(digest.hex() for digest in state.pins),
        "calibration": asdict(state.calibration),
        "stash": [[handle, [dump_message(m) for m in entry]] for handle, entry in state.stash],
    }


def load(data: Json) -> State:
    """The state in JSON data.

    Raises:
        StateError: it is of a schema that this release does not know, or damaged.
    """
    schema = data.get("schema")
    if schema != SCHEMA:
        raise StateError(
            f"the state has schema {schema!r} and this release reads {SCHEMA}; "
            "load it with the release that saved it, or start without it"
        )
    try:
        return State(
            digests=tuple(map(bytes.fromhex, each(data["digests"], str))),
            decisions=tuple(map(load_decision, each(data["decisions"], Mapping))),
            pins=frozenset(map(bytes.fromhex, each(data["pins"], str))),
            calibration=load_calibration(typed(data["calibration"], Mapping)),
            stash=tuple(map(load_entry, each(data["stash"], list))),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StateError(f"the state is damaged: {type(error).__name__}: {error}") from error


def dump_decision(decision: Decision) -> dict[str, object]:
    """A decision as JSON data."""
    fields = asdict(decision)
    return {**fields, "pieces": [dump_piece(piece) for piece in decision.pieces]}


def load_decision(data: Json) -> Decision:
    """A decision from JSON data."""
    action = typed(data["action"], str)
    if action not in get_args(Action):
        raise ValueError(f"no such action: {action}")
    return Decision(
        start=typed(data["start"], int),
        stop=typed(data["stop"], int),
        action=cast("Action", action),
        reason=typed(data["reason"], str),
        tokens_before=typed(data["tokens_before"], int),
        tokens_after=typed(data["tokens_after"], int),
        pieces=tuple(map(load_piece, each(data["pieces"], Mapping))),
        handle=typed(data["handle"], str),
    )


def dump_piece(piece: Piece) -> dict[str, object]:
    """A piece as JSON data."""
    if isinstance(piece, Verbatim):
        return {"start": piece.start, "stop": piece.stop}
    return {"index": piece.index, "message": dump_message(piece.message)}


def load_piece(data: Json) -> Piece:
    """A piece from JSON data."""
    if "message" not in data:
        return Verbatim(start=typed(data["start"], int), stop=typed(data["stop"], int))
    index = data["index"]
    message = load_message(typed(data["message"], Mapping))
    return Written(message=message, index=None if index is None else typed(index, int))


def dump_message(message: Message) -> dict[str, object]:
    """A message as JSON data, without its empty fields."""
    fields = {key: value for key, value in asdict(message).items() if value}
    return fields | ({"digest": message.digest.hex()} if message.digest else {})


def load_message(data: Json) -> Message:
    """A message from JSON data."""
    return Message(
        role=typed(data["role"], str),
        text=typed(data.get("text", ""), str),
        calls=tuple(ToolCall(**strings(call)) for call in each(data.get("calls", []), Mapping)),
        results=tuple(ToolResult(**strings(r)) for r in each(data.get("results", []), Mapping)),
        name=typed(data.get("name", ""), str),
        images=tuple(map(load_image, each(data.get("images", []), Mapping))),
        extra=typed(data.get("extra", ""), str),
        digest=bytes.fromhex(typed(data.get("digest", ""), str)),
    )


def load_image(data: Json) -> Image:
    """An image from JSON data."""
    return Image(
        width=typed(data["width"], int),
        height=typed(data["height"], int),
        detail=typed(data["detail"], str),
    )


def load_calibration(data: Json) -> Calibration:
    """A calibration from JSON data."""
    return Calibration(
        ratio=typed(data["ratio"], float),
        lowest_ratio=typed(data["lowest_ratio"], float),
        first=load_bill(data["first"]),
        last=load_bill(data["last"]),
        steepest=typed(data["steepest"], float),
    )


def load_bill(data: object) -> Bill | None:
    """A bill from JSON data."""
    if data is None:
        return None
    fields = typed(data, Mapping)
    return Bill(counted=typed(fields["counted"], int), billed=typed(fields["billed"], int))


def load_entry(data: list[object]) -> tuple[str, tuple[Message, ...]]:
    """An entry of the stash from JSON data."""
    handle, messages = data
    return typed(handle, str), tuple(map(load_message, each(messages, Mapping)))


def strings(data: Json) -> dict[str, str]:
    """The fields of an object of strings."""
    return {key: typed(value, str) for key, value in data.items()}


def each(value: object, kind: Callable[..., Value]) -> Sequence[Value]:
    """The items of a list of one type."""
    return [typed(item, kind) for item in typed(value, list)]


def typed(value: object, kind: Callable[..., Value]) -> Value:
    """The value, if it is of this type; an int where a float is asked for goes as well.

    Raises:
        TypeError: it is of another type.
    """
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, cast("type", kind)) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"expected {getattr(kind, '__name__', kind)}, got {type(value).__name__}")
    return cast("Value", value)
