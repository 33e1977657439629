"""How a room is shared out at a compaction: by worth alone, by a profile, and with a model's advice."""

import asyncio
import json
from collections.abc import Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded, StateError
from autogen_context.manager.wiring import rules_of
from autogen_context.models.completion import Complete
from autogen_context.prioritizer.advising import key_of
from autogen_context.session.budgeting import ASKED_FRACTION, Budgeting, Turn
from autogen_context.session.depth import low_fraction
from autogen_context.session.rules import PlanProfile, Room, Rules
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import transcripts
from support.counting import Characters

PROFILES: tuple[PlanProfile, ...] = ("value", "balanced", "conservative", "strict")
ROOM = Room(limit_tokens=12_000, fixed_tokens=0)
CASUAL = "Please fix the crash in the vault"
TURNS = st.builds(
    Turn,
    text=st.sampled_from(["", CASUAL, "What did I say about the vault?", "Summarise what we did"]),
    messages=st.integers(0, 200),
    asks=st.booleans(),
    summed=st.booleans(),
)
TOOLS = ("list_directory", "bash", "read_file")


def rules(profile: PlanProfile) -> Rules:
    """The rules of a profile, everything else as it is by default."""
    return rules_of(ContextConfig(profile=profile))


def turn(text: str, *, messages: int = 30, asks: bool = False, summed: bool = False) -> Turn:
    """A turn that compacts."""
    return Turn(text=text, messages=messages, asks=asks, summed=summed)


def worked(steps: int) -> list[ChatMessage]:
    """An agent that lists, runs and reads, with a person who asked for it."""
    messages: list[ChatMessage] = [{"role": "user", "content": CASUAL}]
    for step in range(steps):
        call = {"name": TOOLS[step % 3], "arguments": json.dumps({"path": f"src/part_{step}.py"})}
        messages += [
            {
                "role": "assistant",
                "content": f"Step {step}",
                "tool_calls": [{"id": f"c{step}", "type": "function", "function": call}],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{step}",
                "content": f"line {step} of vault_{step} says {step * 7919}\n" * 12,
            },
        ]
    return messages


@given(TURNS, st.sampled_from(PROFILES), st.integers(1, 10**6))
def test_an_aim_has_shares(turn: Turn, profile: PlanProfile, room: int) -> None:
    """Each in 0..1, and those of a part do not exceed the whole."""
    aim = Budgeting(rules(profile), {}).aim(turn, Room(limit_tokens=room, fixed_tokens=0))
    assert 0 <= aim.target_fraction <= 1
    assert aim.recent_fraction >= 0
    assert aim.told_fraction >= 0
    assert aim.recent_fraction + aim.told_fraction <= 1 + 1e-9


@pytest.mark.parametrize(
    ("profile", "text", "asks", "target", "recent", "told"),
    [
        pytest.param("conservative", CASUAL, False, 5 / 8, 4 / 5, 1 / 5, id="casual"),
        pytest.param("conservative", "What did I say about the vault?", True, 1, 4 / 7, 1 / 7, id="recall"),
        pytest.param("conservative", "Summarise what we did so far", False, 7 / 8, 4 / 7, 3 / 7, id="summary"),
        pytest.param("strict", CASUAL, False, 43 / 90, 1, 0, id="strict"),
        pytest.param("strict", "What did I say about the vault?", True, 83 / 90, 43 / 83, 0, id="strict, asked"),
    ],
)  # fmt: skip  # a row a case
def test_a_table_says_what_each_part_has(
    *, profile: PlanProfile, text: str, asks: bool, target: float, recent: float, told: float
) -> None:
    """The shares of the table beside the system's."""
    aim = Budgeting(rules(profile), {}).aim(turn(text, asks=asks), ROOM)
    found = (aim.target_fraction, aim.recent_fraction, aim.told_fraction)
    assert found == pytest.approx((target, recent, told), abs=0.002)


def test_by_worth_the_room_is_what_it_was() -> None:
    """Without a profile the low mark is that of the room, and a question about the past has nearly all."""
    budgeting = Budgeting(rules("value"), {})
    assert budgeting.aim(turn(CASUAL), ROOM).target_fraction == low_fraction(rules("value"), 12_000)
    assert budgeting.aim(turn("?", asks=True), ROOM).target_fraction == ASKED_FRACTION


@pytest.mark.parametrize("profile", ["conservative", "strict"])
def test_the_low_mark_of_a_table_is_that_of_a_long_talk(profile: PlanProfile) -> None:
    """What the price of a rewrite is judged by is what a casual compaction leaves."""
    aim = Budgeting(rules(profile), {}).aim(turn("", messages=100), ROOM)
    assert low_fraction(rules(profile), 12_000) == pytest.approx(aim.target_fraction, abs=0.001)


@given(transcripts(), st.sampled_from(PROFILES), st.integers(200, 2_000))
def test_every_profile_keeps_the_limit(
    messages: list[ChatMessage], profile: PlanProfile, window: int
) -> None:
    """Whatever the shares are, what is sent fits, and the newest message is there."""
    config = ContextConfig(model="gpt-4", window_tokens=window, profile=profile)
    keeper = IncrementalContextManager(config=config, counter=Characters())
    try:
        prepared = keeper.prepare_nowait(messages)
    except ContextWindowExceeded:
        return
    assert prepared.certificate.fits
    assert prepared.certificate.newest_present or not messages


def kept(messages: Sequence[ChatMessage], client: Complete | None) -> list[str]:
    """The actions on each unit of an agent that went on for a while, its model asked ahead."""
    config = ContextConfig(model="gpt-4", window_tokens=1_200, prepare_at_fraction=0.5)
    keeper = IncrementalContextManager(config=config, counter=Characters(), model_client=client)

    async def live() -> list[str]:
        prepared = None
        for stop in range(1, len(messages) + 1):
            prepared = await keeper.prepare(messages[:stop])
            await asyncio.sleep(0)  # the advice comes between turns
        await keeper.aclose()
        return [f"{d.action} {d.tokens_after}" for d in prepared.decisions] if prepared else []

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

    messages = worked(24)
    by_rules_alone = kept(messages, None)
    assert kept(messages, complete) != by_rules_alone
    assert kept(messages, fails) == by_rules_alone
    assert len(asked) == 1
    assert CASUAL in asked[0]


def advised_state() -> dict[str, object]:
    """The state of a manager whose model gave advice."""

    async def complete(_prompt: str) -> str:
        return json.dumps({"multipliers": {"structure": 4}, "complexity": "high"})

    async def live() -> dict[str, object]:
        config = ContextConfig(model="gpt-4", window_tokens=3_000, prepare_at_fraction=0.05)
        manager = IncrementalContextManager(
            config=config, counter=Characters(), model_client=complete
        )
        async with manager:
            for _ in range(3):
                await manager.prepare(worked(4))
                await asyncio.sleep(0)
            return manager.save_state()

    return asyncio.run(live())


def test_advice_is_in_the_state() -> None:
    """Another manager goes on with it, without a model."""
    state = advised_state()
    advice = cast("dict[str, dict[str, object]]", state["advice"])
    assert advice[key_of(CASUAL)]["complexity"] == "high"
    other = IncrementalContextManager(model="gpt-4", window_tokens=3_000, counter=Characters())
    other.load_state(state)
    assert other.save_state()["advice"] == advice


@pytest.mark.parametrize(
    "advice",
    [
        {"multipliers": {"structure": 4.0}, "complexity": "high"},
        {"multipliers": dict.fromkeys(["structure"], 99.0), "complexity": "high"},
        {"complexity": "high"},
        {"multipliers": {}, "complexity": "enormous"},
        "high",
    ],
    ids=["some missing", "out of bounds", "no multipliers", "no complexity", "a text"],
)
def test_damaged_advice_is_refused(advice: object) -> None:
    """With the state that it is in."""
    state = advised_state() | {"advice": {key_of(CASUAL): advice}}
    other = IncrementalContextManager(model="gpt-4", window_tokens=3_000, counter=Characters())
    with pytest.raises(StateError, match="the saved state is damaged"):
        other.load_state(state)


def test_a_table_and_a_low_mark_of_ones_own_contradict() -> None:
    """The error names both, and the way out."""
    with pytest.raises(ValueError, match=r"compact_to_fraction.*give one of them"):
        ContextConfig(profile="conservative", compact_to_fraction=0.5)
