"""What has changed since a head was written, in few lines.

Promise: pure; only what differs is told, a line that was added or changed with ``+``, one that is gone with ``-``. What
stands in the head comes first.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from autogen_context.project.extract import Extracts
from autogen_context.project.structure import in_tree, line_of
from autogen_context.project.symbols import Symbols
from autogen_context.project.view import marked

CountText = Callable[[str], int]
Changed = Mapping[str, tuple[Symbols | None, Symbols | None]]

MOST_LINES = 8  # of one file


def changed_documents(before: Extracts, now: Extracts) -> Iterator[str]:
    """What documents say now, beside what was taken of them."""
    for name in [*before, *(name for name in now if name not in before)]:
        lines = differences(before.get(name, ()), now.get(name, ()))
        if lines:
            yield block(f"{name} says now:", lines)


def changed_files(changed: Changed, placed: Collection[str]) -> Iterator[str]:
    """What source files define now, beside what they did; those that stand in the head first."""
    for name in sorted(changed, key=lambda name: (name not in placed, in_tree(name))):
        before, now = changed[name]
        lines = differences(defined(before), defined(now))
        if now is None:
            yield f"{name} is gone."
        elif before is None:
            yield block(f"{name} is new:", lines)
        elif lines:
            yield block(f"{name} defines now:", lines)


def defined(symbols: Symbols | None) -> list[str]:
    """The definitions of a file, a line each."""
    return [line_of(each) for each in symbols.definitions] if symbols else []


def differences(before: Sequence[str], now: Sequence[str]) -> list[str]:
    """The lines that are there now and were not, and the other way round, in their orders."""
    return [f"- {line}" for line in beyond(before, now)] + [
        f"+ {line}" for line in beyond(now, before)
    ]


def beyond(lines: Iterable[str], others: Iterable[str]) -> Iterator[str]:
    """The lines that the others do not have as often."""
    left = Counter(others)
    for line in lines:
        left[line] -= 1
        if left[line] < 0:
            yield line


def block(title: str, lines: Sequence[str]) -> str:
    """A title and the first lines below it."""
    more = len(lines) - MOST_LINES
    end = [f"… and {more} more lines"] if more > 0 else []
    return "\n".join(part for part in (title, marked([*lines[:MOST_LINES], *end])) if part)


def with_room(
    blocks: Iterable[str], *, room_tokens: int, count: CountText
) -> tuple[list[str], int]:
    """The blocks that have room, and how many have none."""
    taken: list[str] = []
    missing = 0
    for each in blocks:
        cost = count(f"{each}\n")
        if cost <= room_tokens:
            room_tokens -= cost
            taken.append(each)
        else:
            missing += 1
    return taken, missing
