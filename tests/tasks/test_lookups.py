"""Lookups: what a text states under a name, whoever wrote it, and what the verdict sees."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from host_agents import COUNTER
from tasks.lookups import Lookups
from tasks.lookups_policy import Fact, asked_in, facts_in
from tasks.run import Billed, schema_tokens
from tasks.sight import arguments_of, content_of
from tasks.solo import solve
from tasks.task import Verdict

from autogen_context.testing import Call, ChatMessage, Say, Step
from support.sights import LOOK_BACK, called, newest, sight_of

TOOLS: Sequence[ChatMessage] = [{"type": "function", "function": {"name": "take_reading"}}]
ASK = "Brandt Bakery: confirm the visit with the confirmation code please."


@cache
def worked(seed: int) -> tuple[Verdict, Sequence[ChatMessage]]:
    """A task with its whole history."""
    seen: Sequence[ChatMessage] = ()

    def shown(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        nonlocal seen
        seen = messages
        return messages

    return solve(Lookups(seed), shown), seen


def decided(*messages: ChatMessage, tools: Sequence[ChatMessage] = TOOLS) -> Step:
    """What the policy does next."""
    return Lookups.decide(sight_of(*messages, tools=tools))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_whole_history_is_enough(seed: int) -> None:
    """Nothing is read twice, and no value is wrong."""
    assert worked(seed)[0] == Verdict(solved=True)


def test_the_same_seed_is_the_same_task() -> None:
    """What is said and what tools tell; another seed differs."""
    texts = [str(message["content"]) for message in worked(1)[1] if message["role"] == "tool"]
    assert played(Lookups(1))[1] == texts
    assert Lookups(1).said == Lookups(1).said != Lookups(2).said


def test_the_newest_part_alone_is_not_enough() -> None:
    """What was told early and once is gone."""
    verdict = solve(Lookups(0), lambda messages: newest(messages, 12_000))
    assert not verdict.solved
    assert "not given, such as" in verdict.why


def test_sizes() -> None:
    """Each message, each answer with several results, the prompt with its tools, and all together."""
    task, messages = Lookups(1), worked(1)[1]
    tokens = [COUNTER.count(content_of(message)).tokens for message in messages]
    by_role: dict[str, list[int]] = {}
    for message, size in zip(messages, tokens, strict=True):
        by_role.setdefault(str(message["role"]), []).append(size)
    assert max(by_role["tool"]) < 900
    assert max(by_role["user"]) < 200
    assert 55_000 < sum(tokens) < 100_000
    assert 80 <= len(by_role["assistant"]) <= 170
    assert max(a + b for a, b in pairwise(tokens)) < 1_800
    prompt = COUNTER.count(task.prompts["clerk"]).tokens
    assert prompt + schema_tokens(task.tools("clerk"), Billed(lambda _: Say(""))) < 500


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("The confirmation code of Brandt Bakery is A1B2-0001. It is shown once.", ""),
        ("Known:\n- Olsen Print: A9B9-9999\n- Brandt Bakery, confirmation code: A1B2-0001", ""),
        ("Facts so far: Olsen Print has A9B9-9999; A1B2-0001 is the code of Brandt Bakery.", "?"),
        ('{"customer": "Brandt Bakery", "contract": "K-20-11111", "code": "A1B2-0001"}', ""),
        ("> [tool order_visit] Brandt Bakery\n> Ordered.\n> Code A1B2-0001, shown once", ""),
        ("Ordered. Code A1B2-0001, shown once.", "Brandt Bakery"),
        ("Brandt Bakery:\n- contract K-20-11111\n- code A1B2-0001\nOlsen Print:\n- A9B9-9999", ""),
    ],
)
def test_a_value_is_found_under_its_name(text: str, owner: str) -> None:
    """In a result, in lists of summaries, in quotes, in JSON; not under a name that stands near."""
    codes = [fact for fact in facts_in(text, owner) if fact.kind == "code"]
    of_name = [fact.value for fact in codes if fact.name == "Brandt Bakery"]
    if owner == "?":  # the name stands behind the value, and another one before it: nobody can tell
        assert of_name == []
    else:
        assert of_name == ["A1B2-0001"]


def test_what_is_past_is_no_fact() -> None:
    """A text says so itself."""
    assert not facts_in("former contract number: K-11-00001, ended 2004", "Brandt Bakery")
    assert not facts_in("Brandt Bakery: self-test raised E-00AA-01, cleared after 3 s", "")
    strong = facts_in("07:00 FATAL tripped and stopped with fault code E-00AA-01", "Brandt Bakery")
    assert strong == (Fact(name="Brandt Bakery", kind="fault", value="E-00AA-01", is_strong=True),)


def test_pieces_of_an_answer_do_not_share_a_name() -> None:
    """A value behind a mark between pieces is not of whom the piece before named."""
    text = "[Piece 1]\nRecord of Olsen Print\n[Piece 2, lines 4-9]\ncode A1B2-0001"
    assert [fact.name for fact in facts_in(text, "")] == [""]


@pytest.mark.parametrize("seed", range(6))
def test_every_question_is_understood(seed: int) -> None:
    """Each in its original words and in a summary that says whose words they are."""
    for said in Lookups(seed).said:
        asked = asked_in(said.text, "user")
        assert asked is not None
        lines = said.text.replace("\n", "\n- ")
        assert asked_in(f"The user said:\n- {lines}\nDone so far:\n- read", "assistant") == asked
        assert asked_in(f"Known:\n- {lines}", "assistant") is None
        quoted = said.text.replace("\n", "\n> ")
        assert asked_in(f"From a mail:\n> {quoted}", "user") is None


def test_a_value_that_no_text_states_is_looked_up_once() -> None:
    """By label and name; the answer is used, and without one the policy says that it cannot."""
    tools = [*TOOLS, LOOK_BACK]
    ask: ChatMessage = {"role": "user", "content": ASK}
    words = "confirmation code Brandt Bakery"
    assert decided(ask, tools=tools) == Call("find", {"query": words})
    found = called("find", "Olsen Print: A9B9-9999\nBrandt Bakery: A1B2-0001", query=words)
    given = {"name": "Brandt Bakery", "what": "code", "value": "A1B2-0001"}
    assert decided(ask, *found, tools=tools) == [Call("give_value", given)]
    none = called("find", "Nothing matches.", query=words)
    assert isinstance(decided(ask, *none, tools=tools), Say)
    assert isinstance(decided(ask), Say)


def test_what_the_world_tells_again_is_read_again() -> None:
    """And a code that a text gives to nobody is guessed, one of somebody else is not."""
    ask: ChatMessage = {
        "role": "user",
        "content": "For the report: the fault code of Brandt Bakery.",
    }
    assert decided(ask) == Call("read", {"name": "Brandt Bakery", "what": "log"})
    read = called("read", "tripped and stopped with E-00AA-01", name="Brandt Bakery", what="log")
    given = {"name": "Brandt Bakery", "what": "fault", "value": "E-00AA-01"}
    assert decided(ask, *read) == [Call("give_value", given)]
    asked: ChatMessage = {"role": "user", "content": ASK}
    orphan: ChatMessage = {"role": "assistant", "content": "The code is A1B2-0001."}
    guess = {"name": "Brandt Bakery", "what": "code", "value": "A1B2-0001"}
    assert decided(orphan, asked) == Call("give_value", guess)
    others: ChatMessage = {"role": "assistant", "content": "The code of Olsen Print is A1B2-0001."}
    assert isinstance(decided(others, asked), Say)


def played(task: Lookups, change: str = "nothing") -> tuple[Verdict, list[str]]:
    """The verdict and the results where the calls of a solved task are made again, with one change."""
    tools = {tool.__name__: tool for tool in task.tools("clerk")}
    calls = [c["function"] for message in worked(1)[1] for c in message.get("tool_calls") or ()]
    results: list[str] = []
    for call in calls:
        arguments: dict[str, Any] = dict(arguments_of(str(call["arguments"])))
        if call is calls[-1] and change == "wrong":
            arguments["value"] = "1234.5"
        if call is not calls[-1] or change != "missing":
            results.append(tools[str(call["name"])](**arguments))
    if change == "twice":
        first = next(call for call in calls if call["name"] == "read")
        results.append(tools["read"](**arguments_of(str(first["arguments"]))))
    return task.verdict(), results


def test_the_verdict_sees_how_the_world_ended() -> None:
    """A value that is missing, a wrong one, something read twice."""
    assert played(Lookups(1))[0] == Verdict(solved=True)
    assert played(Lookups(1), "twice")[0] == Verdict(solved=True, repeated=1)
    missing, wrong = played(Lookups(1), "missing")[0], played(Lookups(1), "wrong")[0]
    assert not missing.solved
    assert missing.why.startswith("1 of ")
    assert not wrong.solved
    assert wrong.broken == 1
    assert "given as 1234.5" in wrong.why


def test_queries_answer_mistakes_as_text() -> None:
    """As a database does; customers that are not there are told too."""
    tools = {tool.__name__: tool for tool in Lookups(0).tools("clerk")}
    assert tools["query"](sql="SELECT name FROM nowhere").startswith("Error: no such table")
    assert tools["query"](sql="SELECT count(*) FROM customers").split("\n")[1] == "240"
    assert tools["read"](name="Nobody", what="log") == "There is no customer Nobody."
    assert tools["give_value"](name="Nobody", what="code", value="1").startswith("Error")
