"""Apply changes to a conversation, all of them or none.

Promise: what makes no sense is refused before anything is touched; what is refused later leaves everything as it was. The
result is checked before it counts.
"""

from collections.abc import Sequence

from autogen_context.errors import BrokenTranscript, ChangeRefused
from autogen_context.pipeline.piece import messages_of
from autogen_context.session.change import ChangeType, ContextChange, UpdatedContext
from autogen_context.session.effects import Unfit, applied
from autogen_context.session.notices import Notices
from autogen_context.session.session import Session
from autogen_context.session.versions import Moment, Version

WAY_OUT = "nothing was applied; leave this change out, or correct it"


def updated(session: Session, changes: Sequence[ContextChange]) -> UpdatedContext:
    """Apply changes, and say what the context is then.

    Args:
        session: the conversation.
        changes: one or more, in the order in which they happened.

    Raises:
        ValueError: there are none.
        ChangeRefused: one cannot be applied; nothing was.
    """
    version = apply(session, changes)
    said, due = messages_of(session.held.pieces, session.conversation.messages), session.beside
    return UpdatedContext(
        context_id=session.context_id,
        version=version.number,
        context=(*said, *due.messages),
        changes_applied=tuple(changes),
        timestamp=version.timestamp,
    )


def apply(session: Session, changes: Sequence[ContextChange]) -> Version:
    """Apply changes and make a version of what comes of them.

    Args:
        session: the conversation.
        changes: one or more, in the order in which they happened.

    Raises:
        ValueError: there are none.
        ChangeRefused: one cannot be applied; nothing was.
    """
    if not changes:
        raise ValueError("changes=[]: give one change at least")
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
    except BrokenTranscript as error:
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
