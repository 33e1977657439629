"""What a host tells the manager beside its messages, and what that does: files that changed, tasks, requirements, decisions.

Promise: a change that exists is valid; a wrong one is a ``ValueError`` that names the field and what to give. Changes are
applied all or none, and the result is checked before it counts; what makes no sense is refused with what is known instead.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Self, cast

from typing_extensions import override

from autogen_context.argument import require_several, wrong_argument
from autogen_context.errors import ChangeRefused, InvalidTranscript
from autogen_context.manager.engine import Engine
from autogen_context.messages.message import Message
from autogen_context.view.integrity import faults_of
from autogen_context.view.notice import CHANGED, DELETED, Notice, Notices, Topic
from autogen_context.view.view import ContextView

SHOWN_CHARS = 60  # of a text, where a change is named
MOST_OUTCOMES = 20  # of tasks; the oldest go first
WAY_OUT = "nothing was applied; leave this change out, or correct it"

FilePath = str | os.PathLike[str]


class ChangeType(StrEnum):
    """What changed."""

    FILE_MODIFIED = "file modified"
    FILE_CREATED = "file created"
    FILE_DELETED = "file deleted"
    FILE_MOVED = "file moved"
    TASK_STARTED = "task started"
    TASK_COMPLETED = "task completed"
    TASK_FAILED = "task failed"
    REQUIREMENT_ADDED = "requirement added"
    REQUIREMENT_CHANGED = "requirement changed"
    REQUIREMENT_REMOVED = "requirement removed"
    DECISION_RECORDED = "decision recorded"
    MESSAGE_ADDED = "message added"

    @property
    def is_of_file(self) -> bool:
        """Whether a file changed."""
        return self.value.startswith("file ")

    @classmethod
    @override
    def _missing_(cls, value: object) -> Self | None:
        """Written as a name: ``file_modified``, ``FILE_MODIFIED``."""
        named = value.upper() if isinstance(value, str) else ""
        return cls.__members__.get(named)


NEEDED: Mapping[ChangeType, tuple[str, ...]] = {  # fields, beside the message
    ChangeType.FILE_MODIFIED: ("key",),
    ChangeType.FILE_CREATED: ("key",),
    ChangeType.FILE_DELETED: ("key",),
    ChangeType.FILE_MOVED: ("key", "moved_to"),
    ChangeType.TASK_STARTED: ("text",),
    ChangeType.TASK_COMPLETED: ("key",),
    ChangeType.TASK_FAILED: ("key",),
    ChangeType.REQUIREMENT_ADDED: ("text",),
    ChangeType.REQUIREMENT_CHANGED: ("text", "key"),
    ChangeType.REQUIREMENT_REMOVED: ("key",),
    ChangeType.DECISION_RECORDED: ("text",),
    ChangeType.MESSAGE_ADDED: (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChange:
    """One thing that changed; the constructors below say what each kind needs.

    Attributes:
        type: what changed.
        key: which one: the path of a file, the name of a task, a requirement or a decision; its text where none is given.
        text: what a task or requirement says, what was decided, what came of a task, on one line; of a file what is told
            of the change, such as a diff.
        moved_to: where a file is now.
        message: the message that was added, as the host has it.

    Raises:
        ValueError: a field is missing, empty, or not for this type; it names the field and what to give.
    """

    type: ChangeType
    key: str = ""
    text: str = ""
    moved_to: str = ""
    message: object = None

    def __post_init__(self) -> None:
        """Bring the texts into form and check them."""
        kind = type_of(self.type)
        texts = {name: getattr(self, name) for name in ("key", "text", "moved_to")}
        for name, value in texts.items():
            if not isinstance(value, str):
                raise ValueError(  # noqa: TRY004 - as for every other wrong argument of this package
                    f"{name}={value!r:.80} of a change '{kind}': give a text"
                )
        text = self.text if kind.is_of_file else " ".join(self.text.split())
        key = self.key.strip() or (text if "key" not in NEEDED[kind] else "")
        for name, value in (("type", kind), ("text", text), ("key", key)):
            object.__setattr__(self, name, value)
        self._check()

    @classmethod
    def file_modified(cls, path: FilePath, *, text: str = "") -> Self:
        """A file has other content; ``text`` is told with it, such as a short diff."""
        return cls(type=ChangeType.FILE_MODIFIED, key=written(path), text=text)

    @classmethod
    def file_created(cls, path: FilePath, *, text: str = "") -> Self:
        """There is a file where there was none."""
        return cls(type=ChangeType.FILE_CREATED, key=written(path), text=text)

    @classmethod
    def file_deleted(cls, path: FilePath, *, text: str = "") -> Self:
        """A file is gone."""
        return cls(type=ChangeType.FILE_DELETED, key=written(path), text=text)

    @classmethod
    def file_moved(cls, path: FilePath, moved_to: FilePath, *, text: str = "") -> Self:
        """A file has another path."""
        return cls(
            type=ChangeType.FILE_MOVED, key=written(path), moved_to=written(moved_to), text=text
        )

    @classmethod
    def task_started(cls, text: str, *, key: str = "") -> Self:
        """Somebody with a say gave a task; it stays until it is completed or has failed."""
        return cls(type=ChangeType.TASK_STARTED, key=key, text=text)

    @classmethod
    def task_completed(cls, key: str, *, text: str = "") -> Self:
        """A task is done; ``text`` is what came of it."""
        return cls(type=ChangeType.TASK_COMPLETED, key=key, text=text)

    @classmethod
    def task_failed(cls, key: str, *, text: str = "") -> Self:
        """A task is given up; ``text`` is why."""
        return cls(type=ChangeType.TASK_FAILED, key=key, text=text)

    @classmethod
    def requirement_added(cls, text: str, *, key: str = "") -> Self:
        """Something must hold from now on."""
        return cls(type=ChangeType.REQUIREMENT_ADDED, key=key, text=text)

    @classmethod
    def requirement_changed(cls, text: str, *, key: str) -> Self:
        """Something else must hold in the place of a requirement."""
        return cls(type=ChangeType.REQUIREMENT_CHANGED, key=key, text=text)

    @classmethod
    def requirement_removed(cls, key: str) -> Self:
        """A requirement no longer holds."""
        return cls(type=ChangeType.REQUIREMENT_REMOVED, key=key)

    @classmethod
    def decision_recorded(cls, text: str, *, key: str = "") -> Self:
        """Something was decided; a later decision of the same key takes its place."""
        return cls(type=ChangeType.DECISION_RECORDED, key=key, text=text)

    @classmethod
    def message_added(cls, message: object) -> Self:
        """The host has one more message, which its next list has as well."""
        return cls(type=ChangeType.MESSAGE_ADDED, message=message)

    @override
    def __str__(self) -> str:
        """The change in a few words."""
        what = self.key if self.type.is_of_file else self.text or self.key
        short = what if len(what) <= SHOWN_CHARS else f"{what[:SHOWN_CHARS]}…"
        return f"{self.type}: {short}" if short else str(self.type)

    def _check(self) -> None:
        for name in NEEDED[self.type]:
            if not getattr(self, name).strip():
                raise ValueError(f"{name}='' of a change '{self.type}': give {WANTED[name]}")
        if self.moved_to and self.type is not ChangeType.FILE_MOVED:
            raise ValueError(f"moved_to={self.moved_to!r} of a change '{self.type}': leave it out")
        if (self.message is None) is (self.type is ChangeType.MESSAGE_ADDED):
            way_out = "give the host's message" if self.message is None else "leave it out"
            raise ValueError(f"message of a change '{self.type}': {way_out}")


WANTED: Mapping[str, str] = {
    "key": "the path of the file, or the name that the task, requirement or decision was given",
    "text": "what is to be known of it",
    "moved_to": "the path that the file has now",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatedContext:
    """What a context is after changes.

    Attributes:
        context_id: which conversation: 12 hex digits, the same in every process; a branch has its own.
        version: number of the version that the changes made; where there were none, of the newest.
        context: what stands in the context, as far as its messages were handed in; what is to be told next stands last.
        changes_applied: the changes, in their order.
        timestamp: when that was, in seconds since 1970, by the manager's clock.
    """

    context_id: str
    version: int
    context: tuple[Message, ...] = field(repr=False)
    changes_applied: tuple[ContextChange, ...]
    timestamp: float


def type_of(given: str) -> ChangeType:
    """The type of a change."""
    try:
        return ChangeType(given)
    except ValueError:
        known = ", ".join(f"'{known}'" for known in ChangeType)
        raise ValueError(f"type={given!r:.80} of a change: give one of {known}") from None


def written(path: FilePath) -> str:
    """A path as text; what is none is refused with the other fields."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def changes_in(given: Iterable[object]) -> tuple[ContextChange, ...]:
    """The changes in a list of them, each of which is looked at."""
    require_several("changes", given, give="a list, such as [ContextChange.file_modified(path)]")
    changes = tuple(given)
    for at, change in enumerate(changes):
        if not isinstance(change, ContextChange):
            give = "a ContextChange, such as ContextChange.file_modified(path)"
            raise wrong_argument(f"changes[{at}]", change, give)
    return cast("tuple[ContextChange, ...]", changes)  # each was looked at


def changed(
    view: ContextView, changes: Sequence[ContextChange], engine: Engine, *, open_pairs: bool
) -> ContextView:
    """The view after changes; raises ``ChangeRefused`` where one cannot be applied, and nothing was."""

    def refused(index: int, reason: str) -> ChangeRefused:
        change = str(changes[index])
        return ChangeRefused(index=index, change=change, reason=reason, way_out=WAY_OUT)

    notices = view.notices
    for index, change in enumerate(changes):  # what they say of files always makes sense
        try:
            notices = applied(change, notices, position=0, shows=lambda _: False)
        except Unfit as error:
            raise refused(index, str(error)) from None
    conversation, new = engine.conversation, view
    payloads = conversation.history.payloads
    added = [i for i, change in enumerate(changes) if change.type is ChangeType.MESSAGE_ADDED]
    if added and len(payloads) < view.decisions.stop:
        reason = "the messages of the loaded state were not handed in yet; prepare or observe them"
        raise refused(added[0], reason)
    if added:
        try:
            engine.read([*payloads, *(changes[i].message for i in added)])
        except InvalidTranscript as error:
            engine.read(payloads)
            raise refused(added[max(0, error.index - len(payloads))], error.reason) from error
        new = engine.synced(view)
    shown = partial(engine.notices.is_shown, view=new, candidates=conversation.candidates)
    notices, position = new.notices, new.decisions.stop
    for change in changes:
        notices = applied(change, notices, position=position, shows=shown)
    new = replace(new, notices=notices)
    is_read = len(conversation.messages) >= position
    faults = list(faults_of(new, conversation.messages, open_pairs=open_pairs)) if is_read else []
    if faults:
        engine.read(payloads)
        raise refused(len(changes) - 1, f"the context would not be whole: {'; '.join(faults)}")
    return new


class Unfit(ValueError):
    """A change makes no sense in this context; says why and what would."""


TOLD_OF_FILES: Mapping[ChangeType, str] = {
    ChangeType.FILE_MODIFIED: CHANGED,
    ChangeType.FILE_CREATED: "{path} was created on disk since it was looked for above",
    ChangeType.FILE_DELETED: DELETED,
    ChangeType.FILE_MOVED: "{path} was moved to {moved_to} since it was read above",
}
TOPICS: Mapping[str, Topic] = {
    "task": "task",
    "requirement": "requirement",
    "decision": "decision",
}
NEWS: Mapping[ChangeType, Callable[[str, str], str]] = {  # how it is told the first time
    ChangeType.TASK_STARTED: lambda text, _: f"Task started: {text}",
    ChangeType.REQUIREMENT_ADDED: lambda text, _: f"New requirement: {text}",
    ChangeType.REQUIREMENT_CHANGED: lambda text, old: (
        f"Requirement changed: {text} (before: {old})"
    ),
    ChangeType.DECISION_RECORDED: lambda text, old: (
        f"Decided now: {text} (before: {old})" if old else ""
    ),
}


def applied(
    change: ContextChange, notices: Notices, *, position: int, shows: Callable[[str], bool]
) -> Notices:
    """The notices after a change, given which files the context shows; raises ``Unfit`` where it makes no sense here."""
    if change.type is ChangeType.MESSAGE_ADDED:
        return notices
    if not change.type.is_of_file:
        return stated(change, notices, position)
    if shows(change.key):
        text = TOLD_OF_FILES[change.type].format(path=change.key, moved_to=change.moved_to)
        notices = notices.put(
            Notice(topic="file", key=change.key, text=text, position=position, detail=change.text)
        )
    if change.moved_to:
        moved = ContextChange.file_modified(change.moved_to)
        return applied(moved, notices, position=position, shows=shows)
    return notices


def stated(change: ContextChange, notices: Notices, position: int) -> Notices:
    """The notices after a change of a task, a requirement or a decision."""
    kind, key, text = change.type, change.key, change.text
    topic = TOPICS[kind.value.partition(" ")[0]]
    known = notices.get(topic, key)
    if known is None and "key" in NEEDED[kind]:
        keys = ", ".join(map(repr, notices.of(topic))) or "none"
        begin = "start" if topic == "task" else "add"
        raise Unfit(f"no {topic} {key!r} is known (known: {keys}); {begin} it first")
    if known and kind is ChangeType.TASK_STARTED:
        raise Unfit(f"the task {key!r} is open already; complete it first, or give a key")
    if known and kind is ChangeType.REQUIREMENT_ADDED:
        raise Unfit(f"the requirement {key!r} is known already; change it, or give another key")
    old = known.text if known else ""
    if kind is ChangeType.REQUIREMENT_REMOVED:
        return notices.withdraw((topic, key), f"This requirement no longer holds: {old}")
    if kind in (ChangeType.TASK_COMPLETED, ChangeType.TASK_FAILED):
        ended = f"{kind.value.capitalize()}: {old}" + (f". Outcome: {text}" if text else "")
        outcome = Notice(topic="outcome", key=key, text=ended, position=position)
        notices = notices.withdraw((topic, key)).put(outcome)
        for oldest in notices.of("outcome")[:-MOST_OUTCOMES]:
            notices = notices.withdraw(("outcome", oldest))
        return notices
    if kind is ChangeType.TASK_STARTED:
        notices = notices.withdraw(("outcome", key))
    said = Notice(topic=topic, key=key, text=text, position=position, news=NEWS[kind](text, old))
    return notices.put(said)
