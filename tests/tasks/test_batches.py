"""Batches: three hundred items, each once; the policy reads nothing but its request, in whatever layout."""

from collections.abc import Mapping, Sequence

import pytest
from tasks.batches import ITEMS, SEARCHING, Batches
from tasks.sight import Sight
from tasks.solo import solve
from tasks.task import Tool

from autogen_context.testing import Call, ChatMessage, Request, Say, Step

LIST = "Page 1 of 10\nINV-0101  Castel\nINV-0102  Quay Foods\nINV-0103  Castel\n"
TOOLS: list[ChatMessage] = [
    {"type": "function", "function": {"name": name, "description": "", "parameters": {}}}
    for name in ("list_invoices", "read_invoice", "pay_invoice")
]
LOOK: ChatMessage = {
    "type": "function",
    "function": {
        "name": "search_past",
        "description": "Search what left this conversation.",
        "parameters": {"properties": {"query": {"type": "string"}}},
    },
}
DONE = {
    "bullets": "Done so far:\n- Paid INV-0101, reference R1.\n- Paid INV-0102, reference R2.",
    "a paragraph": "The assistant listed the invoices. Invoices INV-0101 to INV-0102 were paid.",
    "calls": 'pay_invoice({"item": "INV-0101"})\npay_invoice({"item": "INV-0102"})',
}


def asked(*messages: ChatMessage, tools: Sequence[ChatMessage] = TOOLS) -> Step:
    """What the policy does with these messages."""
    return Batches.decide(Sight(Request(number=1, model="m", messages=messages, tools=tools)))


def names_in(step: Step) -> list[object]:
    """The items that a step is about."""
    parts = step if isinstance(step, Sequence) else [step]
    return [
        p.arguments["item"]
        for p in parts
        if isinstance(p, Call) and not isinstance(p.arguments, str)
    ]


def test_the_whole_history_is_enough() -> None:
    """Each item is done, none twice."""
    verdict = solve(Batches(0))
    assert (verdict.solved, verdict.repeated, verdict.why) == (True, 0, "")


def test_the_newest_alone_is_not() -> None:
    """Without its past the agent repeats or forgets."""

    def newest(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        kept = list(messages[-14:])
        while kept[0]["role"] == "tool":
            del kept[0]
        return [messages[0], *kept]

    assert not solve(Batches(0), newest).solved


def test_the_same_seed_is_the_same_task() -> None:
    """Another seed is another one."""

    def told(seed: int) -> list[object]:
        task = Batches(seed)
        listing = task.tools("clerk")[0]
        return [task.said, [listing(page) for page in range(1, 11)]]

    assert told(5) == told(5) != told(6)


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
@pytest.mark.parametrize("layout", DONE)
def test_what_any_summary_calls_done_is_not_done_again(layout: str, role: str) -> None:
    """Whoever wrote it, in whatever form."""
    step = asked(
        {"role": role, "content": DONE[layout]},
        {"role": "user", "content": "Work through pages 1 to 4 of the list and pay each invoice there, once."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "list_invoices", "arguments": '{"page": 1}'}}]},
        {"role": "tool", "tool_call_id": "1", "content": LIST},
    )  # fmt: skip
    assert names_in(step) == ["INV-0103"]


def test_what_was_rejected_is_looked_up_once() -> None:
    """With a tool that says it looks back, and then with what it gave."""
    again: ChatMessage = {"role": "user", "content": "Can you retry everything that was rejected?"}
    assert asked(again, tools=[*TOOLS, LOOK]) == Call("search_past", {"query": "rejected"})
    looked: list[ChatMessage] = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "search_past", "arguments": '{"query": "rejected"}'}}]},
        {"role": "tool", "tool_call_id": "1", "content": "Rejected: INV-0107 is blocked today."},
    ]  # fmt: skip
    assert names_in(asked(again, *looked, tools=[*TOOLS, LOOK])) == ["INV-0107"]
    assert isinstance(asked(again), Say)  # without one it knows of none


def paid(tools: Sequence[Tool], otherwise: Mapping[int, int]) -> None:
    """Do each item of the world once, or as often as is said of its place."""
    listing, read, act = tools
    names = [row.split()[0] for page in range(1, 11) for row in listing(page).split("\n")[1:]]
    assert len(names) == ITEMS
    for at, name in enumerate(names):
        key = read(name).split("\n")[-2].split(": ")[1]
        for _ in range(otherwise.get(at, 1)):
            if act(name, key).startswith("Rejected"):
                act(name, key)


@pytest.mark.parametrize(
    ("otherwise", "repeated", "why"),
    [({}, 0, ""), ({0: 2, 1: 2}, 2, "2 done twice"), ({0: 0}, 0, "1 not done")],
    ids=["all once", "two twice", "one not"],
)
def test_the_verdict_sees_what_is_done_twice_and_what_is_not(
    otherwise: Mapping[int, int], repeated: int, why: str
) -> None:
    """The books say it."""
    task = Batches(3)
    paid(task.tools("clerk"), otherwise)
    verdict = task.verdict()
    assert (verdict.repeated, verdict.solved) == (repeated, not why)
    assert why in verdict.why


def test_what_was_looked_up_says_what_was_done_and_not_how_far_one_is() -> None:
    """Nor is the question an act, and a page that was cut is listed again."""
    told = 'pay_invoice({"item": "INV-0103"})\nPaid INV-0103.\nPage 9 of 10\nINV-0900  Castel\n'
    called = {"function": {"name": "search_past", "arguments": '{"query": "pay_invoice INV-0102"}'}}
    listed = {"function": {"name": "list_invoices", "arguments": '{"page": 1}'}}
    go: ChatMessage = {"role": "user", "content": "Work through pages 1 to 4 of the list and pay each invoice there, once."}  # fmt: skip
    messages: list[ChatMessage] = [
        go,
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", **listed}]},
        {"role": "tool", "tool_call_id": "1", "content": LIST},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "2", "type": "function", **called}]},
        {"role": "tool", "tool_call_id": "2", "content": told},
    ]  # fmt: skip
    tools = [*TOOLS, LOOK]
    assert names_in(asked(*messages, tools=tools)) == ["INV-0101", "INV-0102"]
    messages[2] = {**messages[2], "content": LIST.replace("INV-0102  Quay Foods", "…")}
    assert asked(*messages, tools=tools) == [Say(SEARCHING), Call("list_invoices", {"page": 1})]
