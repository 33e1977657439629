"""Injected content: notices and retrieved exchanges before the newest unit, and a preamble after the system prompt.

Promise: the sent prefix is not changed: a notice is placed before a unit that was not sent yet, or waits for one. The
notices of one request use at most their fraction of the room, leave as much again for later turns, and never make a request
exceed it. A preamble is placed when the sent prefix is not continued anyway; until then it is sent like a notice.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from autogen_context.budget.policy import TurnBudget
from autogen_context.compressor.shorten import CountText, shorten_text
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.piece import Piece, Written, messages_of, same_at_front
from autogen_context.messages.tool_action import path_of
from autogen_context.messages.tool_call import ToolKinds, actions_of
from autogen_context.prioritizer.references import Superseded
from autogen_context.recall.exchanges import said_now
from autogen_context.recall.recaller import Recaller
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Candidate, Decision, Decisions
from autogen_context.view.notice import FURTHER, RANKS, Name, Notice, PreambleOffer
from autogen_context.view.view import ContextView, Preamble, as_message

LEAST_RETRIEVED = 64  # tokens; with less room nothing is retrieved
ROOM_NEEDED = (
    2  # times a preamble's tokens: with less left, the next turn would compact because of it
)
OPENING, CLOSING = "[Told beside the conversation:", "]"
LATE: Name = ("project", "")  # name of a preamble sent before a unit
BETWEEN = "\n\n"  # separates the parts of a preamble
FREE_FRACTION = 0.5  # of the free room, for a preamble
AGAIN = "{name} is again as the project's context says"

Candidates = Sequence[Candidate]
Count = Callable[[Message], int]


class NoticeWriter:
    """Adds due notices to one conversation; its index of files shown can be rebuilt from the units."""

    def __init__(self, counter: MessageCounter, kinds: ToolKinds) -> None:
        self._counter = counter
        self._files = FilesShown(kinds)

    def stale(self, view: ContextView, candidates: Candidates) -> frozenset[int]:
        """Return the indices of the units that show a file as it was before it changed on disk."""
        files = view.notices.files
        if files:
            self._files.follow(candidates)
        return self._files.stale(files)

    def is_shown(self, path: str, view: ContextView, candidates: Candidates) -> bool:
        """Return True if the context shows a file, or may show it in messages that were not read yet."""
        stop = view.decisions.stop
        if not candidates or candidates[-1].unit.stop < stop:
            return bool(stop)
        self._files.follow(candidates)
        shown = self._files.units(path, position=stop)
        return any(view.decisions[unit].action != "drop" for unit in shown)

    def without_unseen(self, view: ContextView, candidates: Candidates) -> ContextView:
        """Return the view without notices about files that it no longer shows in an old form."""
        notices = view.notices
        if not notices.files:
            return view
        self._files.follow(candidates)
        for notice in notices.files:
            shown = self._files.units(notice.key, position=notice.position)
            if all(view.decisions[unit].action == "drop" for unit in shown):
                notices = notices.withdraw(notice.name)
        return replace(view, notices=notices)

    def room_due(self, view: ContextView, candidates: Candidates, budget: TurnBudget) -> int:
        """Return the tokens that the notices due in the next request need; 0 if there are none or no place for them."""
        if view.notices.waits or not has_place(view, candidates):
            return 0
        return self._needed(view.notices.due, budget)

    def room_kept_free(self, view: ContextView, budget: TurnBudget) -> int:
        """Return the tokens that a compaction must leave free for the notices sent after it."""
        return self._needed(view.notices.anew().due, budget)

    def told(
        self, view: ContextView, candidates: Candidates, budget: TurnBudget, *, free_tokens: int
    ) -> ContextView:
        """Return the view with due notices before the newest unit, if that was not sent yet and there is room."""
        if not has_place(view, candidates):
            return view
        view, free_tokens = self._late(view, free_tokens)
        text, names = self._block(view.notices.due, budget)
        message = as_message(text)
        tokens = self._counter.message(message)
        if not names or budget.notice_rooms * tokens > free_tokens:
            return view
        view = view.with_before_last(Written(message=message), tokens)
        return replace(view, notices=view.notices.after_telling(names))

    def anew(
        self,
        view: ContextView,
        candidates: Candidates,
        *,
        overruled: Collection[Name] = (),
        waits: bool = False,
    ) -> ContextView:
        """Return the view after a rewrite, which removed all notices sent before units."""
        notices = view.notices.anew(overruled=overruled, waits=waits)
        return self.without_unseen(replace(view, notices=notices, sent=0), candidates)

    def _late(self, view: ContextView, free_tokens: int) -> tuple[ContextView, int]:
        """Return the view with an unplaced preamble added like a notice, if it fits, and the tokens then free."""
        preamble = view.preamble
        if not preamble.offer.parts or preamble.is_placed or is_in_sight(view):
            return view, free_tokens
        room = free_tokens // ROOM_NEEDED
        message = as_message(fitted(preamble.offer, room, self._counter.message))
        if not message.text:
            return view, free_tokens
        tokens = self._counter.message(message)
        view = view.with_before_last(Written(message=message), tokens)
        notices = view.notices.after_telling(frozenset({LATE}))
        view = replace(view, notices=notices, preamble=replace(preamble, is_told=True))
        return with_newer(view), free_tokens - tokens

    def _block(
        self, notices: Collection[Notice], budget: TurnBudget
    ) -> tuple[str, frozenset[Name]]:
        if not notices:
            return "", frozenset()
        room = budget.notice_tokens - self._counter.message(as_message(""))
        return block_of(notices, room_tokens=room, count=self._counter.text)

    def _needed(self, notices: Collection[Notice], budget: TurnBudget) -> int:
        text, names = self._block(notices, budget)
        return budget.notice_rooms * self._counter.message(as_message(text)) if names else 0


class FilesShown:
    """Index of the files that a conversation shows; each unit is read once, and a later view of a file supersedes the earlier."""

    def __init__(self, kinds: ToolKinds) -> None:
        self._kinds = kinds
        self._read: list[Candidate] = []
        self._superseded = Superseded()
        self._from_root: defaultdict[str, set[str]] = defaultdict(set)  # absolute paths by suffix

    def follow(self, candidates: Sequence[Candidate]) -> None:
        """Add the new units and remove those no longer in the conversation."""
        same = len(self._read)
        if same and (same > len(candidates) or self._read[-1] is not candidates[same - 1]):
            same = same_at_front(self._read, candidates)
            self._superseded.truncate(same)
            del self._read[same:]
        for candidate in candidates[same:]:
            actions = actions_of(candidate.unit, self._kinds)
            for path in {view.path for action in actions for view in action.views}:
                for end in ends_of(path):
                    self._from_root[end].add(path)
            self._superseded.add(candidate.unit, actions)
            self._read.append(candidate)

    def units(self, path: str, *, position: int) -> frozenset[int]:
        """Return the indices of the units before a position that show or look for a file, unless superseded.

        An absolute path and a suffix of it count as the same file.
        """
        file = path_of(path)
        same = {file, *ends_of(file), *self._from_root.get(file, ())}
        shown = (unit for each in same for unit in self._superseded.showing(each))
        return frozenset(unit for unit in shown if self._read[unit].unit.start < position)

    def stale(self, notices: Iterable[Notice]) -> frozenset[int]:
        """Return the indices of the units that show files which these notices report as changed."""
        units = (self.units(notice.key, position=notice.position) for notice in notices)
        return frozenset[int]().union(*units)


def ends_of(path: str) -> Iterator[str]:
    """Yield the suffixes of an absolute path; none for a relative one."""
    end = path
    while path.startswith("/") and "/" in end:
        end = end.partition("/")[2]
        yield end


def has_place(view: ContextView, candidates: Candidates) -> bool:
    """Return True if the newest unit was not sent yet and is not a system message, so that pieces may precede it."""
    last = view.decisions.last
    if last is None or last.start < view.sent:
        return False
    return candidates[-1].unit.messages[0].role not in SYSTEM_ROLES


def messages_due(view: ContextView) -> tuple[Message, ...]:
    """Return all due notices as one message, or an empty tuple."""
    text, _ = block_of(view.notices.due, room_tokens=2**62, count=len)
    return (as_message(text),) if text else ()


def block_of(
    notices: Iterable[Notice], *, room_tokens: int, count: CountText
) -> tuple[str, frozenset[Name]]:
    """Return notices as one text within a room, most important first, and the names of those included."""
    parts: list[str] = []
    names: set[Name] = set()
    for notice in sorted(notices, key=lambda notice: RANKS[notice.topic]):
        if count(framed([*parts, notice.told])) <= room_tokens:
            parts.append(notice.told)
            names.add(notice.name)
        elif not parts:  # too long for any block
            room = room_tokens - count(framed([])) - 2
            short = shorten_text(notice.told, room_tokens=room, count=count)
            if short and not short.startswith(("[…", "…")):
                parts.append(short)
                names.add(notice.name)
    text = framed(parts) if parts else ""
    return (text, frozenset(names)) if count(text) <= room_tokens else ("", frozenset())


def framed(parts: Iterable[str]) -> str:
    """Return the lines between the opening and closing markers."""
    return "\n".join([OPENING, *parts, CLOSING])


# Retrieval


@dataclass(frozen=True, slots=True)
class Hidden:
    """The positions of messages that are shortened or dropped."""

    decisions: Decisions

    def __contains__(self, position: object) -> bool:
        """Return True if the message at a position is shortened or dropped."""
        if not isinstance(position, int) or not 0 <= position < self.decisions.stop:
            return False
        at = bisect_right(self.decisions, position, key=lambda decision: decision.start) - 1
        return self.decisions[at].hides


class Retriever:
    """Retrieves hidden content that a user refers to; if nothing is hidden, it reads no messages."""

    def __init__(self, memory: Recaller, counter: MessageCounter) -> None:
        self._memory = memory
        self._counter = counter

    def answer(
        self,
        view: ContextView,
        messages: Sequence[Message],
        pieces: Sequence[Piece],
        room_tokens: int,
    ) -> tuple[bool, Message | None]:
        """Return whether the newest question needs hidden content not yet placed before it, and that content if it fits."""
        query = said_now(messages)
        if not query:
            return False, None

        def seen() -> Iterator[Message]:  # evaluated lazily
            yield from messages_of(pieces, messages)[:-1]

        self._memory.follow(messages[:-1])  # a question does not answer itself
        if not self._memory.decide(query, seen()).retrieve:
            return False, None
        if room_tokens < LEAST_RETRIEVED:
            return True, None
        text = self._memory.text(
            query,
            Hidden(view.decisions),
            room_tokens=room_tokens - self._counter.message(Message(role="user", own=True)),
            count=self._counter.text,
        )
        return True, Message(role="user", text=text, own=True) if text else None


# The preamble


def offered(view: ContextView, offer: PreambleOffer) -> ContextView:
    """Return the view with a new preamble offer, and its ``newer`` notices due if a preamble is visible."""
    known, before = view.preamble, view.preamble.offer
    if offer == before:
        return view
    is_same = replace(offer, newer=before.newer) == before
    is_placed, is_told = known.is_placed and is_same, known.is_told and is_same
    preamble = replace(known, offer=offer, is_placed=is_placed, is_told=is_told)
    view = replace(view, preamble=preamble)
    if is_same:
        view = taken_back(view, {notice.name for notice in before.newer})
    return with_newer(view)


def chosen(
    view: ContextView, conversation: Conversation, free_tokens: int, count: Count
) -> Preamble:
    """Return the preamble to place after the system prompt, fitted into the free tokens."""
    known, is_place = view.preamble, conversation.system_messages < len(conversation.messages)
    text = fitted(known.offer, int(FREE_FRACTION * free_tokens), count) if is_place else ""
    return replace(known, text=text, is_placed=is_place and known.is_offered)


def fitted(offer: PreambleOffer, room_tokens: int, count: Count) -> str:
    """Return the first part of a preamble and the others that fit; empty if no other fits."""
    room, taken = min(room_tokens, offer.most_tokens), list(offer.parts[:1])
    for part in offer.parts[1:]:
        if count(as_message(BETWEEN.join([*taken, part]))) <= room:
            taken.append(part)
    return BETWEEN.join(taken) if len(taken) > 1 else ""


def placed_anew(view: ContextView, preamble: Preamble, count: Count) -> ContextView:
    """Return the view with a newly placed preamble, when the prefix is rewritten; notices it makes obsolete are retracted."""
    view = replace(view, preamble=preamble)
    if LATE in view.notices.in_sight and preamble.offer.parts:
        # after a rollback to a version with a preamble before a unit
        decisions = without_preambles(view.decisions, preamble.offer.parts[0], count)
        notices = replace(view.notices, in_sight=view.notices.in_sight - {LATE})
        view = replace(view, decisions=decisions, notices=notices)
    return with_newer(taken_back(view, {("project", key) for key in view.notices.of("project")}))


def is_in_sight(view: ContextView) -> bool:
    """Return True if any preamble, current or older, is sent."""
    return bool(view.preamble.text) or LATE in view.notices.in_sight


def with_newer(view: ContextView) -> ContextView:
    """Return the view with the offer's ``newer`` notices due, if a preamble is sent."""
    notices = view.notices
    for notice in view.preamble.offer.newer if is_in_sight(view) else ():
        notices = notices.put(notice)
    return replace(view, notices=notices)


def taken_back(view: ContextView, names: Collection[Name]) -> ContextView:
    """Return the view with obsolete project notices retracted, or marked "may have changed" beside an older preamble."""
    preamble, notices = view.preamble, view.notices
    is_told = preamble.is_told and LATE in notices.in_sight
    is_older = is_in_sight(view) and not (preamble.is_placed or is_told)
    for name in sorted(set(names) - {notice.name for notice in preamble.offer.newer}):
        key = name[1]
        if is_older:
            notices = notices.put(Notice(topic="project", key=key, text=FURTHER.format(name=key)))
        else:
            notices = notices.withdraw(name, AGAIN.format(name=key))
    return replace(view, notices=notices)


def without_preambles(decisions: Decisions, opening: str, count: Count) -> Decisions:
    """Return the decisions without preambles before their units."""

    def without(decision: Decision) -> Decision:
        before = tuple(
            piece
            for piece in decision.before
            if not (isinstance(piece, Written) and piece.message.text.startswith(opening))
        )
        gone = [p.message for p in decision.before if p not in before and isinstance(p, Written)]
        tokens = decision.tokens_after - sum(map(count, gone))
        return replace(decision, before=before, tokens_after=tokens) if gone else decision

    return Decisions(map(without, decisions))
