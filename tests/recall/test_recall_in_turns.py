"""What a person asks for of the past is in the request, though it had left the window."""

from dataclasses import replace

import pytest
from typing_extensions import override

from autogen_context import ContextConfig, IncrementalContextManager, TokenBudgetManager
from autogen_context.budget.policy import BudgetRequest, CompactionBudget
from autogen_context.testing import ChatMessage

FACT = "My grandmother keeps her old violin in the blue cupboard upstairs."
QUESTION = "Where did I say my grandmother keeps her violin?"
LOST = "[3 May] Ann: I was told today that the violin workshop closes, and I am out of work."
CHATTER = [
    "Please look at order ORD-{n:04d}-X of customer C{n:04d}_eu in /var/orders/{n:04d}.json now.",
    "Order ORD-{n:04d}-X of C{n:04d}_eu was sent with tracking code TRK{n:04d}ZZ, see /var/t/{n:04d}.",
]


def talk(turns: int) -> list[ChatMessage]:
    """A fact, then chatter on something else."""
    said: list[ChatMessage] = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Hello, let us begin."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": FACT},
        {"role": "assistant", "content": "Noted."},
    ]
    for n in range(turns):
        said.append({"role": "user", "content": CHATTER[0].format(n=n)})
        said.append({"role": "assistant", "content": CHATTER[1].format(n=n)})
    return said


class Impersonal(TokenBudgetManager):
    """Guarantees people's words nothing, so that what they state leaves the window."""

    @override
    def for_compaction(self, request: BudgetRequest) -> CompactionBudget:
        """As usual, but for that."""
        usual = super().for_compaction(request)
        return replace(usual, people_fraction=0.0, stated_fraction=0.0)


def manager() -> IncrementalContextManager:
    """One with a small window."""
    return IncrementalContextManager(model="gpt-4", window_tokens=1_000)


def texts(messages: list[ChatMessage]) -> str:
    """All that is sent."""
    return "\n".join(str(message["content"]) for message in messages)


def lived_through(keeper: IncrementalContextManager, history: list[ChatMessage]) -> None:
    """Prepare a turn for each message of a person."""
    for stop in range(1, len(history) + 1):
        if history[stop - 1]["role"] == "user":
            keeper.prepare_nowait(history[:stop])


def test_it_comes_back_when_it_is_asked_for() -> None:
    """Asked in a turn that holds, the exchange stands in front of the question, and stays there in later turns."""
    config = ContextConfig(model="gpt-4", window_tokens=1_000)
    keeper = IncrementalContextManager(config=config, budget=Impersonal())
    history = talk(46)
    lived_through(keeper, history)
    casual = [*history, {"role": "user", "content": "Thank you, please go on."}]
    assert FACT not in texts(keeper.prepare_nowait(casual).messages)
    asked: list[ChatMessage] = [*history, {"role": "user", "content": QUESTION}]
    turn = keeper.prepare_nowait(asked)
    assert not turn.compacted
    assert FACT in texts(turn.messages)
    assert turn.messages[-1]["content"] == QUESTION
    assert FACT in str(turn.messages[-2]["content"])
    assert turn.certificate.fits
    other = IncrementalContextManager(config=config, budget=Impersonal())
    other.load_state(keeper.save_state())
    assert other.prepare_nowait(asked).messages == turn.messages
    later = keeper.prepare_nowait([*asked, {"role": "assistant", "content": "In the cupboard."}])
    assert later.messages[: len(turn.messages)] == turn.messages


def test_a_question_about_somebody_who_speaks_is_answered_at_a_compaction() -> None:
    """It asks for the past in no other words than a name of who speaks."""
    said: list[ChatMessage] = [{"role": "user", "content": "[1 May] Ben: Good morning."}]
    said.append({"role": "user", "content": LOST})
    for n in range(80):
        who = ("Ann", "Ben")[n % 2]
        text = (
            f"[4 May] {who}: Order ORD-{n:04d}-X of C{n:04d}_eu was sent, see /var/orders/{n:04d}."
        )
        said.append({"role": ("user", "assistant")[n % 2], "content": text})
    turn = manager().prepare_nowait(
        [*said, {"role": "user", "content": "When Ann has lost her work?"}]
    )
    assert turn.compacted
    assert LOST in texts(turn.messages)


def test_a_name_that_left_sight_brings_its_exchange_back() -> None:
    """Nobody asks for the past in so many words; what is named is enough, and only while it is out of sight."""
    keeper, history = manager(), talk(46)
    lived_through(keeper, history)
    named = CHATTER[0].format(n=2)
    assert named not in texts(keeper.prepare_nowait(history).messages)
    wanted: ChatMessage = {"role": "user", "content": "Please cancel ORD-0002-X."}
    assert named in texts(keeper.prepare_nowait([*history, wanted]).messages)
    unknown: ChatMessage = {"role": "user", "content": "Please cancel ORD-9999-X."}
    assert not keeper.prepare_nowait([*history, unknown]).decisions[-1].before


@pytest.mark.parametrize("turns", [40, 49])
def test_however_full_the_window_is_what_is_asked_for_is_there(turns: int) -> None:
    """Where there is no room for it in a turn that holds, the turn compacts."""
    for wanted, question in [
        (FACT, QUESTION),
        (CHATTER[0].format(n=2), "Please cancel ORD-0002-X."),
    ]:
        keeper, history = manager(), talk(turns)
        lived_through(keeper, history)
        turn = keeper.prepare_nowait([*history, {"role": "user", "content": question}])
        assert wanted in texts(turn.messages)
        assert turn.certificate.fits


def test_what_answers_stays_as_it_was_said_and_rules_stay_beside_it() -> None:
    """A compaction for a question cuts nothing that answers it down to what it states."""
    rule = "Never share the address of the workshop."
    answer = (
        f"{FACT} It has been hers for sixty years. Nobody plays it, but she would never sell it."
    )
    said = [rule, *[answer] * 12]
    history: list[ChatMessage] = [{"role": "user", "content": text} for text in ["Hello.", *said]]
    turn = manager().prepare_nowait(
        [*history, *talk(40)[5:], {"role": "user", "content": QUESTION}]
    )
    assert turn.compacted
    sent = texts(turn.messages)
    assert answer in sent
    assert rule in sent


def test_a_question_is_no_answer_to_itself() -> None:
    """What stands in front of it does not stay because it is near its words."""
    violins: list[ChatMessage] = [
        {"role": "user", "content": f"The violin of my grandmother is number {n} of its maker."}
        for n in range(45)
    ]
    chatter = talk(40)[5:]
    question = "What did I say of the violin of my grandmother?"
    turn = manager().prepare_nowait([*violins, *chatter, {"role": "user", "content": question}])
    assert turn.compacted
    assert str(chatter[len(chatter) // 2]["content"]) not in texts(turn.messages)
