"""Who is a person and who another agent, and what of people's words stays as they wrote it."""

import json

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.eviction_notice import EvictionNotice
from autogen_context.compressor.span import Spans
from autogen_context.ledger import Ledger
from autogen_context.messages.message import Message
from autogen_context.messages.people import people_in
from autogen_context.prioritizer.references import References
from autogen_context.testing import ChatMessage
from support.counting import COUNTER
from support.units import candidates_of

RULE = "Never touch the table billing_2024. The budget is 900 EUR."


def says(text: str, name: str = "", role: str = "user") -> Message:
    """A message under a name."""
    return Message(role=role, text=text, name=name)


PERSONS = "user UserProxy user_proxy_2 HumanAdmin admin end-user customer user_proxy_agent Operator"
AGENTS = "web_surfer coder planner customer_support user_researcher chat_manager executor human_resources Alice"


@pytest.mark.parametrize("name", ["", "the user", "client 3", *PERSONS.split()])
def test_who_is_taken_for_a_person(name: str) -> None:
    """Who has no name, or one that says it."""
    assert people_in([says("Go.", "boss")]).speaks(says("Go.", name))


@pytest.mark.parametrize("name", AGENTS.split())
def test_who_is_taken_for_an_agent(name: str) -> None:
    """Everybody else, unless the user lists the name, or it gave the first task; only the role of an agent changes."""
    message = says("Go.", name)
    people = people_in([says("Go.", "boss"), message])
    assert not people.speaks(message)
    assert people.heard(message) == says("Go.", name, "assistant")
    assert people_in([says("Go.", "boss"), message], [name]).speaks(message)
    assert people_in([message, says("Go.", "boss")]).speaks(message)
    for other in (says("x", "boss"), says("x", name, "system"), says("x", name, "assistant")):
        assert people.heard(other) is other


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
    """F19: in the text of a span and in what is told of what left sight; another agent's facts stand as reported."""
    team = [says("Check the invoices.", "boss"), says("I looked at them.", "coder")]
    messages = [*team, says(RULE, name), says("Go on.", "boss")] * 40
    candidates = candidates_of(messages)
    ledger = Ledger()
    for span in Spans(listed).of(candidates, stays=(), room_tokens=2_000):
        ledger.learn_text(span.text)
    assert {entry.author for entry in ledger} == {author}
    assert any("billing" in entry.text for entry in ledger) == (author == "person")
    references = References()
    references.follow(candidates, messages)
    telling = EvictionNotice[str](COUNTER, listed, compressor=SemanticCompressor())
    telling.follow(messages)
    told = telling.told(references.units, {}, summaries={}, room_tokens=500)
    assert ("Limits:\nNever touch the table billing_2024" in told) == (author == "person")
    assert ("Facts, said by the assistant:" in told) == (author == "assistant")


# What they wrote stays

RULES = (
    "Never write to the table billing_2024.",
    "You must not send mail to customers.",
    "At most 3 retries for each request.",
    "Always ask me before you delete a file.",
    "Never deploy on a Friday.",
)


def steps(count: int) -> list[ChatMessage]:
    """Calls with long results."""
    said: list[ChatMessage] = []
    for n in range(count):
        call = {"name": "read_file", "arguments": json.dumps({"path": f"src/m{n}.py"})}
        calls = [{"id": f"c{n}", "type": "function", "function": call}]
        text = "\n".join(f"value_{n}_{line} = compute_{line}({n})" for line in range(60))
        said += [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"c{n}", "content": text},
        ]
    return said


def sent(said: tuple[str, ...], window: int, profile: str = "value") -> list[str]:
    """The texts of the request after a person said things, each was answered, and long work followed."""
    messages: list[ChatMessage] = [{"role": "user", "content": "Look after the build."}]
    for text in said:
        messages += [
            {"role": "user", "content": text},
            {"role": "assistant", "content": "Noted."},
        ]
    messages += [{"role": "user", "content": "Now go through the sources."}, *steps(20)]
    config = ContextConfig.model_validate(
        {"model": "gpt-4", "window_tokens": window, "profile": profile}
    )
    turn = IncrementalContextManager(config=config).prepare_nowait(messages)
    assert turn.certificate.fits
    assert turn.certificate.instruction_present
    return [str(message.get("content")) for message in turn.messages]


@pytest.mark.filterwarnings("ignore:window_tokens=")
@pytest.mark.parametrize("profile", ["value", "strict"])
def test_rules_stay_verbatim(profile: str) -> None:
    """F8: all five, in a small window, under every profile."""
    texts = sent(RULES, 2_500, profile)
    assert [rule for rule in RULES if rule not in texts] == []


TOLD = (
    "Visitors with a red badge use the east stairs.",
    "Mormors katt sover i tvättstugan.",
    "Ottilie keeps the key. Where did I put mine?",
)


@pytest.mark.filterwarnings("ignore:window_tokens=")
def test_what_is_told_by_no_cue_stays_verbatim() -> None:
    """F38: also where calls follow it, many units back, and in a language without phrases."""
    messages: list[ChatMessage] = [{"role": "user", "content": "Look after the build."}]
    for text in (*TOLD, *(f"Fix what fails in part {n}." for n in range(12))):
        messages += [{"role": "user", "content": text}, *steps(2)]
    turn = IncrementalContextManager(model="gpt-4", window_tokens=2_500).prepare_nowait(messages)
    texts = [message.get("content") for message in turn.messages]
    assert [text for text in TOLD if text not in texts] == []


@pytest.mark.filterwarnings("ignore:window_tokens=")
def test_a_paste_does_not_take_the_fraction() -> None:
    """Of a long message the rule stays, in its own words, and others' rules stay beside it."""
    rule = "Never touch the table ledger_77. "
    texts = sent(("lorem ipsum dolor. " * 150 + rule + "sit amet so. " * 150, *RULES), 3_000)
    assert all(each in texts for each in RULES)
    assert any(rule.strip() in text for text in texts)


@pytest.mark.filterwarnings("ignore:window_tokens=")
def test_a_memory_that_every_run_repeats_stays_once() -> None:
    """F7: a system message behind others stays, the newest as it is."""
    memory = "Relevant memory: the user prefers metric units."
    messages: list[ChatMessage] = [{"role": "user", "content": "Begin."}]
    for run in range(30):
        messages += [
            {"role": "user", "content": f"Run {run}."},
            {"role": "system", "content": memory},
            *steps(1),
            {"role": "assistant", "content": "Done."},
        ]
    turn = IncrementalContextManager(model="gpt-4", window_tokens=2_500).prepare_nowait(messages)
    assert memory in [message.get("content") for message in turn.messages]
