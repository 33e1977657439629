"""What a budget says of a turn and of a compaction, and that a conversation obeys it."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.budget.manager import TokenBudgetManager
from autogen_context.budget.policy import BudgetRequest, CompactionBudget, Profile, TurnBudget
from autogen_context.budget.task import TaskDefinition
from autogen_context.models.completion import Complete
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.saying import asks, call_of, tells
from support.waiting import until

PROFILES: tuple[Profile, ...] = ("value", "balanced", "conservative", "strict")
CASUAL = "Please fix the crash in the vault"
PAST, SUMMARY = "What did I say about the vault?", "Summarise what we did so far"
REQUESTS = st.builds(
    BudgetRequest,
    room_tokens=st.integers(0, 10**6),
    fixed_tokens=st.integers(0, 10**4),
    task=st.sampled_from(["", CASUAL, PAST, SUMMARY]).map(TaskDefinition.from_text),
    messages=st.integers(0, 200),
    asks_back=st.booleans(),
    has_summaries=st.booleans(),
)
TOOLS = ("list_directory", "bash", "read_file")


def request(text: str, *, messages: int = 30, asks_back: bool = False) -> BudgetRequest:
    """A compaction in a room of 12,000 tokens."""
    task = TaskDefinition.from_text(text)
    return BudgetRequest(room_tokens=12_000, task=task, messages=messages, asks_back=asks_back)


def worked() -> list[ChatMessage]:
    """An agent that lists, runs and reads, with a person who asked for it."""
    messages: list[ChatMessage] = [{"role": "user", "content": CASUAL}]
    for step in range(24):
        call = call_of(f"c{step}", TOOLS[step % 3], path=f"src/part_{step}.py")
        told = f"line {step} of vault_{step} says {step * 7919}\n" * 12
        messages += [asks(call, text=f"Step {step}"), tells(f"c{step}", told)]
    return messages


@example(
    BudgetRequest(room_tokens=9, task=TaskDefinition.from_text(PAST), messages=9, asks_back=True),
    "conservative",
    None,
)
@given(REQUESTS, st.sampled_from(PROFILES), st.none() | st.integers(1, 10**6))
def test_a_budget_shares_out_no_more_than_there_is(
    request: BudgetRequest, profile: Profile, total: int | None
) -> None:
    """Whatever is asked: parts of the whole, and a total within the room and within what was given."""
    manager = TokenBudgetManager(total, profile=profile)
    budget, turn = manager.for_compaction(request), manager.for_turn(request.room_tokens)
    assert budget.newest_fraction + budget.notice_fraction <= 1 + 1e-9
    assert sum((budget.sections or {}).values()) <= 1 + 1e-9
    assert budget.total_tokens <= min(request.room_tokens, total or 10**6)
    assert turn.compact_at_tokens <= min(request.room_tokens, total or 10**6)
    assert turn.retrieved_tokens + turn.notice_tokens <= request.room_tokens
    assert manager.for_compaction(request) == budget


@pytest.mark.parametrize(
    ("profile", "text", "asks", "kept", "newest", "told"),
    [
        pytest.param("conservative", CASUAL, False, 5 / 8, 4 / 5, 1 / 5, id="casual"),
        pytest.param("conservative", PAST, True, 1, 4 / 7, 1 / 7, id="recall"),
        pytest.param("conservative", SUMMARY, False, 7 / 8, 4 / 7, 3 / 7, id="summary"),
        pytest.param("strict", CASUAL, False, 43 / 90, 1, 0, id="strict"),
        pytest.param("value", PAST, True, 0.95, 0.03, 0, id="by score, asked"),
        pytest.param("strict", PAST, True, 83 / 90, 43 / 83, 0, id="strict, asked"),
    ],
)
def test_a_table_says_what_each_part_has(
    *, profile: Profile, text: str, asks: bool, kept: float, newest: float, told: float
) -> None:
    """The shares of the table beside the system's."""
    budget = TokenBudgetManager(profile=profile).for_compaction(request(text, asks_back=asks))
    found = (budget.kept_fraction, budget.newest_fraction, budget.notice_fraction)
    assert found == pytest.approx((kept, newest, told))


@pytest.mark.parametrize(("profile", "at"), [("value", 1.0), *((each, 0.8) for each in PROFILES)])
def test_a_turn_knows_what_a_compaction_leaves(profile: Profile, at: float) -> None:
    """The price of a rewrite is judged by what a casual one in a long talk fills."""
    manager = TokenBudgetManager(profile=profile, compact_at_fraction=at)
    budget = manager.for_compaction(request("", messages=100))
    turn = manager.for_turn(12_000)
    assert turn.kept_fraction == pytest.approx(budget.kept_fraction)
    assert turn.compact_at_tokens == 12_000 * at


@pytest.mark.parametrize(
    ("room", "fraction"), [(3_000, 0.32), (8_000, 0.36), (16_000, 0.52), (200_000, 0.52)]
)
def test_a_large_room_is_left_fuller(room: int, fraction: float) -> None:
    """Since it holds for more turns all the same; a fraction that is given decides everywhere."""
    assert TokenBudgetManager().for_turn(room).kept_fraction == pytest.approx(fraction)
    assert TokenBudgetManager(compact_to_fraction=0.2).for_turn(room).kept_fraction == 0.2


EASY = "Fix the typo in the vault"
HARD = (
    "1. Fix vault_3.py\n2. Test vault_5.py\n3. Run it\n4. Commit it, only if all pass; you must never push. "
    "Explain why it failed, and how you found out."
)


def test_complexity_moves_the_budget() -> None:
    """A hard task keeps more of what people said and of what is told, an easy one more of the newest units (F3)."""
    easy, hard = (TokenBudgetManager().for_compaction(request(text)) for text in (EASY, HARD))
    assert (easy.newest_fraction, hard.newest_fraction) == pytest.approx((0.6, 0.4))
    assert (easy.people_fraction, hard.people_fraction) == pytest.approx((0.1125, 0.1875))
    assert (easy.notice_fraction, hard.notice_fraction) == pytest.approx((0.045, 0.075))
    assert easy.kept_fraction == hard.kept_fraction


def test_role_and_usage_move_the_budget() -> None:
    """A tester has more of the newest steps; what later turns used of a section moves its part, within bounds (B2)."""
    usual = TokenBudgetManager().for_compaction(request(CASUAL))
    tester = TokenBudgetManager(role="tester").for_compaction(request(CASUAL))
    assert tester.newest_fraction > usual.newest_fraction
    measured = TokenBudgetManager()
    measured.record_usage("requirements", given_tokens=10**6, used_tokens=10**6)
    measured.record_usage("execution_history", given_tokens=10**6, used_tokens=0)
    moved = measured.for_compaction(request(CASUAL))
    assert usual.people_fraction < moved.people_fraction <= 1.4 * 0.15
    assert usual.newest_fraction > moved.newest_fraction >= 0.7 * 0.5


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kept_fraction", 1.2),
        ("notice_fraction", -0.1),
        ("newest_fraction", float("nan")),
        ("total_tokens", -1),
        ("sections", {"design": 2.0}),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(field: str, value: object) -> None:
    """With the name of the number, its value and the way out."""
    with pytest.raises(ValueError, match=rf"{field}.*: give a"):
        CompactionBudget(**{"total_tokens": 100, field: value})  # type: ignore[arg-type]  # the point
    with pytest.raises(ValueError, match="notice_tokens=-1: give a"):
        TurnBudget(compact_at_tokens=1, retrieved_tokens=1, notice_tokens=-1)


class Halved:
    """A budget of one's own: what the default says, and half of it."""

    def __init__(self) -> None:
        self.inner = TokenBudgetManager()

    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        """As by default."""
        return self.inner.for_turn(room_tokens)

    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        """Half of what is filled by default."""
        budget = self.inner.for_compaction(request)
        return replace(budget, kept_fraction=budget.kept_fraction / 2)


def test_a_halved_budget_halves_what_is_sent() -> None:
    """The same conversation under the default budget and one's own (F1, E2)."""
    sent: list[int] = []
    for budget in (None, Halved(), TokenBudgetManager(600)):
        manager = IncrementalContextManager(
            model="gpt-4", window_tokens=1_400, counter=Characters(), budget=budget
        )
        prepared = manager.prepare_nowait(worked())
        assert prepared.compacted
        sent.append(prepared.certificate.counted_tokens)
    assert sent[1] < 0.7 * sent[0]
    assert sent[2] < 0.8 * sent[0]


def kept(messages: Sequence[ChatMessage], client: Complete | None) -> list[str]:
    """The actions on each unit of an agent that went on for a while, its model asked ahead."""
    config = ContextConfig(model="gpt-4", window_tokens=1_200, prepare_at_fraction=0.5)
    keeper = IncrementalContextManager(config=config, counter=Characters(), model_client=client)

    async def live() -> list[str]:
        async with keeper:
            for stop in range(25, len(messages) - 1, 2):
                await keeper.prepare(messages[:stop])
                await until(lambda: len(asyncio.all_tasks()) == 1)  # advice comes between turns
            decisions = (await keeper.prepare(messages)).decisions
        return [f"{decision.action} {decision.tokens_after}" for decision in decisions]

    return asyncio.run(live())


def test_a_models_advice_decides_what_stays() -> None:
    """The same conversation, with a model that says that listings are what matters: another choice; without, the same."""
    asked: list[str] = []

    async def complete(prompt: str) -> str:
        if "weigh what to keep" in prompt:
            asked.append(prompt)
        return json.dumps({"multipliers": {"structure": 4, "execution": 0.25, "related": 0.25}})

    async def fails(_prompt: str) -> str:
        raise OSError("no route to the model")

    messages = worked()
    by_rules_alone = kept(messages, None)
    assert kept(messages, complete) != by_rules_alone
    assert kept(messages, fails) == by_rules_alone
    assert len(asked) == 1
    assert CASUAL in asked[0]
