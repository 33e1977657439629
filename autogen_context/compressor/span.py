"""Split the older part of a conversation into spans, each of which is summarised once.

Promise: a span depends only on its units, so later messages change neither its bounds nor its key. The opening of the
conversation, the newest units, and spans of which all units must be kept are excluded. In a span's text no author can pass
for one with more authority: tool output is quoted, and so are role markers written by the model.
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

SPAN_TOKENS = 4_000  # at least, with a large limit
SPAN_FRACTION = 1 / 3  # of the limit, at most; SPAN_TOKENS is halved until it fits
LEAST_SPAN = 500  # tokens; a summary of less would save little
NEWEST_FRACTION = 0.25  # of the limit, for the newest units, which are not evicted soon
LINE = re.compile("^", re.MULTILINE)
UNNAMED = People()  # without named people


@dataclass(frozen=True, kw_only=True)
class Span:
    """A range of consecutive units."""

    start: int  # position of the first unit
    stop: int
    tokens: int
    text: str  # of their messages, a paragraph each, with the role

    @cached_property
    def key(self) -> str:
        """A digest of the text."""
        return content_digest(self.text).hex()


class Spans:
    """The spans of one conversation; each is cut once, when its units are complete."""

    def __init__(self, people: Collection[str] = ()) -> None:
        self._named = people
        self._least = 0
        self._cut: list[Span] = []
        self._last: list[Candidate] = []  # the last unit of each span

    def of(
        self, candidates: Sequence[Candidate], *, stays: Collection[int], room_tokens: int
    ) -> list[Span]:
        """Return the spans, oldest first, except those of which all units must be kept.

        If a candidate is the same object as in the last call, so must be those before it. A unit that must be kept is part of
        its span's text: the kept units change from turn to turn, and leaving them out would move later spans.
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
    """Return the position after the system prompt and the first task, which are never evicted."""
    for start, candidate in enumerate(candidates):
        if (role := candidate.unit.messages[0].role) not in SYSTEM_ROLES:
            return start + (role == "user")
    return len(candidates)


def span_tokens(room_tokens: int) -> int:
    """Return the minimum tokens of a span, in steps, so that a slightly smaller limit gives the same spans."""
    tokens = SPAN_TOKENS
    while tokens > max(LEAST_SPAN, SPAN_FRACTION * room_tokens):
        tokens //= 2
    return tokens


def newest_of(candidates: Sequence[Candidate], room_tokens: int) -> int:
    """Return the position of the first of the newest units."""
    left = int(NEWEST_FRACTION * room_tokens)
    for i in range(len(candidates) - 1, -1, -1):
        left -= candidates[i].tokens
        if left < 0:
            return i
    return 0


def span_of(
    candidates: Sequence[Candidate], start: int, stop: int, people: People = UNNAMED
) -> Span:
    """Build the span of the units from ``start`` to ``stop``."""
    units = candidates[start:stop]
    before = candidates[start - 1].unit.messages[-1] if start else None
    said: list[str] = []
    for message in (message for candidate in units for message in candidate.unit.messages):
        said += paragraphs_of(message, before, people)
        before = message
    return Span(start=start, stop=stop, tokens=sum(c.tokens for c in units), text="\n\n".join(said))


def paragraphs_of(message: Message, before: Message | None, people: People) -> Iterator[str]:
    """Yield a message's words, calls and results as paragraphs, quoted if they could be taken for another author's."""
    words, output = words_and_output(message, before)
    role = people.heard(message).role
    if role in SYSTEM_ROLES:
        role = "system"
    elif role != "assistant" and (role != "user" or message.results):
        role = "tool"  # unknown roles have no more authority
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
        yield f"{whole}\n```" if fences % 2 else whole  # close an open code block
