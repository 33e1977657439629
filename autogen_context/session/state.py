"""Save what a manager holds as JSON, and load it in another process.

Promise: a loaded state equals the saved one. A state that is damaged, or of a newer schema, is refused with its reason
before anything is changed.

The host's messages are not in it, the host has them; there is a digest for each, by which they are recognised.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from autogen_context.errors import StateError
from autogen_context.messages.message import Message
from autogen_context.messages.message_json import dump_message, load_message
from autogen_context.messages.record import Record
from autogen_context.session.decisions_json import checked, dump_decision, load_decision
from autogen_context.session.front import Fronted
from autogen_context.session.front_json import dump_front, load_front
from autogen_context.session.migration import SCHEMA, present
from autogen_context.session.notices import Notices
from autogen_context.session.notices_json import dump_notices, load_notices
from autogen_context.session.pricing import Pace, load_pace
from autogen_context.session.versions import Kept
from autogen_context.session.versions_json import dump_versions, load_versions
from autogen_context.session.window import Usage
from autogen_context.tokens.calibrate import Bill, Calibration
from autogen_context.view.decision import Decision

if TYPE_CHECKING:
    from autogen_context.prioritizer.advice import Advice


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
        advice: what a model advised on the task at hand, by the key of the task.
        notices: what is told beside the messages.
        sent: how many of the host's messages the last turn sent.
        pace: what the price of a rewrite is judged by.
        versions: what the context was after each change, oldest first.
        context_id: which conversation; empty where nobody said so yet.
        branches: how many were made of it.
        front: what stands behind the system prompt.
        companions: what those who go along with it need to go on, by their names, as JSON data.
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
    advice: "Mapping[str, Advice]" = field(default_factory=dict[str, "Advice"])
    notices: Notices = field(default_factory=Notices)
    sent: int = 0
    pace: Pace = field(default_factory=Pace)
    versions: tuple[Kept, ...] = ()
    context_id: str = ""
    branches: int = 0
    front: Fronted = field(default_factory=Fronted)
    companions: Mapping[str, Mapping[str, object]] = field(
        default_factory=dict[str, Mapping[str, object]]
    )


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
        "advice": dump_all_advice(state.advice),
        "notices": dump_notices(state.notices),
        "sent": state.sent,
        "pace": asdict(state.pace),
        "versions": dump_versions(state.versions, state.decisions),
        "context_id": state.context_id,
        "branches": state.branches,
        "front": dump_front(state.front),
        "companions": dict(state.companions),
    }


def load(data: Mapping[str, object]) -> State:
    """The state in JSON data.

    Raises:
        StateError: it is of a schema that this release does not know, or damaged.
    """
    try:
        return load_state(Record(present(data)))
    except KeyError as error:
        raise StateError(
            f"the state is damaged: {error} is missing; give what save_state() returned"
        ) from error
    except (TypeError, ValueError) as error:
        raise StateError(f"the state is damaged: {type(error).__name__}: {error}") from error


def load_state(data: Record) -> State:
    """The state in a record of this schema."""
    digests = tuple(map(bytes.fromhex, data.texts("digests")))
    decisions = tuple(map(load_decision, data.records("decisions")))
    return State(
        digests=digests,
        decisions=checked(decisions, known=len(digests)),
        pins=frozenset(map(bytes.fromhex, data.texts("pins"))),
        calibration=load_calibration(data.record("calibration")),
        stash=tuple((r.text("handle"), load_messages(r)) for r in data.records("stash")),
        must_replan=data.flag("must_replan"),
        rewrites=data.whole("rewrites"),
        usage=load_usage(data.record("usage")),
        summaries=dict(data.record("summaries").items()),
        advice=load_all_advice(data.record("advice")),
        notices=load_notices(data.record("notices")),
        sent=data.whole("sent"),
        pace=load_pace(data.record("pace")),
        versions=load_versions(data.record("versions"), decisions, known=len(digests)),
        context_id=data.text("context_id"),
        branches=data.whole("branches"),
        front=load_front(data.record("front")),
        companions=load_companions(data.record("companions")),
    )


def dump_all_advice(advice: "Mapping[str, Advice]") -> dict[str, object]:
    """Advice as JSON data, by the key of its task."""
    if not advice:
        return {}
    from autogen_context.session.advice_json import dump_advice  # noqa: PLC0415 - for who has a model

    return {key: dump_advice(each) for key, each in advice.items()}


def load_all_advice(data: Record) -> "dict[str, Advice]":
    """Advice by the key of its task from JSON data."""
    if not data.fields:
        return {}
    from autogen_context.session.advice_json import load_advice  # noqa: PLC0415 - as above

    return {key: load_advice(data.record(key)) for key in data.fields}


def load_companions(data: Record) -> dict[str, Mapping[str, object]]:
    """What companions saved; each reads its own."""
    return {name: data.record(name).fields for name in data.fields}


def load_messages(data: Record) -> tuple[Message, ...]:
    """The messages of an entry of the originals."""
    return tuple(map(load_message, data.records("messages")))


def load_calibration(data: Record) -> Calibration:
    """A calibration from JSON data."""
    calibration = load_settled(data)
    if not data.is_null("before"):
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
