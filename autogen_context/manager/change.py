"""Context changes that a host reports in addition to its messages: changed files, tasks, requirements, decisions.

Promise: a constructed change is valid; an invalid one raises ``ValueError`` naming the field and what to pass. Changes are
applied all or none, and the result is checked before it is accepted. A change that does not fit the context is rejected
with the keys that are known.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, Self, cast

from typing_extensions import override

from autogen_context.argument import require_several, wrong_argument
from autogen_context.errors import ChangeRefused
from autogen_context.messages.message import Message
from autogen_context.text.quote import named, quoted
from autogen_context.view.notice import CHANGED, DELETED, STATED_CHARS, Notice, Notices, Topic
from autogen_context.view.view import ContextView, faults_of

SHOWN_CHARS = 60  # of a text in the name of a change
MOST_OUTCOMES = 20  # of tasks; the oldest are dropped first
WAY_OUT = "nothing was applied; leave this change out, or correct it"

FilePath = str | os.PathLike[str]


class ChangeType(StrEnum):
    """The types of context change."""

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

    @classmethod
    @override
    def _missing_(cls, value: object) -> Self | None:
        """Accept the member name as well: ``file_modified``, ``FILE_MODIFIED``."""
        return cls.__members__.get(value.upper() if isinstance(value, str) else "")


class ChangeKind(NamedTuple):
    """Required fields of a change type, the topic of its notice and the wording."""

    topic: Topic | None
    needs: tuple[str, ...] = ()
    news: str = ""  # wording for the first time


KINDS: Mapping[ChangeType, ChangeKind] = {
    ChangeType.FILE_MODIFIED: ChangeKind("file", ("key",), CHANGED),
    ChangeType.FILE_CREATED: ChangeKind(
        "file", ("key",), "{path} was created on disk since it was looked for above"
    ),
    ChangeType.FILE_DELETED: ChangeKind("file", ("key",), DELETED),
    ChangeType.FILE_MOVED: ChangeKind(
        "file", ("key", "moved_to"), "{path} was moved to {moved_to} since it was read above"
    ),
    ChangeType.TASK_STARTED: ChangeKind("task", ("text",), "Task started: {text}"),
    ChangeType.TASK_COMPLETED: ChangeKind("task", ("key",), "Task completed: {old}"),
    ChangeType.TASK_FAILED: ChangeKind("task", ("key",), "Task failed: {old}"),
    ChangeType.REQUIREMENT_ADDED: ChangeKind("requirement", ("text",), "New requirement: {text}"),
    ChangeType.REQUIREMENT_CHANGED: ChangeKind(
        "requirement", ("text", "key"), "Requirement changed: {text} (before: {old})"
    ),
    ChangeType.REQUIREMENT_REMOVED: ChangeKind(
        "requirement", ("key",), "This requirement no longer holds: {old}"
    ),
    ChangeType.DECISION_RECORDED: ChangeKind(
        "decision", ("text",), "Decided now: {text} (before: {old})"
    ),
    ChangeType.MESSAGE_ADDED: ChangeKind(None),
}
WANTED: Mapping[str, str] = {
    "key": "the path of the file, or the name that the task, requirement or decision was given",
    "text": "what is to be known of it",
    "moved_to": "the path that the file has now",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChange:
    """One change to a context; the constructors below show the fields of each type.

    Attributes:
        type: the type of change.
        key: path of a file, or name of a task, requirement or decision; defaults to its text.
        text: text of a task, requirement, decision or outcome, on one line; for a file, details to send with the notice,
            such as a diff.
        moved_to: new path of a file.
        message: the added message, as the host's object.

    Raises:
        ValueError: a field is missing, empty, or not allowed for this type.
    """

    type: ChangeType
    key: str = ""
    text: str = ""
    moved_to: str = ""
    message: object = None

    def __post_init__(self) -> None:
        """Check the fields and normalize the texts."""
        try:
            kind = ChangeType(self.type)
        except ValueError:
            known = ", ".join(f"'{known}'" for known in ChangeType)
            raise ValueError(f"type={self.type!r:.80} of a change: give one of {known}") from None
        topic, needs, _ = KINDS[kind]
        for name, wanted in WANTED.items():
            value: object = getattr(self, name)
            if not isinstance(value, str) or (name in needs and not value.strip()):
                give = wanted if isinstance(value, str) else "a text"
                raise ValueError(f"{name}={value!r:.80} of a change '{kind}': give {give}")
        text = self.text if topic == "file" else " ".join(self.text.split())
        key = self.key.strip() or ("" if "key" in needs else text)
        for name, value in (("type", kind), ("text", text), ("key", key)):
            object.__setattr__(self, name, value)
        if self.moved_to and "moved_to" not in needs:
            raise ValueError(f"moved_to={self.moved_to!r} of a change '{kind}': leave it out")
        if (self.message is None) is (topic is None):
            way_out = "give the host's message" if topic is None else "leave it out"
            raise ValueError(f"message of a change '{kind}': {way_out}")

    @classmethod
    def file_modified(cls, path: FilePath, *, text: str = "") -> Self:
        """Report a changed file; ``text`` is sent with the notice, such as a short diff."""
        return cls(type=ChangeType.FILE_MODIFIED, key=written(path), text=text)

    @classmethod
    def file_created(cls, path: FilePath, *, text: str = "") -> Self:
        """Report a new file."""
        return cls(type=ChangeType.FILE_CREATED, key=written(path), text=text)

    @classmethod
    def file_deleted(cls, path: FilePath, *, text: str = "") -> Self:
        """Report a deleted file."""
        return cls(type=ChangeType.FILE_DELETED, key=written(path), text=text)

    @classmethod
    def file_moved(cls, path: FilePath, moved_to: FilePath, *, text: str = "") -> Self:
        """Report a moved or renamed file."""
        moved = written(moved_to)
        return cls(type=ChangeType.FILE_MOVED, key=written(path), moved_to=moved, text=text)

    @classmethod
    def task_started(cls, text: str, *, key: str = "") -> Self:
        """Report a task, from somebody with authority; it stays open until it is completed or fails."""
        return cls(type=ChangeType.TASK_STARTED, key=key, text=text)

    @classmethod
    def task_completed(cls, key: str, *, text: str = "") -> Self:
        """Report a completed task; ``text`` is its outcome."""
        return cls(type=ChangeType.TASK_COMPLETED, key=key, text=text)

    @classmethod
    def task_failed(cls, key: str, *, text: str = "") -> Self:
        """Report a failed task; ``text`` is the reason."""
        return cls(type=ChangeType.TASK_FAILED, key=key, text=text)

    @classmethod
    def requirement_added(cls, text: str, *, key: str = "") -> Self:
        """Add a requirement, valid from now on."""
        return cls(type=ChangeType.REQUIREMENT_ADDED, key=key, text=text)

    @classmethod
    def requirement_changed(cls, text: str, *, key: str) -> Self:
        """Replace a requirement."""
        return cls(type=ChangeType.REQUIREMENT_CHANGED, key=key, text=text)

    @classmethod
    def requirement_removed(cls, key: str) -> Self:
        """Remove a requirement."""
        return cls(type=ChangeType.REQUIREMENT_REMOVED, key=key)

    @classmethod
    def decision_recorded(cls, text: str, *, key: str = "") -> Self:
        """Record a decision; a later decision with the same key replaces it."""
        return cls(type=ChangeType.DECISION_RECORDED, key=key, text=text)

    @classmethod
    def message_added(cls, message: object) -> Self:
        """Add a message, which the host's next list must contain as well."""
        return cls(type=ChangeType.MESSAGE_ADDED, message=message)

    @override
    def __str__(self) -> str:
        """Return the change in a few words."""
        what = self.key if KINDS[self.type].topic == "file" else self.text or self.key
        short = what if len(what) <= SHOWN_CHARS else f"{what[:SHOWN_CHARS]}…"
        return f"{self.type}: {short}" if short else str(self.type)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatedContext:
    """The context after changes were applied.

    Attributes:
        context_id: identifies the conversation: 12 hex digits, the same in every process; a branch has its own.
        version: number of the version that the changes created; without changes, of the newest.
        context: the messages of the context, as far as the host has passed them; notices due next are last.
        changes_applied: the changes, in order.
        timestamp: time in seconds since 1970, by the manager's clock.
    """

    context_id: str
    version: int
    context: tuple[Message, ...] = field(repr=False)
    changes_applied: tuple[ContextChange, ...]
    timestamp: float


def written(path: FilePath) -> str:
    """Return a path as text; other values are checked with the other fields."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def changes_in(given: Iterable[object]) -> tuple[ContextChange, ...]:
    """Return the changes of a list; raise an error for an element that is not a `ContextChange`."""
    require_several("changes", given, give="a list, such as [ContextChange.file_modified(path)]")
    changes = tuple(given)
    for at, change in enumerate(changes):
        if not isinstance(change, ContextChange):
            give = "a ContextChange, such as ContextChange.file_modified(path)"
            raise wrong_argument(f"changes[{at}]", change, give)
    return cast("tuple[ContextChange, ...]", changes)  # each was checked


def changed(
    view: ContextView,
    changes: Sequence[ContextChange],
    messages: Sequence[Message],
    *,
    shows: Callable[[str], bool],
    open_pairs: bool,
) -> ContextView:
    """Return the view after changes; raise ``ChangeRefused`` if one cannot be applied. ``shows`` as of ``applied``."""
    notices, position = view.notices, view.decisions.stop
    for at, change in enumerate(changes):
        try:
            notices = applied(change, notices, position=position, shows=shows)
        except Unfit as error:
            raise refused(changes, at, str(error)) from None
    view = replace(view, notices=notices)
    is_known = len(messages) >= position  # False at first for a loaded state
    if faults := list(faults_of(view, messages, open_pairs=open_pairs)) if is_known else []:
        reason = f"the change would make the context inconsistent: {'; '.join(faults)}"
        raise refused(changes, len(changes) - 1, reason)
    return view


def refused(changes: Sequence[ContextChange], at: int, reason: str) -> ChangeRefused:
    """Return the error for one of the changes."""
    return ChangeRefused(index=at, change=str(changes[at]), reason=reason, way_out=WAY_OUT)


class Unfit(ValueError):
    """A change does not fit the context; the message gives the reason and an alternative."""


def applied(
    change: ContextChange, notices: Notices, *, position: int, shows: Callable[[str], bool]
) -> Notices:
    """Return the notices after a change; raise ``Unfit`` if it does not fit. ``shows`` tells whether the context shows a file."""
    topic, needs, wording = KINDS[change.type]
    key, text = change.key, change.text
    if topic is None:
        return notices
    if topic == "file":
        if shows(key):
            line = wording.format(path=named(key), moved_to=named(change.moved_to))
            notices = notices.put(
                Notice(topic="file", key=key, text=line, position=position, detail=text)
            )
        if not change.moved_to:
            return notices
        moved = ContextChange.file_modified(change.moved_to)
        return applied(moved, notices, position=position, shows=shows)
    known = notices.get(topic, key)
    require_fit(change, known, notices.of(topic))
    texts = text, known.text if known else ""
    said, old = (quoted(each, most_chars=STATED_CHARS) for each in texts)
    news = wording.format(text=said, old=old)
    if "text" in needs:
        if topic == "task":
            notices = notices.withdraw(("outcome", key))
        if topic == "decision" and not known:
            news = ""
        return notices.put(Notice(topic=topic, key=key, text=text, position=position, news=news))
    if topic == "requirement":
        return notices.withdraw((topic, key), news)
    ended = f"{news}. Outcome: {said}" if text else news
    outcome = Notice(topic="outcome", key=key, text=ended, position=position)
    notices = notices.withdraw((topic, key)).put(outcome)
    for oldest in notices.of("outcome")[:-MOST_OUTCOMES]:
        notices = notices.withdraw(("outcome", oldest))
    return notices


def require_fit(change: ContextChange, known: Notice | None, keys: Sequence[str]) -> None:
    """Raise ``Unfit`` if a change refers to an unknown key, or starts or adds a known one."""
    topic, needs, _ = KINDS[change.type]
    if known is None and "key" in needs:
        all_keys = ", ".join(map(repr, keys)) or "none"
        begin = "start" if topic == "task" else "add"
        raise Unfit(f"no {topic} {change.key!r} is known (known: {all_keys}); {begin} it first")
    if known and change.type is ChangeType.TASK_STARTED:
        raise Unfit(f"the task {known.key!r} is open already; complete it first, or give a key")
    if known and change.type is ChangeType.REQUIREMENT_ADDED:
        way_out = "change it, or give another key"
        raise Unfit(f"the requirement {known.key!r} is known already; {way_out}")
