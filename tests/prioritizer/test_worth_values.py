"""What a block is worth for the values in it: used again, new, rare, telling, and not there anyway."""

from itertools import pairwise

import pytest

from autogen_context.messages.message import Message
from autogen_context.prioritizer.blocks.worth import Spot
from support.worth import PAUSE, asks, references_of, returns, says, steps, worth_of


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
