"""Other managers' layouts: what a summary states counts in bullets, in one paragraph, as JSON and as a transcript, of any role."""

import json
import re
from collections.abc import Callable, Sequence

import pytest
from tasks.batches import Batches
from tasks.corrections import Corrections
from tasks.documents import Documents
from tasks.plans import Plans
from tasks.rules import Rules
from tasks.sight import Sight
from tasks.summariser import summarised
from tasks.task import Task
from tasks.teams import Teams
from tasks.teams_policy import LEFT

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
    Plans: ("read_notes", "run_step", "check_step", "status", "read_record"),
    Teams: ("list_page", "open_item", "read_log", "call_customer"),
    Documents: ("read_on", "read_page", "answer"),
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


ROLES = ("assistant", "user", "system")
PLAN = "1. open-port\n2. book-hall\n3. sign-archive\n4. rent-chairs (last)\n"
REST = "Please do the rest of the steps now."
TAKES = "Notes on sign-archive, page 1 of 1\nTakes: the port of open-port, the serial of book-hall and the change ticket.\n"
NOTES = called("read_notes", {"step": "sign-archive", "page": 1}, TAKES)
NEXT_STEP = "Call(name='read_notes', arguments={'step': 'sign-archive', 'page': 1})"
VALUES = "'values': '51234, R555, CH-9999'"
CUSTOMERS = "Now pages 3 to 4, each customer once."
AGAIN = "Last, try those again that gave no answer."
ROWS = called("list_page", {"page": 3}, "Page 3 of 8\nCU-7777\nCU-4444\nCU-5555\nCU-6666")
QUESTION = "Question 7: what is the deposit of the loft?"
ANSWER = "Call(name='answer', arguments={'question': 7, 'value': '40 EUR'})"


def said(text: str) -> ChatMessage:
    """What a person says."""
    return {"role": "user", "content": text}


def opened(*cities: str) -> list[ChatMessage]:
    """Items that were read in one answer: CU-1111 and so on."""
    made = [
        called("open_item", {"item": f"CU-{n}"}, f"CU-{n}, on page 3\ncity: {city}\ntier: trial\nsector: school\nphone of CU-{n}: 12345{n}")
        for n, city in enumerate(cities, 1111)
    ]  # fmt: skip
    calls = [call for message, _ in made for call in message["tool_calls"]]
    asked: ChatMessage = {"role": "assistant", "content": None, "tool_calls": calls}
    return [asked, *(result for _, result in made)]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_plan_a_team_and_a_book_are_read_in_every_layout(
    layout: Callable[[Sequence[str], Sequence[str]], str], role: str
) -> None:
    """Order, progress and values; rules, who was reached and who not; the question and what the book says."""
    plan = ["This is the plan, in this order: 1. open-port 2. book-hall 3. sign-archive 4. rent-chairs (last).", "First, the change ticket is CH-1234.", "The cost centre we have is CO-7777.", "Begin, and stop after book-hall.", "In between, please read the 14 pages of the guest list for me.", "By the way, the change ticket is now CH-9999.", REST]  # fmt: skip
    prose = "First open-port, then book-hall, then sign-archive, and finally rent-chairs."
    ran = ["open-port done; its port is 51234.", "book-hall done; its serial is R555.", "Check of book-hall, page 2 of 2."]  # fmt: skip
    assert decided(Plans, layout(plan, ran), role) == NEXT_STEP
    assert decided(Plans, layout([prose, *plan[1:]], ran), role) == NEXT_STEP
    assert VALUES in decided(Plans, layout(plan, ran), role, *NOTES)

    asked = ["A long list. Don't call anybody in Lyon. First call CU-7777, CU-8888, they cannot wait.", "Skip all hotels.", CUSTOMERS]  # fmt: skip
    tried = ["Called CU-7777, CU-8888.", "Called CU-4444; no answer from CU-5555."]
    summary = layout(asked, tried)
    step = decided(Teams, summary, role, *opened("Lyon", "Porto"))
    assert step == "[Call(name='call_customer', arguments={'item': 'CU-1112', 'key': '123451112'})]"
    step = decided(Teams, summary, role, *ROWS)
    assert step == "[Call(name='open_item', arguments={'item': 'CU-6666'})]"
    step = decided(Teams, summary, role, said(AGAIN))
    assert step == "[Call(name='open_item', arguments={'item': 'CU-5555'})]"
    report = decided(Teams, summary, role, said("Please hand over to the next one."))
    assert "out of turn: CU-7777, CU-8888.\\nNo answer so far: CU-5555.\\n" in report
    assert "Lyon" in report
    assert "hotels" in report

    read = ["Loft (section 3.4): notice period 9 days, deposit 30 EUR.", "Gym: deposit 20 EUR.", "In section 3.4, 30 EUR is replaced by 40 EUR."]  # fmt: skip
    summary = layout(["Now part four, every page of it.", QUESTION], read)
    assert ANSWER in decided(Documents, summary, role, *called("read_on", {}, "Text."))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "text",
    [
        "Plan: open-port, book-hall, sign-archive, rent-chairs\nCompleted steps:\n- open-port\n- book-hall\nRemaining:\n- sign-archive\n- rent-chairs",
        "1. open-port - done (port 51234)\n2. book-hall - done\n3. sign-archive - pending\n4. rent-chairs - pending",
        "1. `open-port` \u2705\n2. **book-hall** \u2705\n3. `sign-archive`\n4. `rent-chairs` (last)",
        "- [x] 1. open-port\n- [x] 2. book-hall\n- [ ] 3. sign-archive\n- [ ] 4. rent-chairs",
        "The plan is open-port -> book-hall -> sign-archive -> rent-chairs. open-port and book-hall are done, next is sign-archive.",
        "The plan: 1. open-port, 2. book-hall, 3. sign-archive, 4. rent-chairs. Steps 1 and 2 are completed.",
        "We go step-by-step: First open-port, then book-hall, sign-archive and rent-chairs. open-port and book-hall were run; sign-archive has not been run.",
        json.dumps({"plan": ["open-port", "book-hall", "sign-archive", "rent-chairs"], "completed": ["open-port", "book-hall"], "next": "sign-archive"}),
    ],
)  # fmt: skip
def test_how_far_a_plan_is(text: str, role: str) -> None:
    """Ticks, numbers, arrows, headings; what is pending was not run, whatever stands beside it."""
    checked = called("check_step", {"step": "book-hall"}, "Check of book-hall, page 1 of 1\nText.")
    first = decided(Plans, text, role, said(REST))
    assert first in {
        NEXT_STEP,
        "Call(name='check_step', arguments={'step': 'book-hall', 'page': 1})",
    }
    assert decided(Plans, text, role, said(REST), *checked) == NEXT_STEP


@pytest.mark.parametrize(
    "text",
    [
        "The port of open-port is 51234, the serial of book-hall is R555. Use CH-9999 as change ticket.",
        "open-port: 51234\nbook-hall: R555\nchange ticket: CH-9999 (was CH-1234)",
        "| open-port | port `51234` |\n| book-hall | serial **R555** |\nchange ticket changed from CH-1234 to CH-9999",
        "open-port done. book-hall done; its serial is R555. open-port gave port 51234. CH-9999 replaces CH-1234 as the change ticket.",
        json.dumps({"values": {"open-port": {"port": 51234}, "book-hall": {"serial": "R555"}}, "change_ticket": "CH-9999"}),
    ],
)  # fmt: skip
def test_values_of_a_plan_in_any_order(text: str) -> None:
    """A value is that of the step nearest to it; what was replaced holds no longer."""
    assert VALUES in decided(Plans, text, "assistant", said(PLAN + REST), *NOTES)


@pytest.mark.parametrize(
    "text",
    ["Excluded: Lyon, hotels.", "Do not call:\n- Lyon\n- hotels", "We can't contact Lyon or hotels.", json.dumps({"do_not_call": ["Lyon", "hotels"]}), "**Exclusions**\n- City: Lyon\n- Sector: hotel"],
)  # fmt: skip
def test_what_a_team_leaves_out(text: str) -> None:
    """A heading makes a rule of what stands below it."""
    step = decided(Teams, text, "assistant", said(CUSTOMERS), *opened("Lyon", "Porto"))
    assert step == "[Call(name='call_customer', arguments={'item': 'CU-1112', 'key': '123451112'})]"


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "text",
    [
        "Done:\n- CU-7777\n- CU-4444\nNo answer:\n- CU-5555",
        "Called CU-7777 and CU-4444, but CU-5555 gave no answer. Not called yet: CU-6666.",
        "CU-7777, CU-4444 called; CU-5555 no response",
        "| CU-7777 | called |\n| CU-4444 | done |\n| CU-5555 | no answer |",
        "- CU-7777 \u2705\n- CU-4444 \u2705\n- CU-5555: did not pick up",
        json.dumps({"called": ["CU-7777", "CU-4444"], "no_answer": ["CU-5555"]}),
    ],
)
def test_whom_a_team_has_reached(text: str, role: str) -> None:
    """Each name has the state of its own clause, or of the heading above it."""
    step = decided(Teams, text, role, said(CUSTOMERS), *ROWS)
    assert step == "[Call(name='open_item', arguments={'item': 'CU-6666'})]"
    step = decided(Teams, text, role, said(AGAIN))
    assert step == "[Call(name='open_item', arguments={'item': 'CU-5555'})]"


@pytest.mark.parametrize("role", ROLES)
def test_half_a_report_is_known_for_one_in_every_role(role: str) -> None:
    """A summary carries it as the person's message did."""
    told = f"The user said: Somebody did a part. This may not be complete. {CUSTOMERS}"
    assert "read_log" in decided(Teams, told, role, *opened("Lyon", "Porto"))


@pytest.mark.parametrize(
    "text",
    [
        "### Loft\n- deposit: 40 EUR\n- notice period: 9 days\n### Gym\n- deposit: 20 EUR",
        "- Loft\n  - deposit: 40 EUR\n- Gym\n  - deposit: 20 EUR",
        "Deposits:\n- gym: 20 EUR\n- loft: 40 EUR",
        "Deposits: gym 20 EUR, loft 40 EUR.",
        "| term | deposit |\n|---|---|\n| gym | 20 EUR |\n| loft | 40 EUR |",
        "loft: deposit 40 EUR (formerly 30 EUR)",
        "loft deposit: 30 EUR \u2192 40 EUR",
        json.dumps({"loft": {"deposit": "40 EUR"}, "gym": {"deposit": "20 EUR"}}),
        json.dumps({"facts": [{"term": "gym", "deposit": "20 EUR"}, {"term": "loft", "deposit": "40 EUR"}]}),
    ],
)  # fmt: skip
def test_values_of_a_book_below_and_beside_their_terms(text: str) -> None:
    """Under a heading without a number, in a list of one measure, in a small table, in an object."""
    assert ANSWER in decided(Documents, text, "assistant", said(QUESTION))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "text",
    [
        "The user asked question 7: what is the deposit of the loft?",
        "User's open question 7: deposit of the loft",
        "Current task: answer question 7 (deposit of the loft) for the user.",
        "## User's request\nQuestion 7: deposit of the loft",
    ],
)
def test_a_question_is_open_until_a_text_says_that_it_is_answered(text: str, role: str) -> None:
    """To be told to answer it is no answer."""
    again = called("read_page", {"page": 5}, "Text.")
    value = "Loft: deposit 40 EUR."
    assert ANSWER in decided(Documents, f"{text}\n{value}", role, *again)
    for done in ("Questions 1 to 7 were answered.", "Answered:\n- question 6\n- question 7"):
        step = decided(Documents, f"{text}\n{value}\n{done}", role, *again)
        assert step == "Say(text='That is answered.')"


def test_what_must_come_first_was_not_done_yet() -> None:
    """A condition, a duty or a ban is no account of what was done."""
    text = f"{PLAN}Run: open-port was done. If book-hall is done, sign-archive must be run."
    step = decided(Plans, text, "assistant", said(REST))
    assert step == "Call(name='check_step', arguments={'step': 'open-port', 'page': 1})"
    text = (
        "CU-7777 must not be called twice. Opened CU-4444, neither called yet. CU-5555 was called."
    )
    step = decided(Teams, text, "assistant", said(CUSTOMERS), *ROWS)
    assert "'CU-7777'" in step
    assert "'CU-4444'" in step


def test_a_team_looks_up_in_words_of_its_prompt() -> None:
    """Not in words that the sayings of people happen to have."""
    words = set(re.findall(r"\w+", Teams.prompt.lower())) | {"gave"}
    assert all(set(re.findall(r"\w+", query)) <= words for query in LEFT)


@pytest.mark.parametrize("role", ROLES)
def test_what_a_summary_knows_of_an_item_is_no_wish(role: str) -> None:
    """In the user's role as in the assistant's, once it says which lines are the user's."""
    text = f"The user said:\n- {CUSTOMERS}\nKnown:\n- CU-6666, on page 8, ring before noon\n- page 8 was listed"
    step = decided(Teams, text, role, *ROWS)
    assert (
        step
        == "[Call(name='open_item', arguments={'item': 'CU-7777'}), Call(name='open_item', arguments={'item': 'CU-4444'})]"
    )


def test_a_summary_keeps_the_rules_of_a_report_and_what_actions_gave() -> None:
    """A title within what a person says does not end it; a value that a step gave is no longer lost among lines of logs."""
    log = "\n".join(f"12:00:{n:02d} order.read took {n}000 ms" for n in range(60))
    text = (
        "Human: Read this first:\nReport.\nRules of our person:\n- Keep your hands off Lyon.\nNow page 8.\n"
        f"Tool: open-port done; its port is 51234.\n{log}\nTool: No answer from CU-5555."
    )
    told = summarised(text, 120)
    assert "- Keep your hands off Lyon." in told
    assert "open-port done; its port is 51234.\n" in told
    assert "- No answer from CU-5555." in told


def test_what_is_found_for_one_question_is_not_lost_over_another() -> None:
    """Of two questions in a summary the first may be answered and no text say so."""
    text = f"The user said:\n- Question 6: what is the deposit of the gym?\n- {QUESTION}\nKnown:\n- 90.1 Changes 1 ..... 50"
    page = "Building handbook, page 9 of 80\n\n3.4 Loft\nThe deposit is 40 EUR."
    found = called("read_page", {"page": 9}, page)
    assert "{'page': 50}" in decided(Documents, text, "assistant", *found)
    changes = called(
        "read_page",
        {"page": 50},
        "Building handbook, page 50 of 80\n\n90.1 Changes 1\n" + "Text. " * 600,
    )
    assert ANSWER in decided(Documents, text, "assistant", *found, *changes)


@pytest.mark.parametrize("role", ROLES)
def test_old_questions_of_a_summary_are_not_open_again(role: str) -> None:
    """People ask two at once at most; a summary in the user's role lists all of them."""
    old = [f"Question {n}: what is the deposit of the gym?" for n in range(1, 6)]
    text = bullets([*old, QUESTION], ["Gym: deposit 20 EUR.", "Loft: deposit 40 EUR."])
    step = decided(Documents, text, role, *called("read_page", {"page": 5}, "Text."))
    assert step == "Call(name='answer', arguments={'question': 5, 'value': '20 EUR'})"
