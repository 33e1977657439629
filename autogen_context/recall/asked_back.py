"""Answer an agent that asks back what left its window.

Promise: every question gets a text within its room: the original to the byte, as much of it as fits and how to get the
rest, what was found in it, or how to ask better; none raises. The first line is ours. Below it stands the original as it
was, or with the number of each line in front, so that no line of it can pass for one of ours.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from autogen_context.compressor.shorten import CountText, shorten_text
from autogen_context.errors import OriginalNotFound
from autogen_context.messages.message import Message
from autogen_context.prioritizer.relevance import LexicalIndex

MOST_PASSAGES = 8  # for one question
PASSAGE_CHARS = 600  # about ten lines of code, or a paragraph
REPEATED_FRACTION = 0.5  # of the lines of a passage: a unit and its result are both kept at times
SHOWN_CHARS = 40  # of an argument that is named in an answer
CHARS_A_TOKEN = 16  # what has more is not counted but taken as too long
RANGE = re.compile(  # of what has no spaces any more
    r"(?:lines?|l)?(?P<first>[0-9]{1,9})?(?:@(?P<char>[0-9]{1,9}))?"
    r"(?P<to>-|\u2013|\u2014|:|\.\.|,|to)?l?(?P<last>[0-9]{1,9})?",
    re.IGNORECASE,
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a text: lines from 1, from a character of the first to one of the last; ``None`` for the end of that."""

    first: int
    last: int
    start: int = 0
    stop: int | None = None

    def until(self, last: int, stop: int | None = None) -> "Stretch":
        """The beginning of it, to a line and a character in that."""
        return self if last == self.last and stop is None else replace(self, last=last, stop=stop)


class Original:
    """The text of an entry by lines, each of which a newline ends and nothing else."""

    def __init__(self, handle: str, text: str) -> None:
        self.handle = handle
        self.lines: Sequence[str] = text.split("\n")

    def taken(self, part: Stretch) -> list[str]:
        """The lines of a stretch, the first and the last as far as they belong to it."""
        lines = list(self.lines[part.first - 1 : part.last])
        lines[-1] = lines[-1][: part.stop]
        lines[0] = lines[0][part.start :]
        return lines

    def page(self, part: Stretch, *, numbered: bool, more: str = "") -> str:
        """A stretch below a line that says where it stands, and how to get what follows."""
        size, lines = len(self.lines), self.taken(part)
        if part == Stretch(first=1, last=size):
            where = f"all of its {size} lines"
        elif part.first == part.last:
            where = f"line {part.first} of {size}"
        else:
            where = f"lines {part.first}-{part.last} of {size}"
        if part.start or part.stop is not None:
            stop = len(self.lines[part.last - 1]) if part.stop is None else part.stop
            where += f", from character {part.start + 1} of the first to {stop} of the last"
        if numbered:
            lines = [f"{n}\t{line}" for n, line in enumerate(lines, part.first)]
        return "\n".join([f"[Original {self.handle}, {where}{more}]", *lines])

    def passages(self) -> Iterator[Stretch]:
        """All of it in stretches of about the same length: whole lines, and pieces of very long ones."""
        first, chars, left = 1, 0, sum(len(line) + 1 for line in self.lines)
        for number, line in enumerate(self.lines, 1):
            chars, left = chars + len(line) + 1, left - len(line) - 1
            long = len(line) > 2 * PASSAGE_CHARS
            if long and number > first:
                yield Stretch(first=first, last=number - 1)
            start = 0
            while long and start < len(line):  # in pieces that end behind a space where one is near
                stop = min(len(line), start + PASSAGE_CHARS)
                space = line.rfind(" ", stop - PASSAGE_CHARS // 5, stop) + 1
                stop = space if space and stop < len(line) else stop
                yield Stretch(first=number, last=number, start=start, stop=stop)
                start = stop
            # No short end is left over: it would match better than others for being short.
            full = chars >= PASSAGE_CHARS and left >= PASSAGE_CHARS // 2
            if full and not long:
                yield Stretch(first=first, last=number)
            if full or long:
                first, chars = number + 1, 0
        if first <= len(self.lines):
            yield Stretch(first=first, last=len(self.lines))


class PassageIndex:
    """The passages of originals that come one by one, by the words in them; no texts are kept, only places."""

    def __init__(self) -> None:
        self.handles: set[str] = set()
        self._words = LexicalIndex()
        self._passages: list[tuple[str, Stretch]] = []

    def add(self, original: Original) -> None:
        """Add an original."""
        for stretch in original.passages():
            self._passages.append((original.handle, stretch))
            self._words.add("\n".join(original.taken(stretch)))
        self.handles.add(original.handle)

    def found(self, query: str) -> Iterator[tuple[str, Stretch]]:
        """The passages that share a word with the query, best first; of equals the one that was added last."""
        scores = self._words.scores(query)
        matching = sorted(((score, at) for at, score in enumerate(scores) if score), reverse=True)
        return (self._passages[at] for _, at in matching)


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
        handle = handle.strip(" \t\r\n\"'`<>[]()").removeprefix("handle").lstrip(" :=\"'")
        answer = self._answer(handle, query.strip(), lines.strip())
        return shorten_text(answer, room_tokens=self._room, count=self._count)

    def _answer(self, handle: str, query: str, lines: str) -> str:
        if not handle and query:
            return self._from_all(query)
        if not handle:
            return (
                "Give the handle that stands in a mark, or a query to search all that is kept "
                f"({len(self._originals.handles)} originals)."
            )
        original = self._original(handle)
        if original is None:
            return (
                f"No original is kept under the handle {shown(handle)}. Copy it as it stands in the mark, or search "
                'all that is kept: query="words that stood in it", without a handle.'
            )
        if not query:
            return self._lines(original, lines)
        index = PassageIndex()
        index.add(original)
        return self._passages(index, query)

    def _original(self, handle: str) -> Original | None:
        """An original; one that is listed may have gone since."""
        try:
            return Original(handle, written(self._originals.get(handle)))
        except OriginalNotFound:
            return None

    def _lines(self, original: Original, asked: str) -> str:
        """The original, or those of its lines that are asked for, as far as they fit; of a first line too long characters."""
        try:
            wanted = stretch_of(asked or "1-", len(original.lines))
        except ValueError as error:
            return f"lines={shown(asked)} {error}."

        def page(part: Stretch) -> str:
            rest = f"{part.last + 1}" if part.stop is None else f"{part.last}@{part.stop + 1}"
            more = "" if part == wanted else f'; more with lines="{rest}-{wanted.last}"'
            return original.page(part, numbered=bool(asked), more=more)

        last = greatest(lambda n: self._fits(page(wanted.until(n))), wanted.first, wanted.last)
        if last is not None:
            return page(wanted.until(last))
        end = len(original.lines[wanted.first - 1])
        stop = greatest(
            lambda n: self._fits(page(wanted.until(wanted.first, n))), wanted.start + 1, end
        )
        return page(wanted.until(wanted.first, stop))

    def _fits(self, text: str) -> bool:
        return len(text) <= self._room * CHARS_A_TOKEN and self._count(text) <= self._room

    def _from_all(self, query: str) -> str:
        """The passages of all originals that match."""
        handles = self._originals.handles
        if len(self._index.handles) > 2 * len(handles):
            self._index = PassageIndex()  # most of what it knows is gone
        for handle in handles:
            if handle not in self._index.handles and (original := self._original(handle)):
                self._index.add(original)
        return self._passages(self._index, query)

    def _passages(self, index: PassageIndex, query: str) -> str:
        """The best passages that fit, one at least, without what repeats those before."""
        parts = [f"[What matches {shown(query)} best; more around it with its handle and lines]"]
        told: set[str] = set()
        for handle, stretch in index.found(query):
            original = self._original(handle)
            lines = original.taken(stretch) if original else []
            repeated = sum(line in told for line in lines)
            if original is None or repeated > REPEATED_FRACTION * len(lines):
                continue
            told.update(lines)
            passage = original.page(stretch, numbered=True)
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


def shown(argument: str) -> str:
    """An argument as it is named in an answer."""
    return repr(argument if len(argument) <= SHOWN_CHARS else argument[:SHOWN_CHARS] + "…")


def stretch_of(asked: str, size: int) -> Stretch:
    """The lines that a model asks for: ``120-180``, ``120-``, ``-40``, ``150``; ``7@2001-`` from a character on.

    Raises:
        ValueError: it is none, or lies outside of so many lines; says so in words for the model.
    """
    found = RANGE.fullmatch("".join(asked.split()))
    if found is None or not (found["first"] or (found["last"] and not found["char"])):
        raise ValueError(
            f"is no range of lines; write '120-180', '120-', '-40' or '150' (there are {size})"
        )
    first = max(1, int(found["first"] or 1))
    last = int(found["last"] or (size if found["to"] else first))
    if first > size:
        raise ValueError(f"begins behind the end; there are {size} lines")
    if last < first:
        raise ValueError(f"ends before it begins; write '{max(1, last)}-{first}'")
    return Stretch(first=first, last=min(last, size), start=max(0, int(found["char"] or 1) - 1))


def written(messages: Sequence[Message]) -> str:
    """All texts of an entry as one: a text that stands alone as it is, else each under a line that says what it is."""
    parts: list[tuple[str, str]] = []
    for message in messages:
        author = f"{message.role} {message.name}".strip()
        parts += [(author, message.text)] if message.text else []
        parts += [(f"call of {call.name}", call.arguments) for call in message.calls]
        parts += [
            (f"result of {result.name}".removesuffix(" of "), result.text)
            for result in message.results
        ]
        parts += [(f"more of {author}", message.extra)] if message.extra else []
    is_alone = len(messages) == 1 and not (messages[0].calls or messages[0].extra)
    if is_alone and len(parts) <= 1:
        return parts[0][1] if parts else ""
    return "\n".join(line for title, text in parts for line in (f"[{title}]", text))
