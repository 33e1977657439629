"""Rules of a house: understood in every wording and layout, decisive at the end alone, and each breach is seen."""

from collections.abc import Mapping, Sequence

import pytest
from tasks.buying import wish_in
from tasks.house_rules import ALLOWED, WORDINGS, Rule, rules_in
from tasks.rules import Rules
from tasks.sight import Sight
from tasks.solo import solve

from autogen_context.testing import Call, ChatMessage, Request, Say, Step

SAMPLES = {
    "supplier": Rule(kind="supplier", about="Castel"),
    "supplier for a unit": Rule(kind="supplier", about="Castel", value=ALLOWED, unit="library"),
    "limit": Rule(kind="limit", about="", value="400"),
    "limit for a unit": Rule(kind="limit", about="", value="400", unit="library"),
    "limit instead": Rule(kind="limit", about="", value="400"),
    "place": Rule(kind="place", about="B", value="loading dock"),
    "place for a unit": Rule(kind="place", about="B", value="loading dock", unit="library"),
    "place instead": Rule(kind="place", about="B", value="loading dock"),
    "day": Rule(kind="day", about="Friday"),
    "day for a unit": Rule(kind="day", about="Friday", value=ALLOWED, unit="library"),
    "centre": Rule(kind="centre", about="library", value="4412"),
    "centre instead": Rule(kind="centre", about="library", value="4412"),
    "copy": Rule(kind="copy", about="press office", value="Nowak"),
    "copy instead": Rule(kind="copy", about="press office", value="Nowak"),
    "reference": Rule(kind="reference", about="press office", value="AB-123"),
}
OLD = {"limit": "250", "place": "back yard", "centre": "9001", "copy": "Mr Ito"}
LAYOUTS = (
    "{}",
    "User said: {}",
    "The user said:\n- Thanks.\n- {}\nDone so far:\n- search_shop({{}})",
    "[3] Original a1b2 lines 1-2 of 9 by user\n2\t{}",
    "2 lamps for the library, please, building C, room 4, Monday, warranty 12 months.\nBy the way: {}",
)
OFFERS = "Offer 40001: grey bins\nSupplier: {}\nPrice: 20.50 EUR each\nWarranty: 24 months"
WISH = (
    "10 grey bins for the library, please: building B, room 7, Friday, minimum warranty 12 months."
)


def worded(key: str) -> list[str]:
    """All wordings of a sample."""
    rule = SAMPLES[key]
    about = "the press office" if rule.about == "press office" else rule.about
    value = f"Mrs {rule.value}" if rule.kind == "copy" else rule.value
    old = OLD.get(rule.kind, "")
    return [
        text.format(about=about, value=value, unit=rule.unit, old=old) for text in WORDINGS[key]
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("key", WORDINGS)
def test_a_rule_is_understood_in_every_wording(key: str, layout: str) -> None:
    """As it was said, in a summary, in what was looked up, and beside a wish."""
    for text in worded(key):
        assert rules_in(layout.format(text)) == (SAMPLES[key],), text


@pytest.mark.parametrize("seed", range(3))
def test_what_is_asked_states_no_rules(seed: int) -> None:
    """Only those of the task are read out of what the person says; each other message has a wish."""
    task = Rules(seed)
    said = [rules_in(each.text) for each in task.said]
    assert [rule for rules in said for rule in rules] == task.rules
    assert all(wish_in(each.text) for number, each in enumerate(task.said) if number != 1)


def test_the_newest_part_does_not() -> None:
    """Who has not seen the rules does what was asked for and breaks them."""
    verdict = solve(Rules(0), lambda messages: [messages[0], *newest(messages)])
    assert not verdict.solved
    assert verdict.broken >= len(Rules(0).rules) - 1
    assert "against the rule" in verdict.why


def newest(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """From the newest message of a person on."""
    at = max(i for i, message in enumerate(messages) if message["role"] == "user")
    return messages[at:]


def test_the_rules_are_all_that_is_needed() -> None:
    """With a note of the rules the newest part is enough: the task can be done in a small window."""
    task = Rules(0)
    rules = "\n".join(each.text for each in task.said if rules_in(each.text))
    note: ChatMessage = {"role": "system", "content": f"The user said:\n{rules}"}
    assert solve(task, lambda messages: [messages[0], note, *newest(messages)]).solved


def test_the_same_seed_is_the_same_task() -> None:
    """Words, offers and mails alike."""
    one, other = Rules(5), Rules(5)
    assert one.said == other.said
    assert texts_of(one) == texts_of(other) != texts_of(Rules(6))


def texts_of(task: Rules) -> list[str]:
    """What the tools of a task tell."""
    return [task.tools("")[1](number=number) for number in range(40_000, 60_000)]


def test_the_whole_history_solves() -> None:
    """Who sees everything breaks nothing; a run is some 60,000 tokens in 130 to 170 requests, none of its messages over 900 tokens; a token is about four characters."""
    sizes: list[int] = []
    largest = 0

    def shown(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        nonlocal largest
        sizes.append(sum(len(str(message)) for message in messages) // 4)
        largest = max(largest, len(str(messages[-1])) // 4)
        return messages

    task = Rules(1)
    verdict = solve(task, shown)
    assert (verdict.solved, verdict.broken, verdict.repeated) == (True, 0, 0)
    assert 130 <= len(sizes) <= 170
    assert 48_000 <= sizes[-1] <= 80_000
    assert largest < 700
    assert max(len(each.text) for each in task.said) < 800


def sight(*messages: ChatMessage, tools: Sequence[ChatMessage] = ()) -> Sight:
    """A request with these messages."""
    return Sight(Request(number=1, model="m", messages=messages, tools=tools))


def called(name: str, arguments: str, result: str) -> list[ChatMessage]:
    """A call and its result."""
    call = {
        "id": name,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": result},
    ]


def ordered(step: Step) -> Mapping[str, object]:
    """The arguments of the order that a step is."""
    assert isinstance(step, Call)
    assert isinstance(step.arguments, Mapping)
    assert step.name == "order"
    return step.arguments


ASKED: list[ChatMessage] = [
    {"role": "user", "content": WISH},
    *called(
        "search_shop",
        '{"item": "grey bins"}',
        "Offer 40001 | Castel | grey bins\nOffer 12345 | Castel | oak bins",
    ),
    *called("read_offer", '{"number": 40001}', OFFERS.format("Mirador")),
]
LOOKS: ChatMessage = {
    "type": "function",
    "function": {
        "name": "get_back",
        "description": "Gives back what left this conversation.",
        "parameters": {"properties": {"query": {"type": "string"}}},
    },
}


@pytest.mark.parametrize(
    ("rule", "name", "expected"),
    [
        ("Never order from Mirador.", "", ""),
        ("Above 100 EUR ask me first.", "draft", True),
        ("Above 300 EUR ask me first.", "draft", False),
        ("Everything for building B goes to the back yard.", "place", "building B, back yard"),
        ("No deliveries on Fridays.", "day", "Monday"),
        ("For the library it is always cost centre 4412.", "cost_centre", "4412"),
        ("For the canteen it is always cost centre 4412.", "cost_centre", "general"),
    ],
)
def test_a_rule_in_sight_decides(rule: str, name: str, expected: object) -> None:
    """Each in its own field of the order; where no offer is left it says so."""
    step = Rules.decide(sight({"role": "user", "content": rule}, *ASKED))
    if not name:
        assert isinstance(step, Say)
        return
    assert ordered(step)[name] == expected


def test_it_looks_up_once_and_uses_the_answer() -> None:
    """Where no rule is in sight and a tool gives back what left; a rule in sight is newer than what it gives back."""
    look = Rules.decide(sight(ASKED[0], tools=[LOOKS]))
    assert look == Call("get_back", {"query": "rules for orders and deliveries"})
    answer = called("get_back", '{"query": "rules for orders and deliveries"}', "None found.")
    assert Rules.decide(sight(ASKED[0], *answer, tools=[LOOKS])) == Call(
        "search_shop", {"item": "grey bins"}
    )
    step = Rules.decide(sight(*ASKED, *answer, tools=[LOOKS]))
    assert ordered(step)["draft"] is False
    late = Rules.decide(sight(*ASKED, tools=[LOOKS]))  # its answer has left again
    assert ordered(late)["draft"] is False
    answer[1]["content"] = "[1] user: Above 100 EUR ask me first."
    step = Rules.decide(sight(*ASKED, *answer, tools=[LOOKS]))
    assert ordered(step)["draft"] is True
    newer: ChatMessage = {"role": "system", "content": "User said: Above 300 EUR ask me first."}
    step = Rules.decide(sight(newer, *ASKED, *answer, tools=[LOOKS]))
    assert ordered(step)["draft"] is False


def test_an_offer_that_is_gone_is_read_again() -> None:
    """Its text can be told again."""
    step = Rules.decide(sight(*ASKED[:3]))
    assert step == [Call("read_offer", {"number": 40001})]


def test_the_verdict_sees_what_is_missing_and_what_is_done_twice() -> None:
    """Missing, done twice, and done otherwise than asked for."""
    assert "not done" in Rules(0).verdict().why
    task = Rules(0)
    assert solve(task).solved
    task.shop.ordered.append(task.shop.ordered[0])
    verdict = task.verdict()
    assert (verdict.solved, verdict.repeated) == (False, 1)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Supplier ban: Castel", SAMPLES["supplier"]),
        ("Castel is forbidden as a supplier", SAMPLES["supplier"]),
        ("Orders above EUR 400 need approval (draft).", SAMPLES["limit"]),
        ("Approval limit: 400 EUR", SAMPLES["limit"]),
        ("Friday deliveries are prohibited", SAMPLES["day"]),
        ("library -> cost center 4412", SAMPLES["centre"]),
    ],
)
def test_a_rule_is_understood_in_the_words_of_a_summary(text: str, rule: Rule) -> None:
    """Shorter than anybody said it."""
    assert rules_in(text) == (rule,)
