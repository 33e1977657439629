"""Answers to an agent that asks for originals of hidden messages.

Promise: every call returns a text within its room: the exact original, the part that fits with how to get the rest, the
passages found, or how to ask better; none raises. A query searches the originals of the whole team and names the authors. The
first line is the library's. The original follows unchanged, or with numbered lines that cannot pass for a line of the library.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from autogen_context.compressor.shorten import Shorten, shorten_text
from autogen_context.errors import OriginalNotFound
from autogen_context.messages.message import Message
from autogen_context.prioritizer.attention import LexicalIndex
from autogen_context.text.fit import CountText
from autogen_context.text.quote import bracketed, quoted
from autogen_context.text.work import QUERY_CHARS

LINE_CHARS = 400  # longer lines are split
MOST_PASSAGES = 8  # per answer
PASSAGE_CHARS = 600  # about ten lines of code, or a paragraph
REPEATED_FRACTION = 0.5  # of the lines of a passage, above which it is skipped: a unit and its result may both be stored
SHOWN_CHARS = 40  # of an argument quoted in an answer
CHARS_A_TOKEN = 16  # longer texts are taken as too long without counting
RANGE = re.compile(  # matches text without spaces
    r"(?:lines?|l)?(?P<first>[0-9]{1,9})?(?P<to>-|\u2013|\u2014|:|\.\.|,|to)?l?(?P<last>[0-9]{1,9})?",
    re.IGNORECASE,
)


class Originals(Protocol):
    """The read interface of a store of originals."""

    @property
    def handles(self) -> Sequence[str]:
        """Handles of all searchable originals, of any author, oldest first."""
        ...

    def get(self, handle: str, /) -> tuple[Message, ...]:
        """Return the messages of a handle; raise ``OriginalNotFound`` if it is unknown."""
        ...


class Original:
    """The text of an entry, split at newlines only; very long lines are split after a space."""

    def __init__(self, handle: str, messages: Sequence[Message]) -> None:
        names = dict.fromkeys(bracketed(message.name) for message in messages if message.name)
        said_by = quoted(", ".join(names), most_chars=SHOWN_CHARS) if names else ""
        self._title = f"Original {handle} by {said_by}" if said_by else f"Original {handle}"
        self.lines: list[str] = []
        self._continued: set[int] = set()  # numbers of lines that continue the previous one
        for line in written(messages).split("\n"):
            start = 0
            while len(line) - start > LINE_CHARS:
                most = start + LINE_CHARS
                stop = line.rfind(" ", start + LINE_CHARS // 2, most) + 1 or most
                self.lines.append(line[start:stop])
                self._continued.add(len(self.lines) + 1)
                start = stop
            self.lines.append(line[start:])

    def page(self, first: int, last: int, *, numbered: bool, more: str = "") -> str:
        """Return these lines below a header with their range; a number such as ``3+`` marks a continuation of line 2."""
        size = len(self.lines)
        where = f"lines {first}-{last} of {size}" if first < last else f"line {first} of {size}"
        where = f"all of its {size} lines" if (first, last) == (1, size) else where
        parts = [f"[{self._title}, {where}{more}]"]
        for number, line in enumerate(self.lines[first - 1 : last], first):
            goes_on = number in self._continued
            plain = line if goes_on else f"\n{line}"
            parts.append(f"\n{number}{'+' * goes_on}\t{line}" if numbered else plain)
        return "".join(parts)

    def passages(self) -> Iterator[tuple[int, int]]:
        """Yield passages of similar length that cover the text: the first and last line of each."""
        first, chars, left = 1, 0, sum(len(line) + 1 for line in self.lines)
        for number, line in enumerate(self.lines, 1):
            chars, left = chars + len(line) + 1, left - len(line) - 1
            # Leave no short rest: it would score higher only because it is short.
            if chars >= PASSAGE_CHARS and left >= PASSAGE_CHARS // 2:
                yield first, number
                first, chars = number + 1, 0
        if first <= len(self.lines):
            yield first, len(self.lines)


class Passages:
    """The passages of originals by their words, in the order in which the originals are added."""

    def __init__(self) -> None:
        self.handles: set[str] = set()
        self.index = LexicalIndex()
        self.places: list[tuple[str, int, int]] = []  # handle, first and last line

    def add(self, handle: str, original: Original) -> None:
        """Index an original, once for each handle."""
        self.handles.add(handle)
        for first, last in original.passages():
            self.places.append((handle, first, last))
            self.index.add("\n".join(original.lines[first - 1 : last]))


class Answer(NamedTuple):
    """What a call is answered with, and whether that is of an original or says why there is none."""

    text: str
    is_found: bool


class Unanswered(ValueError):
    """Nothing can be shown; the message says so to the model, with the way out."""


class RecallContext:
    """Answers ``recall_context`` calls from one store of originals, whose passages it indexes when a query needs them.

    Args:
        originals: the store.
        count: tokens of a text, an upper bound or exact.
        room_tokens: maximum tokens of an answer.
        shorten: shortens an answer of which not even the least fits.
    """

    def __init__(
        self,
        originals: Originals,
        *,
        count: CountText,
        room_tokens: int,
        shorten: Shorten = shorten_text,
    ) -> None:
        self._originals = originals
        self._count, self._shorten = count, shorten
        self._room = room_tokens
        self._all = Passages()

    def recall_context(self, handle: str = "", query: str = "", lines: str = "") -> str:
        """Return the tool result for these arguments.

        Args:
            handle: handle of an original; quotes or brackets that models add around it are removed.
            query: search text, for the original of ``handle``, or for all.
            lines: range of its lines, numbered in the answer; ignored if there is a query.

        Returns:
            A header line followed by the original or passages of it; or an explanation of the problem and its solution.
        """
        return self.answered(handle, query, lines).text

    def answered(self, handle: str = "", query: str = "", lines: str = "") -> Answer:
        """Return the same, with whether something was found."""
        handle = handle.strip(" \t\r\n\"'`<>[]()").removeprefix("handle").lstrip(" :=\"'")
        try:
            text, is_found = self._answer(handle, query.strip(), lines.strip()), True
        except Unanswered as why:
            text, is_found = str(why), False
        return Answer(self._shorten(text, room_tokens=self._room, count=self._count), is_found)

    def _answer(self, handle: str, query: str, lines: str) -> str:
        if handle:
            original = self._original(handle)
            if original is None:
                raise Unanswered(
                    f"No original is kept under the handle {shown(handle)}. Copy it as it stands in the mark, or search "
                    'all that is kept: query="words that stood in it", without a handle.'
                )
            return self._found(query, handle) if query else self._lines(original, lines)
        if query:
            return self._found(query)
        raise Unanswered(
            "Give a handle from a mark, or a query to search all stored originals "
            f"({len(self._originals.handles)} originals)."
        )

    def _original(self, handle: str) -> Original | None:
        try:
            return Original(handle, self._originals.get(handle))
        except OriginalNotFound:
            return None

    def _lines(self, original: Original, asked: str) -> str:
        try:
            first, last = range_of(asked or "1-", len(original.lines))
        except ValueError as error:
            raise Unanswered(f"lines={shown(asked)} {error}.") from None

        def page(stop: int) -> str:
            more = "" if stop == last else f'; more with lines="{stop + 1}-{last}"'
            return original.page(first, stop, numbered=bool(asked), more=more)

        if self._fits(page(last)):
            return page(last)
        beyond = bisect_left(range(first, last), 1, key=lambda stop: not self._fits(page(stop)))
        return page(first + max(0, beyond - 1))

    def _fits(self, text: str) -> bool:
        return len(text) <= self._room * CHARS_A_TOKEN and self._count(text) <= self._room

    def _found(self, query: str, within: str = "") -> str:
        """Return the passages that match a query best, the latest first of equals; ``within`` is a handle, or empty for all."""
        passages = self._passages(within)
        is_cut = len(query) > 2 * QUERY_CHARS
        limit = f", by its first and last {QUERY_CHARS} characters" if is_cut else ""
        scores = passages.index.scores(query)
        way_on = "more around it with its handle and lines"
        parts = [f"[What matches {shown(query)} best{limit}; {way_on}]"]
        shown_lines: set[str] = set()
        opened: dict[str, Original | None] = {}
        for at in sorted(scores, key=lambda at: (-scores[at], -at)):
            handle, first, last = passages.places[at]
            if handle not in opened:
                opened[handle] = self._original(handle)
            original = opened[handle]
            lines = original.lines[first - 1 : last] if original else []
            repeated = sum(line in shown_lines for line in lines)
            if original is None or repeated > REPEATED_FRACTION * len(lines):
                continue
            shown_lines.update(lines)
            passage = original.page(first, last, numbered=True)
            if len(parts) == 1 or self._fits("\n".join([*parts, passage])):
                parts.append(passage)
            if len(parts) > MOST_PASSAGES:
                break
        if len(parts) > 1:
            return "\n".join(parts)
        raise Unanswered(
            f"Nothing that is kept has words of {shown(query)}. Try others: names, paths, numbers or error texts as "
            "they stood there."
        )

    def _passages(self, within: str) -> "Passages":
        """Return what a query is searched in; of one original alone no other says how rare a word is."""
        handles = self._originals.handles
        if within:
            passages, handles = Passages(), [within]
        else:
            if len(self._all.handles) > 2 * len(handles) + 1:
                self._all = Passages()  # most indexed originals have been removed
            passages = self._all
        for handle in handles:
            if handle not in passages.handles and (original := self._original(handle)):
                passages.add(handle, original)
        return passages


def shown(argument: str) -> str:
    """Return an argument quoted and shortened for an answer."""
    return quoted(bracketed(argument), most_chars=SHOWN_CHARS)


def range_of(asked: str, size: int) -> tuple[int, int]:
    """Parse a line range such as ``120-180``, ``120-`` or ``150``; raise ``ValueError`` worded for the model."""
    found = RANGE.fullmatch("".join(asked.split()))
    if found is None or not (found["first"] or found["last"]):
        raise ValueError(
            f"is no range of lines; write '120-180', '120-', '-40' or '150' (there are {size})"
        )
    first = max(1, int(found["first"] or 1))
    last = int(found["last"] or (size if found["to"] else first))
    if first > size:
        raise ValueError(f"begins behind the end; there are {size} lines")
    if last < first:
        raise ValueError(f"ends before it begins; write '{max(1, last)}-{first}'")
    return first, min(last, size)


def written(messages: Sequence[Message]) -> str:
    """Return the text of an entry: a single text unchanged, otherwise each text below a title line."""
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
