"""The tail of a project's context: what is newer than the head, and what the conversation itself decided and did.

Promise: the tail has no more tokens than its room; what matters less goes first. Nothing in it grows with the conversation.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from autogen_context.compressor.action_log import Step, action_log
from autogen_context.ledger import Entry, Kind
from autogen_context.ledger.rendering import render
from autogen_context.prioritizer.attention import ContextPart
from autogen_context.project.head import LABELS, Head
from autogen_context.project.view import SINCE, framed, marked

CountText = Callable[[str], int]

DECIDED: frozenset[Kind] = frozenset({"decision", "goal state"})
LASTING: frozenset[Kind] = frozenset({"safety rule", "constraint", "preference"})
RULES: frozenset[Kind] = frozenset({"safety rule", "constraint"})
DONE = "What was done lately:"
STATED_SHARE = 0.3  # of what is left, for what was decided, and again for what is lasting
MOST_STEPS = 60  # the latest ones
MOST_PLAYED = 5  # files in play whose users are named
MOST_USERS = 6
LEAST_TOKENS = 24  # with less, nothing can be said


def tail_parts(
    changes: Sequence[str],
    head: Head,
    *,
    stated: Sequence[Entry],
    steps: Sequence[Step],
    in_play: Iterable[str],
    room: tuple[int, CountText],
) -> list[ContextPart]:
    """What a tail has to tell, the most important first.

    Args:
        changes: what is newer than the head.
        head: the head that it goes with.
        stated: what holds by the conversation's ledger.
        steps: what was done, oldest first; the latest are told.
        in_play: names of files.
        room: what all may have, in tokens, and how these are counted.
    """
    left, count = room
    parts: list[ContextPart] = []

    def take(part: ContextPart | None) -> None:
        nonlocal left
        cost = count(f"{part.text}\n\n") if part else 0
        if part and cost <= left:
            left -= cost
            parts.append(part)

    take(ContextPart("changes", "\n".join(changes)) if changes else None)
    take(of_statements(LABELS["memory_patterns"], LASTING, stated, int(left * STATED_SHARE), count))
    take(of_statements(LABELS["design"], DECIDED, stated, int(left * STATED_SHARE), count))
    users = "\n".join(users_told(sorted(in_play), head))
    take(ContextPart(LABELS["project_structure"], users) if users else None)
    take(of_steps(steps[-MOST_STEPS:], left, count))
    return parts


def written_tail(
    name: str, said: Sequence[ContextPart], *, room_tokens: int, count: CountText
) -> tuple[list[ContextPart], str, int]:
    """The parts of a tail as one text; what does not fit after all goes, the least important first.

    Args:
        name: of the project.
        said: the parts, the most important first.
        room_tokens: what the text may have.
        count: tokens of a text.

    Returns:
        The parts that are in it, the text, and its tokens.
    """
    parts = list(said)
    while parts:
        text = framed(SINCE.format(name=name), [part.text for part in parts])
        tokens = count(text)
        if tokens <= room_tokens:
            return parts, text, tokens
        parts.pop()
    return parts, "", 0


def of_statements(
    label: str, kinds: frozenset[Kind], stated: Sequence[Entry], room: int, count: CountText
) -> ContextPart | None:
    """What the conversation states of some kinds; critical where people or the system rule it."""
    entries = [entry for entry in stated if entry.kind in kinds]
    if not entries or room < LEAST_TOKENS:
        return None
    text = render(entries, room_tokens=room, count=count).text
    rules = any(entry.kind in RULES and not entry.reported for entry in entries)
    return ContextPart(label, text, critical=rules) if text else None


def users_told(in_play: Iterable[str], head: Head) -> Iterator[str]:
    """Who uses the files in play, as of the head."""
    known = [name for name in in_play if head.users.get(name)]
    for name in known[:MOST_PLAYED]:
        users = head.users[name]
        more = f" and {len(users) - MOST_USERS} more" if len(users) > MOST_USERS else ""
        yield marked([f"{name} is used by {', '.join(users[:MOST_USERS])}{more}"])


def of_steps(steps: Sequence[Step], room: int, count: CountText) -> ContextPart | None:
    """What was done lately and how it ended."""
    if not steps or room < LEAST_TOKENS:
        return None
    text = action_log(steps, room_tokens=room - LEAST_TOKENS, count=count)
    return (
        ContextPart(LABELS["execution_history"], f"{DONE}\n{marked(text.splitlines())}")
        if text
        else None
    )
