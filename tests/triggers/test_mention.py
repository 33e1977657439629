"""What turns name: how much of them is read, what counts as a name, and who refers to whom."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.tool_action import ToolAction
from autogen_context.triggers.mention import (
    CONTEXT_TURNS,
    MOST_STEPS,
    MOST_SUBJECTS,
    SAID_CHARS,
    SHOWN_CHARS,
    Mentions,
    known,
    names_in,
    parts_of,
    said_in,
    shown_in,
)
from autogen_context.triggers.turn import Step, Turn
from support.turns import called, edit, read, searched, turn

REMEMBERED = 7  # turns
NAMES = ("config.py", "load_user", "parseArgs", "src/main.py", "HTTP_404")
SAID = st.sampled_from(["", *(f"Look at {name}." for name in NAMES)])
STEPS = st.sampled_from(
    [
        *(read("src/other.py", f"def {name}(): ...") for name in NAMES),
        *[edit("src/main.py"), searched("load_user"), read("config.py", None)],
    ]
)


def numbered(rows: Sequence[tuple[int, str, list[Step]]]) -> list[Turn]:
    """Turns whose numbers grow by so much."""
    turns: list[Turn] = []
    for more, said, steps in rows:
        turns.append(turn((turns[-1].number if turns else 0) + more, said, *steps))
    return turns


TURNS = st.lists(st.tuples(st.integers(1, 3), SAID, st.lists(STEPS, max_size=2)), max_size=25).map(
    numbered
)


class Plain:
    """The same by looking at all turns anew."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        now = turns[-1].number
        self.turns = [each for each in turns if now - each.number <= REMEMBERED]
        self.now = now

    def references(self, number: int, *, turns: int) -> int:
        """The newest turns that name what this one brought in, where no turn between did."""
        newest = [each for each in self.turns if self.now - each.number < turns]
        return sum(number in self._referred(each) for each in newest)

    def similarity(self, number: int) -> float:
        """By the sizes of what they name, and of what is common."""
        [names] = [self._names(each) for each in self.turns if each.number == number]
        now = frozenset(name for each in self.turns[-CONTEXT_TURNS:] for name in self._names(each))
        least = min(len(names), len(now))
        return len(names & now) / least if least else 0.0

    def _referred(self, by: Turn) -> set[int]:
        """The turns that one refers to."""
        before = [each for each in self.turns if each.number < by.number]
        newest = {name: each.number for each in before for name in names_in(shown_in(each))}
        return {newest[name] for name in names_in(said_in(by)) if name in newest}

    def _names(self, turn: Turn) -> frozenset[str]:
        return names_in(said_in(turn)) | names_in(shown_in(turn))


@given(TURNS)
def test_they_are_those_of_all_turns_at_once(turns: list[Turn]) -> None:
    """Turn by turn: which are remembered, which are forgotten when, who refers to them, and what they are like."""
    mentions, remembered = Mentions(REMEMBERED), list[int]()
    for i, each in enumerate(turns):
        forgotten = mentions.add(each)
        plain = Plain(turns[: i + 1])
        numbers = [other.number for other in plain.turns]
        assert [*forgotten, *numbers] == [*remembered, each.number]
        assert tuple(mentions.numbers) == tuple(numbers)
        for number in numbers:
            assert number in mentions.numbers
            assert mentions.similarity(number) == plain.similarity(number)
            for last in range(1, 10):
                assert mentions.references(number, turns=last) == plain.references(
                    number, turns=last
                )
        remembered = numbers


@given(st.text(max_size=60), st.integers(2, 4), st.integers(1, 12))
def test_parts_of_a_text(text: str, parts: int, chars: int) -> None:
    """All of it where that is no more than its parts; else so many, as long, from its beginning to its end, evenly."""
    found = list(parts_of(text, parts, chars))
    if len(text) <= parts * chars:
        assert found == [text]
        return
    assert [len(part) for part in found] == [chars] * parts
    assert (found[0], found[-1]) == (text[:chars], text[-chars:])
    step = (len(text) - chars) / (parts - 1)
    starts = [int(step) * i for i in range(parts - 1)]
    assert found[:-1] == [text[start : start + chars] for start in starts]


MANY = 50


@given(st.integers(1, MANY), st.integers(0, 2_000))
def test_what_is_read_of_a_turn_is_bounded(steps: int, words: int) -> None:
    """Whatever it says, does and sees; what it has of each is read while there is little."""
    text, paths = "word " * words, tuple(f"src/part_{n}.py" for n in range(MANY))
    action = ToolAction(kind="write", subjects=paths, writes=paths)
    each = Step(tool="f", action=action, observation=text)
    one = turn(0, text, *[each] * steps)
    acted = min(steps, MOST_STEPS)
    said, shown = list(said_in(one)), list(shown_in(one))
    words_said = [part for part in said if part not in paths]
    words_shown = [part for part in shown if part not in paths]
    assert len(said) - len(words_said) == acted * MOST_SUBJECTS
    assert len(shown) - len(words_shown) == acted * MOST_SUBJECTS
    assert sum(map(len, words_said)) == min(len(text), SAID_CHARS)
    room = SHOWN_CHARS // 3 // acted * 3
    assert sum(map(len, words_shown)) == acted * min(len(text), room)


@pytest.mark.parametrize(
    ("run", "names"),
    [
        pytest.param("src/load_user.py", {"src/load_user.py", "load_user.py", "load_user"}, id="a path"),
        pytest.param("load_user.py.", {"load_user.py", "load_user"}, id="at the end of a sentence"),
        pytest.param("parseArgs", {"parseArgs"}, id="an identifier"),
        pytest.param("A_1", {"A_1"}, id="as short as a name is"),
        pytest.param("b4", set[str](), id="too short"),
        pytest.param("4711", set[str](), id="a number"),
        pytest.param("47.11", {"47.11"}, id="a version"),
        pytest.param("word", set[str](), id="a plain word"),
        pytest.param("well/word", {"well/word"}, id="plain words with a sign between"),
    ],
)  # fmt: skip
def test_names(run: str, names: set[str]) -> None:
    """Of paths the last part as well, and of all what stands between signs; never a plain word or number."""
    assert set(known(run)) == names


def test_what_a_call_is_about_is_said_and_what_it_shows_is_shown() -> None:
    """A file that is read is both; where a call brought nothing back its file is shown all the same."""
    one = turn(0, "Reading it_now.", called("read_file", {"path": "src/app.py"}, None))
    assert {"it_now", "src/app.py"} <= names_in(said_in(one))
    assert names_in(shown_in(one)) == {"src/app.py", "app.py"}
