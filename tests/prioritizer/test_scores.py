"""What a block scores: the laws of any conversation, what raises a value, what else counts, and who scores otherwise."""

import json
import os
import subprocess
import sys
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.extract import fill
from autogen_context.messages.message import Message
from autogen_context.prioritizer.prioritizer import BlockAt, answer_scores
from autogen_context.prioritizer.record import ConversationRecord
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from support.counting import COUNTER
from support.scoring import PAUSE, asks, blocks_in, references_of, returns, says, scores_of, steps
from support.units import read_all

MESSAGES = (transcripts(max_messages=20) | broken_transcripts()).map(read_all)
FEW = settings(max_examples=30)
FIRST, SECOND, THIRD = (BlockAt(unit, 0, 0) for unit in (1, 2, 3))


@FEW
@given(MESSAGES, st.data())
def test_more_kept_never_scores_more(messages: list[Message], data: st.DataObject) -> None:
    """A score is not negative, and falls or stays with whatever is kept, in whatever order."""
    blocks, scores, other = blocks_in(messages), scores_of(messages), scores_of(messages)
    now = [scores.score(at) for at in blocks]
    keep = data.draw(st.lists(st.sampled_from(blocks), max_size=9)) if blocks else []
    for at in keep:
        scores.keep(at)
        before, now = now, [scores.score(at) for at in blocks]
        assert all(0 <= after <= score for score, after in zip(before, now, strict=True))
    for at in data.draw(st.permutations(keep)):
        other.keep(at)
    assert [other.score(at) for at in blocks] == now


def test_a_score_is_the_same_in_each_process() -> None:
    """To the last bit: sets have another order in each, and what continues a saved state must choose alike."""
    code = """
        from support.scoring import asks, blocks_in, says, scores_of

        text = "".join(f"Flight HAT{i:03} from a{i} to b_{i} at {i * 7 % 24}:00 for {i * 31}. " for i in range(99))
        messages = [asks(text), says(text[500:]), asks(text[1000:])]
        scores = scores_of(messages, room=100)
        print([scores.score(at) for at in blocks_in(messages)])
    """
    said = {
        subprocess.check_output(  # noqa: S603  our own code
            [sys.executable, "-c", dedent(code)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for seed in "12"
    }
    assert len(said) == 1


@pytest.mark.parametrize(
    ("more", "less"),
    [
        pytest.param([says("see alpha_1")], [says("see other_1")], id="used again"),
        pytest.param([says("alpha_1")] * 2, [says("alpha_1"), says("b")], id="used twice"),
        pytest.param(
            returns("ok", arguments='{"id": "alpha_1"}'), returns("ok"), id="used in a call"
        ),
        pytest.param([asks("see alpha_1")], [asks("see other_1")], id="asked for"),
        pytest.param(steps(["b_1", "b_2"]), steps(["alpha_1", "alpha_1"]), id="rare"),
    ],
)
def test_what_raises_a_value(more: list[Message], less: list[Message]) -> None:
    """The block that introduced a value scores more for what came after it, without a word of its own changed."""
    introduced = [asks("go"), *returns("alpha_1")]
    one, other = (scores_of([*introduced, *later, *PAUSE]).score(FIRST) for later in (more, less))
    assert one > other


def test_one_of_many_alike_is_worth_less() -> None:
    """Of forty flights the model picks one; the one that it picked is worth what a value is."""
    listing = "".join(f"HAT{i:03} leaves\n" for i in range(100, 140))
    alone, many = ([asks("go"), *returns(text), *PAUSE] for text in ("HAT100 leaves\n", listing))
    first = BlockAt(1, 0, 0)
    per_value = scores_of(many).score(first) / len(
        references_of(many).units[1].texts[0].blocks[0].values
    )
    assert per_value < scores_of(alone).score(first) / 2
    kept = scores_of(many)
    kept.keep(first)
    assert kept.score(first) < scores_of(many).score(first) / 2
    picked = [asks("go"), *returns(listing), says("HAT101"), *PAUSE]
    assert scores_of(picked).score(first) > scores_of(many).score(first) * 1.5


def test_what_stands_among_what_is_kept_scores_little() -> None:
    """What else there is keeps its score."""
    messages = [asks("go"), *returns("alpha_1"), *returns("alpha_1"), *returns("beta_1"), *PAUSE]
    scores, before = scores_of(messages), scores_of(messages)
    scores.keep(FIRST)
    assert scores.score(SECOND) < before.score(SECOND) / 2
    assert scores.score(THIRD) == before.score(THIRD)


def test_age_counts() -> None:
    """Of equal blocks the newest scores most, and a larger room forgives age."""
    texts = [f"key_{letter} " + "x" * 400 for letter in "abcdefgh"]
    messages = [asks("go"), *steps(texts), *PAUSE]
    for room in (100, 10_000):
        found = scores_of(messages, room=room)
        scores = [found.score(BlockAt(i + 1, 0, 0)) for i in range(len(texts))]
        assert scores == sorted(scores)
        assert (scores[0] < scores[-1] / 1.5) == (room == 100)


def test_a_line_that_an_edit_may_repeat_counts() -> None:
    """Less once it stands among what is kept; not in what was only said."""
    line = "return the whole and all of it\n"
    words = line.strip().replace(" ", "\n")
    scores = scores_of([asks("go"), *returns(line), *returns(words), *returns(line), *PAUSE])
    as_line, as_words, again = (scores.score(at) for at in (FIRST, SECOND, THIRD))
    assert as_line > as_words + 0.2
    scores.keep(FIRST)
    assert scores.score(THIRD) < again / 2
    said = scores_of([asks("go"), says(line), says(words), *PAUSE])
    assert said.score(FIRST) == pytest.approx(said.score(SECOND), rel=0.1)


def test_what_a_model_wrote_scores_more_than_what_it_read() -> None:
    """It writes it again; the block is the same. A search takes nothing of it."""
    text = "the words of alpha_1 and beta_2. " * 4
    read = [asks("go"), *returns(text), *returns("ok", arguments="{}")]
    wrote, searched, other = (
        [asks("go"), *returns("ok", arguments=json.dumps({"new": text}), name=name), *returns("ok")]
        for name in ("f", "grep", "g")
    )
    blocks = [BlockAt(1, p, 0) for p in (0, 1)]
    arguments = max(scores_of(wrote).score(at) for at in blocks if at in blocks_in(wrote))
    assert arguments > scores_of(read).score(FIRST)
    assert scores_of(searched).score(FIRST) == scores_of(other).score(FIRST) > 0


def test_what_a_search_gave_or_was_shown_again_scores_less() -> None:
    """P8: a file that was read again is the newer reading's to keep; what a search found is there to choose from."""
    first, again, other = (
        returns("alpha_1 and more\n" * 20, arguments=f'{{"path": "{path}"}}', name="read_file")
        for path in ("a.py", "a.py", "b.py")
    )
    shown = scores_of([asks("go"), *first, *again, *PAUSE]).score(FIRST)
    assert shown < scores_of([asks("go"), *first, *other, *PAUSE]).score(FIRST) / 2
    searched, did = (
        scores_of([asks("go"), *returns("alpha_1 is beta_2\n" * 3, name=name), *PAUSE]).score(FIRST)
        for name in ("grep", "f")
    )
    assert searched == pytest.approx(did / 2)


# ---- for somebody who asks for the past


@FEW
@given(st.permutations([n / 10 for n in range(10)]))
def test_the_best_answers_stay(scores: list[float]) -> None:
    """Of messages of one length those that score highest, as many as fit."""
    text = (
        "In year {} we sailed to an island that nobody had seen, and stayed there for the winter."
    )
    messages = [asks(text.format(1000 + n)) for n in range(len(scores))]
    references, room = references_of(messages), 4 * COUNTER.message(messages[0])
    answers = answer_scores(ConversationRecord(references), dict(enumerate(scores)))
    every = references.considered
    found = fill(
        references,
        every,
        taken={},
        scores=answers,
        counter=COUNTER,
        compressor=SemanticCompressor(),
        room_tokens=room,
    )
    decided = found.stays
    whole = sorted(i for i, decision in decided.items() if decision.action == "keep")
    assert whole == sorted(sorted(range(len(scores)), key=lambda i: -scores[i])[:4])
