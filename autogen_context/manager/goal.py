"""What a turn is for: the goal of a conversation, followed or as a program set it, and what was said last."""

from typing import NamedTuple

from autogen_context.argument import wrong_argument
from autogen_context.budget.task import TaskDefinition, with_said
from autogen_context.view.conversation import Conversation
from autogen_context.view.goal import Goal
from autogen_context.view.view import ContextView


class Wanted(NamedTuple):
    """What people want, empty if they did not say yet, and what they said last."""

    goal: str
    said: str

    @property
    def lasting(self) -> str:
        """What stays while people only say that the agent is to go on."""
        return self.goal or self.said

    @property
    def text(self) -> str:
        """The goal with what was said last."""
        return with_said(self.goal, self.said)

    @property
    def task(self) -> TaskDefinition:
        """Both, classified."""
        return TaskDefinition.of_goal(self.goal, self.said)


def goal_of(view: ContextView, conversation: Conversation, messages: int | None = None) -> Goal:
    """Return the goal, as it was after the first ``messages`` unless a program set it."""
    if view.goal:
        return Goal(text=view.goal, is_set=True)
    return conversation.wish(view.record.wanted, messages).goal


def wanted_of(view: ContextView, conversation: Conversation) -> Wanted:
    """Return the goal, and what was said last."""
    return Wanted(goal_of(view, conversation).text, conversation.newest_request)


def goal_text(goal: object) -> str:
    """Return a goal that a program sets, empty for ``None``; raise ``ValueError`` for what is no text or says nothing."""
    if goal is None:
        return ""
    if not isinstance(goal, str) or not goal.strip():
        give = (
            "what the agent is to do, as a text; or None, so that it follows from what people say"
        )
        raise wrong_argument("goal", goal, give)
    return goal.strip()
