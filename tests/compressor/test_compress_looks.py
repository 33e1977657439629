"""A cheap look at a sentence hides nothing that a costly one would find."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.chunk import Chunks, chunk_of, chunks_of
from autogen_context.compressor.passage import ITEM, item_in, passages_of
from support.prose import TEXTS

OPENINGS = st.sampled_from(
    ["-", "*", "•", "+", "1.", "12)", "(123)", "(a)", "Z.", "1234.", "\u0663.", "(", "ab)", "K."]
)


@given(TEXTS)
def test_chunks_are_those_of_the_text(text: str) -> None:
    """What several chunks have is what each of them has."""
    alone = [chunk_of(chunk) for chunk in text.split()]
    assert chunks_of(text) == Chunks(*zip(*alone, strict=True))


@given(OPENINGS, st.sampled_from([" ", "\t", "", "  "]), st.text(max_size=5))
def test_every_item_is_told(opening: str, blank: str, rest: str) -> None:
    """A line opens an item where its pattern says so."""
    line = f"{opening}{blank}{rest}".strip()
    found, match = item_in(line), ITEM.match(line)
    assert (found and found.group()) == (match and match.group())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("~~~\nx y\n~~~", "block", id="tildes"),
        pytest.param("\tx = 1", "block", id="a tab"),
        pytest.param("___", "heading", id="a line drawn"),
    ],
)
def test_every_sign_is_looked_at(text: str, kind: str) -> None:
    """A line is of the kind that its first signs tell."""
    assert [passage.kind for passage in passages_of(text)] == [kind]
