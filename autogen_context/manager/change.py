"""What a host tells the manager beside its messages: files that changed, tasks, requirements, decisions.

Promise: a change that exists is valid; a wrong one is a ``ValueError`` that names the field and what to give. Changes are
values: nothing happens until they are applied.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from typing_extensions import override

from autogen_context.messages.message import Message

SHOWN_CHARS = 60  # of a text, where a change is named

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


NEEDED: Mapping[ChangeType, tuple[str, ...]] = {
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
        text = self.text if kind.is_of_file else one_line(self.text)
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
    """The type of a change.

    Raises:
        ValueError: there is none such.
    """
    try:
        return ChangeType(given)
    except ValueError:
        known = ", ".join(f"'{known}'" for known in ChangeType)
        raise ValueError(f"type={given!r:.80} of a change: give one of {known}") from None


def written(path: FilePath) -> str:
    """A path as text; what is none is refused with the other fields."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def one_line(text: str) -> str:
    """A text without line breaks and blanks at its ends."""
    return " ".join(text.split())
