"""With ``volatile="behind"`` what changes of the system prompt stands before the newest unit, and all else is as without it."""

import copy
import json
import logging
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import histories
from autogen_context.view.prompt import OPENING
from support import keeping
from support.keeping import outcome_of
from support.states import HOSTS, conversation
from support.words import Words

pytestmark = pytest.mark.filterwarnings("ignore:window_tokens=")
TURNS = 60
WINDOWS = st.integers(min_value=300, max_value=3_000)
RULE, CLOCK, MEMORY = "Never delete order-{}.", "Current time: 10:{:02d}.", "likes word{}"
manager = partial(keeping.manager, volatile="behind")
of_each_host = pytest.mark.parametrize("words", [*HOSTS.values()], ids=[*HOSTS])
WITH_PLACE = {name: words for name, words in HOSTS.items() if words.host.later_system}
of_hosts_with_a_place = pytest.mark.parametrize(
    "words", [*WITH_PLACE.values()], ids=[*WITH_PLACE]
)  # for a later system message


def prompt(turn: int, values: Sequence[int] = ()) -> str:
    """A prompt with rules that stay and a clock; with values also a memory."""
    memory = "".join(f"- {MEMORY.format(value)}\n" for value in values)
    rules = "\n".join(f"- {RULE.format(n)}" for n in range(4))
    clock = CLOCK.format(turn % 60)
    return f"You are a careful clerk. {clock}\n{memory}## Rules\n{rules}\nBe brief."


def prepared(
    keeper: IncrementalContextManager, messages: list[ChatMessage]
) -> Prepared[ChatMessage]:
    """A turn; conversations that do not fit say nothing here."""
    outcome = outcome_of(keeper, messages)
    assume(not isinstance(outcome, ContextWindowExceeded))
    return cast("Prepared[ChatMessage]", outcome)


def clocked(
    history: list[list[ChatMessage]], memories: Sequence[Sequence[int]]
) -> list[list[ChatMessage]]:
    """Each list behind a prompt with the clock and the memory of its turn."""
    turns: list[list[ChatMessage]] = []
    for n, messages in enumerate(history):
        system: Any = {"role": "system", "content": prompt(n, memories[n % len(memories)])}
        turns.append([system, *(m for m in messages if m["role"] not in SYSTEM_ROLES)])
    return turns


memories = st.lists(st.lists(st.integers(0, 5), max_size=3, unique=True), min_size=1, max_size=4)


@settings(max_examples=20)
@given(histories(max_messages=20), memories, WINDOWS, st.booleans())
def test_every_part_of_the_newest_prompt_is_sent_once_and_nothing_of_an_older_one(
    history: list[list[ChatMessage]],
    kept: list[list[int]],
    window: int,
    single: bool,  # noqa: FBT001 - drawn
) -> None:
    """Whatever is compacted, in system messages alone; the request fits, in closed pairs, with its newest message last."""
    keeper = manager(window, single_system=single)
    for n, messages in enumerate(clocked(history, kept)):
        turn = prepared(keeper, messages)
        assert not turn.certificate.broken
        systems = [str(m["content"]) for m in turn.messages if m["role"] == "system"]
        text = "\n".join(systems)
        expected = [CLOCK.format(n % 60), *map(MEMORY.format, kept[n % len(kept)])]
        assert [each for each in expected if text.count(each) != 1] == []
        assert all(text.count(RULE.format(each)) == 1 for each in range(4))
        assert text.count("Current time:") == 1
        assert text.count("likes word") == len(kept[n % len(kept)])
        if len(messages) > 1:
            assert turn.messages[-1]["role"] == messages[-1]["role"]
        assert "".join(turn.moved) in text.replace("\n", "") or not turn.moved


@settings(max_examples=20)
@given(histories(max_messages=20), memories, WINDOWS, st.data())
def test_copies_early_reading_and_a_saved_state_change_nothing(
    history: list[list[ChatMessage]], kept: list[list[int]], window: int, data: st.DataObject
) -> None:
    """Promises 9, 10, 12 and 15, with a prompt that changes in each turn."""
    made = partial(manager, window, single_system=data.draw(st.booleans()))
    keeper, plain = made(), made()
    stop = data.draw(st.integers(0, len(history) - 1))
    for n, messages in enumerate(clocked(history, kept)):
        given_list, before = copy.deepcopy(messages), copy.deepcopy(messages)
        keeper.observe(given_list)
        turn = prepared(keeper, given_list)
        assert turn == prepared(plain, messages)
        assert given_list == before
        for message in turn.messages:
            if not any(message is each for each in given_list):
                message.clear()  # what was handed out is not what is kept
        if n == stop:
            state, keeper = keeper.save_state(), made()
            keeper.load_state(json.loads(json.dumps(state)))
            assert keeper.save_state() == state


@settings(max_examples=20)
@given(histories(max_messages=30), WINDOWS)
def test_a_prompt_that_stays_the_same_is_sent_as_without_the_setting(
    history: list[list[ChatMessage]], window: int
) -> None:
    """The same objects in the same decisions: promises 1 to 8 are those of the engine without it."""
    with_it, without = manager(window), keeping.manager(window)
    system: Any = {"role": "system", "content": prompt(0)}
    for each in history:
        messages = [system, *(m for m in each if m["role"] not in SYSTEM_ROLES)]
        one, other = outcome_of(with_it, messages), outcome_of(without, messages)
        if isinstance(one, Prepared) and isinstance(other, Prepared):
            assert one == other
        else:
            assert str(one) == str(other)


@of_hosts_with_a_place
def test_a_clock_costs_no_compaction_and_what_is_in_front_stays(words: Words) -> None:
    """As many compactions as with one prompt; between them all before what was moved is the prefix of the next request."""

    def lived(clock: Callable[[int], int]) -> list[tuple[bool, list[Message]]]:
        keeper, turns = manager(3_000, host=words.host), list[tuple[bool, list[Message]]]()
        for n in range(TURNS):
            messages = [words.system(prompt(clock(n))), *conversation(words, n)[1:]]
            turn = keeper.prepare_nowait(messages)
            assert turn.certificate.fits
            turns.append((turn.compacted, [words.host.read(each) for each in turn.messages]))
        return turns

    still, ticking = lived(lambda _: 0), lived(lambda n: n)
    assert sum(cut for cut, _ in ticking) <= sum(cut for cut, _ in still)
    held = 0
    for (_, before), (cut, after) in pairwise(ticking[1:]):
        at = next(i for i, m in enumerate(before) if m.text.startswith(OPENING))
        assert cut or after[:at] == before[:at]
        held += not cut and after[at:][: len(before) - at - 1] == before[at + 1 :]
    assert held == sum(not cut for cut, _ in ticking[2:])


@of_hosts_with_a_place
def test_what_is_moved_is_a_system_message_before_the_newest_unit(words: Words) -> None:
    """Never between a call and its result; it stays where it is until it changes."""
    keeper, said = manager(50_000, host=words.host), conversation(words, 3)[1:]
    keeper.prepare_nowait([words.system(prompt(0)), *said])
    for more in (
        [words.user("And then?")],
        [words.call("a"), words.result("a", "found")],
    ):
        said = [*said, *more]
        turn = keeper.prepare_nowait([words.system(prompt(len(said))), *said])
        assert turn.moved == (CLOCK.format(len(said)),)
        assert turn.messages[-len(more) :] == more
        moved = words.host.read(turn.messages[-len(more) - 1])
        assert moved.role == "system"
        assert CLOCK.format(len(said)) in moved.text
        again = keeper.prepare_nowait([words.system(prompt(len(said))), *said, words.said("Yes.")])
        assert again.messages[:-1] == turn.messages


def test_hosts_without_a_place_are_known() -> None:
    """AG2 has no event for a system message; clients that make a person's message of a later one are known by their provider."""
    assert HOSTS.keys() - WITH_PLACE.keys() == {"ag2"}


@of_each_host
def test_a_model_with_a_single_system_message_has_it_at_its_end(
    words: Words, caplog: pytest.LogCaptureFixture
) -> None:
    """Behind the rules that stay; no other role has its authority. It is said once that nothing behind it is cached."""
    keeper = manager(3_000, host=words.host, single_system=True)
    for n in range(8):
        turn = keeper.prepare_nowait([words.system(prompt(n)), *conversation(words, n)[1:]])
        read = [words.host.read(each) for each in turn.messages]
        assert [m for m in read[1:] if m.role in SYSTEM_ROLES] == []
        assert CLOCK.format(n) in read[0].text
        assert not any("Current time" in m.text for m in read[1:])
        assert n == 0 or read[0].text.index("Be brief.") < read[0].text.index("Current time")
    warned = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert sum("end of the prompt" in r.getMessage() for r in warned) == 1


def test_it_is_explained_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """Which parts stand behind, by the turn and by what explains the prompt, after a compaction as well."""
    words, keeper = HOSTS["openai"], manager(3_000)
    caplog.set_level(logging.INFO, logger="autogen_context")
    compactions = 0
    for n in range(40):
        messages = [words.system(prompt(n)), *conversation(words, n)[1:]]
        turn = keeper.prepare_nowait(messages)
        compactions += turn.compacted
        if n:
            assert turn.moved == (CLOCK.format(n),)
            assert CLOCK.format(n) in keeper.explain(messages[0]).reason
    assert compactions
    told = [r for r in caplog.records if "system prompt" in r.getMessage()]
    assert [r.levelno for r in told] == [logging.INFO]


def test_a_prompt_that_is_another_one_each_turn_is_said_to_be(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing of it stays, so nothing can be moved: it is sent as it is, with one warning."""
    words, keeper = HOSTS["openai"], manager(3_000)
    for n in range(8):
        system = words.system(f"word{n}a word{n}b word{n}c")
        turn = keeper.prepare_nowait([system, *conversation(words, n)[1:]])
        assert turn.messages[0] is system
        assert not turn.moved
    [warned] = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert "from turn to turn" in warned.getMessage()


def test_a_pinned_prompt_and_one_of_several_texts_are_sent_as_they_are() -> None:
    """What a user pins is verbatim; and parts with marks of the user's own, as for a cache, stay what they are."""
    words = HOSTS["openai"]
    for pins in (True, False):
        keeper = manager(3_000)
        for n in range(4):
            system: Any = words.system(prompt(n))
            if not pins:
                texts = [{"type": "text", "text": text} for text in ("Be brief.", f"It is {n}.")]
                system["content"] = texts
            messages = [system, *conversation(words, 2)[1:]]
            if pins:
                keeper.pin(system)
            turn = keeper.prepare_nowait(messages)
            assert turn.messages[0] is system
            assert turn.certificate.pins_present


def test_rolling_back_and_branching_keep_the_newest_prompt() -> None:
    """A version from before something was moved is gone back to with the prompt of now, and a branch goes on as its parent."""
    words, keeper, messages = HOSTS["openai"], manager(3_000), list[Any]()
    for n in range(30):
        messages = [words.system(prompt(n)), *conversation(words, n)[1:]]
        keeper.prepare_nowait(messages)
    other = keeper.branch()
    assert other.prepare_nowait(messages).messages == keeper.prepare_nowait(messages).messages
    keeper.roll_back(keeper.versions[0].number)
    turn = keeper.prepare_nowait(messages)
    text = "\n".join(str(m["content"]) for m in turn.messages if m["role"] == "system")
    assert text.count(CLOCK.format(29)) == text.count("Current time") == 1


def test_a_state_without_the_setting_goes_on_with_it_and_back() -> None:
    """With the setting off again the prompt is whole, as the host has it."""
    words, settings = HOSTS["openai"], ("report", "behind", "report")
    state: Any = None
    for n, volatile in enumerate(settings):
        keeper = manager(3_000, volatile=volatile)
        if state is not None:
            keeper.load_state(json.loads(json.dumps(state)))
        for i in range(10 * n, 10 * n + 10):
            messages = [words.system(prompt(i)), *conversation(words, i)[1:]]
            turn = keeper.prepare_nowait(messages)
            text = "\n".join(str(m["content"]) for m in turn.messages if m["role"] == "system")
            assert text.count(CLOCK.format(i)) == text.count("Current time") == 1
            assert (turn.messages[0] is messages[0]) == (volatile == "report" or not turn.moved)
        state = keeper.save_state()
