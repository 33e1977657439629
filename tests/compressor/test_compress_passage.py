"""A text in passages: every word is there, and sentences are whole."""

from itertools import pairwise

import pytest
from hypothesis import given

from autogen_context.compressor.passage import joined, passages_of
from support.prose import REPORT, TEXTS
from support.texts import HOSTILE


@given(TEXTS)
def test_no_word_is_lost(text: str) -> None:
    """The words of the passages, with what opens turns and items, are the words of the text, in its order."""
    assert joined(passages_of(text)).split() == text.split()


@given(TEXTS)
def test_passages_know_where_they_stand(text: str) -> None:
    """Each stands at its place, behind the one before; a sentence on one line is there word for word."""
    passages = passages_of(text)
    for before, passage in pairwise(passages):
        assert before.end <= passage.start or passage.kind == "block"
    for passage in passages:
        assert text[passage.end - 1 : passage.end] == passage.text[-1:]
        stands = text[passage.start : passage.end]
        assert stands.split() == (passage.lead + passage.text).split() or "\n" in stands


@given(TEXTS)
def test_a_text_of_passages_is_read_the_same(text: str) -> None:
    """Written and read again, the passages say the same."""
    once = joined(passages_of(text))
    assert joined(passages_of(once)).split() == once.split()


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        pytest.param("One. Two! Three?", ["One.", "Two!", "Three?"], id="ends"),
        pytest.param("Wait... What?", ["Wait...", "What?"], id="dots"),
        pytest.param("See e.g. Figure 3. Then go.", ["See e.g. Figure 3.", "Then go."], id="e.g."),
        pytest.param("Dr. Who met Mr. X. Fine.", ["Dr. Who met Mr. X. Fine."], id="titles"),
        pytest.param("It costs 3.5 euros. Yes.", ["It costs 3.5 euros.", "Yes."], id="decimals"),
        pytest.param('He said "no." She left.', ['He said "no."', "She left."], id="quotes"),
        pytest.param("use a.py then b.py", ["use a.py then b.py"], id="files"),
        pytest.param("好。再见。完", ["好。", "再见。", "完"], id="no spaces"),
    ],
)
def test_sentences(line: str, sentences: list[str]) -> None:
    """They end with what ends sentences, not with what shortens words."""
    assert [passage.text for passage in passages_of(line)] == sentences


def test_a_wrapped_sentence_is_one() -> None:
    """A long line that goes on in small letters is not the end of its sentence; a new line or paragraph is."""
    text = "The parser reads the configuration before it\nopens the file. Then\nit runs.\n\nanother one"
    found = [passage.text for passage in passages_of(text)]
    assert found[0] == "The parser reads the configuration before it opens the file."
    assert found[-1] == "another one"
    assert len(passages_of("red\ngreen\nblue")) == 3


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("# Title", "heading"),
        ("What to do:", "heading"),
        ("-----", "heading"),
        ("- point", "item"),
        ("3. third", "item"),
        ("    x = 1", "block"),
        ("plain", "sentence"),
        ("-5 degrees", "sentence"),
    ],
)
def test_kinds(line: str, kind: str) -> None:
    """What a line is shows at its beginning."""
    assert [passage.kind for passage in passages_of(line)] == [kind]


def test_code_between_fences_is_one_passage() -> None:
    """Empty lines and what looks like sentences belong to it; without its end it goes to the end of the text."""
    text = "Run:\n```sh\nls\n\nA. B. C.\n```\nDone."
    assert [p.text for p in passages_of(text)] == ["Run:", "```sh\nls\n\nA. B. C.\n```", "Done."]
    assert [p.kind for p in passages_of("```\na\n\nb")] == ["block"]


def test_who_speaks() -> None:
    """A role at the beginning of a line opens a turn; other labels do not."""
    text = "[user] Hi. Go on.\n[ERROR] no role\nassistant: Yes.\nNote: no role"
    passages = passages_of(text)
    assert [(p.speaker.turn, p.speaker.author) for p in passages] == [
        *[(1, "person")] * 3,
        *[(2, "assistant")] * 2,
    ]
    assert joined(passages[1:]) == "[user] Go on.\n[ERROR] no role\nassistant: Yes.\nNote: no role"


def test_what_stays_is_laid_out_as_before() -> None:
    """Paragraphs stay apart, sentences of one paragraph stay together, those of two do not."""
    passages = passages_of(REPORT)
    assert "\n\n## Cause\n\nThe pool" in joined(passages)
    two = [p for p in passages if p.text.startswith(("Orders", "We had"))]
    assert joined(two).split("\n") == [p.text for p in two]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_takes_long(text: str) -> None:
    """A hundred thousand characters of the same are read, whatever they are."""
    assert "".join(joined(passages_of(text)).split()) == "".join(text.split())
