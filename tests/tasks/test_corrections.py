"""Corrections: whose value of what holds, from wherever a request states it, and what the verdict sees."""

import json
from collections.abc import Sequence
from functools import partial

import pytest
from tasks.corrections import Corrections
from tasks.sight import Sight
from tasks.solo import solve
from tasks.task import Verdict

from autogen_context.testing import Call, ChatMessage, Request, ScriptedModel, Step
from autogen_context.tokens.message_counter import MessageCounter
from support.sights import newest

BOOK = "Please put the reviews into the calendar: Ana Ferro, Anna Ferrer and Tom Hale, each one day ahead of the deadline."
OLD_MAIL = "Mail 3 of 12 in Castel\nFrom: Rosa Quint\nIn the minutes of the kick-off Ana Ferro's deadline is 3 April."
COUNTER = MessageCounter.for_model("gpt-4-0613")
LOOKS_BACK = {
    "type": "function",
    "function": {
        "name": "recall",
        "description": "Gives back what left this conversation.",
        "parameters": {"properties": {"query": {"type": "string"}}},
    },
}


@pytest.fixture(scope="module", name="worked")
def whole_run() -> tuple[Corrections, Verdict, list[Sequence[ChatMessage]]]:
    """A task that was worked with its whole history, its verdict, and all lists that were sent."""
    task, lists = Corrections(3), list[Sequence[ChatMessage]]()

    def show(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        lists.append(list(messages))
        return messages

    return task, solve(task, show), lists


def decided(*messages: ChatMessage, tools: Sequence[ChatMessage] = ()) -> list[Call]:
    """The calls that are decided on after these messages."""
    step: list[Step] = []

    def decide(request: Request) -> Step:
        step.append(Corrections.decide(Sight(request)))
        return step[0]

    ScriptedModel(decide, count=len).answer(messages, tools=tools)
    made = step[0] if isinstance(step[0], Sequence) else [step[0]]
    return [part for part in made if isinstance(part, Call)]


def booked(*texts: tuple[str, str], wish: str = BOOK) -> dict[str, str]:
    """Whose review is booked on which day, where these roles said these texts before."""
    messages = [{"role": role, "content": text} for role, text in texts]
    calls = decided(*messages, {"role": "user", "content": wish})
    return {given(c)["person"]: given(c)["day"] for c in calls if c.name == "book_review"}


def given(call: Call) -> dict[str, str]:
    """The arguments of a call."""
    assert not isinstance(call.arguments, str)
    return {name: str(value) for name, value in call.arguments.items()}


def test_with_everything_in_sight_it_is_solved(worked: tuple[Corrections, Verdict, object]) -> None:
    """The policy makes no mistake of its own."""
    assert worked[1] == Verdict(solved=True)
    assert solve(Corrections(4)).solved


def test_the_same_seed_gives_the_same() -> None:
    """Another seed gives other values."""
    assert Corrections(5).said == Corrections(5).said != Corrections(6).said


def test_sizes_are_those_of_the_benchmark(
    worked: tuple[Corrections, object, list[Sequence[ChatMessage]]],
) -> None:
    """The whole is far above the largest window; one result and one message are small."""
    task, _, lists = worked
    sizes = [COUNTER.count(str(message.get("content") or "")).tokens for message in lists[-1]]
    results = [n for n, message in zip(sizes, lists[-1], strict=True) if message["role"] == "tool"]
    assert 60_000 < sum(sizes) < 100_000
    assert 80 < len(lists) < 160
    assert max(results) < 900
    assert max(COUNTER.count(said.text).tokens for said in task.said) < 200


def test_the_newest_part_alone_is_not_enough() -> None:
    """Who sees 3,000 tokens takes what old mails say."""
    verdict = solve(Corrections(3), partial(newest, characters=12_000))
    assert not verdict.solved
    assert verdict.broken > 3


FACTS = "Ana Ferro has until 12 May for the report. Anna Ferrer has until 20 May. Anna Ferrer's report is due on 21 May."
CORRECTED = "While I think of it: Ana Ferro's report is now due on 1 June, not 12 May."
OTHER_ORDER = BOOK.replace("Ana Ferro, Anna Ferrer", "Anna Ferrer, Ana Ferro")


@pytest.mark.parametrize(
    "texts",
    [
        [("user", FACTS), ("user", CORRECTED), ("tool", OLD_MAIL)],
        [("user", f"[Summary of 80 messages]\nThe user said:\n- {FACTS}\n- {CORRECTED}\nProblems:\n- none")],
        [("assistant", f"User said: {FACTS}\nUser said: {CORRECTED}\nTool: {OLD_MAIL}")],
        [("system", f"Earlier in this chat\n[user]\n{FACTS}\n[user]\n{CORRECTED}\n[result of read_mail]\n{OLD_MAIL}")],
        [("user", "Known so far:\n1. deadline of Ana Ferro: 2026-06-01\n2. deadline of Anna Ferrer: May 21")],
        [("assistant", "Summary. The report of Ana Ferro is due on 1st June; Anna Ferrer hands in on 21 May.")],
    ],
    ids=["said", "headings", "speakers", "blocks", "list", "prose"],
)  # fmt: skip
def test_a_fact_counts_in_any_layout(texts: list[tuple[str, str]]) -> None:
    """A summary in a foreign layout tells as much as the original; a mail beside it counts for nothing."""
    assert booked(*texts)["Ana Ferro"] == "2026-05-31"
    assert booked(*texts, wish=OTHER_ORDER)["Anna Ferrer"] == "2026-05-20"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("No, back to the first deadline for Ana Ferro.", "2026-05-11"),
        ("No, back to 12 May as deadline for Ana Ferro.", "2026-05-11"),
        ("Make that June 9 for Ferro's deadline, please. Anna Ferrer has until 30 June.", "2026-06-08"),
        ("Next the pack Vela. By the way: 9 June is when Ana Ferro delivers the report now. Thanks!", "2026-06-08"),
    ],
    ids=["undone", "undone with value", "last name", "in passing"],
)  # fmt: skip
def test_the_newest_word_holds(text: str, day: str) -> None:
    """A correction, an undone one, and one beside another matter."""
    assert booked(("user", FACTS), ("user", CORRECTED), ("user", text))["Ana Ferro"] == day


def test_what_is_gone_is_looked_up_once_and_then_searched() -> None:
    """The answer to a look-up is used, whatever its order; without one the mails are searched; then it goes on with the next."""
    wish: ChatMessage = {"role": "user", "content": BOOK}
    (look,) = decided(wish, tools=[LOOKS_BACK])
    assert (look.name, look.arguments) == ("recall", {"query": "deadline Ana Ferro"})
    answer = f"lines 1-2 of 2\n{CORRECTED}\nlines 1-3 of 9\n{FACTS}"
    asked = {
        "role": "assistant",
        "tool_calls": [called("a", "recall", '{"query": "deadline Ana Ferro"}')],
    }
    told = {"role": "tool", "tool_call_id": "a", "content": answer}
    (booking,) = decided(wish, asked, told, tools=[LOOKS_BACK])
    assert booking.arguments == {"person": "Ana Ferro", "day": "2026-05-31"}
    (search,) = decided(wish, asked, {**told, "content": "Nothing."}, tools=[LOOKS_BACK])
    assert search.arguments == {"words": "deadline Ana Ferro"}
    searched = {
        "role": "assistant",
        "tool_calls": [called("b", "search_mail", '{"words": "deadline Ana Ferro"}')],
    }
    found = {"role": "tool", "tool_call_id": "b", "content": OLD_MAIL}
    (booking,) = decided(wish, searched, found)
    assert given(booking)["day"] == "2026-04-02"
    (other,) = decided(wish, searched, {**found, "content": "0 lines"})
    assert other.arguments == {"words": "deadline Anna Ferrer"}


def called(identity: str, name: str, arguments: str) -> ChatMessage:
    """A call as it stands in a message."""
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [
        ("nothing", Verdict(solved=True)),
        ("twice", Verdict(solved=False, repeated=1, why="1 done twice")),
        ("missing", Verdict(solved=False, why="deadline of Nils Dahl is missing")),
        ("old", Verdict(solved=False, broken=1, why="deadline of Nils Dahl: 2026-05-26, which was corrected")),
        ("other", Verdict(solved=False, broken=1, why="deadline of Nils Dahl: 2026-05-10, which is another's")),
    ],
)  # fmt: skip
def test_the_verdict_sees_what_went_wrong(
    wrong: str, verdict: Verdict, worked: tuple[object, object, list[Sequence[ChatMessage]]]
) -> None:
    """The calls of a right run, one of them otherwise."""
    task = Corrections(3)
    tools = {tool.__name__: tool for tool in task.tools("clerk")}
    acts = [
        call
        for call in made_in(worked[2][-1])
        if call.name in {"book_review", "reserve_place", "send_mail"}
    ]
    of_nils = next(call for call in acts if given(call).get("person") == "Nils Dahl")
    acts.remove(of_nils)
    days = {"old": "2026-05-25", "other": "2026-05-09"}
    times = {"missing": 0, "twice": 2}.get(wrong, 1)
    changed = Call(
        "book_review", {"person": "Nils Dahl", "day": days.get(wrong, given(of_nils)["day"])}
    )
    for call in [*acts, *[changed] * times]:
        tools[call.name](**given(call))
    assert task.verdict() == verdict


def made_in(messages: Sequence[ChatMessage]) -> list[Call]:
    """The calls in a list of messages."""
    return [
        Call(str(call["function"]["name"]), json.loads(call["function"]["arguments"]))
        for message in messages
        for call in message.get("tool_calls") or ()
    ]
