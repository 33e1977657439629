"""What every reducer of lines promises, and texts to hold it to: well-formed, broken, and made to be nasty."""

from collections.abc import Sequence

from hypothesis import strategies as st

from autogen_context.compressor.lines import Reducer, TextLimit
from autogen_context.tokens.measure import EstimateCounter
from autogen_context.tokens.message_counter import MessageCounter

EXACT = MessageCounter.for_model("gpt-4")
BOUND = EstimateCounter()

NASTY = (
    "",
    " ",
    "\t",
    "\0",
    "\ud800",
    "\r",
    "\x1b[31m",
    "\x1b",
    "İ",
    "x" * 2_000,
    "検索結果が見つかりません。",
    "[the line above 3 more times]",
    "[… 12 lines …]",
    "}",
    ":",
    "--",
    "/:",
    "a/b/:",
    " b",
    "12:x",
    ":x",
    "     7\tx",
    "7\tx",
    "2024-05-14 10:00:00 x",
    "10:00:00 x",
)
ROOMS = st.integers(40, 400)


def exact(text: str) -> int:
    """Tokens as the model counts them."""
    return EXACT.count(text).tokens


def bound(text: str) -> int:
    """Tokens as they are counted where no vocabulary is at hand."""
    return BOUND.count(text).tokens


def texts_of(lines: Sequence[str]) -> st.SearchStrategy[str]:
    """Texts of such lines: alone, repeated, among others and broken off anywhere."""
    well_formed = st.lists(st.sampled_from(lines), max_size=60).map("\n".join)
    runs = st.tuples(st.sampled_from((*lines, *NASTY)), st.integers(1, 40))
    nasty = st.builds(joined, st.lists(runs, max_size=12), st.sampled_from(["\n", "\r\n", "\r"]))
    return st.builds(broken_off, well_formed | nasty, st.integers(0, 20), st.integers(0, 20))


def joined(runs: list[tuple[str, int]], end: str) -> str:
    """Each line so many times, with one kind of line's end."""
    return end.join(line for line, times in runs for _ in range(times))


def broken_off(text: str, start: int, end: int) -> str:
    """A text without so many characters at either end."""
    return text[start : len(text) - end]


def room_of(tokens: int, *wanted: str) -> TextLimit:
    """So many of the model's tokens."""
    return TextLimit(tokens=tokens, count=exact, wanted=frozenset(wanted))


def assert_promises(reducer: Reducer, text: str, tokens: int) -> None:
    """Never larger, the same each time, done when done once; what is cut fits; nothing raises."""
    tight = reducer.tighten(text)
    assert reducer.tighten(tight) == tight == reducer.tighten(text)
    assert len(tight) <= len(text)
    for whole in (text, tight):
        short = reducer.cut(whole, room_of(tokens, "error", "alpha.py"))
        assert short == reducer.cut(whole, room_of(tokens, "error", "alpha.py"))
        assert exact(short) <= tokens
        assert len(short) <= len(whole)
