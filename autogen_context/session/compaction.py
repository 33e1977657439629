"""What a compaction decides: what of a conversation stays in a room.

Promise: the same conversation in the same room gives the same decisions. Indexes are caught up here, when they are
needed; a turn that holds pays nothing for them.

What stays beside the floors is what later turns are likely to name again. Only where the newest message is a person's
who asks for the past is it what answers that, and then it may fill more of the room.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from autogen_context.pipeline.blocks.asked import AnswerWorth
from autogen_context.pipeline.blocks.choose import Values
from autogen_context.pipeline.blocks.fill import Filler
from autogen_context.pipeline.blocks.references import References
from autogen_context.pipeline.blocks.worth import Worth
from autogen_context.pipeline.decision import Candidate, Decision
from autogen_context.pipeline.fit import fit_pieces
from autogen_context.pipeline.floors import floors_of
from autogen_context.pipeline.fold import folded
from autogen_context.pipeline.measure import Meter
from autogen_context.pipeline.piece import Piece, messages_of
from autogen_context.pipeline.plan import RECENT_SHARE, Aim, Means, plan
from autogen_context.session.conversation import Conversation
from autogen_context.session.memory import Memory

ASKED_SHARE = 0.8  # of the room beside what must stay, where a person asks for the past
ASKED_RECENT_SHARE = 0.03  # of that, for the newest units


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a compaction may use.

    Attributes:
        limit_tokens: what all may have.
        fixed_tokens: of these, what the request has beside messages.
    """

    limit_tokens: int
    fixed_tokens: int


class Compaction:
    """Plans a conversation anew.

    Args:
        meter: counts messages.
        share: of the room beside what must stay, what a compaction fills.
        memory: looks back in the conversation.

    Attributes:
        references: the values of the conversation, as of the last compaction.
    """

    def __init__(self, meter: Meter, *, share: float, memory: Memory) -> None:
        self._meter = meter
        self._share = share
        self._memory = memory
        self.references = References()

    def planned(
        self, conversation: Conversation, room: Room, pinned: frozenset[int]
    ) -> tuple[Decision, ...]:
        """A decision for each unit.

        Args:
            conversation: what there is.
            room: what may be used.
            pinned: positions of pinned messages.

        Raises:
            BudgetImpossible: what must stay does not fit.
        """
        candidates = conversation.candidates
        self.references.follow(candidates, conversation.messages)
        floors = floors_of(candidates, pinned)
        scores = self._asked_for(conversation)
        worth: Values = (
            AnswerWorth(self.references, scores)
            if scores
            else Worth(self.references, room_tokens=room.limit_tokens)
        )
        return plan(
            candidates,
            floors=floors,
            aim=Aim(
                limit_tokens=room.limit_tokens - room.fixed_tokens,
                target_share=ASKED_SHARE if scores else self._share,
                recent_share=ASKED_RECENT_SHARE if scores else RECENT_SHARE,
            ),
            means=Means(
                fit=lambda candidate, tokens: self._fit(conversation, candidate, tokens),
                fill=Filler(self.references, self._meter, worth).fill,
                tell=self._told,
                count=self._meter.message,
            ),
        )

    def _asked_for(self, conversation: Conversation) -> list[float]:
        """What each message has to do with the newest one, if that asks for the past; else nothing."""
        newest = conversation.messages[-1] if conversation.messages else None
        if newest is None or not self._memory.is_query(newest):
            return []
        # Its wording decides: what is known depends on what was read, and here nothing must have been read yet.
        if not self._memory.decide(newest.text, (newest,)).retrieve:
            return []
        self._memory.follow(conversation.messages)
        return self._memory.scores(newest.text)

    def _told(self, decided: Mapping[int, Decision], room_tokens: int) -> str:
        """What was done in the units that are left out."""
        gone = [unit for i, unit in enumerate(self.references.units) if i not in decided]
        return folded(gone, room_tokens=room_tokens, count=self._meter.text)

    def _fit(
        self, conversation: Conversation, candidate: Candidate, room_tokens: int
    ) -> tuple[tuple[Piece, ...], int] | None:
        return fit_pieces(
            candidate.pieces,
            messages_of(candidate.pieces, conversation.messages),
            room_tokens=room_tokens,
            meter=self._meter,
            keep_calls=bool(candidate.unit.unanswered),
        )
