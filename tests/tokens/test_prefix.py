"""What broke a prefix: never a run that only appends, always the message that was changed, and each cause by its name."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.testing import ChatMessage
from autogen_context.testing.conversation import conversation
from autogen_context.testing.transcripts import histories
from autogen_context.tokens.prefix import ADVICE
from autogen_context.tokens.prices import price_of
from autogen_context.tokens.prompt_change import SHORT
from support.planting import (
    CLEAN,
    FROM,
    PLANTS,
    REQUESTS,
    TOOLS,
    Plant,
    Request,
    diagnosed,
    interleaved,
    later,
    requests,
)


@given(histories())
def test_a_run_that_only_appends_is_clean(run: list[list[ChatMessage]]) -> None:
    """Whatever is in it: broken transcripts, repeated texts, clocks, empty messages."""
    assert diagnosed({"model": "gpt-4o", "messages": said} for said in run if said) == []


@given(st.integers(1, REQUESTS + 1), st.integers(1, REQUESTS - 1), st.text(min_size=1))
def test_a_change_is_found_where_it_is(message: int, number: int, text: str) -> None:
    """In the first request that has it, by the number of the message; later requests have it too and break nothing."""
    said = f"Other words. {text}"

    def plant(n: int, request: Request) -> None:
        if n >= number and message < 2 + 2 * n:
            request["messages"][message]["content"] = said

    first = max(number, message // 2)
    sent = requests(plant)
    found = diagnosed(sent)
    known = len(sent[first - 1]["messages"]) if first else 0
    if message >= known:  # it is new in the request that has it
        assert found == []
        return
    [only] = found
    assert only.number == first + 1
    assert f"message {message + 1} " in only.evidence
    assert only.cause in {"message edited", "clock", "counter", "identifier", "rewritten"}


@pytest.mark.parametrize(("plant", "cause"), PLANTS.values(), ids=PLANTS)
def test_causes_have_names(plant: Plant, cause: str) -> None:
    """From the turn on in which they begin, what they cost, and how to avoid them."""
    sent = requests(plant)
    found = diagnosed(sent)
    assert {each.cause for each in found} == {cause}
    assert found[-1].number >= FROM
    largest = max(found, key=lambda each: each.lost_tokens)
    assert largest.advice
    price = price_of(sent[largest.number - 1]["model"])
    tokens = largest.lost_tokens * (1 - price.cached_fraction)
    assert largest.cost_tokens == pytest.approx(tokens)
    assert largest.dollars == price.dollars(largest.cost_tokens)


@pytest.mark.parametrize("plant", CLEAN.values(), ids=CLEAN)
def test_what_breaks_nothing_has_no_name(plant: Plant | None) -> None:
    """Also beside a run that is broken, whose turns alone are named."""
    sent = requests(plant)
    assert diagnosed(sent) == []
    other = [deepcopy(request) for request in requests(PLANTS["a clock"][0])]
    said = conversation(turns=REQUESTS, seed=9)
    for n, request in enumerate(other):
        prompt = f"You review code, politely. It is 10:{30 + n}."
        request["messages"] = [{"role": "system", "content": prompt}, *said[1 : 4 + 2 * n]]
    found = diagnosed(interleaved(sent, other))
    assert {each.number % 2 for each in found} == {0}
    assert len(found) == REQUESTS - 1
    assert [each.turn for each in found] == list(range(2, REQUESTS + 1))


def test_agents_that_read_the_same_messages_are_told_apart() -> None:
    """Each has its own prompt, in front of what all of them said."""
    said: list[Request] = []
    sent: list[Request] = []
    for n in range(12):
        said.append({"role": "user", "content": f"In step {n} all of them talk about the weather."})
        who = ("You are Ada, a physicist.", "Bob cooks. Answer with recipes.")[n % 2]
        sent.append({"messages": [{"role": "system", "content": who}, *said], "tools": TOOLS})
    assert diagnosed(sent) == []


def test_a_first_request_a_branch_and_a_retry_are_no_faults() -> None:
    """Neither are questions of their own under one prompt, nor the same questions with other answers."""
    sent = requests()
    assert diagnosed([*sent[:4], sent[3], *sent[1:]]) == []
    prompt = {"role": "system", "content": "Classify."}
    alone = [{"messages": [prompt, {"role": "user", "content": f"Item {n}."}]} for n in range(9)]
    assert diagnosed(alone) == []
    answers = [
        [
            message
            for n in range(5)
            for message in (
                {"role": "user", "content": f"Question {n}?"},
                {"role": "assistant", "content": f"Of {n} run {run} says {'xyz'[run] * 9}."},
            )
        ]
        for run in range(3)
    ]
    runs = [{"messages": [prompt, *said[: 2 * n + 1]]} for said in answers for n in range(5)]
    assert diagnosed(runs) == []


def test_conversations_of_one_template_are_told_apart() -> None:
    """Their messages differ in numbers alone, and they are interleaved anyhow."""

    def customer(number: int) -> list[Request]:
        said: list[Request] = [{"role": "system", "content": "You answer customers of a shop."}]
        sent = list[Request]()
        for n in range(5):
            said = [*said, {"role": "user", "content": f"Where is order {number}0{n}?"}]
            sent.append({"messages": said, "tools": TOOLS})
            said = [*said, {"role": "assistant", "content": f"Order {number}0{n} is at 10:3{n}."}]
        return sent

    several = [customer(n) for n in range(1, 5)]
    assert diagnosed(interleaved(*several)) == []
    assert diagnosed(request for each in several for request in each) == []
    mixed = [several[n % 4].pop(0) for n in (0, 1, 1, 4, 2, 6, 3, 2, 1, 0, 7, 5)]
    assert diagnosed(mixed) == []


def test_another_role_is_another_writing() -> None:
    """The system prompt as the developer's, in which all else is the same."""
    found = diagnosed(requests(later(lambda r: r["messages"][0].update(role="developer"))))
    assert [(each.number, each.cause) for each in found] == [(FROM + 1, "rewritten")]
    assert "'system' -> 'developer'" in found[0].evidence


def test_all_that_was_changed_is_said() -> None:
    """The first change is the cause; the others stand behind it, since they break the prefix once it is mended."""

    def plant(number: int, request: Request) -> None:
        PLANTS["a clock"][0](number, request)
        PLANTS["an edited result"][0](number, request)

    found = diagnosed(requests(plant))
    assert {each.cause for each in found} == {"clock"}
    assert ["message 4 " in " ".join(each.also) for each in found] == [
        each.number == FROM + 1 for each in found
    ]


def test_each_cause_has_words_and_advice() -> None:
    """On the page and in the table."""
    assert SHORT.keys() == ADVICE.keys()
    assert {cause for _, cause in PLANTS.values()} == SHORT.keys() - {"compaction"}
