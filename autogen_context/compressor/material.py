"""Read a text for compression: the statements in it go into a ledger, what is left of it are passages.

Promise: a statement stands in the ledger or in the passages, never in both, and one that no longer holds in neither. A
text of ours is recognised by the ledger that it opens with, which is read back and goes on: nothing is summarised twice.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from autogen_context.compressor.passage import Passage, passages_of, speaker_in
from autogen_context.compressor.sense import sense_of
from autogen_context.ledger import Author, Ledger
from autogen_context.ledger.entry import AUTHORITIES
from autogen_context.ledger.rendering import TURN

BORDER = "\n\n"  # between the ledger and the rest; a rendered ledger ends at its first empty line
END = re.compile(rf"{BORDER}|\n(?={TURN})")  # of a ledger
WORD = re.compile(r"\w{2,}")
SURE = 0.45  # confidence of what leaves its place for the ledger
LEAST_WORDS = 4  # of what stands beside a statement in its sentence, for it to stay


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What there is to compress.

    Attributes:
        ledger: what is stated and holds.
        passages: the rest, in its order.
    """

    ledger: Ledger
    passages: list[Passage]

    @property
    def texts(self) -> list[str]:
        """All that holds: the statements, then the rest."""
        stated = [entry.text for entry in self.ledger]
        return stated + [passage.text for passage in self.passages]


def material_of(text: str, *, author: Author = "person") -> Material:
    """What a text has to be compressed.

    Args:
        text: any text; a transcript names who speaks at the beginning of lines.
        author: whose text it is, where it does not say.
    """
    ledger, rest = reopened(text)
    spans = ledger.learn_places(rest, author=author)
    return Material(ledger=ledger, passages=list(uncovered(passages_of(rest), rest, spans)))


def reopened(text: str) -> tuple[Ledger, str]:
    """The ledger that a text of ours opens with, and what follows it; an empty one and the text where it is not ours."""
    start = opening_end(text)
    if start is None:
        return Ledger(least_confidence=SURE), text
    head, rest = (*END.split(text[start:], maxsplit=1), "")[:2]
    ledger = Ledger.read(head, least_confidence=SURE)
    return (ledger, rest) if len(ledger) else (ledger, text)


def opening_end(text: str) -> int | None:
    """The place behind the speakers that a text opens with, of whom a text handed on again and again has several.

    ``None`` where one of them has no authority.
    """
    first = text.partition("\n")[0]
    end = 0
    while speaker := speaker_in(first[end:], turn=1):
        if speaker.author not in AUTHORITIES:
            return None
        end += len(speaker.opening)
    return end


def uncovered(
    passages: Iterable[Passage], text: str, spans: Sequence[tuple[int, int]]
) -> Iterator[Passage]:
    """What the passages say beside the spans; little that is left of a sentence goes with the rest of it."""
    remaining = sorted(spans)
    at = 0
    for passage in passages:
        while at < len(remaining) and remaining[at][1] <= passage.start:
            at += 1
        if at == len(remaining) or remaining[at][0] >= passage.end:
            yield passage
        elif passage.kind != "block":
            inside = [span for span in remaining[at : at + MOST_SPANS] if span[0] < passage.end]
            yield from beside(passage, text, inside)


MOST_SPANS = 50  # in one passage


def beside(passage: Passage, text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Passage]:
    """What a passage says beside its statements, if it says anything."""
    ends = [passage.start, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), passage.end]
    parts = [text[end:start] for end, start in zip(ends, starts, strict=True) if start > end]
    rest = " ".join(" ".join(parts).split()).strip(" ,;:.-")
    if len(WORD.findall(rest)) >= LEAST_WORDS and sense_of(rest).concepts:
        yield replace(passage, text=rest, lead="")
