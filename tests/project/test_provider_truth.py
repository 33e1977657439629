"""A project beside a conversation: whoever reads all that is told of a file knows what is in it, or that this is not told."""

import asyncio
import re
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded
from autogen_context.testing import ChatMessage
from support.shop import (
    HEAD,
    OTHERS,
    SIGNATURE,
    SYSTEM,
    TOLD,
    Shop,
    Transcript,
    nowait,
    outcome_of,
    priced,
)

Act = Literal["price", "crowd", "calm", "say", "turn", "hear", "back", "again", "other process"]

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
UNTOLD = ("shop/price.py is gone.", "shop/price.py has changed.")
UNKNOWN = ("price.py may have changed further", "more files have changed", "more file has changed")


class Reader:
    """Reads a request from top to bottom, as a model does.

    Attributes:
        head: what the head says of the prices.
        belief: what they are by all that was read; ``None`` where that is not told.
    """

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        self.head: str | None = None
        self.belief: str | None = None
        for message in messages:
            text = str(message.get("content"))
            if text.startswith(HEAD):
                self.head = self.belief = signature_in(text)
            elif text.startswith(TOLD):
                self._read(text)

    def _read(self, text: str) -> None:
        for line in text.splitlines():
            if line.startswith("> + "):
                self.belief = signature_in(line) or self.belief
            elif line == "shop/price.py is again as the project's context says":
                self.belief = self.head
            elif line in UNTOLD or any(each in line for each in UNKNOWN):
                self.belief = None


def signature_in(text: str) -> str | None:
    """How prices are asked for, where a text says so."""
    found = re.search(r"def price_of\([^)]*\) -> int", text)
    return found.group() if found else None


class Talk:
    """A conversation about a project that others work on."""

    def __init__(self, shop: Shop, window: int) -> None:
        self.shop = shop
        self.window = window
        self.messages: Transcript = [SYSTEM, {"role": "user", "content": "Prices depend on it."}]
        self.manager: IncrementalContextManager = shop.manager(window)
        self.now = SIGNATURE
        self._numbers = count()

    async def act(self, act: Act, n: int) -> None:
        """One thing happens."""
        if act == "price":
            self.now = SIGNATURES[n]
            self.shop.write("shop/price.py", priced(self.now))
        elif act in ("crowd", "calm"):
            for name, text in crowded(n if act == "crowd" else -1):
                self.shop.write(name, text)
        elif act == "say":
            self.messages += self._said(n)
        elif act == "turn":
            await self._turn()
        elif act == "hear":
            for _ in range(2):  # the second one comes while the first one's question is open
                nowait(self.manager, self.messages)
                self.messages += self._said(0)
                await asyncio.sleep(0)
        else:
            await self._go_on(act, n)

    async def _turn(self) -> None:
        """A turn waits for the project; the one after it tells what that said, if this one had no place for it."""
        for must_know in (False, True):
            self.messages += self._said(0)
            turn = await outcome_of(self.manager, self.messages)
            if must_know and not isinstance(turn, ContextWindowExceeded):
                assert Reader(turn.messages).belief in (None, self.now), turn.messages

    async def _go_on(self, act: Act, n: int) -> None:
        """By another manager, or from an earlier version."""
        if act == "back":
            versions = self.manager.versions
            self.manager.roll_back(versions[n % len(versions)].number)
            return
        if act == "again":
            self.manager = self.manager.branch()
        else:
            other = self.shop.manager(self.window)
            other.load_state(self.manager.save_state())
            self.manager = other

    def _said(self, n: int) -> list[ChatMessage]:
        """An answer and another question."""
        number = next(self._numbers)
        return [
            {"role": "assistant", "content": f"{number} " + "and so on " * 40 * n},
            {"role": "user", "content": f"Go on with {number}."},
        ]


def crowded(n: int) -> Iterator[tuple[str, str]]:
    """Other modules, of this version; none of them are there at first."""
    for each in range(CROWD):
        text = "".join(f"def function_{each}_{i}(x_{n}: int) -> int: ...\n" for i in range(3))
        yield f"other/a_module_{each}.py", text if n >= 0 else ""


@settings(max_examples=25)
@given(ACTS, st.sampled_from([1_500, 2_500, 4_000, 8_000]))
def test_what_is_told_of_a_file_is_so(acts: list[tuple[Act, int]], window: int) -> None:
    """Through edits there and back, crowds of others, compactions, late heads, versions, branches and other processes."""

    async def check(folder: str) -> None:
        talk = Talk(Shop(Path(folder)), window)
        for name, text in crowded(-1):
            talk.shop.write(name, text)
        for act, n in acts:
            await talk.act(act, n)
        await talk.act("turn", 0)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(folder))


@pytest.mark.parametrize("is_late", [False, True])
async def test_what_comes_back_while_a_new_head_waits_is_known(
    tmp_path: Path, *, is_late: bool
) -> None:
    """The head that is read is the one before, in front or before a unit: what it says is nowhere said to hold again."""
    talk = Talk(Shop(tmp_path), 3_000)
    if is_late:
        nowait(talk.manager, talk.messages)
        talk.messages += [{"role": "user", "content": "Go on."}]
    turn = await talk.manager.prepare(talk.messages)
    await talk.act("price", 1)
    while turn.certificate.counted_tokens < 0.82 * 3_000:  # another head is written at 0.8
        talk.messages += [{"role": "user", "content": "Go on. " * 20}]
        turn = await talk.manager.prepare(talk.messages)
    for price in (0, 1, 2, 1):
        await talk.act("price", price)
        talk.messages += [{"role": "user", "content": "Go on."}]
        turn = await talk.manager.prepare(talk.messages)
        assert not turn.compacted
        assert Reader(turn.messages).belief in (None, talk.now)
