"""A part of a text that is kept or left out whole: one record, whatever the text is split into.

Promise: a passage is never cut, and what is chosen fits the room by exact costs, each passage with those that it stands under.
Joined, passages keep their order, turns, lines and paragraphs.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from autogen_context.text.fit import CountText, fit

Author = Literal["system", "person", "assistant", "tool"]
PassageKind = Literal["sentence", "item", "heading", "block"]

MOST_MISSES = 40  # passages without room in a row behind which no more are looked at
# Rank of a passage that is kept only with one under it; finite, as it is in JSON.
ONLY_ABOVE = -1e18


class Speaker(NamedTuple):
    """The turn of a passage: its number, its opening as written (``[user] ``; empty without a name), and its author."""

    turn: int = 0
    opening: str = ""
    author: Author = "person"


class Form(NamedTuple):
    """How a sentence is written in its text: what it is, its bullet, the whitespace before it, and who says it.

    A heading, an empty line and a turn start a section.
    """

    kind: PassageKind = "sentence"
    lead: str = ""
    gap: str = ""
    speaker: Speaker = Speaker()
    section: int = 0


class Passage(NamedTuple):
    """A part of a text: a line, a few lines, a sentence, the head of a definition.

    Attributes:
        text: the part itself.
        rank: the passages of the highest rank are kept first.
        under: position of the passage that it stands under, which is kept with it; -1 if there is none.
        values: the values that it names.
        lines: its longer lines, stripped.
        form: how it is written, of a sentence, whose text is on one line.
    """

    text: str
    rank: float = 0.0
    under: int = -1
    values: frozenset[str] = frozenset()
    lines: tuple[str, ...] = ()
    form: Form = Form()

    @property
    def written(self) -> str:
        """The passage as the first of its turn."""
        _, lead, gap, speaker, _ = self.form
        border = "" if not speaker.opening or speaker.opening[-1].isspace() else gap or " "
        return f"{speaker.opening}{border}{lead}{self.text}"


def joined(passages: Iterable[Passage]) -> str:
    """Join sentences, in order: each turn starts with its role, line and paragraph breaks are kept."""
    parts: list[str] = []
    before: Form | None = None
    for passage in passages:
        form = passage.form
        if before is None or before.speaker != form.speaker:
            parts += ["\n" * (before is not None), passage.written]
        else:
            together = before.section == form.section and before.kind in {"sentence", "item"}
            gap = form.gap if together or "\n" in form.gap else "\n"
            parts += [gap, form.lead, passage.text]
        before = form
    return "".join(parts)


def chosen(
    passages: Sequence[Passage], *, room_tokens: int, count: CountText
) -> tuple[list[int], int]:
    """Return the positions of the passages of highest rank that fit, in order, and the tokens of their lines."""

    def cost(at: int) -> int:
        return sum(count(f"{line}\n") for line in passages[at].text.split("\n"))

    found = fit(
        (at for at, each in enumerate(passages) if each.rank > ONLY_ABOVE),
        room_tokens,
        cost=cost,
        score=lambda at: passages[at].rank,
        needs=lambda at: [passages[at].under] if passages[at].under >= 0 else (),
        most_misses=MOST_MISSES,
    )
    return sorted(found.kept), room_tokens - found.left
