"""Fill a room with what older units have that is worth most.

Promise: what is chosen fits the room, by the count of what would be sent; a unit stays whole, in parts with marks, or
goes; and no unit grows.
"""

from collections.abc import Iterable, Mapping
from math import ceil

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Written, index_of
from autogen_context.prioritizer.blocks.choose import Offer, Selection, Values
from autogen_context.prioritizer.blocks.extract import Kept, Passage, extracted
from autogen_context.prioritizer.blocks.references import References, UnitText
from autogen_context.prioritizer.blocks.worth import Spot
from autogen_context.tokens.measure import Meter
from autogen_context.view.decision import Decision, kept, replaced, tokens_of

Staying = dict[int, dict[int, set[int]]]
"""Of each unit, of each of its passages, the blocks that stay."""


class Filler:
    """Chooses among the units of a conversation.

    Args:
        references: the values of the conversation.
        meter: counts messages.
        worth: what blocks are worth.
    """

    def __init__(self, references: References, meter: Meter, worth: Values) -> None:
        self._units = references.units
        self._meter = meter
        self._worth = worth

    def fill(self, taken: Mapping[int, Decision], room_tokens: int) -> dict[int, Decision]:
        """Decide on units that are still open.

        Args:
            taken: what was decided on others, by position.
            room_tokens: what may be chosen.

        Returns:
            Decisions on those of which something stays.
        """
        for i in taken:
            if not (self._units[i].asked or self._units[i].told):  # what they name is sought after
                self._worth.keep_unit(i)
        open_ = [i for i in range(len(self._units)) if i not in taken]
        return self.choose(open_, room_tokens)

    def choose(self, units: Iterable[int], room_tokens: int) -> dict[int, Decision]:
        """Decide on some units, ascending; all else is as the worth has it."""
        offers = {i: self._offer(self._units[i]) for i in units}
        spots = Selection(offers, worth=self._worth, room_tokens=room_tokens).choose()
        return self._within(spots, room_tokens)

    def _offer(self, unit: UnitText) -> Offer:
        passages = [self._tokens(unit.messages[p.message], p) for p in unit.passages]
        frame = unit.candidate.tokens - sum(map(sum, passages))
        return Offer(frame_tokens=max(0, frame), passages=passages)

    def _tokens(self, message: Message, passage: Passage) -> list[int]:
        """Tokens of the blocks of a passage, as if those of its text were spread evenly over it: nothing is counted twice."""
        whole = whole_of(message, passage)
        rate = self._meter.text(whole) / len(whole)
        return [round(rate * len(block.text)) for block in passage.blocks]

    def _decision(self, unit: UnitText, stays: Kept) -> Decision:
        """A unit with some of its blocks; whole where that is no more."""
        candidate = unit.candidate
        short = extracted(unit.messages, unit.passages, stays)
        tokens = sum(map(self._meter.message, short))
        if tokens >= candidate.tokens:
            return kept(candidate, "worth its tokens")
        pieces = tuple(
            piece if after is before else Written(message=after, index=index_of(piece))
            for piece, before, after in zip(candidate.pieces, unit.messages, short, strict=True)
        )
        blocks = sum(len(passage.blocks) for passage in unit.passages)
        reason = f"{sum(map(len, stays.values()))} of {blocks} blocks are worth their tokens"
        return replaced(candidate, "shorten", reason, pieces, tokens)

    def _within(self, spots: list[Spot], room_tokens: int) -> dict[int, Decision]:
        """The decisions that keep these blocks; the last ones go where the estimate was too low."""
        stays = by_unit(spots)
        decisions = {i: self._decision(self._units[i], stays[i]) for i in stays}
        while (tokens := tokens_of(decisions)) > room_tokens:
            excess = ceil(len(spots) * (tokens - room_tokens) / tokens)  # as if blocks were alike
            for i in let_go(spots, stays, excess):
                del decisions[i]
                if any(stays[i].values()):
                    decisions[i] = self._decision(self._units[i], stays[i])
        return decisions


def let_go(spots: list[Spot], stays: Staying, blocks: int) -> set[int]:
    """Let the last blocks go; says of which units they were."""
    gone = spots[-blocks:]
    del spots[-blocks:]
    for spot in gone:
        stays[spot.unit][spot.passage].discard(spot.block)
    return {spot.unit for spot in gone}


def whole_of(message: Message, passage: Passage) -> str:
    """The text of a message that a passage is, or the arguments that it is in."""
    if passage.place == "text":
        return message.text
    if passage.place == "result":
        return message.results[passage.index].text
    return message.calls[passage.index].arguments


def by_unit(spots: Iterable[Spot]) -> Staying:
    """The blocks of each unit, by passage."""
    units: Staying = {}
    for spot in spots:
        units.setdefault(spot.unit, {}).setdefault(spot.passage, set()).add(spot.block)
    return units
