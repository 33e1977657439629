"""What triggers remember of names, places and look-ups is what looking at all turns anew would tell."""

import pickle
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.tool_action import ToolAction
from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.staleness import (
    CONTEXT_TURNS,
    MOST_STEPS,
    MOST_SUBJECTS,
    SAID_CHARS,
    SHOWN_CHARS,
    Mentions,
    names_in,
    said_in,
    shown_in,
)
from autogen_context.triggers.turn import Step, Turn
from support.turns import called, edit, read, searched, shell, turn

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


def names_of(each: Turn) -> frozenset[str]:
    """All that a turn names."""
    return names_in(said_in(each)) | names_in(shown_in(each))


def referred(by: Turn, before: Sequence[Turn]) -> set[int]:
    """The turns that one refers to: of each name the newest that brought it in."""
    newest = {name: each.number for each in before for name in names_in(shown_in(each))}
    return {newest[name] for name in names_in(said_in(by)) if name in newest}


@given(TURNS)
def test_mentions_are_those_of_all_turns_at_once(turns: list[Turn]) -> None:
    """Which are remembered, which are forgotten when, who refers to them, and what they are like."""
    mentions, remembered = Mentions(REMEMBERED), list[int]()
    for i, now in enumerate(turns):
        forgotten = mentions.add(now)
        near = [each for each in turns[: i + 1] if now.number - each.number <= REMEMBERED]
        assert [*forgotten, *mentions.numbers] == [*remembered, now.number]
        remembered = [each.number for each in near]
        assert [*mentions.numbers] == remembered
        context = frozenset[str]().union(*map(names_of, near[-CONTEXT_TURNS:]))
        for each in near:
            names = names_of(each)
            alike = len(names & context) / min(len(names), len(context)) if names & context else 0.0
            assert mentions.similarity(each.number) == alike
            for last in range(1, 10):
                by = [n for n, other in enumerate(near) if now.number - other.number < last]
                count = sum(each.number in referred(near[n], near[:n]) for n in by)
                assert mentions.references(each.number, turns=last) == count


@given(st.integers(1, 30), st.integers(0, 2_000))
def test_what_is_read_of_a_turn_is_bounded(steps: int, words: int) -> None:
    """Whatever it says, does and sees."""
    text, paths = "word " * words, tuple(f"src/part_{n}.py" for n in range(30))
    action = ToolAction(kind="write", subjects=paths, writes=paths)
    one = turn(0, text, *[Step(tool="f", action=action, observation=text)] * steps)
    named = min(steps, MOST_STEPS) * MOST_SUBJECTS
    said, shown = list(said_in(one)), list(shown_in(one))
    assert [sum(part in paths for part in each) for each in (said, shown)] == [named, named]
    assert sum(len(part) for part in said if part not in paths) == min(len(text), SAID_CHARS)
    assert sum(len(part) for part in shown if part not in paths) <= SHOWN_CHARS


@given(st.integers(3, 8), st.integers(0, 4), st.booleans())
def test_the_newest_look_ups_and_readings_stay(
    lookups: int,
    readings: int,
    is_repeated: bool,  # noqa: FBT001 - drawn
) -> None:
    """Of what was looked up for a use the three newest, and the four newest readings; one made again counts once."""
    looks = [
        called("search_flight", {"day": 0 if is_repeated else day}, "[]") for day in range(lookups)
    ]
    reads = [read(f"notes/{n}.md") for n in range(readings)]
    work = [*looks, *reads, shell("sleep 1"), called("book_flight", {}, "ok")]
    detector = SemanticBoundaryDetector(boundaries=["api"])
    *_, last = [detector.observe(turn(i, "", step)) for i, step in enumerate(work)]
    assert last.fires is (not is_repeated)
    if last.scope:
        kept = [*range(lookups)[-3:], *range(lookups, lookups + readings)[-4:]]
        assert list(last.scope.outcomes) == kept


def test_what_is_remembered_is_bounded() -> None:
    """By all triggers together, however many turns and files there were."""
    trigger, sizes = SemanticHybridTrigger(), list[int]()
    for i in range(2_000):
        path = f"src/part_{i}.py"
        trigger.observe(turn(i, f"Look at name_{i}.", read(path), edit(path)))
        if i in {999, 1_999}:
            sizes.append(len(pickle.dumps(trigger)))
    assert sizes[1] < 1.5 * sizes[0]
