"""What has changed since a head was written, in few lines.

Promise: pure; only what differs is told, a line that was added or changed with ``+``, one that is gone with ``-``. What
stands in the head comes first.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autogen_context.messages.message import content_digest
from autogen_context.project.extract import Extracts
from autogen_context.project.structure import in_tree, line_of
from autogen_context.project.symbols import Symbols
from autogen_context.project.view import marked

CountText = Callable[[str], int]
Changed = Mapping[str, tuple[Symbols | None, Symbols | None]]

MOST_LINES = 8  # of one file


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is newer in a file than the head.

    Attributes:
        name: of the file, from the root.
        title: what became of it, on one line.
        lines: what came and what went, the first ones.
    """

    name: str
    title: str
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """It as it is told: the lines below the title, each with its mark."""
        return "\n".join(part for part in (self.title, marked(self.lines)) if part)


def changed_documents(before: Extracts, now: Extracts) -> Iterator[Change]:
    """What documents say now, beside what was taken of them."""
    for name in [*before, *(name for name in now if name not in before)]:
        lines = differences(before.get(name, ()), now.get(name, ()))
        if lines:
            yield Change(name=name, title=f"{name} says now:", lines=first(lines))


def changed_files(changed: Changed, placed: Collection[str]) -> Iterator[Change]:
    """What source files define now, beside what they did; those that stand in the head first."""
    for name in sorted(changed, key=lambda name: (name not in placed, in_tree(name))):
        before, now = changed[name]
        lines = first(differences(defined(before), defined(now)))
        if now is None:
            yield Change(name=name, title=f"{name} is gone.")
        elif before is None:
            yield Change(name=name, title=f"{name} is new:", lines=lines)
        elif lines:
            yield Change(name=name, title=f"{name} defines now:", lines=lines)


def unlike(known: Mapping[str, str], now: Mapping[str, Symbols]) -> Iterator[Change]:
    """Files that do not define what they did, where that is known by its digest alone.

    Args:
        known: digests of what they defined, by ``digest_of``.
        now: the symbols of all files.
    """
    for name in sorted(known):
        symbols = now.get(name)
        if digest_of(symbols) != known[name]:
            title = f"{name} is gone." if symbols is None else f"{name} has changed."
            yield Change(name=name, title=title)


def digest_of(symbols: Symbols | None) -> str:
    """What tells what a file defines from all else it may define: 16 hex digits, none where there is no file."""
    return "" if symbols is None else content_digest(*defined(symbols))[:8].hex()


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


def first(lines: Sequence[str]) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    more = len(lines) - MOST_LINES
    end = [f"… and {more} more lines"] if more > 0 else []
    return (*lines[:MOST_LINES], *end)


def with_room(
    changes: Iterable[Change], *, room_tokens: int, count: CountText
) -> tuple[list[Change], list[str]]:
    """The changes that have room, and the names of the files of those that have none."""
    taken: list[Change] = []
    missing: list[str] = []
    for each in changes:
        cost = count(f"{each.text}\n")
        if cost <= room_tokens:
            room_tokens -= cost
            taken.append(each)
        else:
            missing.append(each.name)
    return taken, missing
