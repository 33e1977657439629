"""One statement of a ledger: what kind, what about, who said it and where.

Promise: values only. Rules, constraints and preferences have an author who may give them: a person or the system prompt.
"""

from dataclasses import dataclass
from typing import Literal

Author = Literal["system", "person", "assistant", "tool"]
Kind = Literal[
    "safety rule", "constraint", "decision", "goal state", "preference", "identity", "fact"
]

AUTHORITIES: frozenset[Author] = frozenset({"system", "person"})
REPORTABLE: frozenset[Kind] = frozenset({"decision", "goal state", "fact"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something stated that holds.

    Attributes:
        kind: of statement.
        key: what it is about; a later statement of an author of the same rank about the same takes its place.
        text: what is stated, on one line; every value stands as it was said.
        author: who said it. What an assistant or a tool says is a decision, a goal state or a fact, as reported by it.
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
