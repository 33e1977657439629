"""The system prompt in two: what stays the same is sent in front, and what changes from turn to turn behind what is stable.

Promise: of the newest prompt each part is sent once, in its order, in front or behind, and nothing of an earlier one. A part
that changed once is sent behind from then on, so that the text in front stays the same to the byte. What is in front is
compared with the newest prompt and nothing else, in linear time but for a search. A prompt of which most differs is another
one, and is sent as it is.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple, Self

from autogen_context.messages.message import Text
from autogen_context.text.memo import remembered
from autogen_context.text.sentence import sentences_of
from autogen_context.view.alignment import aligned

# Of the words of what is in front; with fewer in the newest prompt it is another one.
SAME_FRACTION = 0.6
WHOLE_FRACTION = 0.5  # of a prompt, above which an element of it is not moved as a whole
REMEMBERED = 1_024  # lines
FENCES = ("```", "~~~")
OPENING, CLOSING = "[What changes of the system prompt, as of now:", "]"
ELEMENT = re.compile(r"\s*(?:<([A-Za-z][\w.:-]*)(?:\s[^<>]*)?>|(```|~~~))")
LEADS = re.compile(r"\s*#{1,6}\s|.*:[*_]*\s*$|\s*<[A-Za-z][^<>]*>\s*$")
ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s|\s+\S")
END = re.compile(r"</([A-Za-z][\w.:-]*)\s*>|^\s*(```|~~~)\s*$")
WORD = re.compile(r"\w+")
Parts = tuple[Text, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPrompt:
    """What of the leading system messages is sent in front, and what behind.

    Attributes:
        stable: the parts in front, of each of the messages; ``None`` for one that is sent as it is.
        moved: the parts behind, as they are now, with the lines under which they stand; empty before anything changed.
        at: number of the host's messages before them; 0 if they are to be placed anew, -1 at the end of the last message in front.
        replaced_in: the turn in which most of the prompt differed from the one before; below 0 if there was none.
    """

    stable: tuple[Parts | None, ...] = ()
    moved: Parts = ()
    at: int = 0
    replaced_in: int = -2

    @property
    def text(self) -> str:
        """What is sent behind, as one text; empty if there is nothing."""
        return as_text(self.moved)

    @property
    def text_apart(self) -> str:
        """The same, of a message of its own; empty if it has none."""
        return self.text if self.at >= 0 else ""

    def front(self, message: int) -> str | None:
        """Return the text in front of one of the messages; ``None`` if it is sent as it is."""
        parts = self.stable[message]
        if parts is None:
            return None
        text = "".join(parts)
        last = max((i for i, each in enumerate(self.stable) if each), default=0)
        is_last = self.at < 0 and message == last and self.moved
        return f"{text.rstrip()}\n\n{self.text}" if is_last else text

    def after(self, prompts: Sequence[str | None], *, turn: int) -> Self:
        """Return the prompt after that of another turn; ``None`` stands for a message that is always sent as it is."""
        parts = [None if text is None else tuple(parts_of(text)) for text in prompts]
        if [each is None for each in parts] != [each is None for each in self.stable]:
            return self._anew(parts, self.replaced_in)
        old, new = keys_of(self.stable), keys_of(parts)
        kept, stays = set(range(len(old))), found_in(old, new)
        if len(stays) < len(old):
            kept = {run.old + i for run in aligned(old, new) for i in range(run.length)}
            stays = found_in([old[i] for i in sorted(kept)], new)
            if not self._goes_on(old, new, kept, stays, turn):
                return self._anew(parts, turn)
        numbers = iter(range(len(old)))
        stable = tuple(
            each if each is None else tuple(p for p in each if next(numbers) in kept)
            for each in self.stable
        )
        return type(self)(
            stable=stable,
            moved=tuple(chain(*moved_of(parts, stays))),
            at=self.at,
            replaced_in=self.replaced_in,
        )

    def _anew(self, parts: Sequence[Parts | None], replaced_in: int) -> Self:
        """Return a prompt that is sent as it is."""
        return type(self)(stable=tuple(parts), replaced_in=replaced_in)

    def _goes_on(
        self, old: "Keys", new: "Keys", kept: set[int], stays: set[int], turn: int
    ) -> bool:
        """Whether this is the same prompt with other values.

        Most of its words are the same; or it begins alike, and most of it has differed in the turn before as well. Of its
        first message something stays: that is the one that hosts keep apart from the others.
        """
        if not any(old[i][0] == old[0][0] for i in kept):
            return False
        if turn - self.replaced_in <= 1 and 0 in kept and 0 in stays:
            return True
        words = Counter(chain(*(WORD.findall(key) for _, key in old)))
        lost = Counter(chain(*(WORD.findall(k) for i, (_, k) in enumerate(old) if i not in kept)))
        came = Counter(chain(*(WORD.findall(k) for i, (_, k) in enumerate(new) if i not in stays)))
        same = words.total() - lost.total() + (lost & came).total()
        return same >= SAME_FRACTION * words.total()


def as_text(moved: Sequence[str]) -> str:
    """Return the text in which these parts are sent; empty if there are none."""
    return "\n".join([OPENING, *moved, CLOSING]) if moved else ""


Keys = list[tuple[int, str]]
"""Of each part the message that has it, and its text without blanks at the end."""


def keys_of(stable: Sequence[Parts | None]) -> Keys:
    """Return the keys of the parts of all messages, by which they are compared."""
    return [(at, part.rstrip()) for at, parts in enumerate(stable) for part in parts or ()]


def found_in(some: Keys, keys: Keys) -> set[int]:
    """Return where the first keys stand that are these, in their order; as far as they are there."""
    found, wanted = set[int](), iter(some)
    key = next(wanted, None)
    for at, each in enumerate(keys):
        if each == key:
            found.add(at)
            key = next(wanted, None)
    return found


def moved_of(stable: Sequence[Parts | None], stays: set[int]) -> Iterator[Parts]:
    """Yield the parts that do not stay, each after the line under which it stands, where that stays and was not named yet."""
    numbers = iter(range(sum(len(parts or ()) for parts in stable)))
    for parts in stable:
        lead, is_next, named = "", False, ""
        for part in parts or ():
            text = part.rstrip()
            if next(numbers) in stays:
                lead, is_next = (text, True) if LEADS.match(text) else (lead, False)
                continue
            if lead and lead != named and (is_next or ITEM.match(part)):
                yield (f"(under “{lead.strip()}”)",)
                named = lead
            yield (text,)


def parts_of(text: str) -> Iterator[str]:
    """Yield the parts of a prompt, which joined are the prompt: sentences, and elements with all their lines.

    An element is what stands between a tag that opens a line and its end, or in a fence; one that is most of the prompt is
    read by its sentences. Blank lines belong to the part before them.
    """
    part, is_begun = list[str](), False
    for each in pieces_of(text):
        is_text = not each.isspace()
        if is_begun and is_text:
            yield "".join(part)
            part = []
        is_begun |= is_text
        part.append(each)
    if part:
        yield "".join(part)


def pieces_of(text: str) -> Iterator[str]:
    """Yield elements, sentences and blank lines."""
    lines = [read(line) for line in text.splitlines(keepends=True)]
    starts, ends = [0, *accumulate(line.chars for line in lines)], dict[str, list[int]]()
    for at, line in enumerate(lines):
        for name in line.ends:
            ends.setdefault(name, []).append(at)
    at = 0
    while at < len(lines):
        stop = end_of(lines[at].opens, at, ends)
        if 0 < starts[stop] - starts[at] <= WHOLE_FRACTION * len(text):
            yield text[starts[at] : starts[stop]]
            at = stop
        else:
            yield from lines[at].sentences
            at += 1


class Line(NamedTuple):
    """A line: its sentences, the element or fence that it opens, and those that end in it."""

    chars: int
    sentences: Parts
    opens: str
    ends: tuple[str, ...]


@remembered(REMEMBERED)
def read(line: str) -> Line:
    """Read a line; most of them are those of the turn before."""
    opening = ELEMENT.match(line)
    return Line(
        chars=len(line),
        sentences=tuple(sentences_of(line)),
        opens=(opening[1] or opening[2]) if opening else "",
        ends=tuple(match[1] or match[2] for match in END.finditer(line)),
    )


def end_of(name: str, at: int, ends: Mapping[str, Sequence[int]]) -> int:
    """Return where the element of a name that begins in a line ends; the line itself if there is none."""
    known = ends.get(name, ()) if name else ()
    found = bisect_left(known, at + (name in FENCES))
    return known[found] + 1 if found < len(known) else at
