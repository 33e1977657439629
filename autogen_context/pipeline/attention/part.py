"""A labelled part of a context: a goal, a memory, what was done, what is supposed."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One part of what an agent might be told.

    Attributes:
        label: what kind of part it is: ``goal``, ``steering``, ``memory``, ``actions``, ``hypotheses``, or your own.
        text: what it says.
        critical: whether it stays, whatever it scores.
    """

    label: str
    text: str
    critical: bool = False


def require_parts(parts: Sequence[object]) -> None:
    """Refuse what is no part, such as a plain text or a message.

    Raises:
        ValueError: one is none.
    """
    for at, part in enumerate(parts):
        if not isinstance(part, ContextPart):
            raise ValueError(f"parts[{at}]={part!r:.80}: give ContextPart(label, text)")  # noqa: TRY004 - as for every wrong argument
