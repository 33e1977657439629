"""What a person stated and still holds, as ``rules()``, ``statements()`` and a certificate name it.

Promise: values only. Words are those of the person; what a tool, a file, a model or another agent wrote is none of these.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from autogen_context.messages.message import Text

StatedAs = Literal[
    "safety rule", "constraint", "preference", "decision", "goal state", "identity", "fact"
]
LEADING_MARKS = re.compile(r"^(?:\[\u2026\]|[\s>*\u2022\u2013-])+", re.MULTILINE)
RULES: frozenset[StatedAs] = frozenset({"safety rule", "constraint", "preference"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonStatement:
    """A rule, limit, preference or fact that a person stated and nobody of them took back since.

    Attributes:
        text: the person's sentence, on one line; of an item of a list, behind what stands above the list.
        kind: what it is: ``safety rule``, ``constraint`` (a rule or limit) or ``preference`` of a rule, else of a fact.
        position: place of the message that stated it among all messages of the conversation, from 0, where a system prompt
            that the host keeps apart is the first one; ``None`` where the host has cut it from the front of its list.
        turn: which of the people's messages that is, from 1; ``None`` as well then.
        in_request: whether the last request has the sentence word for word: in a message of a person, in one of the system behind
            the system prompt, or in a notice.
    """

    text: Text
    kind: StatedAs
    position: int | None
    turn: int | None
    in_request: bool

    @property
    def is_rule(self) -> bool:
        """True for a rule, a limit or a preference."""
        return self.kind in RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentRules:
    """The rules in force that a request has not; ``rewrites`` says of which one, and is -1 while that is not known."""

    rules: tuple[PersonStatement, ...] = ()
    rewrites: int = -1

    def after_heads(self, before: int, rewrites: int) -> "AbsentRules":
        """Return the same for a list in which other leading system messages, which state no person's rule, replaced those."""
        return replace(self, rewrites=rewrites) if self.rewrites == before else self


class WordsOfPeople:
    """What texts have of the words of people."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(map(on_one_line, texts))

    def has(self, text: str) -> bool:
        """Return True if a statement stands in them word for word."""
        return on_one_line(text) in self._text


def on_one_line(text: str) -> str:
    """Return a text on one line, without marks of lists, quotations and gaps, and with single spaces."""
    return " ".join(LEADING_MARKS.sub("", text).split())
