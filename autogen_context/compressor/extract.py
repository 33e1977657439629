"""Decide on units by the blocks that were chosen of them, each text cut by the compressor.

Promise: the decisions fit the room as they would be sent. A unit is kept whole, shortened with marks, or dropped; it keeps
names, ids and call-result pairs, valid JSON stays valid, and no text grows. A compressor of the user's own is asked to
shorten each text to the tokens of its chosen blocks; ours keeps these blocks.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

from autogen_context.budget.policy import Section
from autogen_context.compressor.protocol import Extracting
from autogen_context.messages.blocks import Place, PlacedText, with_texts
from autogen_context.messages.message import Message
from autogen_context.messages.piece import Written, index_of
from autogen_context.prioritizer.prioritizer import BlockAt, Scores
from autogen_context.prioritizer.references import References, UnitText
from autogen_context.prioritizer.selection import Selection, blocks_at, cost_of, sections_of
from autogen_context.text.fit import with_gaps
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Decision, Rank, Why, kept, replaced, tokens_of

NO_ROOM = "its best part did not fit the remaining room"

Kept = Mapping[int, Collection[int]]
"""Text of a unit -> its kept blocks, by position; texts that are not in it lose all blocks."""


class Unchosen(NamedTuple):
    """Why nothing of a unit stays, and how it stood."""

    reason: str
    rank: Rank


class Filled(NamedTuple):
    """Decisions on the units considered: those kept whole or in part, and why the others were dropped."""

    stays: Mapping[int, Decision]
    left: Mapping[int, Unchosen]


def fill(
    conversation: References,
    among: Iterable[int],
    *,
    taken: Mapping[int, Decision],
    scores: Scores,
    counter: MessageCounter,
    compressor: Extracting,
    room_tokens: int,
    shares: Mapping[Section, int] | None = None,
) -> Filled:
    """Decide on the units ``among`` that are not ``taken``, by their blocks; ``shares`` are what sections of the budget have."""
    units = conversation.units
    for i in taken:
        for at in () if units[i].named.is_sought else blocks_at(units[i], i):
            scores.keep(at)
    selection = Selection(
        {i: cost_of(units[i], counter) for i in among if i not in taken},
        scores=scores,
        room_tokens=room_tokens,
        sections={} if shares is None else sections_of(conversation),
        shares=shares,
    )
    stays = within(selection.choose(), units, room_tokens, counter, compressor)
    ranking = selection.ranking()
    least = min((ranking[i].score for i in stays), default=-1.0)
    less = f"what is kept has {least:.3g} a token or more"  # one string, shared
    left = {
        i: Unchosen(less if rank.score <= least else NO_ROOM, rank)
        for i, rank in ranking.items()
        if i not in stays
    }
    return Filled({i: replace(stays[i], rank=ranking[i]) for i in stays}, left)


def within(
    order: list[BlockAt],
    units: Sequence[UnitText],
    room_tokens: int,
    counter: MessageCounter,
    compressor: Extracting,
) -> dict[int, Decision]:
    """Return the decisions that keep these blocks, without the last ones if the estimate was too low."""
    stays: dict[int, dict[int, set[int]]] = {}
    for at in order:
        stays.setdefault(at.unit, {}).setdefault(at.text, set()).add(at.block)
    decisions = {i: decision_on(units[i], stays[i], counter, compressor) for i in stays}
    while (tokens := tokens_of(decisions)) > room_tokens:
        excess = ceil(len(order) * (tokens - room_tokens) / tokens)  # as if all had the same size
        gone = order[-excess:]
        del order[-excess:]
        for at in gone:
            stays[at.unit][at.text].discard(at.block)
        for i in {at.unit for at in gone}:
            del decisions[i]
            if any(stays[i].values()):
                decisions[i] = decision_on(units[i], stays[i], counter, compressor)
    return decisions


def decision_on(
    unit: UnitText, stays: Kept, counter: MessageCounter, compressor: Extracting
) -> Decision:
    """Return the decision that keeps some blocks of a unit, or all of it where that is as small."""
    candidate = unit.candidate
    short = extracted(unit.messages, unit.texts, stays, counter=counter, compressor=compressor)
    tokens = sum(map(counter.message, short))
    if tokens >= candidate.tokens:
        return kept(candidate, Why.SCORE)
    pieces = tuple(
        piece if after is before else Written(message=after, index=index_of(piece))
        for piece, before, after in zip(candidate.pieces, unit.messages, short, strict=True)
    )
    chosen = sum(map(len, stays.values()))
    detail = f"{chosen} of {len(unit.blocks)}"
    return replaced(candidate, "shorten", Why.BLOCKS, pieces, tokens, detail=detail)


def extracted(
    messages: Sequence[Message],
    texts: Sequence[PlacedText],
    stays: Kept,
    *,
    counter: MessageCounter,
    compressor: Extracting,
) -> tuple[Message, ...]:
    """Return the messages of a unit with what is sent for the kept blocks; unchanged messages are the same objects."""
    sent: dict[int, dict[tuple[Place, int, int], str]] = {}
    for i, text in enumerate(texts):
        blocks = [block.text for block in text.blocks]
        chosen = with_gaps(blocks, {at: blocks[at] for at in stays.get(i, ())})
        if len(chosen) < text.chars:
            short = compressor.extract("".join(blocks), chosen, count=counter.text)
            changed = sent.setdefault(text.message, {})
            changed[text.place, text.index, text.leaf] = short
    return tuple(
        with_texts(message, sent[i]) if i in sent else message for i, message in enumerate(messages)
    )
