"""Tell what is due beside the messages, in front of the newest unit.

Promise: what was sent is not touched: a notice stands in front of a unit that was not sent yet, or waits for one. All that is
told at once has its fraction of the room at most, leaves as much again to the turns to come, and never makes a request
impossible. With nothing to tell a turn costs nothing.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from autogen_context.budget.policy import BudgetPolicy
from autogen_context.compressor.shorten import CountText, shorten_text
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.piece import Written
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.project.shown import FilesShown, in_sight
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate
from autogen_context.view.notice import Name, Notice
from autogen_context.view.notices import RANKS
from autogen_context.view.view import ContextView

ROOM_NEEDED = 2  # times what it costs: with less left, the next turn would compact for it
OPENING, CLOSING = "[Told beside the conversation:", "]"

Candidates = Sequence[Candidate]


class NoticeWriter:
    """Tells what is due in one conversation.

    It remembers which units show which file; that can be read again from the units.
    """

    def __init__(self, counter: MessageCounter, kinds: ToolKinds, budget: BudgetPolicy) -> None:
        self._budget = budget
        self._counter = counter
        self._files = FilesShown(kinds)

    def stale(self, view: ContextView, candidates: Candidates) -> frozenset[int]:
        """The units that show a file as it was before it changed on disk."""
        files = view.notices.files
        if files:
            self._files.follow(candidates)
        return self._files.stale(files)

    def is_shown(self, path: str, view: ContextView, candidates: Candidates) -> bool:
        """Whether the context shows a file; of messages that were not read yet it may."""
        stop = view.decisions.stop
        if not candidates or candidates[-1].unit.stop < stop:
            return bool(stop)
        self._files.follow(candidates)
        return in_sight(self._files.units(path, position=stop), view.decisions)

    def without_unseen(self, view: ContextView, candidates: Candidates) -> ContextView:
        """The view without notices on files that it no longer shows as they were."""
        notices = view.notices
        if not notices.files:
            return view
        self._files.follow(candidates)
        for notice in notices.files:
            shown = self._files.units(notice.key, position=notice.position)
            if not in_sight(shown, view.decisions):
                notices = notices.withdraw(notice.name)
        return replace(view, notices=notices)

    def room_due(self, view: ContextView, candidates: Candidates, room_tokens: int) -> int:
        """The room that what is due in the next request needs, in tokens; 0 where nothing is, or it has no place."""
        notices = view.notices
        if not notices.due or notices.waits or not has_place(view, candidates):
            return 0
        return ROOM_NEEDED * self._cost(self._block(notices.due, room_tokens))

    def room_kept_free(self, view: ContextView, room_tokens: int) -> int:
        """The room that a compaction leaves to what is told behind it, in tokens."""
        return ROOM_NEEDED * self._cost(self._block(view.notices.anew().due, room_tokens))

    def told(
        self, view: ContextView, candidates: Candidates, *, room_tokens: int, used_tokens: int
    ) -> ContextView:
        """The view with what is due in front of the newest unit, if that was not sent yet and there is room."""
        if not view.notices.due or not has_place(view, candidates):
            return view
        block = self._block(view.notices.due, room_tokens)
        tokens = self._cost(block)
        if not block.names or ROOM_NEEDED * tokens > room_tokens - used_tokens:
            return view
        message = Message(role="user", text=block.text, own=True)
        view = view.with_before_last(Written(message=message), tokens)
        return replace(view, notices=view.notices.after_telling(block.names))

    def anew(
        self,
        view: ContextView,
        candidates: Candidates,
        *,
        overruled: Collection[Name] = (),
        waits: bool = False,
    ) -> ContextView:
        """The view after a rewrite: nothing that was told stands in front of a unit any more."""
        notices = view.notices.anew(overruled=overruled, waits=waits)
        return self.without_unseen(replace(view, notices=notices, sent=0), candidates)

    def _block(self, notices: Collection[Notice], room_tokens: int) -> "Block":
        room = self._budget.for_turn(room_tokens).notice_tokens
        frame = self._counter.message(Message(role="user", own=True))
        return block_of(notices, room_tokens=room - frame, count=self._counter.text)

    def _cost(self, block: "Block") -> int:
        own = Message(role="user", text=block.text, own=True)
        return self._counter.message(own) if block.names else 0


def has_place(view: ContextView, candidates: Candidates) -> bool:
    """Whether the newest unit was not sent yet, and something may stand in front of it."""
    last = view.decisions.last
    if last is None or last.start < view.sent:
        return False
    return candidates[-1].unit.messages[0].role not in SYSTEM_ROLES


def messages_due(view: ContextView) -> tuple[Message, ...]:
    """What is due, all of it: one message, or none where nothing is."""
    text = block_of(view.notices.due, room_tokens=2**62, count=len).text
    return (Message(role="user", text=text, own=True),) if text else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Notices as one text.

    Attributes:
        text: empty where nothing has room.
        names: of those that are in it.
    """

    text: str = ""
    names: frozenset[Name] = frozenset()


def block_of(notices: Iterable[Notice], *, room_tokens: int, count: CountText) -> Block:
    """Notices within a room, the most important ones first."""
    parts: list[str] = []
    names: set[Name] = set()
    for notice in sorted(notices, key=lambda notice: RANKS[notice.topic]):
        if count(framed([*parts, notice.told])) <= room_tokens:
            parts.append(notice.told)
            names.add(notice.name)
        elif not parts:
            parts += shortened(notice.told, room_tokens - count(framed([])) - 2, count)
            names.update([notice.name] if parts else [])
    text = framed(parts) if parts else ""
    return Block(text=text, names=frozenset(names)) if count(text) <= room_tokens else Block()


def shortened(text: str, room_tokens: int, count: CountText) -> list[str]:
    """A notice that is too long for any block, shortened, if that leaves something of it."""
    short = shorten_text(text, room_tokens=room_tokens, count=count)
    return [short] if short and not short.startswith(("[…", "…")) else []


def framed(parts: Iterable[str]) -> str:
    """Notices with what says what they are."""
    return "\n".join([OPENING, *parts, CLOSING])
