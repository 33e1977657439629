"""Answer an agent that asks back what left its window.

Promise: every question gets a text within its room: the original to the byte, as much of it as fits and how to get the
rest, what was found in it, or how to ask better; none raises. The first line is ours. Below it stands the original as it
was, or with the number of each line in front, so that no line of it can pass for one of ours.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from autogen_context.compressor.shorten import CountText, shorten_text
from autogen_context.errors import OriginalNotFound
from autogen_context.messages.message import Message
from autogen_context.recall.original import (
    Original,
    Passage,
    PassageIndex,
    Stretch,
    stretch_of,
    written,
)

MOST_PASSAGES = 8  # for one question
REPEATED_FRACTION = 0.5  # of the lines of a passage: a unit and its result are both kept at times
SHOWN_CHARS = 40  # of an argument that is named in an answer
CHARS_A_TOKEN = 16  # what has more is not counted but taken as too long


class Originals(Protocol):
    """A store of originals, as it is asked."""

    @property
    def handles(self) -> Sequence[str]:
        """What may be searched, oldest first."""
        ...

    def get(self, handle: str, /) -> tuple[Message, ...]:
        """The messages under a handle.

        Raises:
            OriginalNotFound: there are none.
        """
        ...


class AskedBack:
    """Answers from one store of originals.

    Args:
        originals: the store.
        count: tokens of a text, an upper bound or exact.
        room_tokens: what an answer may have, in tokens.
    """

    def __init__(self, originals: Originals, *, count: CountText, room_tokens: int) -> None:
        self._originals = originals
        self._count = count
        self._room = room_tokens
        self._index = PassageIndex()

    def recall_context(self, handle: str = "", query: str = "", lines: str = "") -> str:
        """What a model gets for these arguments of the tool.

        Args:
            handle: of an original; also with the quotes or brackets around it that models add.
            query: what to look for: within the original that ``handle`` names, or in all.
            lines: which of its lines, numbered in the answer; not looked at where there is a query.

        Returns:
            One line of ours, and the original or passages of it below; or what is wrong, and what to do about it.
        """
        answer = self._answer(bare(handle), query.strip(), lines.strip())
        return shorten_text(answer, room_tokens=self._room, count=self._count)

    def _answer(self, handle: str, query: str, lines: str) -> str:
        if not handle:
            return self._from_all(query) if query else self._nothing_asked()
        try:
            original = self._original(handle)
        except OriginalNotFound:
            return (
                f"No original is kept under the handle {shown(handle)}. Copy it as it stands in the mark, or search "
                'all that is kept: query="words that stood in it", without a handle.'
            )
        return self._from_one(original, query) if query else self._lines(original, lines)

    def _nothing_asked(self) -> str:
        return (
            "Give the handle that stands in a mark, or a query to search all that is kept "
            f"({len(self._originals.handles)} originals)."
        )

    def _original(self, handle: str) -> Original:
        return Original(handle, written(self._originals.get(handle)))

    def _lines(self, original: Original, asked: str) -> str:
        """The original, or those of its lines that are asked for, from the first on as far as they fit."""
        try:
            wanted = stretch_of(asked, original) if asked else original.whole
        except ValueError as error:
            return f"lines={shown(asked)} {error}."
        numbered = bool(asked)
        part = self._fitting(original, wanted, numbered=numbered)
        return self._page(original, part, wanted, numbered=numbered)

    def _fitting(self, original: Original, wanted: Stretch, *, numbered: bool) -> Stretch:
        """As many of the lines as fit; of a first line that is too long itself, as many characters."""

        def fits(part: Stretch) -> bool:
            return self._fits(self._page(original, part, wanted, numbered=numbered))

        last = greatest(lambda n: fits(wanted.until(n)), wanted.first, wanted.last)
        if last is not None:
            return wanted.until(last)
        end = len(original.lines[wanted.first - 1])
        stop = greatest(lambda n: fits(wanted.until(wanted.first, n)), wanted.start + 1, end)
        return wanted.until(wanted.first, stop)

    def _fits(self, text: str) -> bool:
        return len(text) <= self._room * CHARS_A_TOKEN and self._count(text) <= self._room

    def _page(self, original: Original, part: Stretch, wanted: Stretch, *, numbered: bool) -> str:
        rest = "" if part == wanted else f'; more with lines="{wanted.after(part)}"'
        text = original.numbered(part) if numbered else original.text(part)
        return f"[{original.place(part)}{rest}]\n{text}"

    def _from_one(self, original: Original, query: str) -> str:
        """The passages of one original that match."""
        index = PassageIndex()
        index.add(original)
        return self._passages(index, query)

    def _from_all(self, query: str) -> str:
        """The passages of all originals that match."""
        handles = self._originals.handles
        if len(self._index) > 2 * len(handles):
            self._index = PassageIndex()  # most of what it knows is gone
        for handle in handles:
            if handle not in self._index and (original := self._held(handle)):
                self._index.add(original)
        return self._passages(self._index, query)

    def _held(self, handle: str) -> Original | None:
        """An original that may have gone since its handle was told."""
        try:
            return self._original(handle)
        except OriginalNotFound:
            return None

    def _passages(self, index: PassageIndex, query: str) -> str:
        """The best passages that fit, one at least."""
        title = f"[What matches {shown(query)} best; more around it with its handle and lines]"
        parts = [title]
        for passage in self._distinct(index.found(query)):
            if len(parts) == 1 or self._fits("\n".join([*parts, passage])):
                parts.append(passage)
            if len(parts) > MOST_PASSAGES:
                break
        if len(parts) > 1:
            return "\n".join(parts)
        return (
            f"Nothing that is kept has words of {shown(query)}. Try others: names, paths, numbers or error texts as "
            "they stood there."
        )

    def _distinct(self, passages: Iterator[Passage]) -> Iterator[str]:
        """Passages as the model reads them, without what repeats those before."""
        told: set[str] = set()
        for passage in passages:
            original = self._held(passage.handle)
            if original is None:
                continue
            lines = original.taken(passage.stretch)
            if sum(line in told for line in lines) > REPEATED_FRACTION * len(lines):
                continue
            told.update(lines)
            yield f"[{original.place(passage.stretch)}]\n{original.numbered(passage.stretch)}"


def greatest(fits: Callable[[int], bool], low: int, high: int) -> int | None:
    """The greatest number from ``low`` to ``high`` that fits, where all below one that fits do; the last is tried first."""
    if high >= low and fits(high):
        return high
    best: int | None = None
    while low < high:
        middle = (low + high) // 2
        if fits(middle):
            best, low = middle, middle + 1
        else:
            high = middle
    return best


def bare(handle: str) -> str:
    """A handle without what models put around it."""
    return handle.strip(" \t\r\n\"'`<>[]()").removeprefix("handle").lstrip(" :=\"'")


def shown(argument: str) -> str:
    """An argument as it is named in an answer."""
    return repr(argument if len(argument) <= SHOWN_CHARS else argument[:SHOWN_CHARS] + "…")
