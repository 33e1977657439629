"""What is deleted is gone from everywhere; what a host only cut from the front is kept and told."""

import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from cProfile import Profile
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context import ContextCache, IncrementalContextManager
from autogen_context.cache.originals import OriginalTier, RedisOriginals
from autogen_context.cache.tier import Scope
from autogen_context.cache.vectors import VectorStore
from autogen_context.errors import NotInHistory, OriginalNotFound, StoreRefused, StoreUnavailable
from autogen_context.messages.message import Message
from support import working
from support.keeping import manager
from support.own_tier import OwnTier
from support.redis_server import LocalRedis
from support.states import HOSTS, conversation
from support.words import Words
from support.work import calls_of

MARKER = "zebra4711"
RULE = "Never touch the key file"
STEPS = 30
of_each_host = pytest.mark.parametrize("words", [*HOSTS.values()], ids=[*HOSTS])


def with_secret(words: Words, messages: list[Any], kind: str, at: int) -> int:
    """Put a message with the marker into a conversation, before the unit at a place; return where it stands."""
    while words.host.read(messages[at]).results:
        at += 1
    secret = f"The limit of {MARKER} is 77 ms. It belongs to {MARKER}."
    if kind == "result":
        messages[at:at] = [words.call("call_s"), words.result("call_s", f"{secret}\n" * 30)]
        return at + 1
    messages.insert(at, words.user(secret) if kind == "user" else words.said(secret))
    return at


def shown(
    keeper: IncrementalContextManager, sent: Sequence[object], messages: Sequence[object]
) -> str:
    """All that can be seen of a conversation."""
    parts = [repr(sent), json.dumps(keeper.save_state())]
    parts += [keeper.recall_context(query=MARKER).replace(MARKER, "", 1)]  # it repeats the query
    for payload in messages:
        try:
            parts.append(str(keeper.explain(payload)))
        except NotInHistory:
            continue
    numbers = [version.number for version in keeper.versions]
    parts += [repr(keeper.diff(a, b)) for a, b in pairwise(numbers)]
    return "\n".join(parts)


def lived(
    words: Words, messages: list[Any], window: int, **given: Any
) -> IncrementalContextManager:
    """A manager that has seen the conversation grow."""
    keeper = manager(window, host=words.host, **given)
    for stop in (*range(12, len(messages), 7), len(messages)):
        while stop < len(messages) and words.host.read(messages[stop]).results:
            stop += 1  # noqa: PLW2901 - no call without its result
        keeper.prepare_nowait(messages[:stop])
    return keeper


def grown(words: Words, messages: list[Any]) -> list[Any]:
    """The conversation two messages later."""
    return [*messages, words.said("I go on."), words.user("Thanks, what is next?")]


WAYS = ("message", "query", "taken", "edited")


SIZES = [(3_000, 20), (3_000, 60), (100_000, 40), (3_000, 108)]
of_each_size = pytest.mark.parametrize(
    ("host", "window", "at"),
    [*((host, *SIZES[0]) for host in HOSTS), *(("openai", *size) for size in SIZES[1:])],
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["user", "said", "result"])
@of_each_size
def test_what_is_deleted_is_found_nowhere(
    host: str, kind: str, window: int, at: int, way: str, tmp_path: Path
) -> None:
    """Asked for or taken out by the host; whether it was shortened, left out or sent; in this turn and later ones."""
    words = HOSTS[host]
    messages = conversation(words, STEPS)
    place = with_secret(words, messages, kind, min(at, len(messages) - 3))
    keeper = lived(words, messages, window, originals_directory=str(tmp_path))
    if way == "message":
        assert keeper.forget(messages[place])
        later = messages
    elif way == "query":
        assert len(keeper.forget(query=MARKER.upper()).messages) == 1 + (kind == "result")
        later = messages
    elif way == "taken":
        later = [*messages[: place - (kind == "result")], *messages[place + 1 :]]
    else:
        other = words.result("call_s", "Nothing.") if kind == "result" else words.said("Nothing.")
        later = [*messages[:place], other, *messages[place + 1 :]]
    for _ in range(3):
        turn = keeper.prepare_nowait(later)
        assert turn.certificate.fits
        assert turn.certificate.pairs_closed
        assert MARKER not in shown(keeper, turn.messages, later)
        later = grown(words, later)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert MARKER.encode() not in kept
    again = manager(window, host=words.host, originals_directory=str(tmp_path))
    again.load_state(json.loads(json.dumps(keeper.save_state())))
    assert MARKER not in shown(again, again.prepare_nowait(later).messages, later)


@of_each_host
def test_a_message_that_is_said_again_is_new(words: Words) -> None:
    """What was forgotten was that one message: a later one with the same words is sent."""
    messages = conversation(words, 6)
    place = with_secret(words, messages, "user", 5)
    keeper = lived(words, messages, 100_000)
    keeper.forget(messages[place])
    again = [*messages, words.said("Yes?"), messages[place]]
    for _ in range(2):
        turn = keeper.prepare_nowait(again)
        assert sum(MARKER in repr(words.host.read(m)) for m in turn.messages) == 1
        again = grown(words, again)


@pytest.mark.parametrize("way", ["branch", "shorter list", "the same list without it"])
@of_each_host
def test_what_is_forgotten_stays_forgotten_while_the_host_has_it(words: Words, way: str) -> None:
    """In a branch, and whatever part of its list a host shows in between."""
    messages = conversation(words, 6)
    place = with_secret(words, messages, "user", 5)
    keeper = lived(words, messages, 100_000)
    keeper.forget(messages[place])
    shown_next = {"branch": messages, "shorter list": messages[:1]}
    other = keeper.branch() if way == "branch" else keeper
    other.observe(shown_next.get(way, [*messages[:place], *messages[place + 1 :]]))
    for each in (other, keeper):
        assert MARKER not in repr(each.prepare_nowait(messages).messages)
        assert MARKER not in repr(each.prepare_nowait(grown(words, messages)).messages)


def test_a_message_that_is_said_again_is_in_a_branch() -> None:
    """Although one with its words was forgotten, which the host still has."""
    words = HOSTS["openai"]
    messages = conversation(words, 6)
    place = with_secret(words, messages, "user", 5)
    keeper = lived(words, messages, 100_000)
    keeper.forget(messages[place])
    again = grown(words, [*messages, words.said("Yes?"), messages[place]])
    keeper.prepare_nowait(again)
    turn = keeper.branch().prepare_nowait(again)
    assert turn.messages == keeper.prepare_nowait(again).messages
    assert repr(turn.messages).count("77 ms") == 1


@of_each_host
def test_a_retried_answer_is_found_nowhere(words: Words) -> None:
    """The end of the list was replaced by another answer."""
    messages = conversation(words, 20)
    keeper = lived(words, [*messages, words.said(f"An answer with {MARKER}.")], 3_000)
    later = [*messages, words.said("Another answer."), words.user("Go on.")]
    turn = keeper.prepare_nowait(later)
    assert MARKER not in shown(keeper, turn.messages, later)


CUTS: dict[str, Callable[[Words, list[Any], int], list[Any]]] = {
    "system and newest": lambda _, messages, n: [messages[0], *messages[-n:]],
    "system, task and newest": lambda _, messages, n: [*messages[:2], *messages[-n:]],
    "newest alone": lambda _, messages, n: messages[-n:],
    "a summary in front": lambda words, messages, n: [
        messages[0],
        words.user("Summary: parts were read."),
        *messages[-n:],
    ],
}


@pytest.mark.parametrize("window", [3_000, 100_000])
@pytest.mark.parametrize("cut", CUTS)
@of_each_host
def test_a_rule_of_a_cut_front_is_told_and_the_rest_is_recalled(
    words: Words, cut: str, window: int, tmp_path: Path
) -> None:
    """A limiter that keeps its newest messages, turn after turn, in this process and the next."""
    messages = conversation(words, STEPS)
    with_secret(words, messages, "said", 8)
    keeper = lived(words, messages, window)
    for turn_number in range(4):
        messages = grown(words, messages)
        handed = CUTS[cut](words, messages, 14 - 14 % 2)
        turn = keeper.prepare_nowait(handed)
        assert turn.certificate.fits
        texts = "\n".join(words.host.read(payload).text for payload in turn.messages)
        assert RULE in texts
        assert MARKER in keeper.recall_context(query=f"limit of {MARKER}")
        assert "part_3" in keeper.recall_context(query="line of part_3")
        if turn_number == 1:
            path = tmp_path / "state.json"
            path.write_text(json.dumps(keeper.save_state()))
            keeper = manager(window, host=words.host)
            keeper.load_state(json.loads(path.read_text()))


def test_a_rule_that_was_withdrawn_since_is_not_told() -> None:
    """What still holds of a cut front is decided by what people say behind it, at the next cut."""
    words = HOSTS["openai"]
    messages = [
        words.system("Be careful."),
        words.user("The limit of part 1 is 20 ms."),
        *conversation(words, 8)[2:],
    ]
    keeper = lived(words, messages, 100_000)
    cut = [messages[0], *messages[8:], words.said("Yes?"), words.user("Go on.")]
    assert "20 ms" in repr(keeper.prepare_nowait(cut).messages)
    newer = [*cut, words.said("Well?"), words.user("The limit of part 1 is now 35 ms.")]
    keeper.prepare_nowait(newer)
    newer = [newer[0], *newer[6:], words.said("Yes."), words.user("Go on.")]
    turn = keeper.prepare_nowait(newer)
    assert "20 ms" not in repr(turn.messages)
    assert "35 ms" in repr(turn.messages)


def test_what_was_cut_can_be_forgotten() -> None:
    """Its originals and what is told of it; also by a query in another case."""
    words = HOSTS["openai"]
    messages = conversation(words, STEPS)
    with_secret(words, messages, "user", 8)
    keeper = lived(words, messages, 3_000)
    cut = [messages[0], *messages[-12:], words.said("Yes?"), words.user("Go on.")]
    assert MARKER in repr(keeper.prepare_nowait(cut).messages)
    gone = keeper.forget(query=MARKER)
    assert gone.handles
    assert gone.statements
    assert MARKER not in shown(keeper, keeper.prepare_nowait(cut).messages, cut)


@pytest.mark.parametrize("mode", ["forget", "keep"])
def test_a_setting_decides_what_a_removal_means(mode: str) -> None:
    """For a cut front and for a deletion in the middle alike."""
    words = HOSTS["openai"]
    for cut in (True, False):
        messages = conversation(words, STEPS)
        place = with_secret(words, messages, "user", 8)
        keeper = lived(words, messages, 3_000, on_host_removal=mode)
        later = (
            [messages[0], *messages[-12:]]
            if cut
            else [m for m in messages if m is not messages[place]]
        )
        later = grown(words, later)
        turn = keeper.prepare_nowait(later)
        assert (MARKER in shown(keeper, turn.messages, later)) == (mode == "keep")


def test_what_the_agent_asked_back_is_forgotten_with_it() -> None:
    """The answer of the tool repeats the message."""
    words = HOSTS["openai"]
    messages = conversation(words, STEPS)
    place = with_secret(words, messages, "result", 20)
    keeper = lived(words, messages, 3_000)
    call = {
        "id": "r1",
        "type": "function",
        "function": {"name": "recall_context", "arguments": "{}"},
    }
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        words.result("r1", keeper.recall_context(query=f"limit of {MARKER}")),
        words.said("I see."),
        words.user("Go on."),
    ]
    assert MARKER in repr(keeper.prepare_nowait(messages).messages)
    assert len(keeper.forget(messages[place]).messages) == 4
    turn = keeper.prepare_nowait(messages)
    assert MARKER not in shown(keeper, turn.messages, messages)


def test_what_cannot_be_forgotten_says_so() -> None:
    """The system prompt and the newest message, an unknown message, an unknown handle; a query that nothing has forgets nothing."""
    words = HOSTS["openai"]
    messages = conversation(words, 6)
    keeper = lived(words, messages, 100_000)
    before = keeper.save_state()
    for message in (messages[0], messages[-1]):
        with pytest.raises(ValueError, match="system prompt, or the newest message"):
            keeper.forget(message)
    with pytest.raises(NotInHistory):
        keeper.forget(words.user("nobody said this"))
    with pytest.raises(OriginalNotFound):
        keeper.forget(handle="0123456789ab")
    with pytest.raises(ValueError, match="give a message, or handle=, or query="):
        keeper.forget()
    with pytest.raises(ValueError, match="give a message, or handle=, or query="):
        keeper.forget(messages[1], query="x")
    assert not keeper.forget(query="nobody said this")
    careful = keeper.forget(query="careful")
    assert (bool(careful), careful.stays) == (False, 1)
    assert keeper.save_state() == before
    other = manager(100_000)
    other.load_state(before)
    with pytest.raises(ValueError, match="not handed in yet"):
        other.forget(query="part")


def test_a_handle_is_forgotten_with_its_unit() -> None:
    """What a mark in the request names."""
    words = HOSTS["openai"]
    messages = conversation(words, STEPS)
    place = with_secret(words, messages, "result", 20)
    keeper = lived(words, messages, 3_000)
    handle = next(
        d.handle for d in keeper.prepare_nowait(messages).decisions if d.start <= place < d.stop
    )
    assert MARKER in keeper.recall_context(handle=handle)
    gone = keeper.forget(handle=handle)
    assert handle in gone.handles
    with pytest.raises(OriginalNotFound):
        keeper.recall(handle)
    assert MARKER not in shown(keeper, keeper.prepare_nowait(messages).messages, messages)


@settings(max_examples=40)
@given(st.data())
def test_whatever_is_taken_out_and_forgotten_the_promises_hold(data: st.DataObject) -> None:
    """Any messages in any order, in a small window: it fits, pairs are closed, and a list read anew gives the same units."""
    words = HOSTS["openai"]
    messages, keeper = conversation(words, 12), manager(2_000)
    for step in range(data.draw(st.integers(1, 5))):
        keeper.prepare_nowait(messages)
        at = data.draw(st.integers(0, len(messages) - 1))
        stop = data.draw(st.integers(at, min(len(messages), at + 6)))
        match data.draw(st.sampled_from(["take", "edit", "forget", "cut", "grow"])):
            case "take":
                messages = [*messages[:at], *messages[stop:]] or messages
            case "edit":
                messages = [*messages[:at], words.said(f"edited {step}"), *messages[at + 1 :]]
            case "forget":
                with contextlib.suppress(ValueError, NotInHistory):
                    keeper.forget(messages[at])
            case "cut":
                messages = [messages[0], *messages[max(1, at) :]]
            case _:
                messages = grown(words, messages)
        messages = (
            messages if words.host.read(messages[-1]).role == "user" else grown(words, messages)
        )
        turn = keeper.prepare_nowait(messages)
        assert turn.certificate.fits
        assert turn.certificate.pairs_closed
        assert turn.certificate.newest_present
        again = manager(2_000)
        again.load_state(json.loads(json.dumps(keeper.save_state())))
        assert again.prepare_nowait(grown(words, messages)).messages == (
            keeper.prepare_nowait(grown(words, messages)).messages
        )
        messages = grown(words, messages)


class Letters:
    """An embedder of letter counts."""

    name = "letters"

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """A vector per text."""
        return [[1.0 + text.count(letter) for letter in "aeiourst"] for text in texts]


async def test_summaries_vectors_and_shared_stores_forget(tmp_path: Path) -> None:
    """A model's summary, and vectors, in memory and in the cache's folder; originals on a Redis server."""
    messages = working.run(70, {6: f"The limit of {MARKER} is 77 ms."})
    place = next(i for i, m in enumerate(messages) if MARKER in str(m["content"]))
    with LocalRedis(tmp_path) as server:
        shared = RedisOriginals(server.url, scope=Scope(agent="reader"))
        cache = ContextCache(tmp_path / "cache")
        vectors = VectorStore(Letters())
        keeper = working.manager(
            working.Summarising(),
            window_tokens=6_000,
            summary_timeout_s=30.0,
            cache=cache,
            vectors=vectors,
            original_store=shared,
        )
        for stop in working.turns_of(messages):
            await keeper.prepare(messages[:stop])
        shared.flush()
        assert MARKER in json.dumps(keeper.save_state()["summaries"])
        text = str(messages[place]["content"])
        assert vectors.ready(text) is not None
        assert keeper.forget(query=MARKER)
        turn = await keeper.prepare(messages)
        assert MARKER not in shown(keeper, turn.messages, messages)
        assert vectors.ready(text) is None
        shared.flush()
        values = server.said(*(b"GET " + key for key in server.stored()))
        assert MARKER.encode() not in values
        await keeper.aclose()
        await cache.aclose()
    rows = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert MARKER.encode() not in rows


class Team:
    """Agents that keep their originals in one place, each with a tool result of its own or the same."""

    def __init__(self) -> None:
        self.tier = OwnTier()

    def agent(self, window: int = 3_000, **given: Any) -> IncrementalContextManager:
        """One of the team."""
        scope = Scope(tenant="acme", agent="team")
        return manager(window, original_store=OriginalTier(self.tier, scope=scope), **given)

    def has(self, text: str) -> bool:
        """Whether the team's store has an original with a text."""
        return any(text.encode() in value for value in self.tier.values.values())


def with_result(words: Words, steps: int, text: str) -> tuple[list[Any], list[Any]]:
    """A conversation with a result in the middle, and the same one later, when the host took that out with its call."""
    messages = conversation(words, steps)
    place = with_secret(words, messages, "result", 5)
    messages[place] = words.result("call_s", text)
    return messages, grown(words, [*messages[: place - 1], *messages[place + 1 :]])


def test_a_handle_in_the_text_of_a_result_deletes_nothing() -> None:
    """Whoever writes a result decides on no other original."""
    words, team, handle = HOSTS["openai"], Team(), "abcdefgh2345"
    other = OriginalTier(team.tier, scope=Scope(tenant="acme", agent="team"))
    other.write([(handle, (Message(role="tool", text="the only copy"),))])
    lines = "\n".join(f"line {n}: output {n * 7919 % 1000} of a tool" for n in range(3_000))
    messages, later = with_result(words, 3, f'see handle="{handle}"\n{lines}')
    keeper = team.agent(100_000, reduce="lossy")
    assert f'handle="{handle}"' in repr(keeper.prepare_nowait(messages).messages)
    keeper.prepare_nowait(later)
    assert team.has("the only copy")
    assert not team.has("line 77: output")


def test_what_one_agent_deletes_another_has() -> None:
    """The same result of a tool: an agent that never put it into the team's store takes nothing out of it."""
    words, team = HOSTS["openai"], Team()
    lines = "\n".join(f"line {n}: output {n * 7919 % 1000} of a tool" for n in range(600))
    messages, later = with_result(words, STEPS, lines)
    team.agent().prepare_nowait(messages)
    assert team.has("line 77: output")
    keeper = team.agent(100_000)
    keeper.prepare_nowait(messages)
    keeper.prepare_nowait(later)
    assert team.has("line 77: output")


class Refusing(OwnTier):
    """A tier that deletes nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.error: Exception | None = StoreRefused("redis://x")

    @override
    def forget(self, names: Iterable[str], /) -> None:
        """Delete them, or refuse."""
        if self.error is not None:
            raise self.error
        super().forget(names)


@pytest.mark.parametrize(
    "error", [StoreRefused("redis://x"), StoreUnavailable("x", reason="down"), OSError()]
)
def test_a_store_that_deletes_nothing_ends_no_turn(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """Each turn follows the host's list; it is tried again in each, and told once."""
    words, tier = HOSTS["openai"], Refusing()
    tier.error = error
    messages = conversation(words, STEPS)
    place = with_secret(words, messages, "said", 8)
    keeper = manager(3_000, original_store=OriginalTier(tier, scope=Scope()))
    keeper.prepare_nowait(messages)
    later = [*messages[:place], *messages[place + 1 :]]
    for _ in range(3):
        turn = keeper.prepare_nowait(later)
        assert turn.certificate.fits
        assert turn.decisions[-1].stop == len(later)
        later = grown(words, later)
    assert [each for each in caplog.messages if "could not be deleted" in each] == [
        "originals of deleted messages could not be deleted; it is tried again"
    ]
    assert any(MARKER.encode() in value for value in tier.values.values())
    tier.error = None
    keeper.prepare_nowait(later)
    assert not any(MARKER.encode() in value for value in tier.values.values())


@pytest.mark.parametrize("way", ["loaded", "continued"])
def test_what_a_store_could_not_delete_is_deleted_after_a_restart(way: str) -> None:
    """By whoever goes on with the state, as soon as the store can."""
    words, tier = HOSTS["openai"], Refusing()
    messages = conversation(words, STEPS)
    place = with_secret(words, messages, "said", 8)
    keeper = manager(3_000, original_store=OriginalTier(tier, scope=Scope()))
    keeper.prepare_nowait(messages)
    assert keeper.forget(messages[place]).unavailable
    saved = json.loads(json.dumps(keeper.save_state()))
    if way == "loaded":
        keeper = manager(3_000, original_store=OriginalTier(tier, scope=Scope()))
    keeper.load_state(saved)
    keeper.prepare_nowait(messages)
    assert any(MARKER.encode() in value for value in tier.values.values())
    tier.error = None
    keeper.prepare_nowait(grown(words, messages))
    assert not any(MARKER.encode() in value for value in tier.values.values())
    assert "undeleted" not in keeper.save_state()


def forget_query(keeper: IncrementalContextManager, query: str) -> object:
    """Forget what has a text."""
    return keeper.forget(query=query)


def test_forgetting_costs_what_there_is_to_forget() -> None:
    """Four times the messages with a text, as units and as originals: hardly more than four times the calls."""
    words, calls = HOSTS["openai"], list[int]()
    for steps in (40, 160):
        keeper = manager(3_000)
        keeper.prepare_nowait(conversation(words, steps))
        calls.append(calls_of(partial(forget_query, keeper), "part"))
    assert calls[1] < 6 * calls[0]


def test_a_turn_after_forgetting_costs_what_is_new() -> None:
    """While the host still has the message: what was looked at is not read again."""
    words, calls = HOSTS["openai"], list[int]()
    for steps in (40, 400):
        messages = conversation(words, steps)
        messages.insert(2, words.user(f"The limit of {MARKER} is 77 ms."))
        messages.insert(3, words.said("Noted."))
        keeper = manager(10_000_000)
        keeper.prepare_nowait(messages)
        keeper.forget(query=MARKER)
        keeper.prepare_nowait(messages)
        messages.append(words.said("Go on."))
        profile = Profile()
        profile.enable()
        keeper.prepare_nowait(messages)
        profile.disable()
        calls.append(sum(row.callcount for row in profile.getstats() if "digest" in str(row.code)))
    assert calls[1] < 2 * calls[0]
