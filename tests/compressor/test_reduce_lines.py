"""Of many lines the best ones stay, in their order, within the room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.lines import choose, gap_of, shortened
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.sample import are_enough, sample_of
from autogen_context.compressor.arrival.wanted import wanted_in
from support.reducing import ROOMS, exact, room_of, texts_of

TEXTS = texts_of(["all is well", "  ERROR 4711: gone", "def total(self) -> int:", "検索", ""])
RANKS = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=9)


def quarter(text: str) -> int:
    """Four characters a token, rounded up."""
    return -(-len(text) // 4)


@given(TEXTS, RANKS, ROOMS)
def test_it_fits_and_is_never_larger(text: str, ranks: list[float], tokens: int) -> None:
    """What fits comes back as it is; what does not has at most the room, and at most as many characters."""
    lines = text.split("\n")
    some = (ranks * len(lines))[: len(lines)]
    short = choose(lines, some, room_of(tokens))
    if exact(text) <= tokens:
        assert short == text
    assert exact(short) <= tokens
    assert len(short) <= len(text)
    assert short == choose(lines, some, room_of(tokens))


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
    """Wherever it stands, however small the room."""
    lines = [f"line {i} says nothing" for i in range(400)]
    ranks = [float(i == best) for i in range(400)]
    assert lines[best] in choose(lines, ranks, room_of(tokens)).split("\n")


def test_among_equals_the_ends_stay() -> None:
    """Head and tail in turn, the tail first."""
    lines = [f"line {i:03d}" for i in range(100)]
    short = choose(lines, [0.0] * 100, Room(tokens=25, count=quarter)).split("\n")
    gap = next(i for i, line in enumerate(short) if line.startswith("["))
    assert short[:gap] == lines[:gap]
    assert short[gap + 1 :] == lines[gap + 1 - len(short) :]
    assert 0 <= len(short) - 1 - 2 * gap <= 1


@pytest.mark.parametrize("tokens", [60, 200, 1_000, 4_000])
@pytest.mark.parametrize(
    "line", ["a line like any other", "検索結果が見つかりません。", "}", "x" * 150], ids=str.split
)
def test_the_room_is_used(line: str, tokens: int) -> None:
    """What stays takes most of the room."""
    lines = [f"{line} {i}" for i in range(3_000)]
    short = choose(lines, [0.0] * 3_000, room_of(tokens))
    assert exact(short) >= 0.6 * tokens


def test_one_long_line_is_shortened_in_its_middle() -> None:
    """Both its ends stay, and how much went is said."""
    line = "begin " + "x y " * 250_000 + "end"
    short = choose([line], [0.0], room_of(100))
    assert short.startswith("begin x y")
    assert short.endswith("x y end")
    assert "characters …]" in short
    assert exact(short) >= 60


def test_a_long_line_leaves_room_for_others() -> None:
    """It has a quarter at most."""
    lines = ["x y " * 9_000, "first", *["another line"] * 500, "last"]
    short = choose(lines, [9.0, 8.0, *[0.0] * 500, 8.0], room_of(200)).split("\n")
    assert short[1] == "first"
    assert short[-1] == "last"


def test_gaps_are_named() -> None:
    """Who knows a better word than lines says it."""
    lines = [f"hit {i} is here" for i in range(200)]
    short = choose(lines, [0.0] * 200, room_of(60), gap=lambda n: f"[… {n} hits …]")
    kept = [line for line in short.split("\n") if line.startswith("hit")]
    assert f"[… {200 - len(kept)} hits …]" in short


def test_what_is_shorter_than_its_gap_stays() -> None:
    """No gap stands for less than itself."""
    lines = ["one that stays", "}", "", "another one", *["a longer line of text"] * 300]
    ranks = [5.0, -1.0, -1.0, 5.0, *[0.0] * 300]
    assert choose(lines, ranks, room_of(80)).startswith("one that stays\n}\n\nanother one\n")


def test_no_room_gives_nothing() -> None:
    """Where not even a gap fits, nothing is what fits."""
    assert choose(["some words"] * 90, [0.0] * 90, room_of(1)) == ""


@given(st.text(max_size=80), st.integers(0, 90))
def test_a_shortened_line_is_short(line: str, chars: int) -> None:
    """It has so many characters at most; one that has them already is as it was."""
    short = shortened(line, chars)
    assert len(short) <= max(1, chars)
    assert len(line) > chars or short == line


def test_a_gap_says_how_many() -> None:
    """One line, or several."""
    assert gap_of(1) == "[… 1 line …]"
    assert gap_of(2) == "[… 2 lines …]"


@pytest.mark.parametrize(
    ("lines", "wanted", "found"),
    [
        pytest.param(["a", "b"], [], [0, 0], id="nothing wanted"),
        pytest.param(["the Total is", "b"], ["total"], [1, 0], id="a word"),
        pytest.param(["totals", "b"], ["total"], [0, 0], id="inside another word"),
        pytest.param(["subtotal", "b"], ["total"], [0, 0], id="the end of another word"),
        pytest.param([], ["total"], [], id="no lines"),
        pytest.param(["in src/a.py:3", "b"], ["src/a.py"], [1, 0], id="a path"),
        pytest.param(["x", "x"], ["x"], [0, 0], id="one letter"),
        pytest.param(["rare common", "common"], ["rare", "common"], [1, 1 / 3], id="rare is more"),
        pytest.param(["a\ntotal", "b"], ["total"], [1, 0], id="two lines taken as one"),
        pytest.param(["İ total", "total"], ["total"], [1, 1], id="letters that grow"),
        pytest.param(["same"] * 40 + ["else"], ["same"], [0] * 41, id="everywhere"),
    ],
)
def test_wanted_lines(lines: list[str], wanted: list[str], found: list[float]) -> None:
    """Words count where they stand alone; rare ones more, those that are everywhere not at all."""
    assert wanted_in(lines, wanted) == pytest.approx(found)


@given(st.text(max_size=200), st.integers(0, 3_000))
def test_a_sample_has_a_size(text: str, times: int) -> None:
    """However long the text is; both its ends are in it."""
    assert sum(map(len, sample_of("word\n" * 90_000))) <= 18_000
    sample = sample_of(f"head\n{text * times}\ntail")
    assert sum(map(len, sample)) <= 18_100
    assert (sample[0], sample[-1]) == ("head", "tail")


@given(
    st.lists(st.booleans(), max_size=9),
    st.sampled_from([0.0, 0.2, 0.5, 0.6, 0.8, 1.0]),
    st.integers(0, 4),
)
def test_so_many_lines_are_enough(passing: list[bool], share: float, least: int) -> None:
    """As many as are asked for of all lines, told without a look at those behind the one that makes it too few."""
    lines = ["yes" if passes else "no" for passes in passing]
    seen: list[str] = []

    def is_yes(line: str) -> bool:
        seen.append(line)
        return line == "yes"

    enough = sum(passing) >= max(least, share * len(lines))
    assert are_enough(lines, is_yes, share=share, least=least) is enough
    needless = [line == "yes" for line in seen[:-1]]
    assert len(needless) - sum(needless) <= max(0, len(lines) - max(least, share * len(lines)))
