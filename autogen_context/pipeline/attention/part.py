"""A labelled part of a context: a goal, a memory, what was done, what is supposed."""

from dataclasses import dataclass, field


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
    critical: bool = field(default=False, kw_only=True)
