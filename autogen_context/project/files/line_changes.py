"""What differs between two texts, line by line, in bounded time and room.

Promise: a diff is exact where it is given, and is the same for the same texts. Where it would be long, or take long, or
where not even its first place has room, there are numbers instead.

Own code, since ``difflib`` takes 9 s for 500 lines of which every other one is the same, and has no limit.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

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
    summary = _summary(old, new)
    places = _places(_script(old, new))
    diff = _fitting(places, most_chars - len(summary) - 2)
    return f"{summary}:\n{diff}" if diff else summary


def _summary(old: Sequence[str], new: Sequence[str]) -> str:
    """How many lines went and came, and where it begins; a line that moved did neither."""
    gone, come = Counter(old), Counter(new)
    went, came = (gone - come).total(), (come - gone).total()
    first = _common(old, new) + 1
    return f"{went:,} of {len(old):,} lines went, {came:,} came, from line {first:,} on"


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines are the same from the beginning."""
    shorter = min(len(old), len(new))
    return next((n for n in range(shorter) if old[n] != new[n]), shorter)


def _script(old: Sequence[str], new: Sequence[str]) -> _Script:
    """The shortest way from one text to the other; none at all where it is long, or takes long to find."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle = _shortest(old[head : len(old) - tail], new[head : len(new) - tail])
    same = [(" ", line) for line in old]
    return [*same[:head], *middle, *same[len(old) - tail :]] if middle else []


def _shortest(old: Sequence[str], new: Sequence[str]) -> _Script:
    """As ``_script``, by the greedy search of E. W. Myers, An O(ND) Difference Algorithm, 1986."""
    reached = {
        1: 0
    }  # diagonal -> how much of the old text is used up; the new one by so much less as the diagonal is
    rounds: list[dict[int, int]] = []
    steps = 0
    for edits in range(MOST_LINES + 1):
        rounds.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            start = at = _after_edit(reached, diagonal, edits)
            while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            reached[diagonal] = at
            if at >= len(old) and at - diagonal >= len(new):
                return list(_backwards(old, new, rounds))[::-1]
            steps += 1 + at - start
            if steps > MOST_STEPS:
                return []
    return []


def _backwards(
    old: Sequence[str], new: Sequence[str], rounds: Sequence[dict[int, int]]
) -> Iterator[tuple[str, str]]:
    """The way that the search found, from its end."""
    at, diagonal = len(old), len(old) - len(new)
    for edits in range(len(rounds) - 1, -1, -1):
        reached = rounds[edits]
        start = _after_edit(reached, diagonal, edits)
        yield from ((" ", line) for line in reversed(old[start:at]))
        if not edits:
            return
        if _comes(reached, diagonal, edits):
            yield "+", new[start - diagonal - 1]
            at, diagonal = start, diagonal + 1
        else:
            yield "-", old[start - 1]
            at, diagonal = start - 1, diagonal - 1


def _after_edit(reached: dict[int, int], diagonal: int, edits: int) -> int:
    """How much of the old text is used up on a diagonal after one more edit."""
    comes = _comes(reached, diagonal, edits)
    return reached[diagonal + 1] if comes else reached[diagonal - 1] + 1


def _comes(reached: dict[int, int], diagonal: int, edits: int) -> bool:
    """Whether the edit that gets furthest is a line that comes, rather than one that goes."""
    if diagonal in (-edits, edits):
        return diagonal == -edits
    return reached[diagonal - 1] < reached[diagonal + 1]


def _places(script: _Script) -> list[str]:
    """The places that differ, each as one hunk of a unified diff."""
    return [_hunk(script, begin, end) for begin, end in _spans(script)]


def _spans(script: _Script) -> list[tuple[int, int]]:
    """From where to where the places go, with their context; those that touch are one."""
    spans: list[tuple[int, int]] = []
    for at, (mark, _) in enumerate(script):
        if mark == " ":
            continue
        begin, end = max(0, at - CONTEXT_LINES), min(len(script), at + CONTEXT_LINES + 1)
        if spans and begin <= spans[-1][1]:
            begin = spans.pop()[0]
        spans.append((begin, end))
    return spans


def _hunk(script: _Script, begin: int, end: int) -> str:
    """One place: which lines it has in both texts, and the lines."""
    ranges = (f"{mark}{_range(script, begin, end, mark)}" for mark in "-+")
    lines = (mark + _cut(line) for mark, line in script[begin:end])
    return "\n".join([f"@@ {' '.join(ranges)} @@", *lines])


def _range(script: _Script, begin: int, end: int, side: str) -> str:
    """Lines of one text as a unified diff counts them: from 1, and from the line before where there are none."""
    before = sum(mark in (" ", side) for mark, _ in script[:begin])
    lines = sum(mark in (" ", side) for mark, _ in script[begin:end])
    return f"{before + (lines > 0)},{lines}"


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


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…"
