"""What differs between two texts, line by line, in bounded time and room.

Promise: a diff is exact where it is given, and is the same for the same texts. Where it would be long, or take long, or
where not even its first place has room, there are numbers instead.

Own search, since ``difflib`` takes 9 s for 500 lines of which every other one is the same, and has no limit.
"""

from collections import Counter
from collections.abc import Sequence

CONTEXT_LINES = 2
LONGEST_LINE = 200  # in characters; of a longer one the rest is cut
MOST_LINES = 200  # that went or came; a diff of more has no room anyway
MOST_STEPS = 500_000  # of the search; a tenth of a second
MOST_COUNTED = 50_000  # lines of a text; of more it is said how many they are

_MORE_CHARS = 40  # for the line that says what was left out

_Script = list[tuple[str, str]]  # each line of the diff: its mark, and the line itself


def told_changes(before: str, after: str, *, most_chars: int) -> str:
    """What to say of a text that changed.

    Args:
        before: the text as it was.
        after: as it is.
        most_chars: room for it, in characters; the numbers alone may have up to 100.

    Returns:
        How many lines went and came, and below that a unified diff as far as there is room.
    """
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > MOST_COUNTED:
        return f"it had {len(old):,} lines, and has {len(new):,}"
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    gone, come = Counter(old), Counter(new)  # a line that moved did neither
    went, came = (gone - come).total(), (come - gone).total()
    said = f"{went:,} of {len(old):,} lines went, {came:,} came, from line {head + 1:,} on"
    middle = _shortest(old[head : len(old) - tail], new[head : len(new) - tail])
    above = old[max(0, head - CONTEXT_LINES) : head]
    below = old[len(old) - tail :][:CONTEXT_LINES]
    script = [(" ", line) for line in above] + middle + [(" ", line) for line in below]
    places = _places(script, first=head - len(above)) if middle else []
    diff = _fitting(places, most_chars - len(said) - 2)
    return f"{said}:\n{diff}" if diff else said


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines are the same from the beginning."""
    shorter = min(len(old), len(new))
    return next((n for n in range(shorter) if old[n] != new[n]), shorter)


def _shortest(old: Sequence[str], new: Sequence[str]) -> _Script:
    """The shortest way from one text to the other; none at all where it is long, or takes long to find.

    Source:
        The greedy search of E. W. Myers, An O(ND) Difference Algorithm, 1986.
    """
    reached = {1: 0}  # diagonal -> how much of the old text is used up; of the new one so much less
    rounds: list[dict[int, int]] = []
    steps = 0
    for edits in range(MOST_LINES + 1):
        rounds.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            start = at = _after_edit(reached, diagonal, edits)[0]
            while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            reached[diagonal] = at
            if at >= len(old) and at - diagonal >= len(new):
                return _way(old, new, rounds)
            steps += 1 + at - start
            if steps > MOST_STEPS:
                return []
    return []


def _way(old: Sequence[str], new: Sequence[str], rounds: Sequence[dict[int, int]]) -> _Script:
    """The way that the search found, read from its end."""
    found: _Script = []
    at, diagonal = len(old), len(old) - len(new)
    for edits in range(len(rounds) - 1, -1, -1):
        start, comes = _after_edit(rounds[edits], diagonal, edits)
        found += [(" ", line) for line in reversed(old[start:at])]
        if edits and comes:
            found.append(("+", new[start - diagonal - 1]))
            at, diagonal = start, diagonal + 1
        elif edits:
            found.append(("-", old[start - 1]))
            at, diagonal = start - 1, diagonal - 1
    return found[::-1]


def _after_edit(reached: dict[int, int], diagonal: int, edits: int) -> tuple[int, bool]:
    """How far the edit that gets furthest comes on a diagonal, and whether it is a line that comes rather than goes."""
    if diagonal == -edits:
        comes = True
    else:
        comes = diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1]
    return (reached[diagonal + 1] if comes else reached[diagonal - 1] + 1), comes


def _places(script: _Script, *, first: int) -> list[str]:
    """The places that differ with their context, each as one hunk of a unified diff; those that touch are one.

    Args:
        script: the lines of both texts.
        first: how many lines stand in front of them.
    """
    spans: list[tuple[int, int]] = []
    for at in (at for at, (mark, _) in enumerate(script) if mark != " "):
        begin, end = max(0, at - CONTEXT_LINES), min(len(script), at + CONTEXT_LINES + 1)
        if spans and begin <= spans[-1][1]:
            begin = spans.pop()[0]
        spans.append((begin, end))
    return [_hunk(script, begin, end, first=first) for begin, end in spans]


def _hunk(script: _Script, begin: int, end: int, *, first: int) -> str:
    """One place: which lines it has in both texts, and the lines."""
    ranges: list[str] = []
    for side in "-+":  # counted from 1, and from the line before where there are none
        before = first + sum(mark in (" ", side) for mark, _ in script[:begin])
        lines = sum(mark in (" ", side) for mark, _ in script[begin:end])
        ranges.append(f"{side}{before + (lines > 0)},{lines}")
    cut = [line[:LONGEST_LINE] + "…" * (len(line) > LONGEST_LINE) for _, line in script[begin:end]]
    lines_told = (mark + line for (mark, _), line in zip(script[begin:end], cut, strict=True))
    return "\n".join([f"@@ {' '.join(ranges)} @@", *lines_told])


def _fitting(places: Sequence[str], room_chars: int) -> str:
    """The first places for which there is room, and how many there are besides."""
    kept: list[str] = []
    for number, place in enumerate(places):
        is_last = number == len(places) - 1
        room_chars -= len(place) + 1
        if room_chars < (0 if is_last else _MORE_CHARS):
            break
        kept.append(place)
    left = len(places) - len(kept)
    return "\n".join([*kept, f"[… {left:,} more places]"] if kept and left else kept)
