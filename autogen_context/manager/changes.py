"""Apply changes to a conversation, all of them or none.

Promise: what makes no sense is refused before anything is touched; what is refused later leaves everything as it was. The
result is checked before it counts.
"""

from collections.abc import Iterable, Sequence
from typing import cast

from autogen_context.argument import require_several, wrong_argument
from autogen_context.errors import ChangeRefused, InvalidTranscript
from autogen_context.messages.piece import messages_of
from autogen_context.manager.change import ChangeType, ContextChange, UpdatedContext
from autogen_context.manager.effects import Unfit, applied
from autogen_context.view.notices import Notices
from autogen_context.session.session import Session
from autogen_context.view.versions import Moment, Version

WAY_OUT = "nothing was applied; leave this change out, or correct it"


def updated(session: Session, given: Iterable[object]) -> UpdatedContext:
    """Apply changes, and say what the context is then; without any it is as it was.

    Args:
        session: the conversation.
        given: changes, in the order in which they happened.

    Raises:
        ValueError: it is no list of changes.
        ChangeRefused: one cannot be applied; nothing was.
    """
    changes = changes_in(given)
    version = apply(session, changes) if changes else newest(session)
    said, due = messages_of(session.held.pieces, session.conversation.messages), session.beside
    return UpdatedContext(
        context_id=session.context_id,
        version=version.number,
        context=(*said, *due.messages),
        changes_applied=changes,
        timestamp=version.timestamp,
    )


def changes_in(given: Iterable[object]) -> tuple[ContextChange, ...]:
    """The changes in a list of them.

    Raises:
        ValueError: it is none, or one of them is no change.
    """
    require_several("changes", given, give="a list, such as [ContextChange.file_modified(path)]")
    changes = tuple(given)
    for at, change in enumerate(changes):
        if not isinstance(change, ContextChange):
            raise wrong_argument(
                f"changes[{at}]",
                change,
                "a ContextChange, such as ContextChange.file_modified(path)",
            )
    return cast("tuple[ContextChange, ...]", changes)  # each was looked at


def newest(session: Session) -> Version:
    """The newest version, as it is."""
    return session.versions.records[-1][0]


def apply(session: Session, changes: Sequence[ContextChange]) -> Version:
    """Apply changes and make a version of what comes of them.

    Args:
        session: the conversation.
        changes: one or more, in the order in which they happened.

    Raises:
        ChangeRefused: one cannot be applied; nothing was.
    """
    tried(changes, session.beside.notices)
    before, payloads = session.moment, session.conversation.history.payloads
    take_in(session, changes, before, payloads)
    for change in changes:
        session.beside.apply(change)
    faults = session.integrity.faults(session.beside.notices)
    if faults:
        undo(session, before, payloads)
        reason = f"the context would not be whole: {'; '.join(faults)}"
        raise refused(len(changes) - 1, changes, reason)
    kind = str(changes[0].type) if len(changes) == 1 else "changes"
    return session.record(kind, "; ".join(map(str, changes)))


def tried(changes: Sequence[ContextChange], notices: Notices) -> None:
    """See whether changes make sense; what they say of files always does.

    Raises:
        ChangeRefused: one does not.
    """
    for index, change in enumerate(changes):
        try:
            notices = applied(change, notices, position=0, shows=lambda _: False)
        except Unfit as error:
            raise refused(index, changes, str(error)) from None


def take_in(
    session: Session, changes: Sequence[ContextChange], before: Moment, payloads: Sequence[object]
) -> None:
    """Append the messages that were added to those that the host handed in.

    Raises:
        ChangeRefused: one cannot be read, or is refused as the host's own would be.
    """
    added = [i for i, change in enumerate(changes) if change.type is ChangeType.MESSAGE_ADDED]
    if not added:
        return
    if len(payloads) < session.held.stop:
        reason = "the messages of the loaded state were not handed in yet; prepare or observe them"
        raise refused(added[0], changes, reason)
    try:
        session.take_in([*payloads, *(changes[i].message for i in added)])
    except InvalidTranscript as error:
        undo(session, before, payloads)
        index = added[max(0, error.index - len(payloads))]
        raise refused(index, changes, error.reason) from error


def undo(session: Session, before: Moment, payloads: Sequence[object]) -> None:
    """Have everything as it was, the messages that were appended included."""
    if len(session.conversation.messages) > len(payloads):
        session.conversation.update(payloads)
    session.restore(before)


def refused(index: int, changes: Sequence[ContextChange], reason: str) -> ChangeRefused:
    """The error that tells of a change."""
    return ChangeRefused(index=index, change=str(changes[index]), reason=reason, way_out=WAY_OUT)
