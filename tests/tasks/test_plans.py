"""A plan of twelve steps: what the policy takes from a request, and what the verdict sees."""

from collections.abc import Mapping, Sequence
from functools import partial

import pytest
from host_agents import COUNTER
from tasks.plans import Plans
from tasks.plans_text import parsed_text
from tasks.sight import Sight
from tasks.solo import solve
from tasks.task import Verdict

from autogen_context.testing import Call, ChatMessage, Request, Say, Step
from support.sights import newest

LOOK_UP: ChatMessage = {
    "type": "function",
    "function": {
        "name": "recall",
        "description": "Look up text that has left this conversation.",
        "parameters": {"properties": {"query": {"type": "string"}}},
    },
}
PLAN = "1. open-port\n2. book-hall\n3. sign-archive (last)"
GO_ON = "Go on with the plan to the end."
TAKES = "Notes on book-hall, page 1 of 1\nTakes: the port of open-port and the change ticket.\n"


def user(text: str) -> ChatMessage:
    """What a person says."""
    return {"role": "user", "content": text}


def called(name: str, arguments: str, result: str) -> list[ChatMessage]:
    """A call with its result."""
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def step(*messages: ChatMessage, tools: Sequence[ChatMessage] = ()) -> Step:
    """What the policy does next."""
    return Plans.decide(Sight(Request(number=1, model="m", messages=messages, tools=tools)))


def notes(of: str, page: int = 1) -> Call:
    """The call that reads a page of notes."""
    return Call("read_notes", {"step": of, "page": page})


@pytest.fixture(scope="module")
def worked() -> tuple[Verdict, list[ChatMessage]]:
    """A task worked with all of its history."""
    history: list[ChatMessage] = []

    def show(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        history[:] = messages
        return messages

    return solve(Plans(1), show), history


def test_the_whole_history_is_enough(worked: tuple[Verdict, list[ChatMessage]]) -> None:
    """With everything in sight each step is run once, in order, with the right values."""
    assert worked[0] == Verdict(solved=True)


def test_the_newest_part_alone_is_not_enough() -> None:
    """Who sees the newest 3,000 tokens runs steps again and with wrong values."""
    verdict = solve(Plans(1), partial(newest, characters=12_000))
    assert not verdict.solved
    assert verdict.repeated
    assert "in place of" in verdict.why


def test_the_same_seed_is_the_same_task() -> None:
    """Words and results follow from the seed."""
    one, same, other = Plans(4), Plans(4), Plans(5)
    assert one.said == same.said != other.said
    assert [tool() for tool in one.tools("clerk")[3:4]] == [tool() for tool in same.tools("clerk")[3:4]]  # fmt: skip


def test_sizes_hold(worked: tuple[Verdict, list[ChatMessage]]) -> None:
    """Results, messages of people and the whole are as large as a task promises."""
    texts = [(str(m["role"]), COUNTER.count(str(m["content"])).tokens) for m in worked[1]]
    assert max(size for role, size in texts if role == "tool") < 900
    assert max(size for role, size in texts if role == "user") < 200
    assert 60_000 < sum(size for _, size in texts) < 100_000
    assert 80 <= sum(role == "assistant" for role, _ in texts) <= 160


PLANS: Mapping[str, str] = {
    "numbered": PLAN,
    "in a line": "The plan: 1. open-port 2. book-hall 3. sign-archive (last)",
    "in words": "First open-port, then book-hall, and finally sign-archive.",
    "in a summary": "The user said:\n- 1.\n- open-port\n- 2.\n- book-hall\n- 3.\n- sign-archive (last)",
    "quoted": "> [user] 1) open-port\n> 2) book-hall\n> 3) sign-archive (last)",
}
DONE: Mapping[str, str] = {
    "a call": 'run_step({"step": "open-port", "values": ""})\ncheck_step({"step": "open-port", "page": 2})\nCheck of open-port, page 2 of 2',
    "a sentence": "open-port was finished; its port is 51234.\nCheck of open-port, page 3 of 3",
    "a list": "Done so far:\n- run_step open-port\n- Check of open-port, page 2 of 2",
    "a check": "Check of open-port, page 1 of 1\n12:00 all is well",
    "a status": "book-hall: cannot be told\nopen-port: done\nsign-archive: cannot be told",
}


@pytest.mark.parametrize("done", DONE.values(), ids=DONE)
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_plan_and_how_far_it_is_are_taken_from_any_text(plan: str, done: str) -> None:
    """It goes on with the step behind the one that was done, once its check is read."""
    assert step(user(plan), user(done), user(GO_ON)) == notes("book-hall")


VALUES: Mapping[str, str] = {
    "as returned": "open-port done; its port is 51234.\nThe change ticket is CH-1234.",
    "known": "Known:\n- open-port: port 51234\n- change ticket: CH-1234",
    "quoted": 'earlier result: "open-port done; its port is 51234."; user: for the change ticket take CH-1234',
}


@pytest.mark.parametrize("text", VALUES.values(), ids=VALUES)
def test_values_are_taken_from_any_text(text: str) -> None:
    """A summary states them as well as the result did."""
    found = step(user(PLAN), user(text), user(GO_ON), *called("read_notes", "{}", TAKES))
    assert found == Call("run_step", {"step": "book-hall", "values": "51234, CH-1234"})


def test_what_people_renewed_is_the_newer_one() -> None:
    """Wherever it stands in the request."""
    old = user("open-port done; its port is 51234.\nThe change ticket is CH-1234.")
    new = user("The change ticket has been renewed, it is now CH-9999.")
    for told in ([old, new], [new, old]):
        found = step(user(PLAN), *told, user(GO_ON), *called("read_notes", "{}", TAKES))
        assert found == Call("run_step", {"step": "book-hall", "values": "51234, CH-9999"})


def test_a_value_that_is_gone_is_looked_up_once() -> None:
    """The answer is used; without one it takes the newest of that kind."""
    seen = [user(f"{PLAN}\nThe change ticket is CH-1234."), user(GO_ON)]
    read = called("read_notes", "{}", TAKES)
    log = user("12:00 order of the test system has port 60001")
    query = '{"query": "open-port port"}'
    assert step(*seen, log, *read, tools=[LOOK_UP]) == Call("recall", {"query": "open-port port"})
    told = called("recall", query, "open-port done; its port is 51234.")
    found = step(*seen, log, *read, *told, tools=[LOOK_UP])
    assert found == Call("run_step", {"step": "book-hall", "values": "51234, CH-1234"})
    empty = called("recall", query, "Nothing found.")
    found = step(*seen, log, *read, *empty, tools=[LOOK_UP])
    assert found == Call("run_step", {"step": "book-hall", "values": "60001, CH-1234"})


def test_a_plan_that_is_gone_is_looked_up_once() -> None:
    """Then the status is asked, and the steps that it names are done."""
    said = [user(GO_ON), user("open-port done."), user("Check of open-port, page 1 of 1")]
    asked = step(*said, tools=[LOOK_UP])
    assert asked == Call("recall", {"query": "plan"})
    answer = called("recall", '{"query": "plan"}', f"A person said: {PLAN}")
    assert step(*said, *answer, tools=[LOOK_UP]) == notes("book-hall")
    empty = called("recall", '{"query": "plan"}', "Nothing found.")
    assert step(*said, *empty, tools=[LOOK_UP]) == Call("status")
    told = called("status", "{}", "book-hall: not begun\nopen-port: done\nsign-archive: cannot be told")  # fmt: skip
    assert step(*said, *empty, *told, tools=[LOOK_UP]) == notes("sign-archive")


def test_a_plan_without_progress_is_begun_anew_at_last() -> None:
    """First it looks, then it asks the status; where people begin a plan it does neither."""
    seen = [user(PLAN), user(GO_ON)]
    assert step(*seen) == Call("status")
    told = called("status", "{}", "book-hall: not begun\nopen-port: cannot be told")
    assert step(*seen, *told) == notes("open-port")
    assert step(user(PLAN), user("Begin, and stop after book-hall.")) == notes("open-port")


def test_notes_that_are_gone_are_read_again() -> None:
    """From the last page back, until they say what the step takes."""
    page = "Notes on open-port, page {} of 2\nChoose the order."
    seen = [user(PLAN), user("Begin, and stop after book-hall.")]
    first, second = (called("read_notes", "{}", page.format(number)) for number in (1, 2))
    assert step(*seen, *first) == notes("open-port", 2)
    assert step(*seen, *first, *second) == notes("open-port", 1)
    looked_up = called("recall", '{"query": "else"}', "Nothing found.")
    assert step(*seen, *first, *second, *looked_up) == notes("open-port", 2)


def test_a_question_in_between_is_read_to_its_end() -> None:
    """Also where the question is no longer in sight; an older instruction does not come before it."""
    asked = user("In between, please read the 2 pages of the guest list for me.")
    read = [
        called("read_record", "{}", f"The guest list, page {page} of 2\nrow") for page in (1, 2)
    ]
    first = Call("read_record", {"name": "guest list", "page": 1})
    second = Call("read_record", {"name": "guest list", "page": 2})
    assert step(user(PLAN), asked) == first
    assert step(user(PLAN), asked, *read[0]) == second
    assert step(user(PLAN), user(GO_ON), *read[0]) == second
    assert isinstance(step(user(PLAN), asked, *read[0], *read[1]), Say)


def test_a_stop_is_kept_and_a_stop_that_was_passed_is_not() -> None:
    """Who sees that it went on behind a stop takes it as lifted."""
    stop = user("Go on with the plan, up to and with open-port.")
    done = user("Check of open-port, page 1 of 1")
    assert step(user(PLAN), stop, done) == Say("open-port is done.")
    passed = user("Notes on book-hall, page 1 of 3")
    assert step(user(PLAN), stop, done, passed) == notes("book-hall", 2)
    assert step(user(PLAN), done, passed, stop) == Say("open-port is done.")


def test_a_plan_is_written_down_once() -> None:
    """Then it waits; with the plan in sight and no newer word it goes on."""
    told = user("Write these down as a numbered plan:\nFirst open-port, then book-hall, and finally sign-archive.")  # fmt: skip
    assert step(told) == Say(PLAN)
    written: ChatMessage = {"role": "assistant", "content": PLAN}
    assert step(told, written, user("Go up to and with book-hall, then stop.")) == notes("open-port")  # fmt: skip


def test_the_verdict_sees_each_wrong_end() -> None:
    """Steps left out, run twice, in another order, and with other values."""
    task = Plans(3)
    _, run, *_ = task.tools("clerk")
    order = [line.split()[1] for line in task.said[0].text.split("\n") if line[:1].isdigit()]
    steps = order or sorted(line.split(":")[0] for line in task.tools("clerk")[3]().split("\n"))
    assert "was not run" in task.verdict().why
    for name in reversed(steps):
        run(name, "wrong")
    assert "in another order" in task.verdict().why
    assert "in place of" in task.verdict().why
    assert task.verdict().repeated == 0
    run(steps[0], "wrong")
    assert task.verdict().repeated == 1
    assert "run twice" in task.verdict().why


def test_what_a_step_was_run_with_is_no_value_of_it() -> None:
    """In a list of calls; what it returned is, in whatever form."""
    ran = '> called run_step add-queue "504fed10, V192"'
    assert parsed_text(ran).values == ()
    assert parsed_text("- add-queue: 504fed10").values == (("add-queue", "504fed10", False),)
