"""Of many lines the best ones stay, in their order, within the room; errors and what is wanted are told by whole words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.alarms import alarms_in
from autogen_context.compressor.arrival.lines import choose, gap_of, shortened, wanted_in
from support.reducing import ROOMS, exact, room_of, texts_of

TEXTS = texts_of(["all is well", "  ERROR 4711: gone", "def total(self) -> int:", "検索", ""])
RANKS = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 6.0]), min_size=1, max_size=9)


@given(TEXTS, RANKS, ROOMS)
def test_it_fits_and_is_never_larger(text: str, ranks: list[float], tokens: int) -> None:
    """What fits comes back as it is; what does not has at most the room, and at most as many characters."""
    lines = text.split("\n")
    some = (ranks * len(lines))[: len(lines)]
    for templates in ((), [line[:4] for line in lines]):
        short = choose(lines, some, room_of(tokens), whole=not templates, templates=templates)
        assert exact(short) <= tokens
        assert len(short) <= len(text)
        if exact(text) <= tokens:
            assert short == text


@given(TEXTS, RANKS, ROOMS)
def test_what_stays_is_in_order_and_gaps_count(text: str, ranks: list[float], tokens: int) -> None:
    """Lines kept whole stand as in the text, and with the lines of the gaps they are as many as there were."""
    lines = [line for line in text.split("\n") if "…" not in line and len(line) < 60]
    some = (ranks * (len(lines) + 1))[: len(lines)]
    at = 0
    for line in choose(lines, some, room_of(tokens)).split("\n") if lines else ():
        if line.startswith("[… "):
            at += int(line.split()[1])
        else:
            assert line == lines[at]
            at += 1
    assert at == len(lines)


@given(st.integers(0, 399), ROOMS)
def test_the_best_line_stays(best: int, tokens: int) -> None:
    """Wherever it stands, however small the room; among equals the ends do, the tail first."""
    lines = [f"line {i} says nothing" for i in range(400)]
    ranks = [float(i == best) for i in range(400)]
    short = choose(lines, ranks, room_of(tokens)).split("\n")
    assert lines[best] in short
    assert short[-1] == lines[-1] or "…" in short[-1]
    equal = choose(lines, [0.0] * 400, room_of(tokens)).split("\n")
    gap = next(i for i, line in enumerate(equal) if line.startswith("["))
    assert 0 <= len(equal) - 1 - 2 * gap <= 1


@pytest.mark.parametrize("tokens", [60, 200, 1_000, 4_000])
@pytest.mark.parametrize(
    "line", ["a line like any other", "検索結果が見つかりません。", "}", "x" * 150]
)
def test_the_room_is_used(line: str, tokens: int) -> None:
    """What stays takes most of the room."""
    lines = [f"{line} {i}" for i in range(3_000)]
    assert exact(choose(lines, [0.0] * 3_000, room_of(tokens))) >= 0.6 * tokens


def test_a_long_line_leaves_room_for_others() -> None:
    """It has a quarter at most, unless it stands alone."""
    lines = ["x y " * 9_000, "first", *["another line"] * 500, "last"]
    short = choose(lines, [9.0, 8.0, *[0.0] * 500, 8.0], room_of(200)).split("\n")
    assert (short[1], short[-1]) == ("first", "last")
    assert exact(choose(["x y " * 9_000], [0.0], room_of(100))) >= 60


def test_what_is_shorter_than_its_gap_stays() -> None:
    """No gap stands for less than itself; where not even one fits, nothing is what fits."""
    lines = ["one that stays", "}", "", "another one", *["a longer line of text"] * 300]
    ranks = [5.0, -1.0, -1.0, 5.0, *[0.0] * 300]
    assert choose(lines, ranks, room_of(80)).startswith("one that stays\n}\n\nanother one\n")
    assert choose(["some words"] * 90, [0.0] * 90, room_of(1)) == ""
    assert (gap_of(1), gap_of(2, "hits")) == ("[… 1 line …]", "[… 2 hits …]")


@given(st.text("ab c", min_size=1, max_size=400), st.integers(0, 399), st.integers(0, 500))
def test_a_shortened_line_says_what_it_hides(line: str, at: int, chars: int) -> None:
    """It has so many characters at most, what is wanted in it where there is room, and marks that count the rest."""
    line = f"{line[:at]} zebra_7 {line[at:]}"
    short = shortened(line, chars, ["zebra_7"])
    assert len(short) <= max(1, chars)
    assert len(line) > chars or short == line
    marks = [int(hidden) for hidden in re.findall(r" \[… (\d+) characters …\] ", short)]
    if chars >= 100:
        assert "zebra_7" in short
        assert len(re.sub(r" \[… \d+ characters …\] ", "", short)) + sum(marks) == len(line)


@pytest.mark.parametrize(
    ("lines", "wanted", "found"),
    [
        pytest.param(["a", "b"], [], [0, 0], id="nothing wanted"),
        pytest.param(["the Total is", "b"], ["total"], [1, 0], id="a word"),
        pytest.param(["totals", "subtotal"], ["total"], [0, 0], id="inside another word"),
        pytest.param([], ["total"], [], id="no lines"),
        pytest.param(["in src/a.py:3", "b"], ["src/a.py"], [1, 0], id="a path"),
        pytest.param(["x", "x"], ["x"], [0, 0], id="one letter"),
        pytest.param(["rare common", "common"], ["rare", "common"], [1, 1 / 3], id="rare is more"),
        pytest.param(["a\ntotal", "b"], ["total"], [1, 0], id="two lines taken as one"),
        pytest.param(["İ total", "total"], ["total"], [1, 1], id="letters that grow"),
        pytest.param(["subtotal total", "b"], ["total"], [1, 0], id="behind another word"),
        pytest.param(["same"] * 40 + ["else"], ["same"], [0] * 41, id="everywhere"),
    ],
)
def test_wanted_lines(lines: list[str], wanted: list[str], found: list[float]) -> None:
    """Words count where they stand alone; rare ones more, those that are everywhere not at all."""
    assert wanted_in(lines, wanted) == pytest.approx(found)


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("ERROR: gone", 2),
        ("java.io.IOException: gone", 2),
        ("KeyError", 2),
        ("3 failed, 2 passed", 2),
        ("Connection refused", 2),
        ("No such file", 2),
        ("the build fails", 2),
        ("DeprecationWarning", 1),
        ("warning: unused", 1),
        ("0 failed", 0),
        ("no errors", 0),
        ("errors: 0", 0),
        ("terrors", 0),
        ("failsafe", 0),
        ("İ all is well", 0),
        ("İ it failed", 2),
    ],
)
def test_alarms(line: str, level: int) -> None:
    """By whole words and names, wherever the line stands; a count of none is none."""
    assert alarms_in([line]) == [level]
    assert alarms_in(["fine", line, "", "fine"]) == [0, level, 0, 0]
