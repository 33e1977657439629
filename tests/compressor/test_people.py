"""In a team whoever speaks has the user's role; rules come from people alone."""

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.eviction_notice import EvictionNotice
from autogen_context.compressor.span import Spans
from autogen_context.ledger import Ledger
from autogen_context.messages.message import Message, ToolResult
from autogen_context.messages.people import people_in
from autogen_context.prioritizer.references import References
from support.counting import COUNTER
from support.units import candidates_of

RULE = "Never touch the table billing_2024."
CHANGED = "The budget is 900 EUR."


def says(text: str, name: str = "", role: str = "user") -> Message:
    """A message under a name."""
    return Message(role=role, text=text, name=name)


@pytest.mark.parametrize(
    "name",
    [
        "", "user", "User", "user_proxy", "UserProxy", "user_proxy_2", "human", "HumanAdmin", "admin", "the user",
        "end-user", "customer", "client 3", "user_proxy_agent", "Operator", "human_input",
    ],
)  # fmt: skip
def test_who_is_taken_for_a_person(name: str) -> None:
    """Who has no name, or one that says it."""
    assert people_in([says("Go.", "boss")]).speaks(says("Go.", name))


@pytest.mark.parametrize(
    "name",
    [
        "web_surfer", "coder", "planner", "customer_support", "user_researcher", "chat_manager", "executor",
        "human_resources", "administration", "client_tester", "reuser", "Alice",
    ],
)  # fmt: skip
def test_who_is_taken_for_an_agent(name: str) -> None:
    """Everybody else, unless the user lists the name, or it gave the first task."""
    message = says("Go.", name)
    assert not people_in([says("Go.", "boss"), message]).speaks(message)
    assert people_in([says("Go.", "boss"), message], [name]).speaks(message)
    assert people_in([message, says("Go.", "boss")]).speaks(message)


def test_who_gave_the_first_task() -> None:
    """Not the system, nor what we wrote, nor results in the user's role."""
    opening = [
        says("You help.", "sys", "system"),
        Message(role="user", text="[Ledger]", name="ours", own=True),
        Message(role="user", name="tool", results=(ToolResult(call_id="1", text="x"),)),
        says("Go.", "boss"),
        says("Well.", "coder"),
    ]
    people = people_in(opening)
    spoken = {name: people.speaks(says("x", name)) for name in ("ours", "tool", "boss", "coder")}
    assert spoken == {"ours": False, "tool": False, "boss": True, "coder": False}


def test_only_the_role_changes() -> None:
    """Another agent has a model's say; all else is as it was."""
    people = people_in([says("Go.", "boss")])
    for message in (
        says("x", "boss"),
        says("x", "coder", "assistant"),
        says("x", "coder", "system"),
        Message(role="user", text="x", name="ours", own=True),
    ):
        assert people.heard(message) is message
    assert people.heard(says("x", "coder")) == says("x", "coder", "assistant")


TEAM = [says("Check the invoices.", "boss"), says("I looked at them.", "coder")]


@pytest.mark.parametrize(
    ("name", "listed", "author"),
    [
        ("web_surfer", (), "assistant"),
        ("boss", (), "person"),
        ("Alice", ("Alice",), "person"),
        ("Alice", ("Bob",), "assistant"),
    ],
)
def test_a_rule_is_a_persons(name: str, listed: tuple[str, ...], author: str) -> None:
    """In the text of a span and in what is told of what left sight; another agent's facts stand as reported."""
    messages = [*TEAM, says(f"{RULE} {CHANGED}", name), says("Go on.", "boss")]
    candidates = candidates_of(messages * 40)
    ledger = Ledger()
    for span in Spans(listed).of(candidates, stays=(), room_tokens=2_000):
        ledger.learn_text(span.text)
    assert {entry.author for entry in ledger} == {author}
    assert any("billing" in entry.text for entry in ledger) == (author == "person")
    references = References()
    references.follow(candidates, messages * 40)
    for step in (1, 160):
        telling = EvictionNotice[str](COUNTER, listed, compressor=SemanticCompressor())
        for stop in range(step, 160 + step, step):
            telling.follow((messages * 40)[:stop])
        told = telling.told(references.units, {}, summaries={}, room_tokens=500)
        assert ("Limits:\nNever touch the table billing_2024" in told) == (author == "person")
        assert ("Facts, said by the assistant:" in told) == (author == "assistant")


def sent(name: str, people: tuple[str, ...] = ()) -> str:
    """What a manager sends when a long talk has left many rules behind, all said under a name."""
    config = ContextConfig(people=people, model="gpt-4")
    manager = IncrementalContextManager(window_tokens=1_500, config=config)
    messages: list[dict[str, object]] = [{"role": "user", "name": "boss", "content": "Check all."}]
    text = ""
    for n in range(30):
        rule = f"Never touch the table billing_{n}. It rained {n * 7919} drops again. " * 9
        messages.append({"role": "assistant", "content": f"Looked at {n}. " * 20})
        messages.append({"role": "user", "name": name, "content": rule})
        text = "\n".join(str(m["content"]) for m in manager.prepare_nowait(messages).messages)
    return text


def test_a_manager_knows_the_people() -> None:
    """By the names of the conversation and of the settings."""
    stated = "Limits:\nNever touch"
    assert stated in sent("boss")
    assert stated in sent("Alice", people=("Alice",))
    assert stated not in sent("web_surfer")
    assert stated not in sent("Alice", people=("Bob",))
