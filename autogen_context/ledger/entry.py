"""What somebody stated: as it is read, and as it is kept.

Promise: values only. Rules, limits and preferences have an author who may give them: a person or the system prompt.
"""

from dataclasses import dataclass
from typing import Literal

Author = Literal["system", "person", "assistant", "tool"]
Kind = Literal[
    "safety rule", "constraint", "decision", "goal state", "preference", "identity", "fact"
]

AUTHORITIES: frozenset[Author] = frozenset({"system", "person"})
RULES: frozenset[Kind] = frozenset({"safety rule", "constraint"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a sentence states.

    Attributes:
        kind: of statement; a withdrawal states nothing new and takes something back.
        text: what is stated, as written, on one line.
        start: where it begins in the text that was read, in characters.
        stop: where it ends there.
        subject: what it is about; equal for two that give one thing another value, empty where that cannot be told.
        values: its numbers, dates, names, quotations and identifiers, as written.
        confidence: that it states something which holds, 0..1.
        changes: whether it says that something is otherwise now.
        withdraws: what no longer holds, in its words; may be empty.
        recasts: the value that the statement before it should have; may be empty.
    """

    kind: Kind | Literal["withdrawal"]
    text: str
    start: int
    stop: int
    subject: str = ""
    values: tuple[str, ...] = ()
    confidence: float = 1.0
    changes: bool = False
    withdraws: str = ""
    recasts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something stated that holds.

    Attributes:
        kind: of statement.
        key: what it is about; empty where that cannot be told.
        text: what is stated, on one line; every value stands as it was said.
        author: who said it. What an assistant says is a decision, a goal state or a fact, as reported by it.
        position: of the message that said it, from 0; of the message that the ledger was read from where it was read.
    """

    kind: Kind
    key: str
    text: str
    author: Author
    position: int

    @property
    def reported(self) -> bool:
        """Whether nobody with authority said it."""
        return self.author not in AUTHORITIES
