"""Fill a room with what older units have that is worth most.

Promise: what is chosen fits the room, by the count of what would be sent; a unit stays whole, in parts with marks, or
goes; and no unit grows.
"""

from collections.abc import Iterable, Mapping

from autogen_context.pipeline.choose import Offer, Selection, Values
from autogen_context.pipeline.decision import Decision, kept, replaced
from autogen_context.pipeline.extract import Kept, Passage, extracted
from autogen_context.pipeline.fit import index_of
from autogen_context.pipeline.measure import Meter
from autogen_context.pipeline.piece import Written
from autogen_context.pipeline.references import References, UnitText
from autogen_context.pipeline.worth import Spot


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
        offers = {
            i: self._offer(unit) for i, unit in enumerate(self._units) if i not in taken
        }
        spots = Selection(offers, worth=self._worth, room_tokens=room_tokens).choose()
        return self._within(spots, room_tokens)

    def _offer(self, unit: UnitText) -> Offer:
        passages = [self._block_tokens(unit, passage) for passage in unit.passages]
        frame = unit.candidate.tokens - sum(map(sum, passages))
        return Offer(frame_tokens=max(0, frame), passages=passages)

    def _block_tokens(self, unit: UnitText, passage: Passage) -> list[int]:
        """The tokens of each block, as if they were spread evenly over the text: nothing is counted twice."""
        message = unit.messages[passage.message]
        if passage.place == "text":
            whole = message.text
        elif passage.place == "result":
            whole = message.results[passage.index].text
        else:
            whole = message.calls[passage.index].arguments
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
        tokens = sum(decision.tokens_after for decision in decisions.values())
        while tokens > room_tokens:
            last = spots.pop()
            tokens -= decisions.pop(last.unit).tokens_after
            stays[last.unit][last.passage].discard(last.block)
            if any(stays[last.unit].values()):
                decisions[last.unit] = self._decision(self._units[last.unit], stays[last.unit])
                tokens += decisions[last.unit].tokens_after
        return decisions


def by_unit(spots: Iterable[Spot]) -> dict[int, dict[int, set[int]]]:
    """The blocks of each unit, by passage."""
    units: dict[int, dict[int, set[int]]] = {}
    for spot in spots:
        units.setdefault(spot.unit, {}).setdefault(spot.passage, set()).add(spot.block)
    return units
