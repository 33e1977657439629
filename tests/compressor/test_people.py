"""Who is a person and who another agent, and what of people's words stays as they wrote it."""

from collections.abc import Sequence

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.notice import EvictionNotice
from autogen_context.compressor.people import PeoplesRoom, PeoplesWords
from autogen_context.compressor.remarks import ends_around
from autogen_context.compressor.summaries import Spans
from autogen_context.ledger import Ledger
from autogen_context.messages.message import Message
from autogen_context.messages.origin import Declared, resolved
from autogen_context.testing import ChatMessage
from autogen_context.view.index import ConversationIndex
from support.counting import COUNTER
from support.results import step
from support.units import candidates_of, overview_of

RULE = "Never touch the table billing_2024. The budget is 900 EUR."


def says(text: str, name: str = "", role: str = "user") -> Message:
    """A message under a name."""
    return Message(role=role, text=text, name=name)


@pytest.mark.parametrize(
    ("name", "people", "author"),
    [
        ("web_surfer", (), "assistant"),
        ("", (), "person"),
        ("user", (), "person"),
        ("Alice", ("Alice",), "person"),
        ("Alice", ("Bob",), "assistant"),
        ("planner", (), "assistant"),
    ],
)
def test_a_rule_is_a_persons(name: str, people: tuple[str, ...], author: str) -> None:
    """In the text of a span and in what is told of what left sight; another agent's facts stand as reported."""
    team = [says("Check the invoices.", "planner"), says("I looked at them.", "coder")]
    said = [*team, says(RULE, name), says("Go on.", "planner")] * 40
    messages = list(resolved(said, Declared.of(people)))
    candidates = candidates_of(messages)
    ledger = Ledger()
    index = ConversationIndex(candidates)
    for span in Spans().of(index, stays=(), room_tokens=2_000):
        ledger.learn_text(span.text)
    assert {entry.author for entry in ledger} == {author}
    assert any("billing" in entry.text for entry in ledger) == (author == "person")
    notice = EvictionNotice(COUNTER, compressor=SemanticCompressor())
    index.follow(notice)
    told = notice.content(candidates, {}, summaries={}, room_tokens=500)
    assert ("Limits, by the person:\n> Never touch the table billing_2024" in told) == (
        author == "person"
    )
    assert ("Facts, said by the assistant:" in told) == (author == "assistant")


# What they wrote stays

RULES = (
    "Never write to the table billing_2024.",
    "You must not send mail to customers.",
    "At most 3 retries for each request.",
    "Always ask me before you delete a file.",
    "Never deploy on a Friday.",
)
PASTED = "Never touch the table ledger_77."
MEMORY = "Relevant memory: the user prefers metric units."


def steps(count: int) -> list[ChatMessage]:
    """Calls with long results."""
    work = "\n".join(f"value_{line} = compute_{line}()" for line in range(60))
    return [m for n in range(count) for m in step(n, work, command=f"cat src/m{n}.py")]


def sent(said: Sequence[ChatMessage], **settings: object) -> list[str]:
    """The texts of the request after things were said and long work followed."""
    messages = [talk("Look after the build."), *said, talk("Go on."), *steps(20)]
    config = ContextConfig.model_validate({"model": "gpt-4", **settings})
    turn = IncrementalContextManager(config=config).prepare_nowait(messages)
    assert turn.certificate.fits
    assert turn.certificate.instruction_present
    return [str(message.get("content")) for message in turn.messages]


def talk(text: str, role: str = "user") -> ChatMessage:
    """A message of a conversation."""
    return {"role": role, "content": text}


@pytest.mark.filterwarnings("ignore:window_tokens=")
@pytest.mark.parametrize("profile", ["value", "strict"])
def test_rules_stay_verbatim(profile: str) -> None:
    """F8: all five, in a small window, under every profile; of a long paste among them the rule, in its own words."""
    pasted = f"{'lorem ipsum dolor. ' * 150}{PASTED} {'sit amet so. ' * 150}"
    said = [m for text in (pasted, *RULES) for m in (talk(text), talk("Noted.", "assistant"))]
    texts = sent(said, window_tokens=3_000, profile=profile)
    assert [rule for rule in RULES if rule not in texts] == []
    assert any(PASTED in text for text in texts)


def test_a_long_message_keeps_what_it_states() -> None:
    """F8: word for word, at either end of a paste of any length; what is pasted between leaves a mark."""
    paste = "".join(f"row {n} of the table\n" for n in range(90_000))
    short = SemanticCompressor().stated(f"- {RULE} Here:\n\n{paste}\nGo on. {RULES[2]}")
    assert short == f"- {RULE} [… 90003 lines …]{RULES[2]}"
    quoted = f"{RULE} So?\n```\n{RULES[0]}\n```\nYes."
    assert SemanticCompressor().stated(quoted) == f"{RULE} [… 4 lines …]"
    talk = f"[user] Good morning to you.\n[assistant] Fine.\n[user] {RULES[0]}"
    assert SemanticCompressor().stated(talk) == f"[… 2 lines …]{RULES[0]}"


@pytest.mark.parametrize(
    ("remarks", "stays"),
    [
        (["--- up to here all is well, what follows is since the move to Kestrel ---"], True),
        (["hier ist der Server schon neu", "from here on it is the old one again"], True),
        ([f"paragraph {n} of a text that is made of single lines" for n in range(30)], False),
    ],
)
def test_a_remark_inside_a_paste_stays(remarks: list[str], stays: bool) -> None:  # noqa: FBT001 - a table
    """A line between blank ones that says something, where there are few of them; else it is the paste's own way."""
    log = [f"09:{n % 60:02d} worker[{n}]: chunk {n} of 240 done in {n} ms" for n in range(120)]
    parts = ["\n".join(log), *(f"{remark}\n\n" + "\n".join(log) for remark in remarks)]
    short = ends_around("\n\n".join(parts))
    assert [remark for remark in remarks if f"[…] {remark}\n" in short] == (
        remarks if stays else []
    )
    assert len(short) < 2_000
    assert short.startswith(log[0])
    assert short.endswith(log[-1])


TOLD = (
    "Visitors with a red badge use the east stairs.",
    "Mormors katt sover i tvättstugan.",
    "Ottilie keeps the key. Where did I put mine?",
)


@pytest.mark.filterwarnings("ignore:window_tokens=")
def test_what_is_told_by_no_cue_stays_verbatim() -> None:
    """F38: also where calls follow it, many units back, and in a language without phrases."""
    parts = (*TOLD, *(f"Fix what fails in part {n}." for n in range(12)))
    said = [m for text in parts for m in (talk(text), *steps(2))]
    texts = sent(said, window_tokens=2_500)
    assert [text for text in TOLD if text not in texts] == []


@pytest.mark.filterwarnings("ignore:window_tokens=")
def test_a_memory_that_every_run_repeats_stays_once() -> None:
    """F7: a system message behind others stays, the newest as it is."""
    run = [talk("Run."), talk(MEMORY, "system"), talk("Done.", "assistant")]
    assert sent(run * 30, window_tokens=2_500).count(MEMORY) == 1


@pytest.mark.parametrize(
    ("older", "stays"),
    [(RULES[0], False), (f"{RULES[0]}\nThanks.", False), (f"{RULES[0]}\n{RULES[3]}", True)],
)
def test_what_is_said_again_counts_once(older: str, stays: bool) -> None:  # noqa: FBT001 - a table
    """The newest time; an older message stays beside it only where half of it is its own."""
    messages = list(resolved([says(older), says(RULES[0])]))
    candidates = candidates_of(messages)
    words = PeoplesWords(COUNTER, SemanticCompressor())
    ConversationIndex(candidates).follow(words)
    found = words.kept(
        candidates,
        overview_of(candidates),
        messages,
        room=PeoplesRoom(total=2_000, own=0, guaranteed=500, sure_fraction=0.5, long=500),
        taken=(),
        horizon=0,
        is_used=lambda _: False,
    )
    assert sorted(found) == [0, 1][not stays :]
