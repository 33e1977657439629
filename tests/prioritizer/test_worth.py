"""What a block is worth, whatever it says: the laws of any conversation."""

import os
import subprocess
import sys
from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.prioritizer.blocks.worth import HOTTEST, spread
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from support.units import read_all
from support.worth import spots_of, worth_of

MESSAGES = (transcripts() | broken_transcripts()).map(read_all)


@given(MESSAGES, st.data())
def test_more_kept_is_never_worth_more(messages: list[Message], data: st.DataObject) -> None:
    """A worth is not negative, and falls or stays with whatever is kept, blocks or units."""
    spots, worth = spots_of(messages), worth_of(messages)
    now = [worth.of(spot) for spot in spots]
    for spot in data.draw(st.lists(st.sampled_from(spots), max_size=9)) if spots else ():
        if data.draw(st.booleans()):
            worth.keep(spot)
        else:
            worth.keep_unit(spot.unit)
        before, now = now, [worth.of(spot) for spot in spots]
        assert all(0 <= after <= value for value, after in zip(before, now, strict=True))


@given(MESSAGES, st.data())
def test_the_order_in_which_blocks_were_kept_does_not_matter(
    messages: list[Message], data: st.DataObject
) -> None:
    """Nor does whether anything was asked in between."""
    spots, one, other = spots_of(messages), worth_of(messages), worth_of(messages)
    kept = data.draw(st.lists(st.sampled_from(spots), max_size=9)) if spots else []
    for spot in kept:
        one.keep(spot)
        one.of(spot)
    for spot in data.draw(st.permutations(kept)):
        other.keep(spot)
    assert [one.of(spot) for spot in spots] == [other.of(spot) for spot in spots]


def test_a_worth_is_the_same_in_each_process() -> None:
    """To the last bit: sets have another order in each, and what continues a saved state must choose alike."""
    code = """
        from autogen_context.view.decision import Candidate
        from autogen_context.messages.message import Message
        from autogen_context.prioritizer.blocks.references import References
        from autogen_context.messages.segment import segment
        from autogen_context.messages.piece import Verbatim
        from autogen_context.prioritizer.blocks.worth import Spot, Worth

        text = "".join(f"Flight HAT{i:03} from a{i} to b_{i} at {i * 7 % 24}:00 for {i * 31}. " for i in range(99))
        roles = ("user", "assistant", "user")
        messages = [Message(role=role, text=text[i * 500:]) for i, role in enumerate(roles)]
        candidates = [
            Candidate(unit=unit, pieces=(Verbatim(start=unit.start, stop=unit.stop),), tokens=9)
            for unit in segment(messages)
        ]
        references = References()
        references.follow(candidates, messages)
        worth = Worth(references, room_tokens=100)
        print([worth.of(Spot(unit, 0, block)) for unit in range(3) for block in range(9)])
    """
    said = {
        subprocess.check_output(  # noqa: S603  our own code
            [sys.executable, "-c", dedent(code)], env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in "123"
    }
    assert len(said) == 1


@given(st.lists(st.floats(0, HOTTEST), max_size=40))
def test_heat_spreads(heat: list[float]) -> None:
    """No block gets colder, nearer ones get more, and all of it stays within three times the hottest."""
    passed = spread(heat)
    assert len(passed) == len(heat)
    for own, now in zip(heat, passed, strict=True):
        assert own <= now <= 3 * HOTTEST
    alone = spread([0.0] * 5 + [1.0] + [0.0] * 5)
    assert alone[:6] == sorted(alone[:6])
    assert alone[5:] == sorted(alone[5:], reverse=True)
    assert alone[6] > alone[4] > 0
