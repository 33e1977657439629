"""A labelled part of a context: a goal, a memory, what was done, what is supposed."""

from dataclasses import dataclass

from autogen_context.argument import listed, require_kind


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


def require_parts(parts: object) -> None:
    """Refuse what is no part, such as a plain text or a message.

    Raises:
        ValueError: one is none, or it is no list.
    """
    for at, part in enumerate(listed("parts", parts, give="a list of ContextPart(label, text)")):
        require_kind(f"parts[{at}]", part, ContextPart, give="ContextPart(label, text)")
