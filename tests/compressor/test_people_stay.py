"""What people say stays as they wrote it, whatever tools return behind it."""

import json

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.testing import ChatMessage

pytestmark = pytest.mark.filterwarnings("ignore:window_tokens=")

RULES = (
    "Never write to the table billing_2024.",
    "You must not send mail to customers.",
    "At most 3 retries for each request.",
    "Always ask me before you delete a file.",
    "Never deploy on a Friday.",
)


def steps(count: int, lines: int = 60) -> list[ChatMessage]:
    """Calls with long results."""
    said: list[ChatMessage] = []
    for n in range(count):
        call = {"name": "read_file", "arguments": json.dumps({"path": f"src/m{n}.py"})}
        calls = [{"id": f"c{n}", "type": "function", "function": call}]
        text = "\n".join(f"value_{n}_{line} = compute_{line}({n})" for line in range(lines))
        said += [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"c{n}", "content": text},
        ]
    return said


def talk(*said: str) -> list[ChatMessage]:
    """A person says things, each is answered, and long work follows."""
    opening: list[ChatMessage] = [{"role": "user", "content": "Look after the build."}]
    for text in said:
        opening += [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
    return [*opening, {"role": "user", "content": "Now go through the sources."}, *steps(20)]


def sent(messages: list[ChatMessage], window: int, profile: str = "value") -> list[str]:
    """The texts of the request."""
    config = ContextConfig.model_validate(
        {"model": "gpt-4", "window_tokens": window, "profile": profile}
    )
    turn = IncrementalContextManager(config=config).prepare_nowait(messages)
    assert turn.certificate.fits
    assert turn.certificate.instruction_present
    return [str(message.get("content")) for message in turn.messages]


@pytest.mark.parametrize("profile", ["value", "balanced", "conservative", "strict"])
def test_rules_stay_verbatim(profile: str) -> None:
    """All five, in a small window, under every profile (F8)."""
    texts = sent(talk(*RULES), 2_500, profile)
    assert [rule for rule in RULES if rule not in texts] == []


def test_a_paste_does_not_take_the_fraction() -> None:
    """Of a long message the rule stays, in its own words, and others' rules stay beside it."""
    paste = (
        "lorem ipsum dolor. " * 150 + "Never touch the table ledger_77. " + "sit amet so. " * 150
    )
    texts = sent(talk(paste, *RULES), 3_000)
    assert all(rule in texts for rule in RULES)
    assert any("Never touch the table ledger_77." in text for text in texts)


def test_a_memory_that_every_run_repeats_stays_once() -> None:
    """A system message behind others stays, the newest as it is (F7)."""
    messages: list[ChatMessage] = [{"role": "user", "content": "Begin."}]
    for run in range(30):
        messages += [
            {"role": "user", "content": f"Run {run}."},
            {"role": "system", "content": "Relevant memory: the user prefers metric units."},
            *steps(1),
            {"role": "assistant", "content": "Done."},
        ]
    texts = sent(messages, 2_500)
    assert "Relevant memory: the user prefers metric units." in texts
