"""A turn as triggers see it: what the agent thought, what it did, what came of it.

Promise: values only; the same unit gives the same turn, whatever host wrote it.
"""

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolAction, answers_of
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of a turn.

    Attributes:
        tool: its name.
        action: what it does, and with which files.
        observation: what came back; ``None`` where nothing has yet.
    """

    tool: str
    action: ToolAction
    observation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What an agent thought, did and saw between two requests to its model.

    Attributes:
        number: its place among the turns of the conversation, from 0; each turn has a greater one than the turn before.
        reasoning: what the model wrote.
        steps: what it did, in the order of its calls; empty where it only spoke.
    """

    number: int
    reasoning: str = field(default="", hash=False)  # its number is enough to look it up by
    steps: tuple[Step, ...] = field(default=(), hash=False)


def check_turn(turn: object) -> None:
    """Refuse what is no turn.

    Raises:
        ValueError: it is none; with how one is made.
    """
    if not isinstance(turn, Turn):
        raise ValueError(  # noqa: TRY004 - a wrong argument is a ValueError, of whatever type it is
            f"turn={reprlib.repr(turn)}: give a Turn; turn_of(unit, number) makes one of a message of the model and the"
            " results of its calls, Turn(number=..., reasoning=..., steps=...) one by hand"
        )


def turn_of(
    unit: Unit, number: int, *, kinds: ToolKinds = BY_NAME, actions: Sequence[ToolAction] = ()
) -> Turn:
    """The turn that a unit of the model is.

    Args:
        unit: a message of the model, and the results of its calls.
        number: its place among the turns.
        kinds: what tools do.
        actions: what its calls do, in their order, where that is known already.
    """
    done = actions or actions_of(unit, kinds)
    steps = (
        Step(tool=call.name, action=action, observation=answer)
        for action, (call, answer) in zip(done, answers_of(unit), strict=True)
    )
    return Turn(number=number, reasoning=unit.messages[0].text, steps=tuple(steps))


def check_fraction(name: str, value: float) -> None:
    """Refuse what is not in 0..1.

    Raises:
        ValueError: it is not.
    """
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value}: give a number in 0..1")


def check_least(name: str, value: int, least: int) -> None:
    """Refuse what is too small.

    Raises:
        ValueError: it is less than the least.
    """
    if value < least:
        raise ValueError(f"{name}={value}: give {least} or more")
