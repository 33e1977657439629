"""Turns of an agent, built as from a transcript: what a tool does is told by its name and arguments."""

import json
from collections.abc import Sequence

from hypothesis import strategies as st

from autogen_context.messages.message import ToolCall
from autogen_context.messages.tool_call import action_of
from autogen_context.triggers.turn import Step, Trigger, TriggerDecision, Turn

DONE = "The file was changed."


def turn(number: int, reasoning: str = "", *steps: Step) -> Turn:
    """A turn in which the agent thinks and takes these steps."""
    return Turn(number=number, reasoning=reasoning, steps=steps)


def called(tool: str, arguments: dict[str, object] | str, observation: str | None) -> Step:
    """A call of a tool, with its arguments by name or as text, and what came back."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = ToolCall(id="call", name=tool, arguments=text)
    return Step(tool=tool, action=action_of(call), observation=observation)


def read(path: str, observation: str | None = "x = 1") -> Step:
    """A file is read."""
    return called("read_file", {"path": path}, observation)


def edit(path: str, observation: str | None = DONE) -> Step:
    """A part of a file is changed."""
    changed: dict[str, object] = {"path": path, "old_str": "x = 1", "new_str": "x = 2"}
    return called("str_replace", changed, observation)


def written(path: str, observation: str | None = DONE) -> Step:
    """A file is written anew."""
    return called("write_file", {"path": path, "content": "x = 1"}, observation)


def searched(pattern: str, observation: str | None = "a.py:1: x = 1") -> Step:
    """A pattern is looked for."""
    return called("search_files", {"pattern": pattern}, observation)


def shell(line: str, observation: str | None = "") -> Step:
    """A command line is given to a shell."""
    return called("bash", {"command": line}, observation)


def ran_tests(observation: str | None = "9 passed in 0.12s", *, line: str = "pytest -q") -> Step:
    """The tests are run."""
    return shell(line, observation)


def numbered(*turns: str | Step | tuple[str, *tuple[Step, ...]], first: int = 0) -> list[Turn]:
    """Turns in a row: what is said, a step, or both."""
    found: list[Turn] = []
    for number, each in enumerate(turns, first):
        said, *steps = (
            (each,) if isinstance(each, str) else ("", each) if isinstance(each, Step) else each
        )
        found.append(turn(number, said, *steps))
    return found


def fired(trigger: Trigger, turns: Sequence[Turn]) -> list[TriggerDecision]:
    """What a trigger proposes over these turns."""
    return [decision for each in turns if (decision := trigger.observe(each)).fires]


STEPS = [
    *[read("a.py"), read("b.py"), read("notes.md"), searched("x")],
    *[edit("a.py"), edit("b.py"), written("notes.md"), written("test_a.py"), edit("a.py", "Error: no match")],
    *[ran_tests(), ran_tests("1 failed, 9 passed"), ran_tests("no tests ran"), ran_tests(None)],
    *[written("reproduce.py"), shell("python reproduce.py", "ok"), shell("python a.py", "Traceback (most recent call last):")],
    *[called("book_flight", {"id": "7"}, "booked"), called("finish", {}, "")],
]  # fmt: skip  # a row a kind
SAYINGS = [
    *["", "I'm done.", "Great! The fix works. Let me look at the other one.", "It still fails. Why?"],
    *["Now I'll update the documentation.", "Moving on to the next task.", "Is it done?"],
    *["Your flight has been booked.", "Let me refactor this.", "Once done, I will tell you."],
    *["Let me verify that it works."],
]  # fmt: skip  # a row a kind
SESSIONS = st.lists(
    st.tuples(st.sampled_from(SAYINGS), st.lists(st.sampled_from(STEPS), max_size=2)), max_size=25
).map(lambda turns: [turn(number, said, *steps) for number, (said, steps) in enumerate(turns)])
