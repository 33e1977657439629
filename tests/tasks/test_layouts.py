"""Other managers' layouts: what a summary states counts in bullets, in one paragraph, as JSON and as a transcript, of any role."""

import json
from collections.abc import Callable, Sequence

import pytest
from tasks.batches import Batches
from tasks.corrections import Corrections
from tasks.rules import Rules
from tasks.sight import Sight
from tasks.task import Task

from autogen_context.testing import ChatMessage, Request

WISH = (
    "10 grey bins for the library, please: building B, room 7, Friday, minimum warranty 12 months."
)
BOOK = "Now book the reviews of Ana Ferro, Anna Ferrer and Jon Bergman: each on the day before the report is due."
RETRY = "Can you retry everything that was rejected? It should work now."


def paragraph(said: Sequence[str], done: Sequence[str]) -> str:
    """All in one line."""
    return (
        f"We talked about the work. The user said: {' '.join(said)} Done so far: {' '.join(done)}"
    )


def bullets(said: Sequence[str], done: Sequence[str]) -> str:
    """Under headings of Markdown."""
    return "\n".join(
        [
            "## User instructions",
            *(f"- {s}" for s in said),
            "## Progress",
            *(f"- {d}" for d in done),
        ]
    )


def bold(said: Sequence[str], done: Sequence[str]) -> str:
    """Under bold titles."""
    return "\n".join(
        ["**User requests and rules:**", *(f"* {s}" for s in said), "**Completed:**", *(f"* {d}" for d in done)]
    )  # fmt: skip


def transcript(said: Sequence[str], done: Sequence[str]) -> str:
    """As turns."""
    return "\n".join([*(f"Human: {s}\nAI: Noted." for s in said), *(f"Tool: {d}" for d in done)])


def as_json(said: Sequence[str], done: Sequence[str]) -> str:
    """As an object."""
    return json.dumps({"user_said": said, "done": done})


LAYOUTS = (paragraph, bullets, bold, transcript, as_json)
TOOLS: dict[type[Task], Sequence[str]] = {
    Rules: ("search_shop", "read_offer", "order", "read_mail", "send_mail"),
    Corrections: ("read_mail", "search_mail", "book_review", "reserve_place", "find_contact", "send_mail"),
    Batches: ("list_invoices", "read_invoice", "pay_invoice"),
}  # fmt: skip


def called(name: str, arguments: object, result: str) -> list[ChatMessage]:
    """A call and its result."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    id_ = f"{name} {json.dumps(arguments)}"
    call = {"id": id_, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id_, "content": result},
    ]


def offered(number: int, supplier: str, price: str) -> list[ChatMessage]:
    """An offer that was read."""
    text = f"Offer {number}: grey bins\nSupplier: {supplier}\nPrice: {price} EUR each\nWarranty: 24 months"
    return called("read_offer", {"number": number}, text)


def decided(family: type[Task], summary: str, role: str, *rest: ChatMessage) -> str:
    """What the policy does next after a summary."""
    tools: list[ChatMessage] = [
        {"type": "function", "function": {"name": n, "description": "", "parameters": {}}}
        for n in TOOLS[family]
    ]
    messages: list[ChatMessage] = [
        {"role": "system", "content": "Work."}, {"role": role, "content": summary}, *rest,
    ]  # fmt: skip
    request = Request(number=1, model="model", messages=messages, tools=tools)
    return repr(family.decide(Sight(request)))


@pytest.mark.parametrize("role", ["assistant", "user", "system"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_summary_counts_in_every_layout(
    layout: Callable[[Sequence[str], Sequence[str]], str], role: str
) -> None:
    """Rules and the wish itself; values and the task; what was rejected."""
    rows = "Offer 40001 | Castel | grey bins\nOffer 40002 | Tessera | grey bins"
    offers = (
        *called("search_shop", {"item": "grey bins"}, rows),
        *offered(40001, "Castel", "20.50"),
        *offered(40002, "Tessera", "22.50"),
    )
    rules = ["Castel is off our list until further notice.", "For the library it is always cost centre 4412.", WISH]  # fmt: skip
    step = decided(Rules, layout(rules, ["order(offer 1) gave O77."]), role, *offers)
    assert "'offer': 40002" in step
    assert "'4412'" in step

    facts = ["Ana Ferro's report is due on 3 May.", "The deadline of Anna Ferrer is 5 May.", "For Jon Bergman the deadline is 7 May.", "Change for Anna Ferrer: deadline 9 May.", BOOK]  # fmt: skip
    booked = called("book_review", {"person": "Ana Ferro", "day": "2026-05-02"}, "Booked.")
    step = decided(Corrections, layout(facts, ["Booked: review of Ana Ferro."]), role, *booked)
    assert "{'person': 'Anna Ferrer', 'day': '2026-05-08'}" in step

    done = ["Paid INV-0101, INV-0102.", "INV-0104 was rejected: blocked today.", "Paid INV-0105."]
    person: ChatMessage = {"role": "user", "content": RETRY}
    summary = layout(["Work through pages 1 to 10 of the list."], done)
    step = decided(Batches, summary, role, person)
    assert step == "[Call(name='read_invoice', arguments={'item': 'INV-0104'})]"


def test_a_heading_says_what_its_bullets_do_not() -> None:
    """Names alone under "Rejected"; calls say themselves what they did."""
    summary = (
        "Done so far:\n- INV-0101\n- read_invoice(INV-0102)\nRejected:\n- INV-0104\n- INV-0107"
    )
    step = decided(Batches, summary, "assistant", {"role": "user", "content": RETRY})
    assert step == (
        "[Call(name='read_invoice', arguments={'item': 'INV-0104'}), "
        "Call(name='read_invoice', arguments={'item': 'INV-0107'})]"
    )
