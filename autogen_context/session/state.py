"""Save what a manager holds as JSON, and load it in another process.

Promise: a loaded state equals the saved one. A state that is damaged, or of a newer schema, is refused with its reason
before anything is changed.

The host's messages are not in it, the host has them; there is a digest for each, by which they are recognised.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import cast, get_args

from autogen_context.errors import StateError
from autogen_context.pipeline.calibrate import Bill, Calibration
from autogen_context.pipeline.decision import Action, Decision
from autogen_context.pipeline.message import Message
from autogen_context.pipeline.message_json import dump_message, load_message
from autogen_context.pipeline.piece import Piece, Verbatim, Written
from autogen_context.pipeline.record import Record
from autogen_context.session.window import Usage

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a conversation needs to go on elsewhere.

    Attributes:
        digests: one for each of the host's messages.
        decisions: what is held.
        pins: digests of pinned messages.
        calibration: what the bills taught.
        stash: originals by handle.
        must_replan: whether a pin or a change of the past asks for another choice at the next turn.
        rewrites: how often what was sent before was not continued.
        usage: what the provider billed in all.
        summaries: what a model made of spans, by the key of the span.
    """

    digests: tuple[bytes, ...] = ()
    decisions: tuple[Decision, ...] = ()
    pins: frozenset[bytes] = frozenset()
    calibration: Calibration = field(default_factory=Calibration)
    stash: tuple[tuple[str, tuple[Message, ...]], ...] = ()
    must_replan: bool = False
    rewrites: int = 0
    usage: Usage = field(default_factory=Usage)
    summaries: Mapping[str, str] = field(default_factory=dict[str, str])


def dump(state: State) -> dict[str, object]:
    """The state as JSON data."""
    return {
        "schema": SCHEMA,
        "digests": [digest.hex() for digest in state.digests],
        "decisions": [dump_decision(decision) for decision in state.decisions],
        "pins": sorted(digest.hex() for digest in state.pins),
        "calibration": asdict(state.calibration),
        "stash": [
            {"handle": handle, "messages": [dump_message(message) for message in entry]}
            for handle, entry in state.stash
        ],
        "must_replan": state.must_replan,
        "rewrites": state.rewrites,
        "usage": asdict(state.usage),
        "summaries": dict(state.summaries),
    }


def load(data: Mapping[str, object]) -> State:
    """The state in JSON data.

    Raises:
        StateError: it is of a schema that this release does not know, or damaged.
    """
    try:
        schema = Record(data).whole("schema")
        if schema != SCHEMA:
            raise StateError(
                f"the state has schema {schema} and this release reads {SCHEMA}; "
                "load it with the release that saved it, or start without it"
            )
        return load_state(Record(data))
    except (KeyError, TypeError, ValueError) as error:
        raise StateError(f"the state is damaged: {type(error).__name__}: {error}") from error


def load_state(data: Record) -> State:
    """The state in a record of this schema."""
    state = State(
        digests=tuple(map(bytes.fromhex, data.texts("digests"))),
        decisions=tuple(map(load_decision, data.records("decisions"))),
        pins=frozenset(map(bytes.fromhex, data.texts("pins"))),
        calibration=load_calibration(data.record("calibration")),
        stash=tuple((r.text("handle"), load_messages(r)) for r in data.records("stash")),
        must_replan=data.flag("must_replan"),
        rewrites=data.whole("rewrites"),
        usage=load_usage(data.record("usage")) if "usage" in data else Usage(),
        summaries=dict(data.record("summaries").items()) if "summaries" in data else {},
    )
    stop = 0
    for decision in state.decisions:
        check_decision(decision, after=stop)
        stop = decision.stop
    if stop > len(state.digests):
        raise ValueError(f"{stop} messages are decided and {len(state.digests)} are known")
    return state


def check_decision(decision: Decision, *, after: int) -> None:
    """Refuse a decision that does not follow the one before, or sends what is not its own.

    Raises:
        ValueError: says which.
    """
    if decision.start != after or decision.stop <= after:
        raise ValueError(f"decision on {decision.start} to {decision.stop} after {after}")
    for piece in decision.pieces:
        first = piece.start if isinstance(piece, Verbatim) else piece.index
        last = piece.stop - 1 if isinstance(piece, Verbatim) else piece.index
        if first is not None and last is not None and not after <= first <= last < decision.stop:
            raise ValueError(f"a piece with {first} to {last} in the decision on {after}")


def dump_decision(decision: Decision) -> dict[str, object]:
    """A decision as JSON data."""
    fields = asdict(decision)
    pieces = [dump_piece(piece) for piece in decision.pieces]
    return {**fields, "pieces": pieces, "before": [dump_piece(p) for p in decision.before]}


def load_decision(data: Record) -> Decision:
    """A decision from JSON data."""
    action = data.text("action")
    if action not in get_args(Action):
        raise ValueError(f"no such action: {action}")
    return Decision(
        start=data.whole("start"),
        stop=data.whole("stop"),
        action=cast("Action", action),  # checked above
        reason=data.text("reason"),
        tokens_before=data.whole("tokens_before"),
        tokens_after=data.whole("tokens_after"),
        pieces=tuple(map(load_piece, data.records("pieces"))),
        handle=data.text("handle"),
        before=tuple(map(load_piece, data.records("before"))) if "before" in data else (),
    )


def dump_piece(piece: Piece) -> dict[str, object]:
    """A piece as JSON data."""
    if isinstance(piece, Verbatim):
        return {"start": piece.start, "stop": piece.stop}
    index = {} if piece.index is None else {"index": piece.index}
    return {**index, "message": dump_message(piece.message)}


def load_piece(data: Record) -> Piece:
    """A piece from JSON data."""
    if "message" not in data:
        return Verbatim(start=data.whole("start"), stop=data.whole("stop"))
    message = load_message(data.record("message"))
    return Written(message=message, index=data.whole("index") if "index" in data else None)


def load_messages(data: Record) -> tuple[Message, ...]:
    """The messages of an entry of the stash."""
    return tuple(map(load_message, data.records("messages")))


def load_calibration(data: Record) -> Calibration:
    """A calibration from JSON data."""
    calibration = load_settled(data)
    if "before" in data and not data.is_null("before"):
        calibration = replace(calibration, before=load_settled(data.record("before")))
    if not calibration.is_sound:
        raise ValueError("a calibration from impossible bills or ratios")
    return calibration


def load_settled(data: Record) -> Calibration:
    """A calibration whose bills are all confirmed."""
    return Calibration(
        ratio=data.number("ratio"),
        lowest_ratio=data.number("lowest_ratio"),
        first=load_bill(data, "first"),
        last=load_bill(data, "last"),
        steepest=data.number("steepest"),
    )


def load_bill(data: Record, key: str) -> Bill | None:
    """A bill from JSON data."""
    if data.is_null(key):
        return None
    bill = data.record(key)
    return Bill(
        counted=bill.whole("counted"),
        billed=bill.whole("billed"),
        assumed=bill.whole("assumed"),
        rewrites=bill.whole("rewrites"),
    )


def load_usage(data: Record) -> Usage:
    """Sums of bills from JSON data."""
    return Usage(
        requests=data.whole("requests"),
        prompt_tokens=data.whole("prompt_tokens"),
        cached_tokens=data.whole("cached_tokens"),
    )
