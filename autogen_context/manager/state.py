"""The saved state of a conversation, to resume it in another process: as one value, as JSON data, and in a file.

Promise: a loaded state equals the saved one. A state of an earlier schema, from 8 on, is brought into today's form; a damaged
state, or one of another schema, is rejected with the reason before anything is changed. Files are written atomically: they contain the old or the new state, and only the owner can read them.

The host's messages are not saved, since the host has them; a digest of each identifies it. A decision shared by several
versions, or by a version and the view, is written once; a version refers to ranges of decisions.
"""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import chain, pairwise
from pathlib import Path
from threading import get_ident
from typing import Annotated, Any, TypeGuard, cast
from zlib import crc32

from pydantic import Field, PlainValidator, StrictInt, TypeAdapter, ValidationError

from autogen_context.cache.originals import DeletionExtent
from autogen_context.errors import StateError
from autogen_context.messages.canonical import DIGEST_SCHEME
from autogen_context.messages.message import Message, Text
from autogen_context.messages.saved import (
    Fields,
    Migration,
    damaged,
    faults,
    migrated,
    read_saved,
    saved,
)
from autogen_context.prioritizer.advice import Advice
from autogen_context.view.decision import Candidate, Decision, Decisions, Why
from autogen_context.view.invariants import faults_of_decisions
from autogen_context.view.versions import Version
from autogen_context.view.view import ContextView, Digest

DERIVED = re.compile("; (?:reduced on arrival(?: by .*)?|shortened to fit|a notice stands here)$")


def with_kind(decision: object) -> object:
    """Return a decision of schema 9 with the kind of its reason in place of words alone."""
    if not (is_fields(decision) and isinstance(reason := decision.get("reason"), str)):
        return decision
    words = DERIVED.sub("", reason)
    why = max((each for each in Why if words.startswith(each)), key=len)
    detail = words.removeprefix(why).removeprefix(": ")
    named = {"why": str(why)} | ({"detail": detail} if detail else {})
    return {name: value for name, value in decision.items() if name != "reason"} | named


def with_kinds(holder: object, name: str) -> object:
    """Return what has decisions under a name with the kinds of their reasons."""
    if not (is_fields(holder) and isinstance(decisions := holder.get(name), list)):
        return holder
    return {**holder, name: [with_kind(each) for each in cast("list[object]", decisions)]}


def is_fields(value: object) -> TypeGuard[Fields]:
    """Return whether a value is a JSON object."""
    return isinstance(value, Mapping)


SCHEMA = 10  # a field that is added with a default needs no other
MIGRATIONS: Mapping[int, Migration] = {
    8: lambda state: {**state, "digest_scheme": 1},  # digests of what ``repr`` wrote
    9: lambda state: {
        name: with_kinds(value, "decisions") if name == "view" else value
        for name, value in cast("Fields", with_kinds(state, "version_decisions")).items()
    },
}
"""By schema: what brings a state into the form of the next one."""
SOURCE = "save_state()"
LEFT_AFTER_S = 600.0  # nobody writes a file for so long
FLAGS = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)

KeptVersion = tuple[Version, ContextView]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state from which a conversation can be resumed."""

    view: ContextView = field(default_factory=ContextView)
    digests: tuple[Digest, ...] = ()  # one per host message
    # Of these and of the pins; those of another scheme cannot be compared.
    digest_scheme: int = DIGEST_SCHEME
    originals: tuple[tuple[Text, tuple[Message, ...]], ...] = ()  # by handle
    versions: Annotated[tuple[KeptVersion, ...], PlainValidator(tuple), Field(exclude=True)] = ()
    context_id: Text = ""  # empty if not assigned yet
    branches: int = 0  # number of branches created so far
    # Names in stores of originals: its own, then those it branched from.
    conversations: tuple[Text, ...] = ()
    # Originals that a store could not delete yet, by handle.
    undeleted: Mapping[Text, DeletionExtent] = field(default_factory=dict[str, DeletionExtent])
    summaries: Mapping[Text, Text] = field(default_factory=dict[str, str])
    advice: Mapping[Text, Advice] = field(default_factory=dict[str, Advice])
    providers: Annotated[Mapping[Text, Mapping[Text, object]], Field(exclude=True)] = field(
        default_factory=dict[str, Mapping[str, object]]
    )  # state of the context providers by name, as JSON data


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedVersion:
    """A version, with its decisions as (first, last) index ranges into the table of all decisions."""

    version: Version
    view: ContextView  # without decisions
    decided: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState(State):
    """The serialized form: the state, the decisions that occur only in versions, and the versions."""

    schema: int
    version_decisions: tuple[Decision, ...] = ()
    saved_versions: tuple[SavedVersion, ...] = ()


def dump(state: State) -> dict[str, object]:
    """Return the state as JSON data."""
    table = list(state.view.decisions)  # then those that occur only in versions
    numbers = {id(decision): n for n, decision in enumerate(table)}
    kept: list[SavedVersion] = []
    for version, view in state.versions:
        for decision in view.decisions:
            if numbers.setdefault(id(decision), len(table)) == len(table):
                table.append(decision)
        decided = tuple(stretches([numbers[id(decision)] for decision in view.decisions]))
        bare = replace(view, decisions=Decisions())
        kept.append(SavedVersion(version=version, view=bare, decided=decided))
    return written(
        SavedState(
            schema=SCHEMA,
            version_decisions=tuple(table[len(state.view.decisions) :]),
            saved_versions=tuple(kept),
            **fields_of(state),
        )
    )


def load(data: object) -> State:
    """Return the state from JSON data; raise ``StateError`` if it is damaged or its schema is unknown."""
    data = migrated(data, MIGRATIONS, what="state", schema=SCHEMA, source=SOURCE)
    found = read_saved(SavedState, data, what="state", schema=SCHEMA, source=SOURCE)
    table = (*found.view.decisions, *found.version_decisions)
    kept: list[KeptVersion] = []
    for each in found.saved_versions:
        for first, last in each.decided:
            if not 0 <= first <= last < len(table):
                raise damaged("state", f"decisions {first} to {last} of {len(table)}", SOURCE)
        decided = chain.from_iterable(table[first : last + 1] for first, last in each.decided)
        kept.append((each.version, replace(each.view, decisions=Decisions(decided))))
    for fault in faults_of(found, kept):
        raise damaged("state", fault, SOURCE)
    if written(found) != data:  # pydantic converted a value, such as "5" to 5, or ignored one
        why = "a value is not as it was written, or it is of a later release"
        raise damaged("state", why, SOURCE)
    return replace(State(**fields_of(found)), versions=tuple(kept))


def recognised(
    decisions: Sequence[Decision], candidates: Sequence[Candidate], *, by_size: bool
) -> int:
    """Return how many leading decisions are on these units, recognised by their bounds and, with ``by_size``, their tokens.

    This is how the messages of a state are recognised whose digests are of another scheme.
    """
    known = 0
    for decision, candidate in zip(decisions, candidates, strict=False):
        unit, is_last = candidate.unit, known == len(decisions) - 1
        has_grown = is_last and unit.stop > decision.stop  # by results that were pending
        same_size = not by_size or candidate.tokens == decision.tokens_before
        bounds = unit.start, unit.stop
        if bounds != (decision.start, decision.stop if not has_grown else unit.stop):
            break
        if not (same_size or has_grown):
            break
        known += 1
    return known


def written(state: SavedState) -> dict[str, object]:
    """Return it as JSON data; provider states bypass pydantic, which would alter keys that are not valid UTF-8."""
    given = {"providers": dict(state.providers)} if state.providers else {}
    return saved(state) | given


def fields_of(state: State) -> dict[str, Any]:
    """Return the fields of a state by name."""
    return {each.name: getattr(state, each.name) for each in fields(State)}


def stretches(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last number of each run of consecutive numbers."""
    breaks = [i for i, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
    for start, stop in pairwise([0, *breaks, len(numbers)]):
        if start < stop:
            yield numbers[start], numbers[stop - 1]


def faults_of(state: State, kept: Sequence[KeptVersion]) -> Iterator[str]:
    """Yield inconsistencies that the types do not exclude."""
    for view in (state.view, *(view for _, view in kept)):
        yield from faults_of_decisions(view.decisions, known=len(state.digests))
        if not view.notices.is_sound:
            yield "two notices have the same name"
    for (older, _), (newer, _) in pairwise(kept):
        if newer.number <= older.number:
            yield f"version {newer.number} after {older.number}"
    if not state.view.calibration.is_sound:
        yield "a calibration from impossible bills or ratios"
    if any(notice.topic != "project" for notice in state.view.preamble.offer.newer):
        yield "a notice that is none of a project is newer than the preamble"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFile:
    """The content of a state file: a state and the checksum of its JSON."""

    crc32: StrictInt
    state: dict[Text, object]


CONTENT = TypeAdapter(StateFile)


def write_state(path: Path, state: Mapping[str, object]) -> None:
    """Write a state to a file, replacing its content."""
    write_whole(path, as_bytes(state))


def write_whole(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically; create its folder if missing."""
    target = Path(os.path.realpath(path))  # a symbolic link is preserved
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the path of a file")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = f".{target.name}.{os.getpid()}-{get_ident()}"  # unique per process and thread
    temporary = target.with_name(own)
    temporary.unlink(missing_ok=True)  # left by a killed process, or put there
    try:
        with os.fdopen(os.open(temporary, FLAGS, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)  # already gone on success
    _delete_leftovers(target)
    with suppress(OSError):  # make the rename durable, where the system can sync folders
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _delete_leftovers(target: Path) -> None:
    """Delete what processes that were killed while they wrote to a file have left: all of a conversation is in it."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[0-9]+-[0-9]+")
    with suppress(OSError):
        for each in os.scandir(target.parent):
            found = each.stat(follow_symlinks=False) if name.fullmatch(each.name) else None
            if found is not None and time.time() - found.st_mtime > LEFT_AFTER_S:
                os.unlink(each)  # noqa: PTH108 - an entry of a folder is no Path


def read_state(path: Path) -> Mapping[str, object]:
    """Read the state in a file; raise `StateError` if its content is not a valid state."""
    try:
        text = path.read_bytes().decode("utf-8", "surrogatepass")
        read = CONTENT.validate_python(json.loads(text))
    except OSError as error:
        error.strerror = f"{error.strerror}; give the path of a file with a saved state"
        raise
    except (ValueError, RecursionError) as error:
        reason = faults(error) if isinstance(error, ValidationError) else str(error)
        raise StateError(f"{path}: no state was saved in it, or it is damaged: {reason}") from None
    if crc32(json_of(read.state)) != read.crc32:
        raise StateError(f"{path}: the state is damaged: its checksum is another one")
    return read.state


def as_bytes(state: Mapping[str, object]) -> bytes:
    """Return the content of a state file: the state as JSON, with a checksum."""
    data = json_of(state)
    return b'{"crc32":%d,"state":%b}\n' % (crc32(data), data)


def json_of(state: Mapping[str, object]) -> bytes:
    """Return JSON with minimal escapes: escaped, two lone surrogates would be read as one character."""
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")
