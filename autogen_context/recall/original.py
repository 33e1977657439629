"""An original as a model reads it: one text with lines, stretches of it, and an index of the passages of many.

Promise: an entry that is one text is that text, to the byte. A stretch and what ``after`` names are the whole between
them, whatever the lines hold. Each original is cut and indexed once; only places are kept, no texts: what is deleted
elsewhere cannot come back from here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from autogen_context.messages.message import Message
from autogen_context.prioritizer.relevance import LexicalIndex

PASSAGE_CHARS = 600  # about ten lines of code, or a paragraph
RANGE = re.compile(  # of what has no spaces any more
    r"(?:lines?|l)?(?P<first>[0-9]{1,9})?(?:@(?P<char>[0-9]{1,9}))?"
    r"(?P<to>-|\u2013|\u2014|:|\.\.|,|to)?l?(?P<last>[0-9]{1,9})?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a text.

    Attributes:
        first: its first line, from 1.
        last: its last line.
        start: the first character within the first line, from 0.
        stop: the end within the last line; ``None`` for the end of that line.
    """

    first: int
    last: int
    start: int = 0
    stop: int | None = None

    def until(self, last: int, stop: int | None = None) -> "Stretch":
        """The beginning of it, to a line and a character in that."""
        return self if last == self.last and stop is None else replace(self, last=last, stop=stop)

    def after(self, part: "Stretch") -> str:
        """What comes behind its beginning, as a model asks for it."""
        if part.stop is not None:
            return f"{part.last}@{part.stop + 1}-{self.last}"
        return f"{part.last + 1}-{self.last}"


class Original:
    """The text of an entry by lines.

    Args:
        handle: where it is kept.
        text: what ``written`` gives for the entry.

    Attributes:
        handle: as given.
        lines: of the text; a newline ends one, and nothing else does.
    """

    def __init__(self, handle: str, text: str) -> None:
        self.handle = handle
        self.lines: Sequence[str] = text.split("\n")

    @property
    def whole(self) -> Stretch:
        """All of it."""
        return Stretch(first=1, last=len(self.lines))

    def taken(self, part: Stretch) -> list[str]:
        """The lines of a stretch, the first and the last as far as they belong to it."""
        lines = list(self.lines[part.first - 1 : part.last])
        lines[-1] = lines[-1][: part.stop]
        lines[0] = lines[0][part.start :]
        return lines

    def text(self, part: Stretch) -> str:
        """A stretch as it is."""
        return "\n".join(self.taken(part))

    def numbered(self, part: Stretch) -> str:
        """A stretch with the number of each line and a tab in front of it."""
        return "\n".join(f"{n}\t{line}" for n, line in enumerate(self.taken(part), part.first))

    def place(self, part: Stretch) -> str:
        """Where a stretch stands."""
        size = len(self.lines)
        if part == self.whole:
            return f"Original {self.handle}, all of its {size} lines"
        which = (
            f"line {part.first}" if part.first == part.last else f"lines {part.first}-{part.last}"
        )
        where = f"Original {self.handle}, {which} of {size}"
        if part.start == 0 and part.stop is None:
            return where
        stop = len(self.lines[part.last - 1]) if part.stop is None else part.stop
        return f"{where}, from character {part.start + 1} of the first to {stop} of the last"

    def passages(self) -> Iterator[Stretch]:
        """All of it in stretches of about the same length: whole lines, and pieces of very long ones."""
        first, chars, left = 1, 0, sum(len(line) + 1 for line in self.lines)
        for number, line in enumerate(self.lines, 1):
            chars, left = chars + len(line) + 1, left - len(line) - 1
            long = len(line) > 2 * PASSAGE_CHARS
            if long and number > first:
                yield Stretch(first=first, last=number - 1)
            if long:
                yield from pieces_of(line, number)
            # No short end is left over: it would match better than others for being short.
            full = chars >= PASSAGE_CHARS and left >= PASSAGE_CHARS // 2
            if full and not long:
                yield Stretch(first=first, last=number)
            if full or long:
                first, chars = number + 1, 0
        if first <= len(self.lines):
            yield Stretch(first=first, last=len(self.lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of an original."""

    handle: str
    stretch: Stretch


class PassageIndex:
    """Passages of originals that come one by one, by the words in them."""

    def __init__(self) -> None:
        self._words = LexicalIndex()
        self._passages: list[Passage] = []
        self._handles: set[str] = set()

    def __len__(self) -> int:
        """How many originals were added."""
        return len(self._handles)

    def __contains__(self, handle: str) -> bool:
        """Whether an original was added."""
        return handle in self._handles

    def add(self, original: Original) -> None:
        """Add an original."""
        for stretch in original.passages():
            self._passages.append(Passage(handle=original.handle, stretch=stretch))
            self._words.add(original.text(stretch))
        self._handles.add(original.handle)

    def found(self, query: str) -> Iterator[Passage]:
        """The passages that share a word with the query, best first; of equals the one that was added last."""
        scores = self._words.scores(query)
        matching = sorted(((score, at) for at, score in enumerate(scores) if score), reverse=True)
        return (self._passages[at] for _, at in matching)


def pieces_of(line: str, number: int) -> Iterator[Stretch]:
    """A long line in pieces that end behind a space where one is near."""
    start = 0
    while start < len(line):
        stop = min(len(line), start + PASSAGE_CHARS)
        space = line.rfind(" ", stop - PASSAGE_CHARS // 5, stop) + 1
        stop = space if space and stop < len(line) else stop
        yield Stretch(first=number, last=number, start=start, stop=stop)
        start = stop


def stretch_of(asked: str, original: Original) -> Stretch:
    """The stretch that a model asks for: ``120-180``, ``120-``, ``-40``, ``150``; ``7@2001-`` from a character on.

    Raises:
        ValueError: it is none, or lies outside of the original; says so in words for the model.
    """
    size, found = len(original.lines), RANGE.fullmatch("".join(asked.split()))
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
    if (alone := text_alone(messages)) is not None:
        return alone
    parts = (part for message in messages for part in parts_of(message))
    return "\n".join(line for title, text in parts for line in (f"[{title}]", text))


def text_alone(messages: Sequence[Message]) -> str | None:
    """The text of an entry that has but one, said by somebody or returned by a tool."""
    if len(messages) != 1 or messages[0].calls or messages[0].extra:
        return None
    texts = [result.text for result in messages[0].results]
    texts += [messages[0].text] if messages[0].text or not texts else []
    return texts[0] if len(texts) == 1 else None


def parts_of(message: Message) -> Iterator[tuple[str, str]]:
    """What each text of a message is, and the text."""
    author = f"{message.role} {message.name}".strip()
    if message.text:
        yield author, message.text
    for call in message.calls:
        yield f"call of {call.name}", call.arguments
    for result in message.results:
        yield f"result of {result.name}".removesuffix(" of "), result.text
    if message.extra:
        yield f"more of {author}", message.extra
