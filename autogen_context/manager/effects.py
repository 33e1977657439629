"""What a change does to what is told beside the messages.

Promise: pure. A change that makes no sense here (a task that was never started, a requirement that is not known) is
refused with what is known instead.
"""

from collections.abc import Callable, Mapping

from autogen_context.manager.change import ChangeType, ContextChange
from autogen_context.project.shown import CHANGED, DELETED
from autogen_context.view.notice import Notice, Topic
from autogen_context.view.notices import Notices

MOST_OUTCOMES = 20  # of tasks; the oldest go first

Shows = Callable[[str], bool]
"""Whether the context shows a file, or that it is not there."""

TOLD_OF_FILES: Mapping[ChangeType, str] = {
    ChangeType.FILE_MODIFIED: CHANGED,
    ChangeType.FILE_CREATED: "{path} was created on disk since it was looked for above",
    ChangeType.FILE_DELETED: DELETED,
    ChangeType.FILE_MOVED: "{path} was moved to {moved_to} since it was read above",
}
ENDINGS: Mapping[ChangeType, str] = {
    ChangeType.TASK_COMPLETED: "Task completed",
    ChangeType.TASK_FAILED: "Task failed",
}


class Unfit(ValueError):
    """A change makes no sense in this context; says why and what would."""


def applied(change: ContextChange, notices: Notices, *, position: int, shows: Shows) -> Notices:
    """The notices after a change.

    Raises:
        Unfit: it makes no sense here.
    """
    if change.type is ChangeType.MESSAGE_ADDED:
        return notices
    if change.type.is_of_file:
        return of_file(change, notices, position, shows)
    return EFFECTS[change.type](change, notices, position)


def of_file(change: ContextChange, notices: Notices, position: int, shows: Shows) -> Notices:
    """A file changed: told where the context shows it as it was."""
    if shows(change.key):
        text = TOLD_OF_FILES[change.type].format(path=change.key, moved_to=change.moved_to)
        notices = notices.put(
            Notice(topic="file", key=change.key, text=text, position=position, detail=change.text)
        )
    if change.moved_to and shows(change.moved_to):
        return of_file(ContextChange.file_modified(change.moved_to), notices, position, shows)
    return notices


def task_started(change: ContextChange, notices: Notices, position: int) -> Notices:
    """A task is open."""
    if notices.get("task", change.key):
        raise Unfit(f"the task {change.key!r} is open already; complete it first, or give a key")
    news = f"Task started: {change.text}"
    notices = notices.withdraw(("outcome", change.key))
    return notices.put(notice_of("task", change, position, news))


def task_ended(change: ContextChange, notices: Notices, position: int) -> Notices:
    """A task is no longer open; its outcome is kept."""
    task = known(notices, "task", change)
    ended = f"{ENDINGS[change.type]}: {task.text}"
    text = f"{ended}. Outcome: {change.text}" if change.text else ended
    outcome = Notice(topic="outcome", key=change.key, text=text, position=position)
    notices = notices.withdraw(task.name).put(outcome)
    for key in notices.of("outcome")[:-MOST_OUTCOMES]:
        notices = notices.withdraw(("outcome", key))
    return notices


def requirement_added(change: ContextChange, notices: Notices, position: int) -> Notices:
    """Something must hold."""
    if notices.get("requirement", change.key):
        raise Unfit(
            f"the requirement {change.key!r} is known already; change it, or give another key"
        )
    return notices.put(
        notice_of("requirement", change, position, f"New requirement: {change.text}")
    )


def requirement_changed(change: ContextChange, notices: Notices, position: int) -> Notices:
    """Something else must hold."""
    old = known(notices, "requirement", change)
    news = f"Requirement changed: {change.text} (before: {old.text})"
    return notices.put(notice_of("requirement", change, position, news))


def requirement_removed(change: ContextChange, notices: Notices, _position: int) -> Notices:
    """Something need not hold any more."""
    old = known(notices, "requirement", change)
    return notices.withdraw(old.name, f"This requirement no longer holds: {old.text}")


def decision_recorded(change: ContextChange, notices: Notices, position: int) -> Notices:
    """Something was decided."""
    old = notices.get("decision", change.key)
    news = f"Decided now: {change.text} (before: {old.text})" if old else ""
    return notices.put(notice_of("decision", change, position, news))


EFFECTS: Mapping[ChangeType, Callable[[ContextChange, Notices, int], Notices]] = {
    ChangeType.TASK_STARTED: task_started,
    ChangeType.TASK_COMPLETED: task_ended,
    ChangeType.TASK_FAILED: task_ended,
    ChangeType.REQUIREMENT_ADDED: requirement_added,
    ChangeType.REQUIREMENT_CHANGED: requirement_changed,
    ChangeType.REQUIREMENT_REMOVED: requirement_removed,
    ChangeType.DECISION_RECORDED: decision_recorded,
}


def notice_of(topic: Topic, change: ContextChange, position: int, news: str) -> Notice:
    """What a change states."""
    return Notice(topic=topic, key=change.key, text=change.text, position=position, news=news)


def known(notices: Notices, topic: Topic, change: ContextChange) -> Notice:
    """What a change is about.

    Raises:
        Unfit: nothing of this key is known.
    """
    found = notices.get(topic, change.key)
    if found is None:
        keys = ", ".join(map(repr, notices.of(topic))) or "none"
        begin = "start" if topic == "task" else "add"
        raise Unfit(f"no {topic} {change.key!r} is known (known: {keys}); {begin} it first")
    return found
