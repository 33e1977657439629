"""What is in sight: a name is found exactly where it stands in a message."""

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.messages.piece import still_there
from autogen_context.recall.known import MOST_COUNTED, Sight, count_off, stands_in

NAMES = ["falcon", "staging-7", "src/app.py", "app.py", "ann's", "ann", "i\u0307d_1", "a.b", "b"]
MIXED = ["FALCON", "Ann's", "\u0130d_1", "ann's's", "falcon:"]
PARTS = [*NAMES, *MIXED, "-", ".", " ", "'", "x", "7", "(", '"', "=", "$", "\\", "\n"]
FILLERS = [Message(role="user", text=f"no {i}") for i in range(MOST_COUNTED + 1)]
said = st.lists(st.sampled_from(PARTS) | st.characters(), max_size=6).map("".join)
messages = said.map(lambda text: Message(role="user", text=text))
names = st.sampled_from(NAMES)


@given(st.lists(st.tuples(st.lists(messages, max_size=5), st.integers(0, 9)), max_size=6), names)
def test_a_name_is_in_sight_where_it_stands_in_a_message(
    steps: list[tuple[list[Message], int]], name: str
) -> None:
    """Whatever came into sight and went out of it in between."""
    sight, seen = Sight(), list[Message]()
    for more, kept in steps:
        seen = [*seen[:kept], *more]
        sight.follow(seen)
        assert (name in sight) == any(stands_in(one.text.lower(), name) for one in seen)


@given(st.lists(messages, max_size=8), names)
@example([Message(role="user", text="a.b a/b a:b a@b a#b a'b a-b")], "b")
@example([Message(role="user", text="(b)")], "b")
def test_a_name_is_found_in_much_that_comes_at_once(some: list[Message], name: str) -> None:
    """As in each message by itself, whatever stands beside it."""
    sight = Sight()
    sight.follow([*FILLERS, *some])
    assert (name in sight) == any(stands_in(one.text.lower(), name) for one in some)


@given(names)
def test_what_comes_at_once_and_what_comes_later(name: str) -> None:
    """Much that comes at once is one text; it is left where a part of it goes out of sight."""
    fillers = FILLERS[1:]
    named = Message(role="user", text=f"({name})")
    sight = Sight()
    steps = [
        (fillers, False),
        ([*fillers, named], True),
        ([named, *fillers], True),
        ([named, *fillers, fillers[0]], True),
        (fillers[:3], False),
        ([*fillers[:3], named], True),
        (fillers[:3], False),
    ]
    for seen, stands in steps:
        sight.follow(seen)
        assert (name in sight) == stands


@given(
    st.lists(messages, max_size=5), st.lists(messages, max_size=5), st.lists(messages, max_size=5)
)
def test_what_is_still_there(
    front: list[Message], one: list[Message], other: list[Message]
) -> None:
    """Messages at the front, the same ones or equal."""
    assert still_there([*front, *one], [*front, *other]) >= len(front)
    assert still_there(front, [*front, *other]) == len(front)


@given(st.lists(names), st.lists(names))
def test_counting_off_takes_back_what_was_counted(kept: list[str], gone: list[str]) -> None:
    """Names that are nowhere any more leave nothing behind."""
    counts = Counter([*kept, *gone])
    count_off(counts, gone)
    assert dict(counts) == dict(Counter(kept))
