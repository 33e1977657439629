"""Documents: what a text says of a book, what holds of it, and what the verdict sees."""

from collections.abc import Sequence
from functools import cache

import pytest
from host_agents import COUNTER
from tasks.documents import Documents
from tasks.documents_policy import SCANNING, asked_in
from tasks.documents_text import SOMEWHERE, parsed_text
from tasks.run import Billed, schema_tokens
from tasks.sight import arguments_of, content_of
from tasks.solo import solve
from tasks.task import Verdict

from autogen_context.testing import Call, ChatMessage, Say, Step
from support.sights import LOOK_BACK, called, newest, sight_of

TOOLS: Sequence[ChatMessage] = [
    {"type": "function", "function": {"name": name}} for name in ("read_on", "read_page", "answer")
]
ASK: ChatMessage = {"role": "user", "content": "Question 7: what is the deposit of the loft?"}


@cache
def worked(seed: int) -> tuple[Verdict, Sequence[ChatMessage]]:
    """A task with its whole history."""
    seen: Sequence[ChatMessage] = ()

    def shown(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        nonlocal seen
        seen = messages
        return messages

    return solve(Documents(seed), shown), seen


def said(text: str, role: str = "assistant") -> ChatMessage:
    """A message with a text."""
    return {"role": role, "content": text}


def decided(*messages: ChatMessage, tools: Sequence[ChatMessage] = TOOLS) -> Step:
    """What the policy does next."""
    return Documents.decide(sight_of(*messages, tools=tools))


def answered(*texts: str) -> str:
    """The answer to what the deposit of the loft is, behind these texts; empty without one."""
    step = decided(*(said(text) for text in texts), ASK)
    steps: Sequence[Call | Say] = [step] if isinstance(step, Call | Say) else step
    calls = [each for each in steps if isinstance(each, Call)]
    given = [call.arguments for call in calls if call.name == "answer"]
    return "".join(str(each["value"]) for each in given if not isinstance(each, str))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_whole_history_is_enough(seed: int) -> None:
    """No page is read twice, and no answer is wrong."""
    assert worked(seed)[0] == Verdict(solved=True)


def test_the_same_seed_is_the_same_task() -> None:
    """What is said and what tools tell; another seed differs."""
    texts = [str(message["content"]) for message in worked(1)[1] if message["role"] == "tool"]
    assert played("nothing")[1] == texts
    assert Documents(1).said == Documents(1).said != Documents(2).said


def test_the_newest_part_alone_is_not_enough() -> None:
    """Pages are read again, and still not all is answered."""
    verdict = solve(Documents(2), lambda messages: newest(messages, 12_000))
    assert not verdict.solved
    assert verdict.repeated > 10
    assert "wrong or missing" in verdict.why


def test_sizes() -> None:
    """Each message, the prompt with its tools, and all together."""
    task, messages = Documents(1), worked(1)[1]
    by_role: dict[str, list[int]] = {}
    for message in messages:
        tokens = COUNTER.count(content_of(message)).tokens
        by_role.setdefault(str(message["role"]), []).append(tokens)
    assert max(by_role["tool"]) < 900
    assert max(by_role["user"]) < 200
    assert 55_000 < sum(map(sum, by_role.values())) < 100_000
    assert 80 <= len(by_role["assistant"]) <= 160
    prompt = COUNTER.count(task.prompt).tokens
    assert prompt + schema_tokens(task.tools("clerk"), Billed(lambda _: Say(""))) < 500


@pytest.mark.parametrize(
    "text",
    [
        "Building handbook, page 9 of 80\n\n3.4 Loft\nThe deposit is 40 EUR.",
        "4 | Building handbook, page 9 of 80\n5 | 3.4 Loft\n6 | A deposit of 40 EUR applies.",
        "Known:\n- gym: deposit 20 EUR\n- loft (3.4): notice period 9 days, deposit 40 EUR",
        "> The deposit of the gym is 20 EUR. As deposit of the loft, 40 EUR are set.",
        "Table 1\n | cleaning charge | deposit\ngym | 10 EUR | 20 EUR\nloft | 30 EUR | 40 EUR",
        '"Class B rooms" means the archive and the loft.\nFor class B rooms the deposit is 40 EUR.',
        "The deposit of the loft is 30 EUR.\nThe deposit of the loft is changed from 30 EUR to 40 EUR.",
        "3.4 Loft\nThe deposit is 30 EUR.\n[Part 2]\nIn section 3.4, 30 EUR is replaced by 40 EUR.",
        "Loft: deposit 40 EUR. In the edition of 2011 the deposit of the loft was 30 EUR.",
        "Loft: deposit 40 EUR. At the Cork branch the deposit of the loft is 30 EUR.",
        "The deposit of the loft is 40 EUR.\n9.9 Loft\nIn section 3.4, 40 EUR is replaced by 9 EUR.",
    ],
)
def test_what_holds_is_found(text: str) -> None:
    """Under headings, in tables, in lists of summaries, by group, as it was changed; nothing that is past or elsewhere."""
    assert answered(text) == "40 EUR"


@pytest.mark.parametrize(
    "text",
    [
        "The cleaning charge of the loft is 40 EUR.",
        "In the draft of 2011 the deposit of the loft was 40 EUR.",
        "At this branch the deposit of the loft is 40 EUR.",
        "3.4 Loft\nNobody works alone here.\n[Piece 2, lines 8-9]\nThe deposit is 40 EUR.",
        "For class B rooms the deposit is 40 EUR.",
    ],
)
def test_what_does_not_hold_is_no_answer(text: str) -> None:
    """Another measure, another edition, another place, a piece of who knows what, a group of who knows what."""
    assert not answered(text)


def test_a_branch_is_that_of_its_supplement() -> None:
    """Where the sentence does not name it; without the name of either nobody can tell."""
    head = "Building handbook, page 60 of 80\nSupplement for the Cork branch\n\nC1.1 Noise\n"
    line = "At this branch the deposit of the loft is 40 EUR."
    assert [each.branch for each in parsed_text(head + line).statements] == ["cork"]
    assert [each.branch for each in parsed_text(line).statements] == [SOMEWHERE]


@pytest.mark.parametrize("seed", range(6))
def test_what_people_ask_is_understood(seed: int) -> None:
    """In their words and in a summary that says whose words they are; not in a quote."""
    for each in Documents(seed).said:
        asked = asked_in(each.text, "user")
        assert asked is not None
        assert len(asked) == each.text.count("Question ")
        lines = each.text.replace("\n", "\n- ")
        assert asked_in(f"The user said:\n- {lines}\nKnown:\n- page 4", "assistant") == asked
        assert asked_in(f"Known:\n- {lines}", "assistant") is None
        quoted = each.text.replace("\n", "\n> ")
        assert asked_in(f"From a mail:\n> {quoted}", "user") is None


def test_of_accounts_that_which_goes_on_furthest_counts() -> None:
    """Wherever it stands; a person's own newest message goes before all of them."""
    ask = str(ASK["content"])
    part = "Now part four, every page of it."
    newer = said(f"The user said:\n- {part}\n- {ask}\nKnown:\n- loft: deposit 40 EUR")
    older = said(f"The user said:\n- {ask.replace('7', '3')}\n- {part}\nKnown:\n- page 4")
    oldest = said(f"The user said:\n- {part}\nKnown:\n- page 4")
    answer = [Call("answer", {"question": 7, "value": "40 EUR"})]
    for others in ([older], [oldest], [older, oldest], [oldest, older]):
        step = decided(newer, *others, *called("read_on", "Text."))
        assert step in (answer, answer[0])
    assert decided(older, *called("read_on", "Text.")) == Call("read_on")
    assert decided(newer, said(part, "user")) == Call("read_on")


def test_it_reads_on_until_the_part_ends() -> None:
    """Also where nobody's words are in sight."""
    page, last = (
        "Manual, page 7 of 80\n\nText.",
        "Manual, page 8 of 80\n\nPart one of the book ends here.",
    )
    assert decided(*called("read_on", page)) == Call("read_on")
    assert isinstance(decided(*called("read_on", page), *called("read_on", last)), Say)
    order = said("Now part two, every page of it.", "user")
    assert decided(*called("read_on", last), order) == Call("read_on")


def test_what_is_out_of_sight_is_looked_up_once() -> None:
    """Then what changes it, once as well; then it is answered."""
    tools = [*TOOLS, LOOK_BACK]
    assert decided(ASK, tools=tools) == Call("find", {"query": "deposit loft"})
    found = called("find", "3.4 Loft\nThe deposit is 40 EUR.", query="deposit loft")
    words = "changed deposit loft section 3.4 40"
    note = "Section 3.4 gives 40 EUR as the deposit of loft."
    assert decided(ASK, *found, tools=tools) == [Say(note), Call("find", {"query": words})]
    same = called("find", "Nothing matches.", query=words)
    answer = {"question": 7, "value": "40 EUR"}
    query = said(words)
    assert decided(query, ASK, tools=tools) == Call("find", {"query": "deposit loft"})
    assert decided(ASK, *found, *same, tools=tools) == Call("answer", answer)
    other = called("find", "In section 3.4, 40 EUR is replaced by 60 EUR.", query=words)
    changed = {"question": 7, "value": "60 EUR"}
    assert decided(ASK, *found, *other, tools=tools) == [Call("answer", changed)]


def test_a_page_that_a_text_gives_is_read_again() -> None:
    """Then definitions and tables, then the book from its start, once, to its end."""
    contents = said("1.1 Definitions ........ 3\n3.4 Loft ........ 9\n90.1 Changes 1 ........ 50")
    assert decided(contents, ASK) == Call("read_page", {"page": 9})
    page = called("read_page", "Building handbook, page 9 of 11\n\n3.4 Loft\nText.", page=9)
    assert decided(contents, ASK, *page) == Call("read_page", {"page": 3})
    third = called("read_page", "Building handbook, page 3 of 11\n\n1.1 Definitions", page=3)
    assert decided(contents, ASK, *page, *third) == [Say(SCANNING), Call("read_page", {"page": 1})]
    assert decided(ASK) == [Say(SCANNING), Call("read_page", {"page": 1})]
    last = called("read_page", "Building handbook, page 11 of 11\n\nText.", page=11)
    last[0]["content"] = SCANNING
    assert decided(ASK, *last) == Say("I cannot find the answer to question 7.")
    value = called(
        "read_page", "Building handbook, page 9 of 11\n\n3.4 Loft\nThe deposit is 40 EUR.", page=9
    )
    note = Say("Section 3.4 gives 40 EUR as the deposit of loft.")
    assert decided(contents, ASK, *value) == [note, Call("read_page", {"page": 50})]


def test_without_the_question_it_gives_up() -> None:
    """In the middle of going through the book, as nobody knows what for."""
    page = called("read_page", "Building handbook, page 9 of 11\n\nText.", page=9)
    assert isinstance(decided(*page), Say)


def played(change: str) -> tuple[Verdict, list[str]]:
    """The verdict and the results where the calls of a solved task are made again, with one change."""
    task = Documents(1)
    tools = {tool.__name__: tool for tool in task.tools("clerk")}
    calls = [c["function"] for message in worked(1)[1] for c in message.get("tool_calls") or ()]
    results: list[str] = []
    for call in calls:
        arguments = dict(arguments_of(str(call["arguments"])))
        if call is calls[-1] and change == "missing":
            continue
        if call is calls[-1] and change == "wrong":
            arguments["value"] = "7 apples"
        results.append(tools[str(call["name"])](**arguments))
    if change == "twice":
        results.append(tools["read_page"](page=5))
    return task.verdict(), results


def test_the_verdict_sees_how_the_world_ended() -> None:
    """An answer that is missing, a wrong one, a page read twice, pages that were never read."""
    assert played("nothing")[0] == Verdict(solved=True)
    assert played("twice")[0] == Verdict(solved=True, repeated=1)
    missing, wrong = played("missing")[0], played("wrong")[0]
    assert not missing.solved
    assert "not answered" in missing.why
    assert not wrong.solved
    assert "answered 7 apples, not " in wrong.why
    assert "pages never read" in Documents(1).verdict().why


def test_pages_that_are_not_there_are_told() -> None:
    """As text, as tools do."""
    tools = {tool.__name__: tool for tool in Documents(0).tools("clerk")}
    assert tools["read_page"](page=0).startswith("There are pages 1 to ")
    assert tools["read_page"](page=1).split("\n")[2] == "Contents"
