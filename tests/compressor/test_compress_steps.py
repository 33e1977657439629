"""The five steps, each by itself: what goes, and what never does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.concepts import Holdings, concepts_of
from autogen_context.compressor.core import core_of, noted
from autogen_context.compressor.counting import Tally
from autogen_context.compressor.detail import abstracted, terse
from autogen_context.compressor.examples import BLOCK_LINES, with_short_examples
from autogen_context.compressor.passage import joined, passages_of
from autogen_context.compressor.redundancy import without_redundancy
from autogen_context.compressor.sections import (
    TELLING_WEIGHT,
    says_nothing_new,
    with_fewer_sentences,
)
from autogen_context.compressor.weigh import Weighed, total, weighed
from support.prose import REPORT, TEXTS, Letters

ROOMS = st.integers(-5, 600)


def deduplicated(text: str) -> str:
    """A text without redundancy."""
    return joined(without_redundancy(passages_of(text)))


def with_examples(text: str) -> str:
    """A text with short examples."""
    return joined(with_short_examples(passages_of(text)))


def entries_of(text: str, keep: tuple[str, ...] = ()) -> list[Weighed]:
    """The weighed passages of a text."""
    return weighed(passages_of(text), Tally(Letters()), keep)


@given(TEXTS)
def test_redundancy_costs_no_concept(text: str) -> None:
    """What is said once less is still said; a second time nothing goes."""
    once = deduplicated(text)
    has = Holdings(once).has
    rules = {"negation", "constraint"}
    assert all(has(concept) for concept in concepts_of(text) if concept.kind not in rules)
    assert (
        without_redundancy(passages_of(once)) == passages_of(once) or "  " in text or "\n" in once
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param("The build is green.\nthe  build is green.", "The build is green.", id="case"),
        pytest.param(
            "We moved the meeting to the large room upstairs. We have moved the meeting to the large room upstairs.",
            "We moved the meeting to the large room upstairs.",
            id="nearly the same",
        ),
        pytest.param(
            "The tall man went home with the dog. The tall man went home with a friend of the baker.",
            "The tall man went home with the dog. The tall man went home with a friend of the baker.",
            id="only half the same",
        ),
        pytest.param("}\nelse\n}", "}\nelse\n}", id="too short to say anything"),
        pytest.param(
            "## Notes\n\na\n\n## Notes\n\nb", "## Notes\n\na\n\n## Notes\n\nb", id="headings"
        ),
        pytest.param(
            "The cap for trips is 500 euros in all. The cap for trips is 900 euros in all.",
            "The cap for trips is 500 euros in all. The cap for trips is 900 euros in all.",
            id="another number",
        ),
        pytest.param(
            "The importer may write to the shared folder. The importer may not write to the shared folder.",
            "The importer may write to the shared folder. The importer may not write to the shared folder.",
            id="denied",
        ),
        pytest.param(
            "[user] Continue with the plan.\n[assistant] Done.\n[user] Continue with the plan.\n[assistant] Next is b.",
            "[user] Continue with the plan.\n[assistant] Done.\n[assistant] Next is b.",
            id="a whole turn",
        ),
    ],
)
def test_redundancy(text: str, left: str) -> None:
    """The first of several stays; another value, number or negation makes another statement."""
    assert deduplicated(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param(
            "It retries. For example, a lost mail is sent again. For instance, a lost file is copied again. It stops then.",
            "It retries. For example, a lost mail is sent again. [… 1 more example …] It stops then.",
            id="sentences",
        ),
        pytest.param(
            "Examples:\n- red\n- green\n- blue\n\nRules:\n- one\n- two",
            "Examples:\n- red [… 2 more examples …]\n\nRules:\n- one\n- two",
            id="a list",
        ),
        pytest.param("Take a fruit (e.g. a pear). Eat.", "Take a fruit. Eat.", id="in brackets"),
        pytest.param("For example, one.", "For example, one.", id="only one"),
    ],
)
def test_examples(text: str, left: str) -> None:
    """The first stays with a mark for the others; other lists stay as they are."""
    assert with_examples(text) == left


def test_a_long_block_keeps_its_ends() -> None:
    """A mark says how many lines went; a short block stays."""
    lines = [f"row {i}" for i in range(BLOCK_LINES - 2)]
    short = "\n".join(["```", *lines, "```"])
    assert with_examples(short) == short
    long = "\n".join(["```", *lines, "one more", "```"])
    assert with_examples(long).split("\n")[4:7] == ["row 3", "[… 5 lines …]", "row 9"]


@given(TEXTS, ROOMS)
def test_sentences_go_only_for_room(text: str, room: int) -> None:
    """All stay where all have room; what goes is whole and says nothing of its own; what stays is as it was, in order."""
    entries = entries_of(text)
    kept = with_fewer_sentences(entries, room)
    gone = [entry for entry in entries if entry not in kept]
    assert [entry for entry in entries if entry in kept] == kept
    for entry in gone:
        assert says_nothing_new(entry) or entry.passage.kind == "heading"
    if total(entries) <= room:
        assert not [entry for entry in gone if entry.passage.kind != "heading"]


def test_the_least_telling_sentence_goes_first() -> None:
    """Small talk before what the report is about, what has a value of its own never."""
    entries = entries_of(REPORT)
    kept = with_fewer_sentences(entries, total(entries) - 150)
    text = joined(entry.passage for entry in kept)
    assert "discussions" not in text
    assert "POOL_SIZE to 60" in text
    assert "## Cause" in text
    smallest = joined(entry.passage for entry in with_fewer_sentences(entries, 0))
    has = Holdings(smallest).has
    weighty = [c for c in concepts_of(REPORT) if c.weight >= TELLING_WEIGHT]
    assert all(map(has, weighty))


def test_of_plain_sentences_the_central_ones_stay() -> None:
    """Those with the words of the whole text, and what opens a section, before what stands alone."""
    middle = "The tide lifts boats when spring storms lift the tide."
    plain = [
        "Boats leave the harbour with the tide.",
        "Somebody sneezed rather loudly over there.",
        middle,
        "Somewhere a violin played quietly for ages.",
        "Harbour boats wait for the tide.",
    ]
    entries = entries_of(" ".join(plain))
    kept = with_fewer_sentences(entries, total(entries) - 60)
    assert [entry.passage.text for entry in kept] == [plain[0], middle, plain[-1]]
    alike = "Ants like warm sand. Bees like warm sand too.\n\nCats like warm sand still. Dogs like warm sand again."
    entries = entries_of(alike)
    kept = with_fewer_sentences(entries, total(entries) - 20)
    assert [entry.passage.text[:4] for entry in kept] == ["Ants", "Cats", "Dogs"]


def test_what_is_held_is_not_put_back() -> None:
    """Of a sentence that has no room only the clause whose value stands nowhere else."""
    tally = Tally(Letters())
    text = "Everybody agreed that alpha.example is what we want in the end; the proxy is beta.example. Use alpha.example."
    notes = noted(entries_of(text), tally)
    kept = core_of(notes, 50, tally)
    assert [entry.passage.text for entry in kept] == [
        "proxy is beta.example.",
        "Use alpha.example.",
    ]


def test_headings_go_with_what_stood_below() -> None:
    """A heading over nothing is left out."""
    text = "# One\n\nWe talked and talked for a while.\n\n# Two\n\nUse port 8081."
    kept = with_fewer_sentences(entries_of(text), 20)
    assert joined(entry.passage for entry in kept) == "# Two\n\nUse port 8081."


@given(TEXTS)
def test_details_are_no_concepts(text: str) -> None:
    """A shorter sentence has the values, numbers and negations of the long one, and is not longer."""
    for passage in passages_of(text):
        if passage.kind in {"sentence", "item"}:
            for short in (abstracted(passage.text), terse(passage.text)):
                has = Holdings(short).has
                assert len(short) <= len(passage.text)
                assert all(
                    has(c) for c in concepts_of(passage.text) if c.kind not in {"name", "quote"}
                )


@pytest.mark.parametrize(
    ("sentence", "short", "note"),
    [
        (
            "However, in order to start it, you actually need a key.",
            "To start it, you need a key.",
            "To start it, you need key.",
        ),
        (
            "The tests (which are slow) pass due to the fact that nothing is checked.",
            "The tests pass because nothing is checked.",
            "Tests pass because nothing is checked.",
        ),
        ("The limit (500 MB) holds.", "The limit (500 MB) holds.", "Limit (500 MB) holds."),
        ('Say "please, the key" now.', 'Say "please, the key" now.', 'Say "please, the key" now.'),
        (
            "Use tea rather than coffee.",
            "Use tea rather than coffee.",
            "Use tea rather than coffee.",
        ),
        ("It is very.", "It is very.", "It is very."),
        ("Please", "Please", "Please"),
        ("It is, of course, true.", "It is true.", "It is true."),
    ],
)
def test_details(sentence: str, short: str, note: str) -> None:
    """Fillers, long ways and asides go; what has a value or is quoted stays."""
    assert (abstracted(sentence), terse(sentence)) == (short, note)


@given(TEXTS, ROOMS)
def test_the_core_has_room(text: str, room: int) -> None:
    """What is kept costs no more than the room, and has only words of the text, in its order."""
    tally = Tally(Letters())
    notes = noted(entries_of(text), tally)
    kept = core_of(notes, room, tally)
    assert total(kept) <= max(0, room)
    words = set(joined(note.passage for note in notes).split())
    bare = {word.rstrip(",;:") for word in words}
    assert words | bare >= set(joined(entry.passage for entry in kept).split())
    starts = [entry.passage.start for entry in kept]
    assert starts == sorted(starts)


def test_the_core_is_what_says_most() -> None:
    """Of a report the values; small talk goes."""
    tally = Tally(Letters())
    notes = noted(entries_of(REPORT, keep=("customers",)), tally)
    text = joined(entry.passage for entry in core_of(notes, 260, tally))
    assert "POOL_SIZE" in text
    assert "business hours" in text
    assert "customers" in text
    assert "weather" not in text


def test_of_a_long_sentence_the_clause_with_the_value_stays() -> None:
    """Where the whole has no room; it is not put in other words."""
    tally = Tally(Letters())
    text = (
        "The deployment went on for most of the afternoon because everybody had to wait for somebody else;"
        " the port is 8081 now."
    )
    notes = noted(entries_of(text), tally)
    kept = core_of(notes, 40, tally)
    assert [entry.passage.text for entry in kept] == ["port is 8081 now."]
