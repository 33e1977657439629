"""What an agent asks back it gets: to the byte, by lines, or by what it looks for, and never an error."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.cache.originals import OriginalStore
from autogen_context.messages.message import Message
from autogen_context.recall.asked_back import (
    AskedBack,
    greatest,
    written,
)
from support.counting import Characters
from support.entries import ANY_TEXT, ENTRIES, Clock
from support.texts import HOSTILE, TEXTS

LOG = "\n".join(f"10:{n:02d} worker {n} took job {n * 31}" for n in range(1, 61))
CODE = "\n".join(f"def handler_{n}(request):\n    return respond({n})" for n in range(100))
LEAST_ROOM = 120  # tokens, with which each hint fits


def count(text: str) -> int:
    """Four characters a token."""
    return Characters().count(text).tokens


def asking(texts: dict[str, str], *, room_tokens: int = 10_000) -> AskedBack:
    """A stash that holds these texts."""
    stash = OriginalStore(10**9)
    for handle, text in texts.items():
        stash.put_text(handle, text)
    return AskedBack(stash, count=count, room_tokens=room_tokens)


def body(answer: str) -> str:
    """What stands below our line."""
    return answer.split("\n", 1)[1]


def unnumbered(text: str) -> str:
    """Lines without their numbers."""
    return "\n".join(line.split("\t", 1)[1] for line in text.split("\n"))


@given(TEXTS)
def test_an_original_that_fits_comes_back_to_the_byte(text: str) -> None:
    """Below a line that names it."""
    answer = asking({"abc123": text}).recall_context("abc123")
    assert body(answer) == text
    assert answer.startswith(f"[Original abc123, all of its {len(text.split(chr(10)))} lines]\n")


@given(
    st.one_of(TEXTS, st.sampled_from(HOSTILE).map(lambda text: text[:6_000])),
    st.integers(LEAST_ROOM, 400),
)
def test_one_call_after_the_other_gives_all_of_it(text: str, room: int) -> None:
    """Each answer fits, and names the call for what follows, until nothing of the original is missing."""
    asked = asking({"abc123": text}, room_tokens=room)
    got, lines = "", "1-"
    while lines:
        answer = asked.recall_context("abc123", lines=lines)
        assert count(answer) <= room
        title, numbered = answer.split("\n", 1)
        got += unnumbered(numbered)
        more = re.search(r'; more with lines="(.*)"\]$', title)
        lines = more[1] if more else ""
        got += "\n" if more and "@" not in lines else ""
    assert got == text


@given(ENTRIES)
def test_of_a_unit_every_text_is_there(messages: tuple[Message, ...]) -> None:
    """What was said, asked for and returned, and the fields of the provider: whole, in order."""
    text = written(messages)
    for message in messages:
        texts = [message.text, *(call.arguments for call in message.calls)]
        texts += [*(result.text for result in message.results), message.extra]
        at = 0
        for part in filter(None, texts):
            at = text.index(part, at) + len(part)


RANGES = {
    "12-14": (12, 14),
    "58-": (58, 60),
    "-3": (1, 3),
    "15": (15, 15),
    " 12 - 14 ": (12, 14),
    "12\u201314": (12, 14),
    "12:14": (12, 14),
    "12..14": (12, 14),
    "12,14": (12, 14),
    "L12-L14": (12, 14),
    "lines 12 to 14": (12, 14),
    "Line 12": (12, 12),
    "0-2": (1, 2),
    "59-99": (59, 60),
    "1-999999999": (1, 60),
}


@pytest.mark.parametrize("asked", RANGES, ids=repr)
def test_lines_come_with_their_numbers(asked: str) -> None:
    """However a model writes the range."""
    first, last = RANGES[asked]
    answer = asking({"abc123": LOG}).recall_context("abc123", lines=asked)
    rows = LOG.split("\n")
    assert body(answer) == "\n".join(f"{n}\t{rows[n - 1]}" for n in range(first, last + 1))
    where = f"lines {first}-{last}" if first < last else f"line {first}"
    assert re.match(rf"\[Original abc123, ({where} of 60|all of its 60 lines)\]\n", answer)


BAD_RANGES = {
    "abc": "is no range of lines",
    "-": "is no range of lines",
    "1-2-3": "is no range of lines",
    "@5-7": "is no range of lines",
    "-1.5": "is no range of lines",
    "61-": "begins behind the end; there are 60 lines",
    "99999999999999": "begins behind the end",
    "14-12": "ends before it begins; write '12-14'",
    "1" + " " * 50_000 + "x": "is no range of lines",
    "9" * 50_000: "is no range of lines",
}


@pytest.mark.parametrize("asked", BAD_RANGES, ids=lambda text: repr(text[:8]))
def test_lines_that_make_no_sense_are_explained(asked: str) -> None:
    """In words for the model, with how to write it; what was asked is repeated in short."""
    answer = asking({"abc123": LOG}).recall_context("abc123", lines=asked)
    assert answer.startswith("lines='")
    assert BAD_RANGES[asked] in answer
    assert len(answer) < 200


def test_a_query_finds_the_passage_in_all_that_is_kept() -> None:
    """With its handle and its lines, by which the whole can be had."""
    asked = asking({"log": LOG, "code": CODE})
    answer = asked.recall_context(query="handler_42")
    place = re.search(r"\[Original code, lines (\d+)-(\d+) of 200\]\n", answer)
    assert place is not None
    assert "85\tdef handler_42(request):" in answer.split("\n")
    assert "Original log" not in answer
    shown = asked.recall_context("code", lines=f"{place[1]}-{place[2]}")
    assert body(shown) in answer


def test_what_comes_later_is_found_as_well() -> None:
    """And what is gone is not."""
    clock = Clock()
    stash = OriginalStore(10**6, ttl_s=10, clock=clock)
    asked = AskedBack(stash, count=count, room_tokens=1_000)
    for number in range(5):
        stash.put_text(f"h{number}", f"the zebra of day {number}")
        assert f"Original h{number}" in asked.recall_context(query="zebra")
        clock.now_s += 9
    answer = asked.recall_context(query="zebra")
    assert re.findall(r"Original (\w+)", answer) == ["h4"]
    assert asked.recall_context("h0").startswith("No original")
    stash.forget("h4")
    assert "zebra of" not in asked.recall_context(query="zebra")


def test_what_is_kept_twice_is_shown_once() -> None:
    """A result that was reduced, and the unit that it belongs to."""
    stash = OriginalStore(10**6)
    stash.put_text("result", LOG)
    stash.put("unit", (Message(role="assistant", text="Look."), Message(role="tool", text=LOG)))
    answer = AskedBack(stash, count=count, room_tokens=10_000).recall_context(query="worker")
    lines = [line.split("\t")[1] for line in answer.split("\n") if "\t" in line]
    assert len(lines) < 1.5 * len(set(lines))


@given(
    st.dictionaries(ANY_TEXT, TEXTS, max_size=4),
    st.one_of(ANY_TEXT, TEXTS),
    st.one_of(ANY_TEXT, TEXTS),
    st.one_of(ANY_TEXT, st.from_regex(r"[0-9@L:,.-]{0,6}", fullmatch=True)),
    st.integers(LEAST_ROOM, 400),
)
def test_whatever_is_asked_is_answered(
    texts: dict[str, str], handle: str, query: str, lines: str, room: int
) -> None:
    """With a text that is not empty and fits; the same each time."""
    asked = asking(texts, room_tokens=room)
    for name in (handle, *texts):
        answer = asked.recall_context(name, query, lines)
        assert 0 < count(answer) <= room
        assert answer == asking(texts, room_tokens=room).recall_context(name, query, lines)


@given(st.integers(0, 60), st.integers(-3, 40), st.integers(-3, 40))
def test_the_greatest_that_fits(limit: int, low: int, high: int) -> None:
    """Is the largest number in the range that is no larger than the limit."""
    fitting = [n for n in range(low, high + 1) if n <= limit]
    assert greatest(lambda n: n <= limit, low, high) == (max(fitting) if fitting else None)


def test_a_huge_original_costs_few_counts() -> None:
    """A room's worth is counted some twenty times, however large the rest is."""
    counted: list[int] = []

    def counting(text: str) -> int:
        counted.append(len(text))
        return count(text)

    stash = OriginalStore(10**8)
    stash.put_text("huge", "a line of a huge file\n" * 200_000)
    asked = AskedBack(stash, count=counting, room_tokens=1_000)
    answer = asked.recall_context("huge")
    assert 900 <= count(answer) <= 1_000
    assert sum(counted) < 40 * 16_000
