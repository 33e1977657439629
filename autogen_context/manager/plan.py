"""Choose what each unit becomes so that the whole fits.

Promise: one decision for each unit of which something was sent or may be; together they fit the limit; what must stay is among
them; the same input gives the same plan. What left before and is out of reach is not looked at again.

The choice: what must stay; what people said, within its fraction; then the newest units, whole; then what older units have
that is worth most, in parts. The rest is left out, and a notice says so. All of it is decided at once, so that the turns
to come can hold it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from autogen_context.budget.policy import CompactionBudget
from autogen_context.compressor.eviction_notice import Said
from autogen_context.messages.message import Message
from autogen_context.messages.piece import Written
from autogen_context.prioritizer.selection import Filled
from autogen_context.view.decision import Candidate, Decision, kept, replaced, tokens_of
from autogen_context.view.protected import Fit, Protection, choose_protected

OUT_OF_REACH = "left out: it was too long ago to be compared with what stays"
FRAME = "-"  # in place of what is told, to measure what stands around it


Tell = Callable[[Mapping[int, Decision], int], str]
"""What is to be known of the units that have no decision, or of which only parts stay, within so many tokens."""

Fill = Callable[[Mapping[int, Decision], int], Filled]
"""Decides on units that are still open, given those decided on, within so many tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a plan works with."""

    fit: Fit
    fill: Fill
    tell: Tell
    count: Callable[[Message], int]


def plan(  # noqa: PLR0913 - all that it depends on
    candidates: Sequence[Candidate],
    *,
    before: Sequence[Decision] = (),
    compared: Iterable[int],
    protected: Mapping[int, Protection],
    said: Sequence[Said] = (),
    history_tokens: int,
    limit_tokens: int,
    budget: CompactionBudget,
    means: Means,
) -> dict[int, Decision]:
    """Choose what becomes of units.

    Args:
        candidates: n units, oldest first.
        before: what was decided on them; what was left out then and is again keeps that decision.
        compared: positions of those that are sent, or stand for choice.
        protected: which of all must stay, from ``protected_of``.
        said: what people said in others, what stays first in front.
        history_tokens: what all n units cost.
        limit_tokens: what all may have together, whatever the budget says.
        budget: how much is kept, and of what.
        means: what shortens, chooses, tells and counts.

    Returns:
        Decisions by position; of a unit that is not among them nothing was sent, and nothing is.

    Raises:
        ContextWindowExceeded: what must stay does not fit, not even shortened.
    """
    chosen = choose_protected(candidates, protected, limit_tokens=limit_tokens, fit=means.fit)
    protected_tokens, messages = tokens_of(chosen), candidates[-1].unit.stop if candidates else 0
    frame = means.count(notice_of(messages, history_tokens, FRAME))
    total = min(limit_tokens, budget.total_tokens)
    beside = int((total - protected_tokens) * budget.kept_fraction) - frame
    budget = replace(budget, total_tokens=max(0, total))
    chosen |= people_first(said, protected, chosen, budget=budget, beside_tokens=beside)
    people_tokens = tokens_of(chosen) - protected_tokens
    beside = min(beside, total - tokens_of(chosen) - frame)
    newest_first = range(len(candidates) - 1, -1, -1)
    last = next((candidates[i].tokens for i in newest_first if i not in chosen), 0)
    whole = last if last <= budget.newest_unit_fraction * beside else 0
    room = max(int(beside * budget.newest_fraction), whole)
    chosen |= newest_that_fit(candidates, taken=chosen, room_tokens=room)
    recent = tokens_of(chosen) - protected_tokens - people_tokens
    told_tokens = max(0, int(beside * budget.told_fraction))
    filled = means.fill(chosen, max(0, beside - recent - told_tokens))
    chosen |= filled.stays
    dropped = {
        i: left_again(before, i) or filled.left.get(i) or left_out(candidates[i])
        for i in sorted({*compared, *filled.left}.difference(chosen))
    }
    stay = [candidates[i] for i in chosen]
    notices = (
        notice_of(
            messages - sum(len(candidate.unit.messages) for candidate in stay),
            history_tokens - sum(candidate.tokens for candidate in stay),
            text,
        )
        for text in (means.tell(chosen, told_tokens), "")
    )
    decided = chosen | dropped
    room = min(
        limit_tokens - tokens_of(decided), history_tokens - sum(each.tokens for each in stay)
    )
    return decided | with_notice(dropped, notices, room_tokens=room, count=means.count)


def people_first(
    said: Sequence[Said],
    protected: Mapping[int, Protection],
    chosen: Mapping[int, Decision],
    *,
    budget: CompactionBudget,
    beside_tokens: int,
) -> dict[int, Decision]:
    """What people said, within its fraction; beyond that what they stated, before all else that a compaction keeps."""
    own = sum(
        decision.tokens_after
        for i, decision in chosen.items()
        if protected[i] in ("task", "instruction")
    )
    free = budget.total_tokens - tokens_of(chosen)
    part = budget.people_fraction * max(0, free + own) ** 2 / max(1, budget.total_tokens)
    guaranteed = int(part) - own
    kept_first = first_that_fit(said, taken=chosen, room_tokens=min(guaranteed, free // 2))
    stated = [each for each in said if each.states and each.unit not in kept_first]
    room = int(budget.stated_fraction * beside_tokens) - tokens_of(kept_first)
    return kept_first | first_that_fit(stated, taken=chosen, room_tokens=room)


def first_that_fit(
    said: Iterable[Said], *, taken: Mapping[int, Decision], room_tokens: int
) -> dict[int, Decision]:
    """Of what people said as much as fits a room, the first ones first."""
    chosen: dict[int, Decision] = {}
    for each in said:
        tokens = each.decision.tokens_after
        if each.unit not in taken and tokens <= room_tokens:
            chosen[each.unit] = each.decision
            room_tokens -= tokens
    return chosen


def newest_that_fit(
    candidates: Sequence[Candidate], *, taken: Mapping[int, Decision], room_tokens: int
) -> dict[int, Decision]:
    """The newest units that fit the room, back to the first that does not."""
    chosen: dict[int, Decision] = {}
    for i in range(len(candidates) - 1, -1, -1):
        if i in taken:
            continue
        room_tokens -= candidates[i].tokens
        if room_tokens < 0:
            break
        chosen[i] = kept(candidates[i], "recent")
    return chosen


def left_out(candidate: Candidate) -> Decision:
    """The decision on a unit that was not compared with what stays."""
    return replaced(candidate, "drop", OUT_OF_REACH, (), 0)


def left_again(before: Sequence[Decision], i: int) -> Decision | None:
    """What was decided on a unit of which nothing is sent, that says when and why it left; ``None`` where something is."""
    known = before[i] if i < len(before) else None
    return known if known is not None and known.action == "drop" and not known.sent else None


def with_notice(
    dropped: Mapping[int, Decision],
    notices: Iterable[Message],
    *,
    room_tokens: int,
    count: Callable[[Message], int],
) -> dict[int, Decision]:
    """The decision on the first unit that is left out, with the first of some notices that has room in its place."""
    for notice in notices if dropped else ():
        if count(notice) <= room_tokens:
            first = min(dropped)
            told = replace(
                dropped[first],
                reason=f"{dropped[first].reason}; a notice stands here",
                pieces=(Written(message=notice),),
                tokens_after=count(notice),
            )
            return {first: told}
    return {}


def notice_of(messages: int, tokens: int, told: str = "") -> Message:
    """What stands where so many messages of so many tokens were left out."""
    text = (
        f"{messages} earlier messages ({tokens} tokens) are left out here to fit the context window"
    )
    text = f"[{text}. What was in them:\n{told}]" if told else f"[{text}]"
    return Message(role="user", text=text, own=True)
