"""What people said, in the order in which it stays: what holds longest first.

Promise: pure. A message stays as it was written; of a long one, such as a paste, only the sentences that state something, with
marks between them. Whatever states nothing comes last, the newest first.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from autogen_context.ledger import Ledger
from autogen_context.ledger.rendering import RANKS
from autogen_context.messages.message import SYSTEM_ROLES, Message, without_images
from autogen_context.messages.people import is_strong, words_and_output
from autogen_context.messages.piece import Written, index_of, messages_of
from autogen_context.prioritizer.blocks import marked
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, Decision, kept, replaced

REASON = "a person said it"
REPEATED = 0.5  # of a message; with more that stands in newer ones, it says nothing of its own
STATES_NOTHING = 9  # the rank of a message that states nothing
BORDER = re.compile(r"(?:[.!?…](?=\s)|[。！？\n])\s*")  # noqa: RUF001 - as written in Chinese and Japanese

Ranks = Callable[[int], int]
"""How soon what a message states is given up, by its position: 0 for last, ``STATES_NOTHING`` where it states nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person said in a unit, as it would stay.

    Attributes:
        unit: position of the unit.
        rank: how soon it is given up.
        decision: the unit whole, or what it states.
    """

    unit: int
    rank: int
    decision: Decision

    @property
    def states(self) -> bool:
        """Whether it states something that still holds."""
        return self.rank < STATES_NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Reads what people said in one conversation.

    Attributes:
        ranks: what the message at a position states.
        stated: what of a text by a person holds.
        is_used: whether the model named since what a person names in a unit; that holds no longer than the work on it.
        counter: counts messages.
    """

    ranks: Ranks
    stated: Callable[[str], str]
    is_used: Callable[[int], bool]
    counter: MessageCounter

    def said(
        self,
        candidates: Sequence[Candidate],
        units: Sequence[int],
        messages: Sequence[Message],
        *,
        long_tokens: int,
    ) -> list[Said]:
        """What people said, what holds longest first.

        Args:
            candidates: n units.
            units: positions of those in which a person speaks.
            messages: all messages of the conversation.
            long_tokens: what a message may have to stay whole; a longer one is cut down to what it states.
        """
        found: list[Said] = []
        lines: set[str] = set()
        for i in reversed(units):
            candidate = candidates[i]
            if is_repeated(candidate.unit.messages[0].text, lines):
                continue
            rank = self.ranks(candidate.unit.start)
            strong = is_strong(candidate.unit.messages[0])
            if strong:  # as what a person prefers
                rank = min(rank, RANKS["preference"])
            if rank == STATES_NOTHING and is_carried_out(candidates, i):
                continue
            if rank > RANKS["constraint"] and not strong and self.is_used(i):
                continue
            if candidate.tokens <= long_tokens:
                found.append(Said(unit=i, rank=rank, decision=kept(candidate, REASON)))
            elif rank < STATES_NOTHING:
                before = candidates[i - 1].unit.messages[-1] if i else None
                brief = self._statements(candidate, before, messages)
                found += [Said(unit=i, rank=rank, decision=brief)] if brief else []
        return sorted(found, key=lambda said: (said.rank, -said.unit))

    def _statements(
        self, candidate: Candidate, before: Message | None, messages: Sequence[Message]
    ) -> Decision | None:
        """A message with the sentences alone that state something; ``None`` where that is all of it, or nothing."""
        [message, *others] = messages_of(candidate.pieces, messages)
        words, output = words_and_output(message, before)
        text = self.stated(words)
        if others or not text:
            return None
        text = marked(output) + text
        short = without_images(replace(message, text=text))
        tokens = self.counter.message(short)
        if tokens >= candidate.tokens:
            return None
        piece = Written(message=short, index=index_of(candidate.pieces[0]))
        return replaced(candidate, "shorten", f"{REASON}: what it states", (piece,), tokens)


def stated_in(text: str) -> str:
    """The sentences of a person's text that state something, with marks where others were; empty where none does."""
    parts: list[str] = []
    gap, found = "", False
    for sentence in sentences_of(text):
        if Ledger().learn_text(sentence):
            parts += [marked(gap), sentence]
            gap, found = "", True
        else:
            gap += sentence
    return "".join([*parts, marked(gap)]) if found else ""


def is_carried_out(candidates: Sequence[Candidate], i: int) -> bool:
    """Whether the model calls tools right behind a unit: what was asked for there is under way, or done."""
    behind = (candidate.unit.messages for candidate in candidates[i + 1 : i + 3])
    said = next((messages for messages in behind if messages[0].role not in SYSTEM_ROLES), ())
    return any(message.calls for message in said)


def is_repeated(text: str, lines: set[str]) -> bool:
    """Whether most of a text stands in others, of which these are the lines; notes its own."""
    own = [line for line in map(str.strip, text.splitlines()) if line]
    again = sum(len(line) for line in own if line in lines)
    lines.update(own)
    return again > REPEATED * sum(map(len, own))


def sentences_of(text: str) -> list[str]:
    """The sentences of a text with the space behind them; joined they are the text."""
    ends = [found.end() for found in BORDER.finditer(text)]
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)]) if start < end]
