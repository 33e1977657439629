"""What a block is worth beside its values: what is kept of the same, its age, who wrote it, and what gave it."""

import json
from collections.abc import Sequence

import pytest

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.prioritizer.blocks.worth import Spot
from support.worth import PAUSE, asks, returns, says, spots_of, steps, worth_of


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


def calls_of(names: Sequence[str]) -> list[Message]:
    """One step that calls these tools; each gives the same."""
    calls = [ToolCall(id=name + str(i), name=name, arguments="{}") for i, name in enumerate(names)]
    results = [ToolResult(call_id=call.id, text="alpha_1 is beta_2\n" * 3) for call in calls]
    return [
        Message(role="assistant", calls=tuple(calls)),
        *(Message(role="tool", results=(result,)) for result in results),
    ]


FOUND = Spot(1, 0, 0)  # what the first of them gives


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
