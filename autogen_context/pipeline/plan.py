"""Choose what each unit becomes so that the whole fits.

Promise: one decision per unit, in their order; together they fit the limit; what must stay is among them; the same
input gives the same plan.

The choice: what must stay, then the newest units that fit below the low mark. One cut at one place: all that stands
before it is given up together, so that the turns to come can hold the rest.
"""

from collections.abc import Callable, Mapping, Sequence

from autogen_context.pipeline.decision import Candidate, Decision, kept, replaced
from autogen_context.pipeline.floors import Fit, Floor, FloorPlan, tokens_of
from autogen_context.pipeline.message import Message
from autogen_context.pipeline.piece import Written

SPARE_SHARE = 0.15  # of what the floors leave, filled even where they exceed the low mark
LARGE_SHARE = 0.9  # of the room: where so much is left, the next unit is large and worth a part
PART_SHARE = 0.6  # of the room left, for that part; the rest is turns that hold
LEAST_PART = 64  # tokens; less tells nothing


def plan(
    candidates: Sequence[Candidate],
    *,
    floors: Mapping[int, Floor],
    limit_tokens: int,
    target_tokens: int,
    fit: Fit,
    count: Callable[[Message], int],
) -> tuple[Decision, ...]:
    """Choose what each unit becomes.

    Args:
        candidates: n units, oldest first.
        floors: which of them must stay, from ``floors_of``.
        limit_tokens: what all may have together, in tokens.
        target_tokens: the low mark: what a compaction leaves at most, where the floors allow it.
        fit: shortens a unit.
        count: tokens of a message.

    Returns:
        n decisions, same order.

    Raises:
        BudgetImpossible: what must stay does not fit, not even shortened.
    """
    chosen = FloorPlan(
        candidates=candidates,
        floors=floors,
        limit_tokens=limit_tokens,
        fit=fit,
    ).choose()
    spare = limit_tokens - tokens_of(chosen)
    notice = notice_of(candidates)
    room = max(target_tokens - tokens_of(chosen), int(spare * SPARE_SHARE)) - count(notice)
    chosen |= newest_that_fit(candidates, taken=chosen, room_tokens=room, fit=fit)
    dropped = [i for i in range(len(candidates)) if i not in chosen]
    chosen |= {i: replaced(candidates[i], "drop", "older than what fits", (), 0) for i in dropped}
    notice = notice_of([candidates[i] for i in dropped])
    replaced_tokens = sum(candidates[i].tokens for i in dropped)
    if count(notice) <= min(limit_tokens - tokens_of(chosen), replaced_tokens):
        first, piece = candidates[dropped[0]], Written(message=notice)
        chosen[dropped[0]] = replaced(
            first, "drop", "older than what fits; a notice stands here", (piece,), count(notice)
        )
    return tuple(chosen[i] for i in range(len(candidates)))


def newest_that_fit(
    candidates: Sequence[Candidate],
    *,
    taken: Mapping[int, Decision],
    room_tokens: int,
    fit: Fit,
) -> dict[int, Decision]:
    """The newest units that fit the room, back to the first that does not; a part of that one, if it is large."""
    chosen: dict[int, Decision] = {}
    room = room_tokens
    for i in range(len(candidates) - 1, -1, -1):
        if i in taken:
            continue
        if candidates[i].tokens > room:
            part = int(room * PART_SHARE) if room >= room_tokens * LARGE_SHARE else 0
            fitted = fit(candidates[i], part) if part >= LEAST_PART else None
            reason = "recent; shortened to a part of the room left"
            return chosen | (
                {i: replaced(candidates[i], "shorten", reason, *fitted)} if fitted else {}
            )
        chosen[i] = kept(candidates[i], "recent")
        room -= candidates[i].tokens
    return chosen


def notice_of(candidates: Sequence[Candidate]) -> Message:
    """What stands where units were left out."""
    messages = sum(len(candidate.unit.messages) for candidate in candidates)
    tokens = sum(candidate.tokens for candidate in candidates)
    text = f"[{messages} earlier messages ({tokens} tokens) are left out here to fit the context window]"
    return Message(role="user", text=text)
