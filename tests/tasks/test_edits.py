"""A rename over many files: what the policy takes from a request, and what the verdict sees."""

from collections.abc import Mapping, Sequence

import pytest
from host_agents import COUNTER
from tasks.edits import Edits
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
LISTING = "3 files:\npackages/billing/jobs.py\npackages/billing/page.md\npackages/orders/views.py"
SAID = (
    "`retry_limit` becomes `copper_pulse` everywhere.\nIn running text `retry limit` becomes `meadow board`.\n"
    "Leave alone all of packages/orders/compat/, it is vendored.\nOnly the packages billing and orders at first."
)
PAGE = (
    "packages/billing/page.md (2 lines)\nThe retry limit of the label.\nSet `retry_limit` first.\n"
)


def people_and_newest(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """What people said, and the newest 3,000 tokens."""
    shown = newest(messages, 12_000)
    older = messages[1 : len(messages) - len(shown) + 1]
    return [messages[0], *(m for m in older if m["role"] == "user"), *shown[1:]]


def step(messages: Sequence[ChatMessage], tools: Sequence[ChatMessage] = ()) -> Step:
    """What the policy does next."""
    return Edits.decide(Sight(Request(number=1, model="m", messages=messages, tools=tools)))


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


def edited(found: Step) -> Mapping[str, object]:
    """What a step replaces by what."""
    calls = found if isinstance(found, Sequence) else [found]
    arguments = [dict(c.arguments) for c in calls if isinstance(c, Call) and not isinstance(c.arguments, str)]  # fmt: skip
    return {str(each["old"]): each["new"] for each in arguments if "old" in each}


@pytest.fixture(scope="module")
def worked() -> tuple[Verdict, list[ChatMessage]]:
    """A task worked with all of its history."""
    history: list[ChatMessage] = []

    def show(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        history[:] = messages
        return messages

    return solve(Edits(1), show), history


def test_the_whole_history_is_enough(worked: tuple[Verdict, list[ChatMessage]]) -> None:
    """With everything in sight nothing is wrong and nothing is done again."""
    assert worked[0] == Verdict(solved=True)
    assert solve(Edits(2)) == Verdict(solved=True)


def test_the_newest_part_alone_is_not_enough() -> None:
    """Who sees the newest 3,000 tokens edits files that were to be left alone."""
    verdict = solve(Edits(1), lambda messages: newest(messages, 12_000))
    assert not verdict.solved
    assert verdict.broken


def test_what_people_said_and_little_else_is_enough() -> None:
    """A small window can do it, with files read again."""
    verdict = solve(Edits(1), people_and_newest)
    assert verdict.solved
    assert verdict.repeated > 20


def test_the_same_seed_is_the_same_task() -> None:
    """Words and files follow from the seed."""
    one, same, other = Edits(4), Edits(4), Edits(5)
    assert one.said == same.said != other.said
    read = one.tools("clerk")[0]()
    assert read == same.tools("clerk")[0]() != other.tools("clerk")[0]()


def test_sizes_hold(worked: tuple[Verdict, list[ChatMessage]]) -> None:
    """Results, messages of people and the whole are as large as a task promises."""
    texts = [(str(m["role"]), COUNTER.count(str(m["content"])).tokens) for m in worked[1]]
    assert max(size for role, size in texts if role == "tool") < 900
    assert max(size for role, size in texts if role == "user") < 200
    assert 50_000 < sum(size for _, size in texts) < 100_000
    assert 80 <= sum(role == "assistant" for role, _ in texts) <= 160


SUMMARIES = {
    "as said": SAID,
    "user said": "The user said:\n- " + SAID.replace("\n", "\n- "),
    "quoted": "User: Rename `retry_limit` to `copper_pulse`. Also “retry limit” → “meadow board”.\n"
    "Do not touch packages/orders/compat/. Packages billing and orders.",
    "earlier edits": "Known: leave alone packages/orders/compat/\n"
    '- replace_text({"path": "packages/taxes/a.md", "old": "retry limit", "new": "meadow board"})\n'
    "- replace_text({'path': 'packages/taxes/a.py', 'old': \"retry_limit\", 'new': \"copper_pulse\"})",
}


@pytest.mark.parametrize("text", SUMMARIES.values(), ids=SUMMARIES)
def test_spellings_are_taken_from_any_text(text: str) -> None:
    """A summary states them as well as the person did."""
    read = called("read_file", '{"path": "packages/billing/page.md"}', PAGE)
    found = step([user(text), user(LISTING), *read])
    assert edited(found) == {"retry limit": "meadow board", "retry_limit": "copper_pulse"}


PROGRESS = {
    "a call": 'replace_text({"path": "packages/billing/jobs.py", "old": "a b", "new": "c d"})',
    "a sentence": "Renamed in packages/billing/jobs.py so far.",
    "a list": "Edited so far:\n- billing/jobs.py",
    "the contents": "packages/billing/jobs.py (1 lines)\ncopper_pulse = 4\n",
}


@pytest.mark.parametrize("text", PROGRESS.values(), ids=PROGRESS)
def test_a_file_that_is_seen_done_is_not_read_again(text: str) -> None:
    """Work goes on behind it."""
    found = step([user(SAID), user(LISTING), user(text)])
    assert found == [
        Call("read_file", {"path": f"packages/{path}"})
        for path in ("billing/page.md", "orders/views.py")
    ]


def test_a_spelling_that_holds_from_then_on_is_the_newer_one() -> None:
    """Wherever it stands in the request."""
    change = "From here on in running text `retry limit` is `signal desk` instead."
    read = called("read_file", '{"path": "packages/billing/page.md"}', PAGE)
    for said in ([change, SAID], [SAID, change]):
        found = step([*map(user, said), user(LISTING), *read])
        assert edited(found)["retry limit"] == "signal desk"


def test_what_is_missing_is_looked_up_once() -> None:
    """The answer is used; without one a spelling is made up."""
    told = "Leave alone packages/orders/compat/. `retry_limit` becomes `copper_pulse`. Packages billing and orders."
    read = called("read_file", '{"path": "packages/billing/page.md"}', PAGE)
    seen = [user(told), user(LISTING), *read]
    asked = step(seen, [LOOK_UP])
    assert asked == Call("recall", {"query": "`retry limit` becomes"})
    question = '{"query": "`retry limit` becomes"}'
    answered = [*seen, *called("recall", question, "user: “retry limit” is now “meadow board”")]
    assert edited(step(answered, [LOOK_UP]))["retry limit"] == "meadow board"
    empty = [*seen, *called("recall", question, "Nothing found.")]
    assert edited(step(empty, [LOOK_UP]))["retry limit"] == "copper pulse"


def test_exceptions_are_looked_up_where_none_is_in_sight() -> None:
    """A file that an answer names is left alone."""
    told = [
        user("`retry_limit` becomes `copper_pulse`. Packages billing and orders."),
        user(LISTING),
    ]
    assert step(told, [LOOK_UP]) == Call("recall", {"query": "leave alone"})
    answer = called(
        "recall", '{"query": "leave alone"}', "[person] hands off packages/billing/jobs.py"
    )
    found = step([*told, *answer], [LOOK_UP])
    assert isinstance(found, Sequence)
    assert found[0] == Call("read_file", {"path": "packages/billing/page.md"})


def test_a_listing_in_pieces_is_read_as_far_as_it_goes() -> None:
    """Where lines are missing behind the file that was edited last, the files are listed again, once."""
    pieces = "9 files:\npackages/billing/jobs.py\npackages/billing/page.md\n[...]\npackages/orders/views.py"
    assert isinstance(step([user(SAID), user(pieces)]), list)
    done = user("Edited packages/billing/jobs.py and packages/billing/page.md.")
    assert step([user(SAID), user(pieces), done]) == Call("list_files")
    found = step([user(SAID), done, *called("list_files", "{}", pieces)])
    assert found == [Call("read_file", {"path": "packages/orders/views.py"})]


def test_a_file_that_fails_is_looked_at_again() -> None:
    """It is read, and the name in two pieces is replaced; then its package is tested again."""
    tests = user("Now run the tests of packages billing and orders.")
    output = "FAILED packages/billing/jobs.py: LookupError, line 1\nbilling: 1 failed, 30 passed"
    failing = [user(SAID), tests, *called("run_tests", '{"package": "billing"}', output)]
    path = '{"path": "packages/billing/jobs.py"}'
    assert step(failing) == [Call("read_file", {"path": "packages/billing/jobs.py"})]
    text = 'packages/billing/jobs.py (1 lines)\nx["retry" "_limit"] = 4\n'
    read = [*failing, *called("read_file", path, text)]
    assert edited(step(read)) == {'"retry" "_limit"': '"copper_pulse"'}
    replaced = called("replace_text", path, "Replaced 1 times in packages/billing/jobs.py")
    assert step([*read, *replaced]) == [Call("run_tests", {"package": "billing"})]


def test_what_a_second_look_shows_in_part_is_read_where_it_stands_whole() -> None:
    """Only pieces of the name: the other spellings were edited since."""
    path = '{"path": "packages/billing/jobs.py"}'
    whole = 'packages/billing/jobs.py (2 lines)\na = retry_limit\nx["retry" "_limit"] = 4\n'
    first = [user(SAID), *called("read_file", path, whole)]
    first += called("replace_text", path, "Replaced 1 times in packages/billing/jobs.py")
    output = "FAILED packages/billing/jobs.py: LookupError, line 2\nbilling: 1 failed, 30 passed"
    first += [user("Now run the tests of packages billing and orders."), user(output)]
    part = "packages/billing/jobs.py (2 lines)\n[1 line as above]"
    assert edited(step([*first, *called("read_file", path, part)])) == {
        '"retry" "_limit"': '"copper_pulse"'
    }


def test_a_list_is_gone_over_a_second_time_and_no_third_time() -> None:
    """Files that were read after they were edited needed nothing; so did those before them."""
    listing = f"4 files:\npackages/billing/client.py\n{LISTING.partition(chr(10))[2]}"
    done = (
        "replace_text billing/jobs.py\nreplace_text billing/page.md\nreplace_text orders/views.py"
    )
    said = [user(SAID), user(listing)]
    first = step([*said, user(done)])
    assert first == [Call("read_file", {"path": "packages/billing/client.py"})]
    clean = [
        user(f"packages/{path} (1 lines)\nx = 4\n")
        for path in ("billing/page.md", "orders/views.py")
    ]
    assert step([*said, user("replace_text orders/views.py"), *clean]) == Say("Those are done.")


def test_nothing_to_go_by_is_said() -> None:
    """A policy that sees no name says so."""
    assert isinstance(step([user("Go on please.")]), Say)


def test_the_verdict_sees_each_wrong_end() -> None:
    """Work left over, files that were to be left alone, and things done again."""
    task = Edits(3)
    _, read, replace, *_ = task.tools("clerk")
    assert "files are not as they must be" in task.verdict().why
    line = next(line for line in task.said[0].text.split("\n") if ("packages/" in line and line.endswith(".py")) or ".py" in line)  # fmt: skip
    alone = next(word.strip(".,:") for word in line.split() if ".py" in word)
    first = read(alone).split("\n")[1]
    assert replace(alone, first, "changed").startswith("Replaced")
    assert task.verdict().broken == 1
    assert "was to be left alone" in task.verdict().why
    read(alone)
    replace(alone, first, "changed")
    assert task.verdict().repeated == 2
