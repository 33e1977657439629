"""What a conversation needs to go on in another process, as one value and as JSON data.

Promise: a loaded state equals the saved one. A state that is damaged, or of another schema, is refused with its reason
before anything is changed.

The host's messages are not in it, the host has them; there is a digest for each, by which they are recognised. A decision
that several versions share, or a version and the view, is written once; a version names stretches of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from autogen_context.messages.message import Message, Text
from autogen_context.messages.piece import Verbatim
from autogen_context.messages.saved import damaged, read_saved, saved
from autogen_context.prioritizer.advice import Advice
from autogen_context.view.decision import Decision
from autogen_context.view.decisions import Decisions
from autogen_context.view.integrity import faults_of_notices
from autogen_context.view.notices import Notices
from autogen_context.view.versions import Version
from autogen_context.view.view import ContextView, Digest, Digests

SCHEMA = 5
SOURCE = "save_state()"

KeptVersion = tuple[Version, ContextView]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a conversation needs to go on elsewhere.

    Attributes:
        view: how it is sent.
        digests: one for each of the host's messages.
        originals: by handle.
        versions: what the view was after each change, oldest first.
        context_id: which conversation; empty where nobody said so yet.
        branches: how many were made of it.
        summaries: what a model made of spans, by the key of the span.
        advice: what a model advised on the task at hand, by the key of the task.
        providers: what those need to go on who tell of the world beside it, by their names, as JSON data.
    """

    view: ContextView = field(default_factory=ContextView)
    digests: tuple[Digest, ...] = ()
    originals: tuple[tuple[Text, tuple[Message, ...]], ...] = ()
    versions: Annotated[tuple[KeptVersion, ...], PlainValidator(tuple), Field(exclude=True)] = ()
    context_id: Text = ""
    branches: int = 0
    summaries: Mapping[Text, Text] = field(default_factory=dict[str, str])
    advice: Mapping[Text, Advice] = field(default_factory=dict[str, Advice])
    providers: Annotated[Mapping[Text, Mapping[Text, object]], Field(exclude=True)] = field(
        default_factory=dict[str, Mapping[str, object]]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedVersion:
    """A version, with the stretches of all decisions that its view has: the first and the last of each."""

    version: Version
    decided: tuple[tuple[int, int], ...]
    pins: Digests = frozenset()
    notices: Notices = field(default_factory=Notices)
    must_replan: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState(State):
    """What is written: the state, the decisions that only versions have, and the versions."""

    schema: int
    version_decisions: tuple[Decision, ...] = ()
    saved_versions: tuple[SavedVersion, ...] = ()


def dump(state: State) -> dict[str, object]:
    """The state as JSON data."""
    numbers: dict[Decision, int] = {}
    by_identity: dict[int, int] = {}  # what is shared need not be compared
    given = [tuple(view.decisions) for _, view in state.versions]

    def number(decision: Decision) -> int:
        known = by_identity.get(id(decision))
        if known is None:
            known = by_identity[id(decision)] = numbers.setdefault(decision, len(numbers))
        return known

    for decision in state.view.decisions:
        by_identity[id(decision)] = len(by_identity)
        numbers.setdefault(decision, by_identity[id(decision)])
    own = len(state.view.decisions)
    versions = [
        SavedVersion(
            version=version,
            decided=tuple(stretches([number(decision) for decision in decisions])),
            pins=view.pins,
            notices=view.notices,
            must_replan=view.must_replan,
        )
        for (version, view), decisions in zip(state.versions, given, strict=True)
    ]
    others = tuple(decision for decision, n in numbers.items() if n >= own)
    return written(
        SavedState(
            schema=SCHEMA,
            version_decisions=others,
            saved_versions=tuple(versions),
            **fields_of(state),
        )
    )


def load(data: object) -> State:
    """The state in JSON data.

    Raises:
        StateError: it is of a schema that this release does not know, or damaged.
    """
    found = read_saved(SavedState, data, what="state", schema=SCHEMA, source=SOURCE)
    table = (*found.view.decisions, *found.version_decisions)
    kept = [(each, decided_in(each, table)) for each in found.saved_versions]
    for fault in faults_of(found, kept):
        raise damaged("state", fault, SOURCE)
    if written(found) != data:  # what pydantic made fit, such as "5" for 5, or left unread
        raise damaged("state", "a value is not as it was written", SOURCE)
    versions = tuple((each.version, view_of(each, decisions)) for each, decisions in kept)
    return replace(State(**fields_of(found)), versions=versions)


def written(state: SavedState) -> dict[str, object]:
    """It as JSON data; what providers gave is JSON already, and pydantic would change keys that are no UTF-8."""
    given = {"providers": dict(state.providers)} if state.providers else {}
    return saved(state) | given


def fields_of(state: State) -> dict[str, Any]:
    """The fields of a state by their names."""
    return {each.name: getattr(state, each.name) for each in fields(State)}


def view_of(version: SavedVersion, decisions: Sequence[Decision]) -> ContextView:
    """The view of a version."""
    return ContextView(
        decisions=Decisions(decisions),
        pins=version.pins,
        notices=version.notices,
        must_replan=version.must_replan,
    )


def stretches(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where a sequence counts up, the first and the last of each stretch."""
    breaks = [i for i, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
    for start, stop in pairwise([0, *breaks, len(numbers)]):
        if start < stop:
            yield numbers[start], numbers[stop - 1]


def decided_in(version: SavedVersion, table: Sequence[Decision]) -> list[Decision]:
    """The decisions of a version.

    Raises:
        StateError: it names decisions that there are not.
    """
    for first, last in version.decided:
        if not 0 <= first <= last < len(table):
            raise damaged("state", f"decisions {first} to {last} of {len(table)}", SOURCE)
    return [decision for first, last in version.decided for decision in table[first : last + 1]]


def faults_of(
    state: State, kept: Sequence[tuple[SavedVersion, Sequence[Decision]]]
) -> Iterator[str]:
    """What fits its types and cannot be."""
    known = len(state.digests)
    yield from faults_of_decisions(state.view.decisions, known=known)
    for each, decisions in kept:
        yield from faults_of_decisions(decisions, known=known)
        yield from faults_of_notices(each.notices)
    yield from faults_of_notices(state.view.notices)
    for (older, _), (newer, _) in pairwise(kept):
        if newer.version.number <= older.version.number:
            yield f"version {newer.version.number} after {older.version.number}"
    if not state.view.calibration.is_sound:
        yield "a calibration from impossible bills or ratios"
    if any(notice.topic != "project" for notice in state.view.preamble.since):
        yield "a notice that is none of a project is newer than the preamble"
    if not all(advice.is_sound for advice in state.advice.values()):
        yield "advice beyond its bounds"


def faults_of_decisions(decisions: Iterable[Decision], *, known: int) -> Iterator[str]:
    """Where decisions do not cover the front of ``known`` messages without a gap, or send what is not their own."""
    stop = 0
    for decision in decisions:
        if decision.start != stop or decision.stop <= stop:
            yield f"decision on {decision.start} to {decision.stop} after {stop}"
        for piece in decision.pieces:
            first = piece.start if isinstance(piece, Verbatim) else piece.index
            last = piece.stop - 1 if isinstance(piece, Verbatim) else piece.index
            own = first is None or last is None or stop <= first <= last < decision.stop
            if not own:
                yield f"a piece with {first} to {last} in the decision on {stop}"
        stop = decision.stop
    if stop > known:
        yield f"{stop} messages are decided and {known} are known"
