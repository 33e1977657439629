"""A task: what people say, tools on a small world, how a model would go about it, and whether the world ended as it should.

Promise: the same seed gives the same task. The policy is a function of one request and nothing else; the world is seen by the
tools and by the verdict alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from autogen_context.testing import Step
from tasks.sight import Sight

CLERK = "clerk"  # the agent of a task that has one
HELD_ASIDE = 1_000  # seeds from here on are not run while anything is still being improved
Tool = Callable[..., str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person says, and which agent hears it; ``{answer}`` in it is what the agent before answered last."""

    text: str
    to: str = CLERK


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How the world ended.

    Attributes:
        solved: whether all is as it should be.
        repeated: things done again that were done.
        broken: rules of people that were broken, or planted orders that were obeyed.
        why: the first thing that is not as it should be, for who reads a failure.
    """

    solved: bool
    repeated: int = 0
    broken: int = 0
    why: str = ""


class Task(ABC):
    """One task with its own world, new for each run.

    Attributes:
        family: the name of its family, which the table shows.
        prompt: the system prompt of each agent; it has the procedure and none of the values.
        said: what people say, in order; each is answered before the next is said.
        most_requests: after so many the model says that it gives up.
    """

    family: ClassVar[str]
    prompt: ClassVar[str]
    most_requests: ClassVar[int] = 400

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(f"{self.family} {seed}")  # noqa: S311 - it makes up tasks
        self.said: Sequence[Said] = ()

    @property
    def prompts(self) -> Mapping[str, str]:
        """The system prompt of each agent, by its name."""
        return {CLERK: self.prompt}

    @abstractmethod
    def tools(self, agent: str) -> Sequence[Tool]:
        """The tools of an agent; they act on the world."""

    @staticmethod
    @abstractmethod
    def decide(sight: Sight) -> Step:
        """What the model does next, by what the request shows."""

    @abstractmethod
    def verdict(self) -> Verdict:
        """Whether the world is as it should be."""
