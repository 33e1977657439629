"""Protected units: system messages, pins, a pending call, the latest instruction, the newest unit.

Promise: system prompt and pins are sent unchanged. The latest instruction has priority over everything but those and a
pending call, whole or shortened and marked. The newest unit stays, shortened if necessary. If even that does not fit,
``ContextWindowExceeded`` lists the tokens that each needs. A host's memory (a later system message) and the first task never
cause that error.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.origin import is_users
from autogen_context.messages.piece import Piece
from autogen_context.view.decision import Candidate, Decision, Why, kept, replaced, tokens_of

Protection = Literal["system", "pinned", "memory", "pending", "instruction", "newest", "task"]

MUST_STAY: Mapping[Protection, Why] = {
    "system": Why.SYSTEM,
    "pinned": Why.PINNED,
    "memory": Why.MEMORY,
    "pending": Why.PENDING,
    "instruction": Why.INSTRUCTION,
    "newest": Why.NEWEST,
    "task": Why.TASK,
}
VERBATIM: frozenset[Protection] = frozenset({"system", "pinned"})
INSTRUCTION_FRACTION = 0.5  # of the room, for an instruction that does not fit with the newest
LEAST_TEXT = 32  # tokens; a message shortened further is useless
LEAST_STUB = 24  # tokens per message of the newest unit; with less a request is useless
LEAST_NEWEST = 256  # tokens per message of a shortened newest unit, if available
NEWEST_FRACTION = 0.2  # of the room, for a newest unit that does not fit; the rest is for turns

Fit = Callable[[Candidate, int], tuple[tuple[Piece, ...], int] | None]
"""Fits a unit into a number of tokens: returns its pieces and their tokens, or ``None`` if that is impossible."""


def choose_protected(
    candidates: Sequence[Candidate],
    protected: Mapping[int, Protection],
    *,
    limit_tokens: int,
    fit: Fit,
) -> dict[int, Decision]:
    """Decide on each protected unit, by index; omit a memory or first task without room.

    Raises:
        ContextWindowExceeded: the other protected units do not fit.
    """
    whole = {i: kept(candidates[i], MUST_STAY[why]) for i, why in protected.items()}
    if tokens_of(whole) <= limit_tokens:
        return whole
    impossible = too_little(limit_tokens, candidates, protected)
    chosen = {i: d for i, d in whole.items() if protected[i] in VERBATIM}
    newest = len(candidates) - 1
    last = candidates[newest] if newest in whole and newest not in chosen else None

    def left() -> int:
        return limit_tokens - tokens_of(chosen)

    def take(i: int, room: int, *, required: bool = True) -> bool:
        """Choose a unit within a room, whole or shortened; return False if too little of it would remain."""
        candidate = candidates[i]
        if candidate.tokens <= room:
            chosen[i] = whole[i]
        elif (required or room >= LEAST_TEXT) and (fitted := fit(candidate, room)):
            chosen[i] = replaced(candidate, "shorten", MUST_STAY[protected[i]], *fitted)
        return i in chosen

    at = {why: i for i, why in protected.items()}
    instruction, memory, task = at.get("instruction"), at.get("memory"), at.get("task")
    if instruction is not None and not take(
        instruction, instruction_room(candidates[instruction], last, left())
    ):
        raise impossible
    if memory is not None:
        take(memory, left() - least_tokens(last), required=False)
    if last:
        cut = newest_room(last, left(), is_said=is_users(last.unit.messages[0]))
        if cut is None or not (take(newest, cut) or take(newest, left())):
            raise impossible
    if task is not None:
        is_cut = chosen[newest].action == "shorten"
        take(task, left() // 2 if is_cut else left(), required=False)
    if not whole or left() < 0:
        raise impossible
    return chosen


def too_little(
    limit_tokens: int, candidates: Sequence[Candidate], protected: Mapping[int, Protection]
) -> ContextWindowExceeded:
    """Return the error that lists the tokens each kind of protected unit needs, as a stub where that would not help."""
    parts, whole = Counter[str](), Counter[str]()
    for i, why in protected.items():
        whole[why] += (tokens := candidates[i].tokens)
        if why in {"instruction", "newest"}:
            least = LEAST_TEXT if why == "instruction" else least_tokens(candidates[i])
            tokens = min(tokens, least)
        parts[why] += 0 if why in {"memory", "task"} else tokens
    parts = +parts if parts.total() > limit_tokens else whole  # else a stub of it is impossible
    return ContextWindowExceeded(
        limit_tokens=limit_tokens, least_tokens=parts.total(), parts=dict(parts)
    )


def least_tokens(last: Candidate | None) -> int:
    """Return the minimum tokens of an undecided newest unit: a stub, or the whole of a call without results."""
    if last is None:
        return 0
    stub = min(last.tokens, LEAST_STUB * len(last.unit.messages))
    return last.tokens if waits_whole(last) else stub


def waits_whole(last: Candidate) -> bool:
    """Return True for a tool call without any result yet, which cannot be shortened."""
    return bool(last.unit.unanswered) and len(last.unit.messages) == 1


def instruction_room(instruction: Candidate, last: Candidate | None, left: int) -> int:
    """Return the room for the latest instruction: what the newest unit leaves, or half; at least a useful minimum."""
    if last is None or waits_whole(last):
        return left - least_tokens(last)
    half = min(int(left * INSTRUCTION_FRACTION), left - least_tokens(last))
    return max(left - last.tokens, half, min(LEAST_TEXT, instruction.tokens))


def newest_room(last: Candidate, left: int, *, is_said: bool) -> int | None:
    """Return the room for the newest unit, whole or cut to leave later turns room; ``None`` if not even a stub fits."""
    messages = len(last.unit.messages)
    if left < min(last.tokens, LEAST_STUB * messages):
        return None
    if last.tokens <= left:
        return left
    fraction = INSTRUCTION_FRACTION if is_said else NEWEST_FRACTION
    return max(int(left * fraction), min(left, LEAST_NEWEST * messages))
