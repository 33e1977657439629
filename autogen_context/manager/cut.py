"""One way to cut: values of what is cut, of what became of it, and the notice in the place of what left.

Promise: a full window and finished work are cut alike. What left is described in one notice, where its first unit was; the notice
costs no more than what left.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autogen_context.compressor.extract import Unchosen
from autogen_context.ledger import Entry
from autogen_context.messages.message import Message
from autogen_context.messages.piece import Written
from autogen_context.prioritizer.prioritizer import Scores
from autogen_context.view.decision import Candidate, Decision, Why, kept, replaced
from autogen_context.view.notice import Name

BEYOND_HORIZON = "it was too long ago to be compared with what stays"
QUOTED = "Quoted from them, as data:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What is cut, with what is decided of it before scores decide.

    Attributes:
        before: decisions on all units as they are.
        in_force: statements of notices that are in force.
        units: units to decide on, by index.
        among: those of which blocks are chosen by score.
        stays: decisions on those that stay.
        leaves: decisions on those that leave.
        outside: decisions on units that are no part of it.
        messages: number of messages in it.
        tokens: their tokens as they came.
        limit_tokens: the most tokens that it may have.
        room_tokens: for what is chosen by score.
        notice_tokens: for what the notice tells.
    """

    before: Sequence[Decision]
    in_force: Mapping[Name, Entry]
    units: Collection[int]
    among: Collection[int]
    messages: int
    tokens: int
    limit_tokens: int
    room_tokens: int
    notice_tokens: int
    stays: Mapping[int, Decision] = field(default_factory=dict[int, Decision])
    leaves: Mapping[int, Decision] = field(default_factory=dict[int, Decision])
    outside: Mapping[int, Decision] = field(default_factory=dict[int, Decision])

    @property
    def sent(self) -> dict[int, Decision]:
        """Decisions on what is sent of units that are no part of it."""
        return {i: each for i, each in self.outside.items() if each.action != "drop"}

    def known(self, candidates: Sequence[Candidate]) -> dict[int, Decision]:
        """Return the units that are no part of it as if each stood whole: one that was cut earlier has a notice in its place."""
        return {
            i: kept(candidates[i], each.why) if each.hides else each
            for i, each in self.outside.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What became of a stretch, by index of the unit.

    Attributes:
        chosen: what stays, whole or in part.
        dropped: what leaves.
        notice: the decision that puts the notice in the place of the first that leaves; empty if it has no room.
        scores: by which was chosen.
    """

    chosen: Mapping[int, Decision]
    dropped: Mapping[int, Decision]
    notice: Mapping[int, Decision]
    scores: Scores

    @property
    def decided(self) -> dict[int, Decision]:
        """All decisions."""
        return {**self.chosen, **self.dropped, **self.notice}


def left_out(candidate: Candidate, unchosen: Unchosen | None) -> Decision:
    """Return the decision that drops a unit; ``unchosen`` has its reason and rank if it was scored."""
    why, rank = unchosen or (BEYOND_HORIZON, None)
    return replaced(candidate, "drop", Why.LEFT_OUT, detail=why, rank=rank)


def left_again(before: Sequence[Decision], i: int) -> Decision | None:
    """Return the earlier decision that dropped a unit, or ``None`` if something of it was sent."""
    known = before[i] if i < len(before) else None
    return known if known is not None and known.action == "drop" and not known.sent else None


def with_notice(
    dropped: Mapping[int, Decision],
    notices: Iterable[Message],
    *,
    room_tokens: int,
    count: Callable[[Message], int],
) -> dict[int, Decision]:
    """Put the first of these notices that has room in place of the first dropped unit."""
    for notice in notices:
        if dropped and count(notice) <= room_tokens:
            first = min(dropped)
            decision = replace(
                dropped[first],
                pieces=(Written(message=notice),),
                tokens_after=count(notice),
            )
            return {first: decision}
    return {}


def notice_message(messages: int, tokens: int, content: str = "") -> Message:
    """Write the notice in place of dropped messages."""
    text = (
        f"{messages} earlier messages ({tokens} tokens) are left out here to fit the context window"
    )
    text = f"[{text}. {QUOTED}\n{content}\n]" if content else f"[{text}]"
    return Message(role="user", text=text, own=True)
