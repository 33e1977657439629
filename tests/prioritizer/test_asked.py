"""What blocks are worth to somebody who asks for the past: the best answers stay whole."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.prioritizer.blocks.asked import AnswerWorth
from autogen_context.prioritizer.blocks.fill import Filler
from autogen_context.prioritizer.blocks.references import References
from autogen_context.prioritizer.blocks.worth import Spot
from autogen_context.testing.transcripts import transcripts
from support.counting import METER
from support.units import candidates_of, read_all

MESSAGES = transcripts(max_messages=12).map(read_all)
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def read(messages: Sequence[Message]) -> References:
    """What stands in these messages."""
    references = References()
    references.follow(candidates_of(messages), messages)
    return references


def talk(turns: int, *, longer: Sequence[int] = ()) -> list[Message]:
    """Messages of one length; some are about twice as long."""
    texts = [
        f"In year {1000 + n} we sailed to an island that nobody had seen" for n in range(turns)
    ]
    texts = [f"{text}, and stayed there for the winter" for text in texts]
    return [
        Message(role="user", text=f"{text}, {text.lower()}." if n in longer else f"{text}.")
        for n, text in enumerate(texts)
    ]


def stays(messages: Sequence[Message], scores: Sequence[float], room_tokens: int) -> list[int]:
    """Which messages stay whole."""
    references = read(messages)
    worth = AnswerWorth(references, scores)
    decided = Filler(references, METER, worth).fill({}, room_tokens)
    return sorted(i for i, decision in decided.items() if decision.action == "keep")


@given(MESSAGES, SCORES)
def test_a_worth_is_that_of_the_block_alone(messages: list[Message], scores: list[float]) -> None:
    """Never negative, and what was kept before changes nothing."""
    references = read(messages)
    worth, other = AnswerWorth(references, scores), AnswerWorth(references, scores)
    for i, unit in enumerate(references.units):
        for p, passage in enumerate(unit.passages):
            for b in range(len(passage.blocks)):
                spot = Spot(i, p, b)
                assert worth.of(spot) == other.of(spot) >= 0
                other.keep(spot)
        other.keep_unit(i)


@given(st.permutations([n / 10 for n in range(10)]))
def test_the_best_answers_stay(scores: list[float]) -> None:
    """Of messages of one length those that score highest, as many as fit."""
    messages = talk(len(scores))
    room = 4 * METER.message(messages[0])
    best = sorted(range(len(scores)), key=lambda i: -scores[i])[:4]
    assert stays(messages, scores, room) == sorted(best)


def test_a_better_answer_is_worth_its_length() -> None:
    """What answers a little better stays, though it takes the room of two others."""
    messages = talk(8, longer=[3])
    scores = [0.5] * 3 + [0.51] + [0.5] * 4
    assert stays(messages, scores, METER.message(messages[3])) == [3]


def test_of_equal_answers_the_newer_ones_stay() -> None:
    """Also where nothing answers."""
    messages = talk(6)
    for score in (0.0, 0.5):
        room = 2 * METER.message(messages[0])
        assert stays(messages, [score] * len(messages), room) == [4, 5]
