"""What stands behind the system prompt and is no message of the host's: a head, of a project for instance.

Promise: while what was sent is continued the head stays as it is to the byte; where nothing of that is continued, at the
start and at a compaction, the newest one takes its place. It yields to what must stay, whole: it gets smaller by whole
parts, or is left out. One that comes too late stands in front of the newest unit until then. What is no longer as it says
is told beside the messages.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from autogen_context.messages.message import SYSTEM_ROLES, Text
from autogen_context.messages.piece import Piece, Written
from autogen_context.session.beside import ROOM_NEEDED, Beside
from autogen_context.session.conversation import Conversation
from autogen_context.session.headed import headed, placed, without_heads
from autogen_context.session.held import Held
from autogen_context.session.notices import Name, Notice
from autogen_context.tokens.message_counter import MessageCounter

FREE_FRACTION = 0.5  # of the room that must stay for nothing else
BETWEEN = "\n\n"
TOLD: Name = ("project", "")  # the head itself, where it stands in front of a unit
AGAIN = "{name} is again as the project's context says"
FURTHER = "{name} may have changed further"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What is to stand behind the system prompt.

    Attributes:
        parts: the first says what it is, and nothing stands without it; of the others some may be left out.
        most_tokens: what it may have.
    """

    parts: tuple[Text, ...] = ()
    most_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fronted:
    """What stands in front, and what is to stand there next.

    Attributes:
        text: what stands there; empty where nothing does.
        head: the newest one.
        is_placed: whether the text is of it.
        is_told: whether it is what stands in front of a unit.
        since: what is no longer as it says.
    """

    text: Text = ""
    head: Head = field(default_factory=Head)
    is_placed: bool = False
    is_told: bool = False
    since: tuple[Notice, ...] = ()


class Front:
    """The head of one conversation.

    Args:
        fronted: where to go on.
        conversation: what there is.
        held: what of it is sent.
        beside: tells what is newer.
        counter: counts texts.

    Attributes:
        tokens: what stands in front costs.
    """

    def __init__(
        self,
        fronted: Fronted,
        *,
        conversation: Conversation,
        held: Held,
        beside: Beside,
        counter: MessageCounter,
    ) -> None:
        self._conversation = conversation
        self._held = held
        self._beside = beside
        self._counter = counter
        self._fronted = fronted
        self._piece: Written | None = None
        self.tokens = 0
        self._take(fronted)

    @property
    def fronted(self) -> Fronted:
        """What another needs to go on."""
        return self._fronted

    @property
    def waits(self) -> bool:
        """Whether there is a head that did not get its place yet."""
        return bool(self._fronted.head.parts) and not self._fronted.is_placed

    @property
    def is_offered(self) -> bool:
        """Whether there is a head, or one that is to go: a folder that is gone has nothing to tell."""
        return bool(self._fronted.head.parts or self._fronted.text)

    def offer(self, head: Head, since: Iterable[Notice]) -> None:
        """Have the newest head ready, and tell what is newer than it.

        Args:
            head: the same as before where it was not written anew.
            since: all that is no longer as it says, each under the topic ``project``.
        """
        known, newer = self._fronted, tuple(since)
        if head == known.head and newer == known.since:
            return
        if head == known.head:
            self._fronted = replace(known, since=newer)
            self._take_back({notice.name for notice in known.since})
        else:
            self._fronted = replace(known, head=head, since=newer, is_placed=False, is_told=False)
        self._tell_newer()

    def chosen(self, free_tokens: int) -> Fronted:
        """What would stand in front if it were placed anew.

        Args:
            free_tokens: what a request has left beside what must stay.
        """
        room = min(int(FREE_FRACTION * free_tokens), self._fronted.head.most_tokens)
        text = self._fitted(room) if self._has_place else ""
        return replace(self._fronted, text=text, is_placed=self._has_place and self.is_offered)

    def cost(self, text: str) -> int:
        """What a text costs in front, in tokens."""
        return self._counter.message(headed(text)) if text else 0

    def place(self, chosen: Fronted) -> None:
        """Have something else in front, where nothing of what was sent is continued; what was told has to agree with it."""
        self._take(chosen)
        self._take_down()
        self._take_back({("project", key) for key in self._beside.notices.of("project")})
        self._tell_newer()

    def tell(self, *, room_tokens: int, used_tokens: int) -> None:
        """Put a head that came too late in front of the newest unit, if that was not sent yet and there is room.

        Args:
            room_tokens: what a request may have.
            used_tokens: what it has already.
        """
        if not self.waits or self._is_in_sight or not self._beside.has_place:
            return
        free = room_tokens - used_tokens
        message = headed(self._fitted(min(free // ROOM_NEEDED, self._fronted.head.most_tokens)))
        if message.text:
            self._held.put_before_last(Written(message=message), self._counter.message(message))
            self._beside.notices = self._beside.notices.after_telling(frozenset({TOLD}))
            self._fronted = replace(self._fronted, is_told=True)
            self._tell_newer()

    def before(self, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """Pieces with what stands in front of them, behind the system prompt."""
        if self._piece is None or not self._has_place:
            return pieces
        return tuple(placed(pieces, self._piece, at=self._system_messages))

    @property
    def _stands_at_a_unit(self) -> bool:
        """Whether a head stands in front of a unit, the newest or another."""
        return TOLD in self._beside.notices.in_sight

    @property
    def _is_in_sight(self) -> bool:
        """Whether a head is read, the newest or another."""
        return bool(self._fronted.text) or self._stands_at_a_unit

    @property
    def _is_newest_in_sight(self) -> bool:
        """Whether the head that is read is the newest; it is not while that waits for its place."""
        return self._fronted.is_placed or (self._fronted.is_told and self._stands_at_a_unit)

    @property
    def _system_messages(self) -> int:
        messages = self._conversation.messages
        roles = (i for i, message in enumerate(messages) if message.role not in SYSTEM_ROLES)
        return next(roles, len(messages))

    @property
    def _has_place(self) -> bool:
        """Whether there is anything behind the system prompt."""
        return self._system_messages < len(self._conversation.messages)

    def _take(self, fronted: Fronted) -> None:
        self._fronted = fronted
        self._piece = Written(message=headed(fronted.text)) if fronted.text else None
        self.tokens = self.cost(fronted.text)

    def _tell_newer(self) -> None:
        """What is newer is told where a head is in sight; what was told already is not due again."""
        if not self._is_in_sight:
            return
        for notice in self._fronted.since:
            self._beside.notices = self._beside.notices.put(notice)

    def _take_back(self, names: Collection[Name]) -> None:
        """Some of what was told is newer than the head no more; beside an older one that is read it cannot be said so."""
        newer = {notice.name for notice in self._fronted.since}
        for name in sorted(set(names) - newer):
            notices, (_, key) = self._beside.notices, name
            if self._is_in_sight and not self._is_newest_in_sight:
                news = Notice(topic="project", key=key, text=FURTHER.format(name=key))
                notices = notices.put(news)
            else:
                notices = notices.withdraw(name, AGAIN.format(name=key))
            self._beside.notices = notices

    def _take_down(self) -> None:
        """Have no head in front of a unit, as a version had that everything was set back to."""
        if not (self._stands_at_a_unit and self._fronted.head.parts):
            return
        opening = self._fronted.head.parts[0]
        self._held.replace(
            without_heads(self._held.decisions, opening, count=self._counter.message)
        )
        in_sight = self._beside.notices.in_sight - {TOLD}
        self._beside.notices = replace(self._beside.notices, in_sight=in_sight)

    def _fitted(self, room_tokens: int) -> str:
        """The first part and as many of the others as have room; empty where no other has."""
        taken: list[str] = []
        for part in self._fronted.head.parts:
            if self.cost(BETWEEN.join([*taken, part])) <= room_tokens:
                taken.append(part)
            elif not taken:
                return ""
        return BETWEEN.join(taken) if len(taken) > 1 else ""
