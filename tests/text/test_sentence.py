"""Where sentences end, for everybody who asks."""

import pytest
from hypothesis import given

from autogen_context.text.sentence import sentences_of
from support.texts import TEXTS


@given(TEXTS)
def test_joined_they_are_the_text(text: str) -> None:
    """Every character is in one sentence, in its place; none is empty, and none goes on in the next line."""
    found = sentences_of(text)
    assert "".join(found) == text
    assert all(found)
    assert not any("\n" in each.strip() for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "Ring the bell approx. at 5 p.m. on Fri.| Then stop.",
        "It ended at 5 p.m.| The limit is 45.| Never go.",
        "i like it.| don't do y.| Stop!| don't.",
        '"Really?" he said.| We wait … and go.',
        "Dr. Who met Mr. X. Fine, e.g. there.",
        "3. Then on.| Am 3. März, z. B. um 5 Uhr.",
        "Всё.| «Ищи!»| Так т.д. иди.",
        "今日は。|「はい。」|明日",
        "one\n|two",
    ],
)
def test_what_ends_one(text: str) -> None:
    """No abbreviation, short form, initial or ordinal does, and nothing behind which the sentence goes on; a line's end does."""
    assert [each.rstrip(" ") for each in sentences_of(text.replace("|", ""))] == [
        each.strip(" ") for each in text.split("|")
    ]
