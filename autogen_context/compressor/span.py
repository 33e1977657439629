"""Cut the older part of a conversation into spans, each of which is summarised once.

Promise: a span depends on its units alone, so that what is said later neither moves nor renames it. What opens the
conversation, the newest units, and stretches of which all must stay belong to none. Nobody's words in the text of a span
pass for those of somebody with more say, whatever lines a tool or the model wrote.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autogen_context.compressor.passage import FENCE
from autogen_context.ledger.ledger import MARKER
from autogen_context.ledger.rendering import OPENING
from autogen_context.messages.message import SYSTEM_ROLES, Message, content_digest
from autogen_context.messages.people import People, people_in, words_and_output
from autogen_context.view.decision import Candidate

SPAN_TOKENS = 4_000  # at least, in a large room
SPAN_FRACTION = 1 / 3  # of the room, at most; in a smaller one half as much, and half of that
LEAST_SPAN = 500  # tokens; a summary of less is hardly smaller than it
NEWEST_FRACTION = 0.25  # of the room, for the newest units, which will stay for a while
LINE = re.compile("^", re.MULTILINE)
UNNAMED = People()  # where nobody has a name


@dataclass(frozen=True, kw_only=True)
class Span:
    """Consecutive units."""

    start: int  # position of the first unit
    stop: int
    tokens: int
    text: str  # what was said and done in them, a paragraph for each message with the name of its role

    @cached_property
    def key(self) -> str:
        """What stands for its content."""
        return content_digest(self.text).hex()


class Spans:
    """The spans of one conversation; each is cut once, when its units are there."""

    def __init__(self, people: Collection[str] = ()) -> None:
        self._named = people
        self._least = 0
        self._cut: list[Span] = []
        self._last: list[Candidate] = []  # of each span, the last unit

    def of(
        self, candidates: Sequence[Candidate], *, stays: Collection[int], room_tokens: int
    ) -> list[Span]:
        """The spans, oldest first, but for those of which all units must stay.

        Where a candidate is the same object as before, so are those before it. A span with a unit that must stay has its text too:
        what must stay changes from turn to turn, and would move the spans behind it.
        """
        least = span_tokens(room_tokens)
        if least != self._least:
            self._least, self._cut, self._last = least, [], []
        while self._cut:
            at = self._cut[-1].stop - 1
            if at < len(candidates) and candidates[at] is self._last[-1]:
                break
            del self._cut[-1], self._last[-1]
        start, tokens = self._cut[-1].stop if self._cut else opening_of(candidates), 0
        stop = newest_of(candidates, room_tokens)
        known = people_in((m for c in candidates for m in c.unit.messages), self._named)
        for i in range(start, stop):
            tokens += candidates[i].tokens
            if tokens >= least:
                self._cut.append(span_of(candidates, start, i + 1, known))
                self._last.append(candidates[i])
                start, tokens = i + 1, 0
        return [
            span
            for span in self._cut
            if span.stop <= stop and not all(unit in stays for unit in range(span.start, span.stop))
        ]


def opening_of(candidates: Sequence[Candidate]) -> int:
    """Where the system prompt and the first task, which stay for good, are over."""
    for start, candidate in enumerate(candidates):
        if (role := candidate.unit.messages[0].role) not in SYSTEM_ROLES:
            return start + (role == "user")
    return len(candidates)


def span_tokens(room_tokens: int) -> int:
    """What a span has at least; in steps, so that a room which bills make a little smaller has the same spans."""
    tokens = SPAN_TOKENS
    while tokens > max(LEAST_SPAN, SPAN_FRACTION * room_tokens):
        tokens //= 2
    return tokens


def newest_of(candidates: Sequence[Candidate], room_tokens: int) -> int:
    """Where the newest units begin."""
    left = int(NEWEST_FRACTION * room_tokens)
    for i in range(len(candidates) - 1, -1, -1):
        left -= candidates[i].tokens
        if left < 0:
            return i
    return 0


def span_of(
    candidates: Sequence[Candidate], start: int, stop: int, people: People = UNNAMED
) -> Span:
    """The units between two positions."""
    units = candidates[start:stop]
    before = candidates[start - 1].unit.messages[-1] if start else None
    said: list[str] = []
    for message in (message for candidate in units for message in candidate.unit.messages):
        said += paragraphs_of(message, before, people)
        before = message
    return Span(start=start, stop=stop, tokens=sum(c.tokens for c in units), text="\n\n".join(said))


def paragraphs_of(message: Message, before: Message | None, people: People) -> Iterator[str]:
    """What a message says behind another, its calls and its results, quoted where that could be read as somebody else's."""
    words, output = words_and_output(message, before)
    role = people.heard(message).role
    if role in SYSTEM_ROLES:
        role = "system"
    elif role != "assistant" and (role != "user" or message.results):
        role = "tool"  # a role that is not known has as little say
    calls = [("assistant", f"calls {call.name}: {call.arguments}") for call in message.calls]
    said = [("tool", output)] * bool(output) + [(role, words)] * bool(words.strip()) + calls
    for speaker, text in [*said, *(("tool", result.text) for result in message.results)]:
        quoted = text
        if speaker == "tool" or (speaker == "assistant" and OPENING in text):
            quoted = LINE.sub("> ", text)
        elif speaker == "assistant":
            quoted = MARKER.sub(r"> \g<0>", text)
        whole = f"[{speaker}] {quoted}"
        fences = sum(FENCE.match(line) is not None for line in whole.split("\n"))
        yield f"{whole}\n```" if fences % 2 else whole  # an open block would hold what follows
