"""A person's memory: what it has, of whom, for how long, and what cannot be made of it."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis
from typing_extensions import override

from autogen_context.cache.redis_server import RedisLimits, RedisServer
from autogen_context.cache.store import FILE
from autogen_context.cache.tier import Tier
from autogen_context.errors import StoreUnavailable
from autogen_context.memory import UserMemory
from autogen_context.recall.facts import Facts
from support.forks import ended, forked
from support.keeping import manager
from support.own_tier import OwnTier
from support.redis_pair import KEY
from support.redis_server import LocalRedis, keys_of, silent_port
from support.remembering import (
    ANSWERED,
    ASKED,
    BROUGHT,
    DAY_S,
    HARBOUR,
    STATED,
    Clock,
    brought,
    person,
    talk,
    talked,
)

numbers = count()


def settle(server: RedisServer) -> None:
    """Wait until what was written is there: no turn waits for that."""
    if sending := server.submit():
        sending.result()


class Made:
    """Memories in one store, each as another process would have it."""

    def __init__(self, kind: str, folder: Path, redis: LocalRedis, server: RedisServer) -> None:
        self._kind, self._folder, self._redis, self._server = kind, folder, redis, server
        self._tier, self._tenant, self._clock = OwnTier(), f"t{next(numbers)}", Clock()

    def __call__(self, user_id: str = "u-17", **given: Any) -> UserMemory:
        """The memory of a user."""
        settle(self._server)
        stores: dict[str, Any] = {
            "folder": self._folder,
            "server": self._server,
            "own tier": self._tier,
        }
        days = None if self._kind == "own tier" else 365  # that has no clock
        options: dict[str, Any] = {
            "tenant": self._tenant,
            "clock": self._clock,
            "days": days,
            **given,
        }
        return UserMemory(user_id, stores[self._kind], **options)

    def stored(self) -> bytes:
        """All bytes of the store, in lower case."""
        settle(self._server)
        if self._kind == "folder":
            return bytes_in(self._folder)
        if self._kind == "server":
            raw: Redis = Redis.from_url(self._redis.url)  # pyright: ignore[reportUnknownMemberType] - its options have no types
            strings = [raw.get(key) for key in keys_of(raw) if raw.type(key) == b"string"]
            return b"".join(cast("list[bytes]", strings)).lower()
        return b"".join(self._tier.values.values()).lower()


def bytes_in(folder: Path) -> bytes:
    """All bytes of a folder, in lower case."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).lower()


@pytest.fixture(params=["folder", "server", "own tier"])
def made(
    request: pytest.FixtureRequest, tmp_path: Path, redis: LocalRedis, server: RedisServer
) -> Made:
    """Of each kind of store."""
    return Made(request.param, tmp_path, redis, server)


def test_what_was_said_is_found_in_the_next_conversation(made: Made) -> None:
    """R9: by the same question, in another process; whole, quoted, with its day, in front of the question."""
    talked(made(), HARBOUR, ANSWERED, "And the weather?", "Fine.")
    text = brought(made(), ASKED)
    assert BROUGHT in text
    assert f"> 2025-11-29, the person:\n> > {HARBOUR}\n" in text
    assert f"> the assistant:\n> > {ANSWERED}\n" in text


def test_only_what_matches_is_brought_in(made: Made) -> None:
    """What was said in the conversations before and after is not near it."""
    for text in ("It is grey outside.", HARBOUR, "My bread is burnt."):
        talked(made(), text, "I see.")
    text = brought(made(), f"What did I tell you about it? {HARBOUR}").partition(BROUGHT)[2]
    assert HARBOUR in text
    assert "grey" not in text
    assert "burnt" not in text


def test_facts_are_there_without_a_question(made: Made) -> None:
    """R9: those that hold now, in the person's words."""
    talked(made(), "I'm allergic to peanuts. My budget is 500.", "Noted.")
    talked(made(), "My budget is 700.", "Noted.")
    text = brought(made(), "Hello!")
    assert STATED in text
    assert "> 2025-11-29: I'm allergic to peanuts\n> 2025-11-29: My budget is 700\n" in text
    assert "500" not in text
    assert BROUGHT not in text


@pytest.mark.parametrize("other", [{"user_id": "u-18"}, {"tenant": "another"}], ids=str)
def test_nobody_has_what_another_user_said(made: Made, other: dict[str, str]) -> None:
    """R9, promise 19: not by a question, not as a fact, not in a list; and nobody deletes it."""
    talked(made(), HARBOUR, ANSWERED)
    stranger = made(**other)
    assert brought(stranger, ASKED) == ""
    assert HARBOUR not in str(stranger.export())
    assert stranger.forget("40 piles") == ()
    stranger.clear()
    assert HARBOUR in brought(made(), ASKED)
    talked(made(**other), "My code name is lion42.", "Noted.")
    made(**other).forget("lion42")
    talked(made(), "My code name is lion42.", "Noted.")
    assert "lion42" in str(made().export())


STATEMENTS = (
    "My name is Ann and I live in Leeds.",
    "The budget is 500.",
    "the budget is 700 now",
    "I like tea.",
    "I don't like tea any more.",
    "I prefer tabs over spaces.",
    "I prefer spaces over tabs.",
    "My dog is called Rex.",
    "hello",
)


@given(said=st.lists(st.sampled_from(STATEMENTS), max_size=6), cuts=st.sets(st.integers(1, 5)))
def test_facts_of_several_conversations_are_those_of_one(said: list[str], cuts: set[int]) -> None:
    """R6: wherever one ends and the next begins, the newest of a subject holds."""
    tier = OwnTier()
    bounds = [0, *sorted(at for at in cuts if at < len(said)), len(said)]
    for start, stop in pairwise(bounds):
        texts = [part for text in said[start:stop] for part in (f"{text} ({start})", "Noted.")]
        talked(UserMemory("u-17", tier, days=None), *texts)
    whole = Facts()
    for start, stop in pairwise(bounds):
        whole.learn([person(f"{text} ({start})") for text in said[start:stop]])
    known = UserMemory("u-17", tier, days=None)
    known.refresh()
    assert {fact.text for fact in known.facts} == {fact.text for fact in whole}


@given(said=st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=5), restarts=st.booleans())
def test_one_by_one_or_at_once_is_the_same(said: list[str], restarts: bool) -> None:  # noqa: FBT001
    """Promises 9 and 12; a process that is handed the whole list again learns nothing twice."""
    texts = [part for text in said for part in (text, "Noted.")]
    tiers = OwnTier(), OwnTier()
    messages = talk(*texts)
    keeper = manager(memory=UserMemory("u-17", tiers[0], days=None))
    for at in range(1, len(messages) + 1):
        if restarts:
            keeper = manager(memory=UserMemory("u-17", tiers[0], days=None))
        keeper.observe(messages[:at])
    manager(memory=UserMemory("u-17", tiers[1], days=None)).observe(messages)
    seen = [UserMemory("u-17", tier, days=None) for tier in tiers]
    for memory in seen:
        memory.refresh()
    exchanges = [[(*each.said, each.answer) for each in one.exchanges] for one in seen]
    assert exchanges[0] == exchanges[1]
    assert {*exchanges[0]} == {(text, "Noted.") for text in said}  # what is the same in all is one
    assert [fact.text for fact in seen[0].facts] == [fact.text for fact in seen[1].facts]


def test_a_conversation_that_is_taken_up_again_takes_nothing_back(made: Made) -> None:
    """What was stated since in another one holds, although the list begins with what was before."""
    first = talk("The budget is 500.", "Noted.", "Thanks.")
    manager(memory=made()).prepare_nowait(first)
    talked(made(), "The budget is 900.", "Noted.")
    manager(memory=made()).prepare_nowait([*first, *talk("Hm.", "Yes?")[::-1]])
    again = made()
    again.refresh()
    assert [fact.text for fact in again.facts] == ["The budget is 900"]


Forgets = Callable[[UserMemory], object]


FORGETS: Mapping[str, Forgets] = {
    "a query": lambda memory: memory.forget("zebra4711"),
    "ids": lambda memory: [memory.forget(id=each) for each in ids_of(memory)],
    "everything": lambda memory: memory.clear(),
}


@pytest.mark.parametrize("how", FORGETS)
def test_what_is_forgotten_is_in_no_byte(made: Made, how: str) -> None:
    """Promise 21: nor is it learnt again from a conversation that still has it, unless all was cleared."""
    texts = ("My code name is zebra4711.", "Zebra4711, noted.", "Thanks.", "Welcome.")
    keeper, messages = talked(made(), *texts), talk(*texts)
    memory = made()
    memory.refresh()
    assert b"zebra4711" in made.stored()
    FORGETS[how](memory)
    assert b"zebra4711" not in made.stored()
    assert "zebra4711" not in str(made().export()).lower()
    if how != "everything":
        talked(made(), *texts)
        keeper.prepare_nowait([*messages, person("Well?")])
        assert b"zebra4711" not in made.stored()


def ids_of(memory: UserMemory) -> list[str]:
    """The ids of all that has the marker."""
    found = [each.id for each in memory.exchanges if "zebra4711" in str(each.texts).lower()]
    return found + [fact.id for fact in memory.facts if "zebra4711" in fact.text]


def test_a_fact_is_edited(made: Made) -> None:
    """R9: it keeps its id, and the next statement about it replaces it."""
    talked(made(), "The budget is 500.", "Noted.")
    memory = made()
    memory.refresh()
    (fact,) = memory.facts
    assert memory.edit(fact.id, "The budget is 650").id == fact.id
    assert "The budget is 650" in brought(made(), "Hello!")
    talked(made(), "The budget is 900.", "Noted.")
    again = made()
    again.refresh()
    assert [fact.text for fact in again.facts] == ["The budget is 900"]
    with pytest.raises(KeyError):
        again.edit("nowhere", "x")
    with pytest.raises(ValueError, match="must not be empty"):
        again.edit(again.facts[0].id, " ")


def test_all_is_exported_as_json(made: Made) -> None:
    """R9: with days, and nothing else of the store."""
    talked(made(), "I'm allergic to peanuts.", "Noted.")
    data = json.loads(json.dumps(made().export()))
    assert data["user_id"] == "u-17"
    assert [each["said"] for each in data["exchanges"]] == [["I'm allergic to peanuts."]]
    assert [each["text"] for each in data["facts"]] == ["I'm allergic to peanuts"]


# Limits


def test_what_is_too_old_is_forgotten(tmp_path: Path) -> None:
    """R9: by the clock that is handed in; from the store as well."""
    clock = Clock()
    talked(UserMemory("u-17", tmp_path, days=2, clock=clock), HARBOUR, ANSWERED)
    clock.now_s += 1.9 * DAY_S
    assert HARBOUR in brought(UserMemory("u-17", tmp_path, days=2, clock=clock), ASKED)
    clock.now_s += 0.2 * DAY_S
    assert HARBOUR not in str(UserMemory("u-17", tmp_path, days=2, clock=clock).export())
    assert b"40 piles" not in bytes_in(tmp_path)


@pytest.mark.parametrize("limit", [{"most_entries": 10}, {"limit_bytes": 6_000}], ids=str)
def test_the_oldest_exchanges_are_forgotten_first(made: Made, limit: dict[str, Any]) -> None:
    """R9: facts stay longer, and the store is no larger than the memory."""
    texts = [part for n in range(30) for part in (f"What is number {n}?", "Number " * 9)]
    talked(made(**limit), "I'm allergic to peanuts.", "Noted.", *texts)
    memory = made(**limit)
    memory.refresh()
    assert [fact.text for fact in memory.facts] == ["I'm allergic to peanuts"]
    assert 0 < len(memory.exchanges) < 25
    assert memory.exchanges[-1].said == ("What is number 29?",)


def test_two_processes_have_what_both_learnt(made: Made) -> None:
    """R9: at the same time; of one subject the newer statement."""
    one, two = made(), made()
    first, second = manager(memory=one), manager(memory=two)
    first.observe(talk("The budget is 500. I'm allergic to peanuts.", "Noted."))
    second.observe(talk("The budget is 700. My dog is called Rex.", "Noted."))
    third = made()
    third.refresh()
    assert {fact.text for fact in third.facts} == {
        "I'm allergic to peanuts",
        "The budget is 700",
        "My dog is called Rex",
    }
    assert len(third.exchanges) == 2
    one.forget("Rex")
    two.refresh()
    assert "Rex" not in str(two.export())


def test_processes_that_talk_at_once_lose_nothing(tmp_path: Path) -> None:
    """R9: each of its own conversation, in one folder; what one of them deletes stays deleted."""

    def talk_on(name: str) -> None:
        memory = UserMemory("u-17", tmp_path)
        texts = [part for n in range(8) for part in (f"What is {name} {n}?", f"It is {n}.")]
        talked(memory, f"My {name} is called {name}y.", "Noted.", *texts)

    processes = [forked(partial(talk_on, name))[0] for name in ("cat", "dog")]
    assert [*map(ended, processes)] == [0, 0]
    memory = UserMemory("u-17", tmp_path)
    memory.refresh()
    assert {fact.text for fact in memory.facts} == {
        "My cat is called caty",
        "My dog is called dogy",
    }
    assert len(memory.exchanges) == 18
    assert all(exchange.answer for exchange in memory.exchanges)


def test_steps_of_an_agent_ask_the_store_nothing() -> None:
    """A turn costs what is new in it: what a person said is read once, however long the work on it is."""
    tier = Counting()
    memory = UserMemory("u-17", tier, days=None)
    keeper, messages = manager(memory=memory), [person("Read all logs.")]
    keeper.prepare_nowait(messages)
    asked = tier.asked
    for n in range(20):
        messages += [call(n), {"role": "tool", "tool_call_id": f"call_{n}", "content": "well"}]
        keeper.prepare_nowait(messages)
    assert tier.asked == asked
    messages += [*talk("", "All is well.", "Thanks.")[1:]]
    keeper.prepare_nowait(messages)
    assert tier.asked > asked
    assert memory.exchanges[0].answer == "All is well."


def call(n: int) -> dict[str, object]:
    """A call of a tool."""
    function = {"name": "read_log", "arguments": "{}"}
    calls = [{"id": f"call_{n}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


class Counting(OwnTier):
    """A tier that counts how often it is asked."""

    asked = 0

    @override
    def names(self) -> list[str]:
        self.asked += 1
        return super().names()

    @override
    def write(self, values: Mapping[str, bytes], /, *, ttl_s: float | None = None) -> list[str]:
        self.asked += 1
        return super().write(values, ttl_s=ttl_s)


# What others write


def rows_of(folder: Path) -> list[Path]:
    """The files of memories."""
    return sorted(folder.rglob(FILE))


def test_a_forged_row_in_a_folder_is_none(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Promise 19: changed, or written by somebody without the key; it is told once."""
    talked(UserMemory("u-17", tmp_path), HARBOUR, ANSWERED)
    (file,) = rows_of(tmp_path)
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        raw.execute("UPDATE Cache SET value = CAST(replace(value, 'blue', 'pink') AS BLOB)")
    memory = UserMemory("u-17", tmp_path)
    text = brought(memory, ASKED) + brought(memory, ASKED)
    assert "pink" not in text
    assert "Harbour project has" not in text
    assert sum("damaged" in each.getMessage() for each in caplog.records) in (1, 2)  # store, memory


def test_a_row_of_another_user_is_none(tmp_path: Path) -> None:
    """Promise 19: a file that is put in the place of another one's, with the same key."""
    for user, text in (("u-17", "I'm called Ann."), ("u-18", "I'm called Bob.")):
        talked(UserMemory(user, tmp_path, key=KEY), text, "Noted.")
    one, two = rows_of(tmp_path)
    for name in (FILE, "cache.key"):
        two.with_name(name).write_bytes(one.with_name(name).read_bytes())
    seen = [str(UserMemory(user, tmp_path, key=KEY).export()) for user in ("u-17", "u-18")]
    assert sorted(["Ann" in each for each in seen]) != [True, True]
    assert sorted(["Bob" in each for each in seen]) != [True, True]


def test_a_forged_row_on_a_server_is_none(redis: LocalRedis, server: RedisServer) -> None:
    """Promise 19: changed, or moved to another user's place."""
    tenant = f"t{next(numbers)}"
    raw: Redis = Redis.from_url(redis.url)  # pyright: ignore[reportUnknownMemberType] - its options have no types
    before = set(keys_of(raw))
    talked(UserMemory("u-17", server, tenant=tenant), HARBOUR, ANSWERED)
    settle(server)
    for key in set(keys_of(raw)) - before:
        if raw.type(key) == b"string":
            raw.set(key, cast("bytes", raw.get(key)).replace(b"blue", b"pink"))
    assert "pink" not in brought(UserMemory("u-17", server, tenant=tenant), ASKED)


def test_without_a_key_a_server_keeps_nothing(redis: LocalRedis) -> None:
    """Promise 19: whoever can write there could write what a person said."""
    with RedisServer(redis.url) as open_server:
        talked(UserMemory("u-17", open_server), HARBOUR, ANSWERED)
        assert brought(UserMemory("u-17", open_server), ASKED) == ""


def test_no_secret_is_kept(tmp_path: Path) -> None:
    """Of a known form; not in an exchange, not in an answer, not as a fact."""
    key = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3"
    talked(UserMemory("u-17", tmp_path), f"My token is {key}.", f"I keep {key}.")
    assert key.lower().encode() not in bytes_in(tmp_path)
    memory = UserMemory("u-17", tmp_path)
    assert "[hidden]" in str(memory.export())
    assert memory.facts == ()


# A store that fails


class Failing(OwnTier):
    """A tier each of whose methods fails."""

    @override
    def read_all(self, names: Iterable[str], /) -> dict[str, bytes]:
        raise OSError("read")

    @override
    def write(self, values: Mapping[str, bytes], /, *, ttl_s: float | None = None) -> list[str]:
        raise OSError("write")

    @override
    def names(self) -> list[str]:
        raise StoreUnavailable("here", reason="names")

    @override
    def forget(self, names: Iterable[str], /) -> None:
        raise StoreUnavailable("here", reason="forget")


def test_a_row_under_another_name_is_none() -> None:
    """Of a tier that seals nothing, too."""
    tier = OwnTier()
    talked(UserMemory("u-17", tier, days=None), HARBOUR, ANSWERED, "Is it cold?", "It is.")
    rows = [name for name in tier.values if ":e:" in name]
    values = [tier.values[name] for name in rows]
    tier.values |= dict(zip(rows, values[::-1], strict=True))
    memory = UserMemory("u-17", tier, days=None)
    memory.refresh()
    assert memory.exchanges == ()


class Lying(OwnTier):
    """A tier that has something else under each name."""

    @override
    def read_all(self, names: Iterable[str], /) -> dict[str, bytes]:
        return dict.fromkeys(names, b'{"id": "x"}')

    @override
    def names(self) -> list[str]:
        return [*super().names(), "", "x:y", f"{next(iter(self.values), ':').partition(':')[0]}:e:"]


@pytest.mark.parametrize("tier", [Failing(), Lying()], ids=["fails", "lies"])
def test_a_store_that_fails_costs_memories_only(
    tier: Tier, caplog: pytest.LogCaptureFixture
) -> None:
    """Promise 11: what the process itself has heard is there; told once, and a deletion says so."""
    memory = UserMemory("u-17", tier, days=None)
    messages = talk(HARBOUR, ANSWERED, "Thanks.")
    plain = manager().prepare_nowait(messages).messages
    assert manager(memory=memory).prepare_nowait(messages).messages == plain
    brought(memory, ASKED)
    assert len([each for each in caplog.records if each.name.endswith("memory.store")]) <= 1
    if isinstance(tier, Failing):
        with pytest.raises(StoreUnavailable):
            memory.forget("Harbour")
        assert "Harbour project has" not in brought(memory, ASKED)


class Undeleting(OwnTier):
    """A tier that deletes nothing."""

    @override
    def forget(self, names: Iterable[str], /) -> None:
        raise StoreUnavailable("here", reason="forget")


def test_what_cannot_be_deleted_now_is_used_no_more() -> None:
    """Promises 11 and 21: not in this process, and whoever reads the store finds the mark."""
    tier = Undeleting()
    memory = UserMemory("u-17", tier, days=None)
    keeper = talked(memory, HARBOUR, ANSWERED, "Thanks.", "Welcome.")
    forgotten = keeper.forget(query="40 piles")
    assert forgotten.remembered
    assert {*forgotten.remembered} <= {*forgotten.unavailable}
    for each in (memory, UserMemory("u-17", tier, days=None)):
        each.refresh()
        assert "40 piles" not in str(each.export())


def test_a_server_that_is_not_there_costs_memories_only() -> None:
    """Promise 11."""
    with silent_port() as port:
        limits = RedisLimits(timeout_s=0.05, patience_s=0.1)
        with RedisServer(f"redis://127.0.0.1:{port}/0", key=KEY, limits=limits) as away:
            memory = UserMemory("u-17", away)
            messages = talk(HARBOUR, ANSWERED, "Thanks.")
            plain = manager().prepare_nowait(messages).messages
            assert manager(memory=memory).prepare_nowait(messages).messages == plain


# Arguments

WRONG: Sequence[tuple[str, Callable[[], object]]] = [
    ("user_id=''", lambda: UserMemory("", "x")),
    ("user_id=7", lambda: UserMemory(cast("str", 7), "x")),
    ("store=7: give a folder", lambda: UserMemory("u", cast("str", 7))),
    ("days=0", lambda: UserMemory("u", "x", days=0)),
    ("most_entries=0", lambda: UserMemory("u", "x", most_entries=0)),
    ("limit_bytes=0", lambda: UserMemory("u", "x", limit_bytes=0)),
    ("key: it has 5 characters", lambda: UserMemory("u", "x", key="short")),
    ("give a query, or id=", lambda: UserMemory("u", OwnTier()).forget()),
    ("memory='u-17': give UserMemory", lambda: manager(memory="u-17")),
]


@pytest.mark.parametrize(("error", "make"), WRONG, ids=[error for error, _ in WRONG])
def test_a_wrong_argument_is_named(error: str, make: Callable[[], object]) -> None:
    """With its value and the way out."""
    with pytest.raises(ValueError, match=error.replace("(", r"\(")):
        make()
