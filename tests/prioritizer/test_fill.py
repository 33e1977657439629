"""A room filled with what older units have that is worth most: whole, in parts with marks, or not at all."""

from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Verbatim, Written, messages_of
from autogen_context.prioritizer.blocks.fill import Filler, by_unit
from autogen_context.prioritizer.blocks.references import References
from autogen_context.prioritizer.blocks.worth import Spot, Worth
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.tokens.measure import Count, Meter
from autogen_context.view.decision import Decision, kept
from support.counting import METER, OVERHEADS
from support.units import candidates_of, read_all

MESSAGES = (transcripts(max_messages=20) | broken_transcripts()).map(read_all)
ROOMS = st.integers(0, 1_500)


def filled(
    messages: Sequence[Message], room: int, taken: Sequence[int] = (), meter: Meter = METER
) -> Mapping[int, Decision]:
    """What is under test."""
    candidates = candidates_of(messages)
    references = References()
    references.follow(candidates, messages)
    worth = Worth(references, room_tokens=room)
    decided = {i: kept(candidates[i], "taken") for i in taken}
    return Filler(references, meter, worth).fill(decided, room)


@given(MESSAGES, ROOMS, st.data())
def test_what_is_chosen_fits(messages: list[Message], room: int, data: st.DataObject) -> None:
    """Counted as it is sent; of units that were open; and the same again."""
    units = range(len(candidates_of(messages)))
    taken = [i for i in units if data.draw(st.booleans())]
    decisions = filled(messages, room, taken)
    assert sum(decision.tokens_after for decision in decisions.values()) <= room
    assert decisions.keys() <= set(units) - set(taken)
    for decision in decisions.values():
        said = messages_of(decision.pieces, messages)
        assert decision.tokens_after == sum(map(METER.message, said))
    assert filled(messages, room, taken) == decisions


@given(MESSAGES, ROOMS)
def test_no_unit_grows(messages: list[Message], room: int) -> None:
    """Each is as it came in, or has fewer tokens, a reason and a handle."""
    candidates = candidates_of(messages)
    for i, decision in filled(messages, room).items():
        if decision.action == "shorten":
            assert decision.tokens_after < decision.tokens_before == candidates[i].tokens
            assert decision.handle
            assert "blocks are worth their tokens" in decision.reason
        else:
            assert decision == kept(candidates[i], decision.reason)


@given(MESSAGES, ROOMS)
def test_pairs_stay_closed(messages: list[Message], room: int) -> None:
    """A unit in parts has a piece for each message, in order, with the same calls and results."""
    candidates = candidates_of(messages)
    for i, decision in filled(messages, room).items():
        before = messages_of(candidates[i].pieces, messages)
        after = messages_of(decision.pieces, messages)
        assert list(map(frame_of, after)) == list(map(frame_of, before))
        for piece, came in zip(decision.pieces, candidates[i].pieces, strict=True):
            index = came.start if isinstance(came, Verbatim) else came.index
            assert piece == came or (isinstance(piece, Written) and piece.index == index)


def frame_of(message: Message) -> list[object]:
    """What of a message never gives."""
    calls = [(call.id, call.name) for call in message.calls]
    return [message.role, message.name, calls, [r.call_id for r in message.results]]


@given(MESSAGES)
def test_with_room_for_all_all_stays_whole(messages: list[Message]) -> None:
    """What has a text that could be cut is kept as it came in."""
    candidates = candidates_of(messages)
    room = 2 * sum(candidate.tokens for candidate in candidates) + 10_000
    decisions = filled(messages, room)
    for i, candidate in enumerate(candidates):
        if any(message.text for message in messages_of(candidate.pieces, messages)):
            assert decisions[i].pieces == candidate.pieces


class Uneven:
    """A token for each digit, and for each twenty of the other characters: what is named costs more than the rest."""

    def __init__(self) -> None:
        self.characters = 0

    def count(self, text: str, /) -> Count:
        """Tokens of a text; it remembers how much it was asked for."""
        self.characters += len(text)
        return Count(tokens=sum(map(str.isdigit, text)) + len(text) // 20, source="estimate")


def uneven_messages(rows: int) -> list[Message]:
    """Prose and numbers in turn, so that what is worth most costs more than it seems to."""
    prose = "the rest of it goes on. " * 25
    numbers = (" ".join(str(i * 7_919 + n) for n in range(80)) for i in range(rows))
    text = "".join(f"{prose}\n\n{row}\n\n" for row in numbers)
    return [
        Message(role="user", text="go"),
        Message(role="assistant", text=text),
        Message(role="assistant", text="7919"),
    ]


def filled_tokens(messages: Sequence[Message], room: int) -> int:
    """What is kept of the second message, where tokens are uneven."""
    decisions = filled(messages, room, taken=(0, 2), meter=Meter(Uneven(), OVERHEADS))
    return sum(decision.tokens_after for decision in decisions.values())


@settings(max_examples=60)
@given(st.integers(0, 5_000))
def test_where_the_estimate_is_too_low_the_last_blocks_go(room: int) -> None:
    """A text whose worth stands where its tokens are fits as well, and fills half of the room at least."""
    assert room / 2 - 400 <= filled_tokens(uneven_messages(10), room) <= room


def test_it_fits_to_the_token() -> None:
    """With a token less than what was chosen for a room, something of it goes."""
    messages = uneven_messages(10)
    tokens = filled_tokens(messages, 3_000)
    for room in range(tokens - 9, tokens):
        assert filled_tokens(messages, room) <= room


def test_a_text_is_not_counted_once_for_each_block_that_goes() -> None:
    """However far off the estimate is, what is counted is a few times the text."""
    messages, counter = uneven_messages(60), Uneven()
    meter = Meter(counter, OVERHEADS)
    filled(messages, int(0.45 * meter.message(messages[1])), taken=(0, 2), meter=meter)
    assert counter.characters < 8 * len(messages[1].text)


@given(st.lists(st.builds(Spot, st.integers(0, 3), st.integers(0, 2), st.integers(0, 9))))
def test_spots_are_grouped(spots: list[Spot]) -> None:
    """By unit and passage, none lost."""
    assert {
        Spot(unit, passage, block)
        for unit, passages in by_unit(spots).items()
        for passage, blocks in passages.items()
        for block in blocks
    } == set(spots)
