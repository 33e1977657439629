"""What the hosts' own suites hold their context managers to, for ours, on each host's own messages; docs/host-invariants.md lists it."""

import copy
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from autogen_context import IncrementalContextManager
from support.words import Words
from support.words import in_the_words_of_each_host as words

ROOT = Path(__file__).parents[2]
LONG = "The invoice was charged twice because the retry has no key. " * 20


def work(words: Words, steps: int) -> list[Any]:
    """A task, and so many calls with long results."""
    done = [words.user("Find out why.")]
    for number in range(steps):
        done += [words.call(f"c{number}"), words.result(f"c{number}", f"{number} {LONG}")]
    return done


def manager_of(words: Words, window_tokens: int = 2_000) -> IncrementalContextManager:
    """A manager of this host's messages."""
    return IncrementalContextManager("gpt-4-0613", window_tokens=window_tokens, host=words.host)


def sent(words: Words, messages: Sequence[Any], window_tokens: int = 2_000) -> list[Any]:
    """What goes to the model."""
    return manager_of(words, window_tokens).prepare_nowait(messages).messages


def pairs(words: Words, messages: Iterable[Any]) -> list[tuple[str, ...]]:
    """The ids of the calls of each message that calls, and of the results that follow it."""
    found: list[tuple[str, ...]] = []
    for message in map(words.host.read, messages):
        if message.calls:
            found.append(tuple(f"call {call.id}" for call in message.calls))
        elif message.results:
            found.append(tuple(f"result {result.call_id}" for result in message.results))
    return found


def text_of(words: Words, message: object) -> str:
    """All that a message says."""
    read = words.host.read(message)
    return "\n".join(filter(None, [read.text, *(result.text for result in read.results)]))


@words
def test_what_fits_is_sent_as_it_came(words: Words) -> None:
    """The same objects in the same order."""
    messages = work(words, 3)
    assert all(a is b for a, b in zip(sent(words, messages, 8_000), messages, strict=True))


@words
def test_the_limit_is_kept_and_the_first_and_the_newest_stay(words: Words) -> None:
    """However many there are; something says that others were left out."""
    messages = work(words, 40)
    prepared = manager_of(words).prepare_nowait(messages)
    assert prepared.certificate.bound.tokens <= 2_000
    assert len(prepared.messages) < len(messages)
    texts = [text_of(words, message) for message in prepared.messages]
    assert "Find out why." in texts[0]
    assert texts[-1].startswith("39 ")
    assert any("left out" in text for text in texts)


@words
def test_a_call_and_its_result_leave_together(words: Words) -> None:
    """In every window that holds the newest."""
    for window_tokens in (1_000, 2_000, 4_000):
        found = pairs(words, sent(words, work(words, 30), window_tokens))
        assert found[0::2] == [(f"call {ids[0].split()[1]}",) for ids in found[1::2]]


@words
def test_a_result_without_its_call_is_not_sent_as_one(words: Words) -> None:
    """What it says stays."""
    messages = [words.user("Go on."), words.result("lost", "42"), words.said("So it is 42.")]
    given = sent(words, messages)
    assert pairs(words, given) == []
    assert "42" in "".join(text_of(words, message) for message in given[:2])


@words
def test_an_id_that_comes_again_belongs_to_the_newest_call(words: Words) -> None:
    """Each result stands behind its own call, and leaves with that."""
    again = [words.call("c0"), words.result("c0", f"again {LONG}")]
    given = sent(words, [*work(words, 30), *again, words.user("Thanks.")])
    found = pairs(words, given)
    assert all(
        call == (result[0].replace("result", "call"),)
        for call, result in zip(found[0::2], found[1::2], strict=True)
    )
    assert found[-2:] == [("call c0",), ("result c0",)]
    assert "again" in text_of(words, given[-2])


@words
def test_a_result_that_comes_late_stands_behind_its_call(words: Words) -> None:
    """As a provider wants it; what was said meanwhile stays."""
    late = [words.call("late"), words.said("It is approved."), words.result("late", "42")]
    given = sent(words, [*work(words, 2), *late])
    assert pairs(words, given)[-2:] == [("call late",), ("result late",)]
    texts = [text_of(words, message) for message in given]
    assert "It is approved." in "".join(texts)
    assert "42" in "".join(texts)


@words
def test_a_result_that_two_open_calls_could_have_is_of_neither(words: Words) -> None:
    """What it says stays."""
    open_twice = [words.call("c"), words.said("Wait."), words.call("c"), words.said("And now?")]
    given = sent(words, [words.user("Go."), *open_twice, words.result("c", "42")])
    read = [result.text for message in given for result in words.host.read(message).results]
    assert not any("42" in text for text in read)
    assert "42" in text_of(words, given[-1])


@words
def test_a_second_time_nothing_changes(words: Words) -> None:
    """Not even with a message more: what was sent is the beginning of what is sent next."""
    manager, messages = manager_of(words), work(words, 40)
    first = manager.prepare_nowait(messages).messages
    assert [*manager.prepare_nowait(messages).messages] == [*first]
    more = manager.prepare_nowait([*messages, words.said("Done.")]).messages
    assert more[: len(first)] == first


@words
def test_what_was_given_is_as_it_was(words: Words) -> None:
    """No field, no mark."""
    messages = work(words, 40)
    before = copy.deepcopy(messages)
    manager_of(words).prepare_nowait(messages)
    assert list(map(words.host.snapshot, messages)) == list(map(words.host.snapshot, before))
    assert list(map(fields_of, messages)) == list(map(fields_of, before))


def fields_of(message: Any) -> object:
    """All that a host keeps of a message, sent or not."""
    return message.to_dict() if hasattr(message, "to_dict") else message


@words
def test_a_newest_message_that_is_too_long_is_shortened(words: Words) -> None:
    """With its call, and with both its ends."""
    newest = words.result("c9", f"first {LONG * 20} last")
    given = sent(words, [*work(words, 5), words.call("c9"), newest], 1_000)
    text = text_of(words, given[-1])
    assert pairs(words, given)[-2:] == [("call c9",), ("result c9",)]
    assert "first" in text
    assert "last" in text
    assert len(text) < len(LONG * 20)


@words
def test_what_left_the_window_can_be_had_back(words: Words) -> None:
    """Whole, by its handle."""
    manager, messages = manager_of(words), work(words, 40)
    dropped = next(each for each in manager.prepare_nowait(messages).decisions if each.handle)
    assert any(
        LONG in result.text
        for message in manager.recall(str(dropped.handle))
        for result in message.results
    )


@words
def test_more_bytes_of_another_script_are_counted_as_the_model_sees_them(words: Words) -> None:
    """Not as the escapes of JSON, which are three times as many."""
    counts = [
        manager_of(words, 8_000).prepare_nowait([words.user(text)]).certificate.counted_tokens
        for text in ("日本語の文章です。" * 20, json.dumps("日本語の文章です。" * 20))
    ]
    assert counts[0] * 2 < counts[1]


def test_the_page_names_tests_that_are_there() -> None:
    """docs/host-invariants.md: each name of a test is one of the suite's."""
    page = (ROOT / "docs" / "host-invariants.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"(?m)^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"))
    }
    assert named - there == set()
    assert {name for name in globals() if name.startswith("test_")} - named == {
        "test_the_page_names_tests_that_are_there"
    }
