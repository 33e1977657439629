"""Tell what is due beside the messages, in front of the newest unit.

Promise: what was sent is not touched: a notice stands in front of a unit that was not sent yet, or waits for one. It has
its share of the room at most, leaves as much again to the turns to come, and never makes a request impossible. With
nothing to tell a turn costs nothing.
"""

from collections.abc import Collection

from autogen_context.budget.policy import BudgetPolicy
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.piece import Written
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.project.shown import FilesShown, in_sight
from autogen_context.session.change import ContextChange
from autogen_context.session.conversation import Conversation
from autogen_context.session.effects import applied
from autogen_context.session.held import Held
from autogen_context.session.notices import Block, Name, Notice, Notices, block_of
from autogen_context.tokens.message_counter import MessageCounter

ROOM_NEEDED = 2  # times what it costs: with less left, the next turn would compact for it


class Beside:
    """What is told beside the messages of one conversation.

    Args:
        conversation: what there is.
        held: what of it is sent.
        counter: counts texts.
        kinds: what tools do.
        budget: says how much is told at once.

    Attributes:
        notices: what holds, and what is due.
        sent: how many of the host's messages the last turn sent; nothing is put in front of those.
    """

    def __init__(
        self,
        conversation: Conversation,
        held: Held,
        *,
        counter: MessageCounter,
        kinds: ToolKinds,
        budget: BudgetPolicy,
    ) -> None:
        self.notices = Notices()
        self.sent = 0
        self._conversation = conversation
        self._held = held
        self._counter = counter
        self._files = FilesShown(kinds)
        self._budget = budget

    @property
    def stale(self) -> frozenset[int]:
        """The units that show a file as it was before it changed on disk."""
        files = self.notices.files
        if files:
            self._files.follow(self._conversation.candidates)
        return self._files.stale(files)

    def apply(self, change: ContextChange) -> None:
        """Take a change in.

        Raises:
            Unfit: it makes no sense here; nothing was changed.
        """
        self.notices = applied(change, self.notices, position=self._held.stop, shows=self.may_show)

    def may_show(self, path: str) -> bool:
        """Whether the context shows a file; of messages that were not read yet it may."""
        if len(self._conversation.messages) < self._held.stop:
            return True
        self._files.follow(self._conversation.candidates)
        return self._is_shown(path, self._held.stop)

    def follow(self) -> None:
        """Withdraw what was said of files that the context no longer shows as they were."""
        if not self.notices.files:
            return
        self._files.follow(self._conversation.candidates)
        for notice in self.notices.files:
            if not self._is_shown(notice.key, notice.position):
                self.notices = self.notices.withdraw(notice.name)

    def room_due(self, room_tokens: int) -> int:
        """The room that what is due in the next request needs, in tokens; 0 where nothing is, or it has no place."""
        if not self.notices.due or self.notices.waits or not self.has_place:
            return 0
        return ROOM_NEEDED * self._cost(self._block(self.notices.due, room_tokens))

    def room_kept_free(self, room_tokens: int) -> int:
        """The room that a compaction leaves to what is told behind it, in tokens."""
        return ROOM_NEEDED * self._cost(self._block(self.notices.anew().due, room_tokens))

    def tell(self, *, room_tokens: int, used_tokens: int) -> None:
        """Put what is due in front of the newest unit, if that was not sent yet and there is room.

        Args:
            room_tokens: what a request may have.
            used_tokens: what it has already.
        """
        if not self.notices.due or not self.has_place:
            return
        block = self._block(self.notices.due, room_tokens)
        tokens = self._cost(block)
        if block.names and ROOM_NEEDED * tokens <= room_tokens - used_tokens:
            message = Message(role="user", text=block.text, own=True)
            self._held.put_before_last(Written(message=message), tokens)
            self.notices = self.notices.after_telling(block.names)

    def anew(self, *, overruled: Collection[Name] = (), waits: bool = False) -> None:
        """Nothing that was told stands in front of a unit any more; what was sent is not continued.

        Args:
            overruled: what messages said otherwise since.
            waits: whether there is no room for what is due, so that no compaction is to be made for it.
        """
        self.notices = self.notices.anew(overruled=overruled, waits=waits)
        self.sent = 0
        self.follow()

    def cut_back(self, messages: int) -> None:
        """The host has another past from a message on."""
        if self.notices.standing or self.notices.due:
            self.notices = self.notices.cut_back(messages)
        self.sent = min(self.sent, messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is due, all of it: one message, or none where nothing is."""
        text = block_of(self.notices.due, room_tokens=2**62, count=len).text
        return (Message(role="user", text=text, own=True),) if text else ()

    @property
    def has_place(self) -> bool:
        """Whether the newest unit was not sent yet, and something may stand in front of it."""
        decisions, candidates = self._held.decisions, self._conversation.candidates
        if not decisions or decisions[-1].start < self.sent:
            return False
        return candidates[-1].unit.messages[0].role not in SYSTEM_ROLES

    def _is_shown(self, path: str, position: int) -> bool:
        return in_sight(self._files.units(path, position=position), self._held.decisions)

    def _block(self, notices: Collection[Notice], room_tokens: int) -> Block:
        share = self._budget.for_turn(room_tokens).notice_tokens
        room = share - self._counter.message(Message(role="user", own=True))
        return block_of(notices, room_tokens=room, count=self._counter.text)

    def _cost(self, block: Block) -> int:
        own = Message(role="user", text=block.text, own=True)
        return self._counter.message(own) if block.names else 0
