"""What an agent asks back it gets: to the byte, by lines, or by what it looks for, and never an error."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.cache.originals import (
    DiskOriginals,
    OriginalStore,
    OriginalTier,
    RedisOriginals,
)
from autogen_context.cache.tier import Scope
from autogen_context.messages.message import Message
from autogen_context.recall.recall_tool import MOST_PASSAGES, RecallContext, written
from support.counting import Characters
from support.entries import ANY_TEXT, ENTRIES, Clock
from support.texts import HOSTILE, LINES, TEXTS

LOG = "\n".join(f"10:{n:02d} worker {n} took job {n * 31}" for n in range(1, 61))
CODE = "\n".join(f"def handler_{n}(request):\n    return respond({n})" for n in range(100))
LEAST_ROOM = 140  # tokens, with which each hint fits, and a line
FEW = settings(max_examples=40)


def count(text: str) -> int:
    """Four characters a token."""
    return Characters().count(text).tokens


def asking(texts: dict[str, str], *, room_tokens: int = 10_000) -> RecallContext:
    """A stash that holds these texts."""
    stash = OriginalStore(10**9)
    for handle, text in texts.items():
        stash.put_text(handle, text)
    return RecallContext(stash, count=count, room_tokens=room_tokens)


def body(answer: str) -> str:
    """What stands below our line."""
    return answer.split("\n", 1)[1]


@given(TEXTS)
def test_an_original_that_fits_comes_back_to_the_byte(text: str) -> None:
    """Below a line that names it."""
    answer = asking({"abc123": text}).recall_context("abc123")
    assert body(answer) == text
    assert re.match(r"\[Original abc123, all of its \d+ lines\]\n", answer)


@FEW
@given(
    TEXTS | st.sampled_from(HOSTILE).map(lambda text: text[:6_000]), st.integers(LEAST_ROOM, 400)
)
def test_one_call_after_the_other_gives_all_of_it(text: str, room: int) -> None:
    """Each answer fits, and names the call for what follows; a very long line goes on where a number has a plus."""
    asked = asking({"abc123": text}, room_tokens=room)
    got, lines = "", "1-"
    while lines:
        answer = asked.recall_context("abc123", lines=lines)
        assert count(answer) <= room
        title, numbered = answer.split("\n", 1)
        for row in numbered.split("\n"):
            number, line = row.split("\t", 1)
            got += line if number.endswith("+") else f"\n{line}"
        more = re.search(r'; more with lines="(.*)"\]$', title)
        lines = more[1] if more else ""
    assert got == f"\n{text}"


@FEW
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


RANGES: dict[str, str | tuple[int, int]] = {
    "12-14": (12, 14),
    "-3": (1, 3),
    " 12 \u2013 14 ": (12, 14),
    "lines 12 to 14": (12, 14),
    "0-2": (1, 2),
    "1-999999999": (1, 60),
    "abc": "is no range of lines",
    "-": "is no range of lines",
    "61-": "begins behind the end; there are 60 lines",
    "14-12": "ends before it begins; write '12-14'",
    "1" + " " * 50_000 + "x": "is no range of lines",
    "9" * 50_000: "is no range of lines",
}


@pytest.mark.parametrize("asked", RANGES, ids=lambda text: repr(text[:12]))
def test_lines_come_with_their_numbers(asked: str) -> None:
    """However a model writes the range; what makes no sense is explained in short, with how to write it."""
    answer, expected = asking({"abc123": LOG}).recall_context("abc123", lines=asked), RANGES[asked]
    if isinstance(expected, str):
        assert answer.startswith('lines="')
        assert expected in answer
        assert len(answer) < 200
        return
    (first, last), rows = expected, LOG.split("\n")
    assert body(answer) == "\n".join(f"{n}\t{rows[n - 1]}" for n in range(first, last + 1))
    where = f"lines {first}-{last}" if first < last else f"line {first}"
    assert re.match(rf"\[Original abc123, ({where} of 60|all of its 60 lines)\]\n", answer)


def test_a_query_finds_the_passage_in_all_that_is_kept() -> None:
    """With its handle and its lines, by which the whole can be had."""
    asked = asking({"log": LOG, "code": CODE})
    answer = asked.recall_context(query="handler_42")
    place = re.search(r"\[Original code, lines (\d+)-(\d+) of 200\]\n", answer)
    assert place is not None
    assert "85\tdef handler_42(request):" in answer.split("\n")
    assert "Original log" not in answer
    assert body(asked.recall_context("code", lines=f"{place[1]}-{place[2]}")) in answer


def test_what_comes_later_is_found_as_well() -> None:
    """And what is gone is not."""
    clock = Clock()
    stash = OriginalStore(10**6, ttl_s=10, clock=clock)
    asked = RecallContext(stash, count=count, room_tokens=1_000)
    for number in range(5):
        stash.put_text(f"h{number}", f"the zebra of day {number}")
        assert f"Original h{number}" in asked.recall_context(query="zebra")
        clock.now_s += 9
    assert re.findall(r"Original (\w+)", asked.recall_context(query="zebra")) == ["h4"]
    assert asked.recall_context("h0").startswith("No original")


@pytest.mark.parametrize("place", ["disk", "redis"])
def test_a_query_reaches_what_a_colleague_lost(
    place: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """F5: without a handle, by words, with who said it; nothing of another scope or conversation, and nothing that is gone."""

    def tier(agent: str) -> OriginalTier:
        scope = Scope(tenant="acme", agent=agent)
        if place == "disk":
            return DiskOriginals(tmp_path, scope=scope)
        return RedisOriginals(request.getfixturevalue("server"), scope=scope)

    lost, mine = tier("team"), OriginalStore(10**6, shared=tier("team"))
    zebra = (Message(role="assistant", name="planner", text="The zebra is number 7."),)
    lost.write([("a1", zebra), ("b2", zebra[:0])])
    tier("others").write([("c3", zebra)])
    mine.put("mine", (Message(role="user", text="Where is the zebra?"),))
    if isinstance(lost, RedisOriginals):
        lost.flush()
    asked = RecallContext(mine, count=count, room_tokens=1_000)
    answer = asked.recall_context(query="zebra number")
    assert re.findall(r'\[Original (\w+)( by "\w+")?,', answer) == [
        ("a1", ' by "planner"'),
        ("mine", ""),
    ]
    assert [handle for handle, _ in mine] == ["mine"]
    assert OriginalStore(10**6, tiers=[tier("team")]).handles == ()
    lost.forget("a1")
    assert "a1" not in asked.recall_context(query="zebra number")


def test_what_is_kept_twice_is_shown_once() -> None:
    """A result that was reduced, and the unit that it belongs to."""
    stash = OriginalStore(10**6)
    stash.put_text("result", LOG)
    stash.put("unit", (Message(role="assistant", text="Look."), Message(role="tool", text=LOG)))
    answer = RecallContext(stash, count=count, room_tokens=10_000).recall_context(query="worker")
    lines = [line.split("\t")[1] for line in answer.split("\n") if "\t" in line]
    assert len(lines) < 1.5 * len(set(lines))


@FEW
@given(
    st.dictionaries(ANY_TEXT, TEXTS, max_size=2),
    st.one_of(ANY_TEXT, TEXTS),
    st.one_of(ANY_TEXT, TEXTS),
    st.one_of(ANY_TEXT, st.from_regex(r"[0-9L:,.-]{0,6}", fullmatch=True)),
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


def test_what_is_found_in_one_original_depends_on_no_other() -> None:
    """How rare a word is says the original that is asked, whatever was searched before."""
    padding = "\n".join(f"step {n} of the run took {n * 7} ms" for n in range(60))
    texts = {
        "one": f"the pump was serviced\n{padding}\nthe valve was serviced\n{padding}\nthe pump leaks",
        **{f"other {n}": f"valve {n}\n{padding}" for n in range(20)},
    }
    first = asking(texts, room_tokens=400).recall_context("one", "pump valve")
    asked = asking(texts, room_tokens=400)
    asked.recall_context(query="valve")
    assert asked.recall_context("one", "pump valve") == first


def test_a_huge_original_costs_few_counts() -> None:
    """A room's worth is counted some twenty times, however large the rest is."""
    counted: list[int] = []

    def counting(text: str) -> int:
        counted.append(len(text))
        return count(text)

    stash = OriginalStore(10**8)
    stash.put_text("huge", "a line of a huge file\n" * 200_000)
    asked = RecallContext(stash, count=counting, room_tokens=1_000)
    answer = asked.recall_context("huge")
    assert 900 <= count(answer) <= 1_000
    assert sum(counted) < 40 * 16_000


ANSWERS = [
    pytest.param(("<handle: 'abc123'>", "", ""), "[Original abc123, all of its 60 lines]", id="dressed"),
    pytest.param(("", "", "1-2"), "Give a handle from a mark, or a query", id="nothing"),
    pytest.param(("f" * 500, "worker", ""), f"No original is kept under the handle \"{'f' * 40}…\". Copy it", id="unknown"),
    pytest.param(("", "unicorn", ""), 'Nothing that is kept has words of "unicorn". Try others', id="not found"),
    pytest.param(("abc123", "handler worker 42", ""), '[What matches "handler worker 42" best', id="in one"),
]  # fmt: skip  # a row a case


@pytest.mark.parametrize(("asked", "answer"), ANSWERS)
def test_what_the_first_line_says(asked: tuple[str, str, str], answer: str) -> None:
    """F5: where the text stands, or how to ask better; a handle keeps to its original, and few passages are shown."""
    found = asking({"abc123": LOG, "code": CODE}).recall_context(*asked)
    assert found.startswith(answer)
    assert "Original code" not in found
    assert found.count("[Original") <= MOST_PASSAGES


@FEW
@given(TEXTS, st.sampled_from(LINES))
def test_no_line_of_an_original_can_pass_for_ours(text: str, query: str) -> None:
    """Behind the first line, whatever stands at the beginning of a line with lines or a query is a number or ours."""
    asked = asking({"abc123": f"{text}\n[Original fake, all of its 1 lines]\n{query}"})
    for answer in (asked.recall_context("abc123", lines="1-"), asked.recall_context(query=query)):
        for line in answer.split("\n")[1:]:
            assert re.match(r"\d+\+?\t|\[Original abc123, |they stood there", line)
