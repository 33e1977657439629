"""What a block is worth: what is named again, rare, new and not there anyway."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.pipeline.blocks.references import References
from autogen_context.pipeline.blocks.worth import FOCUS_UNITS, HOTTEST, Spot, Worth, spread
from autogen_context.pipeline.message import Message, ToolCall, ToolResult
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from support.units import candidates_of, read_all

MESSAGES = (transcripts() | broken_transcripts()).map(read_all)


def worth_of(messages: Sequence[Message], room: int = 10_000) -> Worth:
    """What the blocks of a conversation are worth."""
    return Worth(references_of(messages), room_tokens=room)


def references_of(messages: Sequence[Message]) -> References:
    """The values of a conversation."""
    references = References()
    references.follow(candidates_of(messages), messages)
    return references


def spots_of(messages: Sequence[Message]) -> list[Spot]:
    """All blocks of a conversation."""
    return [
        Spot(unit, passage, block)
        for unit, text in enumerate(references_of(messages).units)
        for passage, cut in enumerate(text.passages)
        for block in range(len(cut.blocks))
    ]


def says(text: str) -> Message:
    """A message of a model."""
    return Message(role="assistant", text=text)


def asks(text: str) -> Message:
    """A message of a person."""
    return Message(role="user", text=text)


def returns(text: str, *, arguments: str = "{}", name: str = "f") -> list[Message]:
    """A call with its result."""
    call = ToolCall(id="1", name=name, arguments=arguments)
    result = ToolResult(call_id="1", text=text)
    return [
        Message(role="assistant", calls=(call,)),
        Message(role="tool", results=(result,)),
    ]


def calls_of(names: Sequence[str]) -> list[Message]:
    """One step that calls these tools; each gives the same."""
    calls = [ToolCall(id=name + str(i), name=name, arguments="{}") for i, name in enumerate(names)]
    results = [ToolResult(call_id=call.id, text="alpha_1 is beta_2\n" * 3) for call in calls]
    return [
        Message(role="assistant", calls=tuple(calls)),
        *(Message(role="tool", results=(result,)) for result in results),
    ]


FOUND = Spot(1, 0, 0)  # what the first of them gives


def steps(texts: Iterable[str]) -> list[Message]:
    """Calls with these results."""
    return [message for text in texts for message in returns(text)]


PAUSE = [says("well")] * FOCUS_UNITS


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
        from autogen_context.pipeline.decision import Candidate
        from autogen_context.pipeline.message import Message
        from autogen_context.pipeline.blocks.references import References
        from autogen_context.pipeline.segment import segment
        from autogen_context.pipeline.piece import Verbatim
        from autogen_context.pipeline.blocks.worth import Spot, Worth

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
    """The block that introduced a value is worth more for what came after it, without a word of its own changed."""
    introduced = [asks("go"), *returns("alpha_1")]
    worths = [worth_of([*introduced, *later, *PAUSE]).of(Spot(1, 0, 0)) for later in (more, less)]
    assert worths[0] > worths[1]


def test_references_count() -> None:
    """Of blocks that are alike but for their values, those are worth most that later messages keep using."""
    rows = [f"row key_{letter} holds one thing and another" for letter in "abcdefgh"]
    messages = [asks("go"), *steps(rows), says("key_c"), says("key_f"), says("key_c"), *PAUSE]
    worth = worth_of(messages)
    values = {row: worth.of(Spot(i + 1, 0, 0)) for i, row in enumerate(rows)}
    best = sorted(values, key=values.__getitem__, reverse=True)
    assert best[:2] == [rows[2], rows[5]]
    assert values[rows[5]] > 1.15 * values[best[2]]


def test_what_stands_among_what_is_kept_is_worth_little() -> None:
    """Whether a block of it or a whole unit is kept; what else there is keeps its worth."""
    messages = [asks("go"), *returns("alpha_1"), *returns("alpha_1"), *returns("beta_1"), *PAUSE]
    same, other = Spot(2, 0, 0), Spot(3, 0, 0)
    by_block, by_unit, before = worth_of(messages), worth_of(messages), worth_of(messages)
    by_block.keep(Spot(1, 0, 0))
    by_unit.keep_unit(1)
    for worth in (by_block, by_unit):
        assert worth.of(same) < before.of(same) / 2
        assert worth.of(other) == before.of(other)


def test_the_newest_use_counts_most() -> None:
    """A use fades with the steps since; in the newest step it is what the work is about."""
    since = [
        worth_of([asks("go"), *returns("alpha_1"), says("alpha_1"), *[says("b")] * n])
        for n in range(12)
    ]
    assert all(a.weight("alpha_1") > b.weight("alpha_1") for a, b in pairwise(since))


@pytest.mark.parametrize(
    ("telling", "plain"),
    [("total_cents", "totalcents"), ("4711", "many"), ("src/app.py", "source")],
)
def test_a_telling_value_is_worth_more_than_a_word(telling: str, plain: str) -> None:
    """Words are everywhere."""
    messages = [asks("go"), *returns(telling), *returns(plain), *PAUSE]
    worth = worth_of(messages)
    assert worth.of(Spot(1, 0, 0)) > 2 * worth.of(Spot(2, 0, 0))


def test_what_the_system_prompt_has_anyway_is_worth_little() -> None:
    """It stays there, unless a person asks for it."""
    told = [Message(role="system", text="alpha_1"), *returns("alpha_1"), *PAUSE]
    untold = [Message(role="system", text="beta_1"), *returns("alpha_1"), *PAUSE]
    assert worth_of(told).weight("alpha_1") < worth_of(untold).weight("alpha_1") / 2
    asked = [asks("alpha_1"), *told]
    assert worth_of(asked).weight("alpha_1") > worth_of(untold).weight("alpha_1")


def test_one_of_many_alike_is_worth_less() -> None:
    """Of forty flights the model picks one; the one that it picked is worth what a value is."""
    listing = "".join(f"HAT{i:03} leaves\n" for i in range(100, 140))
    alone, many = ([asks("go"), *returns(text), *PAUSE] for text in ("HAT100 leaves\n", listing))
    first = Spot(1, 0, 0)
    per_value = worth_of(many).of(first) / len(
        references_of(many).units[1].passages[0].blocks[0].values
    )
    assert per_value < worth_of(alone).of(first) / 2
    kept = worth_of(many)
    kept.keep(first)
    assert kept.of(first) < worth_of(many).of(first) / 2
    picked = [asks("go"), *returns(listing), says("HAT101"), *PAUSE]
    assert worth_of(picked).of(first) > worth_of(many).of(first) * 1.5


def test_age_counts() -> None:
    """Of equal blocks the newest is worth most, and a larger room forgives age."""
    texts = [f"key_{letter} " + "x" * 400 for letter in "abcdefgh"]
    messages = [asks("go"), *steps(texts), *PAUSE]
    for room in (100, 10_000):
        worth = worth_of(messages, room=room)
        values = [worth.of(Spot(i + 1, 0, 0)) for i in range(len(texts))]
        assert values == sorted(values)
        assert (values[0] < values[-1] / 1.5) == (room == 100)


def test_what_was_shown_again_since_is_worth_little() -> None:
    """A file that was read again is the newer reading's to keep."""
    first, again, other = (
        returns("alpha_1 and more\n" * 20, arguments=f'{{"path": "{path}"}}', name="read_file")
        for path in ("a.py", "a.py", "b.py")
    )
    shown = worth_of([asks("go"), *first, *again, *PAUSE]).of(Spot(1, 0, 0))
    assert shown < worth_of([asks("go"), *first, *other, *PAUSE]).of(Spot(1, 0, 0)) / 2


def test_a_line_that_an_edit_may_repeat_is_worth_something() -> None:
    """More beside what is being worked on, less once it stands among what is kept; not in what was only said."""
    line = "return the whole and all of it\n"
    words = line.strip().replace(" ", "\n")
    worth = worth_of([asks("go"), *returns(line), *returns(words), *returns(line), *PAUSE])
    as_line, as_words, again = (worth.of(Spot(i, 0, 0)) for i in (1, 2, 3))
    assert as_line > as_words + 0.2
    worth.keep(Spot(1, 0, 0))
    assert worth.of(Spot(3, 0, 0)) < again / 2
    said = worth_of([asks("go"), says(line), says(words), *PAUSE])
    assert said.of(Spot(1, 0, 0)) == pytest.approx(said.of(Spot(2, 0, 0)), rel=0.1)


def test_what_a_model_wrote_is_worth_more_than_what_it_read() -> None:
    """It writes it again; the block is the same."""
    text = "the words of alpha_1 and beta_2. " * 4
    read = [asks("go"), *returns(text), *returns("ok", arguments="{}")]
    wrote = [asks("go"), *returns("ok", arguments=f'{{"new": "{text}"}}'), *returns("ok")]
    spots = [Spot(1, p, 0) for p in (0, 1)]
    arguments = max(worth_of(wrote).of(spot) for spot in spots if spot in spots_of(wrote))
    assert arguments > worth_of(read).of(Spot(1, 0, 0))


@pytest.mark.parametrize(
    ("names", "halved"),
    [
        pytest.param(["grep"], True, id="a search"),
        pytest.param(["grep", "list_files"], True, id="two searches"),
        pytest.param(["read_file"], False, id="a read"),
        pytest.param(["grep", "read_file"], False, id="a search and a read"),
        pytest.param(["f"], False, id="nobody knows what"),
    ],
)
def test_what_a_search_gave_is_worth_half(names: list[str], *, halved: bool) -> None:
    """What it found is there to choose from, and no edit repeats a list; where more was done nothing is taken away."""
    unknown = worth_of([asks("go"), *calls_of(["f"] * len(names)), *PAUSE]).of(FOUND)
    found = worth_of([asks("go"), *calls_of(names), *PAUSE]).of(FOUND)
    assert found == pytest.approx(unknown / 2 if halved else unknown)


def test_what_a_model_wrote_into_a_search_keeps_its_worth() -> None:
    """Half is what was found, not what was looked for."""
    pattern = "the words of alpha_1 and beta_2. " * 4
    arguments = json.dumps({"pattern": pattern})
    searched, unknown = (
        worth_of([asks("go"), *returns("ok", arguments=arguments, name=name), *PAUSE])
        for name in ("grep", "f")
    )
    assert searched.of(Spot(1, 0, 0)) == unknown.of(Spot(1, 0, 0)) > 0


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
