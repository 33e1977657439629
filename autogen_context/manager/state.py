"""What a conversation needs to go on in another process, as one value, as JSON data, and in a file.

Promise: a loaded state equals the saved one. A state that is damaged, or of another schema, is refused with its reason
before anything is changed. A file holds a whole state at any time, the old one or the new one; only its owner can read it.

The host's messages are not in it, the host has them; there is a digest for each, by which they are recognised. A decision
that several versions share, or a version and the view, is written once; a version names stretches of them.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from pathlib import Path
from threading import get_ident
from typing import Annotated, Any
from zlib import crc32

from pydantic import Field, PlainValidator, StrictInt, TypeAdapter, ValidationError

from autogen_context.errors import StateError
from autogen_context.messages.message import Message, Text
from autogen_context.messages.saved import damaged, faults, read_saved, saved
from autogen_context.prioritizer.advice import Advice
from autogen_context.view.decision import Decision, Decisions, faults_of_decisions
from autogen_context.view.notice import Notices
from autogen_context.view.versions import Version
from autogen_context.view.view import ContextView, Digest, Digests

SCHEMA = 6
SOURCE = "save_state()"
FLAGS = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)

KeptVersion = tuple[Version, ContextView]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a conversation needs to go on elsewhere."""

    view: ContextView = field(default_factory=ContextView)
    digests: tuple[Digest, ...] = ()  # one for each of the host's messages
    originals: tuple[tuple[Text, tuple[Message, ...]], ...] = ()  # by handle
    versions: Annotated[tuple[KeptVersion, ...], PlainValidator(tuple), Field(exclude=True)] = ()
    context_id: Text = ""  # empty where nobody said so yet
    branches: int = 0  # how many were made of it
    summaries: Mapping[Text, Text] = field(default_factory=dict[str, str])
    advice: Mapping[Text, Advice] = field(default_factory=dict[str, Advice])
    providers: Annotated[Mapping[Text, Mapping[Text, object]], Field(exclude=True)] = field(
        default_factory=dict[str, Mapping[str, object]]
    )  # what those need to go on who tell of the world beside it, by their names, as JSON data


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
    table = list(
        state.view.decisions
    )  # those of the view, and behind them those that only versions have
    given = [list(view.decisions) for _, view in state.versions]
    numbers = {id(decision): n for n, decision in enumerate(table)}
    for decision in (decision for decisions in given for decision in decisions):
        if numbers.setdefault(id(decision), len(table)) == len(table):
            table.append(decision)
    versions = [
        SavedVersion(
            version=version,
            decided=tuple(stretches([numbers[id(decision)] for decision in decisions])),
            pins=view.pins,
            notices=view.notices,
            must_replan=view.must_replan,
        )
        for (version, view), decisions in zip(state.versions, given, strict=True)
    ]
    return written(
        SavedState(
            schema=SCHEMA,
            version_decisions=tuple(table[len(state.view.decisions) :]),
            saved_versions=tuple(versions),
            **fields_of(state),
        )
    )


def load(data: object) -> State:
    """The state in JSON data; ``StateError`` where it is of a schema that this release does not know, or damaged."""
    found = read_saved(SavedState, data, what="state", schema=SCHEMA, source=SOURCE)
    table = (*found.view.decisions, *found.version_decisions)
    kept: list[KeptVersion] = []
    for each in found.saved_versions:
        for first, last in each.decided:
            if not 0 <= first <= last < len(table):
                raise damaged("state", f"decisions {first} to {last} of {len(table)}", SOURCE)
        stretched = (table[first : last + 1] for first, last in each.decided)
        view = ContextView(
            decisions=Decisions(decision for stretch in stretched for decision in stretch),
            pins=each.pins,
            notices=each.notices,
            must_replan=each.must_replan,
        )
        kept.append((each.version, view))
    for fault in faults_of(found, kept):
        raise damaged("state", fault, SOURCE)
    if written(found) != data:  # what pydantic made fit, such as "5" for 5, or left unread
        raise damaged("state", "a value is not as it was written", SOURCE)
    return replace(State(**fields_of(found)), versions=tuple(kept))


def written(state: SavedState) -> dict[str, object]:
    """It as JSON data; what providers gave is JSON already, and pydantic would change keys that are no UTF-8."""
    given = {"providers": dict(state.providers)} if state.providers else {}
    return saved(state) | given


def fields_of(state: State) -> dict[str, Any]:
    """The fields of a state by their names."""
    return {each.name: getattr(state, each.name) for each in fields(State)}


def stretches(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where a sequence counts up, the first and the last of each stretch."""
    breaks = [i for i, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
    for start, stop in pairwise([0, *breaks, len(numbers)]):
        if start < stop:
            yield numbers[start], numbers[stop - 1]


def faults_of(state: State, kept: Sequence[KeptVersion]) -> Iterator[str]:
    """What fits its types and cannot be."""
    for view in (state.view, *(view for _, view in kept)):
        yield from faults_of_decisions(view.decisions, known=len(state.digests))
        if not view.notices.is_sound:
            yield "two notices are about the same"
    for (older, _), (newer, _) in pairwise(kept):
        if newer.number <= older.number:
            yield f"version {newer.number} after {older.number}"
    if not state.view.calibration.is_sound:
        yield "a calibration from impossible bills or ratios"
    if any(notice.topic != "project" for notice in state.view.preamble.offer.newer):
        yield "a notice that is none of a project is newer than the preamble"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a file holds: a state, and the checksum of its JSON."""

    crc32: StrictInt
    state: dict[Text, object]


CONTENT = TypeAdapter(Content)


def write_state(path: Path, state: Mapping[str, object]) -> None:
    """Put a state into a file, in place of what is there."""
    write_whole(path, as_bytes(state))


def write_whole(path: Path, data: bytes) -> None:
    """Put data into a file, all of it or nothing, in place of what is there; its folder is made where there is none."""
    target = Path(os.path.realpath(path))  # a link stays one
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = f".{target.name}.{os.getpid()}-{get_ident()}"  # no other writer's; what a dead one left is written over
    temporary = target.with_name(own)
    try:
        with os.fdopen(os.open(temporary, FLAGS, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)  # it is gone where all went well
    with suppress(OSError):  # have its name on the disk, where the system can do that for folders
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_state(path: Path) -> Mapping[str, object]:
    """The state in a file."""
    content = path.read_bytes()
    try:
        read = CONTENT.validate_python(json.loads(content.decode("utf-8", "surrogatepass")))
    except ValidationError as error:
        reason = faults(error)
        raise StateError(f"{path}: no state was saved in it, or it is damaged: {reason}") from None
    except (ValueError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise StateError(f"{path}: no state was saved in it, or it is damaged: {reason}") from error
    if crc32(json_of(read.state)) != read.crc32:
        raise StateError(f"{path}: the state is damaged: its checksum is another one")
    return read.state


def as_bytes(state: Mapping[str, object]) -> bytes:
    """What a file holds: the state as JSON, with a checksum."""
    data = json_of(state)
    return b'{"crc32":%d,"state":%b}\n' % (crc32(data), data)


def json_of(state: Mapping[str, object]) -> bytes:
    """JSON without escapes beside those that it asks for: of two lone surrogates they would make one character."""
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")
