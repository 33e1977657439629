"""A project beside a conversation: the promises hold as without it, and what is told of a file is so."""

import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.errors import ContextWindowExceeded
from autogen_context.testing import ChatMessage
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.transcripts import histories
from autogen_context.testing.wire import Json
from support.counting import Characters
from support.keeping import TOLD
from support.saying import says
from support.shop import (
    HEAD,
    OTHERS,
    SIGNATURE,
    SYSTEM,
    Outcome,
    Shop,
    Transcript,
    outcome_of,
    priced,
)
from support.tree import SHOP

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


@settings(max_examples=10)
@given(
    histories(max_messages=12),
    WINDOWS,
    st.lists(CHANGED, min_size=12, max_size=12),
    st.integers(0, 11),
    st.booleans(),
)
def test_the_promises_hold_with_a_project(
    history: list[Transcript],
    window: int,
    changed: list[list[tuple[str, str]]],
    stop: int,
    strict: bool,  # noqa: FBT001 - drawn
) -> None:
    """1: it fits, and no request is impossible for a head's sake; 6: the list only grows; 8: it alternates; 12: saved to the byte."""

    async def check(shop: Shop) -> None:
        keeper, other = (
            shop.manager(window, alternate_roles=strict, single_system=strict) for _ in range(2)
        )
        plain = IncrementalContextManager(config=keeper.config, counter=Characters())
        before: Prepared[ChatMessage] | None = None
        for n, (messages, edits) in enumerate(zip(history, changed, strict=False)):
            for name, content in edits:
                shop.write(name, content)
            outcome = await outcome_of(keeper, messages)
            without = await outcome_of(plain, messages)
            if n > stop:
                assert said(await outcome_of(other, messages)) == said(outcome)
            if n == stop:
                other.load_state(json.loads(json.dumps(keeper.save_state())))
                assert other.save_state() == keeper.save_state()
            if isinstance(outcome, ContextWindowExceeded):
                assert isinstance(without, ContextWindowExceeded)
                assert outcome.parts == without.parts
                continue
            assert outcome.certificate.fits
            assert outcome.certificate.newest_present
            if strict:
                check_chat(cast("list[Json]", outcome.messages), strict_roles=True)
            elif before and not outcome.compacted:
                assert outcome.messages[: len(before.messages)] == before.messages
            before = outcome

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Shop(Path(folder))))


def said(outcome: Outcome) -> object:
    """What is compared of a turn."""
    return outcome.parts if isinstance(outcome, ContextWindowExceeded) else outcome


ACTS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("price", "crowd", "calm", "say", "say", "turn", "turn", "turn"),
                *("hear", "back", "again", "other process"),
            ]
        ),
        st.integers(0, 3),
    ),
    max_size=40,
)
SIGNATURES = (SIGNATURE, *OTHERS[:3])
CROWD = 12  # other files, more than there is room to tell of
UNTOLD = ("shop/price.py was deleted.", "shop/price.py has changed.")
UNKNOWN = ("price.py may have changed further", "more files have changed", "more file has changed")


def beliefs(messages: Sequence[ChatMessage]) -> str | None:
    """What a model that reads from top to bottom believes of how prices are asked for; ``None`` where it is not told."""
    head = belief = None
    for text in (str(message.get("content")) for message in messages):
        if text.startswith(HEAD):
            head = belief = signature_in(text)
        for line in text.splitlines() if text.startswith(TOLD) else ():
            if line.startswith("> + "):
                belief = signature_in(line) or belief
            elif line == "shop/price.py is again as the project's context says":
                belief = head
            elif line in UNTOLD or any(each in line for each in UNKNOWN):
                belief = None
    return belief


def signature_in(text: str) -> str | None:
    """How prices are asked for, where a text says so."""
    found = re.search(r"def price_of\([^)]*\) -> int", text)
    return found.group() if found else None


class Talk:
    """A conversation about a project that others work on."""

    def __init__(self, shop: Shop, window: int) -> None:
        self.shop, self.window = shop, window
        self.messages: Transcript = [SYSTEM, says("Prices depend on it.", "user")]
        self.manager: IncrementalContextManager = shop.manager(window)
        self.now = SIGNATURE
        self.crowd(-1)

    async def act(self, act: str, n: int) -> None:
        """One thing happens: to the files, in the conversation, or to who keeps it."""
        if act == "price":
            self.now = SIGNATURES[n]
            self.shop.write("shop/price.py", priced(self.now))
        elif act in ("crowd", "calm"):
            self.crowd(n if act == "crowd" else -1)
        elif act == "say":
            self.say(n)
        elif act == "turn":
            await self.turn()
        elif act == "hear":
            for _ in range(2):  # the second one comes while the first one's question is open
                with suppress(ContextWindowExceeded):
                    self.manager.prepare_nowait(self.messages)
                self.say(0)
        elif act == "back":
            versions = self.manager.versions
            self.manager.roll_back(versions[n % len(versions)].number)
        elif act == "again":
            self.manager = self.manager.branch()
        else:
            state = self.manager.save_state()
            self.manager = self.shop.manager(self.window)
            self.manager.load_state(state)

    def crowd(self, n: int) -> None:
        """Other modules change, to this version."""
        for each in range(CROWD):
            lines = (f"def f_{each}_{i}_{'x' * 9}(x_{n + 1}: int) -> int: ...\n" for i in range(3))
            self.shop.write(f"other/a_module_{each}.py", "".join(lines))

    def say(self, n: int) -> None:
        """An answer and another question."""
        number = len(self.messages)
        self.messages += [
            says(f"{number} " + "and so on " * 40 * n),
            says(f"Go on, {number}.", "user"),
        ]

    async def turn(self) -> None:
        """A turn waits for the project; the one after it tells what that said, if this one had no place for it."""
        for must_know in (False, True):
            self.say(0)
            turn = await outcome_of(self.manager, self.messages)
            if must_know and not isinstance(turn, ContextWindowExceeded):
                assert beliefs(turn.messages) in (None, self.now), turn.messages


@settings(max_examples=20)
@given(ACTS, st.sampled_from([1_500, 2_500, 4_000, 8_000]))
def test_what_is_told_of_a_file_is_so(acts: list[tuple[str, int]], window: int) -> None:
    """Through edits there and back, crowds of others, compactions, late heads, versions, branches and other processes."""

    async def check(folder: str) -> None:
        talk = Talk(Shop(Path(folder)), window)
        for act, n in [*acts, ("turn", 0)]:
            await talk.act(act, n)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(folder))
