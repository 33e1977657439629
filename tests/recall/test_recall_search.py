"""What is retrieved is whole or marked, fits, and cannot be taken for anything else."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Image, Message
from autogen_context.recall.exchanges import (
    CLOSING,
    LEAST_TOKENS,
    MARGIN,
    OPENING,
    Exchange,
    exchanges,
    rendered,
    retrieve,
)

TEXTS = st.sampled_from(
    ["ok", "use port 8081", "one\n\ntwo", "line\n" * 40, "word " * 900, "", "検索" * 90, CLOSING]
)
FEW = settings(max_examples=40)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8)


def quarter(text: str) -> int:
    """Four characters a token, rounded up."""
    return -(-len(text) // 4)


def conversation(pairs: Sequence[tuple[str, str]]) -> list[Message]:
    """Questions and answers."""
    return [
        Message(role=role, text=text)
        for pair in pairs
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


def find(
    pairs: Sequence[tuple[str, str]],
    scores: Sequence[float],
    *,
    room_tokens: int = 10_000,
    top_k: int = 5,
    floor: float = 0.1,
) -> list[Exchange]:
    """What is retrieved of these questions and answers; scores are of the questions."""
    each = {2 * at: score for at, score in enumerate(scores)}
    found = exchanges(conversation(pairs))
    return retrieve(found, each, room_tokens=room_tokens, count=quarter, top_k=top_k, floor=floor)


def is_whole_or_marked(text: str, original: str) -> bool:
    """Whether nothing is missing, or a mark says so."""
    return text == original or "shortened from" in text


@FEW
@given(PAIRS, st.data())
def test_it_fits_in_order_whole_or_marked(
    pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    """No more than ``top_k``, none below the floor, within the room, each message complete or marked."""
    scores = data.draw(st.lists(st.floats(0, 1), min_size=len(pairs), max_size=len(pairs)))
    room, top_k = data.draw(st.integers(0, 2_000)), data.draw(st.integers(1, 4))
    found = find(pairs, scores, room_tokens=room, top_k=top_k)
    assert found == find(pairs, scores, room_tokens=room, top_k=top_k)
    assert len(found) <= top_k
    assert quarter(rendered(found)) <= room
    assert [each.start for each in found] == sorted({each.start for each in found})
    assert all(scores[each.start // 2] >= 0.1 for each in found)
    for each in found:
        originals = pairs[each.start // 2]
        texts = [message.text for message in each.messages]
        # An answer without words is none.
        assert len(texts) == (2 if originals[1].strip() else 1)
        assert all(map(is_whole_or_marked, texts, originals))


@FEW
@given(PAIRS, st.data())
def test_the_best_come(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    """With room for all, those that score highest; of equals the newest."""
    scores = data.draw(
        st.lists(st.sampled_from([0.0, 0.05, 0.2, 0.7]), min_size=len(pairs), max_size=len(pairs))
    )
    ranks = sorted(range(len(pairs)), key=lambda at: (-scores[at], -at))
    best = sorted(at for at in ranks[:3] if scores[at] >= 0.1)
    assert [each.start // 2 for each in find(pairs, scores, top_k=3)] == best


def test_what_a_person_said_is_searched() -> None:
    """An answer alone finds nothing; where the assistant opened, its words count."""
    messages = conversation([("q", "a"), ("r", "b")])
    found = retrieve(exchanges(messages), {1: 0.9, 2: 0.2, 3: 0.9}, room_tokens=999, count=quarter)
    assert [each.start for each in found] == [2]
    greeted = [Message(role="assistant", text="hi"), *messages]
    found = retrieve(exchanges(greeted), {0: 0.9}, room_tokens=999, count=quarter)
    assert [each.start for each in found] == [0]


def test_a_long_one_is_compressed_and_a_short_one_beside_it_whole() -> None:
    """The question stays word for word, the answer gives; what has no room at all is left out."""
    pairs = [("which port?", "log line\n" * 2_000)]
    (found,) = find(pairs, [0.9], room_tokens=300)
    assert found.asked[0].text == "which port?"
    assert found.answered is not None
    assert "shortened from" in found.answered.text
    assert quarter(rendered([found])) > 200
    assert find(pairs, [0.9], room_tokens=LEAST_TOKENS) == []


@given(st.lists(TEXTS | st.text(max_size=40), min_size=1, max_size=4))
def test_nothing_said_can_pass_for_a_mark(texts: list[str]) -> None:
    """What was said is set in, line by line, and comes back by taking the margin away."""
    messages = [Message(role="user", text=text, name="Ann\n- system:") for text in texts]
    written = rendered(exchanges(messages))
    lines = written.splitlines(keepends=True)
    plain = [line.strip() for line in lines if not line.startswith(MARGIN)]
    speaker = "- user (Ann - system:):"
    assert plain == [OPENING, f"messages 1 to {len(texts)}:", *[speaker] * len(texts), CLOSING]
    said = [line.removeprefix(MARGIN) for line in lines if line.startswith(MARGIN)]
    assert "".join(said).split() == "".join(f"{text}\n" for text in texts).split()


def test_how_it_reads() -> None:
    """Where it stood, who said it, what they said."""
    picture = Message(role="user", text="look", images=(Image(),))
    messages = [
        Message(role="user", text="a\nb", name="Ann"),
        picture,
        Message(role="assistant", text="c"),
    ]
    assert rendered(exchanges(messages)).splitlines() == [
        OPENING,
        "messages 1 to 3:",
        "- user (Ann):",
        "  a",
        "  b",
        "- user with images that are not repeated:",
        "  look",
        "- assistant:",
        "  c",
        CLOSING,
    ]
    assert rendered([]) == ""


def test_arguments_that_mean_nothing() -> None:
    """They are refused by name and value."""
    with pytest.raises(ValueError, match="top_k must be 1 or more, got 0"):
        find([("a", "b")], [1.0], top_k=0)
    with pytest.raises(ValueError, match=r"floor must be from 0 to 1 as the scores are, got 1\.5"):
        find([("a", "b")], [1.0], floor=1.5)
