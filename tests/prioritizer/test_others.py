"""What a few units share with all others: as if each of the others had been kept, at the cost of the few."""

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.prioritizer.blocks.fill import Filler
from autogen_context.prioritizer.blocks.others import Others
from autogen_context.prioritizer.blocks.references import References
from autogen_context.prioritizer.blocks.worth import Worth
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.view.decision import kept
from support.counting import METER
from support.units import candidates_of, read_all

MESSAGES = (transcripts(max_messages=20) | broken_transcripts()).map(read_all)
ROOM = 400


@given(MESSAGES, st.data())
def test_keeping_what_is_shared_is_keeping_all_others(
    messages: list[Message], data: st.DataObject
) -> None:
    """The same blocks are chosen of span after span, with one count of everything."""
    candidates = candidates_of(messages)
    references = References()
    references.follow(candidates, messages)
    others, worth = Others(references.units), Worth(references, room_tokens=ROOM)
    for _ in range(3):
        few = [i for i in range(len(candidates)) if data.draw(st.booleans())]
        worth.keep_only(others.shared_with(few))
        chosen = Filler(references, METER, worth).choose(few, ROOM)
        beside = {i: kept(c, "") for i, c in enumerate(candidates) if i not in few}
        alone = Filler(references, METER, Worth(references, room_tokens=ROOM))
        assert chosen == alone.fill(beside, ROOM)


def test_what_is_shared() -> None:
    """What another unit has as well; what a person or the system prompt names keeps nothing of it small."""
    texts = [("assistant", "alpha_1 beta_2"), ("assistant", "beta_2 gamma_3"), ("user", "alpha_1")]
    messages = [Message(role=role, text=text) for role, text in texts]
    references = References()
    references.follow(candidates_of(messages), messages)
    others = Others(references.units)
    assert others.shared_with([0]).values == {"beta_2"}
    assert others.shared_with([0, 1]).values == frozenset()
    assert others.shared_with([2]).values == {"alpha_1"}
