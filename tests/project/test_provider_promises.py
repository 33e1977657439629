"""A project beside a conversation: the promises hold as without it."""

import asyncio
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.transcripts import histories, transcripts
from autogen_context.testing.wire import Json
from support.counting import Characters
from support.shop import OTHERS, Outcome, Shop, Transcript, is_own, nowait, outcome_of, priced
from support.tree import SHOP

FEW = settings(max_examples=12)
WINDOWS = st.integers(min_value=40, max_value=6_000)
EDITS = st.sampled_from(
    [
        ("shop/price.py", priced(OTHERS[0])),
        ("shop/price.py", priced(OTHERS[1])),
        ("shop/price.py", str(SHOP["shop/price.py"])),
        ("shop/till.py", "def other() -> None: ...\n"),
        ("shop/new.py", "def added() -> None: ...\n"),
        ("README.md", "# Shop\n\nIt sells nothing any more.\n"),
        ("README.md", str(SHOP["README.md"])),
        ("docs/decisions/0002-days.md", "# 2. Days\n\n## Decision\n\nPrices depend on the day.\n"),
    ]
)
CHANGED = st.lists(EDITS, max_size=2)


@FEW
@given(
    histories(max_messages=10),
    WINDOWS,
    st.lists(CHANGED, min_size=10, max_size=10),
    st.sets(st.integers(0, 9), max_size=4),
)
def test_1_a_head_makes_no_request_impossible(
    history: list[Transcript],
    window: int,
    changed: list[list[tuple[str, str]]],
    pinned: set[int],
) -> None:
    """What is sent fits; an error comes where it comes without a project, with the same numbers."""

    async def check(shop: Shop) -> None:
        keeper = shop.manager(window)
        plain = IncrementalContextManager(config=keeper.config, counter=Characters())
        for messages, edits in zip(history, changed, strict=False):
            for name, content in edits:
                shop.write(name, content)
            for manager in (keeper, plain):
                if messages and len(messages) in pinned:
                    manager.pin(messages[-1])
            outcome = await outcome_of(keeper, messages)
            without = await outcome_of(plain, messages)
            if isinstance(outcome, ContextWindowExceeded):
                assert isinstance(without, ContextWindowExceeded)
                assert outcome.parts == without.parts
            else:
                assert outcome.certificate.bound.tokens <= window
                assert outcome.certificate.fits

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Shop(Path(folder))))


@FEW
@given(transcripts(max_messages=12), WINDOWS)
def test_2_a_head_takes_nothing_from_the_newest(messages: Transcript, window: int) -> None:
    """What must stay is as whole as without a project."""

    async def check(shop: Shop) -> None:
        keeper = shop.manager(window)
        plain = IncrementalContextManager(config=keeper.config, counter=Characters())
        outcome = await outcome_of(keeper, messages)
        without = await outcome_of(plain, messages)
        if not isinstance(outcome, ContextWindowExceeded) and not isinstance(
            without, ContextWindowExceeded
        ):
            assert outcome.decisions[-1:] == without.decisions[-1:]
            assert outcome.certificate.newest_present

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Shop(Path(folder))))


@FEW
@given(transcripts(max_messages=12), st.integers(0, 2_000))
def test_5_without_need_only_the_head_is_added(messages: Transcript, spare: int) -> None:
    """Below the mark the host's own objects come out, in their order, with a head behind the system prompt at most."""

    async def check(shop: Shop) -> None:
        off = ContextConfig(window_tokens=10**6, reduce="off")
        sized = IncrementalContextManager(config=off, counter=Characters())
        tokens = sized.prepare_nowait(messages).certificate.counted_tokens
        turn = await shop.manager(max(1, tokens) + spare, reduce="off").prepare(messages)
        assert not turn.compacted
        theirs = [message for message in turn.messages if id(message) in set(map(id, messages))]
        assert list(map(id, theirs)) == list(map(id, messages))
        added = [i for i, m in enumerate(turn.messages) if id(m) not in set(map(id, messages))]
        leading = next(
            (i for i, m in enumerate(messages) if m["role"] not in ("system", "developer")), None
        )
        assert added in ([], [leading])
        assert all(map(is_own, (turn.messages[i] for i in added)))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Shop(Path(folder))))


@FEW
@given(
    histories(max_messages=14),
    WINDOWS,
    st.lists(CHANGED, min_size=14, max_size=14),
    st.lists(st.booleans(), min_size=14, max_size=14),
)
def test_6_between_compactions_the_list_only_grows(
    history: list[Transcript],
    window: int,
    changed: list[list[tuple[str, str]]],
    waits: list[bool],
) -> None:
    """Whatever becomes of the files, whether or not turns wait for the project."""

    async def check(shop: Shop) -> None:
        keeper, turns = shop.manager(window), list[Outcome]()
        for messages, edits, wait in zip(history, changed, waits, strict=False):
            for name, content in edits:
                shop.write(name, content)
            if not wait:
                keeper.observe(messages)
                await asyncio.sleep(0.002)
            turns.append(await outcome_of(keeper, messages) if wait else nowait(keeper, messages))
        sent = [turn for turn in turns if not isinstance(turn, ContextWindowExceeded)]
        for before, after in pairwise(sent):
            if not after.compacted:
                assert after.messages[: len(before.messages)] == before.messages
        await keeper.aclose()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Shop(Path(folder))))


@FEW
@given(histories(max_messages=10).filter(bool), st.integers(400, 6_000))
def test_8_a_strict_template_takes_it(history: list[Transcript], window: int) -> None:
    """One system message, then user and assistant in turn."""

    async def check(shop: Shop) -> None:
        keeper = shop.manager(window, alternate_roles=True, single_system=True)
        for messages in history:
            turn = await outcome_of(keeper, messages)
            if not isinstance(turn, ContextWindowExceeded):
                check_chat(cast("list[Json]", turn.messages), strict_roles=True)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Shop(Path(folder))))


@FEW
@given(
    histories(max_messages=14),
    WINDOWS,
    st.lists(CHANGED, min_size=14, max_size=14),
    st.data(),
)
def test_12_a_saved_state_continues_to_the_byte(
    history: list[Transcript],
    window: int,
    changed: list[list[tuple[str, str]]],
    data: st.DataObject,
) -> None:
    """After any turn another manager, with a context of the project of its own, goes on as if nothing had happened."""
    stop = data.draw(st.integers(0, len(history) - 1))

    async def check(shop: Shop) -> None:
        keeper = shop.manager(window)
        await turns(shop, [keeper], stop=stop + 1)
        other = shop.manager(window)
        other.load_state(json.loads(json.dumps(keeper.save_state())))
        assert other.save_state() == keeper.save_state()
        await turns(shop, [keeper, other], start=stop)

    async def turns(
        shop: Shop, managers: list[IncrementalContextManager], *, start: int = 0, stop: int = 99
    ) -> None:
        for messages, edits in list(zip(history, changed, strict=False))[start:stop]:
            for name, content in (
                edits if len(managers) == 1 or messages is not history[start] else []
            ):
                shop.write(name, content)
            first, *others = [said(await outcome_of(each, messages)) for each in managers]
            assert all(other == first for other in others)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Shop(Path(folder))))


def said(outcome: Outcome) -> object:
    """What is compared of a turn."""
    return outcome.parts if isinstance(outcome, ContextWindowExceeded) else outcome
