"""Apply changes to a conversation, all of them or none.

Promise: what makes no sense is refused before anything is touched; what is refused later leaves everything as it was. The
result is checked before it counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from autogen_context.argument import require_several, wrong_argument
from autogen_context.errors import ChangeRefused, InvalidTranscript
from autogen_context.manager.change import ChangeType, ContextChange
from autogen_context.manager.effects import Unfit, applied
from autogen_context.manager.engine import Engine
from autogen_context.view.integrity import faults_of
from autogen_context.view.notices import Notices
from autogen_context.view.view import ContextView

WAY_OUT = "nothing was applied; leave this change out, or correct it"


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


def changed(
    view: ContextView, changes: Sequence[ContextChange], engine: Engine, *, open_pairs: bool
) -> ContextView:
    """The view after changes.

    Raises:
        ChangeRefused: one cannot be applied; nothing was.
    """
    require_sense(changes, view.notices)
    payloads = engine.conversation.history.payloads
    new = with_added(view, changes, payloads, engine)
    shown = partial(engine.notices.is_shown, view=new, candidates=engine.conversation.candidates)
    notices = new.notices
    for change in changes:
        notices = applied(change, notices, position=new.decisions.stop, shows=shown)
    new = replace(new, notices=notices)
    is_read = len(engine.conversation.messages) >= new.decisions.stop
    faults = list(faults_of(new, engine.conversation, open_pairs=open_pairs)) if is_read else []
    if faults:
        engine.read(payloads)
        reason = f"the context would not be whole: {'; '.join(faults)}"
        raise refused(len(changes) - 1, changes, reason)
    return new


def require_sense(changes: Sequence[ContextChange], notices: Notices) -> None:
    """See whether changes make sense; what they say of files always does.

    Raises:
        ChangeRefused: one does not.
    """
    for index, change in enumerate(changes):
        try:
            notices = applied(change, notices, position=0, shows=lambda _: False)
        except Unfit as error:
            raise refused(index, changes, str(error)) from None


def with_added(
    view: ContextView,
    changes: Sequence[ContextChange],
    payloads: Sequence[object],
    engine: Engine,
) -> ContextView:
    """The view with the messages that were added, behind those that the host handed in.

    Raises:
        ChangeRefused: one cannot be read, or is refused as the host's own would be.
    """
    added = [i for i, change in enumerate(changes) if change.type is ChangeType.MESSAGE_ADDED]
    if not added:
        return view
    if len(payloads) < view.decisions.stop:
        reason = "the messages of the loaded state were not handed in yet; prepare or observe them"
        raise refused(added[0], changes, reason)
    try:
        engine.read([*payloads, *(changes[i].message for i in added)])
    except InvalidTranscript as error:
        engine.read(payloads)
        index = added[max(0, error.index - len(payloads))]
        raise refused(index, changes, error.reason) from error
    return engine.synced(view)


def refused(index: int, changes: Sequence[ContextChange], reason: str) -> ChangeRefused:
    """The error that tells of a change."""
    return ChangeRefused(index=index, change=str(changes[index]), reason=reason, way_out=WAY_OUT)
