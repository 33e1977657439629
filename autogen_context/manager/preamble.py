"""Keep the preamble: the newest head behind the system prompt, and what is no longer as it says beside the messages.

Promise: pure. While what was sent is continued the preamble stays as it is to the byte; where nothing of that is continued, at
the start and at a compaction, the newest head takes its place. One that comes too late stands in front of the newest unit
until then.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from autogen_context.manager.notices import ROOM_NEEDED, has_place
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.piece import Written
from autogen_context.project.shown import FURTHER
from autogen_context.view.decision import Candidate
from autogen_context.view.notice import Name, Notice
from autogen_context.view.preamble import Head, Preamble, as_message, without_heads
from autogen_context.view.view import ContextView

FREE_FRACTION = 0.5  # of the room that must stay for nothing else
TOLD: Name = ("project", "")  # the head itself, where it stands in front of a unit
AGAIN = "{name} is again as the project's context says"

Count = Callable[[Message], int]


def offered(view: ContextView, head: Head, since: Iterable[Notice]) -> ContextView:
    """The view with the newest head ready, and what is newer than it to be told."""
    known, newer = view.preamble, tuple(since)
    if head == known.head and newer == known.since:
        return view
    if head == known.head:
        view = replace(view, preamble=replace(known, since=newer))
        view = taken_back(view, {notice.name for notice in known.since})
    else:
        offer = replace(known, head=head, since=newer, is_placed=False, is_told=False)
        view = replace(view, preamble=offer)
    return with_newer(view)


def chosen(
    view: ContextView, messages: Sequence[Message], free_tokens: int, count: Count
) -> Preamble:
    """What would stand behind the system prompt if it were placed anew."""
    known, is_place = view.preamble, system_messages(messages) < len(messages)
    room = min(int(FREE_FRACTION * free_tokens), known.head.most_tokens)
    text = known.head.fitted(room, count=count) if is_place else ""
    return replace(known, text=text, is_placed=is_place and known.is_offered)


def placed_anew(view: ContextView, preamble: Preamble, count: Count) -> ContextView:
    """The view with another preamble, where nothing of what was sent is continued; what was told has to agree with it."""
    view = replace(view, preamble=preamble)
    if TOLD in view.notices.in_sight and preamble.head.parts:
        # a version that everything was set back to had a head in front of a unit
        decisions = without_heads(view.decisions, preamble.head.parts[0], count=count)
        notices = replace(view.notices, in_sight=view.notices.in_sight - {TOLD})
        view = replace(view, decisions=decisions, notices=notices)
    return with_newer(taken_back(view, {("project", key) for key in view.notices.of("project")}))


def told(
    view: ContextView,
    candidates: Sequence[Candidate],
    *,
    room_tokens: int,
    used_tokens: int,
    count: Count,
) -> ContextView:
    """The view with a head that came too late in front of the newest unit, if that was not sent yet and there is room."""
    preamble = view.preamble
    if not preamble.waits or is_in_sight(view) or not has_place(view, candidates):
        return view
    free = room_tokens - used_tokens
    room = min(free // ROOM_NEEDED, preamble.head.most_tokens)
    message = as_message(preamble.head.fitted(room, count=count))
    if not message.text:
        return view
    view = view.with_before_last(Written(message=message), count(message))
    notices = view.notices.after_telling(frozenset({TOLD}))
    return with_newer(replace(view, notices=notices, preamble=replace(preamble, is_told=True)))


def system_messages(messages: Sequence[Message]) -> int:
    """How many system messages open a list."""
    return next((i for i, m in enumerate(messages) if m.role not in SYSTEM_ROLES), len(messages))


def is_in_sight(view: ContextView) -> bool:
    """Whether a head is read, the newest or another."""
    return bool(view.preamble.text) or TOLD in view.notices.in_sight


def with_newer(view: ContextView) -> ContextView:
    """The view with what is newer than the head to be told, where one is in sight; what was told already is not due again."""
    if not is_in_sight(view):
        return view
    notices = view.notices
    for notice in view.preamble.since:
        notices = notices.put(notice)
    return replace(view, notices=notices)


def taken_back(view: ContextView, names: Collection[Name]) -> ContextView:
    """The view where some of what was told is newer than the head no more; beside an older head it cannot be said so."""
    preamble, notices = view.preamble, view.notices
    is_told = preamble.is_told and TOLD in notices.in_sight
    is_newest_in_sight = preamble.is_placed or is_told
    newer = {notice.name for notice in preamble.since}
    for name in sorted(set(names) - newer):
        key = name[1]
        if is_in_sight(view) and not is_newest_in_sight:
            notices = notices.put(Notice(topic="project", key=key, text=FURTHER.format(name=key)))
        else:
            notices = notices.withdraw(name, AGAIN.format(name=key))
    return replace(view, notices=notices)
