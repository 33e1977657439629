"""A project beside a conversation: the promises hold as without it, and what is told of a file is so."""

import asyncio
import json
import re
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import Literal, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded
from autogen_context.testing import ChatMessage
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.transcripts import histories, transcripts
from autogen_context.testing.wire import Json
from support.counting import Characters
from support.shop import (
    HEAD,
    OTHERS,
    SIGNATURE,
    SYSTEM,
    TOLD,
    Outcome,
    Shop,
    Transcript,
    is_own,
    nowait,
    outcome_of,
    priced,
)
from support.tree import SHOP

FEW = settings(max_examples=8)
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


def in_a_shop(check: Callable[[Shop], Coroutine[None, None, None]]) -> None:
    """Check something of a new project."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Shop(Path(folder))))


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
                assert outcome.certificate.newest_present

    in_a_shop(check)


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

    in_a_shop(check)


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

    in_a_shop(check)


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

    in_a_shop(check)


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

    in_a_shop(check)


def said(outcome: Outcome) -> object:
    """What is compared of a turn."""
    return outcome.parts if isinstance(outcome, ContextWindowExceeded) else outcome


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
    """Reads a request from top to bottom, as a model does; ``belief`` is ``None`` where it is not told."""

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


@settings(max_examples=20)
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
