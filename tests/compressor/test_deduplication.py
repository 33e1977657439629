"""What stands above already gives way to a mark, and can be read back from there."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.deduplication import (
    LEAST_CHARS,
    LEAST_LEFT,
    LinesAbove,
    mark_of,
    without_lines_above,
)

MARK = re.compile(r"\[… (\d+) lines as above …\]")
LINES = st.sampled_from(
    [
        "",
        "}",
        "    return None",
        "def total(self) -> int:",
        "x" * 90,
        "y" * 90,
        "z = 1",
        "\r",
        "\x00",
    ]
)
TEXTS = st.lists(LINES, max_size=60).map("\n".join)
NUMBERED = "\n".join(f"{n}\tline number {n} of a file" for n in range(100))


def restored(text: str, above: list[str]) -> str:
    """The text again, each mark looked up at the nearest place above where the lines around it stand so far apart."""
    lines, found = text.split("\n"), list[str]()
    for at, line in enumerate(lines):
        mark = MARK.fullmatch(line)
        if not mark:
            found.append(line)
            continue
        first, last, far = lines[at - 1], lines[at + 1], int(mark[1]) + 1
        found += next(
            place[i + 1 : i + far]
            for place in (other.split("\n") for other in reversed(above))
            for i in range(len(place) - far - 1, -1, -1)
            if place[i] == first and place[i + far] == last
        )
    return "\n".join(found)


@given(st.lists(TEXTS, max_size=5), TEXTS)
def test_nothing_is_lost(above: list[str], text: str) -> None:
    """Whoever has what stands above has the whole text, line by line."""
    above_it = LinesAbove()
    for other in above:
        above_it.add(other)
    long = [other for other in above if len(other) >= LEAST_CHARS]
    assert restored(without_lines_above(text, above_it), long) == text


@given(st.lists(TEXTS, max_size=5), TEXTS)
def test_never_larger(above: list[str], text: str) -> None:
    """It is shorter or it is the text, enough of it stays to say what it is, and the same comes out again."""
    above_it = LinesAbove()
    for other in above:
        above_it.add(other)
    short = without_lines_above(text, above_it)
    assert short == text or len(short) < len(text)
    assert len(short) >= min(len(text), LEAST_LEFT)
    assert without_lines_above(text, above_it) == short


def test_a_file_read_twice_is_sent_once() -> None:
    """Of the second reading the beginning, a mark and the last line stay."""
    above_it = LinesAbove()
    above_it.add(NUMBERED)
    short = without_lines_above(NUMBERED, above_it)
    assert mark_of(80) in short or MARK.search(short)
    assert len(short) < len(NUMBERED) / 3
    assert short.startswith(NUMBERED[:LEAST_LEFT])
    assert short.endswith("99\tline number 99 of a file")


def test_what_changed_stays() -> None:
    """Of a file that was edited in its middle the changed line is sent again."""
    above_it = LinesAbove()
    above_it.add(NUMBERED)
    short = without_lines_above(NUMBERED.replace("number 60 of", "number sixty of"), above_it)
    assert "60\tline number sixty of a file" in short
    assert len(MARK.findall(short)) == 2


@pytest.mark.parametrize("inner", ["old", "new"])
def test_of_two_versions_the_nearest_is_meant(inner: str) -> None:
    """A mark never points at an older version when a newer one begins and ends alike."""
    above_it, frame = LinesAbove(), ["# " * 300, *["filler " * 30] * 2]
    texts = {
        v: "\n".join([*frame, "begin", *[f"{v} {i} " * 20 for i in range(9)], "end"])
        for v in ("old", "new")
    }
    above_it.add(texts["old"])
    above_it.add(texts["new"])
    short = without_lines_above(texts[inner], above_it)
    assert restored(short, [texts["old"], texts["new"]]) == texts[inner]
    assert len(short) < len(texts[inner])
